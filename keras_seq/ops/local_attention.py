r"""Attention restricted to a window: `O(n r)` in time and in memory.

The sequence is cut into blocks. A block of queries is multiplied with the
blocks of keys that its window can reach, and with no other: the `T x S` matrix
is never made.
"""

from keras import ops

from keras_seq.ops.blockwise_attention import blockwise_attention


def local_attention(query, key, value, window, key_mask=None, causal=False):
    """Attend to keys less than `window` places away.

    Args:
        query: `(B, H, T, D)`, already scaled.
        key: `(B, H, T, D)`, zero where hidden.
        value: `(B, H, T, E)`, zero where hidden.
        window: `window=1` sees itself alone.
        key_mask: `(B, T)`, True = visible, or `None`.
        causal: Whether to look back only.

    Returns:
        `(B, H, T, E)`; rows that see nothing are zeros.

    >>> x = ops.ones((1, 2, 7, 4))
    >>> tuple(local_attention(x, x, x, window=3).shape)
    (1, 2, 7, 4)
    """
    batch, heads, length, _ = ops.shape(query)
    if isinstance(length, int):  # nothing lies beyond the sequence
        window = max(min(window, length), 1)
    rows = _block_rows(window, query.shape[2])
    reach = -(-(window - 1) // rows)  # blocks to look at, on each side
    behind, ahead = reach, 0 if causal else reach
    count = -(-length // rows)

    def blocks(x):
        """`(B, H, T, D)` -> `(B, count, H, rows, D)`."""
        missing = count * rows - length
        x = ops.pad(x, [(0, 0), (0, 0), (0, missing), (0, 0)])
        x = ops.reshape(x, (*ops.shape(x)[:2], count, rows, x.shape[-1]))
        return ops.transpose(x, (0, 2, 1, 3, 4))

    def neighbours(x):
        """`(B, H, T, D)` -> `(B, count, H, span * rows, D)`, in order."""
        x = blocks(x)
        x = ops.pad(x, [(0, 0), (behind, ahead), (0, 0), (0, 0), (0, 0)])
        shifted = [x[:, i : i + count] for i in range(behind + ahead + 1)]
        return ops.concatenate(shifted, axis=3)

    def as_batch(x):
        """`(B, count, ...)` -> `(B * count, ...)`: blocks know no others."""
        return ops.reshape(x, (-1, *ops.shape(x)[2:]))

    real = ops.ones((batch, length), "bool") if key_mask is None else key_mask
    real = ops.cast(real, "float32")[:, None, :, None]  # (B, 1, T, 1)
    real = neighbours(real)[..., 0][:, :, :, None] > 0  # (B, count, 1, 1, ...)
    near = _window_mask(window, rows, behind, ahead, causal)
    attended = blockwise_attention(
        as_batch(blocks(query)),
        as_batch(neighbours(key)),
        as_batch(neighbours(value)),
        mask=as_batch(ops.logical_and(real, near)),
    )  # (B * count, H, rows, E)
    width = value.shape[-1]
    attended = ops.reshape(attended, (batch, count, heads, rows, width))
    attended = ops.transpose(attended, (0, 2, 1, 3, 4))
    attended = ops.reshape(attended, (batch, heads, count * rows, width))
    return attended[:, :, :length]


def _block_rows(window, length):
    """Small blocks waste fewer scores, large ones multiply faster."""
    rows = max(window // 2, 64)
    return rows if length is None else max(min(rows, length), 1)


def _window_mask(window, rows, behind, ahead, causal):
    """`(rows, span * rows)`: what each row of a block may see."""
    row_at = ops.arange(rows, dtype="int32")[:, None]
    key_at = ops.arange(-behind * rows, (ahead + 1) * rows, dtype="int32")
    distance = row_at - key_at[None]
    near = ops.abs(distance) < window
    return ops.logical_and(near, distance >= 0) if causal else near
