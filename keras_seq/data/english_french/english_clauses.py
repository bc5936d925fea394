"""Say clauses and noun phrases in English.

A token is `(word, sure, possible)`: the keys of the meanings it expresses,
and of those it only has a share in.
"""

from keras_seq.data.english_french import meaning as m
from keras_seq.data.english_french.english_forms import BE, SHORT, a_or_an
from keras_seq.data.english_french.function_words import (
    NUMBERS,
    OBJECTS,
    SUBJECTS,
)
from keras_seq.data.english_french.lexicon import Adjective, Noun

MODALS = {"can", "must"}


def clause(what):
    """Return the tokens of a `Clause` that states something."""
    finite, middle, rest = verb_group(what)
    before = [] if what.gap == "subject" else subject(what)
    tokens = [*before, *finite, *middle, *rest, *after_verb(what)]
    return with_time(what, tokens)


def with_time(what, tokens):
    """Add when it happens, at the start or at the end."""
    if what.time is None:
        return tokens
    if what.time_first:
        comma = (",", (what.time.key,), ())
        return [*fixed(what.time), comma, *tokens]
    return [*tokens, *fixed(what.time)]


def fixed(what):
    """Return the tokens of a `Fixed`; word n has key n, counted from 1."""
    return [
        (word, (what.key + place,), ())
        for place, word in enumerate(what.english.split(), start=1)
    ]


# --- verbs -------------------------------------------------------------------


def verb_group(what, asked=False):
    """Return what comes before "not" or "often", that, and what follows.

    A question puts the subject after the first part, so with `asked` that is
    one auxiliary.
    """
    key, person = what.key, m.person_index(what.subject)
    if what.verb is None:
        return _be_group(what, person)
    helper, verb = what.helper, what.verb.english
    main, main_key = (helper.english, m.HELPER) if helper else (verb, m.VERB)
    after = [(verb[0], (key,), ()), *particle(what)]
    if helper and helper.english[0] in MODALS:
        finite = (main[0], (key + m.HELPER,), ())
        return *denied_auxiliary(what, finite), after
    after = [("to", (), (key,)), *after] if helper else particle(what)

    def doing(form):
        return [(main[form], (key + main_key,), ()), *after]

    if what.tense == "progressive":
        finite = (BE["present"][person], (), (key + main_key,))
        return *denied_auxiliary(what, finite), doing(3)
    if what.tense == "future":
        finite = (BE["present"][person], (), (key + m.TENSE,))
        going = ("going", (key + m.TENSE,), ())
        return *denied_auxiliary(what, finite), [
            going,
            ("to", (), (key,)),
            *doing(0),
        ]
    past = what.tense == "past"
    if asked or what.negation == "not":
        do = "did" if past else ("does" if person == 1 else "do")
        if past:
            finite = (do, (key + m.TENSE,), ())
        else:
            finite = (do, (), (key + main_key,))
        return *denied_auxiliary(what, finite), doing(0)
    if past:  # "ate" is "a mangé": it holds the auxiliary, too
        word = (main[2], (key + main_key, key + m.TENSE), ())
    else:
        word = (main[1 if person == 1 else 0], (key + main_key,), ())
    return [], _middle(what), [word, *after]


def _be_group(what, person):
    key = what.key
    rest = _complement(what)
    if what.is_there:
        return _there(what, person)
    if what.tense == "future":
        finite = ("will", (), (key,))
        return *denied_auxiliary(what, finite), [("be", (key,), ()), *rest]
    finite = (BE[what.tense][person], (key,), ())
    return *denied_auxiliary(what, finite), rest


def _there(what, person):
    """There is, there are; "no" is the article of what is not there."""
    number = 4 if what.object.is_plural else 1
    finite = (BE[what.tense][number], (what.key,), ())
    return [finite], [], []


def denied_auxiliary(what, finite):
    """Return the auxiliary, one word with "not" if short, and the middle."""
    word, sure, possible = finite
    negation = what.key + m.NEGATION
    if what.negation != "not":
        return [finite], _middle(what)
    if what.is_short and word in SHORT:
        short = (SHORT[word], (*sure, negation), possible)
        return [short], _middle(what, denied=True)
    if word == "can":
        return [("cannot", (*sure, negation), possible)], []
    return [finite], _middle(what)


def _middle(what, denied=False):
    tokens = [] if denied else negation(what)
    if what.frequency:
        tokens.append((what.frequency, (what.key + m.FREQUENCY,), ()))
    return tokens


def negation(what):
    """Return "not", "never" or "no longer"; nothing if not denied."""
    key = what.key + m.NEGATION
    if what.negation == "no longer":
        return [("no", (), (key,)), ("longer", (key,), ())]
    return [(what.negation, (key,), ())] if what.negation else []


