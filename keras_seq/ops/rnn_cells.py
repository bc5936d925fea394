"""One time step of the recurrent cells: RNN, LSTM and GRU.

All three take the step's input already projected, `x = W_x x_t + b`, since
the projections of all steps are one product that needs no loop, and return
the new states, `h` first. `weights` holds the recurrent matrix `W_h` of shape
`(U, gates * U)`, a recurrent bias (GRU only, else `None`) and a dropout mask
`(B, U)` for what is heard of the past (or `None`).
"""

from keras import ops


def rnn_step(x, states, weights, activation=ops.tanh):
    r"""Plain recurrence: $h_t = g(W_x x_t + W_h h_{t-1} + b)$.

    >>> h, = rnn_step(ops.zeros((2, 3)), [ops.ones((2, 3))], (ops.eye(3),) +
    ...     (None, None), activation=ops.relu)
    >>> h.shape.rank
    2
    """
    (h,) = states
    w_h, _, keep = weights
    return [activation(x + ops.matmul(_heard(h, keep), w_h))]


def lstm_gates(
    x, states, weights, activation=ops.tanh, recurrent_activation=ops.sigmoid
):
    r"""Return input gate `i`, forget gate `f`, candidate `g`, output gate `o`.

    $$ (i, f, o) = \sigma(W_x x_t + W_h h_{t-1} + b), \quad
       g = \tanh(W_x x_t + W_h h_{t-1} + b), $$

    each with its own quarter of the columns, in the order `i, f, g, o`.
    """
    w_h, _, keep = weights
    z = x + ops.matmul(_heard(states[0], keep), w_h)
    i, f, g, o = ops.split(z, 4, axis=-1)
    i, f, o = (recurrent_activation(gate) for gate in (i, f, o))
    return i, f, activation(g), o


def lstm_step(
    x, states, weights, activation=ops.tanh, recurrent_activation=ops.sigmoid
):
    r"""Long short-term memory: a cell state `c` that is added to, not squashed.

    $$ c_t = f \odot c_{t-1} + i \odot g, \qquad
       h_t = o \odot \tanh(c_t). $$
    """
    i, f, g, o = lstm_gates(
        x, states, weights, activation, recurrent_activation
    )
    c = f * states[1] + i * g
    return [o * activation(c), c]


def gru_gates(
    x,
    states,
    weights,
    activation=ops.tanh,
    recurrent_activation=ops.sigmoid,
    reset_after=True,
):
    r"""Return update gate `z`, reset gate `r` and candidate `n`.

    $$ (z, r) = \sigma(W_x x_t + W_h h_{t-1} + b), \quad
       n = \tanh(W_x x_t + b + r \odot (W_h h_{t-1} + b_h)), $$

    or with `reset_after=False`, as Cho et al. (2014) wrote it,
    $n = \tanh(W_x x_t + b + W_h (r \odot h_{t-1}))$.
    """
    w_h, b_h, keep = weights
    units = w_h.shape[0]
    h = _heard(states[0], keep)
    x_zr, x_n = x[..., : 2 * units], x[..., 2 * units :]
    if reset_after:
        a = ops.matmul(h, w_h)
        a = a if b_h is None else a + b_h
        z, r = ops.split(
            recurrent_activation(x_zr + a[..., : 2 * units]), 2, axis=-1
        )
        return z, r, activation(x_n + r * a[..., 2 * units :])
    z, r = ops.split(
        recurrent_activation(x_zr + ops.matmul(h, w_h[:, : 2 * units])),
        2,
        axis=-1,
    )
    return z, r, activation(x_n + ops.matmul(r * h, w_h[:, 2 * units :]))


def gru_step(
    x,
    states,
    weights,
    activation=ops.tanh,
    recurrent_activation=ops.sigmoid,
    reset_after=True,
):
    r"""Gated recurrent unit: $h_t = z \odot h_{t-1} + (1 - z) \odot n$."""
    z, _, n = gru_gates(
        x, states, weights, activation, recurrent_activation, reset_after
    )
    return [z * states[0] + (1.0 - z) * n]


def _heard(h, keep):
    return h if keep is None else h * keep
