"""BLEU of captions, with several references for each."""

import collections
import math


def ngram_counts(words, n) -> collections.Counter:
    """Count the runs of n words.

    >>> ngram_counts(["a", "b", "a", "b"], 2)
    Counter({('a', 'b'): 2, ('b', 'a'): 1})
    """
    return collections.Counter(
        tuple(words[at : at + n]) for at in range(len(words) - n + 1)
    )


def brevity_penalty(predictions, references) -> float:
    r"""Return what BLEU of a corpus is multiplied by, for being too short.

    $$ BP = \min(1, e^{1 - r/c}), $$

    with $c$ the words of all predictions, and $r$ those of the references that
    are closest in length to them (of two that are equally close, the shorter).
    BLEU divided by it is BLEU without it.

    Args:
        predictions: N lists of words.
        references: For each the lists of words of its references.

    >>> round(brevity_penalty(["a cup".split()], [["a red cup".split()]]), 3)
    0.607
    """
    length = closest = 0
    for words, given in zip(predictions, references, strict=True):
        length += len(words)
        closest += min(
            map(len, given), key=lambda size: (abs(size - len(words)), size)
        )
    return min(1.0, math.exp(1 - closest / length)) if length else 0.0


def caption_bleu(predictions, references, max_ngram=4) -> list[float]:
    r"""Return BLEU-1 to BLEU-`max_ngram` of a corpus, 0 to 1.

    Papineni et al. (2002), sections 2.1 to 2.3:

    $$ \mathrm{BLEU}_n = BP \prod_{k=1}^{n} p_k^{1/n}, $$

    with $p_k$ the share of k-grams of all predictions that a reference has,
    each counted at most as often as in one of its references, and $BP$ the
    `brevity_penalty`.

    Differs from the COCO evaluation by less than 0.001 where no k-gram is
    found at all: that is 0 here.

    Args:
        predictions: N lists of words.
        references: For each the lists of words of its references.
        max_ngram: The longest runs to count.

    >>> bleu = caption_bleu(["a red cup".split()], [["a red car".split()]], 2)
    >>> [round(score, 3) for score in bleu]
    [0.667, 0.577]
    """
    right, said = [0] * max_ngram, [0] * max_ngram
    for words, given in zip(predictions, references, strict=True):
        for n in range(1, max_ngram + 1):
            most = collections.Counter()
            for reference in given:
                most |= ngram_counts(reference, n)
            found = ngram_counts(words, n)
            right[n - 1] += (found & most).total()
            said[n - 1] += found.total()
    brevity = brevity_penalty(predictions, references)
    scores, product = [], 1.0
    for n, (good, total) in enumerate(zip(right, said, strict=True), start=1):
        product *= good / total if total else 0.0
        scores.append(brevity * product ** (1 / n))
    return scores
