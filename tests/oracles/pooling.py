"""Pooling over the steps of a sequence, in float64 NumPy loops."""

import numpy as np

from tests.oracles.attention import softmax


def attention_pooling(inputs, key, mask, w, b, v, scale=1.0):
    """Yang et al. (2016), section 2.2, one row and one step at a time."""
    inputs = np.asarray(inputs, "float64")
    context = np.zeros((len(inputs), inputs.shape[-1]))
    weights = np.zeros(inputs.shape[:2])
    for n, row in enumerate(inputs):
        scores = np.array([v[:, 0] @ np.tanh(h @ w + b) for h in key[n]])
        scores = scale * scores
        weights[n] = softmax(scores, mask[n])
        for t in np.flatnonzero(mask[n]):
            context[n] += weights[n, t] * row[t]
    return context, weights


def sequence_pooling(inputs, mask, mode):
    """One row at a time, padding cut off; nothing left is zeros."""
    inputs = np.asarray(inputs, "float64")
    pooled = np.zeros((len(inputs), inputs.shape[-1]))
    reduce = {"mean": np.mean, "max": np.max, "sum": np.sum}[mode]
    for n, row in enumerate(inputs):
        if mask[n].any():
            pooled[n] = reduce(row[mask[n]], axis=0)
    return pooled
