"""Say clauses and noun phrases in French. Tokens are as in English.

Words are first written in full ("la eau"); `elide` of `french_articles.py`
shortens them when the sentence is whole.
"""

import functools
import re

from keras_seq.data.english_french import meaning as m
from keras_seq.data.english_french.french_articles import (
    article,
    contract,
    is_open,
)
from keras_seq.data.english_french.french_forms import agree
from keras_seq.data.english_french.function_words import (
    DEGREES,
    FREQUENCY,
    NEGATIONS,
    NUMBERS,
    OBJECTS,
    REFLEXIVE,
    SUBJECTS,
)
from keras_seq.data.english_french.lexicon import Adjective, Noun
from keras_seq.data.english_french.verbs import BE, IRREGULAR

RELATIVES = {"subject": "qui", "object": "que", "place": "où"}
GO, HAVE = (IRREGULAR[verb].split()[:5] for verb in ("aller", "avoir"))
HAD = {
    "present": HAVE,
    "past": "avais avait avions aviez avaient".split(),
    "future": "aurai aura aurons aurez auront".split(),
}
# Which clitics come first: me, nous, vous; le, la, les; lui, leur.
ORDER = {"le": 1, "la": 1, "les": 1, "lui": 2, "leur": 2}


def clause(what):
    """Return the tokens of a `Clause` that states something."""
    before = [] if what.gap == "subject" else subject(what)
    tokens = [*before, *verb_group(what), *after_verb(what)]
    return with_time(what, tokens)


def with_time(what, tokens):
    """Add when it happens, where English has it."""
    if what.time is None:
        return tokens
    if what.time_first:
        comma = (",", (what.time.key,), ())
        return [*fixed(what.time), comma, *tokens]
    return [*tokens, *fixed(what.time)]


def fixed(what):
    """Return the tokens of a `Fixed`: "mot=2~1" has 2 for sure, and maybe 1."""
    key = what.key
    return [
        (word, tuple(key + i for i in sure), tuple(key + i for i in possible))
        for word, sure, possible in _read_fixed(what.french)
    ]


@functools.cache
def _read_fixed(entries):
    found = []
    for entry in entries.split():
        word = re.match("[^=~]+", entry)[0]
        marks = {
            mark: tuple(map(int, re.findall(f"{mark}(\\d)", entry)))
            for mark in "=~"
        }
        found.append((word, marks["="], marks["~"]))
    return found


# --- verbs -------------------------------------------------------------------


def verb_group(what):
    """Return clitics, verb, negation and complement, in their order."""
    key, person = what.key, m.person_index(what.subject)
    if what.verb is None:
        return _be_group(what, person)
    verb, before = what.verb, clitics(what)
    if what.helper:
        helper = what.helper
        finite = (helper.present[person], (key + m.HELPER,), ())
        tokens = denied(what, [finite])
        if helper.preposition:
            tokens.append((helper.preposition, (), (key + m.HELPER, key)))
        return [*tokens, *before, (verb.infinitive, (key,), ())]
    if what.tense == "future":
        finite = (GO[person], (key + m.TENSE,), ())
        tokens = denied(what, [finite])
        return [*tokens, *before, (verb.infinitive, (key,), ())]
    if what.tense == "past" and verb.is_state:
        finite = (verb.imparfait[person], (key,), (key + m.TENSE,))
        return denied(what, [*before, finite])
    if what.tense == "past":
        auxiliary = (BE["present"] if verb.with_être else HAVE)[person]
        finite = (auxiliary, (key + m.TENSE,), (key,))
        participle = (_participle(what), (key,), (key + m.TENSE,))
        return [*denied(what, [*before, finite]), participle]
    finite = (verb.present[person], (key,), ())
    return denied(what, [*before, finite])


def _participle(what):
    """Agree with the subject after "être", else with an object before it."""
    other = what.subject if what.verb.with_être else what.fronted
    if other is None and isinstance(what.object, m.Pronoun):
        other = what.object if not what.verb.preposition else None
    if other is None:
        return what.verb.participle
    return agree(what.verb.participle, other.gender, other.is_plural)


def _be_group(what, person):
    key = what.key
    has = isinstance(what.complement, m.Fixed | str)  # "a faim", "a dix ans"
    if what.is_there:
        there = ("y", (key + m.COMPLEMENT,), ())
        tokens = [there, (HAD[what.tense][1], (key,), ())]
        return denied(what, tokens)
    finite = ((HAD if has else BE)[what.tense][person], (key,), ())
    return [*denied(what, [finite]), *_complement(what)]


def denied(what, tokens):
    """Put "ne" before, "pas" and "souvent" after clitics and verb."""
    if what.negation:
        keys = (what.key + m.NEGATION,)
        tokens = [
            ("ne", keys, ()),
            *tokens,
            (NEGATIONS[what.negation], keys, ()),
        ]
    if what.frequency:
        word = FREQUENCY[what.frequency]
        tokens = [*tokens, (word, (what.key + m.FREQUENCY,), ())]
    return tokens


