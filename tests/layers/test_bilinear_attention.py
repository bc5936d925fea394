"""BilinearAttention against the paper."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_seq.layers import BilinearAttention, DotProductAttention
from tests.gradients import weight_gradients
from tests.oracles import attention as oracle

B, T, S, D, K, E = 2, 3, 5, 7, 11, 13


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
    layer = BilinearAttention()
    got = run(layer, query, value, key, attention_mask=mask)
    w = ops.convert_to_numpy(layer.w)
    assert w.shape == (D, K)
    want = oracle.attention(
        lambda q, k: oracle.bilinear(q, k, w), query, value, key, mask
    )
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_the_identity_is_the_plain_product():
    query, value, key, _ = draw()
    key = key[..., :D]
    layer = BilinearAttention(kernel_initializer="identity")
    np.testing.assert_allclose(
        run(layer, query, value, key)[1],
        run(DotProductAttention(scaled=False), query, value, key)[1],
        rtol=1e-5,
    )


@pytest.mark.parametrize("scores", [False, True])
def test_the_kernel_learns_the_same_on_either_path(scores):
    query, value, key, mask = draw()
    layer = BilinearAttention()
    layer(query, value, key)

    def loss(query, value, key):
        outputs = layer(
            query,
            value,
            key,
            attention_mask=mask,
            return_attention_scores=scores,
        )
        return (outputs[0] if scores else outputs) ** 2

    (gradient,) = weight_gradients(layer, loss, query, value, key)
    step = 1e-2
    rng = np.random.default_rng(1)
    direction = rng.normal(size=(D, K)).astype("float32")
    (w,) = layer.get_weights()
    ends = []
    for sign in (1, -1):
        layer.set_weights([w + sign * step * direction])
        inputs = [ops.convert_to_tensor(x) for x in (query, value, key)]
        ends.append(float(ops.sum(loss(*inputs))))
    slope = (ends[0] - ends[1]) / (2 * step)
    np.testing.assert_allclose((gradient * direction).sum(), slope, rtol=2e-2)
