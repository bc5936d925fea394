r"""Backpropagation through time, written by hand for TensorFlow.

TensorFlow can differentiate a loop by itself, but then every step computes
and adds up its own share of the gradient of $W_h$. By hand, the loop back
through time keeps what truly is sequential, the one product that takes
$dL/dh_t$ to $dL/dh_{t-1}$, and the gradient of $W_h$ is a single product over
all steps at the end. Several steps are written into each turn of a loop, since
a turn costs as much as a handful of small operations.

The numbers are those of `keras_seq.ops.recurrence.state_history`. A function
that was traced so can be saved without its gradient only, that is with
`tf.saved_model.SaveOptions(experimental_custom_gradients=False)`; one that was
traced with `training=False`, as for an export, is TensorFlow's own throughout.
"""

import keras
import tensorflow as tf
from keras import ops

from keras_seq.ops.rnn_cells import gru_step, lstm_step, rnn_step

STEPS_PER_TURN = 8


class RNNGradient:
    r"""The plain recurrence $h = \tanh(x + a)$, with $a = W_h h_{t-1}$.

    As the classes below: `forward` returns the new states and what `backward`
    will need; `backward` takes gradients of the new states to those of `a`
    and, where it is another, of `x`; and to those of the old states as far as
    they do not pass through `a`.
    """

    num_saved = 1
    num_gradients = 1

    @staticmethod
    def forward(x, a, states):
        h = tf.tanh(x + a)
        return [h], [h]

    @staticmethod
    def backward(saved, d_states):
        (h,), (dh,) = saved, d_states
        return [_d_tanh(h, dh)], [None]


class LSTMGradient:
    """Long short-term memory; see `lstm_step`."""

    num_saved = 6
    num_gradients = 1

    @staticmethod
    def forward(x, a, states):
        _, c_before = states
        i, f, g, o = tf.split(x + a, 4, axis=-1)
        i, f, g, o = tf.sigmoid(i), tf.sigmoid(f), tf.tanh(g), tf.sigmoid(o)
        c = f * c_before + i * g
        shown = tf.tanh(c)
        return [o * shown, c], [i, f, g, o, c_before, shown]

    @staticmethod
    def backward(saved, d_states):
        i, f, g, o, c_before, shown = saved
        dh, dc = d_states
        dc = dc + _d_tanh(shown, dh * o)
        gates = [
            _d_sigmoid(i, dc * g),
            _d_sigmoid(f, dc * c_before),
            _d_tanh(g, dc * i),
            _d_sigmoid(o, dh * shown),
        ]
        return [tf.concat(gates, axis=-1)], [None, dc * f]


class GRUGradient:
    """Gated recurrent unit with the reset gate after the product."""

    num_saved = 5
    num_gradients = 2

    @staticmethod
    def forward(x, a, states):
        (h,) = states
        x_z, x_r, x_n = tf.split(x, 3, axis=-1)
        a_z, a_r, a_n = tf.split(a, 3, axis=-1)
        z, r = tf.sigmoid(x_z + a_z), tf.sigmoid(x_r + a_r)
        n = tf.tanh(x_n + r * a_n)
        return [n + z * (h - n)], [z, r, n, a_n, h]

    @staticmethod
    def backward(saved, d_states):
        z, r, n, a_n, h = saved
        (dh,) = d_states
        kept = dh * z
        dz = _d_sigmoid(z, dh * (h - n))
        dn = _d_tanh(n, dh - kept)
        dr = _d_sigmoid(r, dn * a_n)
        da = tf.concat([dz, dr, dn * r], axis=-1)
        dx = tf.concat([dz, dr, dn], axis=-1)
        return [da, dx], [kept]


def _d_tanh(y, dy):
    return tf.raw_ops.TanhGrad(y=y, dy=dy)


def _d_sigmoid(y, dy):
    return tf.raw_ops.SigmoidGrad(y=y, dy=dy)


GRADIENTS = {
    rnn_step: RNNGradient,
    lstm_step: LSTMGradient,
    gru_step: GRUGradient,
}


def gradient_of(step, settings):
    """Return the class that knows `step` by heart, or `None`."""
    usual = (
        settings.get("activation", ops.tanh)
        in (ops.tanh, keras.activations.tanh)
        and settings.get("recurrent_activation", ops.sigmoid)
        in (ops.sigmoid, keras.activations.sigmoid)
        and settings.get("reset_after", True)
    )
    return GRADIENTS.get(step) if usual else None


