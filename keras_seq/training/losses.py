"""Losses that average over what counts: real tokens, or rows.

Each is a Keras loss, for `model.compile` as well as for `training.fit`, and
saves with a model. All read logits; the last layer has no softmax.
"""

import keras
from keras import ops

from keras_seq.training.crossentropy import crossentropy


class WeightedMeanLoss(keras.losses.Loss):
    r"""Base of the losses here: $\sum_i w_i \ell_i / \sum_i w_i$.

    A subclass says what $\ell$ is (`call`) and which elements count
    (`weights`). `total_and_weight` gives numerator and denominator apart, so
    that several batches can be joined token by token; the loss of a batch
    with nothing in it is 0 and its gradients are finite.

    Differs from `keras.losses.Loss`: a `sample_weight` is also in the
    denominator, and what is padding is read from the labels alone, never
    from a mask that the predictions happen to carry.
    """

    def __init__(self, name=None, dtype=None):
        super().__init__(
            name=name, reduction="mean_with_sample_weight", dtype=dtype
        )

    def weights(self, y_true, values):
        """Return 1 where an element of `values` counts and 0 elsewhere."""
        return ops.ones_like(values)

    def total_and_weight(self, y_true, y_pred, sample_weight=None):
        r"""Return $\sum_i w_i \ell_i$ and $\sum_i w_i$ of one batch."""
        values = self.call(y_true, y_pred)
        weights = self._all_weights(y_true, values, sample_weight)
        return ops.sum(values * weights), ops.sum(weights)

    def __call__(self, y_true, y_pred, sample_weight=None):
        total, weight = self.total_and_weight(y_true, y_pred, sample_weight)
        return ops.divide_no_nan(total, weight) / _number_of_replicas()

    def get_config(self):
        return {"name": self.name}

    def _all_weights(self, y_true, values, sample_weight):
        weights = self.weights(y_true, values)
        if sample_weight is None:
            return weights
        given = ops.cast(sample_weight, weights.dtype)
        while len(given.shape) < len(weights.shape):  # (B,) -> (B, 1)
            given = ops.expand_dims(given, -1)
        return weights * given


@keras.saving.register_keras_serializable(package="keras_seq")
class MaskedCrossentropy(WeightedMeanLoss):
    r"""Mean cross-entropy per real token, with label smoothing.

    $$ L = \frac{\sum_{bt} [y_{bt} \ne \text{pad}]\,\ell(y_{bt}, z_{bt})}
                {\sum_{bt} [y_{bt} \ne \text{pad}]}, \qquad
       \ell(y, z) = -(1-\epsilon) \log p_y
                    - \frac{\epsilon}{V} \sum_v \log p_v, \quad
       p = \mathrm{softmax}(z). $$

    Differs from `keras.losses.SparseCategoricalCrossentropy`, which knows no
    label smoothing, and whose `ignore_class` leaves padding in the
    denominator.

    Shapes:
        y_true `(B, T)` token ids, y_pred `(B, T, V)` logits -> scalar.

    Args:
        label_smoothing: $\epsilon$ in [0, 1), spread over all $V$ classes as
            Keras does it: 0.1 of 4 classes gives targets .925 and .025.
        ignore_class: Id of the padding in `y_true`; it may lie outside the
            vocabulary (-1, -100).
        name: Optional name of the loss.

    Example:
        >>> import numpy as np
        >>> loss = MaskedCrossentropy(label_smoothing=0.1)
        >>> y_true, logits = np.array([[2, 1, 0]]), np.zeros((1, 3, 4))
        >>> round(float(loss(y_true, logits)), 4)  # log 4, padding left out
        1.3863

    Reference: Szegedy et al., 2016, <https://arxiv.org/abs/1512.00567>
    """

    def __init__(self, label_smoothing=0.0, ignore_class=0, name=None):
        super().__init__(name=name or "masked_crossentropy")
        self.label_smoothing = _checked_smoothing(label_smoothing)
        self.ignore_class = ignore_class

    def call(self, y_true, y_pred):
        counts = self._counts(y_true)
        labels = ops.where(counts, ops.cast(y_true, "int32"), 0)
        values = crossentropy(labels, y_pred, self.label_smoothing)
        return ops.where(counts, values, 0.0)

    def weights(self, y_true, values):
        return ops.cast(self._counts(y_true), values.dtype)

    def get_config(self):
        return {
            **super().get_config(),
            "label_smoothing": self.label_smoothing,
            "ignore_class": self.ignore_class,
        }

    def _counts(self, y_true):
        return ops.not_equal(ops.cast(y_true, "int32"), self.ignore_class)


