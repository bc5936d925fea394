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
    if not label_smoothing:
        return ops.sparse_categorical_crossentropy(
            labels, logits, from_logits=True
        )
    if keras.backend.backend() == "tensorflow":
        return _smoothed_by_kernel(labels, logits, label_smoothing)
    log_p = ops.log_softmax(logits, axis=-1)
    of_label = ops.take_along_axis(log_p, ops.expand_dims(labels, -1), axis=-1)
    return -(
        (1 - label_smoothing) * ops.squeeze(of_label, -1)
        + label_smoothing * ops.mean(log_p, axis=-1)
    )


def _smoothed_by_kernel(labels, logits, smoothing):
    r"""The same numbers, at the price of the loss without smoothing.

    TensorFlow's softmax-cross-entropy kernel returns its own gradient,
    $p - q$, and broadcasts its targets. Given the constant row
    $\epsilon / V$ it returns $\epsilon(\log\sum e^z - \bar z)$ and
    $p - \epsilon / V$: all that is missing is one number per row, the
    label's. (Log-softmax, gather and mean take half as long again.)
    """
    import tensorflow as tf

    @tf.custom_gradient
    def rows(logits):  # (N, V) -> (N,)
        classes = tf.shape(logits)[-1]
        spread = smoothing / tf.cast(classes, tf.float32)
        even, gradient = tf.raw_ops.SoftmaxCrossEntropyWithLogits(
            features=logits, labels=tf.fill([1, classes], spread)
        )
        at_label = tf.stack([tf.range(tf.shape(flat)[0]), flat], axis=1)
        log_normalizer = even / smoothing + tf.reduce_mean(logits, axis=-1)
        of_label = log_normalizer - tf.gather_nd(logits, at_label)

        def backward(upstream):
            on_label = tf.fill(tf.shape(flat), 1 - smoothing)
            full = tf.tensor_scatter_nd_sub(gradient, at_label, on_label)
            return full * upstream[:, None]

        return even + (1 - smoothing) * of_label, backward

    flat = tf.reshape(labels, [-1])
    values = rows(tf.reshape(logits, [-1, tf.shape(logits)[-1]]))
    return tf.reshape(values, tf.shape(labels))
