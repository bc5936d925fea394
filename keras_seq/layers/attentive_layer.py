"""What recurrent layers that look at a memory have in common."""

import keras
from keras import ops

from keras_seq.layers.argument_checks import check_count
from keras_seq.layers.attention_recording import record
from keras_seq.ops.attention import hide
from keras_seq.ops.masks import check_mask


class AttentiveLayer(keras.layers.Layer):
    """Base of `AttentiveGRU` and `AttentiveLSTM`: attend before each step.

    A subclass says which cell (`make_cell`) and states (`state_names`) it
    has, runs over all steps (`run`), and takes one (`step`).

    Shapes and masking: see the subclasses.

    Args:
        units: Width `U` of the state.
        attention_units: Width `A` of the layer that compares a state with the
            memory.
        kernel_initializer: Initializer of all matrices but the recurrent one.
        recurrent_initializer: Initializer of the recurrent matrix.
        bias_initializer: Initializer of the biases.
        **kwargs: Passed to `keras.layers.Layer`.
    """

    make_cell, cell_name = None, None
    state_names = ()

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
        Cell = type(self).make_cell
        self.cell = Cell(
            units,
            kernel_initializer=self._initializer(),
            recurrent_initializer=self.recurrent_initializer,
            bias_initializer=self.bias_initializer,
            dtype=self.dtype_policy,
            name=self.cell_name,
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
            ("c", (memory_shape[-1], self.cell.gates * self.units)),
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
        training=None,
    ):
        turned = None
        if sequences_mask is not None:
            sequences_mask = check_mask(
                "sequences_mask", sequences_mask, [tuple(sequences.shape[:2])]
            )
            sequences = hide(sequences, sequences_mask)
            # As floats: oneDNN complains when it is to turn anything else.
            turned = ops.transpose(ops.where(sequences_mask, 1.0, 0.0)) > 0
        kept = self.start(memory, memory_mask, initial_state)
        states, contexts, weights = self.run(
            self.cell.project(ops.transpose(sequences, (1, 0, 2))),
            kept,
            turned,
            training,
        )
        record(self, weights)
        if return_attention_scores:
            return states, contexts, weights
        return states, contexts

    def run(self, x, kept, mask, training):
        """Take all steps.

        Args:
            x: `(T, B, gates * U)`, the projected inputs.
            kept: From `start`.
            mask: `(T, B)`, False where the state is carried through.
            training: Whether this is training.

        Returns:
            States `(B, T, U)`, contexts `(B, T, M)`, weights `(B, T, S)`.
        """
        raise NotImplementedError

    def start(self, memory, memory_mask=None, initial_state=None):
        """Return the state before the first step, a flat dict of tensors.

        Args:
            memory: `(B, S, M)`; what steps need of it is made here, once.
            memory_mask: `(B, S)`, True where there is something to look at.
            initial_state: `(B, U)`, or a list of such where there are several
                states; by default zeros.
        """
        memory = self.cast(memory)
        if memory_mask is None:
            memory_mask = ops.ones(ops.shape(memory)[:2], "bool")
        else:
            memory_mask = check_mask(
                "memory_mask", memory_mask, [tuple(memory.shape[:2])]
            )
            memory = hide(memory, memory_mask)
        if initial_state is None:
            shape = (ops.shape(memory)[0], self.units)
            zeros = ops.zeros(shape, self.compute_dtype)
            initial_state = [zeros] * len(self.state_names)
        elif not isinstance(initial_state, (list, tuple)):
            initial_state = [initial_state]
        states = zip(self.state_names, initial_state, strict=True)
        return {
            **{name: self.cast(state) for name, state in states},
            "memory": memory,
            "keys": ops.matmul(memory, self.cast(self.u_a)),
            "values": ops.matmul(memory, self.cast(self.c)),
            "mask": memory_mask,
        }

    def project(self, inputs, bias):
        """Return $W y_t + b$ of one step's inputs `(B, D)`."""
        kernel = self.cast(self.cell.kernel)
        return ops.matmul(self.cast(inputs), kernel) + self.cast(bias)

    def cast(self, x):
        # Keras casts variables in `call` alone, and a step has other doors.
        return ops.cast(x, self.compute_dtype)

    # === What Keras asks of a layer ===

    def compute_output_spec(
        self,
        sequences,
        memory,
        initial_state=None,
        return_attention_scores=False,
        training=None,
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
