"""Choose clauses: what happens, and what is."""

from keras_seq.data.english_french import meaning as m
from keras_seq.data.english_french.adjectives import HAD, NOT_GRADED
from keras_seq.data.english_french.choose_acts import NEGATIONS, ActChoice
from keras_seq.data.english_french.choose_nouns import PEOPLE
from keras_seq.data.english_french.function_words import (
    DEGREES,
    NUMBERS,
    TIMES,
)

BE_TENSES = (("present", 50), ("past", 34), ("future", 16))
CLAUSES = (
    ("transitive", 44),
    ("giving", 10),
    ("to_somebody", 7),
    ("intransitive", 12),
    ("motion", 10),
    ("be", 17),
)
BEINGS = (
    ("adjective", 50),
    ("profession", 12),
    ("state", 9),
    ("age", 7),
    ("place", 12),
    ("there", 10),
)
STATES = tuple(row.split() for row in HAD.split(";"))
SEATED = ("animal", "object", "text", "food", "clothing", "dish")


class ClauseChoice(ActChoice):
    """Chooses clauses. `before` is the clause that was said before, or None."""

    def clause(self, before=None, tense=None, is_act=False):
        """Choose any clause that states something.

        Args:
            before: The clause before it, whose nouns may be spoken of again.
            tense: A tense it must have, or None.
            is_act: Whether something must be done in it.
        """
        kind = self.weighted(CLAUSES[:-1] if is_act else CLAUSES)
        again = before is not None and self._spoken_of(before)
        if again and is_act and before.subject.is_thing:
            again = False
        if again and self.chance(0.5):
            return self._about(before.subject, tense, before)
        if kind == "be":
            return self.being(before, tense)
        verb = self.pick(self.lexicon.verbs[kind])
        subject = self.subject(verb.who, before)
        return self.act(kind, verb, subject, tense, before)

    def _spoken_of(self, before):
        """Whether "he", "it" or "they" can be its subject."""
        subject = before.subject
        if before.is_there or subject.person != 3:
            return False
        return getattr(subject, "article", None) != "every"

    def _about(self, known, tense, before):
        """Say more about somebody: "he", "it" or "they" does something."""
        subject = self.refers_to(known)
        if not known.is_thing:
            kind = self.weighted(CLAUSES[:-1])
            verbs = [
                verb
                for verb in self.lexicon.verbs[kind]
                if PEOPLE & set(verb.who)
            ]
            return self.act(kind, self.pick(verbs), subject, tense, before)
        noun = getattr(known, "noun", None)
        if noun is None:  # a pronoun: what it stands for has been left behind
            chosen = m.Clause(subject, None, self._be_tense(tense))
            chosen.settings = (self.where(near=False),)
            return chosen
        chosen = m.Clause(subject, None, self._be_tense(tense))
        chosen.complement = self._predicate(noun)
        return self._coloured(chosen)

    # --- being ----------------------------------------------------------------

    def being(self, before=None, tense=None):
        """Choose a clause that says what, how or where somebody is."""
        kind = self.weighted(BEINGS)
        chosen = m.Clause(None, None, self._be_tense(tense))
        if kind == "there":
            return self._there(chosen)
        if kind == "place":
            chosen.subject = self.subject(SEATED + ("person",), before)
            near = getattr(chosen.subject, "is_thing", False)
            chosen.settings = (self.where(near),)
            self._deny_being(chosen)
            return chosen
        if kind == "adjective":
            return self._coloured(self._described(chosen, before))
        people = ("person", "family", "family")
        chosen.subject = self.subject(people, before)
        if kind == "profession":
            nouns = self.lexicon.nouns["profession"]
            chosen.complement = self.pick(nouns)
        elif kind == "state":
            english, french = self.pick(STATES)
            chosen.complement = m.Fixed(english, french)
        else:
            chosen.complement = self.pick(tuple(NUMBERS)[:-1])
        self._deny_being(chosen)
        if chosen.negation and kind != "state":
            chosen.negation = "not"
        return chosen

    def _be_tense(self, tense):
        tense = tense or self.weighted(BE_TENSES)
        return "present" if tense == "progressive" else tense

    def _described(self, chosen, before):
        if self.chance(0.3):
            chosen.subject = self.free_pronoun(before is None)
            adjectives = self.lexicon.after["person"]
        elif self.chance(0.2):
            chosen.subject = self.name()
            adjectives = self.lexicon.after["person"]
        else:
            kinds = tuple(self.lexicon.after)
            chosen.subject = self.phrase(kinds)
            noun = chosen.subject.noun
            if chosen.subject.article in ("a", "some"):
                chosen.subject.article = "the"
            chosen.complement = self._predicate(noun)
            return chosen
        chosen.complement = self.pick(adjectives)
        return chosen

    def _predicate(self, noun):
        while True:
            adjective = self.adjective(self.lexicon.after, noun)
            if adjective is not None:
                return adjective

    def _coloured(self, chosen):
        self._deny_being(chosen)
        graded = chosen.complement.english not in NOT_GRADED
        if graded and self.chance(0.25):
            chosen.degree = self.pick(tuple(DEGREES))
        return chosen

    def _deny_being(self, chosen):
        if self.chance(0.2):
            chosen.negation = self.weighted(NEGATIONS["present"])
            chosen.is_short = self.chance(0.5)

    def _there(self, chosen):
        chosen.is_there = True
        chosen.subject = m.Pronoun(3, False, "m", True)
        chosen.tense = "present" if chosen.tense == "future" else chosen.tense
        what = self.phrase(("person", "animal", "object", "food", "dish"))
        if self.chance(0.2):
            chosen.negation = "not"
        counts = what.article in NUMBERS and not chosen.negation
        if not counts and what.article not in ("a", "some", "many"):
            many = what.is_plural or what.noun.english[1] is None
            what.article, what.owner = "some" if many else "a", None
        chosen.object = what
        chosen.settings = (self.where(near=what.is_thing),)
        return chosen

    def time(self, chosen):
        """Choose when; not for what is never, often or only wanted."""
        if chosen.helper or chosen.frequency:
            return None
        if chosen.negation in ("never", "no longer"):
            return None
        by = chosen.tense
        if chosen.verb is None and by == "present":
            by = "progressive"
        english = self.pick(tuple(TIMES[by]))
        return m.Fixed(english, TIMES[by][english])
