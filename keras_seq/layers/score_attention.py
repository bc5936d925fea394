"""The contract that attention with one head keeps, whatever its score."""

import keras
from keras import ops

from keras_seq.layers.argument_checks import check_dropout
from keras_seq.layers.attention_recording import is_recording, record
from keras_seq.layers.dropout import Dropout
from keras_seq.ops.attention import attend, checked_masks, hide
from keras_seq.ops.blockwise_attention import blockwise_attention
from keras_seq.ops.masks import causal_mask, merge_masks


class ScoreAttention(keras.layers.Layer):
    """Base of the attention layers with one score function and one head.

    A subclass defines `factors` if its score is a product of a vector made
    from the query and one made from the key, or else `scores`.

    Call arguments:
        query: `(B, T, D)`.
        value: `(B, S, E)`.
        key: `(B, S, K)`; by default the value.
        query_mask: `(B, T)`; queries that are padding get zeros.
        value_mask: `(B, S)`; True where a value may be looked at. This and
            the other two arrive by themselves from `Embedding(mask_zero=True)`.
        key_mask: `(B, S)`, as `value_mask`.
        attention_mask: `(B, T, S)` or `(T, S)`; True where query `t` may look
            at key `s`.
        return_attention_scores: Whether to return the weights `(B, T, S)` too.
        training: Whether dropout is on.
        use_causal_mask: Whether a query sees keys up to its own place only,
            aligned bottom-right: the last query stands at the last key.
    """

    def __init__(self, dropout=0.0, seed=None, **kwargs):
        super().__init__(**kwargs)
        check_dropout(dropout)
        self.dropout = dropout
        self.seed = seed
        self.supports_masking = True
        self.weight_dropout = Dropout(
            dropout, seed=seed, dtype=self.dtype_policy
        )

    def factors(self, query, key):
        """Return `q` and `k` whose product is the score, or `None`."""
        return None

    def scores(self, query, key):
        """Return the scores `(B, T, S)`."""
        query, key = self.factors(query, key)
        return ops.matmul(query, ops.swapaxes(key, -1, -2))

    def build(self, query_shape, value_shape, key_shape=None):
        key_shape = value_shape if key_shape is None else key_shape
        shapes = {"query": query_shape, "value": value_shape, "key": key_shape}
        for name, shape in shapes.items():
            if len(shape) != 3:
                raise ValueError(
                    f"`{name}` must have shape (batch, steps, width). "
                    f"Received: shape={tuple(shape)}"
                )
        if None not in (value_shape[1], key_shape[1]):
            if value_shape[1] != key_shape[1]:
                raise ValueError(
                    "`value` and `key` must have the same number of steps. "
                    f"Received: value shape={tuple(value_shape)}, "
                    f"key shape={tuple(key_shape)}"
                )
        self.build_weights(query_shape[-1], key_shape[-1])

    def build_weights(self, query_width, key_width):
        """Create weights, or refuse widths that do not go together."""
        if query_width != key_width:
            raise ValueError(
                "`query` and `key` must have the same width. Received: "
                f"query width={query_width}, key width={key_width}"
            )

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
    ):
        key = value if key is None else key
        seen_queries, seen_keys, pairs = checked_masks(
            query.shape[0],
            query.shape[1],
            value.shape[1],
            query_mask=query_mask,
            value_mask=value_mask,
            key_mask=key_mask,
            attention_mask=attention_mask,
        )
        query = hide(query, seen_queries)
        key, value = hide(key, seen_keys), hide(value, seen_keys)
        mask = merge_masks(seen_keys, pairs)  # (B, 1, 1 or T, S)
        wants_weights = return_attention_scores or is_recording()
        drops = bool(training) and self.dropout > 0
        factors = None if wants_weights or drops else self.factors(query, key)
        if factors is not None:
            context = blockwise_attention(
                *(ops.expand_dims(x, 1) for x in (*factors, value)),
                mask=mask,
                causal=use_causal_mask,
            )
            return hide(ops.squeeze(context, 1), seen_queries)
        if use_causal_mask:
            past = causal_mask(ops.shape(query)[1], ops.shape(key)[1])
            mask = merge_masks(past[None], mask)
        if seen_queries is not None:
            mask = merge_masks(ops.expand_dims(seen_queries, -1), mask)
        mask = None if mask is None else mask[:, 0]
        context, weights = attend(self.scores(query, key), value, mask)
        if drops:
            dropped = self.weight_dropout(weights, training=training)
            context = ops.matmul(dropped, value)
        record(self, weights)
        return (context, weights) if return_attention_scores else context

    def compute_output_shape(self, query_shape, value_shape, key_shape=None):
        return (*query_shape[:-1], value_shape[-1])

    def compute_output_spec(
        self,
        query,
        value,
        key=None,
        return_attention_scores=False,
        **masks_and_flags,
    ):
        shape = self.compute_output_shape(query.shape, value.shape)
        context = keras.KerasTensor(shape, dtype=self.compute_dtype)
        if not return_attention_scores:
            return context
        weights = keras.KerasTensor(
            (*query.shape[:-1], value.shape[1]), dtype=self.compute_dtype
        )
        return context, weights

    def compute_mask(self, inputs, previous_mask):
        """Pass the query's mask on: the context has the query's steps."""
        return previous_mask

    def get_config(self):
        return {
            **super().get_config(),
            "dropout": self.dropout,
            "seed": self.seed,
        }
