"""The fused Adam against the paper and against Keras."""

import keras
import numpy as np
import pytest

from keras_seq.training import Adam
from tests.oracles import training as oracle

SETTINGS = {
    "learning_rate": 0.01,
    "beta_1": 0.8,
    "beta_2": 0.98,
    "epsilon": 1e-9,
}


def run(optimizer, start, gradients):
    weight = keras.Variable(start)
    for gradient in gradients:
        optimizer.apply([keras.ops.convert_to_tensor(gradient)], [weight])
    return weight.numpy()


def problem():
    rng = np.random.default_rng(0)
    start = rng.normal(size=(3, 5)).astype("float32")
    return start, rng.normal(size=(7, 3, 5)).astype("float32")


def test_steps_are_those_of_the_paper():
    start, gradients = problem()
    want = oracle.adam(start.astype("float64"), gradients, **SETTINGS)
    got = run(Adam(**SETTINGS), start, gradients)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "extra",
    [{}, {"amsgrad": True}, {"weight_decay": 0.1}, {"global_clipnorm": 0.5}],
    ids=str,
)
def test_options_of_keras_mean_the_same(extra):
    start, gradients = problem()
    theirs = run(keras.optimizers.Adam(**SETTINGS, **extra), start, gradients)
    ours = run(Adam(**SETTINGS, **extra), start, gradients)
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.tensorflow
def test_repeated_rows_of_an_embedding_are_summed():
    import tensorflow as tf

    values = tf.constant([[1.0, 2.0], [10.0, 20.0], [5.0, 5.0]])
    sparse = tf.IndexedSlices(
        values, tf.constant([1, 1, 0]), dense_shape=(3, 2)
    )
    rows, dense = (
        keras.Variable(np.ones((3, 2))),
        keras.Variable(np.ones((3, 2))),
    )
    Adam(**SETTINGS).apply([sparse], [rows])
    Adam(**SETTINGS).apply([tf.convert_to_tensor(sparse)], [dense])
    np.testing.assert_array_equal(rows.numpy(), dense.numpy())


def test_state_is_keras_state():
    start, gradients = problem()
    ours, theirs = Adam(**SETTINGS), keras.optimizers.Adam(**SETTINGS)
    run(ours, start, gradients), run(theirs, start, gradients)
    for a, b in zip(ours.variables, theirs.variables, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-7)
