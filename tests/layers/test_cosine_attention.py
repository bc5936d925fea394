"""CosineAttention against the paper."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_seq.layers import CosineAttention
from tests.oracles import attention as oracle

B, T, S, D, E = 2, 3, 5, 7, 11


def draw(seed=0):
    rng = np.random.default_rng(seed)
    shapes = [(B, T, D), (B, S, E), (B, S, D)]
    query, value, key = (rng.normal(size=s).astype("float32") for s in shapes)
    return query, value, key, rng.random((B, T, S)) < 0.6


def run(layer, *inputs, **arguments):
    outputs = layer(*inputs, **arguments, return_attention_scores=True)
    return [ops.convert_to_numpy(x) for x in outputs]


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**31), strength=st.floats(0.1, 9))
def test_matches_the_paper(seed, strength):
    query, value, key, mask = draw(seed)
    got = run(CosineAttention(strength), query, value, key, attention_mask=mask)
    want = oracle.attention(
        lambda q, k: strength * oracle.cosine(q, k), query, value, key, mask
    )
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_lengths_do_not_matter():
    query, value, key, _ = draw()
    layer = CosineAttention(strength=5.0)
    _, weights = run(layer, query, value, key)
    _, scaled = run(layer, 1000 * query, value, 0.001 * key)
    np.testing.assert_allclose(weights, scaled, rtol=1e-4)


def test_weights_differ_by_at_most_e_to_twice_the_strength():
    query, _, key, _ = draw()
    key[:, 0], key[:, 1] = 1e3 * query[:, 0], -1e3 * query[:, 0]
    for strength in (1.0, 2.0):
        _, weights = run(CosineAttention(strength), query, key)
        ratio = weights[:, 0, 0] / weights[:, 0, 1]
        np.testing.assert_allclose(ratio, np.exp(2 * strength), rtol=1e-4)


def test_a_zero_vector_is_like_no_other():
    query, value, key, _ = draw()
    query[0, 0] = 0
    context, weights = run(CosineAttention(), query, value, key)
    np.testing.assert_allclose(weights[0, 0], np.full(S, 1 / S), rtol=1e-5)
    assert np.isfinite(context).all()


def test_query_and_key_must_have_the_same_width():
    query, value, _, _ = draw()
    with pytest.raises(ValueError, match="same width. Received: "):
        CosineAttention()(query, value)
