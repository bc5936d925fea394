"""Grade word weights against the words that really decide.

All functions are of one text, and of plain arrays: `weights (N,)` of its words
and `gold (N,)`, True for the words that decide. What cannot be graded, because
no word or every word is gold, is NaN.
"""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class RationaleScores:
    """Means over texts of how well weights find the words that decide.

    Attributes:
        precision_at_1: How often the heaviest word is one that decides.
        precision_at_gold: Of the k heaviest words, how many decide, with k the
            number of words that do (also called R-precision).
        auc: How often a word that decides outweighs one that does not.
        share: How much of all weight is on words that decide.
        examples: How many texts could be graded.
    """

    precision_at_1: float
    precision_at_gold: float
    auc: float
    share: float
    examples: int


def score_rationales(words, spans):
    """Return the `RationaleScores` of many texts.

    Signed weights count as they are: what speaks against the predicted class
    is ranked last.

    Args:
        words: `WeightedWords` of each text.
        spans: `[(start, end), ...]` of what decides, for each text.

    Example:
        >>> from keras_seq.explain import word_weights
        >>> text = "Not good at all"
        >>> words = word_weights(text, [0, 4, 9, 12], [3, 8, 11, 15],
        ...                      [0.3, 0.5, 0.0, 0.2])
        >>> score_rationales([words], [[(0, 3), (4, 8)]])
        RationaleScores(precision_at_1=1.0, precision_at_gold=1.0,
                        auc=1.0, share=0.8, examples=1)
    """
    found = []
    for text, gold in zip(words, spans, strict=True):
        gold = overlapping(text.spans, gold)
        found.append(
            (
                precision_at_k(text.weights, gold, 1),
                precision_at_k(text.weights, gold),
                rationale_auc(text.weights, gold),
                weight_share(text.weights, gold),
            )
        )
    found = np.array(found).reshape(-1, 4)
    found = found[~np.isnan(found[:, 1])]
    return RationaleScores(*map(_mean, found.T), len(found))


def overlapping(words, spans):
    """Return which of `words (N, 2)` share a character with `spans (M, 2)`.

    >>> overlapping([(0, 3), (4, 8)], [(6, 7)]).tolist()
    [False, True]
    """
    words = np.asarray(words, "int64").reshape(-1, 1, 2)
    spans = np.asarray(spans, "int64").reshape(1, -1, 2)
    first = np.maximum(words[..., 0], spans[..., 0])
    last = np.minimum(words[..., 1], spans[..., 1])
    return (first < last).any(axis=1)


def precision_at_k(weights, gold, k=None):
    r"""Return how many of the k heaviest words are gold.

    $$ P@k = \frac1k \sum_{i \in \mathrm{top}_k(w)} g_i $$

    Equal weights are ranked by chance, and the mean over their orders is
    returned: weights that say nothing earn nothing.

    Args:
        weights: `(N,)`.
        gold: `(N,)` booleans.
        k: At most N counts; None is the number of gold words.

    >>> precision_at_k([0.1, 0.6, 0.3], [False, True, False], k=1)
    1.0
    >>> precision_at_k([0.5, 0.5], [False, True], k=1)
    0.5
    """
    weights, gold = _arrays(weights, gold)
    if k is not None and k < 1:
        raise ValueError(f"`k` must be at least 1. Received: {k}")
    k = min(gold.sum() if k is None else k, len(weights))
    if not gold.any():
        return float("nan")
    least = np.sort(weights)[len(weights) - k]  # the k-th heaviest
    above, level = weights > least, weights == least
    by_chance = (k - above.sum()) * gold[level].mean()
    return float((gold[above].sum() + by_chance) / k)


def rationale_auc(weights, gold):
    r"""Return the area under the ROC curve of weights as a detector of gold.

    It is the share of pairs in the right order (Mann and Whitney, 1947),

    $$ \frac{1}{|G||\bar G|} \sum_{i \in G} \sum_{j \notin G}
       [w_i > w_j] + \tfrac12 [w_i = w_j], $$

    so 1/2 by chance, and for weights that are all equal.

    >>> rationale_auc([0.1, 0.6, 0.3], [True, True, False])
    0.5
    """
    weights, gold = _arrays(weights, gold)
    if gold.all() or not gold.any():
        return float("nan")
    # Both counts by bisection: a text may have thousands of words.
    others = np.sort(weights[~gold])
    below = np.searchsorted(others, weights[gold], "left")
    not_above = np.searchsorted(others, weights[gold], "right")
    return float(((below + not_above) / 2).mean() / len(others))


def weight_share(weights, marked):
    r"""Return $\sum_{i \in M} |w_i| / \sum_i |w_i|$, NaN if there is no weight.

    >>> weight_share([0.5, -1.5], [False, True])
    0.75
    """
    weights, marked = _arrays(weights, marked)
    total = np.abs(weights).sum()
    return float(np.abs(weights[marked]).sum() / total if total else np.nan)


def _mean(numbers):
    numbers = numbers[~np.isnan(numbers)]
    return float(numbers.mean()) if len(numbers) else float("nan")


def _arrays(weights, gold):
    weights = np.asarray(weights, dtype="float64")
    gold = np.asarray(gold, dtype=bool)
    if weights.ndim != 1 or weights.shape != gold.shape:
        raise ValueError(
            "`weights` and `gold` must be of the words of one text, (N,). "
            f"Received: shapes {weights.shape} and {gold.shape}"
        )
    if not np.isfinite(weights).all():
        raise ValueError(f"`weights` must be finite. Received: {weights}")
    return weights, gold
