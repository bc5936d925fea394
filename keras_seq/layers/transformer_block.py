"""What the Transformer's encoder and decoder blocks have in common."""

import keras

from keras_seq.layers.argument_checks import check_count, check_dropout
from keras_seq.layers.dropout import Dropout
from keras_seq.layers.feed_forward import FeedForward
from keras_seq.layers.layer_norm import LayerNorm
from keras_seq.layers.multi_head_attention import MultiHeadAttention


def implicit_mask(tensor):
    """Return the mask that travels with a tensor, or `None`.

    Keras fills mask arguments by itself only where they are named after the
    tensor (`x`, `x_mask`); KerasHub's names are others, so we look ourselves.
    """
    return getattr(tensor, "_keras_mask", None)


class TransformerBlock(keras.layers.Layer):
    """Base of `TransformerEncoder` and `TransformerDecoder`.

    Args:
        intermediate_dim: Width of the feed-forward network's hidden layer.
        num_heads: Number of attention heads; must divide the input's width.
        dropout: Share to drop, of attention weights and of what each sub-layer
            adds.
        activation: Activation of the feed-forward network.
        layer_norm_epsilon: Added to the variance in layer normalization.
        kernel_initializer: Initializer of all kernels.
        bias_initializer: Initializer of all biases.
        normalize_first: Whether to normalize what enters a sub-layer (pre-norm)
            and not what leaves the residual sum (post-norm, as in the paper).
        attention_dropout: Share of the attention weights to drop; by default
            as `dropout`. The paper drops none, and 0 is faster.
        flash_attention: As in `MultiHeadAttention`. `False` suits inputs that
            are never long: there is only one path to trace.
        rotary: Whether self-attention turns queries and keys by their
            positions: `True`, or the longest wavelength.
        **kwargs: Passed to `keras.layers.Layer`.
    """

    def __init__(
        self,
        intermediate_dim,
        num_heads,
        dropout=0,
        activation="relu",
        layer_norm_epsilon=1e-05,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        normalize_first=False,
        attention_dropout=None,
        flash_attention=None,
        rotary=False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        check_count("intermediate_dim", intermediate_dim)
        check_count("num_heads", num_heads)
        check_dropout(dropout)
        check_dropout(attention_dropout or 0, "attention_dropout")
        self.intermediate_dim = intermediate_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.activation = keras.activations.get(activation)
        self.layer_norm_epsilon = layer_norm_epsilon
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.bias_initializer = keras.initializers.get(bias_initializer)
        self.normalize_first = normalize_first
        self.attention_dropout = attention_dropout
        self.flash_attention = flash_attention
        self.rotary = rotary
        self.supports_masking = True

    # === Sub-layers ===

    def _check_width(self, shape):
        if len(shape) != 3:
            raise ValueError(
                "The input must have shape (batch, steps, width). Received: "
                f"shape={tuple(shape)}"
            )
        if shape[-1] % self.num_heads:
            raise ValueError(
                "`num_heads` must divide the input's width. Received: "
                f"num_heads={self.num_heads}, width={shape[-1]}"
            )
        if self.rotary and shape[-1] // self.num_heads % 2:
            raise ValueError(
                "Each head must have an even width when `rotary` is on. "
                f"Received: num_heads={self.num_heads}, width={shape[-1]}"
            )

    def _make_attention(self, name, query_shape, value_shape, rotary=False):
        dropout = self.attention_dropout
        layer = MultiHeadAttention(
            num_heads=self.num_heads,
            key_dim=query_shape[-1] // self.num_heads,
            dropout=self.dropout if dropout is None else dropout,
            kernel_initializer=self.kernel_initializer,
            bias_initializer=self.bias_initializer,
            flash_attention=self.flash_attention,
            rotary=rotary,
            dtype=self.dtype_policy,
            name=name,
        )
        layer.build(query_shape, value_shape)
        return layer

    def _make_feed_forward(self, shape):
        layer = FeedForward(
            self.intermediate_dim,
            activation=self.activation,
            kernel_initializer=self.kernel_initializer,
            bias_initializer=self.bias_initializer,
            dtype=self.dtype_policy,
            name="feed_forward",
        )
        layer.build(shape)
        return layer

    def _make_norm(self, name, shape):
        layer = LayerNorm(
            epsilon=self.layer_norm_epsilon,
            dtype=self.dtype_policy,
            name=f"{name}_norm",
        )
        layer.build(shape)
        return layer

    def _make_dropout(self, name):
        return Dropout(
            self.dropout, dtype=self.dtype_policy, name=f"{name}_dropout"
        )

    def _add_and_norm(self, x, sublayer, norm, dropout=None, training=None):
        """Return `x` plus what `sublayer` makes of it, and its second result.

        `sublayer` takes a tensor and returns `(tensor, anything)`.
        """
        added, extra = sublayer(norm(x) if self.normalize_first else x)
        if dropout is not None:
            added = dropout(added, training=training)
        x = x + added
        return (x if self.normalize_first else norm(x)), extra

    # === What Keras asks of a layer ===

    def compute_mask(self, inputs, previous_mask):
        """Pass the mask of the first input on: the steps are the same."""
        return previous_mask

    def get_config(self):
        return {
            **super().get_config(),
            "intermediate_dim": self.intermediate_dim,
            "num_heads": self.num_heads,
            "dropout": self.dropout,
            "activation": keras.activations.serialize(self.activation),
            "layer_norm_epsilon": self.layer_norm_epsilon,
            "kernel_initializer": keras.initializers.serialize(
                self.kernel_initializer
            ),
            "bias_initializer": keras.initializers.serialize(
                self.bias_initializer
            ),
            "normalize_first": self.normalize_first,
            "attention_dropout": self.attention_dropout,
            "flash_attention": self.flash_attention,
            "rotary": self.rotary,
        }
