"""Maxout (Goodfellow et al., 2013)."""

import functools

import keras
from keras import ops

from keras_seq.layers.argument_checks import check_count
from keras_seq.ops.products import affine


@keras.saving.register_keras_serializable(package="keras_seq")
class Maxout(keras.layers.Layer):
    r"""The largest of several linear layers, unit by unit.

    $$ t_i = \max_k \Bigl(\sum_n x_n W_{nk} + b_k\Bigr)_i $$

    of one input or, added up, of several, $x_n$. In the output layer of
    Bahdanau et al. (2015), appendix A, those are the decoder's state, the
    token it read and the context, and $k$ is 1 or 2.

    Differs from a `Dense` layer on the joined inputs only in the maximum.

    Shapes:
        one `(..., D)`, or a list of `(..., D_n)` -> `(..., units)`. Weights:
        a `kernel_n` `(D_n, pieces * units)` for each input, all $W_{n1}$
        before all $W_{n2}$; `bias` `(pieces * units,)`.

    Masking: the mask of the first input is passed on.

    Args:
        units: Width of the output.
        pieces: How many linear layers compete.
        kernel_initializer: Initializer of the kernels.
        bias_initializer: Initializer of the bias.
        **kwargs: Passed to `keras.layers.Layer`.

    Example:
        >>> layer = Maxout(units=3)
        >>> tuple(layer([ops.ones((2, 5, 4)), ops.ones((2, 5, 7))]).shape)
        (2, 5, 3)

    Reference: <https://arxiv.org/abs/1302.4389>
    """

    def __init__(
        self,
        units,
        pieces=2,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        **kwargs,
    ):
        super().__init__(**kwargs)
        check_count("units", units)
        check_count("pieces", pieces)
        self.units = units
        self.pieces = pieces
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.bias_initializer = keras.initializers.get(bias_initializer)
        self.supports_masking = True

    def build(self, input_shape):
        shapes = _listed(input_shape)
        total = sum(shape[-1] for shape in shapes)
        width = self.pieces * self.units
        # Drawn as one matrix and cut: the inputs are one layer's, together.
        whole = self.kernel_initializer((total, width))
        self.kernels, start = [], 0
        for n, shape in enumerate(shapes, start=1):
            part = whole[start : start + shape[-1]]
            start += shape[-1]
            self.kernels.append(
                self.add_weight(
                    name=f"kernel_{n}",
                    shape=(shape[-1], width),
                    initializer=lambda shape, dtype=None, part=part: ops.cast(
                        part, dtype
                    ),
                )
            )
        self.bias = self.add_weight(
            name="bias", shape=(width,), initializer=self.bias_initializer
        )

    def call(self, inputs):
        inputs = inputs if isinstance(inputs, (list, tuple)) else [inputs]
        first, *others = zip(inputs, self.kernels, strict=True)
        total = affine(*first, ops.convert_to_tensor(self.bias))
        for x, kernel in others:
            total = total + affine(x, kernel)
        pieces = ops.split(total, self.pieces, axis=-1)
        return functools.reduce(ops.maximum, pieces)

    def compute_output_shape(self, input_shape):
        return (*_listed(input_shape)[0][:-1], self.units)

    def compute_mask(self, inputs, mask=None):
        return mask[0] if isinstance(mask, (list, tuple)) else mask

    def get_config(self):
        return {
            **super().get_config(),
            "units": self.units,
            "pieces": self.pieces,
            "kernel_initializer": keras.initializers.serialize(
                self.kernel_initializer
            ),
            "bias_initializer": keras.initializers.serialize(
                self.bias_initializer
            ),
        }


def _listed(shape):
    """Return a list of shapes, of one shape or of several."""
    one = not shape or isinstance(shape[0], int) or shape[0] is None
    return [shape] if one else list(shape)
