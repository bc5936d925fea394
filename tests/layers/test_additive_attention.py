"""AdditiveAttention against the paper."""

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_seq.layers import AdditiveAttention
from tests.oracles import attention as oracle

B, T, S, D, K, E, U = 2, 3, 5, 7, 11, 13, 17


def draw(seed=0):
    rng = np.random.default_rng(seed)
    shapes = [(B, T, D), (B, S, E), (B, S, K)]
    query, value, key = (rng.normal(size=s).astype("float32") for s in shapes)
    return query, value, key, rng.random((B, T, S)) < 0.6


def run(layer, *inputs, **arguments):
    outputs = layer(*inputs, **arguments, return_attention_scores=True)
    return [ops.convert_to_numpy(x) for x in outputs]


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**31))
def test_matches_the_paper(seed):
    query, value, key, mask = draw(seed)
    layer = AdditiveAttention(U, kernel_initializer="random_normal")
    got = run(layer, query, value, key, attention_mask=mask)
    w, u, v = layer.get_weights()
    assert (w.shape, u.shape, v.shape) == ((D, U), (K, U), (U, 1))
    want = oracle.attention(
        lambda q, k: oracle.additive(q, k, w, u, v[:, 0]),
        query,
        value,
        key,
        mask,
    )
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_a_seeded_initializer_does_not_repeat_itself():
    initializer = keras.initializers.RandomNormal(seed=3)
    first, second = (AdditiveAttention(U, initializer) for _ in range(2))
    for layer in (first, second):
        layer.build((B, T, D), (B, S, D))
    w, u, _ = first.get_weights()
    assert (w != u).any()
    for a, b in zip(first.get_weights(), second.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("units", [0, -1])
def test_units_must_be_positive(units):
    with pytest.raises(ValueError, match=f"`units`.*Received: units={units}"):
        AdditiveAttention(units)
