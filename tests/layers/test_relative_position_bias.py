"""RelativePositionBias: T5's table, looked up by distance."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_seq.layers import RelativePositionBias
from tests.gradients import gradients
from tests.mask_probe import MaskProbe
from tests.oracles import positions as oracle

B, T, S, D, H = 2, 3, 11, 5, 7
BUCKETS, FARTHEST = 6, 9


def make(bidirectional=True, **kwargs):
    layer = RelativePositionBias(
        H, BUCKETS, FARTHEST, bidirectional, "random_normal", **kwargs
    )
    layer.build((B, T, D), (B, S, D))
    return layer


def sequence(length, batch=B):
    return np.zeros((batch, length, D), "float32")


def numpy(x):
    return ops.convert_to_numpy(ops.cast(x, "float32"))


@pytest.mark.parametrize("bidirectional", [True, False])
def test_bias_is_the_number_of_the_bucket(bidirectional):
    layer = make(bidirectional)
    (table,) = layer.get_weights()
    got = numpy(layer(sequence(T), sequence(S)))
    assert got.shape == (1, H, T, S)
    for h, t, s in np.ndindex(H, T, S):
        distance = (S - T + t) - s  # the last query stands at the last key
        bucket = oracle.t5_bucket(distance, BUCKETS, FARTHEST, bidirectional)
        assert got[0, h, t, s] == table[bucket, h]


@pytest.mark.parametrize("bidirectional", [True, False])
def test_step_by_step_equals_all_at_once(bidirectional):
    layer = make(bidirectional)
    whole = numpy(layer(sequence(S)))
    for t in (0, 1, S - 1):
        exact_cache = numpy(layer(sequence(1), sequence(t + 1)))
        np.testing.assert_array_equal(exact_cache, whole[:, :, [t], : t + 1])
        for start_index in (t, ops.convert_to_tensor(t)):
            roomy_cache = layer(
                sequence(1), sequence(S), start_index=start_index
            )
            np.testing.assert_array_equal(numpy(roomy_cache), whole[:, :, [t]])


def test_gradients_reach_the_buckets_in_use():
    layer = make()

    def run(table):
        return layer.stateless_call([table], [], sequence(2))[0]

    (gradient,) = gradients(run, layer.get_weights()[0])
    # Distances 0 (twice), 1 and -1; the future begins at bucket 3.
    np.testing.assert_array_equal(gradient[:, 0], [2, 1, 0, 0, 1, 0])


@pytest.mark.parametrize("lengths", [(1, 1), (0, 4), (4, 0), (5, 3)])
def test_one_model_takes_every_length(lengths):
    layer = make()
    query, key = keras.Input((None, D)), keras.Input((None, D))
    model = keras.Model([query, key], layer(query, key))
    assert model.output.shape == (1, H, None, None)
    inputs = [sequence(length) for length in lengths]
    got = numpy(model(inputs))
    assert got.shape == (1, H, *lengths) and np.isfinite(got).all()
    np.testing.assert_array_equal(got, numpy(layer(*inputs)))


def test_masked_inputs_are_taken_without_a_warning_and_the_mask_ends():
    inputs = keras.Input((None,), dtype="int32")
    x = keras.layers.Embedding(10, D, mask_zero=True)(inputs)
    model = keras.Model(inputs, MaskProbe()(make()(x)))
    got = model(np.array([[3, 0], [2, 5]]))
    assert numpy(got).tolist() == [[-1] * H]


@pytest.mark.parametrize(
    "arguments, name",
    [
        ({"num_heads": 0}, "num_heads"),
        ({"num_heads": 2, "num_buckets": 3}, "num_buckets"),
        ({"num_heads": 2, "max_distance": 8}, "max_distance"),
    ],
)
def test_bad_arguments_raise(arguments, name):
    with pytest.raises(ValueError, match=f"`{name}`.*Received"):
        RelativePositionBias(**arguments)
