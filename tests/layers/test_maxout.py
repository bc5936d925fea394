"""Maxout against its equation."""

import numpy as np
import pytest
from keras import ops

from keras_seq.layers import Maxout, TokenEmbedding
from tests.oracles import seq2seq as oracle

B, T, D, E, U = 2, 5, 7, 3, 11


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


@pytest.mark.parametrize("pieces", [1, 2, 3])
@pytest.mark.parametrize("several", [False, True])
def test_it_matches_the_paper(pieces, several):
    inputs = [draw(B, T, D), draw(B, T, E, seed=1)][: 1 + several]
    layer = Maxout(U, pieces, bias_initializer="random_normal")
    got = layer(inputs if several else inputs[0])
    *kernels, bias = (np.float64(w) for w in layer.get_weights())
    want = oracle.maxout(inputs, kernels, bias, pieces)
    np.testing.assert_allclose(ops.convert_to_numpy(got), want, atol=1e-5)


def test_it_starts_as_one_layer_of_all_inputs():
    layer = Maxout(50)
    layer.build([(B, T, 30), (B, T, 70)])
    want = (2 / (100 + 100)) ** 0.5
    for kernel in layer.kernels:
        deviation = ops.convert_to_numpy(kernel).std()
        assert abs(deviation / want - 1) < 0.05


def test_the_first_mask_goes_on():
    x = TokenEmbedding(9, D)(np.array([[3, 4, 0]]))
    out = Maxout(U)([x, draw(1, 3, E)])
    assert ops.convert_to_numpy(out._keras_mask).tolist() == [
        [True, True, False]
    ]


def test_bad_settings_are_named():
    with pytest.raises(ValueError, match="`pieces`.*Received: pieces=0"):
        Maxout(3, pieces=0)
