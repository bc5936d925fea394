"""The lexicon: tables of words made into nouns, adjectives and verbs."""

import dataclasses
import functools

from keras_seq.data.english_french import adjectives, nouns, verbs
from keras_seq.data.english_french.english_forms import add_ed, add_ing, add_s
from keras_seq.data.english_french.french_forms import (
    conjugate,
    feminine,
    imparfait,
    plural,
)


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Noun:
    """A noun: `(singular, plural)` in both languages; mass nouns have one.

    `french` of a profession is of a man, `french_woman` of a woman.
    """

    english: tuple[str, str | None]
    french: tuple[str, str | None]
    gender: str
    kind: str
    french_woman: tuple[str, str] | None = None


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Adjective:
    """An adjective; French `(m, f, m plural, f plural)`, and "bel" or None."""

    english: str
    french: tuple[str, str, str, str]
    before_vowel: str | None = None


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Verb:
    """A verb: forms of both languages, and what it goes with.

    Attributes:
        english: What one does, he does, one did, one is doing.
        particle: "at" of "look at", or "".
        infinitive: French infinitive.
        present: Its five persons; so with `imparfait`.
        participle: Its past participle.
        is_state: Whether its past is the imparfait.
        with_être: Whether its past is formed with "être".
        is_reflexive: Whether French says "se".
        preposition: What French puts before the object or infinitive, or "".
        who: Kinds of noun that can be its subject.
        what: Kinds that can be its object.
    """

    english: tuple[str, str, str, str]
    particle: str
    infinitive: str
    present: tuple[str, ...]
    imparfait: tuple[str, ...]
    participle: str
    is_state: bool = False
    with_être: bool = False
    is_reflexive: bool = False
    preposition: str = ""
    who: tuple[str, ...] = ()
    what: tuple[str, ...] = ()

    @property
    def goes_on(self):
        """Whether one can be doing it."""
        return not (self.is_state or self.english[0] in verbs.NEVER_IN_PROGRESS)

    @property
    def may_be_some(self):
        """Whether it is done to "some bread"; one likes "the bread"."""
        return not self.is_state or self.english[0] in {"have", "want"}

    @property
    def past_looks_present(self):
        """Whether "they read" may be now or then."""
        return self.english[0] == self.english[2]


@dataclasses.dataclass(frozen=True, eq=False)
class Lexicon:
    """All words that sentences are made of, ready to be drawn from.

    Attributes:
        nouns: `{kind or group: [Noun]}`.
        before: `{kind: [Adjective]}` that stand before a French noun.
        after: `{kind: [Adjective]}` that follow it.
        verbs: `{table: [Verb]}`.
        countries: `[Noun]`, without articles in English.
        aspirated: French words before which nothing elides.
    """

    nouns: dict[str, list[Noun]]
    before: dict[str, list[Adjective]]
    after: dict[str, list[Adjective]]
    verbs: dict[str, list[Verb]]
    countries: list[Noun]
    aspirated: frozenset[str]

    def size(self):
        """How many words there are, a word of two groups counted once."""
        of_nouns = {noun for kind in self.nouns.values() for noun in kind}
        of_adjectives = {
            adjective.english
            for table in (self.before, self.after)
            for kind in table.values()
            for adjective in kind
        }
        of_verbs = {
            (verb.english[0], verb.particle)
            for table in self.verbs.values()
            for verb in table
        }
        return len(of_nouns) + len(of_adjectives) + len(of_verbs)


@functools.cache
def load_lexicon() -> Lexicon:
    """Read the tables, once.

    >>> lexicon = load_lexicon()
    >>> [n.french for n in lexicon.nouns["animal"] if "owl" in n.english]
    [('hibou', 'hiboux')]
    >>> lexicon.size() > 450
    True
    """
    aspirated = set()
    by_kind = {
        kind: [_noun(row, kind, aspirated) for row in _rows(table)]
        for kind, table in (nouns.COUNTABLE | nouns.MASS).items()
    }
    by_kind["profession"] = [
        _profession(row) for row in _rows(nouns.PROFESSIONS)
    ]
    named = {n.english[0]: n for kind in by_kind.values() for n in kind}
    for group, members in nouns.GROUPS.items():
        by_kind[group] = [named[member] for member in members.split()]
    tables = [
        {
            kind: [
                _adjective(row, aspirated)
                for row in _rows(table[adjectives.SAID_OF[kind]])
            ]
            for kind in adjectives.SAID_OF
        }
        for table in (adjectives.BEFORE, adjectives.AFTER)
    ]
    return Lexicon(
        by_kind,
        *tables,
        verbs={
            "transitive": _verbs(verbs.TRANSITIVE),
            "to_somebody": _verbs(verbs.TO_SOMEBODY, preposition="à"),
            "giving": _verbs(verbs.GIVING),
            "intransitive": _verbs(verbs.INTRANSITIVE),
            "motion": _verbs(verbs.MOTION),
            "saying": _verbs(verbs.SAYING),
            "before_infinitive": _verbs(verbs.BEFORE_INFINITIVE),
        },
        countries=[
            _noun(row, "country", set()) for row in _rows(nouns.COUNTRIES)
        ],
        aspirated=frozenset(aspirated),
    )


def _rows(table):
    return [row.split() for row in table.split(";") if row.strip()]


def _noun(row, kind, aspirated):
    english, french, gender = row
    english = _singular_and_plural(english, add_s)
    french = _singular_and_plural(french, plural)
    if french[0].startswith("*"):
        french = tuple(form.removeprefix("*") for form in french)
        aspirated.update(french)
    if kind in nouns.MASS or kind == "country":
        english, french = (english[0], None), (french[0], None)
    return Noun(english, french, gender, kind)


def _profession(row):
    english, man, *woman = row
    woman = woman[0] if woman else man
    gender = "f" if english in nouns.FEMALE_PROFESSIONS else "m"
    return Noun(
        (english, add_s(english)),
        (man, plural(man)),
        gender,
        "profession",
        (woman, plural(woman)),
    )


def _singular_and_plural(entry, rule):
    singular, _, its_plural = entry.partition(",")
    return singular, its_plural or rule(singular)


def _adjective(row, aspirated):
    english, entry = row
    man, woman, before_vowel, *_ = (*entry.split(","), None, None)
    is_aspirated = man.startswith("*")
    man = man.removeprefix("*")
    woman = woman or feminine(man)
    forms = (man, woman, plural(man), f"{woman}s")
    if is_aspirated:
        aspirated.update(forms)
    return Adjective(english, forms, before_vowel)


def _verbs(table, preposition=""):
    rows = [line.split("|") for line in table.strip().splitlines()]
    return [
        _verb(*map(str.strip, row), preposition=preposition) for row in rows
    ]


def _verb(english, french, who="", what="", *, preposition=""):
    base, *particle = english.split()
    base, _, past = base.partition(",")
    with_être, french = french.startswith("*"), french.removeprefix("*")
    is_reflexive, french = french.startswith("se "), french.removeprefix("se ")
    infinitive, _, after = french.partition(" ")
    is_state, infinitive = "+" in infinitive, infinitive.removesuffix("+")
    present, participle = conjugate(infinitive)
    return Verb(
        (base, add_s(base), past or add_ed(base), add_ing(base)),
        " ".join(particle),
        infinitive,
        present,
        imparfait(present),
        participle,
        is_state=is_state,
        with_être=with_être or is_reflexive,
        is_reflexive=is_reflexive,
        preposition=after or preposition,
        who=tuple(who.split()) or ("person", "profession", "family"),
        what=tuple(what.split()),
    )
