"""FeedForward against the paper, and against two Dense layers of Keras."""

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_seq.layers import FeedForward
from tests.mask_probe import mask_after
from tests.oracles import feed_forward as oracle

B, T, D, WIDE = 2, 3, 7, 13


def sample(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def make(**kwargs):
    layer = FeedForward(WIDE, bias_initializer="random_normal", **kwargs)
    layer.build((B, T, D))
    return layer


def numpy(x):
    return ops.convert_to_numpy(x)


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    before=st.sampled_from([(5,), (B, T), (B, 1, T)]),
)
def test_matches_the_paper_at_any_rank(seed, before):
    layer, x = make(), sample(*before, D, seed=seed)
    want = oracle.feed_forward(x, *layer.get_weights())
    np.testing.assert_allclose(numpy(layer(x)), want, atol=1e-5)


def test_takes_over_the_weights_of_two_dense_layers():
    first = keras.layers.Dense(WIDE, "gelu", bias_initializer="random_normal")
    second = keras.layers.Dense(D, bias_initializer="random_normal")
    x = sample(B, T, D)
    want = numpy(second(first(x)))
    layer = make(activation="gelu")
    shapes = [tuple(w.shape) for w in layer.weights]
    assert shapes == [(D, WIDE), (WIDE,), (WIDE, D), (D,)]
    layer.set_weights(first.get_weights() + second.get_weights())
    np.testing.assert_allclose(numpy(layer(x)), want, atol=1e-5)


def test_a_position_hears_nothing_of_the_others():
    layer, x = make(), sample(B, T, D)
    loud = x.copy()
    loud[:, 1] = 1e6
    before, after = numpy(layer(x)), numpy(layer(loud))
    np.testing.assert_array_equal(before[:, [0, 2]], after[:, [0, 2]])


def test_dropout_falls_on_the_output_and_in_training_only():
    layer, x = make(dropout=0.5), sample(5, 97, D)
    whole = numpy(layer(x, training=False))
    dropped = numpy(layer(x, training=True))
    kept = dropped != 0
    assert 0.4 < kept.mean() < 0.6
    np.testing.assert_allclose(dropped[kept], 2 * whole[kept], rtol=1e-5)


def test_the_two_kernels_do_not_start_alike():
    layer = FeedForward(D)
    layer.build((B, T, D))
    w1, _, w2, _ = layer.get_weights()
    assert np.abs(w1 - w2).max() > 0.1


def test_mask_of_an_embedding_passes_through():
    ids = np.array([[4, 9, 0, 0, 0], [3, 1, 2, 8, 0]])
    embedding = keras.layers.Embedding(10, D, mask_zero=True)
    mask = mask_after(embedding, make(dropout=0.1), token_ids=ids)
    assert mask == (ids != 0).astype(int).tolist()


def test_bad_arguments_and_widths_raise():
    with pytest.raises(ValueError, match="`intermediate_dim`.*Received: 0"):
        FeedForward(0)
    with pytest.raises(ValueError, match="`dropout`.*Received: 1.5"):
        FeedForward(WIDE, dropout=1.5)
    with pytest.raises(ValueError, match="`inputs` must be known.*Received"):
        FeedForward(WIDE)(keras.Input((T, None)))
    for inputs in (sample(B, T, D + 1), keras.Input((T, D + 1))):
        with pytest.raises(ValueError, match="`inputs`.*width 7.*Received"):
            make()(inputs)
