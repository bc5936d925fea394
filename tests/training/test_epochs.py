"""Batches: the same ones in the same order, from any kind of data."""

import numpy as np
import pytest
import tensorflow as tf

from keras_seq.data import Batches
from keras_seq.training.epochs import ArrayEpochs, as_epochs, batches

pytestmark = pytest.mark.tensorflow
ROWS = 11


def values(dataset):
    return [batch.numpy().tolist() for (batch,) in dataset]


def flat(dataset):
    return [row for batch in values(dataset) for row in batch]


def test_each_epoch_has_all_rows_in_an_order_of_its_own():
    data = ArrayEpochs((np.arange(ROWS),), batch_size=3, seed=5)
    first, second = flat(data.epoch(0)), flat(data.epoch(1))
    assert sorted(first) == sorted(second) == list(range(ROWS))
    assert first != second
    again = ArrayEpochs((np.arange(ROWS),), batch_size=3, seed=5)
    assert flat(again.epoch(1)) == second
    other = ArrayEpochs((np.arange(ROWS),), batch_size=3, seed=6)
    assert flat(other.epoch(1)) != second
    assert data.steps() == len(values(data.epoch(0))) == 4


def test_validation_keeps_its_order():
    data = as_epochs((np.arange(ROWS),), batch_size=4, shuffle=False)
    assert flat(data.epoch(0)) == flat(data.epoch(3)) == list(range(ROWS))


@pytest.mark.parametrize("skip", [0, 1, 3, 4])
def test_skipping_gives_what_is_left(skip):
    data = ArrayEpochs((np.arange(ROWS),), batch_size=3, seed=5)
    whole = values(batches(data, 2))
    assert values(batches(data, 2, skip)) == whole[skip:]
    shuffled = data.epoch(2).unbatch().batch(3)
    for kind in (shuffled, lambda epoch: data.epoch(epoch)):
        for cut in (None, 4):
            other = as_epochs(kind, steps_per_epoch=cut)
            epoch = 0 if kind is shuffled else 2
            assert values(batches(other, epoch, skip)) == whole[skip:]


def test_nested_arrays_stay_together():
    x = {"a": np.arange(ROWS), "b": -np.arange(ROWS)}
    data = ArrayEpochs((x, np.arange(ROWS) * 10), batch_size=4)
    for inputs, y in data.epoch(0):
        np.testing.assert_array_equal(inputs["a"], -inputs["b"])
        np.testing.assert_array_equal(inputs["a"] * 10, y)


def test_dataset_can_be_cut_into_epochs():
    endless = tf.data.Dataset.range(7).map(lambda n: (n[None],)).repeat()
    data = as_epochs(endless, steps_per_epoch=4)
    assert data.steps() == 4
    assert flat(data.epoch(0)) == [0, 1, 2, 3]
    assert flat(data.epoch(1)) == [4, 5, 6, 0]
    assert flat(data.epoch(1, 3)) == [0]
    with pytest.raises(ValueError, match="`steps_per_epoch`"):
        as_epochs(endless)


def test_length_of_a_dataset_is_found_if_it_is_known():
    known = tf.data.Dataset.range(6).batch(4)
    assert as_epochs(known).steps() == 2
    unknown = known.filter(lambda _: True)
    assert as_epochs(unknown).steps() is None


def test_function_of_the_epoch_is_asked_for_each():
    data = as_epochs(
        lambda epoch: tf.data.Dataset.from_tensors(([epoch],)).repeat(3),
        steps_per_epoch=2,
    )
    assert flat(batches(data, 5)) == [5, 5]
    with pytest.raises(ValueError, match="`tf.data.Dataset`.*Received: list"):
        batches(as_epochs(lambda epoch: [1, 2]))


def test_batches_of_like_length_are_taken_as_they_are():
    data = Batches([[n] * n for n in range(1, ROWS)], tokens_per_batch=12)
    assert as_epochs(data) is data
    whole = [batch.numpy().tolist() for batch in batches(data, 3)]
    assert len(whole) == data.steps(3)
    rest = [batch.numpy().tolist() for batch in batches(data, 3, 2)]
    assert rest == whole[2:]
