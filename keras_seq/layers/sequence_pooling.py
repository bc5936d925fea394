"""A sequence as one vector: the mean, the sum or the largest of its steps."""

import keras
from keras import ops

from keras_seq.ops.attention import hide
from keras_seq.ops.masks import HIDDEN, check_mask
from keras_seq.ops.shapes import check_shape

MODES = ("mean", "max", "sum")


@keras.saving.register_keras_serializable(package="keras_seq")
class SequencePooling(keras.layers.Layer):
    r"""Mean, maximum or sum over the steps that are no padding.

    With $S$ the steps of a row that the mask shows:

    $$ c = \frac{1}{|S|} \sum_{t \in S} x_t, \qquad
       c = \max_{t \in S} x_t, \qquad c = \sum_{t \in S} x_t. $$

    Differs from `keras.layers.GlobalAveragePooling1D`, which divides 0 by 0
    for a row that is all padding, and from `GlobalMaxPooling1D`, which takes
    the padding for real.

    Shapes:
        inputs `(B, T, D)` -> `(B, D)`.

    Masking: the mask arrives with the inputs. A row without a step to show
    gives zeros, whatever the mode. The output has no steps, and no mask.

    Args:
        mode: "mean", "max" or "sum".
        **kwargs: Passed to `keras.layers.Layer`.

    Example:
        >>> x = ops.convert_to_tensor([[[2.0], [4.0], [9.0]]])
        >>> mask = ops.convert_to_tensor([[True, True, False]])
        >>> [float(SequencePooling(m)(x, mask=mask)[0, 0]) for m in MODES]
        [3.0, 4.0, 6.0]
    """

    def __init__(self, mode="mean", **kwargs):
        super().__init__(**kwargs)
        if mode not in MODES:
            raise ValueError(
                f"`mode` must be one of {MODES}. Received: mode={mode!r}"
            )
        self.mode = mode
        self.supports_masking = True

    def build(self, inputs_shape):
        check_shape("inputs", inputs_shape, ("B", "T", "D"))

    def call(self, inputs, mask=None):
        if mask is None:
            mask = ops.ones(ops.shape(inputs)[:2], dtype="bool")
        else:
            mask = check_mask("mask", mask, [tuple(inputs.shape[:2])])
        # In float32: the sum of a long row does not fit into float16.
        x = ops.cast(hide(inputs, mask), "float32")
        if self.mode == "max":
            shown = ops.where(ops.expand_dims(mask, -1), x, HIDDEN)
            largest = ops.max(shown, axis=1, initial=HIDDEN)
            some = ops.any(mask, axis=1, keepdims=True)
            pooled = ops.where(some, largest, 0.0)
        else:
            pooled = ops.sum(x, axis=1)
        if self.mode == "mean":
            count = ops.sum(ops.cast(mask, "float32"), axis=1, keepdims=True)
            pooled = pooled / ops.maximum(count, 1.0)
        return ops.cast(pooled, self.compute_dtype)

    def compute_mask(self, inputs, previous_mask=None):
        return None

    def compute_output_shape(self, inputs_shape):
        return (inputs_shape[0], inputs_shape[-1])

    def get_config(self):
        return {**super().get_config(), "mode": self.mode}