@keras.saving.register_keras_serializable(package="keras_seq")
class ClassCrossentropy(WeightedMeanLoss):
    r"""Cross-entropy of one class id per row, with label smoothing.

    $$ \ell(y, z) = -(1-\epsilon) \log p_y
                    - \frac{\epsilon}{V} \sum_v \log p_v $$

    Differs from `keras.losses.SparseCategoricalCrossentropy`: label
    smoothing, and logits are the default.

    Shapes:
        y_true `(B,)` or `(B, 1)`, y_pred `(B, V)` logits -> scalar.

    Example:
        >>> import numpy as np
        >>> loss = ClassCrossentropy(label_smoothing=0.1)
        >>> round(float(loss(np.array([3, 0]), np.zeros((2, 4)))), 4)
        1.3863
    """

    def __init__(self, label_smoothing=0.0, name=None):
        super().__init__(name=name or "class_crossentropy")
        self.label_smoothing = _checked_smoothing(label_smoothing)

    def call(self, y_true, y_pred):
        labels = ops.reshape(y_true, ops.shape(y_pred)[:-1])
        return crossentropy(labels, y_pred, self.label_smoothing)

    def get_config(self):
        return {
            **super().get_config(),
            "label_smoothing": self.label_smoothing,
        }


@keras.saving.register_keras_serializable(package="keras_seq")
class BinaryCrossentropy(WeightedMeanLoss):
    r"""Cross-entropy of yes and no from one logit, with label smoothing.

    $$ \ell(y, z) = -q \log \sigma(z) - (1 - q) \log (1 - \sigma(z)), \qquad
       q = (1-\epsilon)\,y + \epsilon / 2. $$

    Differs from `keras.losses.BinaryCrossentropy`: logits are the default,
    and labels `(B,)` meet logits `(B, 1)` as they should.

    Shapes:
        y_true `(B,)` or `(B, 1)`, y_pred the same, logits -> scalar;
        `(B, L)` for `L` questions per row.

    Example:
        >>> import numpy as np
        >>> loss = BinaryCrossentropy()
        >>> round(float(loss(np.array([1, 0]), np.zeros((2, 1)))), 4)  # log 2
        0.6931
    """

    def __init__(self, label_smoothing=0.0, name=None):
        super().__init__(name=name or "binary_crossentropy")
        self.label_smoothing = _checked_smoothing(label_smoothing)

    def call(self, y_true, y_pred):
        logits = ops.cast(y_pred, "float32")
        labels = ops.reshape(ops.cast(y_true, "float32"), ops.shape(logits))
        labels = labels * (1 - self.label_smoothing) + self.label_smoothing / 2
        # log(1 + e^z) - q z, in the form that cannot overflow.
        return ops.softplus(logits) - labels * logits

    def get_config(self):
        return {
            **super().get_config(),
            "label_smoothing": self.label_smoothing,
        }


def _number_of_replicas():
    """Keras adds up the gradients of all replicas under `tf.distribute`."""
    if keras.backend.backend() != "tensorflow":
        return 1
    import tensorflow as tf

    return tf.distribute.get_strategy().num_replicas_in_sync


def _checked_smoothing(label_smoothing):
    if not 0 <= label_smoothing < 1:
        raise ValueError(
            "`label_smoothing` must be at least 0 and below 1. "
            f"Received: label_smoothing={label_smoothing}"
        )
    return label_smoothing
