"""Choose what to say, ask or command, in how many clauses."""

from keras_seq.data.english_french import meaning as m
from keras_seq.data.english_french.choose_clauses import ClauseChoice
from keras_seq.data.english_french.choose_nouns import PEOPLE
from keras_seq.data.english_french.function_words import QUESTION_ADVERBS

KINDS = (("statement", 70), ("question", 22), ("command", 8))
QUESTIONS = (
    ("yes or no", 40),
    ("adverb", 20),
    ("what", 10),
    ("who", 10),
    ("fronted", 15),
    ("where is", 5),
)
JOINERS = (
    (", and", 28),
    (", but", 28),
    ("because", 20),
    ("while", 8),
    ("when", 8),
)
PRESENT = ("present", "progressive")


class SentenceChoice(ClauseChoice):
    """Chooses sentences; one chooser makes one sentence."""

    def sentence(self, num_clauses=1):
        """Choose a sentence of `num_clauses` clauses, relative ones apart."""
        self.relative_share = 0.1 if num_clauses < 3 else 0.25
        if num_clauses == 1:
            kind = self.weighted(KINDS)
            if kind == "question":
                return self._question()
            if kind == "command":
                return self._command()
            return m.Sentence([self._timed(self.clause(), 0.3)])
        return self._joined(num_clauses)

    def _timed(self, clause, share, may_come_first=True):
        if self.chance(share):
            clause.time = self.time(clause)
            clause.time_first = may_come_first and self.chance(0.35)
        return clause

    def _joined(self, num_clauses):
        opener, joiners = None, []
        first_tense = None
        how = self.rng.random()
        if how < 0.15:
            opener = self.pick(("if", "when"))
            first_tense = "present"
            if opener == "when" and self.chance(0.5):
                first_tense = "past"
            first, joiners = self.clause(tense=first_tense), [","]
            next_tense = first_tense
            if opener == "if" and self.chance(0.4):
                next_tense = "future"
            clauses = [first, self.clause(first, next_tense)]
        elif how < 0.35:
            first, joiners = self._saying(), ["that"]
            clauses = [first, self.clause(first)]
        else:
            clauses = [self._timed(self.clause(), 0.12)]
        while len(clauses) < num_clauses:
            before, joiner = clauses[-1], self.weighted(JOINERS)
            if joiner in joiners[-1:] or not self._allows(joiner, before):
                continue
            joiners.append(joiner)
            if joiner in ("while", "when"):
                clauses.append(self.clause(before, before.tense, is_act=True))
            else:
                clauses.append(self.clause(before))
        if joiners[-1] in (", and", ", but"):
            self._timed(clauses[-1], 0.15, may_come_first=False)
        return m.Sentence(clauses, joiners, opener)

    def _allows(self, joiner, before):
        """Whether the tense of `before` goes with the conjunction."""
        if joiner not in ("while", "when"):
            return True
        if before.verb is None or before.helper or before.negation:
            return False
        if joiner == "while":
            return before.tense in PRESENT
        return before.tense in ("present", "past")

    def _saying(self):
        verb = self.pick(self.lexicon.verbs["saying"])
        if self.chance(0.4):
            subject = self.free_pronoun(is_first=True)
        else:
            share, self.relative_share = self.relative_share, 0.0
            subject = self.somebody(("person", "family", "profession"))
            self.relative_share = share
        return m.Clause(subject, verb, "present")

    # --- questions and commands -----------------------------------------------

    def _question(self):
        kind = self.weighted(QUESTIONS)
        if kind == "yes or no":
            return self._yes_or_no()
        if kind == "where is":
            subject = self.subject(("person", "animal", "object"), None)
            if getattr(subject, "article", "the") not in ("the", "my"):
                subject.article = "the"
            clause = m.Clause(subject, None, self.pick(("present", "past")))
            return m.Sentence([clause], kind="question", asks="where")
        if kind == "who":
            return self._who()
        if kind == "adverb":
            asks = self.pick(tuple(QUESTION_ADVERBS))
            clause = self._plain_act(("transitive", "intransitive"))
            if asks == "where":
                clause.settings = ()
            return m.Sentence([clause], kind="question", asks=asks)
        return self._about_object(kind)

    def _yes_or_no(self):
        while True:
            clause = self.clause()
            if not clause.is_there:
                break
        clause.negation = clause.frequency = None
        if clause.helper is None or clause.helper.particle:
            self._timed(clause, 0.15, may_come_first=False)
        return m.Sentence([clause], kind="question")

    def _plain_act(self, kinds):
        """Choose a clause without "not", "often" and relative clauses."""
        self.relative_share = 0.0
        kind = self.pick(kinds)
        verb = self.pick(self.lexicon.verbs[kind])
        subject = self.subject(verb.who, None)
        clause = self.act(kind, verb, subject)
        clause.negation = clause.frequency = None
        return clause

    def _who(self):
        while True:
            kind = self.pick(("transitive", "transitive", "intransitive"))
            verb = self.pick(self.lexicon.verbs[kind])
            if PEOPLE & set(verb.who):
                break
        nobody = m.Pronoun(3, False, "m")
        clause = self.act(kind, verb, nobody)
        clause.negation = clause.frequency = None
        return m.Sentence([clause], kind="question", asks="who")

    def _about_object(self, kind):
        """What does she read? Which books, how many books does she read?"""
        self.relative_share = 0.0
        verb = self.pick(self.lexicon.verbs["transitive"])
        clause = self.act("", verb, self.subject(verb.who, None))
        clause.negation = clause.frequency = None
        if kind == "what":
            return m.Sentence([clause], kind="question", asks="what")
        asked = self.phrase(verb.what, plain=True, verb=verb)
        asked.article = "which"
        if asked.is_plural and self.chance(0.6):
            asked.article = "how many"
        clause.fronted = asked
        return m.Sentence([clause], kind="question", asks=asked)

    def _command(self):
        self.relative_share = 0.0
        kinds = ("transitive", "transitive", "giving", "intransitive")
        while True:
            kind = self.pick(kinds)
            verb = self.pick(self.lexicon.verbs[kind])
            if not (verb.is_state or verb.is_reflexive):
                break
        you = m.Pronoun(2, True, "m")
        clause = self.act(kind, verb, you, "present")
        clause.helper = clause.frequency = clause.negation = None
        if self.chance(0.4):
            clause.negation = self.pick(("not", "not", "never"))
        else:  # pronouns would follow the verb in French
            if isinstance(clause.object, m.Pronoun):
                clause.object = self.phrase(verb.what, verb=verb)
            if isinstance(clause.recipient, m.Pronoun):
                clause.recipient = self.name()
        return m.Sentence([clause], kind="command")
