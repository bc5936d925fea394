"""Where a step stands in its sequence, written as a vector.

Attention by itself sees a set, not a sequence; these encodings tell it the
order. All are functions of the position alone, so that a step decoded from a
cache gets the very row it would get in the whole sequence. All are computed in
float32, whatever the precision of the model; cast the result, never the input.
"""

import numbers

import keras
import numpy as np
from keras import ops

from keras_seq.ops.lookup import blank_outside
from keras_seq.ops.shapes import check_shape

LAYOUTS = ("interleaved", "concatenated")


def sequence_positions(inputs, start_index=0, positions=None):
    """Return the integer positions of the steps of `inputs`.

    Args:
        inputs: `(B, T, ...)`; only its length is used.
        start_index: Position of the first step, an integer or a scalar
            integer tensor: the number of steps already in a cache.
        positions: `(T,)` or `(B, T)` integers, for steps that do not follow
            each other, as in left-padded batches; replaces `start_index`.

    Returns:
        `(T,)` or `(B, T)` integers; a NumPy array if they are known already.
    """
    length = inputs.shape[1]
    if positions is not None:
        return _given_positions(inputs, positions)
    if isinstance(start_index, numbers.Integral) and length is not None:
        return np.arange(start_index, start_index + length, dtype="int32")
    start_index = ops.convert_to_tensor(start_index)
    dtype = keras.backend.standardize_dtype(start_index.dtype)
    if "int" not in dtype or len(start_index.shape):
        raise ValueError(
            "`start_index` must be an integer or a scalar integer tensor. "
            f"Received: dtype={dtype}, shape={tuple(start_index.shape)}"
        )
    length = ops.shape(inputs)[1] if length is None else length
    return ops.arange(length, dtype="int32") + ops.cast(start_index, "int32")


def _given_positions(inputs, positions):
    positions = ops.convert_to_tensor(positions)
    batch, length = (
        letter if axis is None else axis
        for letter, axis in zip("BT", inputs.shape[:2], strict=True)
    )
    wanted = (length,), (batch, length), (1, length)
    check_shape("positions", positions.shape, *wanted)
    dtype = keras.backend.standardize_dtype(positions.dtype)
    if "int" not in dtype:
        raise ValueError(
            f"`positions` must be integers. Received: dtype={dtype}"
        )
    return positions


def sinusoidal_encoding(
    positions, width, max_wavelength=10_000, layout="interleaved"
):
    r"""Sines and cosines of geometrically growing wavelengths.

    Vaswani et al. (2017), section 3.5, with $d$ = `width`:

    $$ PE_{pos, 2i} = \sin(pos / 10000^{2i/d}), \quad
       PE_{pos, 2i+1} = \cos(pos / 10000^{2i/d}). $$

    An odd width ends in a sine whose cosine is left out.

    Args:
        positions: Integers of any shape.
        width: Number of columns, at least 1.
        max_wavelength: The constant 10000 of the equation.
        layout: `"interleaved"` is the paper's: sine, cosine, sine, ...
            `"concatenated"` has the same columns, all sines first, as several
            tutorials do.

    Shapes:
        positions `(...)` -> `(..., width)`, float32.

    >>> [f"{x:.5f}" for x in sinusoidal_encoding(1, 4)]
    ['0.84147', '0.54030', '0.01000', '0.99995']

    Reference: <https://arxiv.org/abs/1706.03762>
    """
    _check_width(width)
    if layout not in LAYOUTS:
        raise ValueError(
            f"`layout` must be one of {LAYOUTS}. Received: {layout!r}"
        )
    column = np.arange(width)
    if layout == "interleaved":
        i, is_cosine = column // 2, column % 2
    else:
        sines = (width + 1) // 2
        i, is_cosine = column % sines, column >= sines
    frequencies = wave_frequencies(i, width, max_wavelength)
    # A cosine is a sine a quarter of a turn ahead: one sine for all columns.
    return ops.sin(angles(positions, frequencies, turns_ahead=is_cosine / 4))


