"""Cross-entropy of class ids and logits, label smoothing without a one-hot."""

import keras
from keras import ops


def crossentropy(labels, logits, label_smoothing=0.0):
    r"""Cross-entropy between the smoothed label and the softmax of `logits`.

    With $\epsilon$ the smoothing, $V$ classes and label $y$:

    $$ q_v = (1-\epsilon)\,[v = y] + \epsilon / V, \qquad
       \ell = -\sum_v q_v \log p_v
            = \log\sum_v e^{z_v} - (1-\epsilon)\,z_y
              - \epsilon\,\bar z, $$

    the last form needing no row of $V$ targets. This is Keras's smoothing
    ($\epsilon = 0.1$, $V = 4$: targets .925 and .025), not that of OpenNMT,
    which spreads $\epsilon$ over the $V - 1$ wrong classes (.9 and .0333).
    Computed in float32 whatever the logits are.

    Shapes:
        labels `(...)`, logits `(..., V)` -> `(...)`, float32.

    >>> loss = crossentropy(ops.array([1]), ops.array([[0.0, 2.0, 1.0]]), 0.1)
    >>> round(float(loss[0]), 4)
    0.5076
    """
    labels = ops.cast(labels, "int32")
    logits = ops.cast(logits, "float32")
    if keras.backend.backend() == "tensorflow":
        return _from_softmax(labels, logits, label_smoothing)
    log_p = ops.log_softmax(logits, axis=-1)
    of_label = ops.take_along_axis(log_p, ops.expand_dims(labels, -1), axis=-1)
    return -(
        (1 - label_smoothing) * ops.squeeze(of_label, -1)
        + label_smoothing * ops.mean(log_p, axis=-1)
    )


def _from_softmax(labels, logits, smoothing):
    r"""The same numbers, from the kernel that TensorFlow is fastest at.

    Its cross-entropy kernels take ten times as long as its softmax, by which
    the loss and its gradient $p - q$ are nearly done: the largest
    probability says what the normalizer is,
    $\log\sum_v e^{z_v} = \max_v z_v - \log \max_v p_v$, and it is at least
    $1 / V$, so its logarithm is always good.
    """
    import tensorflow as tf

    @tf.custom_gradient
    def rows(logits):  # (N, V) -> (N,)
        p = tf.nn.softmax(logits)
        log_normalizer = tf.reduce_max(logits, axis=-1) - tf.math.log(
            tf.reduce_max(p, axis=-1)
        )
        at_label = tf.stack([tf.range(tf.shape(flat)[0]), flat], axis=1)
        values = log_normalizer - (1 - smoothing) * tf.gather_nd(
            logits, at_label
        )
        if smoothing:
            values -= smoothing * tf.reduce_mean(logits, axis=-1)

        def backward(upstream):
            spread = smoothing / tf.cast(tf.shape(logits)[-1], tf.float32)
            away = p - spread if smoothing else p
            return tf.tensor_scatter_nd_sub(
                away * upstream[:, None], at_label, (1 - smoothing) * upstream
            )

        return values, backward

    flat = tf.reshape(labels, [-1])
    values = rows(tf.reshape(logits, [-1, tf.shape(logits)[-1]]))
    return tf.reshape(values, tf.shape(labels))
