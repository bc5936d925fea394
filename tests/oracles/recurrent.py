"""Recurrent networks from their equations, in float64 NumPy loops.

One row at a time, one step at a time; a masked step is a step that is left
out. Nothing here may import keras or keras_seq.
"""

import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def rnn_step(x, states, kernel, recurrent_kernel, bias):
    """Elman (1990): h = tanh(W_x x + W_h h + b)."""
    (h,) = states
    return [np.tanh(x @ kernel + h @ recurrent_kernel + bias)]


def lstm_step(x, states, kernel, recurrent_kernel, bias):
    """Hochreiter and Schmidhuber (1997) with a forget gate; i, f, g, o."""
    h, c = states
    z = x @ kernel + h @ recurrent_kernel + bias
    i, f, g, o = np.split(z, 4)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return [sigmoid(o) * np.tanh(c), c]


def gru_step(x, states, kernel, recurrent_kernel, bias):
    """Cho et al. (2014), reset gate after the product if bias has two rows."""
    (h,) = states
    w_z, w_r, w_n = np.split(kernel, 3, axis=1)
    u_z, u_r, u_n = np.split(recurrent_kernel, 3, axis=1)
    reset_after = bias.ndim == 2
    b = bias[0] if reset_after else bias
    b_h = bias[1] if reset_after else np.zeros_like(bias)
    (b_z, b_r, b_n), (d_z, d_r, d_n) = np.split(b, 3), np.split(b_h, 3)
    z = sigmoid(x @ w_z + b_z + h @ u_z + d_z)
    r = sigmoid(x @ w_r + b_r + h @ u_r + d_r)
    past = r * (h @ u_n + d_n) if reset_after else (r * h) @ u_n
    return [z * h + (1 - z) * np.tanh(x @ w_n + b_n + past)]


def run(step, x, states, weights, mask=None, go_backwards=False):
    """Return outputs `(B, T, U)` in reading order, and final states."""
    x = np.asarray(x, "float64")
    weights = [np.asarray(w, "float64") for w in weights]
    batch, length, _ = x.shape
    units = weights[1].shape[0]
    mask = np.ones((batch, length), bool) if mask is None else mask
    outputs = np.zeros((batch, length, units))
    finals = [np.zeros((batch, units)) for _ in states]
    order = range(length)[::-1] if go_backwards else range(length)
    for b in range(batch):
        row = [np.asarray(s[b], "float64") for s in states]
        for n, t in enumerate(order):
            if mask[b, t]:
                row = step(x[b, t], row, *weights)
            outputs[b, n] = row[0]
        for final, state in zip(finals, row, strict=True):
            final[b] = state
    return outputs, finals


def central_difference(function, values, epsilon=1e-6):
    """The gradient of a scalar function of one array, entry by entry."""
    values = np.array(values, "float64")
    gradient = np.zeros_like(values)
    for index in np.ndindex(values.shape):
        kept = values[index]
        values[index] = kept + epsilon
        above = function(values)
        values[index] = kept - epsilon
        below = function(values)
        values[index] = kept
        gradient[index] = (above - below) / (2 * epsilon)
    return gradient


def backpropagate(step, x, weights, num_states, upstream):
    """dL/ds_t for every state of one row, by the chain rule, step by step.

    `x` is `(T, D)`, `upstream` `(T, U)` is what L hears of each output; returns
    `(T, num_states, U)`: dL/ds_t = dL/do_t + (ds_{t+1}/ds_t)^T dL/ds_{t+1}.
    """
    weights = [np.asarray(w, "float64") for w in weights]
    units = weights[1].shape[0]
    states = [np.zeros(units) for _ in range(num_states)]
    jacobians = []
    for x_t in np.asarray(x, "float64"):

        def flat_step(s, x_t=x_t):
            return np.concatenate(step(x_t, np.split(s, num_states), *weights))

        before = np.concatenate(states)
        jacobians.append(
            np.stack(
                [
                    central_difference(lambda s, n=n: flat_step(s)[n], before)
                    for n in range(len(before))
                ]
            )
        )
        states = np.split(flat_step(before), num_states)
    found = np.zeros((len(x), num_states * units))
    later = np.zeros(num_states * units)
    for t in reversed(range(len(x))):
        later[:units] += upstream[t]
        found[t] = later
        later = jacobians[t].T @ later
    return found.reshape(len(x), num_states, units)


def truncated_gradient(step, x, states, weights, which, upstream, window):
    """d sum(upstream * outputs) / d weights[which], windows kept apart.

    Each window starts from the state the one before ended in, and takes it
    for a constant (Williams and Peng, 1990, with both lengths `window`).
    """
    weights = [np.asarray(w, "float64") for w in weights]
    total = np.zeros_like(weights[which])
    for start in range(0, x.shape[1], window):
        part = slice(start, start + window)

        def loss(weight, part=part, states=states):
            trial = [*weights[:which], weight, *weights[which + 1 :]]
            outputs, _ = run(step, x[:, part], states, trial)
            return (outputs * upstream[:, part]).sum()

        total += central_difference(loss, weights[which])
        _, states = run(step, x[:, part], states, weights)
    return total
