"""One step of the gated recurrent unit (Cho et al., 2014)."""

import keras
from keras import ops

from keras_seq.layers.recurrent_cell import RecurrentCell
from keras_seq.ops.rnn_cells import gru_gates, gru_step


@keras.saving.register_keras_serializable(package="keras_seq")
class GRUCell(RecurrentCell):
    r"""One step of a GRU: what `GRU` repeats.

    $$ \begin{aligned}
       z_t &= \sigma(W_{zx} x_t + W_{zh} h_{t-1} + b_z)
           && \text{update gate: how much to keep} \\
       r_t &= \sigma(W_{rx} x_t + W_{rh} h_{t-1} + b_r)
           && \text{reset gate: how much of the past to hear} \\
       n_t &= \tanh(W_{nx} x_t + b_n + r_t \odot (W_{nh} h_{t-1} + b_{nh}))
           && \text{candidate} \\
       h_t &= z_t \odot h_{t-1} + (1 - z_t) \odot n_t
       \end{aligned} $$

    With `reset_after=False` the candidate is that of Cho et al. (2014),
    $n_t = \tanh(W_{nx} x_t + b_n + W_{nh} (r_t \odot h_{t-1}))$.

    The three $W_x$ stand side by side in `kernel` `(D, 3U)`, the three $W_h$
    in `recurrent_kernel` `(U, 3U)`, in the order $z, r, n$. `bias` is
    `(2, 3U)`: row 0 is added to the input, row 1 to $W_h h_{t-1}$; with
    `reset_after=False` it is `(3U,)`. $\sigma$ is `recurrent_activation`,
    $\tanh$ is `activation`.

    Takes the place of `keras.layers.GRUCell`, weights included, also inside
    `keras.layers.RNN`. Differs in dropout: one mask serves all three gates,
    and a cell that is called on its own draws new masks at each call; it is
    the layer `GRU` that holds them over time.

    Shapes:
        inputs `(B, D)`, states `[(B, U)]` -> output `(B, U)`, `[(B, U)]`.

    Args:
        units: Width `U` of the state.
        activation: Of the candidate.
        recurrent_activation: Of the two gates.
        use_bias: Whether there are $b$.
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
        reset_after: Whether the reset gate acts after the recurrent product
            or, as in the paper, before it.
        seed: Seed of the dropout.
        **kwargs: Passed to `keras.layers.Layer`.

    Example:
        >>> from keras import ops
        >>> cell = GRUCell(4)
        >>> output, states = cell(ops.ones((2, 3)), [ops.zeros((2, 4))])
        >>> tuple(output.shape), len(states)
        ((2, 4), 1)

    Reference: <https://arxiv.org/abs/1406.1078>
    """

    step = staticmethod(gru_step)
    gates = 3

    def __init__(
        self,
        units,
        activation="tanh",
        recurrent_activation="sigmoid",
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
        reset_after=True,
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
        self.reset_after = reset_after

    def bias_shape(self):
        width = 3 * self.units
        return (2, width) if self.reset_after else (width,)

    def input_bias(self):
        if self.bias is None or not self.reset_after:
            return self.bias
        return self.bias[0]

    def recurrent_bias(self):
        if self.bias is None or not self.reset_after:
            return None
        return self.bias[1]

    def settings(self):
        return {
            "activation": self.activation,
            "recurrent_activation": self.recurrent_activation,
            "reset_after": self.reset_after,
        }

    def gate_values(self, inputs, states):
        """Return `{"z", "r", "n"}` of one step or of many.

        Shapes:
            inputs `(B, D)` or `(T, B, D)`, states *before* each step `(B, U)`
            or `(T, B, U)` -> gates like the states.
        """
        weights = self.step_weights(ops.shape(inputs)[-2])
        x = self.project(inputs)
        gates = gru_gates(x, states, weights, **self.settings())
        return dict(zip("zrn", gates, strict=True))

    def own_config(self):
        return {**super().own_config(), "reset_after": self.reset_after}
