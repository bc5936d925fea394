"""What `SimpleRNN`, `LSTM` and `GRU` share: one cell, run over a sequence."""

import keras
from keras import ops

from keras_seq.layers.state_recording import is_recording, record
from keras_seq.ops.masks import check_mask


def _of_cell(name):
    return property(lambda self: getattr(self.cell, name))


class RecurrentLayer(keras.layers.Layer):
    """Run a `RecurrentCell` over the steps of a sequence.

    The input projections of all steps are one matrix product outside the
    loop; inside it remains the recurrent product and the gates. A masked
    step carries the state through, wherever in the row it stands, so a row
    gives what it would give alone with its padding cut off.
    """

    # The cell's settings, readable on the layer as on Keras's.
    units = _of_cell("units")
    activation = _of_cell("activation")
    recurrent_activation = _of_cell("recurrent_activation")
    use_bias = _of_cell("use_bias")
    kernel_initializer = _of_cell("kernel_initializer")
    recurrent_initializer = _of_cell("recurrent_initializer")
    bias_initializer = _of_cell("bias_initializer")
    unit_forget_bias = _of_cell("unit_forget_bias")
    kernel_regularizer = _of_cell("kernel_regularizer")
    recurrent_regularizer = _of_cell("recurrent_regularizer")
    bias_regularizer = _of_cell("bias_regularizer")
    kernel_constraint = _of_cell("kernel_constraint")
    recurrent_constraint = _of_cell("recurrent_constraint")
    bias_constraint = _of_cell("bias_constraint")
    dropout = _of_cell("dropout")
    recurrent_dropout = _of_cell("recurrent_dropout")
    reset_after = _of_cell("reset_after")
    seed = _of_cell("seed")

    def __init__(
        self,
        cell,
        return_sequences,
        return_state,
        go_backwards,
        stateful,
        unroll,
        zero_output_for_mask,
        bptt_window,
        use_cudnn=None,
        **kwargs,
    ):
        kwargs.pop("implementation", None)  # as `RecurrentCell` does
        super().__init__(**kwargs)
        if use_cudnn not in ("auto", True, False, None):
            raise ValueError(
                "`use_cudnn` must be 'auto', True or False. "
                f"Received: {use_cudnn}"
            )
        if bptt_window is not None and bptt_window < 1:
            raise ValueError(
                "`bptt_window` must be positive or None. "
                f"Received: {bptt_window}"
            )
        self.cell = cell
        self.return_sequences = return_sequences
        self.return_state = return_state
        self.go_backwards = go_backwards
        self.stateful = stateful
        self.unroll = unroll
        self.zero_output_for_mask = zero_output_for_mask
        self.use_cudnn = use_cudnn
        self.bptt_window = bptt_window
        self.states = None
        self.supports_masking = True
        self.input_spec = keras.layers.InputSpec(ndim=3)

    def build(self, sequences_shape, initial_state_shape=None):
        batch_size, _, width = sequences_shape
        if not self.cell.built:
            self.cell.build((batch_size, width))
            self.cell.built = True
        if self.stateful and self.states is None:
            if batch_size is None:
                raise ValueError(
                    "`stateful=True` needs a fixed batch size, as in "
                    "`keras.Input(shape, batch_size=32)`. "
                    f"Received: shape={tuple(sequences_shape)}"
                )
            self.states = [
                self.add_weight(
                    name=f"carried_state_{n}",
                    shape=(batch_size, self.cell.units),
                    initializer="zeros",
                    trainable=False,
                    autocast=False,
                )
                for n in range(self.cell.num_states())
            ]

    def call(self, sequences, initial_state=None, mask=None, training=False):
        states = self._states_before(sequences, initial_state)
        if mask is not None:
            mask = check_mask("mask", mask, [tuple(sequences.shape[:2])])
            # What stands in the padding, NaN included, must not be heard.
            sequences = ops.where(
                ops.expand_dims(mask, -1),
                sequences,
                ops.zeros((), dtype=sequences.dtype),
            )
        x = self._in_order(ops.transpose(sequences, (1, 0, 2)))
        steps = None
        if mask is not None:
            # As floats: oneDNN complains when it is to turn anything else.
            # Not by a cast: TensorFlow would turn first and cast then.
            turned = ops.transpose(ops.where(mask, 1.0, 0.0))
            steps = self._in_order(turned > 0)
        if is_recording():
            history, states = record(self, x, states, steps, training)
        else:
            history, states = self.cell.recur(
                self.cell.project(x, training=training),
                states,
                steps,
                training=training,
                return_history=self.return_sequences,
                window=self.bptt_window,
                unroll=self.unroll,
            )
        if self.stateful:
            for variable, state in zip(self.states, states, strict=True):
                variable.assign(ops.cast(state, variable.dtype))
        output = states[0]
        if self.return_sequences:
            if mask is not None and self.zero_output_for_mask:
                history = ops.where(
                    ops.expand_dims(steps, -1),
                    history,
                    ops.zeros((), dtype=history.dtype),
                )
            output = ops.transpose(history, (1, 0, 2))
        return (output, *states) if self.return_state else output

    def _in_order(self, time_major):
        return ops.flip(time_major, 0) if self.go_backwards else time_major

    def _states_before(self, sequences, initial_state):
        if self.stateful and sequences.shape[0] != self.states[0].shape[0]:
            raise ValueError(
                "A stateful layer is built for one batch size, here "
                f"{self.states[0].shape[0]}. "
                f"Received: shape={tuple(sequences.shape)}"
            )
        if initial_state is None and self.stateful:
            # A copy: the variables are written to before gradients are taken.
            initial_state = [ops.copy(state) for state in self.states]
        if initial_state is None:
            return self.get_initial_state(ops.shape(sequences)[0])
        if not isinstance(initial_state, (list, tuple)):
            initial_state = [initial_state]
        if len(initial_state) != self.cell.num_states():
            raise ValueError(
                f"`initial_state` must be {self.cell.num_states()} tensor(s). "
                f"Received: {len(initial_state)}"
            )
        return [
            ops.cast(ops.convert_to_tensor(state), self.compute_dtype)
            for state in initial_state
        ]

    def get_initial_state(self, batch_size):
        return self.cell.get_initial_state(batch_size=batch_size)

    def reset_state(self):
        """Set the carried state of a `stateful` layer back to zero."""
        for state in self.states or ():
            state.assign(ops.zeros(state.shape, state.dtype))

    reset_states = reset_state

    def compute_mask(self, sequences, mask):
        if isinstance(mask, (list, tuple)):  # `sequences` came in a list
            mask = mask[0]
        kept = mask if self.return_sequences else None
        if kept is not None and self.go_backwards:
            kept = ops.flip(kept, axis=1)  # outputs come in reading order
        if not self.return_state:
            return kept
        return (kept, *[None] * self.cell.num_states())

    def compute_output_shape(self, sequences_shape, initial_state_shape=None):
        batch_size, length, _ = sequences_shape
        state = (batch_size, self.cell.units)
        output = (
            (batch_size, length, self.cell.units)
            if self.return_sequences
            else state
        )
        if not self.return_state:
            return output
        return (output, *[state] * self.cell.num_states())

    # Carried states are `variables`, so that every backend's `fit` keeps
    # them, but no `weights`: they belong to one stream of data, and files
    # and `set_weights` are to be those of the same layer without them.
    @property
    def weights(self):
        return self.cell.weights

    def save_own_variables(self, store):
        pass

    def load_own_variables(self, store):
        pass

    def get_config(self):
        config = {
            **super().get_config(),
            **self.cell.own_config(),
            "activity_regularizer": keras.regularizers.serialize(
                self.activity_regularizer
            ),
            "return_sequences": self.return_sequences,
            "return_state": self.return_state,
            "go_backwards": self.go_backwards,
            "stateful": self.stateful,
            "unroll": self.unroll,
            "zero_output_for_mask": self.zero_output_for_mask,
            "bptt_window": self.bptt_window,
        }
        if self.use_cudnn is not None:  # not an argument of every layer
            config["use_cudnn"] = self.use_cudnn
        return config
