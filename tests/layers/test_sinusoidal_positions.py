"""SinusoidalPositions: the paper's rows, added, at any place and precision."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_seq.layers import SinusoidalPositions
from tests.mask_probe import mask_after
from tests.oracles import positions as oracle

B, T, D = 2, 11, 7


def sample():
    return np.random.default_rng(0).normal(size=(B, T, D)).astype("float32")


def numpy(x):
    return ops.convert_to_numpy(ops.cast(x, "float32"))


@pytest.mark.parametrize("width", [1, 2, 5, 8])
def test_adds_the_papers_encoding(width):
    x = np.random.default_rng(0).normal(size=(B, T, width)).astype("float32")
    got = numpy(SinusoidalPositions(max_wavelength=500)(x))
    want = x + oracle.sinusoids(range(T), width, 500)
    np.testing.assert_allclose(got, want, atol=1e-6)


@pytest.mark.parametrize("layout", ["interleaved", "concatenated"])
def test_step_by_step_equals_all_at_once(layout):
    x, layer = sample(), SinusoidalPositions(layout=layout)
    whole = numpy(layer(x))
    for t in range(T):
        for start_index in (t, ops.convert_to_tensor(t)):
            step = numpy(layer(x[:, t : t + 1], start_index=start_index))
            np.testing.assert_allclose(step, whole[:, t : t + 1], atol=1e-6)


def test_each_row_of_a_batch_may_have_positions_of_its_own():
    x, layer = sample(), SinusoidalPositions()
    positions = np.random.default_rng(1).integers(0, 50, (B, T))
    got = numpy(layer(x, positions=positions))
    for b in range(B):
        want = x[b] + oracle.sinusoids(positions[b], D)
        np.testing.assert_allclose(got[b], want, atol=1e-6)


@pytest.mark.parametrize(
    "policy, rounding", [("mixed_bfloat16", 2**-9), ("mixed_float16", 2**-12)]
)
def test_half_precision_costs_one_rounding(policy, rounding):
    length, width = 1025, 64
    layer = SinusoidalPositions(dtype=policy)
    got = layer(np.zeros((1, length, width), "float32"))
    assert keras.backend.standardize_dtype(got.dtype) == layer.compute_dtype
    want = oracle.sinusoids(range(length), width)
    assert np.abs(numpy(got)[0] - want).max() <= rounding + 1e-6
    assert len(np.unique(numpy(got)[0], axis=0)) == length


def test_mask_of_an_embedding_passes_through():
    ids = np.array([[4, 9, 0, 0, 0], [3, 1, 2, 8, 0]])
    embedding = keras.layers.Embedding(10, D, mask_zero=True)
    mask = mask_after(embedding, SinusoidalPositions(), token_ids=ids)
    assert mask == (ids != 0).astype(int).tolist()


def test_start_index_may_be_an_input_of_a_model():
    x = keras.Input((None, D))
    start = keras.Input(batch_shape=(), dtype="int32")
    layer = SinusoidalPositions()
    model = keras.Model([x, start], layer(x, start_index=start))
    got = model([sample(), np.array(6)])
    want = layer(sample(), start_index=6)
    np.testing.assert_array_equal(numpy(got), numpy(want))


@pytest.mark.tensorflow
def test_one_trace_serves_every_length_and_start():
    import tensorflow as tf

    layer, traces = SinusoidalPositions(), []

    @tf.function(
        input_signature=[
            tf.TensorSpec((None, None, D)),
            tf.TensorSpec((), tf.int64),
        ]
    )
    def run(x, start_index):
        traces.append(1)
        return layer(x, start_index=start_index)

    x = sample()
    whole = numpy(layer(x))
    for start, stop in ((0, T), (3, 4), (2, 9)):
        got = run(x[:, start:stop], start)
        np.testing.assert_allclose(got, whole[:, start:stop], atol=1e-6)
    assert len(traces) == 1


def test_wrong_rank_raises_eagerly_and_symbolically():
    for shape in ((B, D), (B, T, 3, D)):
        for inputs in (np.zeros(shape, "float32"), keras.Input(shape[1:])):
            with pytest.raises(ValueError, match=r"`inputs`.*\(B, T, D\).*Rec"):
                SinusoidalPositions()(inputs)


def test_bad_arguments_raise():
    with pytest.raises(ValueError, match="`layout`.*Received: 'halves'"):
        SinusoidalPositions(layout="halves")
    with pytest.raises(ValueError, match="`max_wavelength`.*Received: -1"):
        SinusoidalPositions(max_wavelength=-1)
