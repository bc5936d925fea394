"""Learned positions: one trained vector per place in the sequence."""

import keras
from keras import ops

from keras_seq.ops.lookup import take_rows
from keras_seq.ops.positions import sequence_positions
from keras_seq.ops.shapes import check_shape


@keras.saving.register_keras_serializable(package="keras_seq")
class LearnedPositions(keras.layers.Layer):
    r"""Adds a trained vector for the position to the inputs.

    $$ y_{pos} = x_{pos} + E_{pos}, \quad E \in R^{N \times D}, $$

    as in Gehring et al. (2017), BERT and GPT. $N$ = `sequence_length` is the
    longest sequence there is: a position beyond it is a `ValueError`, never
    the last row or the first again. Where the length is only known when a
    traced function runs, a TensorFlow graph raises `InvalidArgumentError`;
    compiled by XLA or `jax.jit`, which cannot raise, those rows are NaN.

    Differs from KerasHub's `PositionEmbedding`, which returns $E$ alone, so
    that the sum, made outside, has lost its mask. The weight is the same.

    Shapes:
        `(B, T, D)` -> `(B, T, D)`, T at most `sequence_length`.

    Masking: the mask of the inputs is passed on.

    Args:
        sequence_length: How many positions there are.
        initializer: Initializer of `embeddings`, the table $E$.
        **kwargs: Passed to `keras.layers.Layer`.

    Call arguments:
        inputs: `(B, T, D)`.
        start_index: Position of the first step, an integer or a scalar
            integer tensor. A step decoded from a cache passes its own.
        positions: `(T,)` or `(B, T)` integers; replaces `start_index`.

    Example:
        >>> layer = LearnedPositions(sequence_length=8, initializer="ones")
        >>> layer(ops.zeros((1, 2, 4)))[0, 0].numpy().tolist()
        [1.0, 1.0, 1.0, 1.0]

    Reference: <https://arxiv.org/abs/1705.03122>
    """

    def __init__(self, sequence_length, initializer="glorot_uniform", **kwargs):
        super().__init__(**kwargs)
        if sequence_length < 1:
            raise ValueError(
                "`sequence_length` must be positive. Received: "
                f"{sequence_length}"
            )
        self.sequence_length = sequence_length
        self.initializer = keras.initializers.get(initializer)
        self.supports_masking = True

    def build(self, input_shape):
        check_shape("inputs", input_shape, ("B", "T", "D"))
        self.embeddings = self.add_weight(
            name="embeddings",
            shape=(self.sequence_length, input_shape[-1]),
            initializer=self.initializer,
            autocast=False,  # cast the rows that are used, not the table
        )

    def call(self, inputs, start_index=0, positions=None):
        self._check(inputs.shape)
        rows = take_rows(
            self.embeddings,
            "positions",
            sequence_positions(inputs, start_index, positions),
        )
        return inputs + ops.cast(rows, inputs.dtype)

    def compute_output_shape(self, input_shape):
        self._check(input_shape)
        length = input_shape[1]
        if length is not None and length > self.sequence_length:
            raise ValueError(
                "`inputs` must not be longer than `sequence_length`. Received: "
                f"length={length}, sequence_length={self.sequence_length}"
            )
        return input_shape

    def get_config(self):
        return {
            **super().get_config(),
            "sequence_length": self.sequence_length,
            "initializer": keras.initializers.serialize(self.initializer),
        }

    def _check(self, input_shape):
        width = self.embeddings.shape[-1]
        check_shape("inputs", input_shape, ("B", "T", width))
