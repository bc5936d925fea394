"""Token weights and their grades in plain NumPy, from the papers."""

import itertools

import numpy as np


def rollout(layers, residual=0.5):
    """Abnar and Zuidema (2020), one example: `layers` of `(H, T, T)`."""
    length = layers[0].shape[-1]
    joint = np.eye(length)
    for weights in layers:
        heads, mean = len(weights), np.zeros((length, length))
        for head in weights:
            mean += head / heads
        mixed = residual * np.eye(length) + (1 - residual) * mean
        for t in range(length):
            mixed[t] /= mixed[t].sum()
        joint = mixed @ joint
    return joint


def gradient_times_input(score, x, step=1e-5):
    """`sum_d x_td d score / d x_td` of `x (T, D)`, by central differences."""
    x = np.asarray(x, "float64")
    slope = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[place] += step
        down[place] -= step
        slope[place] = (score(up) - score(down)) / (2 * step)
    return (x * slope).sum(axis=-1)


def precision_at_k(weights, gold, k):
    """Mean over every order in which equal weights could be ranked."""
    found = []
    for order in itertools.permutations(range(len(weights))):
        ranked = [weights[i] for i in order]
        if ranked == sorted(ranked, reverse=True):
            found.append(np.mean([gold[i] for i in order[:k]]))
    return np.mean(found)


def auc(weights, gold):
    """Share of (gold, other) pairs in the right order; a tie is half."""
    pairs = [
        1.0 if a > b else 0.5 if a == b else 0.0
        for a, is_gold in zip(weights, gold, strict=True)
        for b, is_other in zip(weights, gold, strict=True)
        if is_gold and not is_other
    ]
    return np.mean(pairs)
