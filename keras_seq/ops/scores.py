r"""How well a query matches a key: the score functions of the course.

All take `query` `(..., T, D)` and `key` `(..., S, K)` and give `(..., T, S)`.
Softmax over the last axis turns scores into weights.
"""

import math

from keras import ops


def dot_scores(query, key):
    r"""$e_{ts} = q_t^\top k_s$."""
    return ops.matmul(query, ops.swapaxes(key, -1, -2))


def scale_query(query):
    r"""Return $q / \sqrt{D}$.

    The query is scaled and not the score: in float16 the unscaled product of
    two vectors of length 40 at width 64 already overflows.
    """
    return query * ops.cast(1.0 / math.sqrt(query.shape[-1]), query.dtype)


def scaled_dot_scores(query, key):
    r"""$e_{ts} = q_t^\top k_s / \sqrt{D}$ (Vaswani et al., 2017)."""
    return dot_scores(scale_query(query), key)


def unit_vectors(x, epsilon=1e-6):
    r"""Return $x / \|x\|$ over the last axis, in float32.

    A vector shorter than `epsilon` has no direction: it comes back as zeros,
    and so does its gradient, which would overflow in float16.
    """
    dtype = x.dtype
    x = ops.cast(x, "float32")
    square = ops.sum(ops.square(x), axis=-1, keepdims=True)
    inverse = ops.rsqrt(ops.maximum(square, epsilon**2))
    return ops.cast(ops.where(square > epsilon**2, x * inverse, 0.0), dtype)


def cosine_scores(query, key):
    r"""$e_{ts} = q_t^\top k_s / (\|q_t\| \|k_s\|)$ (Graves et al., 2014)."""
    return dot_scores(unit_vectors(query), unit_vectors(key))


def bilinear_scores(query, key, w):
    r"""$e_{ts} = q_t^\top W k_s$ (Luong et al., 2015, "general").

    `w` has shape `(D, K)`, so that query and key may differ in width.
    """
    return dot_scores(ops.matmul(query, w), key)


def additive_scores(query, key, w, u, v):
    r"""$e_{ts} = v^\top \tanh(W q_t + U k_s)$ (Bahdanau et al., 2015).

    `w` has shape `(D, U)`, `u` `(K, U)` and `v` `(U,)`. Holds a tensor of
    `T * S * U` elements, which is why the products became more popular.
    """
    query = ops.expand_dims(ops.matmul(query, w), axis=-2)  # (..., T, 1, U)
    key = ops.expand_dims(ops.matmul(key, u), axis=-3)  # (..., 1, S, U)
    hidden = ops.tanh(query + key)  # (..., T, S, U)
    return ops.squeeze(ops.matmul(hidden, ops.expand_dims(v, 1)), axis=-1)
