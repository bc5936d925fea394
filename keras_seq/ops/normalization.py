r"""Layer normalization (Ba et al., 2016), in few passes over the data.

$$ \hat{x} = \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}}, \qquad
   y = g \odot \hat{x} + b, $$

with $\mu$ and $\sigma^2$ over the last axis, and by hand, with $\bar{y}$ the
gradient of $y$ and $\langle\cdot\rangle$ the mean over the last axis,

$$ \bar{x} = \frac{g \odot \bar{y} - \langle g \odot \bar{y} \rangle
   - \hat{x} \odot \langle g \odot \bar{y} \odot \hat{x} \rangle}
   {\sqrt{\sigma^2 + \epsilon}}, \qquad
   \bar{g} = \sum \bar{y} \odot \hat{x}, \qquad \bar{b} = \sum \bar{y}. $$

TensorFlow on a CPU has no kernel for it. Its own gradient of the forward
equation takes twice as many passes, each as dear as reading the data from
memory. Means are products with a column of $1/D$ here, and sums over rows
products with a row of ones: those have fast kernels.
"""

import tensorflow as tf


def layer_norm(x, gain, shift, epsilon):
    """Return `(..., D)` normalized, for TensorFlow.

    Args:
        x: `(..., D)`.
        gain: `(D,)`.
        shift: `(D,)`.
        epsilon: Added to the variance.

    >>> x = tf.constant([[1.0, 3.0], [0.0, 4.0]])
    >>> layer_norm(x, tf.ones(2), tf.zeros(2), 0.0).numpy().tolist()
    [[-1.0, 1.0], [-1.0, 1.0]]
    """
    width = x.shape[-1]
    share = tf.fill((width, 1), tf.constant(1.0 / width, x.dtype))

    @tf.custom_gradient
    def run(x, gain, shift):
        centred = x - tf.matmul(x, share)
        variance = tf.matmul(tf.square(centred), share)  # (N, 1)
        inverse = tf.math.rsqrt(variance + epsilon)
        normed = centred * inverse

        def gradient(upstream):
            along = upstream * normed
            column = gain[:, None] * share
            ones = tf.ones((1, tf.shape(x)[0]), x.dtype)
            d_gain = tf.matmul(ones, along)[0]
            d_shift = tf.matmul(ones, upstream)[0]
            d_x = upstream * gain - tf.matmul(upstream, column)
            d_x = (d_x - normed * tf.matmul(along, column)) * inverse
            return d_x, d_gain, d_shift

        return tf.nn.bias_add(normed * gain, shift), gradient

    flat = tf.reshape(x, (-1, width))
    return tf.reshape(run(flat, gain, shift), tf.shape(x))
