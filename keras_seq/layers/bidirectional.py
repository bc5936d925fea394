"""Read a sequence in both directions (Schuster and Paliwal, 1997)."""

import keras
from keras import ops

MERGE_MODES = ("concat", "sum", "mul", "ave", None)


@keras.saving.register_keras_serializable(package="keras_seq")
class Bidirectional(keras.layers.Layer):
    r"""Run a recurrent layer forwards and another backwards, and join them.

    $$ y_t = \overrightarrow{h}_t \,\|\, \overleftarrow{h}_t, \quad
       \overrightarrow{h}_t + \overleftarrow{h}_t \quad\text{or}\quad
       \overrightarrow{h}_t \odot \overleftarrow{h}_t $$

    for `merge_mode` `"concat"`, `"sum"` and `"mul"`, so that the output at
    `t` knows what comes before *and* after it.

    Takes the place of `keras.layers.Bidirectional`, weights included. Differs
    in masks of several outputs, which Keras loses or confuses: with
    `return_sequences` each sequence carries the input's mask, states none.

    Shapes:
        sequences `(B, T, D)` -> `(B, 2U)` for `"concat"`, else `(B, U)`; with
        `return_sequences` `(B, T, 2U)` or `(B, T, U)`; with `merge_mode=None`
        two such; with `return_state` followed by the states of the forward
        and then those of the backward layer.

    Masking: padding is skipped in both directions, so a padded row equals the
    row run alone. With `return_sequences`, outputs at masked steps are zero.

    Args:
        layer: `SimpleRNN`, `LSTM`, `GRU`, or a recurrent layer of Keras. It
            is copied, so its own weights are not used.
        merge_mode: `"concat"`, `"sum"`, `"mul"`, `"ave"` or `None`.
        backward_layer: Layer for the backward direction, made with
            `go_backwards=True`. Default: a copy of `layer`.
        weights: Initial weights, forward before backward.
        **kwargs: Passed to `keras.layers.Layer`.

    Call arguments:
        sequences: The input.
        initial_state: The forward layer's states, then the backward layer's.
        mask: `(B, T)`, True where there is a step to read.
        training: Whether dropout is on.

    Example:
        >>> from keras import ops
        >>> from keras_seq.layers import LSTM
        >>> layer = Bidirectional(LSTM(4, return_sequences=True))
        >>> tuple(layer(ops.ones((2, 5, 3))).shape)
        (2, 5, 8)

    Reference: <https://doi.org/10.1109/78.650093>
    """

    def __init__(
        self, layer, merge_mode="concat", *, backward_layer=None, **kwargs
    ):
        weights = kwargs.pop("weights", None)
        super().__init__(**kwargs)
        for name, value in (
            ("layer", layer),
            ("backward_layer", backward_layer),
        ):
            if not hasattr(value, "go_backwards") and (
                value is not None or name == "layer"
            ):
                raise ValueError(
                    f"`{name}` must be a recurrent layer, such as "
                    f"`keras_seq.layers.LSTM(8)`. Received: {value}"
                )
        if merge_mode not in MERGE_MODES:
            raise ValueError(
                f"`merge_mode` must be one of {MERGE_MODES}. "
                f"Received: {merge_mode}"
            )
        self.merge_mode = merge_mode
        self.forward_layer = _copy(layer, "forward")
        self.backward_layer = _copy(
            backward_layer or layer,
            "backward",
            go_backwards=(
                backward_layer.go_backwards
                if backward_layer
                else not layer.go_backwards
            ),
        )
        self._check_directions()
        self.return_sequences = layer.return_sequences
        self.return_state = layer.return_state
        self.stateful = layer.stateful
        self._initial_weights = weights
        self.supports_masking = True
        self.input_spec = layer.input_spec

    def _check_directions(self):
        forward, backward = self.forward_layer, self.backward_layer
        if forward.go_backwards == backward.go_backwards:
            raise ValueError(
                "`layer` and `backward_layer` must read in opposite "
                f"directions. Received: go_backwards={forward.go_backwards} "
                "for both"
            )
        for name in ("stateful", "return_sequences", "return_state"):
            if getattr(forward, name) != getattr(backward, name):
                raise ValueError(
                    f"`layer` and `backward_layer` must agree in `{name}`. "
                    f"Received: {getattr(forward, name)} and "
                    f"{getattr(backward, name)}"
                )

    def build(self, sequences_shape, initial_state_shape=None):
        for layer in (self.forward_layer, self.backward_layer):
            if not layer.built:
                layer.build(sequences_shape)
                layer.built = True
        if self._initial_weights is not None:
            self.set_weights(self._initial_weights)
            self._initial_weights = None

    def call(self, sequences, initial_state=None, mask=None, training=False):
        states = (None, None)
        if initial_state is not None:
            half = len(initial_state) // 2
            states = (initial_state[:half], initial_state[half:])
        outputs, final_states = [], []
        for layer, state in zip(
            (self.forward_layer, self.backward_layer), states, strict=True
        ):
            output = layer(
                sequences, initial_state=state, mask=mask, training=training
            )
            if self.return_state:
                output, *last = output
                final_states += last
            if self.return_sequences and layer.go_backwards:
                output = ops.flip(output, axis=1)
            outputs.append(ops.cast(output, self.compute_dtype))
        merged = self._merge(*outputs)
        if self.merge_mode is None:
            return (*merged, *final_states)
        return (merged, *final_states) if self.return_state else merged

    def _merge(self, forward, backward):
        if self.merge_mode == "concat":
            return ops.concatenate([forward, backward], axis=-1)
        if self.merge_mode == "sum":
            return forward + backward
        if self.merge_mode == "mul":
            return forward * backward
        if self.merge_mode == "ave":
            return (forward + backward) / 2
        return forward, backward

    def compute_mask(self, sequences, mask):
        if isinstance(mask, (list, tuple)):
            mask = mask[0]
        kept = mask if self.return_sequences else None
        shapes = self.compute_output_shape((None, None, 1))
        sequence_outputs = 2 if self.merge_mode is None else 1
        if not (self.return_state or self.merge_mode is None):
            return kept
        states = len(shapes) - sequence_outputs
        return (kept,) * sequence_outputs + (None,) * states

    def compute_output_shape(self, sequences_shape, initial_state_shape=None):
        output = self.forward_layer.compute_output_shape(sequences_shape)
        states = ()
        if self.return_state:
            output, *states = output
            states = (*states, *states)
        if self.merge_mode is None:
            return (output, output, *states)
        if self.merge_mode == "concat":
            output = (*output[:-1], 2 * output[-1])
        return (output, *states) if self.return_state else output

    @property
    def states(self):
        """The carried states of a `stateful` layer, forward ones first."""
        both = (self.forward_layer.states, self.backward_layer.states)
        return None if None in both else (*both[0], *both[1])

    def reset_state(self):
        """Set the carried states of a `stateful` layer back to zero."""
        self.forward_layer.reset_state()
        self.backward_layer.reset_state()

    reset_states = reset_state

    def get_config(self):
        serialize = keras.saving.serialize_keras_object
        return {
            **super().get_config(),
            "layer": serialize(self.forward_layer),
            "merge_mode": self.merge_mode,
            "backward_layer": serialize(self.backward_layer),
        }

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        for name in ("layer", "backward_layer"):
            config[name] = keras.saving.deserialize_keras_object(
                config[name], custom_objects=custom_objects
            )
        return cls(**config)


def _copy(layer, direction, **changes):
    """A fresh layer of the same settings, named after its direction."""
    config = keras.saving.serialize_keras_object(layer)
    name = layer.name.removeprefix("forward_").removeprefix("backward_")
    config["config"].update(name=f"{direction}_{name}", **changes)
    copy = keras.saving.deserialize_keras_object(config)
    # Padding must not be merged with what the other direction found there.
    if hasattr(copy, "zero_output_for_mask"):
        copy.zero_output_for_mask = copy.return_sequences
    if hasattr(layer, "use_cudnn"):  # not in the configuration of Keras's own
        copy.use_cudnn = layer.use_cudnn
    return copy
