"""DotProductAttention against the paper."""

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_seq.layers import DotProductAttention
from tests.oracles import attention as oracle

# Every axis a different prime: a transposed or confused axis cannot hide.
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
@given(seed=st.integers(0, 2**31), scaled=st.booleans())
def test_matches_the_paper(seed, scaled):
    query, value, key, mask = draw(seed)
    score = oracle.scaled_dot if scaled else oracle.dot
    got = run(
        DotProductAttention(scaled), query, value, key, attention_mask=mask
    )
    want = oracle.attention(score, query, value, key, mask)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_the_key_is_the_value_unless_one_is_given():
    query, _, key, mask = draw()
    other = key[:, ::-1]
    layer = DotProductAttention()
    np.testing.assert_array_equal(
        run(layer, query, key, attention_mask=mask)[0],
        run(layer, query, key, key, attention_mask=mask)[0],
    )
    got = run(layer, query, key, other, attention_mask=mask)
    want = oracle.attention(oracle.scaled_dot, query, key, other, mask)
    np.testing.assert_allclose(got[0], want[0], rtol=1e-4, atol=1e-5)


def test_the_numbers_of_the_course():
    # "Thinking Machines": scores 112 and 96, by sqrt(64) 14 and 12.
    query = np.zeros((1, 1, 64), "float32")
    key = np.zeros((1, 2, 64), "float32")
    query[0, 0, 0], key[0, :, 0] = 1, (112, 96)
    _, weights = run(DotProductAttention(), query, key)
    np.testing.assert_allclose(weights[0, 0], [0.88, 0.12], atol=1e-3)


def test_equals_keras_attention_where_that_is_right():
    query, value, key, mask = draw()
    mask[..., 0] = True  # no blind row: Keras averages the padding there
    theirs = keras.layers.Attention(use_scale=False)(
        [query, value, key], mask=[None, mask[:, 0]]
    )
    ours = DotProductAttention(scaled=False)(
        query, value, key, value_mask=mask[:, 0]
    )
    np.testing.assert_allclose(
        ops.convert_to_numpy(ours), ops.convert_to_numpy(theirs), atol=1e-5
    )


def test_permuting_keys_permutes_weights():
    query, value, key, _ = draw()
    order = np.random.default_rng(1).permutation(S)
    layer = DotProductAttention()
    context, weights = run(layer, query, value, key)
    same, moved = run(layer, query, value[:, order], key[:, order])
    np.testing.assert_allclose(context, same, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(weights[..., order], moved, rtol=1e-5, atol=1e-6)


def ones(*shape):
    return np.ones(shape, "float32")


@pytest.mark.parametrize(
    "shapes, message",
    [
        ([(B, D), (B, S, D)], "`query` must have shape"),
        ([(B, T, D), (B, S, 2, D)], "`value` must have shape"),
        ([(B, T, D), (B, S, E)], "`query` and `key` must have the same width"),
        (
            [(B, T, D), (B, S, E), (B, T, D)],
            "`value` and `key` must have the same number of steps",
        ),
    ],
)
def test_inputs_that_do_not_fit_are_refused(shapes, message):
    with pytest.raises(ValueError, match=f"{message}.*Received: "):
        DotProductAttention()(*(ones(*shape) for shape in shapes))


@pytest.mark.parametrize("dropout", [-0.1, 1, 1.5])
def test_dropout_must_be_a_share(dropout):
    with pytest.raises(ValueError, match=f"`dropout`.*Received.*{dropout}"):
        DotProductAttention(dropout=dropout)