def particle(what):
    """The "at" of "look at": French has its own preposition, or none."""
    verb, key = what.verb, what.key
    if not verb.particle:
        return []
    if verb.preposition:
        return [(verb.particle, (key + m.PREPOSITION,), ())]
    return [(verb.particle, (), (key,))]


# --- what follows the verb ----------------------------------------------------


def after_verb(what):
    """Return objects, goals and settings."""
    tokens = []
    to = ("to", (what.key + m.RECIPIENT,), ())
    recipient, thing = what.recipient, what.object
    if isinstance(recipient, m.Pronoun) and not isinstance(thing, m.Pronoun):
        tokens += noun_phrase(recipient)
        recipient = None
    if thing is not None:
        tokens += noun_phrase(thing, denied=bool(what.negation), within=what)
    if recipient is not None:
        tokens += [to, *noun_phrase(recipient)]
    if what.goal is not None:
        tokens += noun_phrase(what.goal)
    for setting in what.settings:
        tokens += fixed(setting.preposition)
        tokens += noun_phrase(setting.what)
    return tokens


def _complement(what):
    said, key = what.complement, what.key + m.COMPLEMENT
    if isinstance(said, Adjective | m.Fixed):
        tokens = [(said.english, (key,), ())]
    elif isinstance(said, Noun):
        word = said.english[what.subject.is_plural]
        tokens = [(word, (key,), ())]
        if not what.subject.is_plural:
            tokens.insert(0, (a_or_an(word), (), (key,)))
    elif isinstance(said, str):  # an age
        number = what.key + m.DEGREE
        tokens = [
            (said, (number,), ()),
            ("years", (key,), ()),
            ("old", (), (key,)),
        ]
    else:
        return []
    if what.degree:
        tokens.insert(0, (what.degree, (what.key + m.DEGREE,), ()))
    return tokens


# --- nouns -------------------------------------------------------------------


def subject(what):
    """Return the subject of a clause: "he", "it", "the dog", "there"."""
    who = what.subject
    if what.is_there:
        return [("there", (what.key + m.COMPLEMENT,), (what.key,))]
    if isinstance(who, m.Pronoun):
        word = SUBJECTS[who.person, who.is_plural, who.gender][0]
        if who.is_thing and not who.is_plural:
            word = "it"
        return [(word, (who.key,), ())]
    return noun_phrase(who)


def noun_phrase(what, denied=False, within=None):
    """Return the tokens of any node that stands for somebody or something."""
    if isinstance(what, m.Pronoun):
        word = OBJECTS[what.person, what.is_plural, what.gender][0]
        if what.is_thing and not what.is_plural:
            word = "it"
        return [(word, (what.key,), ())]
    if isinstance(what, m.Name):
        return [(what.english, (what.key,), ())]
    if isinstance(what, m.Couple):
        both = ("and", (what.key,), ())
        return [*noun_phrase(what.first), both, *noun_phrase(what.second)]
    return phrase(what, denied, within)


def phrase(what, denied=False, within=None):
    """Return the tokens of a `Phrase`."""
    key = what.key
    tokens = [
        (adjective.english, (key + place,), ())
        for adjective, place in ((what.before, m.BEFORE), (what.after, m.AFTER))
        if adjective
    ]
    tokens.append((what.noun.english[what.is_plural], (key + m.NOUN,), ()))
    if what.relative is not None:
        tokens += _relative(what)
    if what.owner is not None:
        owner = noun_phrase(what.owner)
        ends_in_s = what.owner.is_plural and owner[-1][0].endswith("s")
        owned = ("'" if ends_in_s else "'s", (key + m.OWNED,), ())
        return [*owner, owned, *tokens]
    return [*_article(what, tokens[0][0], denied, within), *tokens]


def _article(what, following, denied, within):
    article, key = what.article, what.key + m.ARTICLE
    if article == "":
        return []
    if within is not None and within.is_there and within.negation:
        return [("no", (within.key + m.NEGATION, key), ())]
    if article == "a":
        article = a_or_an(following)
    elif article == "some" and denied:
        article = "any"
    elif article == "all":
        return [("all", (what.key + m.ALL,), ()), ("the", (key,), ())]
    elif article == "how many":
        return [("how", (), (key,)), ("many", (key,), ())]
    elif article in NUMBERS and " " in article:
        few, many = article.split()
        return [(few, (), (key,)), (many, (key,), ())]
    return [(article, (key,), ())]


def _relative(what):
    inner = what.relative
    word = {"subject": "that", "object": "that", "place": "where"}[inner.gap]
    if inner.gap == "subject" and not what.is_thing:
        word = "who"
    return [(word, (inner.key + m.RELATIVE,), ()), *clause(inner)]
