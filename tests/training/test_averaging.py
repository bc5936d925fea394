"""Averaged weights against NumPy."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_seq import training
from keras_seq.training.averaging import averaged_weights
from keras_seq.training.checkpoints import arrays_of
from tests.oracles import training as oracle
from tests.training.test_fit import fit, make_data, make_model

pytestmark = pytest.mark.tensorflow


def first_batches(number):
    rows = tf.data.Dataset.from_tensor_slices(make_data())
    return rows.batch(6).take(number)


@pytest.fixture(scope="module")
def kernels():
    """The kernel after 1, 2, 3 updates, each from a run of its own length."""
    return [
        arrays_of(fit(data=first_batches(n))[0].weights)[0] for n in (1, 2, 3)
    ]


# At update 3 the decay warms up to 4 / 13: more than 0.2, less than 0.999.
@pytest.mark.parametrize("decay", [0.2, 0.999])
def test_exponential_average_follows_its_equation(kernels, decay):
    start = arrays_of(make_model().weights)[0]
    want = oracle.exponential_average(start, kernels, decay)
    rule = training.ExponentialAverage(decay)
    model, _ = fit(data=first_batches(3), average=rule)
    np.testing.assert_allclose(arrays_of(model.weights)[0], want[-1], atol=1e-6)


def test_last_epochs_are_averaged_evenly_and_seen_by_the_evaluation():
    seen = []

    def evaluate(model):
        seen.append(arrays_of(model.weights)[0])
        return {}

    fit(epochs=4, evaluate=evaluate)
    ends, seen[:] = list(seen), []
    rule = training.LastEpochsAverage(3)
    model, _ = fit(epochs=4, evaluate=evaluate, average=rule)
    for epoch in range(4):
        want = np.mean(ends[max(0, epoch - 2) : epoch + 1], axis=0)
        np.testing.assert_allclose(seen[epoch], want, atol=1e-6)
    np.testing.assert_allclose(arrays_of(model.weights)[0], seen[-1])


def test_training_goes_on_with_its_own_weights():
    model = make_model()
    average = training.LastEpochsAverage(2).start(model)
    average.end_epoch()
    kernel = model.weights[0]
    kernel.assign(kernel + 1.0)
    average.end_epoch()
    mine = arrays_of(model.weights)
    with pytest.raises(KeyError), averaged_weights(model, average):
        inside = arrays_of([kernel])[0]
        np.testing.assert_allclose(inside, mine[0] - 0.5, atol=1e-6)
        raise KeyError
    np.testing.assert_array_equal(arrays_of(model.weights)[0], mine[0])


def test_statistics_of_batch_normalization_are_not_averaged():
    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [keras.Input((5,)), keras.layers.BatchNormalization(momentum=0.5)]
    )
    x, _ = make_data()
    fit(model, (x, x), loss="mse", average=training.ExponentialAverage(0.9))
    moving_mean = arrays_of(model.non_trainable_weights)[0]
    keras.utils.set_random_seed(1)
    plain = keras.Sequential(
        [keras.Input((5,)), keras.layers.BatchNormalization(momentum=0.5)]
    )
    fit(plain, (x, x), loss="mse")
    np.testing.assert_array_equal(
        moving_mean, arrays_of(plain.non_trainable_weights)[0]
    )


@pytest.mark.parametrize(
    "make, argument",
    [
        (lambda: training.ExponentialAverage(1.0), "decay"),
        (lambda: training.LastEpochsAverage(0), "epochs"),
    ],
)
def test_bad_argument_is_named(make, argument):
    with pytest.raises(ValueError, match=f"`{argument}`.*Received"):
        make()