def clitics(what):
    """Return the pronouns that stand before the verb, in their order."""
    tokens = []
    if what.verb.is_reflexive:
        pronoun = REFLEXIVE[m.person_index(what.subject)]
        tokens.append((pronoun, (what.key,), ()))
    for node, is_direct in (
        (what.object, not what.verb.preposition),
        (what.recipient, False),
    ):
        if isinstance(node, m.Pronoun):
            forms = OBJECTS[node.person, node.is_plural, node.gender]
            # The "to" of "to him" is in "lui".
            to = () if is_direct else _to_keys(what, node)
            tokens.append((forms[1 if is_direct else 2], (node.key,), to))
    return sorted(tokens, key=lambda token: ORDER.get(token[0], 0))


def _to_keys(what, node):
    place = m.RECIPIENT if node is what.recipient else m.PREPOSITION
    return (what.key + place,)


# --- what follows the verb ----------------------------------------------------


def after_verb(what):
    """Return objects that are not clitics, goals and settings."""
    tokens, key = [], what.key
    is_denied = bool(what.negation)
    if what.object is not None and not isinstance(what.object, m.Pronoun):
        if what.verb is not None and what.verb.preposition:
            tokens += after_preposition(_preposition(what), what.object)
        else:
            tokens += noun_phrase(what.object, denied=is_denied, within=what)
    if what.recipient is not None and not isinstance(what.recipient, m.Pronoun):
        to = [("à", (key + m.RECIPIENT,), ())]
        tokens += after_preposition(to, what.recipient)
    if what.goal is not None:
        tokens += after_preposition(_preposition(what), what.goal)
    for setting in what.settings:
        tokens += after_preposition(fixed(setting.preposition), setting.what)
    return tokens


def _preposition(what):
    """Return the preposition of the verb; English may have none."""
    key = what.key
    sure = (key + m.PREPOSITION,) if what.verb.particle else ()
    return [(what.verb.preposition, sure, () if sure else (key,))]


def _complement(what):
    said, keys = what.complement, (what.key + m.COMPLEMENT,)
    who, degree = what.subject, (what.key + m.DEGREE,)
    if isinstance(said, Adjective):
        form = said.french[(who.gender == "f") + 2 * who.is_plural]
        tokens = [(form, keys, ())]
    elif isinstance(said, Noun):  # no article: "elle est avocate"
        forms = said.french_woman if who.gender == "f" else said.french
        tokens = [(forms[who.is_plural], keys, ())]
    elif isinstance(said, m.Fixed):
        tokens = [(said.french, keys, ())]
    elif isinstance(said, str):
        return [(NUMBERS[said], degree, ()), ("ans", keys, ())]
    else:
        return []
    if what.degree:
        tokens.insert(0, (DEGREES[what.degree], degree, ()))
    return tokens


def subject(what):
    """Return the subject of a clause."""
    who = what.subject
    if what.is_there:
        return [("il", (), (what.key + m.COMPLEMENT,))]
    if isinstance(who, m.Pronoun):
        word = SUBJECTS[who.person, who.is_plural, who.gender][1]
        return [(word, (who.key,), ())]
    return noun_phrase(who)


# --- nouns -------------------------------------------------------------------


def noun_phrase(what, denied=False, within=None):
    """Return the tokens of any node but a clitic pronoun.

    Args:
        what: The node; a `Pronoun` stands in its form after prepositions.
        denied: Whether it is the direct object of a verb that is denied: "un"
            and "des" are "de" then.
        within: The clause it is the object of.
    """
    if isinstance(what, m.Pronoun):
        word = OBJECTS[what.person, what.is_plural, what.gender][3]
        return [(word, (what.key,), ())]
    if isinstance(what, m.Name):
        return [(what.french, (what.key,), ())]
    if isinstance(what, m.Couple):
        both = ("et", (what.key,), ())
        return [*noun_phrase(what.first), both, *noun_phrase(what.second)]
    return phrase(what, denied, within)


def phrase(what, denied=False, within=None):
    """Return the tokens of a `Phrase`."""
    key, is_plural = what.key, what.is_plural
    form = (what.gender == "f") + 2 * is_plural
    forms = what.noun.french
    if what.noun.french_woman and what.gender == "f":
        forms = what.noun.french_woman
    noun = forms[is_plural]
    tokens = [(noun, (key + m.NOUN,), ())]
    if what.before:
        word = what.before.french[form]
        if what.before.before_vowel and form == 0 and is_open(noun):
            word = what.before.before_vowel
        tokens.insert(0, (word, (key + m.BEFORE,), ()))
    if what.after:
        tokens.append((what.after.french[form], (key + m.AFTER,), ()))
    tokens = [*article(what, tokens[0][0], denied, within), *tokens]
    if what.owner is not None:
        of = [("de", (key + m.OWNED,), ())]
        tokens += after_preposition(of, what.owner)
    if what.relative is not None:
        inner = what.relative
        word = (RELATIVES[inner.gap], (inner.key + m.RELATIVE,), ())
        tokens += [word, *clause(inner)]
    return tokens


def after_preposition(preposition, what):
    """Return preposition and noun phrase, contracted: "du", "aux"."""
    return contract(preposition, noun_phrase(what), what)
