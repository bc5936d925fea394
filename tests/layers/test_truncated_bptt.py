"""`bptt_window`: the state is carried on, the gradient ends with the window."""

import numpy as np
import pytest
from keras import ops

from keras_seq import layers
from tests.gradients import weight_gradients
from tests.oracles import recurrent as oracle

B, T, D, U, WINDOW = 2, 7, 2, 3, 3
KINDS = {
    "SimpleRNN": (oracle.rnn_step, 1),
    "LSTM": (oracle.lstm_step, 2),
    "GRU": (oracle.gru_step, 1),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def make(kind, **options):
    layer = getattr(layers, kind)(U, return_sequences=True, **options)
    layer.build((B, T, D))
    layer.set_weights([0.7 * draw(*w.shape) for w in layer.get_weights()])
    return layer


@every_kind
@pytest.mark.parametrize("go_backwards", [False, True])
def test_gradients_of_weights_are_summed_window_by_window(kind, go_backwards):
    layer = make(kind, bptt_window=WINDOW, go_backwards=go_backwards)
    x, upstream = draw(B, T, D), draw(B, T, U, seed=1)
    heard = ops.convert_to_tensor(upstream)
    got = weight_gradients(layer, lambda x: layer(x) * heard, x)
    step, num_states = KINDS[kind]
    read = x[:, ::-1] if go_backwards else x
    for which, found in enumerate(got):
        want = oracle.truncated_gradient(
            step,
            read,
            [np.zeros((B, U))] * num_states,
            layer.get_weights(),
            which,
            upstream,
            WINDOW,
        )
        np.testing.assert_allclose(found, want, rtol=1e-4, atol=2e-5)


@every_kind
def test_it_is_a_stateful_layer_that_is_called_window_by_window(kind):
    layer, carried = make(kind, bptt_window=WINDOW), make(kind, stateful=True)
    x, upstream = draw(B, T, D), draw(B, T, U, seed=1)
    heard = ops.convert_to_tensor(upstream)
    got = weight_gradients(layer, lambda x: layer(x) * heard, x)
    total, outputs = [0.0] * len(got), []
    for start in range(0, T, WINDOW):
        part = slice(start, start + WINDOW)
        before = [ops.convert_to_numpy(state) for state in carried.states]
        found = weight_gradients(
            carried,
            lambda x, part=part: carried(x) * heard[:, part],
            x[:, part],
        )
        # Gradients may be traced, so the states are set by a plain call.
        for state, value in zip(carried.states, before, strict=True):
            state.assign(value)
        outputs.append(ops.convert_to_numpy(carried(x[:, part])))
        total = [a + b for a, b in zip(total, found, strict=True)]
    for one, other in zip(got, total, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=2e-5)
    np.testing.assert_allclose(
        ops.convert_to_numpy(layer(x)),
        np.concatenate(outputs, axis=1),
        atol=1e-5,
    )
