"""The plain recurrent network over a sequence (Elman, 1990)."""

import keras

from keras_seq.layers.recurrent_layer import RecurrentLayer
from keras_seq.layers.rnn_cell import RNNCell


@keras.saving.register_keras_serializable(package="keras_seq")
class SimpleRNN(RecurrentLayer):
    r"""Plain recurrent network: $h_t = g(W_x x_t + W_h h_{t-1} + b)$.

    Each step multiplies the gradient by $W_h^\top \mathrm{diag}(g')$, which
    is why it vanishes or explodes with distance;
    `keras_seq.explain.gradient_flow` shows it. `RNNCell` says which weight is
    which.

    Takes the place of `keras.layers.SimpleRNN`, weights included. It differs
    where steps are masked before the first valid one, or all are: the output
    there is the initial state (Keras: zeros, even if `initial_state` is
    given). A sequence of length 0 gives the initial state (Keras raises).
    With `go_backwards` the mask is turned round like the outputs.
    `bptt_window` is new.

    Shapes:
        sequences `(B, T, D)`, mask `(B, T)`, initial_state `[(B, U)]`
        -> output `(B, U)`, or `(B, T, U)` with `return_sequences`; with
        `return_state` followed by the final states.

    Masking: a masked step carries the state through, so the final state is
    that of the last valid step, or the initial one if there is none. The
    output at a masked step is the carried state, or zero with
    `zero_output_for_mask`. What stands in a masked input is never read.

    Args:
        units: Width `U` of the state.
        activation: The $g$ of the equation; `None` is the identity.
        use_bias: Whether there are $b$.
        kernel_initializer: Initializer of `kernel`.
        recurrent_initializer: Initializer of `recurrent_kernel`.
        bias_initializer: Initializer of `bias`.
        kernel_regularizer: Regularizer of `kernel`.
        recurrent_regularizer: Regularizer of `recurrent_kernel`.
        bias_regularizer: Regularizer of `bias`.
        activity_regularizer: Regularizer of the output.
        kernel_constraint: Constraint of `kernel`.
        recurrent_constraint: Constraint of `recurrent_kernel`.
        bias_constraint: Constraint of `bias`.
        dropout: Fraction of the inputs to drop in training, the same at
            every step of a row.
        recurrent_dropout: Fraction of $h_{t-1}$ to drop in training, the
            same at every step of a row.
        seed: Seed of the dropout.
        return_sequences: Return the output of every step, not of the last.
        return_state: Return the final state too.
        go_backwards: Read from the last step to the first; outputs come in
            the order they were made.
        stateful: Start each batch from the state in which the one before
            ended; needs a fixed batch size. `reset_state()` starts anew.
        unroll: Write the steps out instead of looping, where their number is
            known; where it is not, loop (Keras raises).
        zero_output_for_mask: Whether outputs at masked steps are zero rather
            than the carried state.
        bptt_window: Truncated backpropagation through time: gradients reach
            back to the beginning of their window of so many steps; the state
            is carried on. `None` truncates nothing.
        **kwargs: Passed to `keras.layers.Layer`.

    Example:
        >>> from keras import ops
        >>> layer = SimpleRNN(4, return_sequences=True)
        >>> tuple(layer(ops.ones((2, 5, 3))).shape)
        (2, 5, 4)

    Reference: <https://doi.org/10.1207/s15516709cog1402_1>
    """

    def __init__(
        self,
        units,
        activation="tanh",
        use_bias=True,
        kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal",
        bias_initializer="zeros",
        kernel_regularizer=None,
        recurrent_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        recurrent_constraint=None,
        bias_constraint=None,
        dropout=0.0,
        recurrent_dropout=0.0,
        return_sequences=False,
        return_state=False,
        go_backwards=False,
        stateful=False,
        unroll=False,
        seed=None,
        zero_output_for_mask=False,
        bptt_window=None,
        **kwargs,
    ):
        cell = RNNCell(
            units,
            activation=activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            recurrent_regularizer=recurrent_regularizer,
            bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint,
            recurrent_constraint=recurrent_constraint,
            bias_constraint=bias_constraint,
            dropout=dropout,
            recurrent_dropout=recurrent_dropout,
            seed=seed,
            name="rnn_cell",
            dtype=kwargs.get("dtype"),
            trainable=kwargs.get("trainable", True),
        )
        super().__init__(
            cell,
            return_sequences=return_sequences,
            return_state=return_state,
            go_backwards=go_backwards,
            stateful=stateful,
            unroll=unroll,
            zero_output_for_mask=zero_output_for_mask,
            bptt_window=bptt_window,
            activity_regularizer=activity_regularizer,
            **kwargs,
        )
