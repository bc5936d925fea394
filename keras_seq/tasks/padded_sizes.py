"""Batches padded to one of a few sizes, for which XLA compiles a search."""

import tensorflow as tf


def pad_to_sizes(tensor, *sizes):
    """Add zeros behind the first axes, up to the next of their sizes.

    Each new shape costs a compiled function a compilation, of seconds.

    Args:
        tensor: Of at least as many axes as `sizes` are given. Runs in graph.
        sizes: For each of the first axes a tuple, smallest first. Beyond the
            largest, the next multiple of it is taken.

    >>> pad_to_sizes(tf.ones((3, 5)), (1, 4), (8, 16)).shape
    TensorShape([4, 8])
    >>> pad_to_sizes(tf.ones((9, 5)), (1, 4)).shape
    TensorShape([12, 5])
    """
    tensor = tf.convert_to_tensor(tensor)
    shape = tf.shape(tensor)
    missing = [
        [0, _next_size(shape[axis], of_axis) - shape[axis]]
        for axis, of_axis in enumerate(sizes)
    ]
    kept = [[0, 0]] * (tensor.shape.rank - len(sizes))
    return tf.pad(tensor, missing + kept)


def _next_size(size, sizes):
    fits = tf.constant(sizes) >= size
    next_one = tf.reduce_min(tf.where(fits, sizes, sizes[-1]))
    multiple = -(-size // sizes[-1]) * sizes[-1]
    return tf.where(size > sizes[-1], multiple, next_one)
