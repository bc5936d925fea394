"""Scores of captions, from their papers, with loops and no cleverness.

Captions are lists of words. Nothing here may import keras_seq.
"""

import functools
import math


def runs(words, n):
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]


def bleu(predictions, references, n):
    """Papineni et al. (2002), equations of section 2.3."""
    logs = 0.0
    for k in range(1, n + 1):
        clipped = total = 0
        for words, given in zip(predictions, references, strict=True):
            found = runs(words, k)
            total += len(found)
            for gram in set(found):
                most = max(
                    runs(reference, k).count(gram) for reference in given
                )
                clipped += min(found.count(gram), most)
        if not clipped:
            return 0.0
        logs += math.log(clipped / total) / n
    c = sum(len(words) for words in predictions)
    r = 0
    for words, given in zip(predictions, references, strict=True):
        gaps = sorted((abs(len(g) - len(words)), len(g)) for g in given)
        r += gaps[0][1]
    return math.exp(logs + min(0.0, 1 - r / c))


def cider_d(predictions, references, sigma=6.0):
    """Vedantam et al. (2015), equations 1 to 3 and CIDEr-D; one each."""
    pictures = len(references)

    def weight(gram, words):
        holding = sum(
            any(gram in runs(s, len(gram)) for s in given)
            for given in references
        )
        count = runs(words, len(gram)).count(gram)
        return count * math.log(pictures / max(1, holding))

    def norm(words, n):
        return math.sqrt(
            sum(weight(g, words) ** 2 for g in set(runs(words, n)))
        )

    scores = []
    for c, given in zip(predictions, references, strict=True):
        by_length = []
        for n in (1, 2, 3, 4):
            total = 0.0
            for s in given:
                dot = 0.0
                for gram in set(runs(c, n)) | set(runs(s, n)):
                    ours, theirs = weight(gram, c), weight(gram, s)
                    dot += min(ours, theirs) * theirs
                lengths = norm(c, n) * norm(s, n)
                cosine = dot / lengths if lengths else 0.0
                gap = len(c) - len(s)
                total += math.exp(-gap * gap / (2 * sigma * sigma)) * cosine
            by_length.append(10 / len(given) * total)
        scores.append(sum(by_length) / 4)
    return scores


def rouge_l(prediction, references, beta=1.2):
    """Lin (2004), section 3.1, with the best precision and best recall."""

    def lcs(one, other):
        @functools.cache
        def longest(i, j):
            if i == len(one) or j == len(other):
                return 0
            if one[i] == other[j]:
                return 1 + longest(i + 1, j + 1)
            return max(longest(i + 1, j), longest(i, j + 1))

        return longest(0, 0)

    p = max(lcs(prediction, s) / len(prediction) for s in references)
    r = max(lcs(prediction, s) / len(s) for s in references)
    return (1 + beta**2) * p * r / (r + beta**2 * p) if p and r else 0.0
