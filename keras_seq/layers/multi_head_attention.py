"""Multi-head attention (Vaswani et al., 2017)."""

import keras
from keras import ops

from keras_seq.layers.attention_axes import AttentionAxes
from keras_seq.layers.attention_recording import is_recording, record
from keras_seq.layers.stepwise_attention import StepwiseAttention
from keras_seq.ops.attention import checked_masks, hide
from keras_seq.ops.blockwise_attention import blockwise_attention
from keras_seq.ops.heads import repeat_heads
from keras_seq.ops.local_attention import local_attention
from keras_seq.ops.masks import (
    causal_mask,
    check_broadcast,
    local_mask,
    merge_masks,
)
from keras_seq.ops.portable import is_portable


@keras.saving.register_keras_serializable(package="keras_seq")
class MultiHeadAttention(StepwiseAttention):
    r"""Several attentions side by side, each in a subspace of its own.

    $$ \mathrm{head}_h = \mathrm{softmax}\left(
       \frac{(Q W^Q_h)(K W^K_h)^\top}{\sqrt{D_h}}\right) V W^V_h, \quad
       O = \mathrm{concat}(\mathrm{head}_1, \ldots, \mathrm{head}_H) W^O. $$

    Takes over from `keras.layers.MultiHeadAttention` by changing one import:
    same arguments, same weights in the same order and under the same names, so
    `set_weights(old.get_weights())` and a `.weights.h5` file carry over.

    Differs from Keras: an explicit `query_mask` is honoured; a row that sees
    nothing is zeros before the output projection, whichever path runs; causal
    masks and windows are aligned bottom-right, so a cached step sees all of its
    past; the static shape of the scores is right for `T != S`; floating-point
    masks are refused. It adds grouped heads, `rotary`, a score `bias`, and
    `step` with an explicit cache.

    Long inputs never hold the `T x S` matrix, unless the scores are asked for,
    a `bias` is given, or attention dropout is at work.

    Shapes:
        query `(B, T, D)`, value and key `(B, S, D)` -> `(B, T, D)` and, on
        request, weights `(B, H, T, S)`.

    Masking: `query_mask`, `value_mask`, `key_mask` `(B, T)` or `(B, S)` arrive
    by themselves; `attention_mask` is `(B, T, S)`, `(B, 1, T, S)`,
    `(B, H, T, S)` or `(T, S)`. True means visible.

    The call's `bias`, `(B, H, T, S)` with any of the first two axes 1, is added
    to the scores: `ops.alibi_bias`, or what `RelativePositionBias` gives.

    Args:
        num_heads: Number of heads `H`.
        key_dim: Width of a head's query and key.
        value_dim: Width of a head's value; by default `key_dim`.
        dropout: Share of the weights to drop while training.
        use_bias: Whether the projections have biases.
        output_shape: Shape of the output without batch and steps; by default
            the query's width.
        attention_axes: Axes to attend over, for inputs of rank 4 and more; by
            default all but the first and the last.
        sliding_window: Hide keys this far away or farther.
        flash_attention: `False` always makes the `T x S` matrix. By default
            its need and the lengths decide.
        kernel_initializer: Initializer of the projections.
        bias_initializer: Initializer of their biases.
        kernel_regularizer: Regularizer of the projections.
        bias_regularizer: Regularizer of their biases.
        activity_regularizer: Regularizer of what the projections give.
        kernel_constraint: Constraint on the projections.
        bias_constraint: Constraint on their biases.
        use_gate: Whether a sigmoid of the query gates the heads.
        seed: Seed of the dropout.
        num_key_value_heads: Number of key and value heads, shared by groups
            of query heads (Ainslie et al., 2023); must divide `num_heads`.
        rotary: Whether to turn queries and keys by their positions (Su et
            al., 2021). `True`, or the longest wavelength.
        **kwargs: Passed to `keras.layers.Layer`.

    Example:
        >>> from keras import ops
        >>> layer = MultiHeadAttention(num_heads=2, key_dim=3)
        >>> output, weights = layer(
        ...     ops.ones((2, 3, 8)), ops.ones((2, 5, 8)),
        ...     return_attention_scores=True,
        ... )
        >>> tuple(output.shape), tuple(weights.shape)
        ((2, 3, 8), (2, 2, 3, 5))

    Reference: <https://arxiv.org/abs/1706.03762>
    """

    def call(
        self,
        query,
        value,
        key=None,
        query_mask=None,
        value_mask=None,
        key_mask=None,
        attention_mask=None,
        return_attention_scores=False,
        training=None,
        use_causal_mask=False,
        bias=None,
    ):
        key = value if key is None else key
        axes = AttentionAxes.of(self.attention_axes, query.shape, value.shape)
        given = query, value
        if axes is not None:  # attend over chosen axes of a larger tensor
            attention_mask = axes.flatten_mask(attention_mask, query, value)
            query_mask, value_mask, key_mask = (
                axes.flatten_step_mask(name, mask, x)
                for name, mask, x in (
                    ("query_mask", query_mask, query),
                    ("value_mask", value_mask, value),
                    ("key_mask", key_mask, key),
                )
            )
            query, value, key = (axes.flatten(x) for x in (query, value, key))
        seen_queries, seen_keys, pairs = checked_masks(
            query.shape[0],
            query.shape[1],
            value.shape[1],
            self.num_heads,
            query_mask,
            value_mask,
            key_mask,
            attention_mask,
        )
        query = hide(query, seen_queries)
        shared, value = key is value, hide(value, seen_keys)
        key = value if shared else hide(key, seen_keys)
        q, k, v = self.project(query, value, key)  # (B, H or G, T or S, D)
        if self.rotary:
            q, k = (
                self.turn(q, ops.shape(k)[2] - ops.shape(q)[2]),
                self.turn(k),
            )
        k, v = (repeat_heads(x, self.num_heads) for x in (k, v))

        if bias is not None:
            heads = (query.shape[0], self.num_heads, q.shape[2], k.shape[2])
            check_broadcast("bias", bias, [heads])
        drops = bool(training) and self.dropout > 0
        wants_weights = return_attention_scores or is_recording()
        weights = None
        if (
            wants_weights
            or drops
            or bias is not None
            or self.flash_attention is False
            or is_portable()
        ):
            mask = self._whole_mask(q, k, seen_keys, pairs, use_causal_mask)
            if seen_queries is not None:
                mask = merge_masks(ops.expand_dims(seen_queries, -1), mask)
            context, weights = self.attend_heads(q, k, v, mask, bias, drops)
            record(self, weights)
        elif self.sliding_window and pairs is None and self._is_square(q, k):
            context = local_attention(
                q, k, v, self.sliding_window, seen_keys, use_causal_mask
            )
        else:
            causal = use_causal_mask and not self.sliding_window
            mask = merge_masks(seen_keys, pairs)
            if self.sliding_window:
                mask = self._whole_mask(q, k, seen_keys, pairs, use_causal_mask)
            context = blockwise_attention(q, k, v, mask, causal)
        output = self.project_out(context, query, seen_queries)
        if axes is not None:
            output = axes.restore(output, given[0])
            if weights is not None:
                weights = axes.restore_scores(weights, *given)
        return (output, weights) if return_attention_scores else output

    # === The parts of a call ===

    def _is_square(self, q, k):
        """Whether there are as many keys as queries, as far as is known."""
        return q.shape[2] is not None and q.shape[2] == k.shape[2]

    def _whole_mask(self, q, k, seen_keys, pairs, causal):
        length, key_length = ops.shape(q)[2], ops.shape(k)[2]
        masks = [seen_keys, pairs]
        if causal:
            masks.append(causal_mask(length, key_length)[None])
        if self.sliding_window:
            near = local_mask(self.sliding_window, length, key_length)
            masks.append(near[None])
        return merge_masks(*masks)
