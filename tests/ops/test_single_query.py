"""One query's attention: two roads to the same numbers."""

import numpy as np
import pytest
from keras import ops

from keras_seq.ops import single_query
from keras_seq.ops.masks import HIDDEN
from tests.oracles.transformer import softmax_rows

B, H, S, D, E = 2, 3, 7, 5, 11


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def expected(query, key, value, visible):
    scores = np.float64(query) @ np.swapaxes(np.float64(key), 2, 3)
    weights = softmax_rows(scores, np.broadcast_to(visible, scores.shape))
    return weights @ value, weights


@pytest.mark.parametrize("few", [0, 10_000])
@pytest.mark.parametrize("hides", [False, True])
def test_both_roads_match_the_equation(monkeypatch, few, hides):
    monkeypatch.setattr(single_query, "FEW", few)
    inputs = draw(B, H, 1, D), draw(B, H, S, D, seed=1), draw(B, H, S, E)
    visible = np.ones((B, 1, 1, S), bool)
    visible[1, ..., 3:] = not hides
    bias = ops.where(visible, 0.0, HIDDEN) if hides else None
    got = single_query.attend_from_one(
        *(ops.convert_to_tensor(x) for x in inputs), bias
    )
    for a, want in zip(got, expected(*inputs, visible), strict=True):
        np.testing.assert_allclose(
            ops.convert_to_numpy(a), want, rtol=1e-5, atol=1e-5
        )


def test_no_keys_give_zeros():
    context, weights = single_query.attend_from_one(
        ops.ones((B, H, 1, D)), ops.ones((B, H, 0, D)), ops.ones((B, H, 0, E))
    )
    assert tuple(weights.shape) == (B, H, 1, 0)
    assert not ops.convert_to_numpy(context).any()


@pytest.mark.tensorflow
def test_one_graph_takes_both_roads(monkeypatch):
    import tensorflow as tf

    monkeypatch.setattr(single_query, "FEW", H * 4 * D)
    graph = tf.function(
        single_query.attend_from_one,
        input_signature=[
            tf.TensorSpec((None, H, None, D)),
            tf.TensorSpec((None, H, None, D)),
            tf.TensorSpec((None, H, None, E)),
        ],
    )
    for batch, keys in ((1, 4), (1, 5), (2, 4), (1, 0), (0, 3)):
        inputs = (
            draw(batch, H, 1, D),
            draw(batch, H, keys, D, seed=1),
            draw(batch, H, keys, E),
        )
        got = graph(*inputs)
        want = expected(*inputs, True)
        for a, w in zip(got, want, strict=True):
            np.testing.assert_allclose(a, w, rtol=1e-5, atol=1e-5)