def recur(cell, inputs, states, weights, mask=None, window=None):
    """As `keras_seq.ops.recur`, for a `cell` that `gradient_of` found."""
    w_h, b_h, keep = weights
    num_states = len(states)

    @tf.custom_gradient
    def run(inputs, w_h, *rest):
        states, biases = rest[:num_states], rest[num_states:]
        loop = _Loop(cell, inputs, w_h, biases, keep, mask, window)
        finals = loop.forward(list(states))

        def gradient(d_history, *d_finals):
            return loop.backward(d_history, list(d_finals))

        return (loop.history[1:], *finals), gradient

    biases = () if b_h is None else (b_h,)
    history, *finals = run(inputs, w_h, *states, *biases)
    return history, finals


class _Loop:
    """One pass forwards over time, and one back."""

    def __init__(self, cell, inputs, w_h, biases, keep, mask, window):
        self.cell = cell
        self.inputs = inputs
        self.w_h = w_h
        self.biases = biases
        self.keep = keep
        self.mask = mask
        self.window = window
        self.length = tf.shape(inputs)[0]

    def forward(self, states):
        # One entry more than there are steps: the state before the first one,
        # and so a list can be stacked even if there are none.
        hidden = self._list(self.length + 1).write(0, states[0])
        saved = [self._list(self.length) for _ in range(self.cell.num_saved)]

        def step(t, states, hidden, saved):
            a = tf.matmul(self._heard(states[0]), self.w_h)
            for bias in self.biases:
                a = tf.nn.bias_add(a, bias)
            new, kept = self.cell.forward(self.inputs[t], a, states)
            if self.mask is not None:
                new = _pick(self.mask[t], new, states)
            hidden = hidden.write(t + 1, new[0])
            saved = [s.write(t, k) for s, k in zip(saved, kept, strict=True)]
            return new, hidden, saved

        whole = self._whole_turns()
        carry = (states, hidden, saved)
        carry = _take(step, 0, whole, STEPS_PER_TURN, carry)
        carry = _take(step, whole, self.length, 1, carry)
        states, hidden, self.saved = carry
        self.history = hidden.stack()
        return states

    def backward(self, d_history, d_states):
        """Return the gradients of what `recur`'s `run` is a function of."""
        units, width = self.w_h.shape
        w_back = tf.transpose(self.w_h)
        zeros = [tf.zeros_like(d) for d in d_states]
        unused = tf.zeros((tf.shape(d_states[0])[0], width), self.w_h.dtype)
        found = [
            self._list(self.length + 1).write(self.length, unused)
            for _ in range(self.cell.num_gradients)
        ]

        def step(t, d_states, found):
            d_states = [d_states[0] + d_history[t], *d_states[1:]]
            d_new = d_states
            if self.mask is not None:
                d_new = _pick(self.mask[t], d_states, zeros)
            d_gates, direct = self.cell.backward(
                [s.read(t) for s in self.saved], d_new
            )
            d_old = [self._heard(tf.matmul(d_gates[0], w_back)), *direct[1:]]
            if direct[0] is not None:
                d_old[0] += direct[0]
            if self.mask is not None:
                d_old = _pick(self.mask[t], d_old, d_states)
            if self.window is not None:
                inside = (t % self.window > 0) | (t == 0)
                d_old = [d * tf.cast(inside, d.dtype) for d in d_old]
            found = [k.write(t, d) for k, d in zip(found, d_gates, strict=True)]
            return d_old, found

        whole = self._whole_turns()
        carry = (d_states, found)
        carry = _take(step, self.length, whole, -1, carry)
        carry = _take(step, whole, 0, -STEPS_PER_TURN, carry)
        d_states, found = carry
        # `da` comes first, `dx` last; for most cells they are the same.
        found = [gates.stack()[:-1] for gates in found]
        d_a = tf.reshape(found[0], (-1, width))
        heard = tf.reshape(self._heard(self.history[:-1]), (-1, units))
        d_w_h = tf.matmul(heard, d_a, transpose_a=True)
        d_biases = [tf.reduce_sum(d_a, axis=0) for _ in self.biases]
        return (found[-1], d_w_h, *d_states, *d_biases)

    def _heard(self, h):
        return h if self.keep is None else h * self.keep

    def _list(self, size):
        return tf.TensorArray(self.inputs.dtype, size, clear_after_read=False)

    def _whole_turns(self):
        return self.length // STEPS_PER_TURN * STEPS_PER_TURN


def _take(step, start, stop, steps_per_turn, carry):
    """Take the steps from `start` to `stop`; backwards if it is negative."""

    def turn(t, carry):
        for n in range(abs(steps_per_turn)):
            carry = step(t + n if steps_per_turn > 0 else t - 1 - n, *carry)
        return t + steps_per_turn, carry

    def goes_on(t, _):
        return t < stop if steps_per_turn > 0 else t > stop

    return tf.while_loop(goes_on, turn, (start, carry))[1]


def _pick(visible, states, others):
    """Row by row, `states` where `visible` `(B,)`, else `others`."""
    return [
        tf.where(visible[:, None], state, other)
        for state, other in zip(states, others, strict=True)
    ]
