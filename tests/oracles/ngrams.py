"""A bag of n-grams, written from the paper with dicts and loops."""

import math


def ngrams(row, max_ngram):
    """All runs of 1 to `max_ngram` tokens, as a set of tuples."""
    row = list(row)
    return {
        tuple(row[at : at + n])
        for n in range(1, max_ngram + 1)
        for at in range(len(row) - n + 1)
    }


def log_count_ratios(rows, labels, max_ngram, min_count=1, smoothing=1.0):
    """Wang and Manning (2012), section 2.1: `{ngram: r}` for two classes."""
    counts = {}
    for row, label in zip(rows, labels, strict=True):
        for gram in ngrams(row, max_ngram):
            counts.setdefault(gram, [0, 0])[label] += 1
    kept = {g: c for g, c in counts.items() if sum(c) >= min_count}
    totals = [sum(smoothing + c[k] for c in kept.values()) for k in (0, 1)]
    return {
        g: math.log((smoothing + c[1]) / totals[1])
        - math.log((smoothing + c[0]) / totals[0])
        for g, c in kept.items()
    }


def bag(row, ratios, strengths, max_ngram):
    """The sum over the known n-grams of a text, each once."""
    return sum(
        ratios[g] * strengths[g] for g in ngrams(row, max_ngram) if g in ratios
    )


def letter_runs(words, min_ngram, max_ngram):
    """All runs of so many letters inside the words, as a set of strings."""
    return {
        word[at : at + n]
        for word in words
        for n in range(min_ngram, max_ngram + 1)
        for at in range(len(word) - n + 1)
    }


def spelling_ratios(texts, labels, min_ngram, max_ngram, smoothing=1.0):
    """`{run: r}` for two classes; a text is a list of words."""
    counts = {}
    for words, label in zip(texts, labels, strict=True):
        for run in letter_runs(words, min_ngram, max_ngram):
            counts.setdefault(run, [0, 0])[label] += 1
    totals = [sum(smoothing + c[k] for c in counts.values()) for k in (0, 1)]
    return {
        run: math.log((smoothing + c[1]) / totals[1])
        - math.log((smoothing + c[0]) / totals[0])
        for run, c in counts.items()
    }
