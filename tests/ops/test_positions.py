"""Position encodings against the paper, at every width and precision."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_seq.ops.positions import (
    binary_encoding,
    linear_encoding,
    normalized_encoding,
    sequence_positions,
    sinusoidal_encoding,
)
from tests.oracles import positions as oracle


def numpy(x):
    return ops.convert_to_numpy(ops.cast(x, "float32"))


def test_the_two_layouts_are_the_published_ones():
    s, c, small, near_one = 0.841471, 0.540302, 0.0099998, 0.99995
    for layout, want in (
        ("interleaved", [s, c, small, near_one]),
        ("concatenated", [s, small, c, near_one]),
    ):
        got = numpy(sinusoidal_encoding([1], 4, layout=layout))[0]
        np.testing.assert_allclose(got, want, atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(
    positions=st.lists(st.integers(0, 5000), min_size=5, max_size=5),
    width=st.sampled_from([1, 2, 3, 8, 67]),
    max_wavelength=st.sampled_from([10_000, 500, 7.5]),
)
def test_matches_the_paper_at_any_width(positions, width, max_wavelength):
    got = numpy(sinusoidal_encoding(positions, width, max_wavelength))
    want = oracle.sinusoids(positions, width, max_wavelength)
    np.testing.assert_allclose(got, want, atol=2e-6)


@pytest.mark.parametrize("width", [1, 2, 3, 7, 8])
def test_concatenated_is_interleaved_with_sines_first(width):
    positions = np.arange(11)
    interleaved = numpy(sinusoidal_encoding(positions, width))
    got = numpy(sinusoidal_encoding(positions, width, layout="concatenated"))
    want = np.concatenate([interleaved[:, ::2], interleaved[:, 1::2]], axis=1)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("width", [1, 2, 5])
def test_first_row_is_exactly_zeros_and_ones(width):
    row = numpy(sinusoidal_encoding([0], width))[0]
    np.testing.assert_array_equal(row, [0, 1, 0, 1, 0][:width])


def test_far_positions_keep_their_precision():
    # A float32 product of position and frequency is off by 2e-4 and 0.06.
    for position, atol in ((2047, 1e-6), (10**6 - 1, 1e-4)):
        got = numpy(sinusoidal_encoding([position], 512))
        want = oracle.sinusoids([position], 512)
        np.testing.assert_allclose(got, want, atol=atol)


@pytest.mark.parametrize(
    "dtype, rounding", [("bfloat16", 2**-9), ("float16", 2**-12)]
)
def test_half_precision_costs_one_rounding_and_no_row(dtype, rounding):
    length, width = 2048, 512
    encoding = sinusoidal_encoding(np.arange(length), width)
    got = numpy(ops.cast(encoding, dtype))
    column = np.arange(width)
    angle = np.arange(length)[:, None] / 10_000 ** (column // 2 * 2 / width)
    want = np.where(column % 2, np.cos(angle), np.sin(angle))
    assert np.abs(got - want).max() <= rounding + 1e-6
    assert len(np.unique(got, axis=0)) == length


def test_positions_may_have_any_shape():
    positions = np.array([[3, 1, 4], [1, 5, 9]])
    got = numpy(sinusoidal_encoding(positions, 5))
    whole = numpy(sinusoidal_encoding(np.arange(10), 5))
    np.testing.assert_array_equal(got, whole[positions])


def test_moving_both_by_the_same_steps_keeps_their_product():
    encoding = numpy(sinusoidal_encoding(np.arange(90), 64))
    product = encoding @ encoding.T
    for distance in (0, 1, 17):
        diagonal = np.diagonal(product, distance)
        np.testing.assert_allclose(diagonal, diagonal[0], atol=1e-4)


@pytest.mark.parametrize("width", [0, -3, 2.5, None])
def test_width_must_be_a_positive_integer(width):
    for encode in (sinusoidal_encoding, binary_encoding):
        with pytest.raises(ValueError, match="`width`.*Received"):
            encode([1], width)


def test_bad_layout_and_wavelength_raise():
    with pytest.raises(ValueError, match="`layout`.*Received: 'halves'"):
        sinusoidal_encoding([1], 4, layout="halves")
    with pytest.raises(ValueError, match="`max_wavelength`.*Received: 0"):
        sinusoidal_encoding([1], 4, max_wavelength=0)


# --- the lesser encodings ---------------------------------------------------


def test_linear_encoding_is_the_position():
    got = numpy(linear_encoding(np.array([[0, 7], [2, 300]])))
    np.testing.assert_array_equal(got, [[[0], [7]], [[2], [300]]])


@pytest.mark.parametrize("length", [1, 2, 5])
def test_normalized_encoding_runs_from_zero_to_one(length):
    got = numpy(normalized_encoding(np.arange(length), length))
    want = np.linspace(0, 1, length)[:, None]
    np.testing.assert_allclose(got, want, atol=1e-7)


def test_binary_encoding_counts():
    got = numpy(binary_encoding(np.arange(16), 4))
    want = [[int(digit) for digit in f"{n:04b}"[::-1]] for n in range(16)]
    np.testing.assert_array_equal(got, want)


def test_binary_encoding_takes_more_columns_than_it_needs():
    got = numpy(binary_encoding([5, 2**20 + 1], 200))
    assert got.shape == (2, 200)
    np.testing.assert_array_equal(np.flatnonzero(got[0]), [0, 2])
    np.testing.assert_array_equal(np.flatnonzero(got[1]), [0, 20])


def test_binary_encoding_refuses_to_start_again():
    with pytest.raises(ValueError, match="`positions`.*0 and 7.*to 8"):
        binary_encoding([7, 8], 3)


# --- which positions the steps of an input have -----------------------------

B, T, D = 2, 3, 5


@pytest.mark.parametrize("start", [4, np.int64(4), np.array(4)])
def test_steps_are_counted_from_the_start_index(start):
    inputs = ops.zeros((B, T, D))
    for start_index in (start, ops.convert_to_tensor(start)):
        got = sequence_positions(inputs, start_index)
        np.testing.assert_array_equal(ops.convert_to_numpy(got), [4, 5, 6])


@pytest.mark.parametrize("start_index", [1.5, [1], [[1, 2]]])
def test_start_index_must_be_a_scalar_integer(start_index):
    with pytest.raises(ValueError, match="`start_index`.*Received"):
        sequence_positions(ops.zeros((B, T, D)), np.array(start_index))


def test_given_positions_replace_the_start_index():
    inputs = ops.zeros((B, T, D))
    for positions in ([5, 1, 9], [[0, 1, 2], [0, 0, 1]]):
        got = sequence_positions(inputs, start_index=7, positions=positions)
        np.testing.assert_array_equal(ops.convert_to_numpy(got), positions)


@pytest.mark.parametrize(
    "positions", [[0, 1], [0], [[0, 1, 2]] * 5, 3, [[[0, 1, 2]]]]
)
def test_positions_of_the_wrong_shape_raise(positions):
    with pytest.raises(ValueError, match=r"`positions`.*\(2, 3\).*Received"):
        sequence_positions(ops.zeros((B, T, D)), positions=np.array(positions))


def test_positions_must_be_integers():
    with pytest.raises(ValueError, match="`positions`.*Received: dtype=float"):
        sequence_positions(ops.zeros((B, 2, D)), positions=np.array([0.0, 1.0]))
