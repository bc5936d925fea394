"""Attention by blocks: the paper's numbers, dense gradients, no T x S."""

import numpy as np
import pytest
from keras import ops

from keras_seq.ops import blockwise_attention as blockwise
from keras_seq.ops.attention import attend
from keras_seq.ops.masks import causal_mask, merge_masks
from tests.gradients import gradients
from tests.oracles import attention as oracle

B, H, D, E = 2, 3, 5, 7
LENGTHS = [(11, 13), (13, 11), (11, 11), (1, 13)]
MASKS = {
    "none": None,
    "keys": (B, 1, 1, "S"),
    "pairs": (B, 1, "T", "S"),
    "heads": (B, H, "T", "S"),
}


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks so small that a test's few rows are many of them."""
    monkeypatch.setattr(blockwise, "LONG", 0)
    monkeypatch.setattr(blockwise, "BLOCK_ROWS", 3)
    monkeypatch.setattr(blockwise, "MOST_LONG_SEGMENTS", 2)


def numpy(x):
    return ops.convert_to_numpy(ops.cast(x, "float32"))


def draw(t, s, mask="none", seed=0, blind=True):
    """Query, key, value and a mask that leaves some rows with nothing."""
    rng = np.random.default_rng(seed)
    query, key, value = (
        rng.normal(size=(B, H, *shape)).astype("float32")
        for shape in [(t, D), (s, D), (s, E)]
    )
    shape = MASKS[mask]
    if shape is None:
        return query, key, value, None
    shape = tuple({"T": t, "S": s}.get(n, n) for n in shape)
    mask = rng.random(shape) < 0.6
    mask[0, 0, 0] = not blind
    return query, key, value, mask


def dense(query, key, value, mask, causal):
    """The same by the whole matrix, differentiated by the backend."""
    if causal:
        past = causal_mask(query.shape[2], key.shape[2])
        mask = merge_masks(mask, past[None])
    scores = ops.matmul(query, ops.transpose(key, (0, 1, 3, 2)))
    return attend(scores, value, mask)[0]


def by_the_paper(query, key, value, mask, causal):
    seen = oracle.sight(
        B,
        query.shape[2],
        key.shape[2],
        H,
        attention_mask=mask,
        causal=causal,
    )
    heads = [
        oracle.attention(
            oracle.dot, query[:, h], value[:, h], key[:, h], seen[:, h]
        )[0]
        for h in range(H)
    ]
    return np.stack(heads, axis=1)


def check(inputs, mask, causal, atol=1e-5):
    """Numbers against the paper, gradients against the dense matrix."""
    factor = np.random.default_rng(1).normal(size=(B, H, 1, E))
    factor = ops.convert_to_tensor(factor.astype("float32"))
    mask = None if mask is None else ops.convert_to_tensor(mask)
    got = numpy(
        blockwise.blockwise_attention(
            *(ops.convert_to_tensor(x) for x in inputs), mask, causal
        )
    )
    want = by_the_paper(*inputs, None if mask is None else numpy(mask), causal)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=atol)
    ours = gradients(
        lambda *x: factor * blockwise.blockwise_attention(*x, mask, causal),
        *inputs,
    )
    theirs = gradients(lambda *x: factor * dense(*x, mask, causal), *inputs)
    for got, want in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=atol)


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("causal", [False, True])
def test_blocks_give_the_numbers_of_the_whole(
    small_blocks, lengths, mask, causal
):
    *inputs, mask = draw(*lengths, mask)
    check(inputs, mask, causal)


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("causal", [False, True])
def test_short_sequences_keep_their_weights_and_give_the_same(
    monkeypatch, lengths, causal
):
    monkeypatch.setattr(blockwise, "BLOCK_ROWS", 4)  # several segments
    *inputs, mask = draw(*lengths, "heads")
    check(inputs, mask, causal)


@pytest.mark.parametrize("t, s", [(0, 5), (5, 0)])
@pytest.mark.parametrize("causal", [False, True])
def test_nothing_to_ask_or_to_see_is_no_row_or_zeros(t, s, causal):
    *inputs, _ = draw(t, s)
    got = blockwise.blockwise_attention(
        *(ops.convert_to_tensor(x) for x in inputs), causal=causal
    )
    np.testing.assert_array_equal(numpy(got), np.zeros((B, H, t, E)))


def test_blind_rows_are_zero_and_hand_no_gradient_on(small_blocks):
    query, key, value, mask = draw(11, 13, "heads")
    mask[1] = False

    def attended(*x):
        return blockwise.blockwise_attention(*x, ops.convert_to_tensor(mask))

    output = attended(*(ops.convert_to_tensor(x) for x in (query, key, value)))
    assert not numpy(output)[1].any()
    assert not numpy(output)[0, 0, 0].any()
    for gradient in gradients(attended, query, key, value):
        assert np.isfinite(gradient).all()
        assert not gradient[1].any()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("long", [False, True])
