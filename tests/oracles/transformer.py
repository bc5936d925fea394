"""The Transformer's blocks, written from the paper in float64 NumPy.

Nothing here may import keras or keras_seq. Weights arrive in the order of
section 3: attention (query, key, value, output; kernel and bias each), norm,
and so on, as plain arrays.
"""

import numpy as np

from tests.oracles.attention import turn


def softmax_rows(scores, visible):
    weights = np.zeros_like(scores)
    for index in np.ndindex(scores.shape[:-1]):
        seen = visible[index]
        if seen.any():
            e = np.exp(scores[index][seen] - scores[index][seen].max())
            weights[index][seen] = e / e.sum()
    return weights


def multi_head(query, value, weights, visible, rotary=None):
    """Section 3.2.2; `visible` is `(B, T, S)`.

    With `rotary`, the longest wavelength, queries and keys are turned by their
    places, which are counted from the first (Su et al., 2021).
    """
    wq, bq, wk, bk, wv, bv, wo, bo = (np.float64(w) for w in weights)
    heads, all_weights = [], []
    for h in range(wq.shape[1]):
        q = query @ wq[:, h] + bq[h]
        k = value @ wk[:, h] + bk[h]
        v = value @ wv[:, h] + bv[h]
        if rotary is not None:
            q, k = turn(q, 0, rotary), turn(k, 0, rotary)
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
        a = softmax_rows(scores, visible)
        heads.append(a @ v)
        all_weights.append(a)
    width = wo.shape[0] * wo.shape[1]
    output = np.concatenate(heads, -1) @ wo.reshape(width, -1) + bo
    return output, np.stack(all_weights, 1)


def norm(x, weights, epsilon):
    gain, shift = weights
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt(x.var(-1, keepdims=True) + epsilon) * gain + shift


def feed_forward(x, weights):
    w1, b1, w2, b2 = weights
    return np.maximum(x @ w1 + b1, 0) @ w2 + b2


def residual(x, sublayer, norm, pre_norm):
    """Section 3.1: norm(x + sublayer(x)); or pre-norm x + sublayer(norm(x))."""
    return x + sublayer(norm(x)) if pre_norm else norm(x + sublayer(x))


def encoder(x, weights, visible, pre_norm, epsilon, rotary=None):
    x = np.float64(x)
    attention, norm1, norm2, ffn = (
        weights[:8],
        weights[8:10],
        weights[10:12],
        weights[12:],
    )
    seen = []

    def attend(x):
        output, a = multi_head(x, x, attention, visible, rotary)
        seen.append(a)
        return output

    x = residual(x, attend, lambda x: norm(x, norm1, epsilon), pre_norm)
    x = residual(
        x,
        lambda x: feed_forward(x, ffn),
        lambda x: norm(x, norm2, epsilon),
        pre_norm,
    )
    return x, seen[0]


def decoder(
    x, memory, weights, visible, memory_visible, pre_norm, epsilon, rotary=None
):
    x, memory = np.float64(x), np.float64(memory)
    self_, norm1 = weights[:8], weights[8:10]
    cross, norm2 = weights[10:18], weights[18:20]
    ffn, norm3 = weights[20:24], weights[24:]
    seen = {}

    def look_back(x):
        output, seen["self_attention"] = multi_head(
            x, x, self_, visible, rotary
        )
        return output

    def look_across(x):
        output, seen["cross_attention"] = multi_head(
            x, memory, cross, memory_visible
        )
        return output

    for sublayer, gains in (
        (look_back, norm1),
        (look_across, norm2),
        (lambda x: feed_forward(x, ffn), norm3),
    ):
        x = residual(
            x, sublayer, lambda x, g=gains: norm(x, g, epsilon), pre_norm
        )
    return x, seen
