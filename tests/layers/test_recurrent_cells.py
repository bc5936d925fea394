"""RNNCell, LSTMCell and GRUCell: one step at a time."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_seq import layers
from tests.oracles import recurrent as oracle

B, T, D, U = 2, 7, 3, 5
KINDS = {
    "RNNCell": (layers.RNNCell, "SimpleRNNCell", oracle.rnn_step),
    "LSTMCell": (layers.LSTMCell, "LSTMCell", oracle.lstm_step),
    "GRUCell": (layers.GRUCell, "GRUCell", oracle.gru_step),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def make(kind, **options):
    cell = KINDS[kind][0](U, **options)
    cell.build((B, D))
    cell.set_weights([draw(*w.shape) for w in cell.get_weights()])
    states = [draw(B, U, seed=n) for n in range(cell.num_states())]
    return cell, draw(B, D), states


@every_kind
def test_one_step_follows_the_equations(kind):
    cell, x, states = make(kind)
    output, new = cell(x, states)
    want, finals = oracle.run(
        KINDS[kind][2], x[:, None], states, cell.get_weights()
    )
    np.testing.assert_allclose(
        ops.convert_to_numpy(output), want[:, 0], atol=1e-6
    )
    for state, final in zip(new, finals, strict=True):
        np.testing.assert_allclose(
            ops.convert_to_numpy(state), final, atol=1e-6
        )


@every_kind
def test_takes_the_place_of_the_cell_of_keras(kind):
    cell, x, states = make(kind)
    old = getattr(keras.layers, KINDS[kind][1])(U)
    old.build((B, D))
    old.set_weights(cell.get_weights())
    assert old.state_size == cell.state_size
    assert old.output_size == cell.output_size
    np.testing.assert_allclose(
        ops.convert_to_numpy(cell(x, states)[0]),
        ops.convert_to_numpy(old(x, states)[0]),
        atol=1e-5,
    )


@every_kind
def test_works_inside_the_loop_of_keras(kind):
    cell, _, _ = make(kind)
    x = draw(B, T, D)
    output = keras.layers.RNN(cell)(x)
    zeros = [np.zeros((B, U)) for _ in range(cell.num_states())]
    want, _ = oracle.run(KINDS[kind][2], x, zeros, cell.get_weights())
    np.testing.assert_allclose(
        ops.convert_to_numpy(output), want[:, -1], atol=1e-5
    )


def test_a_lone_state_comes_back_as_it_came():
    cell, x, (h,) = make("GRUCell")
    output, state = cell(x, h)
    np.testing.assert_array_equal(
        ops.convert_to_numpy(output), ops.convert_to_numpy(state)
    )


def test_gates_explain_the_step():
    cell, x, (h, c) = make("LSTMCell")
    gates = {
        name: ops.convert_to_numpy(value)
        for name, value in cell.gate_values(x, [h, c]).items()
    }
    assert list(gates) == ["i", "f", "g", "o"]
    _, (new_h, new_c) = cell(x, [h, c])
    want_c = gates["f"] * c + gates["i"] * gates["g"]
    np.testing.assert_allclose(ops.convert_to_numpy(new_c), want_c, atol=1e-6)
    np.testing.assert_allclose(
        ops.convert_to_numpy(new_h), gates["o"] * np.tanh(want_c), atol=1e-6
    )
    cell, x, (h,) = make("GRUCell")
    z, _, n = (
        ops.convert_to_numpy(gate) for gate in cell.gate_values(x, [h]).values()
    )
    np.testing.assert_allclose(
        ops.convert_to_numpy(cell(x, [h])[0]), z * h + (1 - z) * n, atol=1e-6
    )


def test_forget_gate_starts_open():
    cell = layers.LSTMCell(U)
    cell.build((B, D))
    i, f, g, o = np.split(ops.convert_to_numpy(cell.bias), 4)
    assert (f == 1).all() and not np.concatenate([i, g, o]).any()
    cell = layers.LSTMCell(U, unit_forget_bias=False)
    cell.build((B, D))
    assert not ops.convert_to_numpy(cell.bias).any()


@every_kind
def test_dropout_only_in_training(kind):
    cell, x, states = make(kind, dropout=0.5, recurrent_dropout=0.5, seed=1)
    calm, noisy = (
        ops.convert_to_numpy(cell(x, states, training=training)[0])
        for training in (False, True)
    )
    want, _ = oracle.run(KINDS[kind][2], x[:, None], states, cell.get_weights())
    np.testing.assert_allclose(calm, want[:, 0], atol=1e-6)
    assert not np.allclose(calm, noisy)
