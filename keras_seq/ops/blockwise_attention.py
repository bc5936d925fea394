"""Exact dot-product attention that never holds the `T x S` matrix.

Rows of the score matrix are independent, so they are made, normalised and used
a block at a time. The backward pass makes each block again instead of keeping
it (`attention_block` has the equations).

A causal matrix is cut into segments of rows first, and each segment is only
multiplied with the keys that its last row may see: of the masked half, most is
never computed.

Short sequences take the same road without the inner blocks: their weights are
kept for the backward pass, which is then faster.
"""

from keras import ops

from keras_seq.ops.attention import attend
from keras_seq.ops.attention_block import (
    block_gradients,
    block_weights,
    zero_blind_rows,
)
from keras_seq.ops.masks import causal_mask, merge_masks
from keras_seq.ops.products import times_transposed
from keras_seq.ops.row_blocks import join_rows, loop_blocks, split_rows
from keras_seq.ops.shapes import is_symbol

# Up to this many scores per head, weights are kept for the backward pass.
LONG = 1024 * 1024
BLOCK_ROWS = 128
# More segments skip more of a causal matrix's masked half (8 of them compute
# 56 % of it, 4 compute 63 %) and take longer to trace: each long one is a loop
# of its own, forward and backward. Where lengths are known only when the graph
# runs, that is a price paid by every model for a case that most never meet.
MOST_SEGMENTS = 8
MOST_LONG_SEGMENTS = 4


def blockwise_attention(query, key, value, mask=None, causal=False):
    """Return softmax(query key^T) value; rows with nothing to see are zeros.

    Args:
        query: `(B, H, T, D)`, already scaled.
        key: `(B, H, S, D)`. Hidden keys must be finite: zero them.
        value: `(B, H, S, E)`. Hidden values must be finite: zero them.
        mask: `(B, 1 or H, 1 or T, S)`, True = visible, or `None`.
        causal: Whether a query sees keys up to its own place only, aligned
            bottom-right.

    Returns:
        `(B, H, T, E)` in the dtype of `value`.

    >>> x = ops.ones((1, 2, 3, 4))
    >>> tuple(blockwise_attention(x, x, x, causal=True).shape)
    (1, 2, 3, 4)
    """
    length, key_length = ops.shape(query)[2], ops.shape(key)[2]
    if is_symbol(length) or is_symbol(key_length):
        past = causal_mask(length, key_length)[None] if causal else None
        scores = times_transposed(query, key)
        return attend(scores, value, merge_masks(mask, past))[0]
    is_long = length * key_length > LONG
    if isinstance(is_long, bool):
        return _attend(query, key, value, mask, causal, is_long)
    return ops.cond(  # lengths are known only when the graph runs
        is_long,
        lambda: _attend(query, key, value, mask, causal, True),
        lambda: _attend(query, key, value, mask, causal, False),
    )


def _attend(query, key, value, mask, causal, is_long):
    length, key_length = ops.shape(query)[2], ops.shape(key)[2]
    segments = _segments(length, key_length, causal, is_long)
    forward = _forward_by_blocks if is_long else _forward_whole
    backward = _backward_by_blocks if is_long else _backward_whole

    def attend(query, key, value, *masks):
        def cut(tensor, rows):
            return tensor[:, :, rows]

        def views(rows, keys):
            """What one segment of rows has to do with."""
            visible = _visible(rows, keys, length, key_length, masks, causal)
            return cut(query, rows), key[:, :, keys], value[:, :, keys], visible

        results = [forward(*views(rows, keys)) for rows, keys in segments]
        output = _concatenate([attended for attended, _ in results])

        def grad(*args, upstream=None):
            upstream = args[0] if upstream is None else upstream
            d_queries, d_key, d_value = [], None, None
            for (rows, keys), result in zip(segments, results, strict=True):
                dq, dk, dv = backward(
                    *views(rows, keys), *result, cut(upstream, rows)
                )
                d_queries.append(dq)
                d_key = _add_to_longer(d_key, dk)
                d_value = _add_to_longer(d_value, dv)
            return (_concatenate(d_queries), d_key, d_value) + (None,) * len(
                masks
            )

        return output, grad

    masks = () if mask is None else (mask,)
    return ops.custom_gradient(attend)(query, key, value, *masks)


# === Segments: which rows look at which keys ===


