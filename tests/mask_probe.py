"""Makes visible which mask a layer was handed."""

import keras
from keras import ops


class MaskProbe(keras.layers.Layer):
    """Returns the mask that came with its input as 0 and 1, or -1 if none."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def call(self, inputs, mask=None):
        if mask is None:
            return ops.full(ops.shape(inputs)[:2], -1, dtype="int32")
        return ops.cast(mask, "int32")

    def compute_output_spec(self, inputs, mask=None):
        return keras.KerasTensor(inputs.shape[:2], dtype="int32")


def mask_after(*layers, token_ids):
    """The mask behind `layers`, in a functional model of dynamic length."""
    x = inputs = keras.Input((None,), dtype="int32")
    for layer in layers:
        x = layer(x)
    model = keras.Model(inputs, MaskProbe()(x))
    return ops.convert_to_numpy(model(token_ids)).tolist()
