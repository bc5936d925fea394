"""A sequence as one vector: the words that matter, averaged (Yang et al.)."""

import keras
from keras import ops

from keras_seq.layers.argument_checks import check_count, check_dropout
from keras_seq.layers.attention_recording import record
from keras_seq.layers.dropout import Dropout
from keras_seq.ops.attention import hide
from keras_seq.ops.masks import check_mask, masked_softmax
from keras_seq.ops.shapes import check_shape


@keras.saving.register_keras_serializable(package="keras_seq")
class AttentionPooling(keras.layers.Layer):
    r"""Average over the steps, weighted by how much each one matters.

    Additive attention with a single, learned query $v$ (Yang et al., 2016,
    section 2.2):

    $$ e_t = \sigma\, v^\top \tanh(W k_t + b), \quad
       a = \mathrm{softmax}(e), \quad
       c = \textstyle\sum_t a_t h_t, $$

    where the key $k_t$ is what a step is judged by, in the paper $h_t$
    itself, and $\sigma$, in the paper 1, is how fast judgements are learned.

    `explain.attention_model` finds its weights, with one head and one query.

    Differs from `keras_seq.layers.AdditiveAttention`, whose query comes from
    the data and moves with it.

    Shapes:
        inputs $h$ `(B, T, D)`, key $k$ `(B, T, K)` (default: inputs)
        -> context `(B, D)` and, on request, weights `(B, T)`.

    Masking: steps where the mask that arrives with the inputs is False get
    no weight and are not read. A row that is all padding gives zeros. The
    output has no steps, and so no mask.

    Args:
        units: Width of the hidden layer that judges a step.
        kernel_initializer: Initializer of `w` $W$ `(K, units)` and of `v`
            $v$ `(units, 1)`; the bias `b` starts at zero.
        score_scale: $\sigma$. Below 1, the weights stay near the plain mean
            while what is averaged learns first what each word means; so the
            weights come to rest on words that mean something.
        dropout: Share of the weights to drop while training.
        seed: Seed of the dropout.
        **kwargs: Passed to `keras.layers.Layer`.

    Example:
        >>> layer = AttentionPooling(units=8)
        >>> context, weights = layer(
        ...     ops.ones((2, 5, 4)),
        ...     mask=ops.convert_to_tensor([[True] * 5, [False] * 5]),
        ...     return_attention_scores=True,
        ... )
        >>> context.shape[1], [round(float(x), 3) for x in weights[0]]
        (4, [0.2, 0.2, 0.2, 0.2, 0.2])
        >>> float(ops.max(weights[1])), float(ops.max(context[1]))
        (0.0, 0.0)

    Reference: <https://aclanthology.org/N16-1174>
    """

    def __init__(
        self,
        units,
        kernel_initializer="glorot_uniform",
        score_scale=1.0,
        dropout=0.0,
        seed=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        check_count("units", units)
        if score_scale <= 0:
            raise ValueError(
                f"`score_scale` must be positive. Received: {score_scale}"
            )
        check_dropout(dropout)
        self.units = units
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.score_scale = score_scale
        self.dropout = dropout
        self.seed = seed
        self.supports_masking = True
        self.weight_dropout = Dropout(
            dropout, seed=seed, dtype=self.dtype_policy
        )

    def build(self, inputs_shape, key_shape=None):
        check_shape("inputs", inputs_shape, ("B", "T", "D"))
        key_shape = inputs_shape if key_shape is None else key_shape
        check_shape("key", key_shape, ("B", "T", "K"))
        self.w = self.add_weight(
            name="w",
            shape=(key_shape[-1], self.units),
            initializer=self.kernel_initializer,
        )
        self.b = self.add_weight(
            name="b", shape=(self.units,), initializer="zeros"
        )
        # Of its own: one initializer draws the same numbers twice.
        own = self.kernel_initializer
        own = getattr(own, "clone", lambda: own)()
        self.v = self.add_weight(
            name="v", shape=(self.units, 1), initializer=own
        )

    def call(
        self,
        inputs,
        key=None,
        mask=None,
        inputs_mask=None,
        return_attention_scores=False,
        training=None,
    ):
        # Keras fills in the second name where there is a key.
        mask = inputs_mask if mask is None else mask
        key = inputs if key is None else key
        if mask is not None:
            mask = check_mask("mask", mask, [tuple(inputs.shape[:2])])
            inputs, key = hide(inputs, mask), hide(key, mask)
        hidden = ops.tanh(ops.matmul(key, self.w) + self.b)
        v = self.v * self.score_scale
        scores = ops.squeeze(ops.matmul(hidden, v), axis=-1)  # (B, T)
        weights = masked_softmax(scores, mask)
        record(self, ops.expand_dims(weights, 1))
        used = self.weight_dropout(weights, training=training)
        context = ops.matmul(ops.expand_dims(used, 1), inputs)  # (B, 1, D)
        context = ops.squeeze(context, axis=1)
        return (context, weights) if return_attention_scores else context

    def compute_mask(self, inputs, previous_mask=None):
        return None

    def compute_output_shape(self, inputs_shape, key_shape=None):
        return (inputs_shape[0], inputs_shape[-1])

    def compute_output_spec(
        self, inputs, key=None, return_attention_scores=False, **mask_and_flags
    ):
        context = keras.KerasTensor(
            self.compute_output_shape(inputs.shape), dtype=self.compute_dtype
        )
        if not return_attention_scores:
            return context
        weights = keras.KerasTensor(inputs.shape[:2], dtype=self.compute_dtype)
        return context, weights

    def get_config(self):
        return {
            **super().get_config(),
            "units": self.units,
            "kernel_initializer": keras.initializers.serialize(
                self.kernel_initializer
            ),
            "score_scale": self.score_scale,
            "dropout": self.dropout,
            "seed": self.seed,
        }
