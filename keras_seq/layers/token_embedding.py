"""Token embedding whose table also makes the logits (Press and Wolf, 2017)."""

import keras
from keras import ops

from keras_seq.ops.lookup import check_range, existing_rows
from keras_seq.ops.products import affine, times_transposed


@keras.saving.register_keras_serializable(package="keras_seq")
class TokenEmbedding(keras.layers.Layer):
    r"""Token ids to vectors and, with the same table, vectors to logits.

    With the table $E \in R^{V \times D}$ (Vaswani et al., 2017, section 3.4):

    $$ x_t = \sqrt{D} \, E_{id_t}, \qquad logits_t = y_t E^\top. $$

    The scale belongs to the way in only. The table starts with variance
    $1/D$, so that both the vectors and the logits start near unit variance.

    Differs from `keras.layers.ReversibleEmbedding` in the scale, in that
    masking is on, and in that logits are float32 under every policy.

    Shapes:
        token_ids `(B, T)` -> `(B, T, D)`;
        with `reverse=True`: `(B, T, D)` -> logits `(B, T, V)`, float32.

    Masking: makes the mask `token_ids != 0` unless `mask_zero=False`; logits
    pass the mask of the inputs on.

    Args:
        vocabulary_size: V.
        hidden_dim: D.
        mask_zero: Whether id 0 is padding.
        scale: Whether to multiply the vectors by $\sqrt{D}$.
        tie_weights: If False, logits have a table of their own,
            `reverse_embeddings` of shape `(D, V)`.
        embeddings_initializer: Initializer of the tables; `None` is a normal
            distribution of variance 1 / `hidden_dim`.
        reverse_dtype: What logits are computed in. A half precision is faster
            on GPUs and rounds them; they are returned as float32 either way.
        **kwargs: Passed to `keras.layers.Layer`.

    Call arguments:
        inputs: Integer ids or, with `reverse=True`, vectors. An id outside the
            vocabulary is a `ValueError` where ids can be seen. In a traced
            function it is left to the backend: TensorFlow raises on a CPU,
            gives zeros on a GPU and the nearest id under XLA; JAX gives NaN.
        reverse: Whether to make logits.

    Example:
        >>> layer = TokenEmbedding(vocabulary_size=11, hidden_dim=4)
        >>> x = layer(ops.convert_to_tensor([[3, 7, 0]]))
        >>> tuple(x.shape), tuple(layer(x, reverse=True).shape)
        ((1, 3, 4), (1, 3, 11))

    Reference: <https://arxiv.org/abs/1608.05859>
    """

    def __init__(
        self,
        vocabulary_size,
        hidden_dim,
        mask_zero=True,
        scale=True,
        tie_weights=True,
        embeddings_initializer=None,
        reverse_dtype="float32",
        **kwargs,
    ):
        # Inputs and table are taken in full precision, and cast last.
        super().__init__(autocast=False, **kwargs)
        for name, size in (
            ("vocabulary_size", vocabulary_size),
            ("hidden_dim", hidden_dim),
        ):
            if size < 1:
                raise ValueError(f"`{name}` must be positive. Received: {size}")
        self.vocabulary_size = vocabulary_size
        self.hidden_dim = hidden_dim
        self.mask_zero = mask_zero
        self.scale = scale
        self.tie_weights = tie_weights
        if embeddings_initializer is None:
            embeddings_initializer = keras.initializers.RandomNormal(
                stddev=hidden_dim**-0.5
            )
        self.embeddings_initializer = keras.initializers.get(
            embeddings_initializer
        )
        self.reverse_dtype = keras.backend.standardize_dtype(reverse_dtype)
        self.supports_masking = True

    def build(self, input_shape=None):
        self.embeddings = self.add_weight(
            name="embeddings",
            shape=(self.vocabulary_size, self.hidden_dim),
            initializer=self.embeddings_initializer,
            autocast=False,
        )
        if not self.tie_weights:
            # Called twice, one initializer draws the same numbers twice.
            initializer = self.embeddings_initializer
            initializer = getattr(initializer, "clone", lambda: initializer)()
            self.reverse_embeddings = self.add_weight(
                name="reverse_embeddings",
                shape=(self.hidden_dim, self.vocabulary_size),
                initializer=initializer,
                autocast=False,
            )

    def call(self, inputs, reverse=False):
        self._check(inputs, reverse)
        return self._logits(inputs) if reverse else self._embed(inputs)

    def _embed(self, token_ids):
        check_range("inputs", token_ids, self.vocabulary_size)
        table = ops.convert_to_tensor(self.embeddings)
        x = existing_rows(table, ops.convert_to_tensor(token_ids))
        if self.scale:
            x = x * self.hidden_dim**0.5
        return ops.cast(x, self.compute_dtype)

    def _logits(self, x):
        x = ops.cast(x, self.reverse_dtype)
        if self.tie_weights:
            *leading, width = ops.shape(x)
            table = ops.cast(self.embeddings, self.reverse_dtype)
            logits = times_transposed(ops.reshape(x, (-1, width)), table)
            if len(leading) != 1:
                logits = ops.reshape(logits, (*leading, table.shape[0]))
        else:
            kernel = ops.cast(self.reverse_embeddings, self.reverse_dtype)
            logits = affine(x, kernel)
        return ops.cast(logits, "float32")

    def compute_mask(self, inputs, mask=None):
        if not _are_ids(inputs):
            return mask  # of vectors on their way to logits
        return ops.not_equal(inputs, 0) if self.mask_zero else None

    def compute_output_spec(self, inputs, reverse=False):
        self._check(inputs, reverse)
        shape = tuple(inputs.shape)
        if reverse:
            shape, dtype = (*shape[:-1], self.vocabulary_size), "float32"
        else:
            shape, dtype = (*shape, self.hidden_dim), self.compute_dtype
        return keras.KerasTensor(shape, dtype=dtype)

    def get_config(self):
        return {
            **super().get_config(),
            "vocabulary_size": self.vocabulary_size,
            "hidden_dim": self.hidden_dim,
            "mask_zero": self.mask_zero,
            "scale": self.scale,
            "tie_weights": self.tie_weights,
            "embeddings_initializer": keras.initializers.serialize(
                self.embeddings_initializer
            ),
            "reverse_dtype": self.reverse_dtype,
        }

    def _check(self, inputs, reverse):
        if reverse and inputs.shape[-1] != self.hidden_dim:
            raise ValueError(
                "`inputs` must be as wide as `hidden_dim` if `reverse=True`. "
                f"Received: shape={tuple(inputs.shape)}, "
                f"hidden_dim={self.hidden_dim}"
            )
        if reverse == _are_ids(inputs):
            raise ValueError(
                "`inputs` must be integer token ids or, with `reverse=True`, "
                f"vectors. Received: dtype={inputs.dtype}, reverse={reverse}"
            )


def _are_ids(inputs):
    return "int" in keras.backend.standardize_dtype(inputs.dtype)
