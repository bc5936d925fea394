"""A model that answers as another one does, and shows where it looked."""

import keras
from keras import ops

from keras_seq.explain.attention_collection import collect_attention


class NoAttentionError(ValueError):
    """No attention ran in the model."""


class RecordingModel(keras.Model):
    """`model`, sharing its weights, with attention as a second output.

    Made by `keras_seq.explain.attention_model`, where it is described.

    Args:
        model: A Keras model or layer.
    """

    def __init__(self, model):
        if not isinstance(model, keras.layers.Layer):
            raise ValueError(
                "`model` must be a Keras model. "
                f"Received: {model!r} (of type {type(model).__name__})"
            )
        # Without autocast, inputs reach `model` in the type they have.
        super().__init__(name=f"{model.name}_attention", autocast=False)
        self.model = model
        self.built = model.built

    def __call__(self, *args, **kwargs):
        if not self.built:
            # Built out here, the variables of `model` get the names they would
            # have without us.
            self.model(*args, **kwargs)
            self.built = True
        return super().__call__(*args, **kwargs)

    def call(self, *args, training=False, **kwargs):
        with collect_attention(self.model) as weights:
            outputs = self.model(*args, training=training, **kwargs)
        if not weights:
            raise NoAttentionError(
                f"Model '{self.model.name}' has no attention to show: none of "
                "its layers that ran is an attention layer of keras_seq or "
                "has a call argument `return_attention_scores`. (A layer that "
                "compiles its own `call` cannot be looked into.) "
                f"Received: {self.model!r}"
            )
        return outputs, {name: _usable(name, w) for name, w in weights.items()}

    def compute_mask(self, inputs, mask=None):
        return None  # the outputs have the masks that `model` gave them


def _usable(name, weights):
    """Return `weights`, if they are of the graph that is being traced."""
    try:
        return ops.copy(weights)
    except Exception as error:  # every backend has an exception of its own
        raise ValueError(
            f"Attention '{name}' runs inside a loop or another compiled "
            "function, and its weights cannot leave it. Let the function "
            "return them as an output, or run it eagerly."
        ) from error
