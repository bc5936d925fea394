"""Relative position bias (Raffel et al., 2020: T5)."""

import keras
from keras import ops

from keras_seq.ops.position_bias import (
    check_buckets,
    query_key_distance,
    relative_position_bucket,
)


@keras.saving.register_keras_serializable(package="keras_seq")
class RelativePositionBias(keras.layers.Layer):
    r"""A trained number per head for how far a key lies from a query.

    $$ bias_{hts} = b_{h, bucket(t - s)} $$

    is added to the attention scores before the softmax: pass it as `bias` to
    `MultiHeadAttention`. Near distances have a bucket each, far ones share
    (see `ops.position_bias.relative_position_bucket`). One bias may serve all
    layers of a stack, as it does in T5.

    Shapes:
        query `(B, T, ...)`, key `(B, S, ...)` (default: query)
        -> `(1, H, T, S)`. Only their lengths are used.

    Masking: the bias is not a sequence and carries no mask.

    Args:
        num_heads: H, heads of the attention the bias is for.
        num_buckets: How many different biases a head has.
        max_distance: From here on, all distances are alike.
        bidirectional: True for encoders: past and future have half of the
            buckets each. False for causal attention: all are for the past.
        initializer: Initializer of the table $b$, `(num_buckets, H)`.
        **kwargs: Passed to `keras.layers.Layer`.

    Call arguments:
        query: `(B, T, ...)`.
        key: `(B, S, ...)`, by default `query`.
        start_index: Position of the first query among the keys. By default
            the last query stands at the last key, as in a cache that holds
            exactly the past; a cache with room to spare needs the index.

    Example:
        >>> layer = RelativePositionBias(num_heads=2)
        >>> tuple(layer(ops.zeros((7, 3, 4)), ops.zeros((7, 5, 4))).shape)
        (1, 2, 3, 5)

    Reference: <https://arxiv.org/abs/1910.10683>
    """

    def __init__(
        self,
        num_heads,
        num_buckets=32,
        max_distance=128,
        bidirectional=True,
        initializer="glorot_uniform",
        **kwargs,
    ):
        super().__init__(**kwargs)
        if num_heads < 1:
            raise ValueError(
                f"`num_heads` must be positive. Received: {num_heads}"
            )
        check_buckets(num_buckets, max_distance, bidirectional)
        self.num_heads = num_heads
        self.num_buckets = num_buckets
        self.max_distance = max_distance
        self.bidirectional = bidirectional
        self.initializer = keras.initializers.get(initializer)
        self.supports_masking = True

    def build(self, query_shape, key_shape=None):
        self.b = self.add_weight(
            name="b",
            shape=(self.num_buckets, self.num_heads),
            initializer=self.initializer,
        )

    def call(self, query, key=None, start_index=None):
        key = query if key is None else key
        distance = query_key_distance(
            ops.shape(query)[1], ops.shape(key)[1], start_index
        )
        bucket = relative_position_bucket(
            distance, self.num_buckets, self.max_distance, self.bidirectional
        )
        bias = ops.take(self.b, bucket, axis=0)  # (T, S, H)
        return ops.expand_dims(ops.transpose(bias, (2, 0, 1)), 0)

    def compute_mask(self, query, mask=None):
        return None

    def compute_output_shape(self, query_shape, key_shape=None):
        key_shape = key_shape or query_shape
        return (1, self.num_heads, query_shape[1], key_shape[1])

    def get_config(self):
        return {
            **super().get_config(),
            "num_heads": self.num_heads,
            "num_buckets": self.num_buckets,
            "max_distance": self.max_distance,
            "bidirectional": self.bidirectional,
            "initializer": keras.initializers.serialize(self.initializer),
        }
