"""Attention restricted to a window: `O(n r)` in time and in memory.

The sequence is cut into blocks of rows. A block is multiplied with the keys
that its window can reach, and with no other, and the blocks follow each other:
the scores of one are small enough to stay in the cache. The backward pass
makes them again.
"""

from keras import ops

from keras_seq.ops.attention_block import (
    block_gradients,
    block_weights,
    zero_blind_rows,
)
from keras_seq.ops.blockwise_attention import blockwise_attention
from keras_seq.ops.masks import local_mask, merge_masks
from keras_seq.ops.row_blocks import join_rows, loop_blocks
from keras_seq.ops.shapes import is_symbol

BLOCKS_AT_ONCE = 4  # where one waits, another computes


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

    def everywhere():
        mask = None if key_mask is None else key_mask[:, None, None]
        return blockwise_attention(query, key, value, mask, causal)

    def nearby():
        return _attend_by_blocks(query, key, value, window, key_mask, causal)

    length = ops.shape(query)[2]
    if is_symbol(length):
        mask = merge_masks(key_mask, local_mask(window, length)[None])
        return blockwise_attention(query, key, value, mask, causal)
    all_are_near = length <= window
    if isinstance(all_are_near, bool):
        return everywhere() if all_are_near else nearby()
    return ops.cond(all_are_near, everywhere, nearby)


def _attend_by_blocks(query, key, value, window, key_mask, causal):
    blocks = _WindowBlocks(window, ops.shape(query)[2], causal)
    masks = () if key_mask is None else (key_mask,)

    def attend(query, key, value, *masks):
        views = blocks.views(query, key, value, masks)

        def forward(index):
            query, key, value, seen = views(index)
            attended = ops.matmul(block_weights(query, key, seen), value)
            return (zero_blind_rows(attended, seen) if masks else attended,), ()

        (attended,), _ = blocks.loop(forward, [(value, blocks.rows)])
        attended = join_rows(attended, blocks.length)

        def grad(*args, upstream=None):
            upstream = args[0] if upstream is None else upstream
            rows_of = blocks.rows_of(attended), blocks.rows_of(upstream)

            def backward(index):
                query, key, value, seen = views(index)
                attended, upstream = (rows(index) for rows in rows_of)
                if masks:
                    upstream = zero_blind_rows(upstream, seen)
                weights = block_weights(query, key, seen)
                return block_gradients(
                    query, key, value, weights, attended, upstream
                ), ()

            (d_query, d_key, d_value), _ = blocks.loop(
                backward,
                [
                    (query, blocks.rows),
                    (key, blocks.span),
                    (value, blocks.span),
                ],
            )
            return (
                join_rows(d_query, blocks.length),
                blocks.sum_spans(d_key),
                blocks.sum_spans(d_value),
                *(None for _ in masks),
            )

        return attended, grad

    return ops.custom_gradient(attend)(query, key, value, *masks)


class _WindowBlocks:
    """Blocks of rows, and the span of keys that each can see.

    Args:
        window: How far a row sees.
        length: How many rows, and keys, there are.
        causal: Whether rows look back only.
    """

    def __init__(self, window, length, causal):
        self.length = length
        self.rows = _block_rows(window)
        self.count = -(-length // self.rows)
        if not isinstance(length, int):  # an empty loop has no shapes
            self.count = ops.maximum(self.count, 1)
        self.reach = -(-(window - 1) // self.rows)  # blocks, on each side
        self.ahead = 0 if causal else self.reach
        self.span = (self.reach + 1 + self.ahead) * self.rows
        row_at = ops.arange(self.rows, dtype="int32")[:, None]
        key_at = ops.arange(self.span, dtype="int32") - self.reach * self.rows
        distance = row_at - key_at
        near = ops.abs(distance) < window
        self.near = ops.logical_and(near, distance >= 0) if causal else near

    def loop(self, function, results):
        """Loop over the blocks; `results` are (like which tensor, steps)."""
        return loop_blocks(
            function,
            self.count,
            [(*x.shape[:2], steps, x.shape[-1]) for x, steps in results],
            results[0][0].dtype,
            at_once=BLOCKS_AT_ONCE,
        )

    def rows_of(self, x):
        """Return a function that cuts block `index` out of `(B, H, T, D)`."""
        return self._cut(self._pad(x, 0, 0), self.rows)

    def views(self, query, key, value, masks):
        """Return a function of `index` to the block's rows, span and mask."""
        rows = self.rows_of(query)
        keys, values = (
            self._cut(self._pad(x, self.reach, self.ahead), self.span)
            for x in (key, value)
        )
        if masks:
            real = ops.cast(masks[0], "int32")[:, None, :, None]
        else:
            real = ops.ones((1, 1, self.length, 1), "int32")
        real = self._cut(self._pad(real, self.reach, self.ahead), self.span)

        def of(index):
            exists = real(index)[:, :, None, :, 0] > 0  # (B or 1, 1, 1, span)
            seen = ops.logical_and(exists, self.near)
            return rows(index), keys(index), values(index), seen

        return of

    def sum_spans(self, spans):
        """Add `(count, B, H, span, D)` where it overlaps: `(B, H, T, D)`."""
        count, batch, heads, _, width = ops.shape(spans)
        pieces = self.reach + 1 + self.ahead
        blocks = (count, batch, heads, pieces, self.rows, width)
        spans = ops.reshape(spans, blocks)
        # Piece p of span i belongs to block i + p - reach.
        total = 0
        for p in range(pieces):
            piece = spans[:, :, :, p]
            after = self.reach + self.ahead - p
            total += ops.pad(piece, [(p, after)] + [(0, 0)] * 4)
        total = total[self.reach : self.reach + count]
        return join_rows(total, self.length)

    def _pad(self, x, before, after):
        """Fill the last block, and add blocks of zeros around."""
        missing = self.count * self.rows - self.length
        steps = (before * self.rows, after * self.rows + missing)
        return ops.pad(x, [(0, 0), (0, 0), steps, (0, 0)])

    def _cut(self, x, size):
        batch, heads, _, width = ops.shape(x)

        def at(index):
            start = (0, 0, index * self.rows, 0)
            return ops.slice(x, start, (batch, heads, size, width))

        return at


def _block_rows(window):
    """Small blocks waste fewer scores, large ones multiply faster."""
    return max(window // 2, 64)
