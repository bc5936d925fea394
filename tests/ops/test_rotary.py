"""Rotary positions against the paper's complex numbers, and their laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_seq.ops.rotary import rotate
from tests.oracles import positions as oracle

B, T, H, D = 2, 3, 5, 14


def sample(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def numpy(x):
    return ops.convert_to_numpy(ops.cast(x, "float32"))


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    start=st.integers(0, 5000),
    scaling_factor=st.sampled_from([1.0, 2.5]),
    half=st.sampled_from([1, 2, 7]),
)
def test_matches_the_paper(seed, start, scaling_factor, half):
    x = sample(B, T, 2 * half, seed=seed)
    positions = start + np.arange(T)
    got = numpy(rotate(x, positions, 500, scaling_factor))
    for b in range(B):
        for t in range(T):
            want = oracle.rotated(x[b, t], positions[t], 500, scaling_factor)
            np.testing.assert_allclose(got[b, t], want, atol=1e-5)


def test_products_depend_on_the_distance_alone():
    q, k = sample(1, 1, D, seed=1), sample(1, 1, D, seed=2)

    def product(m, n):
        return float((numpy(rotate(q, [m])) * numpy(rotate(k, [n]))).sum())

    near, far = product(5, 2), product(1005, 1002)
    assert abs(near - far) < 1e-5
    assert abs(near - product(2, 5)) > 1e-2


def test_lengths_are_kept_and_position_zero_turns_nothing():
    x = sample(B, T, D)
    turned = numpy(rotate(x, np.arange(T)))
    np.testing.assert_array_equal(turned[:, 0], x[:, 0])
    assert np.abs(turned[:, 1:] - x[:, 1:]).max() > 0.1
    np.testing.assert_allclose(
        np.linalg.norm(turned, axis=-1), np.linalg.norm(x, axis=-1), rtol=1e-6
    )


@pytest.mark.parametrize("positions", [np.arange(T), [[4, 5, 6], [0, 0, 7]]])
def test_heads_are_turned_alike_on_either_side_of_the_steps(positions):
    x = sample(B, T, H, D)
    got = numpy(rotate(x, positions))
    for h in range(H):
        want = numpy(rotate(x[:, :, h], positions))
        np.testing.assert_array_equal(got[:, :, h], want)
    heads_first = rotate(x.transpose(0, 2, 1, 3), positions, sequence_axis=2)
    np.testing.assert_array_equal(numpy(heads_first).transpose(0, 2, 1, 3), got)


def test_agrees_with_keras_hub():
    keras_hub = pytest.importorskip("keras_hub")
    x = sample(B, T, H, D)
    theirs = keras_hub.layers.RotaryEmbedding(500, scaling_factor=3.0)
    want = numpy(theirs(x, start_index=4))
    got = numpy(rotate(x, 4 + np.arange(T), 500, scaling_factor=3.0))
    np.testing.assert_allclose(got, want, atol=1e-5)


@pytest.mark.parametrize(
    "dtype, step", [("bfloat16", 2**-8), ("float16", 2**-11)]
)
def test_half_precision_costs_one_rounding(dtype, step):
    x = ops.cast(sample(1, 2048, 64), dtype)
    exact = numpy(x).astype("float64")
    half = exact.shape[-1] // 2
    angle = np.arange(2048)[:, None] / 10_000 ** (np.arange(half) / half)
    z = (exact[..., :half] + 1j * exact[..., half:]) * np.exp(1j * angle)
    want = np.concatenate([z.real, z.imag], axis=-1)
    np.testing.assert_allclose(
        numpy(rotate(x, np.arange(2048))), want, rtol=step, atol=1e-5
    )


def test_odd_width_and_bad_scaling_raise():
    with pytest.raises(ValueError, match=r"`x`.*even.*\(2, 3, 7\)"):
        rotate(ops.zeros((2, 3, 7)), np.arange(3))
    with pytest.raises(ValueError, match="`scaling_factor`.*Received: 0"):
        rotate(ops.zeros((2, 3, 8)), np.arange(3), scaling_factor=0)
