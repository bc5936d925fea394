"""Multi-head attention step by step, with the past in a cache."""

from keras import ops

from keras_seq.layers import attention_cache
from keras_seq.layers.head_projections import HeadProjections
from keras_seq.ops.attention import attend, hide
from keras_seq.ops.heads import repeat_heads
from keras_seq.ops.masks import check_mask, merge_masks
from keras_seq.ops.products import times_transposed
from keras_seq.ops.rotary import rotate


class StepwiseAttention(HeadProjections):
    """Base of `MultiHeadAttention`: what it does one step at a time.

    `step` attends to the steps before it, whose keys and values are kept in a
    cache; `attend_memory` to a memory, projected once. Both give the numbers of
    one call on the whole sequence.
    """

    def empty_cache(self, batch_size, max_length=None):
        """Return a cache for `step`; see `attention_cache`.

        Args:
            batch_size: `B`, an integer or a scalar tensor.
            max_length: Room to reserve, for loops that need fixed shapes. By
                default the cache grows.
        """
        return attention_cache.empty_cache(
            batch_size,
            self.num_key_value_heads,
            self.key_dim,
            self.value_dim,
            self.compute_dtype,
            max_length,
        )

    def step(self, query, cache, query_mask=None):
        """Attend from the next steps to all steps so far, these included.

        Args:
            query: `(B, T, D)`, usually `T = 1`.
            cache: From `empty_cache` or the last `step`.
            query_mask: `(B, T)`, False for steps that are padding.

        Returns:
            `(output (B, T, D), cache, weights (B, H, T, S))`, equal to the
            rows that a causal call on the whole sequence gives.
        """
        some_hidden = query_mask is not None
        query, query_mask = self._checked("query", query, query_mask)
        q, k, v = self.project(query, query, query)
        if self.rotary:
            start = attention_cache.steps_so_far(cache)
            q, k = self.turn(q, start), self.turn(k, start)
        k, v = (ops.transpose(x, (0, 2, 1, 3)) for x in (k, v))
        cache = attention_cache.append(cache, k, v, query_mask)
        mask = attention_cache.visible(
            cache, ops.shape(query)[1], self.sliding_window
        )
        if some_hidden:
            mask = merge_masks(ops.expand_dims(query_mask, -1), mask)
        output, weights = self._attend_cache(query, q, cache, mask)
        return output, cache, weights

    def memory(self, value, key=None, value_mask=None):
        """Project a memory once, for many calls of `attend_memory`.

        Args:
            value: `(B, S, D)`.
            key: `(B, S, D)`; by default the value.
            value_mask: `(B, S)`, True where there is something to look at.
        """
        if self.rotary or self.sliding_window:
            raise ValueError(
                "`memory` cannot be used with `rotary` or `sliding_window`: "
                "a memory does not know where its queries will stand. "
                f"Received: rotary={self.rotary}, "
                f"sliding_window={self.sliding_window}"
            )
        shared = key is None or key is value
        value, value_mask = self._checked("value", value, value_mask)
        key = value if shared else self._checked("key", key, value_mask)[0]
        k, v = self.project_memory(value, key)
        return {
            "key": ops.transpose(k, (0, 2, 1, 3)),
            "value": ops.transpose(v, (0, 2, 1, 3)),
            "mask": value_mask,
        }

    def attend_memory(self, query, memory):
        """Attend from `query` `(B, T, D)` to a `memory`; `step`'s cross twin.

        Returns:
            `(output (B, T, D), weights (B, H, T, S))`.
        """
        query, _ = self._checked("query", query)
        mask = merge_masks(memory["mask"])
        return self._attend_cache(
            query, self.project_query(query), memory, mask
        )

    def _attend_cache(self, query, q, cache, mask):
        k, v = (
            repeat_heads(ops.transpose(cache[x], (0, 2, 1, 3)), self.num_heads)
            for x in ("key", "value")
        )
        context, weights = self.attend_heads(q, k, v, mask)
        return self.project_out(context, query), weights

    def _checked(self, name, x, mask=None):
        """Return `x` without what `mask` hides, and the mask.

        In the dtype to compute with, which Keras sees to in `call` alone.
        """
        x = ops.cast(x, self.compute_dtype)
        if mask is None:
            return x, ops.ones(ops.shape(x)[:2], "bool")
        mask = check_mask(f"{name}_mask", mask, [tuple(x.shape[:2])])
        mask = ops.broadcast_to(mask, ops.shape(x)[:2])
        return hide(x, mask), mask

    # === One call and many steps have in common ===

    def turn(self, x, start=0):
        """Rotate `(B, H, T, D)` by positions that begin at `start`."""
        steps = ops.arange(ops.shape(x)[2], dtype="int32")
        start = ops.cast(start, "int32")
        if len(start.shape):
            start = ops.expand_dims(start, -1)  # one start a row
        wavelength = 10_000 if self.rotary is True else self.rotary
        return rotate(x, start + steps, wavelength, sequence_axis=2)

    def attend_heads(self, q, k, v, mask, bias=None, drops=False):
        """Return the context of each head, and the weights it was made with."""
        scores = times_transposed(q, k)
        if bias is not None:
            scores = ops.cast(scores, "float32") + ops.cast(bias, "float32")
        context, weights = attend(scores, v, mask)
        weights = ops.cast(weights, self.compute_dtype)
        if drops:
            dropped = self.weight_dropout(weights, training=True)
            context = ops.matmul(dropped, v)
        return context, weights
