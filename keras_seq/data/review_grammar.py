"""Sentences of reviews. Words that decide stand in [brackets].

A clause is lower case without a full stop. `likes` is what it says, 1 or 0;
`decides` is whether it is the verdict, and so whether it brackets its words:
the opinion word, and each word that flips it ("not", "less", "if only").
"""

import functools
import re

from keras_seq.data import review_lexicon as lexicon
from keras_seq.data.review_facts import FACTS, SLOTS


class Grammar:
    """Writes clauses about one thing, and notes which words it put together.

    Args:
        rng: A `random.Random`.
        domain: A key of `review_lexicon.DOMAINS`.

    Attributes:
        combinations: `[(word, word, decides)]`: opinion and what it is about,
            negation and the word it denies.
    """

    def __init__(self, rng, domain):
        self.rng = rng
        self.domain = domain
        self.combinations = []
        self.topic = self._pick("topics")
        self.tense = self._pick("tenses")
        # More than a review uses, so that none is spoken of twice.
        facts = FACTS["any"] + FACTS[domain]
        self._parts_left = rng.sample(_parts(domain), 6)
        self._facts_left = rng.sample(facts, 4)

    # --- clauses ----------------------------------------------------------

    def opinion(self, likes, decides):
        """Any clause that says `likes` of a part not yet spoken of."""
        write = self.rng.choices(
            (self.plain, self.negated, self.feeling), (5, 3, 2)
        )[0]
        return write(likes, decides)

    def plain(self, likes, decides):
        """The plot was very good."""
        part, kind, many = self._parts_left.pop()
        word, grade = self._adjective(kind, likes)
        self._note(word, part, decides)
        copula = self._copula(many)
        return f"the {part} {copula} {grade}{_mark(word, decides)}"

    def negated(self, likes, decides):
        """The plot was [not] [dull]."""
        part, kind, many = self._parts_left.pop()
        word, _ = self._adjective(kind, 1 - likes, extreme=False)
        negators = lexicon.NEGATORS
        if likes and self.tense == "past":
            negators += ("never",)  # never dull; "is never good" is odd
        negator = self.rng.choice(negators)
        self._note(word, part, decides)
        self._note(negator, word, decides)
        copula, flip = self._copula(many), _mark(negator, decides)
        if negator == "not" and self.rng.random() < 0.5:
            copula, flip = "", _mark(f"{copula}n't", decides)
        softer = ""
        if negator == "not" and not likes and self.rng.random() < 0.3:
            softer = self.rng.choice(("very ", "particularly ", "that "))
        words = f"the {part} {copula} {flip} {softer}{_mark(word, decides)}"
        return " ".join(words.split())

    def feeling(self, likes, decides):
        """I loved the plot; I did [not] [enjoy] the plot."""
        part, kind, _ = self._parts_left.pop()
        flips = self.rng.random() < 0.4 and not likes
        felt, feel = self._verb(1 if flips else likes, kind)
        self._note(feel, part, decides)
        if not flips:
            return f"I {_mark(felt, decides)} the {part}"
        self._note("did not", feel, decides)
        flip = _mark("didn't", decides)
        if self.rng.random() < 0.5:
            flip = f"did {_mark('not', decides)}"
        return f"I {flip} {_mark(feel, decides)} the {part}"

    def verdict(self, likes):
        """The thing as a whole: a noun, a recommendation, an adjective."""
        nouns, again = lexicon.NOUNS, lexicon.DOMAINS[self.domain]["again"]
        copula = self._copula(many=False)
        it = f"this {self.topic} {copula}"
        doing = lexicon.DOMAINS[self.domain]["doing"]
        word, _ = self._adjective(self._kind(), likes)
        noun = self.rng.choice(nouns[likes].split())
        denied = self.rng.choice(lexicon.NEGATED_NOUNS[likes].split())
        if likes:
            choices = (
                (f"it {copula} {_a(f'[{word}] {self.topic}')}", word),
                (f"{it} {_a(f'[{noun}]')}", noun),
                (f"{it} [no] [{denied}]", denied),
                (f"I would [recommend] this {self.topic}", "recommend"),
                (f"I would [gladly] {again}", "gladly"),
                (f"I did [not] [regret] {doing}", "not regret"),
                (f"there is [no] reason to [avoid] this {self.topic}", "avoid"),
            )
        else:
            choices = (
                (f"it {copula} {_a(f'[{word}] {self.topic}')}", word),
                (f"{it} {_a(f'[{noun}]')}", noun),
                (f"{it} [no] [{denied}]", denied),
                (
                    f"I would [not] [recommend] this {self.topic}",
                    "not recommend",
                ),
                (f"I would [avoid] this {self.topic}", "avoid"),
                (f"I [regret] {doing}", "regret"),
                (f"I would [never] {again}", "never"),
            )
        clause, word = self.rng.choice(choices)
        self._note(word, self.topic, True)
        return clause

    def wish(self, likes):
        """If only: a wish for more of the same, or for what was missing."""
        if likes:
            word, _ = self._adjective(self._kind(), 1, extreme=False)
            self._note(word, self.topic, True)
            every = self.rng.choice(("every", "each"))
            return f"if only {every} {self.topic} were this [{word}]"
        part, kind, _ = self._parts_left.pop()
        less = self.rng.random() < 0.4
        word, _ = self._adjective(kind, 0 if less else 1, extreme=False)
        self._note(word, part, True)
        self._note("if only less" if less else "if only", word, True)
        return f"[if only] the {part} had been {'[less] ' * less}[{word}]"

    def surprise(self, likes):
        """What was expected does not count; what came does."""
        hoped, _ = self._adjective(self._kind(), 1 - likes, extreme=False)
        word, _ = self._adjective(self._kind(), likes)
        self._note(word, self.topic, True)
        expected = _a(f"{hoped} {self.topic}")
        return self.rng.choice(
            (
                f"I expected {expected} and got {_a(f'[{word}] one')}",
                f"I {'feared' if likes else 'hoped for'} {expected}, "
                f"and it was [{word}]",
                f"I had been promised {expected}, and it turned out [{word}]"
                if not likes
                else f"I had been warned of {expected}, "
                f"and it turned out [{word}]",
            )
        )

    def contrast(self, likes):
        """Two opinions that disagree; the main clause, or the last, decides."""
        other = self.opinion(1 - likes, decides=False)
        main = self.opinion(likes, decides=True)
        part, kind, _ = self._parts_left.pop()
        word, _ = self._adjective(kind, 1 - likes)
        self._note(word, part, False)
        return self.rng.choice(
            (
                f"{other}, but {main}",
                f"{other}, but {main}",
                f"{other}, yet {main}",
                f"{other}. however, {main}",
                f"although {other}, {main}",
                f"while {other}, {main}",
                f"despite the {word} {part}, {main}",
                f"{main}, even though {other}",
                f"{main}, although {other}",
            )
        )

    def hearsay(self, likes):
        """What someone else thinks: it does not decide."""
        someone = self.rng.choice(lexicon.PEOPLE)
        noun = self.rng.choice(lexicon.NOUNS[likes].split())
        felt, _ = self._verb(likes, self._kind())
        said = self.rng.choice(("said", "told me", "claimed"))
        return self.rng.choice(
            (
                f"{someone} {felt} it",
                f"{someone} called it {_a(noun)}",
                f"{someone} {said} {self.plain(likes, decides=False)}",
            )
        )

    def fact(self):
        """Something that says nothing for or against."""
        return re.sub(
            r"\{(\w+)\}",
            lambda slot: self.rng.choice(SLOTS[slot[1]].split()),
            self._facts_left.pop(),
        )

    # --- words ------------------------------------------------------------

    def _pick(self, what):
        return self.rng.choice(lexicon.DOMAINS[self.domain][what].split())

    def _kind(self):
        return lexicon.DOMAINS[self.domain]["kind"]

    def _adjective(self, kind, likes, extreme=None):
        """Return a fitting adjective and, sometimes, a grade before it."""
        # One does not call a waiter satisfying.
        fits = 0.95 if kind == "service" else 0.6
        kind = kind if self.rng.random() < fits else "any"
        if extreme is None:
            extreme = self.rng.random() < 0.4
        word = self.rng.choice(
            lexicon.ADJECTIVES[kind][likes][int(extreme)].split()
        )
        if self.rng.random() < 0.6:
            return word, ""
        grades = lexicon.GRADES["extreme" if extreme else "gradable"]
        return word, self.rng.choice(grades.split()) + " "

    def _verb(self, likes, kind):
        """Return what one felt and feels, "loved" and "love"."""
        verbs = lexicon.VERBS[likes].split()
        if kind == "service":  # nor does one enjoy him
            verbs = [verb for verb in verbs if verb != "enjoyed/enjoy"]
        return self.rng.choice(verbs).split("/")

    def _copula(self, many):
        if self.tense == "past":
            return "were" if many else "was"
        return "are" if many else "is"

    def _note(self, one, other, decides):
        self.combinations.append((one, other, decides))


@functools.cache
def _parts(domain):
    """All parts of this kind of thing: `[(noun, kind, is plural)]`."""
    found = []
    for kind, nouns in lexicon.DOMAINS[domain]["parts"].items():
        one, _, many = nouns.partition("|")
        found += [(noun, kind, False) for noun in one.split()]
        found += [(noun, kind, True) for noun in many.split()]
    return found


def _mark(word, decides):
    return f"[{word}]" if decides else word


def _a(words):
    """Put "a" or "an" before `words`."""
    sound = words.lstrip("[")
    vowel = sound[0] in "aeiou" and not sound.startswith("use")
    return f"{'an' if vowel else 'a'} {words}"
