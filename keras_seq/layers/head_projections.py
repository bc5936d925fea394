"""The projections of multi-head attention, and the arguments they take.

The weights live in `EinsumDense` layers under Keras's names, so that weight
files, LoRA and code that reaches for `query_dense` work as they do there. The
products are our own: plain ones of two matrices, without einsum's transposes.
(One product for queries, keys and values together was slower: joining three
kernels at each call costs more than it saves.)
"""

import math

import keras
from keras import ops

from keras_seq.layers.argument_checks import check_count, check_dropout
from keras_seq.layers.attention_axes import AttentionAxes
from keras_seq.layers.dropout import Dropout
from keras_seq.ops.attention import hide
from keras_seq.ops.heads import merge_heads, split_heads
from keras_seq.ops.products import affine

_CLONED = {
    "kernel_initializer": keras.initializers,
    "bias_initializer": keras.initializers,
    "kernel_regularizer": keras.regularizers,
    "bias_regularizer": keras.regularizers,
    "activity_regularizer": keras.regularizers,
    "kernel_constraint": keras.constraints,
    "bias_constraint": keras.constraints,
}


class HeadProjections(keras.layers.Layer):
    """Base of multi-head attention; see `MultiHeadAttention` for arguments."""

    def __init__(
        self,
        num_heads,
        key_dim,
        value_dim=None,
        dropout=0.0,
        use_bias=True,
        output_shape=None,
        attention_axes=None,
        sliding_window=None,
        flash_attention=None,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        use_gate=False,
        seed=None,
        num_key_value_heads=None,
        rotary=False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        check_count("num_heads", num_heads)
        check_count("key_dim", key_dim)
        check_count("value_dim", value_dim, optional=True)
        check_count("sliding_window", sliding_window, optional=True)
        check_count("num_key_value_heads", num_key_value_heads, optional=True)
        check_dropout(dropout)
        if num_heads % (num_key_value_heads or num_heads):
            raise ValueError(
                "`num_key_value_heads` must divide `num_heads`. Received: "
                f"num_key_value_heads={num_key_value_heads}, "
                f"num_heads={num_heads}"
            )
        if rotary and key_dim % 2:
            raise ValueError(
                "`key_dim` must be even when `rotary` is on. Received: "
                f"key_dim={key_dim}"
            )
        self.num_heads = num_heads
        self.num_key_value_heads = num_key_value_heads or num_heads
        self.key_dim = key_dim
        self.value_dim = value_dim or key_dim
        self.dropout = dropout
        self.use_bias = use_bias
        if isinstance(output_shape, int):
            output_shape = (output_shape,)
        # Not `output_shape`: `summary()` would take it for the layer's own.
        self._output_shape = output_shape and tuple(output_shape)
        if isinstance(attention_axes, int):
            attention_axes = (attention_axes,)
        self.attention_axes = attention_axes and tuple(attention_axes)
        self.sliding_window = sliding_window
        self.flash_attention = flash_attention
        self.use_gate = use_gate
        self.seed = seed
        self.rotary = rotary
        given = {
            "kernel_initializer": kernel_initializer,
            "bias_initializer": bias_initializer,
            "kernel_regularizer": kernel_regularizer,
            "bias_regularizer": bias_regularizer,
            "activity_regularizer": activity_regularizer,
            "kernel_constraint": kernel_constraint,
            "bias_constraint": bias_constraint,
        }
        self._settings = {
            name: _CLONED[name].get(value) for name, value in given.items()
        }
        self.supports_masking = True
        self.weight_dropout = Dropout(
            dropout, seed=seed, dtype=self.dtype_policy
        )

    def build(self, query_shape, value_shape, key_shape=None):
        key_shape = value_shape if key_shape is None else key_shape
        if tuple(value_shape[1:-1]) != tuple(key_shape[1:-1]):
            raise ValueError(
                "`value` and `key` must have the same steps. Received: value "
                f"shape={tuple(value_shape)}, key shape={tuple(key_shape)}"
            )
        for name, shape in (("query", query_shape), ("value", value_shape)):
            if len(shape) < 3:
                raise ValueError(
                    f"`{name}` must have shape (batch, steps, width). "
                    f"Received: shape={tuple(shape)}"
                )
        self.query_dense = self._projection(
            "query", query_shape, (self.num_heads, self.key_dim)
        )
        self.key_dense = self._projection(
            "key", key_shape, (self.num_key_value_heads, self.key_dim)
        )
        if self.use_gate:
            # Keras's name for it, which weight files go by.
            self._gate_dense = self._projection(
                "gate", query_shape, (self.num_heads, self.value_dim), "sigmoid"
            )
        self.value_dense = self._projection(
            "value", value_shape, (self.num_key_value_heads, self.value_dim)
        )
        out = self._output_shape or (query_shape[-1],)
        heads = (None, None, self.num_heads, self.value_dim)
        letters = "uvwxyz"[: len(out)]
        self.output_dense = keras.layers.EinsumDense(
            f"abcd,cd{letters}->ab{letters}",
            output_shape=(None, *out),
            bias_axes=letters if self.use_bias else None,
            name="attention_output",
            **self._clones(),
        )
        self.output_dense.build(heads)

    def _projection(self, name, shape, heads, activation=None):
        layer = keras.layers.EinsumDense(
            "abc,cde->abde",
            output_shape=(None, *heads),
            activation=activation,
            bias_axes="de" if self.use_bias else None,
            name=name,
            **self._clones(),
        )
        layer.build((None, None, shape[-1]))
        return layer

    def _clones(self):
        """Return fresh settings: a shared initializer would repeat itself."""
        clones = {
            name: _CLONED[name].get(_CLONED[name].serialize(value))
            for name, value in self._settings.items()
        }
        return {**clones, "dtype": self.dtype_policy}

    # === The products ===

    def project(self, query, value, key):
        """Return scaled queries `(B, H, T, D)`, and keys and values."""
        return self.project_query(query), *self.project_memory(value, key)

    def project_query(self, query):
        """`(B, T, D)` -> `(B, H, T, key_dim)`, scaled.

        Scaled through the weights, which are fewer than the scores and, in
        float16, do not overflow as those would.
        """
        return self._heads_of(
            query, self.query_dense, scale=1.0 / math.sqrt(self.key_dim)
        )

    def project_memory(self, value, key):
        """Return keys and values, `(B, G, S, key_dim or value_dim)`."""
        return (
            self._heads_of(key, self.key_dense),
            self._heads_of(value, self.value_dense),
        )

    def project_out(self, context, query, seen_queries=None):
        """`(B, H, T, value_dim)` -> `(B, T, ...)`."""
        if self.use_gate:
            gate = self._heads_of(query, self._gate_dense)
            context = context * gate
        x = hide(merge_heads(context), seen_queries)
        kernel = self.output_dense.kernel  # (H, value_dim, ...)
        out = tuple(kernel.shape[2:])
        output = self._product(x, self.output_dense, math.prod(out))
        return ops.reshape(output, (*ops.shape(output)[:2], *out))

    def _heads_of(self, x, projection, scale=1.0):
        heads, width = projection.kernel.shape[1:]
        product = self._product(x, projection, heads * width, scale)
        return split_heads(product, heads)

    def _product(self, x, projection, width, scale=1.0):
        """Return what the projection makes of `(B, T, D)`, flat and scaled."""
        # Keras casts variables in `call` alone, and a cache has other doors.
        kernel = ops.cast(projection.kernel, x.dtype)
        kernel = ops.reshape(kernel, (-1, width))
        bias = projection.bias
        if bias is not None:
            bias = ops.reshape(ops.cast(bias, x.dtype), (width,))
        if scale != 1.0:
            kernel = kernel * ops.cast(scale, kernel.dtype)
            bias = None if bias is None else bias * ops.cast(scale, bias.dtype)
        product = projection.activation(affine(x, kernel, bias))
        self._penalise(product, scale)
        return product

    def _penalise(self, product, scale):
        """Add the activity regularizer's loss, as Keras's projections do."""
        regularizer = self._settings["activity_regularizer"]
        if regularizer is not None:
            batch = ops.cast(ops.shape(product)[0], "float32")
            loss = regularizer(product / ops.cast(scale, product.dtype))
            self.add_loss(ops.divide_no_nan(loss, batch))

    # === What Keras asks of a layer ===

    def compute_output_shape(self, query_shape, value_shape, key_shape=None):
        out = self._output_shape or (query_shape[-1],)
        return (*query_shape[:-1], *out)

    def compute_output_spec(
        self,
        query,
        value,
        key=None,
        return_attention_scores=False,
        **masks_and_flags,
    ):
        shape = self.compute_output_shape(query.shape, value.shape)
        output = keras.KerasTensor(shape, dtype=self.compute_dtype)
        if not return_attention_scores:
            return output
        axes = AttentionAxes.of(self.attention_axes, query.shape, value.shape)
        if axes is None:
            axes = AttentionAxes((0,), (1,))
        shape = axes.scores_shape(self.num_heads, query.shape, value.shape)
        return output, keras.KerasTensor(shape, dtype=self.compute_dtype)

    def compute_mask(self, inputs, previous_mask):
        """Pass the query's mask on: the output has the query's steps."""
        return previous_mask

    def get_config(self):
        names = (
            "num_heads key_dim value_dim dropout use_bias attention_axes "
            "sliding_window flash_attention use_gate seed num_key_value_heads "
            "rotary"
        )
        settings = {
            name: _CLONED[name].serialize(value)
            for name, value in self._settings.items()
        }
        return {
            **super().get_config(),
            **{name: getattr(self, name) for name in names.split()},
            **settings,
            "output_shape": self._output_shape,
        }
