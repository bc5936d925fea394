"""What a sentence says, before it is said in any language.

Each node carries keys, numbers that stand for one meaning each. The writers
of both languages mark their words with the keys those words express; words
that share a key are aligned.
"""

import dataclasses
import itertools
from typing import Any

from keras_seq.data.english_french.lexicon import Adjective, Noun, Verb

# The meanings of a clause and of a phrase, added to the key of the node.
(
    VERB,
    TENSE,
    NEGATION,
    FREQUENCY,
    HELPER,
    PREPOSITION,
    RECIPIENT,
    COMPLEMENT,
    DEGREE,
    RELATIVE,
    QUESTION,
) = range(11)
ARTICLE, NOUN, BEFORE, AFTER, OWNED, ALL = range(6)
KEYS_PER_NODE = 20
_nodes = itertools.count(1)


def new_key():
    """Return the first of `KEYS_PER_NODE` keys that no other node has."""
    return next(_nodes) * KEYS_PER_NODE


@dataclasses.dataclass(slots=True, eq=False)
class Phrase:
    """A noun with what belongs to it: "the three small dogs that I saw".

    Attributes:
        noun: The noun.
        article: "the", "a", "some", "my", "these", "three", "many", ...
        is_plural: Whether there are several.
        before: An adjective that stands before the French noun, or None.
        after: An adjective that follows it, or None.
        owner: A `Phrase` or `Name`: "the man" of "the man's dog", or None.
        relative: A `Clause` with a gap that this phrase fills, or None.
    """

    noun: Noun
    article: str
    is_plural: bool = False
    before: Adjective | None = None
    after: Adjective | None = None
    owner: Any = None
    relative: "Clause | None" = None
    key: int = dataclasses.field(default_factory=new_key)
    person = 3

    @property
    def gender(self):
        return self.noun.gender

    @property
    def is_thing(self):
        return self.noun.kind not in {"person", "family", "profession"}


@dataclasses.dataclass(slots=True, eq=False)
class Pronoun:
    """I, you, he, she, it, we, they. `is_thing` tells "it" from "he"."""

    person: int
    is_plural: bool
    gender: str
    is_thing: bool = False
    key: int = dataclasses.field(default_factory=new_key)


@dataclasses.dataclass(slots=True, eq=False)
class Name:
    """Somebody or some place by name.

    `place` is "city", the gender of a country, or "" for people.
    """

    english: str
    french: str
    gender: str
    place: str = ""
    key: int = dataclasses.field(default_factory=new_key)
    person = 3
    is_plural = False
    is_thing = False


@dataclasses.dataclass(slots=True, eq=False)
class Couple:
    """Two together: "Marie and the dog". One man makes it masculine."""

    first: Phrase | Name
    second: Phrase | Name
    key: int = dataclasses.field(default_factory=new_key)
    person = 3
    is_plural = True
    is_thing = False

    @property
    def gender(self):
        both = {self.first.gender, self.second.gender}
        return "m" if "m" in both else "f"


@dataclasses.dataclass(slots=True, eq=False)
class Fixed:
    """Words that go together, in the notation of `function_words.py`."""

    english: str
    french: str
    key: int = dataclasses.field(default_factory=new_key)


@dataclasses.dataclass(slots=True, eq=False)
class Setting:
    """Where, or with whom: a preposition and what follows it."""

    preposition: Fixed
    what: Phrase | Name | Pronoun


@dataclasses.dataclass(slots=True, eq=False)
class Clause:
    """Somebody does something, or is something.

    Attributes:
        subject: A node, or None where a relative clause has its gap.
        verb: What is done; None for "to be".
        tense: "present", "progressive", "past" or "future". Of "to be",
            the future is "will be"; of a verb "is going to".
        helper: A verb before the infinitive, "can" or "want to", or None.
        negation: "not", "never", "no longer" or None.
        is_short: Whether English says "doesn't".
        frequency: "often", ... or None.
        object: What it is done to; `recipient`: to whom it is given.
        goal: What follows the preposition of a verb like "go to".
        complement: What one is: an `Adjective`, a profession (`Noun`), the
            French noun one has ("faim"), an age, or None.
        degree: "very", ... or None.
        settings: Where, and with whom.
        time: When, a `Fixed`, or None; `time_first`: where it stands.
        fronted: The node that fills the gap of the object, if it stands
            before the clause: the participle agrees with it.
        is_there: Whether it says "there is".
        gap: Which part a relative clause lacks: "subject", "object" or
            "place"; None of other clauses.
    """

    subject: Any
    verb: Verb | None
    tense: str
    helper: Verb | None = None
    negation: str | None = None
    is_short: bool = False
    frequency: str | None = None
    object: Any = None
    recipient: Any = None
    goal: Any = None
    complement: Any = None
    degree: str | None = None
    settings: tuple[Setting, ...] = ()
    time: Fixed | None = None
    time_first: bool = False
    fronted: Any = None
    is_there: bool = False
    gap: str | None = None
    key: int = dataclasses.field(default_factory=new_key)


@dataclasses.dataclass(slots=True, eq=False)
class Sentence:
    """One clause, or several joined.

    Attributes:
        clauses: In order.
        joiners: What stands between them: ", and", "because", "that", ...
        opener: "if" or "when", which begins the first clause, or None.
        kind: "statement", "question" or "command".
        asks: What begins the question: "where", "what", a fronted `Phrase`,
            or None for yes and no.
    """

    clauses: list[Clause]
    joiners: list[str] = dataclasses.field(default_factory=list)
    opener: str | None = None
    kind: str = "statement"
    asks: Any = None
    key: int = dataclasses.field(default_factory=new_key)


def person_index(subject):
    """Return which of I, he, we, you, they a subject is: 0 to 4."""
    if subject.person == 3:
        return 4 if subject.is_plural else 1
    if subject.person == 2:
        return 3
    return 2 if subject.is_plural else 0
