"""One step of long short-term memory (Hochreiter and Schmidhuber, 1997)."""

import keras
from keras import ops

from keras_seq.layers.recurrent_cell import RecurrentCell
from keras_seq.ops.rnn_cells import lstm_gates, lstm_step


@keras.saving.register_keras_serializable(package="keras_seq")
class LSTMCell(RecurrentCell):
    r"""One step of an LSTM: what `LSTM` repeats.

    $$ \begin{aligned}
       i_t &= \sigma(W_{ix} x_t + W_{ih} h_{t-1} + b_i)
           && \text{input gate: how much to write} \\
       f_t &= \sigma(W_{fx} x_t + W_{fh} h_{t-1} + b_f)
           && \text{forget gate: how much to keep} \\
       g_t &= \tanh(W_{gx} x_t + W_{gh} h_{t-1} + b_g)
           && \text{candidate: what to write} \\
       o_t &= \sigma(W_{ox} x_t + W_{oh} h_{t-1} + b_o)
           && \text{output gate: how much to show} \\
       c_t &= f_t \odot c_{t-1} + i_t \odot g_t \\
       h_t &= o_t \odot \tanh(c_t)
       \end{aligned} $$

    The four $W_x$ stand side by side in `kernel` `(D, 4U)`, the four $W_h$ in
    `recurrent_kernel` `(U, 4U)` and the four $b$ in `bias` `(4U,)`, each in
    the order $i, f, g, o$. $\sigma$ is `recurrent_activation`, $\tanh$ is
    `activation`. The forget gate is that of Gers et al. (2000).

    Takes the place of `keras.layers.LSTMCell`, weights included, also inside
    `keras.layers.RNN`. Differs in dropout: one mask serves all four gates,
    and a cell that is called on its own draws new masks at each call; it is
    the layer `LSTM` that holds them over time.

    Shapes:
        inputs `(B, D)`, states `[h, c]` of `(B, U)` each
        -> output `(B, U)`, `[h, c]`.

    Args:
        units: Width `U` of `h` and of `c`.
        activation: Of the candidate and of what is shown of `c`.
        recurrent_activation: Of the three gates.
        use_bias: Whether there are $b$.
        kernel_initializer: Initializer of `kernel`.
        recurrent_initializer: Initializer of `recurrent_kernel`.
        bias_initializer: Initializer of `bias`.
        unit_forget_bias: Start with $b_f = 1$, so that at first the cell
            remembers (Jozefowicz et al., 2015).
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
        >>> cell = LSTMCell(4)
        >>> zeros = ops.zeros((2, 4))
        >>> output, (h, c) = cell(ops.ones((2, 3)), [zeros, zeros])
        >>> tuple(output.shape), tuple(c.shape)
        ((2, 4), (2, 4))

    References: <https://doi.org/10.1162/neco.1997.9.8.1735>,
    <https://doi.org/10.1162/089976600300015015>
    """

    step = staticmethod(lstm_step)
    gates = 4

    def __init__(
        self,
        units,
        activation="tanh",
        recurrent_activation="sigmoid",
        use_bias=True,
        kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal",
        bias_initializer="zeros",
        unit_forget_bias=True,
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
        self.recurrent_activation = keras.activations.get(recurrent_activation)
        self.unit_forget_bias = unit_forget_bias
        self.state_size = [units, units]

    def initial_bias(self, shape, dtype=None):
        if not self.unit_forget_bias:
            return super().initial_bias(shape, dtype)
        i, f, go = (self.units,), (self.units,), (2 * self.units,)
        return ops.concatenate(
            [
                self.bias_initializer(i, dtype=dtype),
                ops.ones(f, dtype=dtype),
                self.bias_initializer(go, dtype=dtype),
            ]
        )

    def settings(self):
        return {
            "activation": self.activation,
            "recurrent_activation": self.recurrent_activation,
        }

    def gate_values(self, inputs, states):
        """Return `{"i", "f", "g", "o"}` of one step or of many.

        Shapes:
            inputs `(B, D)` or `(T, B, D)`, states *before* each step `(B, U)`
            or `(T, B, U)` -> gates like the states.
        """
        weights = self.step_weights(ops.shape(inputs)[-2])
        x = self.project(inputs)
        gates = lstm_gates(x, states, weights, **self.settings())
        return dict(zip("ifgo", gates, strict=True))

    def own_config(self):
        return {
            **super().own_config(),
            "unit_forget_bias": self.unit_forget_bias,
        }
