"""Alignment scores, counted link by link from their definitions."""

from fractions import Fraction


def error_rate(predicted, sure, possible):
    found_sure = found_possible = size_a = size_s = 0
    for a, s, p in zip(predicted, sure, possible, strict=True):
        a, s = list(set(a)), list(set(s))
        for link in a:
            found_sure += link in s
            found_possible += link in p or link in s
        size_a += len(a)
        size_s += len(s)
    if size_a + size_s == 0:
        return Fraction(0)
    return 1 - Fraction(found_sure + found_possible, size_a + size_s)


def merge(weights, target_spans, source_spans, target_words, source_words):
    """Word by word: mean over its tokens, sum over the other's."""

    def tokens(word, spans):
        return [
            i
            for i, span in enumerate(spans)
            if set(range(*word)) & set(range(*span))
        ]

    def owners(token, words, spans):
        span = set(range(*spans[token]))
        return sum(bool(set(range(*word)) & span) for word in words)

    merged = []
    for row_word in target_words:
        rows = tokens(row_word, target_spans)
        merged.append([])
        for word in source_words:
            value = 0.0
            for t in rows:
                for s in tokens(word, source_spans):
                    share = owners(s, source_words, source_spans)
                    value += weights[t][s] / len(rows) / share
            merged[-1].append(value)
    return merged
