"""Take words away and ask the model again (DeYoung et al., 2020, ERASER)."""

import dataclasses
import math

import numpy as np

SHARES = (0.05, 0.1, 0.2, 0.5)


@dataclasses.dataclass(frozen=True)
class DeletionScores:
    """How much the answer hangs on the words that weigh most.

    Attributes:
        comprehensiveness: Mean over texts and shares; high is good.
        sufficiency: Mean over texts and shares; low is good.
        shares: Which shares of the words were taken.
        without: Mean probability of the answer without them, per share.
        only: Mean probability of the answer with nothing but them.
        full: Mean probability of the answer with the whole text.
    """

    comprehensiveness: float
    sufficiency: float
    shares: tuple[float, ...]
    without: tuple[float, ...]
    only: tuple[float, ...]
    full: float


def comprehensiveness(full, without):
    r"""Return $m(x)_j - m(x \setminus r)_j$: were all reasons found?

    Without the words $r$ that weigh most, the probability of the class $j$
    that the model chose for the whole text should fall.

    >>> comprehensiveness(0.9, 0.2).round(2)
    np.float64(0.7)
    """
    return np.subtract(full, without, dtype="float64")


def sufficiency(full, only):
    r"""Return $m(x)_j - m(r)_j$: are the reasons found enough?

    With nothing but the words $r$ that weigh most, the probability of the class
    $j$ that the model chose for the whole text should stay.

    >>> sufficiency(0.9, 0.85).round(2)
    np.float64(0.05)
    """
    return np.subtract(full, only, dtype="float64")


def deletion_scores(predict, words, shares=SHARES):
    r"""Return the `DeletionScores` of word weights, by running the model.

    With $r_{ik}$ the heaviest share $k$ of the words of text $i$, at least one:

    $$ \frac{1}{|B|} \sum_{k \in B} m(x_i)_j - m(x_i \setminus r_{ik})_j,
       \qquad
       \frac{1}{|B|} \sum_{k \in B} m(x_i)_j - m(r_{ik})_j. $$

    Differs from the paper, whose mean also counts $k = 0$, where nothing is
    taken; and texts without words are left out. Compare with the scores of
    random weights, since a model may fall for any word that is missing.

    Args:
        predict: From a list of N strings to probabilities `(N, C)`.
        words: `WeightedWords` of each text. Signed weights count as they are.
        shares: The shares $B$, each more than 0 and at most 1.

    Example:
        >>> from keras_seq.explain import word_weights
        >>> def predict(texts):
        ...     p = np.array([0.9 if "good" in text else 0.5 for text in texts])
        ...     return np.stack([1 - p, p], axis=-1)
        >>> words = word_weights("so good", [0, 3], [2, 7], [0.1, 0.9])
        >>> scores = deletion_scores(predict, [words], shares=[0.5])
        >>> round(scores.comprehensiveness, 2), round(scores.sufficiency, 2)
        (0.4, 0.0)
    """
    shares = tuple(map(float, shares))
    if not shares or not all(0 < share <= 1 for share in shares):
        raise ValueError(
            "`shares` must be one or more numbers above 0, at most 1. "
            f"Received: {shares}"
        )
    words = [text for text in words if len(text.weights)]
    if not words:
        raise ValueError("`words` must have a text with words. Received: none")
    texts = [text.text for text in words]
    for share in shares:
        texts += [remove_words(w, heaviest(w.weights, share)) for w in words]
        texts += [keep_words(w, heaviest(w.weights, share)) for w in words]
    found = np.asarray(predict(texts), dtype="float64")
    if found.ndim != 2 or len(found) != len(texts):
        raise ValueError(
            f"`predict` must return probabilities ({len(texts)}, classes) for "
            f"{len(texts)} texts. Received: shape {found.shape}"
        )
    found = found.reshape(1 + 2 * len(shares), len(words), -1)
    chosen = found[0].argmax(axis=-1)[None, :, None]
    found = np.take_along_axis(found, chosen, axis=-1)[..., 0]
    full, without, only = found[0], found[1::2], found[2::2]
    return DeletionScores(
        float(comprehensiveness(full, without).mean()),
        float(sufficiency(full, only).mean()),
        shares,
        tuple(without.mean(axis=1).tolist()),
        tuple(only.mean(axis=1).tolist()),
        float(full.mean()),
    )


def heaviest(weights, share):
    """Return the places of the heaviest share of words, at least one.

    >>> heaviest(np.array([0.1, 0.6, 0.3]), 0.5).tolist()
    [1, 2]
    """
    # The rounding guards against 0.1 * 30 = 3.0000000000000004.
    count = max(1, math.ceil(round(share * len(weights), 9)))
    return np.sort(np.argsort(-np.asarray(weights), kind="stable")[:count])


def remove_words(words, places):
    """Return the text without some of its words.

    >>> from keras_seq.explain import word_weights
    >>> words = word_weights("Not so good, no.", [], [], [])
    >>> remove_words(words, [1, 3])
    'Not good no.'
    """
    kept, last = [], 0
    for start, end in words.spans[np.sort(np.asarray(places, "int64"))]:
        kept.append(words.text[last:start])
        last = end
    kept.append(words.text[last:])
    return " ".join("".join(kept).split())


def keep_words(words, places):
    """Return some of the words of a text, in order.

    >>> from keras_seq.explain import word_weights
    >>> keep_words(word_weights("Not so good, no.", [], [], []), [2, 0])
    'Not good'
    """
    spans = words.spans[np.sort(np.asarray(places, "int64"))]
    return " ".join(words.text[start:end] for start, end in spans)
