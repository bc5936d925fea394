"""Random starts of positions."""

import keras
import numpy as np
from keras import ops

from keras_seq.models.position_shift import PositionShift

SOURCE, TARGET = np.ones((40, 5), "int32"), np.ones((40, 3), "int32")


def places(layer, **arguments):
    return [ops.convert_to_numpy(x) for x in layer(SOURCE, TARGET, **arguments)]


def test_both_sequences_of_a_row_begin_at_the_same_random_place():
    layer = PositionShift(7, seed=3)
    counts = np.zeros(8)
    for _ in range(25):
        source, target = places(layer, training=True)
        start = source[:, :1]
        np.testing.assert_array_equal(source, start + np.arange(5))
        np.testing.assert_array_equal(target, start + np.arange(3))
        counts += np.bincount(start[:, 0], minlength=8)
    assert counts.sum() == 1000
    assert (counts > 80).all()  # of 125, with a deviation of 10


def test_out_of_training_they_begin_at_0():
    layer = PositionShift(7)
    for arguments in ({}, {"training": False}):
        source, target = places(layer, **arguments)
        assert (source == np.arange(5)).all() and source.shape == (40, 5)
        assert (target == np.arange(3)).all() and target.dtype == "int32"


def test_a_seed_and_what_is_left_of_it_say_what_comes():
    first, second = PositionShift(99, seed=3), PositionShift(99, seed=3)
    before = places(first, training=True)[0]
    np.testing.assert_array_equal(before, places(second, training=True)[0])
    assert (places(first, training=True)[0] != before).any()
    # As a run that goes on after it was stopped.
    second.seed_generator.state.assign(first.seed_generator.state)
    np.testing.assert_array_equal(
        places(first, training=True)[0], places(second, training=True)[0]
    )


def test_it_is_made_anew_from_its_config():
    layer = PositionShift(7, seed=3, name="begin")
    again = keras.saving.deserialize_keras_object(
        keras.saving.serialize_keras_object(layer)
    )
    assert again.get_config() == layer.get_config()
    assert (again.max_shift, again.seed) == (7, 3)
