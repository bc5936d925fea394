"""LearnedPositions: rows of a table, added, and no row that is not there."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_seq.layers import LearnedPositions
from tests.gradients import gradients
from tests.mask_probe import mask_after

B, T, N, D = 2, 5, 11, 7


def sample(length=T):
    rng = np.random.default_rng(0)
    return rng.normal(size=(B, length, D)).astype("float32")


def make(**kwargs):
    layer = LearnedPositions(N, initializer="random_normal", **kwargs)
    layer.build((B, T, D))
    return layer


def numpy(x):
    return ops.convert_to_numpy(ops.cast(x, "float32"))


def test_adds_the_rows_of_its_table():
    layer = make()
    (table,) = layer.get_weights()
    assert table.shape == (N, D)
    got = numpy(layer(sample(), start_index=3))
    np.testing.assert_allclose(got, sample() + table[3 : 3 + T], atol=1e-6)


def test_step_by_step_equals_all_at_once():
    x, layer = sample(N), make()
    whole = numpy(layer(x))
    for t in range(N):
        for start_index in (t, ops.convert_to_tensor(t)):
            step = numpy(layer(x[:, t : t + 1], start_index=start_index))
            np.testing.assert_array_equal(step, whole[:, t : t + 1])


def test_each_row_of_a_batch_may_have_positions_of_its_own():
    layer = make()
    (table,) = layer.get_weights()
    positions = np.random.default_rng(1).integers(0, N, (B, T))
    got = numpy(layer(sample(), positions=positions))
    np.testing.assert_allclose(got, sample() + table[positions], atol=1e-6)


def test_takes_over_the_weights_of_keras_hub():
    keras_hub = pytest.importorskip("keras_hub")
    theirs = keras_hub.layers.PositionEmbedding(N)
    want = sample() + numpy(theirs(sample(), start_index=2))
    ours = make()
    ours.set_weights(theirs.get_weights())
    np.testing.assert_array_equal(numpy(ours(sample(), start_index=2)), want)


def test_gradients_reach_the_rows_in_use():
    layer, x = make(), ops.convert_to_tensor(sample())

    def run(table):
        return layer.stateless_call([table], [], x, start_index=2)[0]

    (gradient,) = gradients(run, layer.get_weights()[0])
    want = np.zeros((N, D))
    want[2 : 2 + T] = B
    np.testing.assert_allclose(gradient, want)


def test_half_precision_rounds_the_rows_once():
    full, half = make(), make(dtype="mixed_bfloat16")
    half.set_weights(full.get_weights())
    zeros = np.zeros((B, T, D), "float32")
    got = half(zeros)
    assert keras.backend.standardize_dtype(got.dtype) == "bfloat16"
    np.testing.assert_array_equal(
        numpy(got), numpy(ops.cast(full(zeros), "bfloat16"))
    )


def test_mask_of_an_embedding_passes_through():
    ids = np.array([[4, 9, 0, 0, 0], [3, 1, 2, 8, 0]])
    embedding = keras.layers.Embedding(10, D, mask_zero=True)
    mask = mask_after(embedding, LearnedPositions(N), token_ids=ids)
    assert mask == (ids != 0).astype(int).tolist()


# --- beyond the table -------------------------------------------------------


@pytest.mark.parametrize(
    "length, arguments",
    [
        (N + 1, {}),
        (T, {"start_index": N - T + 1}),
        (T, {"start_index": -1}),
        (T, {"start_index": np.array(N)}),
        (T, {"positions": [0, 1, 2, 3, N]}),
        (T, {"positions": [0, 1, 2, -1, 4]}),
    ],
)
def test_a_position_beyond_the_table_raises(length, arguments):
    with pytest.raises(ValueError, match="`positions`.*between 0 and 10.*Rec"):
        make()(sample(length), **arguments)


def test_a_model_with_inputs_too_long_is_refused_when_it_is_made():
    with pytest.raises(ValueError, match="length=12, sequence_length=11"):
        LearnedPositions(N)(keras.Input((N + 1, D)))


def test_a_model_of_dynamic_length_refuses_inputs_that_are_too_long():
    inputs = keras.Input((None, D))
    model = keras.Model(inputs, LearnedPositions(N)(inputs))
    assert tuple(model(sample(N)).shape) == (B, N, D)
    with pytest.raises(ValueError, match="`positions`.*between 0 and 10"):
        model(sample(N + 1))


@pytest.mark.tensorflow
def test_a_graph_of_dynamic_length_raises_when_it_runs():
    import tensorflow as tf

    inputs = keras.Input((None, D))
    model = keras.Model(inputs, LearnedPositions(N)(inputs))
    run = tf.function(model, input_signature=[tf.TensorSpec((None, None, D))])
    np.testing.assert_allclose(run(sample(N)), model(sample(N)), atol=1e-6)
    with pytest.raises(tf.errors.InvalidArgumentError, match="between 0 and"):
        run(sample(N + 1))


@pytest.mark.tensorflow
def test_an_exported_model_raises_too(tmp_path):
    import tensorflow as tf

    inputs = keras.Input((None, D))
    model = keras.Model(inputs, LearnedPositions(N)(inputs))
    model.export(tmp_path, verbose=False)
    served = tf.saved_model.load(tmp_path)
    np.testing.assert_allclose(
        served.serve(sample(N)), model(sample(N)), atol=1e-6
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="between 0 and"):
        served.serve(sample(N + 1))


def test_wrong_rank_and_width_raise():
    for shape in ((B, D), (B, T, 3, D), (B, T, D + 1), (B, T, 1)):
        with pytest.raises(ValueError, match=r"`inputs`.*\(B, T, 7\).*Rec"):
            make()(np.zeros(shape, "float32"))


def test_sequence_length_must_be_positive():
    with pytest.raises(ValueError, match="`sequence_length`.*Received: 0"):
        LearnedPositions(0)
