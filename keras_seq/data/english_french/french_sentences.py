"""Say sentences in French: state, ask, command."""

from keras_seq.data.english_french import meaning as m
from keras_seq.data.english_french.french_articles import elide
from keras_seq.data.english_french.french_clauses import (
    after_verb,
    clause,
    clitics,
    denied,
    phrase,
    subject,
    verb_group,
    with_time,
)
from keras_seq.data.english_french.function_words import (
    CONJUNCTIONS,
    QUESTION_ADVERBS,
)

OPENERS = {"if": "si", "when": "quand"}
JOINERS = {",": ",", "that": "que"} | CONJUNCTIONS


def sentence(what):
    """Return the tokens of a `Sentence`."""
    return elide(_in_full(what))


def _in_full(what):
    first, key = what.clauses[0], what.key
    if what.kind == "question":
        return [*_question(first, what.asks), ("?", (key,), ())]
    if what.kind == "command":
        return [*_command(first), (".", (key,), ())]
    tokens = []
    if what.opener:
        tokens.append((OPENERS[what.opener], (key + 1,), ()))
    tokens += clause(first)
    for place, (joiner, following) in enumerate(
        zip(what.joiners, what.clauses[1:], strict=True)
    ):
        tokens += _joiner(joiner, key + 2 + 2 * place)
        tokens += clause(following)
    return [*tokens, (".", (key,), ())]


def _joiner(joiner, key):
    words = JOINERS[joiner].split()
    if joiner.startswith(","):  # the comma, and the word after it
        return [(word, (key + i,), ()) for i, word in enumerate(words)]
    return [(word.split("=")[0], (key,), ()) for word in words]


def _question(what, asks):
    """Invert a pronoun and "to be", "can", "must"; else "est-ce que".

    English begins such questions with the verb itself; where it says "do",
    French says "est-ce que".
    """
    key = what.key
    who, asked = (key + m.RELATIVE,), (key + m.QUESTION,)
    if asks == "who":
        group = [*verb_group(what), *after_verb(what)]
        return [("qui", who, ()), *group]
    opening = []
    if isinstance(asks, m.Phrase):
        opening = phrase(asks)
    elif asks:
        french = {"what": "que"} | QUESTION_ADVERBS
        opening = [(french[asks], who, ())]
    if _inverts(what):
        return with_time(what, [*opening, *_inverted(what)])
    if asks == "where" and what.verb is None:  # "Où est le chat ?"
        return [*opening, *verb_group(what), *subject(what)]
    marks = [(word, asked, ()) for word in ("est", "-ce", "que")]
    tokens = [*subject(what), *verb_group(what), *after_verb(what)]
    return with_time(what, [*opening, *marks, *tokens])


def _finite_keys(what):
    return (what.key + (m.HELPER if what.helper else m.VERB),)


def _inverts(what):
    modal = what.helper is not None and not what.helper.particle
    return isinstance(what.subject, m.Pronoun) and (
        modal or (what.verb is None and what.tense != "future")
    )


def _inverted(what):
    """Return "peut", "-il" and the rest."""
    tokens = verb_group(what)
    finite = next(
        i
        for i, (_, sure, _) in enumerate(tokens)
        if set(sure) & set(_finite_keys(what))
    )
    if tokens[finite][0] == "peux":
        tokens[finite] = ("puis", *tokens[finite][1:])
    ((word, *keys),) = subject(what)
    tokens.insert(finite + 1, (f"-{word}", *keys))
    return [*tokens, *after_verb(what)]


def _command(what):
    """The vous form, which is the command of every verb here."""
    key = what.key
    verb = (what.verb.present[3], (key,), ())
    tokens = [*denied(what, [*clitics(what), verb]), *after_verb(what)]
    return with_time(what, tokens)