def _segments(length, key_length, causal, is_long):
    """Return pairs of slices: rows, and the keys that the last of them sees.

    How many segments there are is fixed when the graph is made; their sizes
    may follow from lengths that are known only when it runs.
    """
    if not causal:
        return [(slice(0, length), slice(0, key_length))]
    count = 1
    if isinstance(length, int):
        most = MOST_LONG_SEGMENTS if is_long else MOST_SEGMENTS
        count = min(max(length // BLOCK_ROWS, 1), most)
    edges = [length * i // count for i in range(count + 1)]
    if isinstance(length, int) and isinstance(key_length, int):
        last_key = [max(key_length - length + edge, 0) for edge in edges]
    else:
        last_key = [ops.maximum(key_length - length + e, 0) for e in edges]
    return [
        (slice(edges[i], edges[i + 1]), slice(0, last_key[i + 1]))
        for i in range(count)
    ]


def _visible(rows, keys, length, key_length, masks, causal):
    """Return a function of row numbers (within the segment) to their mask."""
    masks = [m[:, :, :, keys] for m in masks]
    masks = [m if m.shape[2] == 1 else m[:, :, rows] for m in masks]

    may_be_blind = bool(masks) or not (
        isinstance(length, int)
        and isinstance(key_length, int)
        and length <= key_length
    )

    def of_rows(row_numbers=None, mask_rows=None):
        seen = masks if mask_rows is None else [mask_rows]
        if causal:
            if row_numbers is None:
                row_numbers = ops.arange(rows.stop - rows.start, dtype="int32")
                row_numbers = ops.reshape(row_numbers, (1, 1, -1))
            row_at = row_numbers + (rows.start + key_length - length)
            key_at = ops.arange(keys.stop, dtype="int32")
            seen = [*seen, ops.expand_dims(row_at, -1) >= key_at]
        if len(seen) == 2:
            return ops.logical_and(*seen)
        return seen[0] if seen else None

    # Rows of a mask that differ from query to query are cut up with the query.
    of_rows.by_row = [m for m in masks if m.shape[2] != 1]
    of_rows.may_be_blind = may_be_blind
    return of_rows


def _concatenate(parts):
    return parts[0] if len(parts) == 1 else ops.concatenate(parts, axis=2)


def _add_to_longer(total, part):
    """Add `(B, H, S, D)` tensors of which the second may have more keys."""
    if total is None:
        return part
    missing = ops.shape(part)[2] - ops.shape(total)[2]
    return part + ops.pad(total, [(0, 0), (0, 0), (0, missing), (0, 0)])


def _zero_blind_rows(x, seen, visible):
    if seen is None or not visible.may_be_blind:
        return x
    return zero_blind_rows(x, seen)


# === A segment, whole: its weights are kept ===


def _forward_whole(query, key, value, visible):
    seen = visible()
    weights = block_weights(query, key, seen)
    attended = ops.matmul(weights, value)
    return _zero_blind_rows(attended, seen, visible), weights


def _backward_whole(query, key, value, visible, attended, weights, upstream):
    upstream = _zero_blind_rows(upstream, visible(), visible)
    return block_gradients(query, key, value, weights, attended, upstream)


# === A segment, by blocks of rows: its weights are made again ===


def _blocks(query, visible):
    """Return the number of blocks, and row numbers and mask rows by block."""
    length = ops.shape(query)[2]
    if isinstance(length, int):
        count = max(-(-length // BLOCK_ROWS), 1)
    else:
        count = ops.maximum(-(-length // BLOCK_ROWS), 1)
    rows = -(-length // count)
    numbers = ops.arange(count * rows, dtype="int32")
    numbers = ops.reshape(numbers, (1, 1, count, rows))
    masks = [split_rows(m, count, rows) for m in visible.by_row]
    return count, rows, (numbers, *masks)


def _forward_by_blocks(query, key, value, visible):
    count, rows, sight = _blocks(query, visible)
    blocks = (split_rows(query, count, rows), *sight)

    def attend(index):
        query, *sight = (b[:, :, index] for b in blocks)
        seen = visible(*sight)
        attended = ops.matmul(block_weights(query, key, seen), value)
        return (_zero_blind_rows(attended, seen, visible),), ()

    shape = (*query.shape[:2], None, value.shape[-1])
    (attended,), _ = loop_blocks(attend, count, [shape], query.dtype)
    return join_rows(attended, ops.shape(query)[2]), None


def _backward_by_blocks(query, key, value, visible, attended, _, upstream):
    count, rows, sight = _blocks(query, visible)
    blocks = [split_rows(x, count, rows) for x in (query, attended, upstream)]
    blocks += sight

    def gradients(index):
        query, attended, upstream, *sight = (b[:, :, index] for b in blocks)
        seen = visible(*sight)
        upstream = _zero_blind_rows(upstream, seen, visible)
        weights = block_weights(query, key, seen)
        d_query, *totals = block_gradients(
            query, key, value, weights, attended, upstream
        )
        return (d_query,), totals

    start = (ops.zeros_like(key), ops.zeros_like(value))
    shape = (*query.shape[:2], None, query.shape[-1])
    (d_query,), (d_key, d_value) = loop_blocks(
        gradients, count, [shape], query.dtype, start
    )
    return join_rows(d_query, ops.shape(query)[2]), d_key, d_value
