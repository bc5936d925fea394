"""Choose what is done, by whom, and to whom."""

from keras_seq.data.english_french import meaning as m
from keras_seq.data.english_french.choose_nouns import (
    DEFINITE,
    PEOPLE,
    NounChoice,
)
from keras_seq.data.english_french.function_words import FREQUENCY
from keras_seq.data.english_french.verbs import FOR_SOMEBODY

TENSES = (("present", 30), ("progressive", 20), ("past", 32), ("future", 18))
NEGATIONS = {
    "present": (("not", 60), ("never", 20), ("no longer", 20)),
    "progressive": (("not", 75), ("no longer", 25)),
    "past": (("not", 75), ("never", 25)),
    "future": (("not", 80), ("never", 20)),
    "helper": (("not", 75), ("no longer", 25)),
}


class ActChoice(NounChoice):
    """Chooses clauses about doing something."""

    def subject(self, kinds, before):
        if PEOPLE & set(kinds) and self.chance(0.3):
            return self.free_pronoun(before is None)
        return self.somebody(kinds)

    def act(self, kind, verb, subject, tense=None, before=None, bare=False):
        """Choose the rest of a clause about doing something.

        Args:
            kind: The table of the lexicon that `verb` is from.
            verb: What is done.
            subject: By whom.
            tense: A tense it must have, or None.
            before: The clause before it.
            bare: Whether to leave out where, when and with whom.
        """
        chosen = m.Clause(subject, verb, self._tense(verb, subject, tense))
        if chosen.tense == "present" and not verb.is_state:
            if self.chance(0.3):
                chosen.helper = self._helper(subject)
        self._deny(chosen, "helper" if chosen.helper else chosen.tense)
        if kind in ("transitive", "to_somebody"):
            chosen.object = self._object(verb, chosen, before)
        elif kind == "giving":
            chosen.object = self._gift(verb, chosen, before)
            chosen.recipient = self._recipient(subject, before is None)
        elif kind == "motion":
            chosen.goal = self._goal(verb)
        if not bare:
            self._set_scene(chosen, kind, before is None)
        return chosen

    def _tense(self, verb, subject, tense):
        tense = tense or self.weighted(TENSES)
        if tense == "progressive" and not verb.goes_on:
            tense = "present"
        if tense == "future" and verb.is_state:
            tense = "past"
        is_he = subject.person == 3 and not subject.is_plural
        if tense == "present" and verb.past_looks_present and not is_he:
            tense = "progressive"  # "they read" is then always the past
        return tense

    def _helper(self, subject):
        helpers = self.lexicon.verbs["before_infinitive"]
        can_or_must = subject.is_thing or self.chance(0.3)
        return self.pick(helpers[:2] if can_or_must else helpers)

    def _deny(self, chosen, by):
        if self.chance(0.2):
            chosen.negation = self.weighted(NEGATIONS[by])
            chosen.is_short = self.chance(0.5)
        elif chosen.verb.is_state or by not in ("present", "past"):
            return
        elif self.chance(0.12):
            chosen.frequency = self.pick(tuple(FREQUENCY))

    def _object(self, verb, chosen, before):
        if before is not None and self.chance(0.5):
            known = self._object_before(verb, before)
            if known is not None:
                return self.refers_to(known)
        if PEOPLE & set(verb.what) and self.chance(0.3):
            return self._other_pronoun(chosen.subject, before is None)
        if self.chance(0.05) and not chosen.negation and not verb.preposition:
            return m.Couple(*(self._plain(verb) for _ in range(2)))
        found = self.phrase(verb.what, verb=verb)
        if chosen.negation and found.article == "every":
            found.article = "the"
        if not verb.may_be_some and found.article in ("a", "some"):
            found.article = "the"
        return found

    def _plain(self, verb):
        return self.phrase(verb.what, plain=True, verb=verb)

    def _object_before(self, verb, before):
        """Return the object of the clause before, if `verb` can take it."""
        known = before.object
        fits = (
            isinstance(known, m.Phrase)
            and not before.is_there
            and not before.negation
            and known.article in DEFINITE
            and (known.is_thing or known.is_plural)
            and known.noun.kind in verb.what
        )
        return known if fits and not verb.preposition else None

    def _other_pronoun(self, subject, is_first):
        """Choose somebody else: nobody sees "me" whom "I" see."""
        while True:
            pronoun = self.free_pronoun(is_first)
            if pronoun.person == 3 or pronoun.person != subject.person:
                return pronoun

    def _gift(self, verb, chosen, before):
        if before is None and self.chance(0.1):
            return m.Pronoun(3, True, "m")
        if before is not None and self.chance(0.5):
            known = self._object_before(verb, before)
            if known is not None:
                return self.refers_to(known)
        return self.phrase(verb.what, plain=True, verb=verb)

    def _recipient(self, subject, is_first):
        if self.chance(0.45):
            return self._other_pronoun(subject, is_first)
        if self.chance(0.3):
            return self.name()
        return self.phrase(("person", "family", "profession"), plain=True)

    def _goal(self, verb):
        is_place = "at" in verb.what or "inside" in verb.what
        if is_place and "person" not in verb.what and self.chance(0.25):
            if verb.particle in ("to", "from", "in"):
                return self.place_name()
        goal = self.phrase(verb.what, plain=True, verb=verb)
        if verb.preposition == "à" and "person" not in verb.what:
            self.make_known(goal)
        return goal

    def _set_scene(self, chosen, kind, is_first):
        if kind != "motion" and not chosen.verb.is_state and self.chance(0.2):
            chosen.settings = (self.where(near=False),)
        elif kind != "to_somebody" and self.chance(0.14):
            names = ("with", "without")
            if chosen.verb.english[0] in FOR_SOMEBODY:
                names = ("with", "for", "for")
            company = self.company(is_first, self.pick(names))
            if company.what.person == 3 or (
                company.what.person != chosen.subject.person
            ):
                chosen.settings = (company,)

    # --- relative clauses -----------------------------------------------------

    def relative(self, head):
        """Return a clause with a gap for `head`, or None if none fits."""
        share, self.relative_share = self.relative_share, 0.0
        try:
            return self._relative(head)
        finally:
            self.relative_share = share

    def _relative(self, head):
        kind, gap = head.noun.kind, self.pick(("subject", "object"))
        if kind in ("inside", "at") and self.chance(0.6):
            verb = self.pick(self.lexicon.verbs["intransitive"])
            subject = self._relative_subject(verb.who)
            chosen = self.act("intransitive", verb, subject, bare=True)
            chosen.gap = "place"
            return chosen
        table = "transitive"
        if gap == "subject":
            table = self.pick(("transitive", "transitive", "intransitive"))
        verbs = [
            verb
            for verb in self.lexicon.verbs[table]
            if kind in (verb.who if gap == "subject" else verb.what)
        ]
        if not verbs:
            return None
        verb = self.pick(verbs)
        if gap == "object" and not self.joins(verb, head.noun):
            return None
        if gap == "subject":
            chosen = self.act(table, verb, head, bare=True)
            # A pronoun might be taken to be the head.
            if isinstance(chosen.object, m.Pronoun):
                chosen.object = self.phrase(verb.what, plain=True, verb=verb)
        else:
            subject = self._relative_subject(verb.who)
            chosen = self.act("", verb, subject, bare=True)
            chosen.fronted = head
        chosen.gap = gap
        return chosen

    def _relative_subject(self, kinds):
        if PEOPLE & set(kinds) and self.chance(0.4):
            return self.free_pronoun(is_first=False)
        return self.somebody(kinds)
