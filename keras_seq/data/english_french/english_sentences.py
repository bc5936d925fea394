"""Say sentences in English: state, ask, command."""

from keras_seq.data.english_french import meaning as m
from keras_seq.data.english_french.english_clauses import (
    after_verb,
    clause,
    denied_auxiliary,
    negation,
    particle,
    phrase,
    subject,
    verb_group,
    with_time,
)


def sentence(what):
    """Return the tokens of a `Sentence`."""
    first, key = what.clauses[0], what.key
    if what.kind == "question":
        return [*_question(first, what.asks), ("?", (key,), ())]
    if what.kind == "command":
        return [*_command(first), (".", (key,), ())]
    tokens = []
    if what.opener:
        tokens.append((what.opener, (key + 1,), ()))
    tokens += clause(first)
    for place, (joiner, following) in enumerate(
        zip(what.joiners, what.clauses[1:], strict=True)
    ):
        for part, word in enumerate(joiner.split()):
            tokens.append((word, (key + 2 + 2 * place + part,), ()))
        tokens += clause(following)
    return [*tokens, (".", (key,), ())]


def _question(what, asks):
    if asks == "who":
        finite, middle, rest = verb_group(what)
        return [
            ("who", (what.key + m.RELATIVE,), ()),
            *finite,
            *middle,
            *rest,
            *after_verb(what),
        ]
    finite, middle, rest = verb_group(what, asked=True)
    ((word, sure, possible),) = finite  # it is "est-ce que", too
    finite = [(word, (*sure, what.key + m.QUESTION), possible)]
    tokens = [*finite, *subject(what), *middle, *rest, *after_verb(what)]
    if isinstance(asks, m.Phrase):
        tokens = [*phrase(asks), *tokens]
    elif asks:
        tokens = [(asks, (what.key + m.RELATIVE,), ()), *tokens]
    return with_time(what, tokens)


def _command(what):
    verb = (what.verb.english[0], (what.key,), ())
    tokens = [verb, *particle(what), *after_verb(what)]
    if what.negation == "not":
        finite, middle = denied_auxiliary(what, ("do", (), (what.key,)))
        tokens = [*finite, *middle, *tokens]
    elif what.negation:
        tokens = [*negation(what), *tokens]
    return with_time(what, tokens)
