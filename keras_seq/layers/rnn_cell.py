"""One step of the plain recurrent network (Elman, 1990)."""

import keras

from keras_seq.layers.recurrent_cell import RecurrentCell
from keras_seq.ops.rnn_cells import rnn_step


@keras.saving.register_keras_serializable(package="keras_seq")
class RNNCell(RecurrentCell):
    r"""One step of a plain recurrent network: what `SimpleRNN` repeats.

    $$ h_t = g(W_x x_t + W_h h_{t-1} + b) $$

    with $W_x$ = `kernel` `(D, U)`, $W_h$ = `recurrent_kernel` `(U, U)`,
    $b$ = `bias` `(U,)` and $g$ = `activation`; as code multiplies rows,
    each matrix stands on the right: `x @ kernel + h @ recurrent_kernel`.

    Takes the place of `keras.layers.SimpleRNNCell`, weights included, also
    inside `keras.layers.RNN`. Differs in dropout: a cell that is called on
    its own draws new masks at each call; it is `SimpleRNN` that holds them.

    Shapes:
        inputs `(B, D)`, states `[(B, U)]` -> output `(B, U)`, `[(B, U)]`.

    Args:
        units: Width `U` of the state.
        activation: The $g$ of the equation; `None` is the identity.
        use_bias: Whether there is a $b$.
        kernel_initializer: Initializer of `kernel`.
        recurrent_initializer: Initializer of `recurrent_kernel`.
        bias_initializer: Initializer of `bias`.
        kernel_regularizer: Regularizer of `kernel`.
        recurrent_regularizer: Regularizer of `recurrent_kernel`.
        bias_regularizer: Regularizer of `bias`.
        kernel_constraint: Constraint of `kernel`.
        recurrent_constraint: Constraint of `recurrent_kernel`.
        bias_constraint: Constraint of `bias`.
        dropout: Fraction of the inputs to drop in training.
        recurrent_dropout: Fraction of $h_{t-1}$ to drop in training.
        seed: Seed of the dropout.
        **kwargs: Passed to `keras.layers.Layer`.

    Example:
        >>> from keras import ops
        >>> cell = RNNCell(4)
        >>> output, states = cell(ops.ones((2, 3)), [ops.zeros((2, 4))])
        >>> tuple(output.shape), len(states)
        ((2, 4), 1)

    Reference: <https://doi.org/10.1207/s15516709cog1402_1>
    """

    step = staticmethod(rnn_step)
    gates = 1

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
        kernel_constraint=None,
        recurrent_constraint=None,
        bias_constraint=None,
        dropout=0.0,
        recurrent_dropout=0.0,
        seed=None,
        **kwargs,
    ):
        super().__init__(
            units=units,
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
            **kwargs,
        )
