"""Attention graded as a word alignment: which words it links, and how well.

Pure NumPy: what a server returned can be graded as well as a model's own.
"""

from collections.abc import Iterable, Sequence

import numpy as np

Link = tuple[int, int]


def alignment_error_rate(
    predicted: Sequence[Iterable[Link]],
    sure: Sequence[Iterable[Link]],
    possible: Sequence[Iterable[Link]] | None = None,
) -> float:
    r"""Return the alignment error rate of a corpus (Och and Ney, 2003).

    $$\mathrm{AER}(A, S, P) = 1 - \frac{|A \cap S| + |A \cap P|}{|A| + |S|}$$

    Counts are summed over all sentences before they are divided. 0 is
    perfect: all sure links found, and nothing that is not possible.

    Args:
        predicted: For each sentence its links $A$, `(source word, target
            word)` pairs.
        sure: The gold links $S$ that must be there.
        possible: The gold links $P$ that may be there; `sure` ones may, said
            or not. None: only the sure ones.

    Returns:
        The rate, from 0 to 1; 0 if there is nothing to find and nothing was
        found.

    Example:
        >>> alignment_error_rate([{(0, 0), (1, 2)}], [{(0, 0)}], [{(1, 1)}])
        0.333...
    """
    possible = sure if possible is None else possible
    if not len(predicted) == len(sure) == len(possible):
        raise ValueError(
            "`predicted`, `sure` and `possible` must have as many sentences. "
            f"Received: {len(predicted)}, {len(sure)} and {len(possible)}"
        )
    right = total = 0
    for links, must, may in zip(predicted, sure, possible, strict=True):
        links, must = _links(links), _links(must)
        may = must | _links(may)
        right += len(links & must) + len(links & may)
        total += len(links) + len(must)
    return 1 - right / total if total else 0.0


def hard_alignment(weights, threshold: float = 0.0) -> tuple[Link, ...]:
    """Link each target word to the source word it looks at most.

    Args:
        weights: `(T, S)` attention weights of words.
        threshold: A target word whose largest weight is not above this has
            no link; nor has one that looks nowhere (a row of zeros).

    Returns:
        `((source word, target word), ...)`, sorted; of equal weights the
        first wins.

    Example:
        >>> hard_alignment([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]])
        ((0, 0), (0, 2), (1, 1))
    """
    weights = _matrix(weights)
    if not weights.size:
        return ()
    best = weights.argmax(axis=1)
    found = weights.max(axis=1) > threshold
    return tuple(sorted((int(best[t]), int(t)) for t in np.flatnonzero(found)))


def merge_subwords(
    weights, target_spans, source_spans, target_words, source_words
):
    """Turn attention between tokens into attention between words.

    What a word gives to a token of another is the mean over its own tokens;
    what it gives to the whole word is the sum over that word's tokens. Rows
    that sum to 1 still do, if every source token belongs to a word. A token
    belongs to every word it shares a character with; one that shares none
    (the end token, with an empty span) belongs to none.

    Args:
        weights: `(T, S)` attention weights of tokens.
        target_spans: `(T, 2)`: where each target token begins and ends in its
            text, in characters, as `tokenize_with_offsets` gives them.
        source_spans: `(S, 2)`, the same for the source.
        target_words: `(T', 2)`: where the words are, as
            `keras_seq.data.word_spans` gives them.
        source_words: `(S', 2)`.

    Returns:
        `(T', S')` weights of words.

    Example:
        >>> merge_subwords(
        ...     [[0.6, 0.4], [0.2, 0.8]],
        ...     target_spans=[(0, 2), (2, 5)],  # two tokens, one word
        ...     source_spans=[(0, 3), (4, 6)],
        ...     target_words=[(0, 5)],
        ...     source_words=[(0, 3), (4, 6)],
        ... ).tolist()
        [[0.4, 0.6...]]
    """
    weights = _matrix(weights)
    of_target = _share(target_words, target_spans, "target")
    of_source = _share(source_words, source_spans, "source")
    if weights.shape != (of_target.shape[1], of_source.shape[1]):
        raise ValueError(
            "`weights` must be (T, S), a row for each of `target_spans` and "
            f"a column for each of `source_spans`. Received: {weights.shape} "
            f"for {of_target.shape[1]} and {of_source.shape[1]} spans"
        )
    tokens_of_word = np.maximum(of_target.sum(axis=1, keepdims=True), 1)
    # A token of two words gives each its part.
    words_of_token = np.maximum(of_source.sum(axis=0, keepdims=True), 1)
    return (
        (of_target / tokens_of_word) @ weights @ (of_source / words_of_token).T
    )


def _share(words, tokens, side):
    """Return `(words, tokens)`, 1 where they share a character."""
    words, tokens = (
        _spans(spans, f"{side}_{name}")
        for spans, name in ((words, "words"), (tokens, "spans"))
    )
    starts = np.maximum(words[:, np.newaxis, 0], tokens[np.newaxis, :, 0])
    ends = np.minimum(words[:, np.newaxis, 1], tokens[np.newaxis, :, 1])
    return (starts < ends).astype("float64")


def _spans(spans, name):
    spans = np.asarray(spans, "int64").reshape(-1, 2)
    if (spans[:, 0] > spans[:, 1]).any():
        raise ValueError(
            f"`{name}` must begin before they end. Received: {spans.tolist()}"
        )
    return spans


def _matrix(weights):
    weights = np.asarray(weights, "float64")
    if weights.ndim != 2:
        raise ValueError(
            "`weights` must be (T, S), of one head. "
            f"Received: shape {weights.shape}"
        )
    if not np.isfinite(weights).all():
        raise ValueError("`weights` must be finite. Received: NaN or infinity")
    return weights


def _links(links):
    return {(int(source), int(target)) for source, target in links}
