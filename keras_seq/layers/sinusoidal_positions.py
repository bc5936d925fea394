"""Sinusoidal positions (Vaswani et al., 2017)."""

import keras
from keras import ops

from keras_seq.ops.positions import (
    LAYOUTS,
    sequence_positions,
    sinusoidal_encoding,
)
from keras_seq.ops.shapes import check_shape


@keras.saving.register_keras_serializable(package="keras_seq")
class SinusoidalPositions(keras.layers.Layer):
    r"""Adds sines and cosines of the position to the inputs.

    $$ y_{pos} = x_{pos} + PE_{pos}, \quad
       PE_{pos, 2i} = \sin(pos / 10000^{2i/d}), \quad
       PE_{pos, 2i+1} = \cos(pos / 10000^{2i/d}). $$

    It has no weights and no longest sequence, and takes any width.

    Differs from KerasHub's `SinePositionEncoding`, which returns the encoding
    alone (and the sum, made outside, has lost its mask), and computes it in
    the compute dtype: in bfloat16 it is off by up to 2.

    Shapes:
        `(B, T, D)` -> `(B, T, D)`.

    Masking: the mask of the inputs is passed on.

    Args:
        max_wavelength: The constant 10000 of the equation.
        layout: `"interleaved"`, the paper's order of columns, or
            `"concatenated"`, all sines before all cosines.
        **kwargs: Passed to `keras.layers.Layer`.

    Call arguments:
        inputs: `(B, T, D)`.
        start_index: Position of the first step, an integer or a scalar
            integer tensor. A step decoded from a cache passes its own.
        positions: `(T,)` or `(B, T)` integers; replaces `start_index`.

    Example:
        >>> layer = SinusoidalPositions()
        >>> layer(ops.zeros((1, 2, 4)))[0, 0].numpy().tolist()
        [0.0, 1.0, 0.0, 1.0]

    Reference: <https://arxiv.org/abs/1706.03762>
    """

    def __init__(self, max_wavelength=10_000, layout="interleaved", **kwargs):
        super().__init__(**kwargs)
        if max_wavelength <= 0:
            raise ValueError(
                f"`max_wavelength` must be positive. Received: {max_wavelength}"
            )
        if layout not in LAYOUTS:
            raise ValueError(
                f"`layout` must be one of {LAYOUTS}. Received: {layout!r}"
            )
        self.max_wavelength = max_wavelength
        self.layout = layout
        self.supports_masking = True

    def call(self, inputs, start_index=0, positions=None):
        check_shape("inputs", inputs.shape, ("B", "T", "D"))
        encoding = sinusoidal_encoding(
            sequence_positions(inputs, start_index, positions),
            inputs.shape[-1],
            self.max_wavelength,
            self.layout,
        )
        return inputs + ops.cast(encoding, inputs.dtype)

    def compute_output_shape(self, input_shape):
        check_shape("inputs", input_shape, ("B", "T", "D"))
        return input_shape

    def get_config(self):
        return {
            **super().get_config(),
            "max_wavelength": self.max_wavelength,
            "layout": self.layout,
        }
