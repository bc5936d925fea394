"""A GRU that attends before each step (Bahdanau et al., 2015)."""

import keras
from keras import ops

from keras_seq.layers.argument_checks import check_count
from keras_seq.layers.attention_recording import record
from keras_seq.layers.gru_cell import GRUCell
from keras_seq.ops.attention import hide
from keras_seq.ops.attentive_recurrence import (
    attentive_gru,
    attentive_gru_step,
)
from keras_seq.ops.masks import check_mask


@keras.saving.register_keras_serializable(package="keras_seq")
class AttentiveGRU(keras.layers.Layer):
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

    def __init__(
        self,
        units,
        attention_units,
        kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal",
        bias_initializer="zeros",
        **kwargs,
    ):
        super().__init__(**kwargs)
        check_count("units", units)
        check_count("attention_units", attention_units)
        self.units = units
        self.attention_units = attention_units
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.recurrent_initializer = keras.initializers.get(
            recurrent_initializer
        )
        self.bias_initializer = keras.initializers.get(bias_initializer)
        self.cell = GRUCell(
            units,
            kernel_initializer=self._initializer(),
            recurrent_initializer=self.recurrent_initializer,
            bias_initializer=self.bias_initializer,
            dtype=self.dtype_policy,
            name="gru_cell",
        )
        self.supports_masking = True

    def build(self, sequences_shape, memory_shape, initial_state_shape=None):
        for name, shape in (
            ("sequences", sequences_shape),
            ("memory", memory_shape),
        ):
            if len(shape) != 3:
                raise ValueError(
                    f"`{name}` must have shape (batch, steps, width). "
                    f"Received: shape={tuple(shape)}"
                )
        self.cell.build((None, sequences_shape[-1]))
        for name, shape in (
            ("c", (memory_shape[-1], 3 * self.units)),
            ("w_a", (self.units, self.attention_units)),
            ("u_a", (memory_shape[-1], self.attention_units)),
            ("v_a", (self.attention_units,)),
        ):
            weight = self.add_weight(
                name=name, shape=shape, initializer=self._initializer()
            )
            setattr(self, name, weight)

    def _initializer(self):
        """Return a fresh one: called twice, one draws the same twice."""
        return getattr(
            self.kernel_initializer, "clone", lambda: self.kernel_initializer
        )()

    def call(
        self,
        sequences,
        memory,
        initial_state=None,
        sequences_mask=None,
        memory_mask=None,
        return_attention_scores=False,
    ):
        if sequences_mask is not None:
            sequences_mask = check_mask(
                "sequences_mask", sequences_mask, [tuple(sequences.shape[:2])]
            )
            sequences = hide(sequences, sequences_mask)
            # As floats: oneDNN complains when it is to turn anything else.
            turned = ops.transpose(ops.where(sequences_mask, 1.0, 0.0))
            sequences_mask = turned > 0
        kept = self.start(memory, memory_mask, initial_state)
        states, weights = attentive_gru(
            self.cell.project(ops.transpose(sequences, (1, 0, 2))),
            kept["state"],
            (kept["keys"], kept["values"], kept["mask"]),
            self._step_weights(),
            sequences_mask,
        )
        states = ops.transpose(states, (1, 0, 2))
        weights = ops.transpose(weights, (1, 0, 2))
        contexts = ops.matmul(weights, kept["memory"])
        record(self, weights)
        if return_attention_scores:
            return states, contexts, weights
        return states, contexts

    def start(self, memory, memory_mask=None, initial_state=None):
        """Return the state before the first step, a flat dict of tensors.

        Args:
            memory: `(B, S, M)`; what steps need of it is made here, once.
            memory_mask: `(B, S)`, True where there is something to look at.
            initial_state: `(B, U)`; by default zeros.
        """
        memory = ops.cast(memory, self.compute_dtype)
        if memory_mask is None:
            memory_mask = ops.ones(ops.shape(memory)[:2], "bool")
        else:
            memory_mask = check_mask(
                "memory_mask", memory_mask, [tuple(memory.shape[:2])]
            )
            memory = hide(memory, memory_mask)
        if initial_state is None:
            shape = (ops.shape(memory)[0], self.units)
            initial_state = ops.zeros(shape, self.compute_dtype)
        return {
            "state": ops.cast(initial_state, self.compute_dtype),
            "memory": memory,
            "keys": ops.matmul(memory, self._cast(self.u_a)),
            "values": ops.matmul(memory, self._cast(self.c)),
            "mask": memory_mask,
        }

    def step(self, inputs, state):
        """Take one step.

        Args:
            inputs: `(B, D)`.
            state: From `start` or the last `step`.

        Returns:
            `(state's output (B, U), context (B, M), state, weights (B, S))`.
        """
        kernel, bias = (
            self._cast(w) for w in (self.cell.kernel, self.cell.bias)
        )
        x = ops.matmul(ops.cast(inputs, self.compute_dtype), kernel) + bias[0]
        new, weights = attentive_gru_step(
            x,
            state["state"],
            (state["keys"], state["values"], state["mask"]),
            self._step_weights(),
        )
        context = ops.matmul(ops.expand_dims(weights, 1), state["memory"])
        state = {**state, "state": new}
        return new, ops.squeeze(context, 1), state, weights

    def _step_weights(self):
        """Join what is multiplied with the state: one product, not two."""
        kernel = [self._cast(w) for w in (self.w_a, self.cell.recurrent_kernel)]
        bias = self._cast(self.cell.bias)[1]
        no_bias = ops.zeros((self.attention_units,), bias.dtype)
        return (
            ops.concatenate(kernel, axis=1),
            ops.concatenate([no_bias, bias]),
            self._cast(self.v_a),
        )

    def _cast(self, weight):
        # Keras casts variables in `call` alone, and a step has other doors.
        return ops.cast(weight, self.compute_dtype)

    # === What Keras asks of a layer ===

    def compute_output_spec(
        self,
        sequences,
        memory,
        initial_state=None,
        return_attention_scores=False,
        **masks,
    ):
        batch, length, _ = sequences.shape
        widths = [self.units, memory.shape[-1]]
        if return_attention_scores:
            widths.append(memory.shape[1])
        return tuple(
            keras.KerasTensor((batch, length, width), dtype=self.compute_dtype)
            for width in widths
        )

    def compute_mask(self, inputs, previous_mask):
        """Pass the sequence's mask on with both outputs."""
        return previous_mask, previous_mask

    def get_config(self):
        serialize = keras.initializers.serialize
        return {
            **super().get_config(),
            "units": self.units,
            "attention_units": self.attention_units,
            "kernel_initializer": serialize(self.kernel_initializer),
            "recurrent_initializer": serialize(self.recurrent_initializer),
            "bias_initializer": serialize(self.bias_initializer),
        }
