"""The position-wise feed-forward network of a Transformer block."""

import keras
from keras import ops

from keras_seq.layers.dropout import Dropout
from keras_seq.ops.products import affine


@keras.saving.register_keras_serializable(package="keras_seq")
class FeedForward(keras.layers.Layer):
    r"""Two dense layers, the same at each position.

    Vaswani et al. (2017), section 3.3, with dropout on the output (5.4):

    $$ FFN(x) = \max(0, x W_1 + b_1) W_2 + b_2 $$

    where any activation may stand in for $\max(0, \cdot)$.

    Shapes:
        `(..., D)` -> `(..., D)`. Weights in order: `w1` `(D, I)`, `b1` `(I,)`,
        `w2` `(I, D)`, `b2` `(D,)`, those of two `keras.layers.Dense`.

    Masking: the mask of the inputs is passed on.

    Args:
        intermediate_dim: I, the width between the two.
        activation: The function between the two.
        dropout: Share of the output that is dropped in training.
        kernel_initializer: Initializer of `w1` and `w2`.
        bias_initializer: Initializer of `b1` and `b2`.
        **kwargs: Passed to `keras.layers.Layer`.

    Example:
        >>> layer = FeedForward(intermediate_dim=16)
        >>> tuple(layer(ops.ones((2, 3, 4))).shape)
        (2, 3, 4)

    Reference: <https://arxiv.org/abs/1706.03762>
    """

    def __init__(
        self,
        intermediate_dim,
        activation="relu",
        dropout=0.0,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        **kwargs,
    ):
        super().__init__(**kwargs)
        if intermediate_dim < 1:
            raise ValueError(
                "`intermediate_dim` must be positive. Received: "
                f"{intermediate_dim}"
            )
        if not 0 <= dropout < 1:
            raise ValueError(
                f"`dropout` must be at least 0 and below 1. Received: {dropout}"
            )
        self.intermediate_dim = intermediate_dim
        self.activation = keras.activations.get(activation)
        self.dropout = dropout
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.bias_initializer = keras.initializers.get(bias_initializer)
        self.supports_masking = True
        self._dropout = Dropout(dropout, dtype=self.dtype_policy)

    def build(self, input_shape):
        width, between = input_shape[-1], self.intermediate_dim
        if width is None:
            raise ValueError(
                "The last axis of `inputs` must be known. Received: "
                f"shape={tuple(input_shape)}"
            )
        self.w1 = self._kernel("w1", (width, between))
        self.b1 = self._bias("b1", (between,))
        self.w2 = self._kernel("w2", (between, width))
        self.b2 = self._bias("b2", (width,))

    def call(self, inputs, training=None):
        self._check(inputs.shape)
        # One row per position: two plain products, whatever the rank.
        x = ops.reshape(inputs, (-1, inputs.shape[-1]))
        w1, b1, w2, b2 = map(
            ops.convert_to_tensor, (self.w1, self.b1, self.w2, self.b2)
        )
        x = affine(self.activation(affine(x, w1, b1)), w2, b2)
        x = ops.reshape(x, ops.shape(inputs))
        return self._dropout(x, training=training)

    def compute_output_shape(self, input_shape):
        self._check(input_shape)
        return input_shape

    def get_config(self):
        return {
            **super().get_config(),
            "intermediate_dim": self.intermediate_dim,
            "activation": keras.activations.serialize(self.activation),
            "dropout": self.dropout,
            "kernel_initializer": keras.initializers.serialize(
                self.kernel_initializer
            ),
            "bias_initializer": keras.initializers.serialize(
                self.bias_initializer
            ),
        }

    def _check(self, input_shape):
        if input_shape[-1] != self.w1.shape[0]:
            raise ValueError(
                f"`inputs` must have width {self.w1.shape[0]}, as when the "
                f"layer was built. Received: shape={tuple(input_shape)}"
            )

    def _kernel(self, name, shape):
        # Called twice, one initializer draws the same numbers twice.
        initializer = self.kernel_initializer
        initializer = getattr(initializer, "clone", lambda: initializer)()
        return self.add_weight(name=name, shape=shape, initializer=initializer)

    def _bias(self, name, shape):
        return self.add_weight(
            name=name, shape=shape, initializer=self.bias_initializer
        )
