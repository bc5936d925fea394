"""A GRU that attends before each step (Bahdanau et al., 2015)."""

import keras
from keras import ops

from keras_seq.layers.attentive_layer import AttentiveLayer
from keras_seq.layers.gru_cell import GRUCell
from keras_seq.ops.attentive_recurrence import (
    attentive_gru,
    attentive_gru_step,
)


@keras.saving.register_keras_serializable(package="keras_seq")
class AttentiveGRU(AttentiveLayer):
    r"""Reads a sequence, and before each step looks at a memory.

    The decoder of Bahdanau et al. (2015), appendix A. With $y_t$ the
    sequence, $h_j$ the memory and $s_t$ the state:

    $$ e_{tj} = v^\top \tanh(W_a s_{t-1} + U_a h_j), \quad
       a_t = \mathrm{softmax}(e_t), \quad c_t = \textstyle\sum_j a_{tj} h_j, $$
    $$ \begin{aligned}
       z_t &= \sigma(W_z y_t + U_z s_{t-1} + C_z c_t + b_z) \\
       r_t &= \sigma(W_r y_t + U_r s_{t-1} + C_r c_t + b_r) \\
       n_t &= \tanh(W_n y_t + C_n c_t + b_n
              + r_t \odot (U_n s_{t-1} + b_{nh})) \\
       s_t &= z_t \odot s_{t-1} + (1 - z_t) \odot n_t
       \end{aligned} $$

    $W$, $U$ and $b$ are `kernel`, `recurrent_kernel` and `bias` of a `GRUCell`;
    $C$ is `c` `(M, 3U)`, in the order $z, r, n$; $W_a$, $U_a$ and $v$ are
    `w_a` `(U, A)`, `u_a` `(M, A)` and `v_a` `(A,)`.

    Differs from the paper: the reset gate acts after the product, as it does
    in `GRU` by default, and $z$ says how much to keep (there, to replace).

    Shapes:
        sequences `(B, T, D)`, memory `(B, S, M)`, initial_state `(B, U)`
        -> states `(B, T, U)`, contexts `(B, T, M)` and, on request, weights
        `(B, T, S)`.

    Masking: a masked step of `sequences` carries the state through; masked
    steps of `memory` are not looked at. Both masks arrive by themselves, and
    the sequence's goes on with the states and contexts.

    Args:
        units: Width `U` of the state.
        attention_units: Width `A` of the layer that compares a state with the
            memory.
        kernel_initializer: Initializer of all matrices but $U$.
        recurrent_initializer: Initializer of $U$.
        bias_initializer: Initializer of $b$.
        **kwargs: Passed to `keras.layers.Layer`.

    Example:
        >>> layer = AttentiveGRU(units=4, attention_units=3)
        >>> states, contexts, weights = layer(
        ...     ops.ones((2, 3, 8)), ops.ones((2, 5, 6)),
        ...     return_attention_scores=True,
        ... )
        >>> tuple(states.shape), tuple(contexts.shape), tuple(weights.shape)
        ((2, 3, 4), (2, 3, 6), (2, 3, 5))

    Reference: <https://arxiv.org/abs/1409.0473>
    """

    make_cell, cell_name = GRUCell, "gru_cell"
    state_names = ("state",)

    def run(self, x, kept, mask, training):
        states, weights = attentive_gru(
            x,
            kept["state"],
            (kept["keys"], kept["values"], kept["mask"]),
            self._step_weights(),
            mask,
        )
        weights = ops.transpose(weights, (1, 0, 2))
        contexts = ops.matmul(weights, kept["memory"])
        return ops.transpose(states, (1, 0, 2)), contexts, weights

    def step(self, inputs, state):
        """Take one step.

        Args:
            inputs: `(B, D)`.
            state: From `start` or the last `step`.

        Returns:
            `(state's output (B, U), context (B, M), state, weights (B, S))`.
        """
        new, weights = attentive_gru_step(
            self.project(inputs, self.cell.bias[0]),
            state["state"],
            (state["keys"], state["values"], state["mask"]),
            self._step_weights(),
        )
        context = ops.matmul(ops.expand_dims(weights, 1), state["memory"])
        state = {**state, "state": new}
        return new, ops.squeeze(context, 1), state, weights

    def _step_weights(self):
        """Join what is multiplied with the state: one product, not two."""
        kernel = [self.cast(w) for w in (self.w_a, self.cell.recurrent_kernel)]
        bias = self.cast(self.cell.bias)[1]
        no_bias = ops.zeros((self.attention_units,), bias.dtype)
        return (
            ops.concatenate(kernel, axis=1),
            ops.concatenate([no_bias, bias]),
            self.cast(self.v_a),
        )