def test_half_precision_stays_close(monkeypatch, dtype, long):
    if long:
        monkeypatch.setattr(blockwise, "LONG", 0)
        monkeypatch.setattr(blockwise, "BLOCK_ROWS", 3)
    *inputs, mask = draw(11, 13, "keys")
    inputs[0] = inputs[0] / np.sqrt(np.float32(D))
    want = by_the_paper(*inputs, mask, True)
    got = blockwise.blockwise_attention(
        *(ops.cast(x, dtype) for x in inputs), ops.convert_to_tensor(mask), True
    )
    bound = 5e-3 if dtype == "float16" else 4e-2
    np.testing.assert_allclose(numpy(got), want, atol=bound)


# --- in a TensorFlow graph --------------------------------------------------


def value_and_gradients(tf, causal):
    def run(query, key, value, mask=None):
        with tf.GradientTape() as tape:
            tape.watch([query, key, value])
            output = blockwise.blockwise_attention(
                query, key, value, mask, causal
            )
            loss = tf.reduce_sum(output**2)
        return output, *tape.gradient(loss, [query, key, value])

    return run


def check_graph(got, query, key, value, mask, causal):
    want = by_the_paper(query, key, value, mask, causal)
    np.testing.assert_allclose(got[0], want, rtol=1e-5, atol=1e-5)
    want = gradients(lambda *x: dense(*x, mask, causal) ** 2, query, key, value)
    for ours, theirs in zip(got[1:], want, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)


@pytest.mark.tensorflow
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("t_is_known", [False, True])
def test_one_graph_takes_all_lengths(
    small_blocks, monkeypatch, causal, t_is_known
):
    import tensorflow as tf

    monkeypatch.setattr(blockwise, "LONG", 60)  # some are long, some are not
    t = 5 if t_is_known else None
    run = tf.function(
        value_and_gradients(tf, causal),
        input_signature=[
            tf.TensorSpec((None, H, t, D)),
            tf.TensorSpec((None, H, None, D)),
            tf.TensorSpec((None, H, None, E)),
            tf.TensorSpec((None, 1, None, None), tf.bool),
        ],
    )
    lengths = [(5, 3), (5, 17), (5, 1), (5, 12), (5, 13)]
    lengths += [] if t_is_known else [(13, 5), (1, 7), (11, 11)]
    for t, s in lengths:
        inputs = draw(t, s, "pairs")
        check_graph(run(*inputs), *inputs, causal)
    assert run.experimental_get_tracing_count() == 1


@pytest.mark.tensorflow
def test_xla_gives_the_same(small_blocks):
    import tensorflow as tf

    inputs = draw(7, 11, "pairs")
    run = tf.function(value_and_gradients(tf, causal=True), jit_compile=True)
    got = run(*(tf.convert_to_tensor(x) for x in inputs))
    check_graph(got, *inputs, causal=True)


def all_tensors(graph):
    """Every tensor that a graph makes, in the functions it calls as well."""
    for op in graph.get_operations():
        yield from op.outputs
        for name in op.node_def.attr:
            value = op.get_attr(name)
            if hasattr(value, "name") and hasattr(value, "attr"):
                yield from all_tensors(graph._get_function(value.name).graph)


def largest_tensor(tf, length, mask, causal):
    """Elements of the largest tensor of forward and backward pass."""
    *inputs, mask = draw(length, length, mask)
    inputs = [tf.convert_to_tensor(x) for x in inputs]
    run = tf.function(lambda *x: value_and_gradients(tf, causal)(*x, mask))
    tensors = list(all_tensors(run.get_concrete_function(*inputs).graph))
    sizes = [np.prod(t.shape) for t in tensors if t.shape.is_fully_defined()]
    assert len(sizes) > 50
    return max(sizes)


@pytest.mark.tensorflow
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("mask", ["none", "keys"])
def test_the_matrix_of_all_pairs_is_never_made(
    small_blocks, monkeypatch, causal, mask
):
    import tensorflow as tf

    length = 96  # far more than the widths, so that T * S stands out
    monkeypatch.setattr(blockwise, "BLOCK_ROWS", 12)
    matrix = B * H * length * length
    assert largest_tensor(tf, length, mask, causal) <= matrix / 8
    monkeypatch.setattr(blockwise, "LONG", length * length)
    monkeypatch.setattr(blockwise, "MOST_SEGMENTS", 2)
    assert largest_tensor(tf, length, mask, causal) >= matrix / 2
