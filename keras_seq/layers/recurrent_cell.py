"""What the RNN, LSTM and GRU cells share: weights, dropout, configuration."""

import keras
from keras import ops

from keras_seq.ops.products import affine
from keras_seq.ops.recurrence import recur


class RecurrentCell(keras.layers.Layer):
    """One step of a recurrence; subclasses bring the equation.

    A subclass sets `step` (from `keras_seq.ops.rnn_cells`), `gates` (how many
    blocks of `units` columns its matrices have) and `state_size`, and may
    override `settings` and the shape or initial value of the bias.

    Weights carry the names and the layout of Keras: `kernel` $W_x$,
    `recurrent_kernel` $W_h$, `bias` $b$, so that weights move both ways.
    """

    step = None
    gates = 1

    def __init__(
        self,
        units,
        activation,
        use_bias,
        kernel_initializer,
        recurrent_initializer,
        bias_initializer,
        kernel_regularizer,
        recurrent_regularizer,
        bias_regularizer,
        kernel_constraint,
        recurrent_constraint,
        bias_constraint,
        dropout,
        recurrent_dropout,
        seed,
        **kwargs,
    ):
        # An old switch of Keras between two ways to the same numbers.
        kwargs.pop("implementation", None)
        super().__init__(**kwargs)
        if units < 1:
            raise ValueError(f"`units` must be positive. Received: {units}")
        for name, rate in (
            ("dropout", dropout),
            ("recurrent_dropout", recurrent_dropout),
        ):
            if not 0 <= rate < 1:
                raise ValueError(
                    f"`{name}` must be at least 0 and less than 1. "
                    f"Received: {rate}"
                )
        self.units = units
        self.activation = keras.activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.recurrent_initializer = keras.initializers.get(
            recurrent_initializer
        )
        self.bias_initializer = keras.initializers.get(bias_initializer)
        self.kernel_regularizer = keras.regularizers.get(kernel_regularizer)
        self.recurrent_regularizer = keras.regularizers.get(
            recurrent_regularizer
        )
        self.bias_regularizer = keras.regularizers.get(bias_regularizer)
        self.kernel_constraint = keras.constraints.get(kernel_constraint)
        self.recurrent_constraint = keras.constraints.get(recurrent_constraint)
        self.bias_constraint = keras.constraints.get(bias_constraint)
        self.dropout = dropout
        self.recurrent_dropout = recurrent_dropout
        self.seed = seed
        self.seed_generator = keras.random.SeedGenerator(seed)
        self.state_size = units
        self.output_size = units

    def build(self, input_shape):
        width = self.gates * self.units
        self.kernel = self.add_weight(
            name="kernel",
            shape=(input_shape[-1], width),
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        self.recurrent_kernel = self.add_weight(
            name="recurrent_kernel",
            shape=(self.units, width),
            initializer=self.recurrent_initializer,
            regularizer=self.recurrent_regularizer,
            constraint=self.recurrent_constraint,
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                name="bias",
                shape=self.bias_shape(),
                initializer=self.initial_bias,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )

    def bias_shape(self):
        return (self.gates * self.units,)

    def initial_bias(self, shape, dtype=None):
        return self.bias_initializer(shape, dtype=dtype)

    def input_bias(self):
        return self.bias

    def recurrent_bias(self):
        return None

    def settings(self):
        """What the equation needs to know beside tensors."""
        return {"activation": self.activation}

    def project(self, inputs, training=False):
        """Return $W_x x + b$ of one step `(B, D)` or all `(T, B, D)`, at once.

        Under dropout, one mask is drawn for each row and held over time.
        """
        if training and self.dropout:
            # (B, D): axes before these two are time, and share the mask.
            shape = ops.shape(inputs)[-2:]
            inputs = inputs * self.draw_mask(shape, self.dropout)
        return affine(inputs, self.kernel, self.input_bias())

    def step_weights(self, batch_size, training=False):
        """Return the `weights` argument of the cell's equation."""
        keep = None
        if training and self.recurrent_dropout:
            keep = self.draw_mask(
                (batch_size, self.units), self.recurrent_dropout
            )
        w_h = ops.convert_to_tensor(self.recurrent_kernel)
        return (w_h, self.recurrent_bias(), keep)

    def draw_mask(self, shape, rate):
        ones = ops.ones(shape, dtype=self.compute_dtype)
        return keras.random.dropout(ones, rate, seed=self.seed_generator)

    def call(self, inputs, states, training=False):
        listed = isinstance(states, (list, tuple))
        states = list(states) if listed else [states]
        weights = self.step_weights(ops.shape(inputs)[0], training)
        x = self.project(inputs, training)
        new = type(self).step(x, states, weights, **self.settings())
        return new[0], (new if listed else new[0])

    def recur(self, projected, states, mask=None, training=False, **options):
        """Run over projected inputs `(T, B, ...)`; see `ops.recur`."""
        weights = self.step_weights(ops.shape(projected)[1], training)
        return recur(
            type(self).step,
            projected,
            states,
            weights,
            mask,
            training=training,
            **options,
            **self.settings(),
        )

    def get_initial_state(self, batch_size=None):
        return [
            ops.zeros((batch_size, self.units), dtype=self.compute_dtype)
            for _ in range(self.num_states())
        ]

    def num_states(self):
        size = self.state_size
        return len(size) if isinstance(size, (list, tuple)) else 1

    def own_config(self):
        """The constructor's arguments, without those of every Keras layer."""
        config = {"units": self.units, "use_bias": self.use_bias}
        for kind, module in (
            ("activation", keras.activations),
            ("initializer", keras.initializers),
            ("regularizer", keras.regularizers),
            ("constraint", keras.constraints),
        ):
            for prefix in ("", "kernel_", "recurrent_", "bias_"):
                name = f"{prefix}{kind}"
                if hasattr(self, name):
                    config[name] = module.serialize(getattr(self, name))
        for name in ("dropout", "recurrent_dropout", "seed"):
            config[name] = getattr(self, name)
        return config

    def get_config(self):
        return {**super().get_config(), **self.own_config()}
