"""LocalAttention: multi-head attention to a window, at the cost of a window."""

import numpy as np
import pytest
from keras import ops

from keras_seq.layers import LocalAttention, MultiHeadAttention
from tests.gradients import weight_gradients
from tests.layers.test_multi_head_attention import by_the_paper

B, S, D = 2, 13, 7


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def numpy(x):
    return ops.convert_to_numpy(x)


def make(window, **options):
    options = {"bias_initializer": "random_normal", **options}
    layer = LocalAttention(3, 4, window=window, **options)
    layer.build((B, S, D), (B, S, D))
    return layer


@pytest.mark.parametrize("window", [1, 3, S, 100])
@pytest.mark.parametrize("causal", [False, True])
def test_matches_the_paper(window, causal):
    layer, x = make(window), draw(B, S, D)
    mask = np.random.default_rng(1).random((B, S)) < 0.7
    for key_mask in (None, mask):
        want, weights = by_the_paper(
            layer, x, x, key_mask=key_mask, causal=causal
        )
        arguments = {"value_mask": key_mask, "use_causal_mask": causal}
        got = layer(x, x, **arguments)
        np.testing.assert_allclose(numpy(got), want, rtol=1e-4, atol=1e-5)
        got, scores = layer(x, x, **arguments, return_attention_scores=True)
        np.testing.assert_allclose(numpy(got), want, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(numpy(scores), weights, atol=1e-5)


def test_is_multi_head_attention_with_a_sliding_window():
    x = draw(B, S, D)
    local = make(4, rotary=True, use_gate=True)
    other = MultiHeadAttention(
        3,
        4,
        sliding_window=4,
        rotary=True,
        use_gate=True,
        flash_attention=False,
    )
    other.build(x.shape, x.shape)
    other.set_weights(local.get_weights())

    def loss(layer):
        return lambda x: layer(x, x, use_causal_mask=True) ** 2

    np.testing.assert_allclose(
        numpy(local(x, x, use_causal_mask=True)),
        numpy(other(x, x, use_causal_mask=True)),
        rtol=1e-4,
        atol=1e-5,
    )
    for a, b in zip(
        weight_gradients(local, loss(local), x),
        weight_gradients(other, loss(other), x),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)


def test_a_window_of_everything_is_full_attention():
    x = draw(B, S, D)
    local = make(S)
    full = MultiHeadAttention(3, 4)
    full.build(x.shape, x.shape)
    full.set_weights(local.get_weights())
    np.testing.assert_allclose(
        numpy(local(x, x)), numpy(full(x, x)), rtol=1e-4, atol=1e-5
    )


def test_an_attention_mask_narrows_the_window():
    layer, x = make(3), draw(B, S, D)
    pairs = np.random.default_rng(1).random((B, S, S)) < 0.7
    want, _ = by_the_paper(layer, x, x, attention_mask=pairs)
    got = layer(x, x, attention_mask=pairs)
    np.testing.assert_allclose(numpy(got), want, rtol=1e-4, atol=1e-5)


def test_steps_equal_the_whole():
    layer, x = make(3, rotary=True), draw(B, S, D)
    whole = numpy(layer(x, x, use_causal_mask=True))
    cache = layer.empty_cache(B)
    for t in range(S):
        output, cache, _ = layer.step(x[:, t : t + 1], cache)
        np.testing.assert_allclose(
            numpy(output)[:, 0], whole[:, t], rtol=1e-4, atol=1e-5
        )


@pytest.mark.parametrize("window", [0, -3, 2.5, None, True])
def test_the_window_must_be_a_positive_integer(window):
    with pytest.raises(
        ValueError, match=f"`window`.*Received: window={window}"
    ):
        LocalAttention(3, 4, window=window)


def test_query_and_value_must_have_the_same_steps():
    with pytest.raises(ValueError, match="same steps. Received: "):
        LocalAttention(3, 4, window=2)(draw(B, S, D), draw(B, 5, D))


@pytest.mark.tensorflow
def test_the_matrix_of_all_pairs_is_never_made():
    import tensorflow as tf

    from tests.ops.test_blockwise_attention import all_tensors

    length = 1024
    layer = make(16)

    @tf.function
    def run(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(x, x, use_causal_mask=True) ** 2)
        return tape.gradient(loss, [w.value for w in layer.trainable_weights])

    graph = run.get_concrete_function(tf.zeros((B, length, D))).graph
    largest = max(
        np.prod(t.shape)
        for t in all_tensors(graph)
        if t.shape.is_fully_defined()
    )
    assert largest < B * 3 * length * length / 4
