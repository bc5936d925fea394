r"""Dropout (Srivastava et al., 2014), from a random byte for each number.

With $r$ the rate, $b$ random bytes and $u$ uniform in $[0, 1)$, drawn once:

$$ \tau = \lfloor 256\,r + u \rfloor, \qquad
   m_i = [b_i \ge \tau]\,\frac{256}{256 - \tau}, \qquad y = m \odot x, $$

so that the mean of $y$ is $x$ whatever $\tau$ is, and the mean of $\tau / 256$
is $r$: a byte can only tell 256 chances apart, and the threshold that is drawn
too makes up for it.

Random numbers are what dropout spends its time on; a float takes four bytes of
them, of which three decide nothing.
"""

import tensorflow as tf


def dropout(x, rate, seed):
    """Return `x` with a share of its numbers dropped, and the rest scaled up.

    Args:
        x: A float tensor of any shape.
        rate: The share, from 0 to 255/256.
        seed: `(2,)` int32; the same seed drops the same numbers.

    >>> x = dropout(tf.ones((3, 500)), 0.5, tf.constant([1, 2]))
    >>> sorted(set(x.numpy().ravel().tolist()))
    [0.0, 2.0]
    """
    count = tf.size(x)
    # Four bytes to a word, and one word more for the threshold.
    words = tf.random.stateless_uniform(
        [(count + 3) // 4 + 1], seed, None, None, tf.int32
    )
    chance = tf.cast(words[-1], tf.float32) / 2.0**32 + 0.5
    threshold = tf.minimum(tf.floor(256.0 * rate + chance), 255.0)
    drawn = tf.reshape(tf.bitcast(words, tf.uint8), [-1])[:count]
    kept = tf.reshape(drawn >= tf.cast(threshold, tf.uint8), tf.shape(x))
    scale = tf.cast(256.0 / (256.0 - threshold), x.dtype)

    @tf.custom_gradient
    def run(x):
        def keep(x):
            return tf.where(kept, x * scale, tf.zeros([], x.dtype))

        return keep(x), keep

    return run(x)
