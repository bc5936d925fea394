"""A row that a table does not have is an error, or NaN, but never a row."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_seq.ops.lookup import known_values, take_rows
from tests.gradients import gradients

N, D = 5, 3
TABLE = np.arange(1, N * D + 1, dtype="float32").reshape(N, D)
on_jax = pytest.mark.skipif(
    keras.backend.backend() != "jax", reason="jax.jit needs JAX"
)


@pytest.mark.parametrize("indices", [[4, 0, 2], [[1], [3]], []])
def test_rows_are_those_of_the_table(indices):
    rows = take_rows(
        ops.convert_to_tensor(TABLE), "row", np.array(indices, int)
    )
    np.testing.assert_array_equal(
        ops.convert_to_numpy(rows), TABLE[np.array(indices, int)]
    )


@pytest.mark.parametrize("index", [-1, N, 10**6])
def test_a_missing_row_raises(index):
    for indices in (np.array([0, index]), ops.convert_to_tensor([0, index])):
        with pytest.raises(ValueError, match=f"`row`.*0 and 4.*{index}"):
            take_rows(ops.convert_to_tensor(TABLE), "row", indices)


def test_gradients_reach_the_rows_that_were_taken():
    (gradient,) = gradients(lambda t: take_rows(t, "row", [1, 1, 4]), TABLE)
    np.testing.assert_array_equal(gradient[:, 0], [0, 2, 0, 0, 1])


@pytest.mark.tensorflow
@pytest.mark.parametrize("index", [-1, N])
def test_a_tensorflow_graph_raises_when_it_runs(index):
    import tensorflow as tf

    @tf.function(input_signature=[tf.TensorSpec((None,), tf.int32)])
    def rows(indices):
        assert known_values(indices) is None
        return take_rows(tf.constant(TABLE), "row", indices)

    np.testing.assert_array_equal(rows([2, 4]), TABLE[[2, 4]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="`row`.*0 and 4"):
        rows([2, index])


@pytest.mark.tensorflow
def test_xla_gives_nan_since_it_cannot_raise():
    import tensorflow as tf

    rows = tf.function(
        lambda indices: take_rows(tf.constant(TABLE), "row", indices),
        jit_compile=True,
    )(tf.constant([2, -1, N]))
    np.testing.assert_array_equal(rows[0], TABLE[2])
    assert np.isnan(rows[1:]).all()


@on_jax
def test_jax_jit_gives_nan_since_it_cannot_raise():
    import jax

    rows = jax.jit(lambda i: take_rows(ops.convert_to_tensor(TABLE), "row", i))(
        ops.convert_to_tensor([2, -1, N])
    )
    np.testing.assert_array_equal(rows[0], TABLE[2])
    assert np.isnan(rows[1:]).all()
