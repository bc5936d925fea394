"""Decoding by brute force, in float64 NumPy: every sequence there is.

A model is a function of what was written so far to the log-probabilities of
what may follow. Nothing here may import keras or keras_seq.
"""

import itertools

import numpy as np


def log_softmax(logits):
    """Of one row `(V,)`."""
    logits = np.float64(logits) - np.max(logits)
    return logits - np.log(np.exp(logits).sum())


def all_sequences(model, vocabulary_size, end_id, limit, banned=()):
    """Yield `(tokens, log p)` of all that can be written within a limit.

    A sequence ends with `end_id`, or has `limit` tokens.
    """
    inner = [
        v for v in range(1, vocabulary_size) if v != end_id and v not in banned
    ]
    for length in range(limit + 1):
        for start in itertools.product(inner, repeat=length):
            log_p = sum(model(start[:n])[v] for n, v in enumerate(start))
            if length < limit:
                yield (*start, end_id), log_p + model(start)[end_id]
            else:
                yield start, log_p


def length_divisor(length, alpha):
    """Wu et al. (2016), equation 14: lp(Y) = (5 + |Y|)^a / (5 + 1)^a."""
    return (5 + length) ** alpha / (5 + 1) ** alpha


def coverage_penalty(attention, beta):
    """Wu et al. (2016), equation 14; attention is `(T, S)`, real steps only."""
    return beta * sum(
        np.log(min(sum(attention[:, s]), 1.0))
        for s in range(attention.shape[1])
    )


def best_sequences(sequences, end_id, alpha=0.0, penalty=None):
    """Return `(tokens, score)`, the best first; cut ones after ended ones."""
    ranked = []
    for tokens, log_p in sequences:
        score = log_p / length_divisor(len(tokens), alpha)
        if penalty is not None:
            score += penalty(tokens)
        ended = end_id in tokens
        ranked.append((not ended, -score, tokens))
    return [(tokens, -score) for _, score, tokens in sorted(ranked)]


def greedy(model, end_id, limit, banned=()):
    """Return `(tokens, log p)`: the argmax, and again."""
    tokens, total = (), 0.0
    while len(tokens) < limit and end_id not in tokens:
        log_p = np.array(model(tokens))
        log_p[[0, *banned]] = -np.inf
        tokens, total = (*tokens, int(log_p.argmax())), total + log_p.max()
    return tokens, total


def beam(model, end_id, limit, size, alpha=0.0, banned=()):
    """Return `(tokens, score)` of all that a beam of `size` places ends with.

    One hypothesis at a time, in lists: what ended keeps its place for good.
    """
    live, done = [((), 0.0)], []
    for _ in range(limit):
        longer = []
        for tokens, total in live:
            log_p = np.array(model(tokens))
            for v in range(1, len(log_p)):
                if v not in banned:
                    longer.append(((*tokens, v), total + log_p[v]))
        longer.sort(key=lambda pair: -pair[1])
        longer = longer[: size - len(done)]
        done += [pair for pair in longer if pair[0][-1] == end_id]
        live = [pair for pair in longer if pair[0][-1] != end_id]
    return best_sequences(done + live, end_id, alpha)


def kept_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    """What sampling draws from: Fan et al. (2018), Holtzman et al. (2020)."""
    p = np.exp(log_softmax(np.float64(logits) / temperature))
    order = np.argsort(-p)
    if top_k is not None:
        p[order[top_k:]] = 0
        p /= p.sum()
    if top_p is not None:
        reached = 0.0
        for v in order:
            if reached >= top_p:
                p[v] = 0
            reached += p[v]
        p /= p.sum()
    return p
