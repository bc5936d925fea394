"""Attention to a window: brute force, the masked matrix, and its gradients."""

import numpy as np
import pytest
from keras import ops

from keras_seq.ops import local_attention as local
from keras_seq.ops.attention import attend
from keras_seq.ops.masks import causal_mask, local_mask, merge_masks
from tests.gradients import gradients
from tests.oracles import attention as oracle

B, H, D, E = 2, 3, 5, 7
# Alone; within a block; whole blocks; over several; all; more than all.
WINDOWS = [1, 3, 5, 9, 13, 1000]


@pytest.fixture(params=[1, 4, 5])
def block_rows(request, monkeypatch):
    """Blocks of a few rows, so that 13 steps are several of them."""
    monkeypatch.setattr(local, "_block_rows", lambda window: request.param)
    return request.param


def numpy(x):
    return ops.convert_to_numpy(ops.cast(x, "float32"))


def draw(length, hide=True, seed=0):
    rng = np.random.default_rng(seed)
    query, key, value = (
        rng.normal(size=(B, H, length, width)).astype("float32")
        for width in (D, D, E)
    )
    if not hide:
        return query, key, value, None
    mask = rng.random((B, length)) < 0.7
    mask[0, : length // 2] = False  # windows with nothing in them
    hidden = ~mask[:, None, :, None]
    return query, np.where(hidden, 0, key), np.where(hidden, 0, value), mask


def run(query, key, value, window, mask, causal):
    return local.local_attention(
        *(ops.convert_to_tensor(x) for x in (query, key, value)),
        window,
        None if mask is None else ops.convert_to_tensor(mask),
        causal,
    )


def dense(query, key, value, window, mask, causal):
    length = query.shape[2]
    near = local_mask(window, length)[None]
    past = causal_mask(length)[None] if causal else None
    scores = ops.matmul(query, ops.transpose(key, (0, 1, 3, 2)))
    return attend(scores, value, merge_masks(mask, near, past))[0]


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("hide", [False, True])
def test_a_window_is_what_brute_force_sees(block_rows, window, causal, hide):
    *inputs, mask = draw(13, hide)
    np.testing.assert_allclose(
        numpy(run(*inputs, window, mask, causal)),
        oracle.local_attention(*inputs, window, mask, causal),
        rtol=1e-5,
        atol=1e-5,
    )


@pytest.mark.parametrize("length", [1, 7, 130, 193])
@pytest.mark.parametrize("window", [1, 5, 64, 200])
def test_blocks_of_their_own_choice_equal_the_masked_matrix(length, window):
    *inputs, mask = draw(length)
    np.testing.assert_allclose(
        numpy(run(*inputs, window, mask, True)),
        numpy(dense(*inputs, window, mask, True)),
        rtol=1e-5,
        atol=1e-5,
    )


@pytest.mark.parametrize("causal", [False, True])
def test_gradients_equal_those_of_the_masked_matrix(monkeypatch, causal):
    monkeypatch.setattr(local, "_block_rows", lambda window: 4)
    *inputs, mask = draw(13)
    ours = gradients(lambda *x: run(*x, 3, mask, causal) ** 2, *inputs)
    theirs = gradients(lambda *x: dense(*x, 3, mask, causal) ** 2, *inputs)
    for got, want in zip(ours, theirs, strict=True):
        assert np.isfinite(got).all()
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_a_window_of_one_returns_the_values():
    query, key, value, _ = draw(13, hide=False)
    got = numpy(run(query, key, value, 1, None, False))
    np.testing.assert_allclose(got, value, rtol=1e-6)


def test_steps_with_no_visible_neighbour_are_zero():
    *inputs, mask = draw(13)
    got = numpy(run(*inputs, 3, mask, False))
    assert not got[0, :, :4].any()


@pytest.mark.parametrize("length", [0, 1])
def test_no_steps_and_one_step(length):
    *inputs, _ = draw(length, hide=False)
    got = numpy(run(*inputs, 3, None, True))
    np.testing.assert_allclose(got, inputs[2], rtol=1e-6)


def test_a_window_longer_than_the_sequence_makes_no_blocks(monkeypatch):
    *inputs, mask = draw(7)
    want = numpy(dense(*inputs, 10**5, mask, True))
    monkeypatch.delattr(local, "_attend_by_blocks")
    got = numpy(run(*inputs, 10**5, mask, True))
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.tensorflow
def test_one_graph_takes_all_lengths_and_xla_agrees():
    import tensorflow as tf

    def attended(query, key, value, mask):
        return local.local_attention(query, key, value, 5, mask, True)

    wanted = {}
    shapes = [(None, H, None, width) for width in (D, D, E)]
    dynamic = tf.function(
        attended,
        input_signature=[tf.TensorSpec(shape) for shape in shapes]
        + [tf.TensorSpec((None, None), tf.bool)],
    )
    for length in (1, 13, 70, 0):
        inputs = draw(length)
        wanted[length] = oracle.local_attention(*inputs[:3], 5, inputs[3], True)
        np.testing.assert_allclose(
            dynamic(*inputs), wanted[length], rtol=1e-5, atol=1e-5
        )
    assert dynamic.experimental_get_tracing_count() == 1
    jitted = tf.function(attended, jit_compile=True)
    got = jitted(*(tf.convert_to_tensor(x) for x in draw(70)))
    np.testing.assert_allclose(got, wanted[70], rtol=1e-5, atol=1e-5)


@pytest.mark.tensorflow
@pytest.mark.parametrize("jit_compile", [False, True])
def test_compiled_gradients_equal_those_of_the_masked_matrix(jit_compile):
    import tensorflow as tf

    *inputs, mask = draw(131)
    inputs = [tf.convert_to_tensor(x) for x in inputs]

    @tf.function(jit_compile=jit_compile)
    def slopes(*inputs):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            loss = tf.reduce_sum(run(*inputs, 5, mask, False) ** 2)
        return tape.gradient(loss, inputs)

    wanted = gradients(lambda *x: dense(*x, 5, mask, False) ** 2, *inputs)
    for got, want in zip(slopes(*inputs), wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.tensorflow
def test_memory_is_linear_in_the_length():
    import tensorflow as tf

    def largest(length):
        run = tf.function(
            lambda *x: local.local_attention(*x, window=8, causal=True)
        )
        *inputs, _ = draw(length, hide=False)
        graph = run.get_concrete_function(
            *(tf.convert_to_tensor(x) for x in inputs)
        ).graph
        return max(
            np.prod(t.shape)
            for op in graph.get_operations()
            for t in op.outputs
            if t.shape.is_fully_defined()
        )

    assert largest(4096) <= 2.1 * largest(2048)
