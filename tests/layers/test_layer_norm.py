"""Layer normalization: Keras's numbers, and Keras's gradients."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_seq.layers.layer_norm import LayerNorm
from tests.gradients import gradients, weight_gradients
from tests.oracles.transformer import norm

B, T, D = 3, 5, 7


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def pair(**settings):
    """Ours and Keras's, with the same weights."""
    ours = LayerNorm(epsilon=1e-3, **settings)
    theirs = keras.layers.LayerNormalization(epsilon=1e-3, **settings)
    for layer in (ours, theirs):
        layer.build((B, T, D))
        layer.set_weights(
            [draw(*w.shape, seed=n) for n, w in enumerate(layer.weights)]
        )
    return ours, theirs


@pytest.mark.parametrize("shape", [(B, D), (B, T, D), (0, T, D)])
def test_it_matches_the_paper(shape):
    layer, _ = pair()
    x = draw(*shape, seed=9) * 3 + 2
    want = norm(np.float64(x), layer.get_weights(), 1e-3)
    got = ops.convert_to_numpy(layer(x))
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"scale": False},
        {"rms_scaling": True},
        # Keras itself cannot do this on PyTorch.
        pytest.param({"axis": 1}, marks=pytest.mark.tensorflow),
    ],
)
def test_gradients_are_keras_s(settings):
    x = draw(B, T, D, seed=9)
    way = ops.convert_to_tensor(draw(B, T, D, seed=8))
    got, want = (
        [
            *gradients(lambda x, f=layer: f(x) * way, x),
            *weight_gradients(layer, lambda x, f=layer: f(x) * way, x),
        ]
        for layer in pair(**settings)
    )
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_half_precision_is_normalized_in_full():
    half, _ = pair(dtype="mixed_float16")
    full, _ = pair()
    x = 300 + np.round(4 * draw(B, T, D)) / 4  # the square is no float16
    got = half(x)
    assert keras.backend.standardize_dtype(got.dtype) == "float16"
    want = ops.convert_to_numpy(full(x))
    np.testing.assert_allclose(
        ops.convert_to_numpy(got).astype("float32"), want, atol=2e-2
    )
