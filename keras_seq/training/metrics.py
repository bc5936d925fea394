"""Metrics per real token, weighted by token across batches.

A batch of 97 tokens counts 97 times as much as a token, not as much as a
batch of 3.
"""

import keras
from keras import ops

from keras_seq.training.crossentropy import crossentropy


class _TokenMean(keras.metrics.Mean):
    """Mean of `values` over the tokens that are not `ignore_class`."""

    def __init__(self, ignore_class=0, name=None, dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.ignore_class = ignore_class

    def values(self, labels, logits):
        raise NotImplementedError

    def update_state(self, y_true, y_pred, sample_weight=None):
        labels = ops.cast(y_true, "int32")
        counts = ops.cast(ops.not_equal(labels, self.ignore_class), "float32")
        if sample_weight is not None:
            given = ops.cast(sample_weight, "float32")
            while len(given.shape) < len(counts.shape):  # (B,) -> (B, 1)
                given = ops.expand_dims(given, -1)
            counts = counts * given
        values = self.values(ops.where(counts > 0, labels, 0), y_pred)
        # Flat, so that Keras does not first average within each row.
        super().update_state(
            ops.reshape(values, (-1,)), sample_weight=ops.reshape(counts, (-1,))
        )

    def get_config(self):
        return {**super().get_config(), "ignore_class": self.ignore_class}


@keras.saving.register_keras_serializable(package="keras_seq")
class TokenAccuracy(_TokenMean):
    """Share of real tokens whose best logit is the right one.

    Shapes:
        y_true `(B, T)` token ids, y_pred `(B, T, V)` logits or probabilities.

    Args:
        ignore_class: Id of the padding in `y_true`.
        name: Name in the logs.
        dtype: Passed to `keras.metrics.Mean`.

    Example:
        >>> import numpy as np
        >>> accuracy = TokenAccuracy()
        >>> accuracy.update_state(np.array([[2, 1, 0]]), np.eye(3)[[[2, 2, 1]]])
        >>> float(accuracy.result())  # one of two real tokens
        0.5
    """

    def __init__(self, ignore_class=0, name="token_accuracy", dtype=None):
        super().__init__(ignore_class=ignore_class, name=name, dtype=dtype)

    def values(self, labels, logits):
        best = ops.cast(ops.argmax(logits, axis=-1), "int32")
        return ops.cast(ops.equal(best, labels), "float32")


@keras.saving.register_keras_serializable(package="keras_seq")
class TokenCrossentropy(_TokenMean):
    r"""Mean of $-\log p_y$ over real tokens, in nats, without smoothing.

    Inside `training.fit` it re-uses the softmax of the loss, so it costs
    next to nothing there.

    Shapes:
        y_true `(B, T)` token ids, y_pred `(B, T, V)` logits.

    Args:
        ignore_class: Id of the padding in `y_true`.
        name: Name in the logs.
        dtype: Passed to `keras.metrics.Mean`.

    Example:
        >>> import numpy as np
        >>> entropy = TokenCrossentropy()
        >>> entropy.update_state(np.array([[2, 1, 0]]), np.zeros((1, 3, 4)))
        >>> round(float(entropy.result()), 4)
        1.3863
    """

    def __init__(self, ignore_class=0, name="token_crossentropy", dtype=None):
        super().__init__(ignore_class=ignore_class, name=name, dtype=dtype)

    def values(self, labels, logits):
        return crossentropy(labels, logits)


@keras.saving.register_keras_serializable(package="keras_seq")
class Perplexity(TokenCrossentropy):
    r"""$\exp$ of the mean of $-\log p_y$ over all real tokens seen so far.

    Shapes:
        y_true `(B, T)` token ids, y_pred `(B, T, V)` logits.

    Args:
        ignore_class: Id of the padding in `y_true`.
        name: Name in the logs.
        dtype: Passed to `keras.metrics.Mean`.

    Example:
        >>> import numpy as np
        >>> perplexity = Perplexity()
        >>> perplexity.update_state(np.array([[2, 1, 0]]), np.zeros((1, 3, 4)))
        >>> round(float(perplexity.result()), 3)
        4.0
    """

    def __init__(self, ignore_class=0, name="perplexity", dtype=None):
        super().__init__(ignore_class=ignore_class, name=name, dtype=dtype)

    def result(self):
        return ops.exp(super().result())
