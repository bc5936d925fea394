"""ROUGE-L: how much of the reference comes back in its order?"""

_BETA = 1.2  # recall counts so many times as much as precision


def rouge_l(predictions, references) -> list[float]:
    r"""Return the ROUGE-L of each caption, 0 to 1; their mean is the corpus's.

    Lin (2004), section 3.1: from the longest common subsequence of prediction
    $c$ and reference $s$,

    $$ P = \max_s \frac{\mathrm{lcs}(c, s)}{|c|}, \quad
       R = \max_s \frac{\mathrm{lcs}(c, s)}{|s|}, \quad
       F = \frac{(1 + \beta^2) P R}{R + \beta^2 P}, \quad \beta = 1.2. $$

    Args:
        predictions: N lists of words.
        references: For each the lists of words of its references.

    >>> rouge_l(["a red cup".split()], [["a small red cup".split()]])
    [0.8356164383561644]
    """
    scores = []
    for words, given in zip(predictions, references, strict=True):
        common = [longest_common_subsequence(words, other) for other in given]
        precision = max(common) / len(words) if words else 0.0
        recall = max(
            found / len(other) if other else 0.0
            for found, other in zip(common, given, strict=True)
        )
        scores.append(
            (1 + _BETA**2)
            * precision
            * recall
            / (recall + _BETA**2 * precision)
            if precision and recall
            else 0.0
        )
    return scores


def longest_common_subsequence(one, other) -> int:
    """Return how many words are in both, in the same order.

    >>> longest_common_subsequence("abcbd", "bacd")
    3
    """
    lengths = [0] * (len(other) + 1)
    for word in one:
        before = 0  # the length without this word and without this place
        for place, another in enumerate(other, start=1):
            kept = lengths[place]
            lengths[place] = (
                before + 1 if word == another else max(kept, lengths[place - 1])
            )
            before = kept
    return lengths[-1]