def wave_frequencies(i, width, max_wavelength=10_000):
    """Return `max_wavelength ** (-2 i / width)` radians a step, in float64."""
    if max_wavelength <= 0:
        raise ValueError(
            f"`max_wavelength` must be positive. Received: {max_wavelength}"
        )
    return float(max_wavelength) ** (-2 * np.asarray(i) / width)


# A frequency rounded to multiples of 1 / GRID turns a step comes round to
# where it was every GRID steps.
GRID = 2.0**12


def angles(positions, frequencies, turns_ahead=0.0):
    """Return `positions * frequencies` in radians, less all whole turns.

    A plain float32 product is off by up to 2e-4 at position 2000 and by 0.06
    at a million, and its sine with it. So each frequency is split in two. The
    coarse part is a multiple of 1 / GRID turns, and its products are exact.
    The fine part is so small that rounding its products does no harm: the
    angle is right to 1e-6 at position 2000 and to 6e-5 at a million.

    It is a product of numbers, not a `matmul` or `einsum`, because GPUs round
    the inputs of those to ten bits.

    Args:
        positions: Integers of any shape.
        frequencies: `(W,)` float64 NumPy array, radians a step.
        turns_ahead: `(W,)` or a number: a head start, in turns.

    Shapes:
        positions `(...)` -> `(..., W)`, float32.
    """
    frequencies = np.asarray(frequencies) / (2 * np.pi)  # turns a step
    coarse = np.round(frequencies * GRID) / GRID
    fine = frequencies - coarse
    coarse, fine, turns_ahead = (
        ops.convert_to_tensor(np.asarray(x, "float32"))
        for x in (coarse, fine, turns_ahead)
    )
    positions = _as_column(positions)
    turns = ops.mod(positions, GRID) * coarse
    turns = turns - ops.round(turns)
    turns = turns + positions * fine + turns_ahead
    turns = turns - ops.round(turns)
    return turns * (2 * np.pi)


def linear_encoding(positions):
    """The position itself: unique, but without bound.

    Shapes:
        positions `(...)` -> `(..., 1)`, float32.

    >>> linear_encoding([0, 1, 2]).numpy().tolist()
    [[0.0], [1.0], [2.0]]
    """
    return _as_column(positions)


def normalized_encoding(positions, length):
    """The position as a share of the way: 0 for the first step, 1 for the last.

    Bounded, but one step is a different number in each length of sequence.

    Shapes:
        positions `(...)`, length a number -> `(..., 1)`, float32.

    >>> normalized_encoding([0, 1, 2], length=3).numpy().tolist()
    [[0.0], [0.5], [1.0]]
    """
    steps = ops.maximum(ops.cast(length, "float32") - 1, 1.0)
    return _as_column(positions) / steps


def binary_encoding(positions, width):
    """The position in binary digits, the fastest (2^0) first.

    Bounded and unique up to `2 ** width` positions, which are all it has: more
    are a `ValueError` (see `ops.lookup.blank_outside` for traced functions).
    Sinusoids are its smooth relatives.

    Shapes:
        positions `(...)` -> `(..., width)`, float32.

    >>> binary_encoding([0, 1, 2, 3], width=2).numpy().tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    """
    _check_width(width)
    halvings = ops.convert_to_tensor(
        np.exp2(-np.arange(width), dtype="float32")
    )
    bits = ops.mod(ops.floor(_as_column(positions) * halvings), 2.0)
    if width > 30:  # more than an int32 position can reach
        return bits
    return blank_outside(bits, "positions", positions, 2**width)


def _as_column(positions):
    positions = ops.cast(ops.convert_to_tensor(positions), "float32")
    return ops.expand_dims(positions, -1)


def _check_width(width):
    if not isinstance(width, numbers.Integral) or width < 1:
        raise ValueError(
            f"`width` must be a positive integer. Received: {width}"
        )
