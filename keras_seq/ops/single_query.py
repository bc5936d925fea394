"""Attention of one query at a time, as decoding step by step has it."""

import math

import keras
from keras import ops

from keras_seq.ops.masks import softmax
from keras_seq.ops.products import times_transposed

# Up to so many numbers in the keys, TensorFlow on a CPU multiplies and adds
# them up sooner than its kernels for products have found out what to do: a
# tenth of the time for one sentence, twice the time for a hundred.
FEW = 2**16


def attend_from_few(query, key, value, bias=None):
    """`attend_from_one` for `K` queries, `(B, H, K, D)`, K static."""
    if query.shape[2] == 1:
        return attend_from_one(query, key, value, bias)
    return _by_products(query, key, value, bias)


def attend_from_one(query, key, value, bias=None):
    """Return the context of one query for each head, and its weights.

    Args:
        query: `(B, H, 1, D)`, already scaled.
        key: `(B, H, S, D)`.
        value: `(B, H, S, E)`.
        bias: Added to the scores `(B, H, 1, S)`, float32, or `None`.

    Returns:
        Context `(B, H, 1, E)` and weights `(B, H, 1, S)`, in the dtype of
        `value`.

    >>> x = ops.ones((2, 3, 5, 7))
    >>> context, weights = attend_from_one(x[:, :, :1], x, x)
    >>> tuple(context.shape), tuple(weights.shape)
    ((2, 3, 1, 7), (2, 3, 1, 5))
    """

    def by_products():
        return _by_products(query, key, value, bias)

    def by_numbers():
        scores = ops.cast(ops.sum(key * query, axis=-1), "float32")
        if bias is not None:
            scores = scores + bias[:, :, 0]
        grown = ops.exp(scores - ops.max(scores, axis=-1, keepdims=True))
        weights = grown / ops.sum(grown, axis=-1, keepdims=True)
        weights = ops.cast(weights, value.dtype)
        context = ops.sum(value * weights[..., None], axis=-2, keepdims=True)
        return context, ops.expand_dims(weights, 2)

    size = math.prod(ops.shape(key))
    if isinstance(size, int):
        # Of no keys at all there is no largest score.
        few = _counts_operations() and 0 < size <= FEW
        return by_numbers() if few else by_products()
    few = ops.logical_and(size > 0, size <= FEW)
    return ops.cond(few, by_numbers, by_products)


def _by_products(query, key, value, bias):
    scores = ops.cast(times_transposed(query, key), "float32")
    weights = softmax(scores if bias is None else scores + bias)
    weights = ops.cast(weights, value.dtype)
    return ops.matmul(weights, value), weights


def _counts_operations():
    """Whether it is the number of operations that costs time."""
    return keras.backend.backend() == "tensorflow"
