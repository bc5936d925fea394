"""The loop over time: masks, histories, truncated gradients."""

import numpy as np
import pytest
from keras import ops

from keras_seq.ops.recurrence import recur
from keras_seq.ops.rnn_cells import gru_step, lstm_step, rnn_step
from tests.gradients import gradients
from tests.oracles import recurrent as oracle

B, T, D, U = 2, 7, 3, 5
CELLS = {
    "rnn": (rnn_step, oracle.rnn_step, 1, 1),
    "lstm": (lstm_step, oracle.lstm_step, 4, 2),
    "gru": (gru_step, oracle.gru_step, 3, 1),
}
every_cell = pytest.mark.parametrize("name", CELLS)


def make(name, length=T, seed=0):
    rng = np.random.default_rng(seed)
    _, _, gates, num_states = CELLS[name]
    draw = lambda *shape: rng.normal(size=shape).astype("float32")  # noqa: E731
    kernel, recurrent_kernel = draw(D, gates * U), 0.5 * draw(U, gates * U)
    bias = draw(2, 3 * U) if name == "gru" else draw(gates * U)
    states = [draw(B, U) for _ in range(num_states)]
    return draw(B, length, D), states, (kernel, recurrent_kernel, bias)


def run(name, x, states, weights, mask=None, **options):
    """`recur` on batch-first inputs; returns batch-first outputs."""
    kernel, recurrent_kernel, bias = weights
    b_x, b_h = (bias[0], bias[1]) if len(bias.shape) == 2 else (bias, None)
    projected = ops.add(ops.matmul(x, kernel), b_x)
    projected = ops.transpose(projected, (1, 0, 2))
    history, finals = recur(
        CELLS[name][0],
        projected,
        [ops.convert_to_tensor(s) for s in states],
        (ops.convert_to_tensor(recurrent_kernel), b_h, None),
        None if mask is None else ops.transpose(ops.convert_to_tensor(mask)),
        **options,
    )
    return history if history is None else ops.transpose(history, (1, 0, 2)), (
        finals
    )


def total(name, upstream, last, **options):
    """A loss that hears every output and every final state."""

    def loss(x, *rest):
        num_states = CELLS[name][3]
        outputs, finals = run(
            name, x, rest[:num_states], rest[num_states:], **options
        )
        return ops.sum(ops.multiply(outputs, upstream)) + sum(
            ops.sum(ops.multiply(final, weight))
            for final, weight in zip(finals, last, strict=True)
        )

    return loss


@every_cell
@pytest.mark.parametrize("unroll", [False, True])
def test_outputs_and_states_follow_the_equations(name, unroll):
    x, states, weights = make(name)
    mask = np.random.default_rng(1).random((B, T)) < 0.6
    got, finals = run(name, x, states, weights, mask, unroll=unroll)
    want, want_finals = oracle.run(CELLS[name][1], x, states, weights, mask)
    np.testing.assert_allclose(ops.convert_to_numpy(got), want, atol=2e-6)
    for final, expected in zip(finals, want_finals, strict=True):
        np.testing.assert_allclose(
            ops.convert_to_numpy(final), expected, atol=2e-6
        )


@every_cell
@pytest.mark.parametrize("masked", [False, True])
def test_gradients_are_those_of_the_equations(name, masked):
    x, states, weights = make(name)
    rng = np.random.default_rng(1)
    mask = rng.random((B, T)) < 0.6 if masked else None
    upstream = rng.normal(size=(B, T, U)).astype("float32")
    last = [rng.normal(size=(B, U)).astype("float32") for _ in states]
    inputs = [x, *states, *weights]
    got = gradients(total(name, upstream, last, mask=mask), *inputs)

    def loss(which, value):
        trial = [*inputs[:which], value, *inputs[which + 1 :]]
        outputs, finals = oracle.run(
            CELLS[name][1],
            trial[0],
            trial[1 : 1 + len(states)],
            trial[1 + len(states) :],
            mask,
        )
        return (outputs * upstream).sum() + sum(
            (f * w).sum() for f, w in zip(finals, last, strict=True)
        )

    for which, found in enumerate(got):
        want = oracle.central_difference(
            lambda value, which=which: loss(which, value), inputs[which]
        )
        np.testing.assert_allclose(found, want, rtol=1e-4, atol=2e-5)


@every_cell
@pytest.mark.parametrize("window", [1, 3, 7, 20])
def test_truncated_gradient_stays_in_its_window(name, window):
    x, states, weights = make(name)
    upstream = np.random.default_rng(1).normal(size=(B, T, U))
    upstream = upstream.astype("float32")
    none = [np.zeros((B, U), "float32") for _ in states]
    found = gradients(
        total(name, upstream, none, window=window), x, *states, *weights
    )
    for which in range(3):
        want = oracle.truncated_gradient(
            CELLS[name][1], x, states, weights, which, upstream, window
        )
        np.testing.assert_allclose(
            found[1 + len(states) + which], want, rtol=1e-4, atol=2e-5
        )
    # The initial state hears the first window, and no later one.
    if window < T:
        late = upstream.copy()
        late[:, :window] = 0
        found = gradients(
            total(name, late, none, window=window), x, *states, *weights
        )
        for gradient in found[1 : 1 + len(states)]:
            np.testing.assert_array_equal(gradient, 0)


@every_cell
def test_a_window_changes_no_output(name):
    x, states, weights = make(name)
    whole, _ = run(name, x, states, weights)
    windowed, _ = run(name, x, states, weights, window=2)
    np.testing.assert_allclose(
        ops.convert_to_numpy(whole), ops.convert_to_numpy(windowed), atol=1e-6
    )


@every_cell
@pytest.mark.parametrize("length", [0, 1, 23])
def test_any_length_will_do(name, length):
    x, states, weights = make(name, length)
    got, finals = run(name, x, states, weights)
    want, want_finals = oracle.run(CELLS[name][1], x, states, weights)
    np.testing.assert_allclose(ops.convert_to_numpy(got), want, atol=5e-6)
    for final, expected in zip(finals, want_finals, strict=True):
        np.testing.assert_allclose(
            ops.convert_to_numpy(final), expected, atol=5e-6
        )


@pytest.mark.tensorflow
@every_cell
@pytest.mark.parametrize("compiled", [False, True])
def test_gradients_of_every_dynamic_length_are_the_same_as_eager(
    name, compiled
):
    import tensorflow as tf

    _, states, weights = make(name)

    def run_it(x, mask):
        with tf.GradientTape() as tape:
            tape.watch(x)
            outputs, finals = run(
                name, x, [s[: x.shape[0]] for s in states], weights, mask
            )
            loss = tf.reduce_sum(outputs**2) + tf.reduce_sum(finals[-1])
        return outputs, tape.gradient(loss, x)

    traced = tf.function(
        run_it,
        input_signature=[
            tf.TensorSpec((B, None, D)),
            tf.TensorSpec((B, None), tf.bool),
        ],
        jit_compile=compiled,
    )
    for length in (11,) if compiled else (0, 1, 11, 24):
        x = tf.constant(make(name, length)[0])
        mask = tf.constant(np.random.default_rng(2).random((B, length)) < 0.7)
        for got, want in zip(traced(x, mask), run_it(x, mask), strict=True):
            want = tf.zeros_like(got) if want is None else want
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_window_must_be_positive():
    with pytest.raises(ValueError, match="window.*Received: 0"):
        recur(rnn_step, ops.zeros((2, 1, 1)), [ops.zeros((1, 1))], window=0)
