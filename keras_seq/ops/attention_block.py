r"""Attention of a block of rows that fits in memory, and its gradient.

What attention by blocks and attention in a window are made of. With $P$ the
weights, $O = P V$ and $\bar{x}$ the gradient of $x$:

$$ \bar{S} = P \odot (\bar{O} V^\top - \delta), \quad
   \delta = \mathrm{rowsum}(\bar{O} \odot O), \quad
   \bar{Q} = \bar{S} K, \quad \bar{K} = \bar{S}^\top Q, \quad
   \bar{V} = P^\top \bar{O}. $$
"""

from keras import ops

from keras_seq.ops.masks import HIDDEN, softmax
from keras_seq.ops.products import times_transposed, transposed_times


def block_weights(query, key, visible=None):
    """Return softmax(query key^T); rows that see nothing mean nothing.

    Shapes:
        query `(B, H, T, D)`, key `(B, H, S, D)`, visible broadcast to
        `(B, H, T, S)` -> `(B, H, T, S)` in the dtype of `query`.
    """
    scores = ops.cast(times_transposed(query, key), "float32")
    if visible is not None:
        scores = scores + ops.where(visible, 0.0, HIDDEN)
    return ops.cast(softmax(scores), query.dtype)


def zero_blind_rows(x, visible):
    """Zero the rows of `x` `(B, H, T, E)` that see nothing."""
    sees = ops.any(visible, axis=-1, keepdims=True)
    return ops.where(sees, x, ops.zeros_like(x))


def block_gradients(query, key, value, weights, attended, upstream):
    """Return the gradients of query, key and value.

    Args:
        query: `(B, H, T, D)`.
        key: `(B, H, S, D)`.
        value: `(B, H, S, E)`.
        weights: `(B, H, T, S)`, as `block_weights` gives them.
        attended: `(B, H, T, E)`, weights times value.
        upstream: `(B, H, T, E)`, zero in rows that see nothing.
    """
    # An extra column lets the product subtract delta, which saves a pass over
    # the T x S matrix.
    delta = ops.sum(upstream * attended, axis=-1, keepdims=True)
    d_weights = times_transposed(
        ops.concatenate([upstream, -delta], axis=-1),
        ops.concatenate([value, ops.ones_like(value[..., :1])], axis=-1),
    )
    d_scores = weights * d_weights
    return (
        ops.matmul(d_scores, key),
        transposed_times(d_scores, query),
        transposed_times(weights, upstream),
    )
