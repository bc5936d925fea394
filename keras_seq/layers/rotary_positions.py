"""Rotary positions (Su et al., 2021)."""

import keras

from keras_seq.ops.positions import sequence_positions
from keras_seq.ops.rotary import check_even_width, rotate
from keras_seq.ops.shapes import check_shape


@keras.saving.register_keras_serializable(package="keras_seq")
class RotaryPositions(keras.layers.Layer):
    r"""Turns each query or key by an angle that grows with its position.

    $$ \begin{pmatrix} x'_i \\ x'_{i+d/2} \end{pmatrix} =
       \begin{pmatrix} \cos m\theta_i & -\sin m\theta_i \\
                       \sin m\theta_i & \cos m\theta_i \end{pmatrix}
       \begin{pmatrix} x_i \\ x_{i+d/2} \end{pmatrix}, \quad
       \theta_i = 10000^{-2i/d} $$

    at position $m$. Queries and keys are turned, values are not; their product
    then depends on the distance between them and on no absolute place.

    Differs from the paper in which columns make a pair (see `ops.rotary`), and
    from KerasHub's `RotaryEmbedding`, which agrees in that, in being computed
    in float32 throughout.

    Shapes:
        `(B, T, D)` or `(B, T, H, D)`, D even -> the same.

    Masking: the mask of the inputs is passed on.

    Args:
        max_wavelength: The constant 10000 of the equation.
        scaling_factor: Positions are divided by it.
        **kwargs: Passed to `keras.layers.Layer`.

    Call arguments:
        inputs: `(B, T, D)` or `(B, T, H, D)`.
        start_index: Position of the first step, an integer or a scalar
            integer tensor. A step decoded from a cache passes its own.
        positions: `(T,)` or `(B, T)` integers; replaces `start_index`.

    Example:
        >>> from keras import ops
        >>> layer = RotaryPositions()
        >>> tuple(layer(ops.ones((2, 3, 5, 4))).shape)
        (2, 3, 5, 4)

    Reference: <https://arxiv.org/abs/2104.09864>
    """

    def __init__(self, max_wavelength=10_000, scaling_factor=1.0, **kwargs):
        super().__init__(**kwargs)
        if max_wavelength <= 0:
            raise ValueError(
                f"`max_wavelength` must be positive. Received: {max_wavelength}"
            )
        if scaling_factor <= 0:
            raise ValueError(
                f"`scaling_factor` must be positive. Received: {scaling_factor}"
            )
        self.max_wavelength = max_wavelength
        self.scaling_factor = scaling_factor
        self.supports_masking = True

    def call(self, inputs, start_index=0, positions=None):
        self._check(inputs.shape)
        return rotate(
            inputs,
            sequence_positions(inputs, start_index, positions),
            self.max_wavelength,
            self.scaling_factor,
        )

    def compute_output_shape(self, input_shape):
        self._check(input_shape)
        return input_shape

    def get_config(self):
        return {
            **super().get_config(),
            "max_wavelength": self.max_wavelength,
            "scaling_factor": self.scaling_factor,
        }

    def _check(self, shape):
        check_shape("inputs", shape, ("B", "T", "D"), ("B", "T", "H", "D"))
        check_even_width("inputs", shape)
