"""An LSTM that attends before each step (Xu et al., 2015), softly."""

import keras
from keras import ops

from keras_seq.layers.attentive_layer import AttentiveLayer
from keras_seq.layers.lstm_cell import LSTMCell
from keras_seq.ops.attentive_recurrence import (
    attentive_lstm,
    attentive_lstm_step,
)
from keras_seq.ops.hard_attention import doubly_stochastic_penalty


@keras.saving.register_keras_serializable(package="keras_seq")
class AttentiveLSTM(AttentiveLayer):
    r"""An LSTM that looks at a memory before each of its steps.

    The decoder of Xu et al. (2015), sections 3.1.2 and 4.2, with soft
    attention. With $y_t$ the inputs, $a_i$ the memory (regions of an image),
    $h_t$ and $c_t$ the states:

    $$ e_{ti} = v^\top \tanh(W_a h_{t-1} + U_a a_i), \quad
       \alpha_t = \mathrm{softmax}(e_t), \quad
       \beta_t = \sigma(w_\beta^\top h_{t-1} + b_\beta), $$
    $$ z_t = \beta_t \textstyle\sum_i \alpha_{ti} a_i, \quad
       (h_t, c_t) = \mathrm{LSTM}([y_t; z_t], h_{t-1}, c_{t-1}). $$

    $\beta_t$, one number, says how much of the image this step needs. With
    `penalty`, $\lambda \sum_i (1 - \sum_t \alpha_{ti})^2$, averaged over the
    rows, is added to the loss: no place is to be overlooked.

    $W$, $U$ and $b$ of the gates are `kernel`, `recurrent_kernel` and `bias`
    of an `LSTMCell`, and `c` `(M, 4U)` is what it makes of $z_t$, in the
    order $i, f, g, o$; $W_a$, $U_a$ and $v$ are `w_a` `(U, A)`, `u_a` `(M, A)`
    and `v_a` `(A,)`; $w_\beta$ and $b_\beta$ are `w_beta` `(U, 1)` and `b_beta`
    `(1,)`.

    Differs from the paper, whose attention model has biases: added to all
    scores alike, or learned by `u_a` if the memory has a constant column.

    Shapes:
        sequences `(B, T, D)`, memory `(B, S, M)`, initial_state
        `[(B, U), (B, U)]` for $h$ and $c$
        -> states $h$ `(B, T, U)`, contexts $z$ `(B, T, M)` and, on request,
        weights $\alpha$ `(B, T, S)`.

    Masking: a masked step of `sequences` carries the states through, and does
    not count in the penalty; masked steps of `memory` are not looked at. Both
    masks arrive by themselves, and the sequence's goes on with the outputs.

    Args:
        units: Width `U` of the states.
        attention_units: Width `A` of the layer that compares a state with the
            memory.
        penalty: $\lambda$; 0 adds no loss.
        kernel_initializer: Initializer of all matrices but $U$.
        recurrent_initializer: Initializer of $U$.
        bias_initializer: Initializer of the biases; the forget gate's is 1.
        **kwargs: Passed to `keras.layers.Layer`.

    Example:
        >>> layer = AttentiveLSTM(units=4, attention_units=3)
        >>> states, contexts, weights = layer(
        ...     ops.ones((2, 3, 8)), ops.ones((2, 5, 6)),
        ...     return_attention_scores=True,
        ... )
        >>> tuple(states.shape), tuple(contexts.shape), tuple(weights.shape)
        ((2, 3, 4), (2, 3, 6), (2, 3, 5))

    Reference: <https://arxiv.org/abs/1502.03044>
    """

    make_cell, cell_name = LSTMCell, "lstm_cell"
    state_names = ("state", "cell")

    def __init__(
        self,
        units,
        attention_units,
        penalty=0.0,
        kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal",
        bias_initializer="zeros",
        **kwargs,
    ):
        super().__init__(
            units,
            attention_units,
            kernel_initializer,
            recurrent_initializer,
            bias_initializer,
            **kwargs,
        )
        if penalty < 0:
            raise ValueError(
                f"`penalty` must not be negative. Received: penalty={penalty}"
            )
        self.penalty = penalty

    def build(self, sequences_shape, memory_shape, initial_state_shape=None):
        super().build(sequences_shape, memory_shape, initial_state_shape)
        self.w_beta = self.add_weight(
            name="w_beta",
            shape=(self.units, 1),
            initializer=self._initializer(),
        )
        self.b_beta = self.add_weight(
            name="b_beta", shape=(1,), initializer=self.bias_initializer
        )

    def run(self, x, kept, mask, training):
        states, weights, choices, gates = (
            ops.transpose(history, (1, 0, 2))
            for history in self.recur(x, kept, mask, training)
        )
        contexts = gates * ops.matmul(choices, kept["memory"])
        if self.penalty:
            # As numbers: TensorFlow remarks on booleans that are transposed,
            # on standard error, where the CPU has no AVX-512.
            steps = mask
            if mask is not None:
                steps = ops.swapaxes(ops.where(mask, 1.0, 0.0), 0, 1) > 0
            each = doubly_stochastic_penalty(weights, steps)
            # Without a row there is nothing to average.
            rows = ops.maximum(ops.cast(ops.shape(each)[0], each.dtype), 1.0)
            self.add_loss(self.penalty * ops.sum(each) / rows)
        return states, contexts, weights

    def recur(self, x, kept, mask, training):
        """Return `h`, weights, choices and gates of all steps, time first."""
        return attentive_lstm(
            x,
            [kept["state"], kept["cell"]],
            (kept["keys"], kept["values"], kept["mask"]),
            self._step_weights(),
            mask,
        )

    def choose(self, weights):
        """Where `step` looks: what it multiplies the memory with."""
        return weights

    def step(self, inputs, state):
        """Take one step.

        Args:
            inputs: `(B, D)`.
            state: From `start` or the last `step`.

        Returns:
            `(h (B, U), context (B, M), state, weights (B, S))`.
        """
        h, c, weights, choice, gate = attentive_lstm_step(
            self.project(inputs, self.cell.bias),
            [state["state"], state["cell"]],
            (state["keys"], state["values"], state["mask"]),
            self._step_weights(),
            self.choose,
        )
        context = ops.matmul(ops.expand_dims(choice, 1), state["memory"])
        context = gate * ops.squeeze(context, 1)
        return h, context, {**state, "state": h, "cell": c}, weights

    def _step_weights(self):
        """Join what is multiplied with `h`: one product, not three."""
        kernels = self.w_a, self.w_beta, self.cell.recurrent_kernel
        no_bias = ops.zeros((self.attention_units,), self.compute_dtype)
        none_twice = ops.zeros((4 * self.units,), self.compute_dtype)
        return (
            ops.concatenate([self.cast(w) for w in kernels], axis=1),
            ops.concatenate([no_bias, self.cast(self.b_beta), none_twice]),
            self.cast(self.v_a),
        )

    def get_config(self):
        return {**super().get_config(), "penalty": self.penalty}
