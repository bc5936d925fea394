"""Run a function over blocks of rows, one block at a time.

Memory is bounded by one block only if the blocks run one after the other.
TensorFlow's executor would start every block of an unrolled loop at once, so
there the loop is a `tf.while_loop`; the other backends run Python loops over
shapes that are known when they trace.
"""

import keras
from keras import ops

if keras.backend.backend() == "tensorflow":
    import tensorflow as tf


def split_rows(x, num_blocks, rows):
    """Cut `(B, H, T, ...)` into `(B, H, num_blocks, rows, ...)`, with zeros."""
    batch, heads, length, *rest = ops.shape(x)
    missing = num_blocks * rows - length
    x = ops.pad(x, [(0, 0), (0, 0), (0, missing)] + [(0, 0)] * len(rest))
    return ops.reshape(x, (batch, heads, num_blocks, rows, *rest))


def join_rows(blocks, length):
    """Join the results of a loop, `(num_blocks, B, H, rows, E)`, by rows."""
    num_blocks, batch, heads, rows, width = ops.shape(blocks)
    x = ops.transpose(blocks, (1, 2, 0, 3, 4))
    x = ops.reshape(x, (batch, heads, num_blocks * rows, width))
    return x[:, :, :length]


def loop_rows(function, num_blocks, blocks, result_shape, totals=()):
    """Call `function` on each block in turn; stack results, add up totals.

    Args:
        function: Takes one block of each of `blocks`; returns
            `(result, additions)`, the latter as many tensors as `totals`.
        num_blocks: How many blocks there are.
        blocks: Tensors with the block on axis 2, as `split_rows` gives.
        result_shape: Static shape of one result; `None` where not known.
        totals: Where the additions start from.

    Returns:
        The stacked results, `(num_blocks, ...)`, and the tuple of totals.
    """
    if keras.backend.backend() == "tensorflow":
        return _loop_in_graph(
            function, num_blocks, blocks, result_shape, totals
        )
    results = []
    for index in range(num_blocks):
        result, additions = function(*(b[:, :, index] for b in blocks))
        results.append(result)
        totals = tuple(t + a for t, a in zip(totals, additions, strict=True))
    return ops.stack(results), totals


def _loop_in_graph(function, num_blocks, blocks, result_shape, totals):
    collected = tf.TensorArray(
        blocks[0].dtype, size=num_blocks, element_shape=result_shape
    )

    def body(index, collected, totals):
        result, additions = function(*(b[:, :, index] for b in blocks))
        totals = tuple(t + a for t, a in zip(totals, additions, strict=True))
        return index + 1, collected.write(index, result), totals

    _, collected, totals = tf.while_loop(
        lambda index, *_: index < num_blocks,
        body,
        (0, collected, tuple(totals)),
        parallel_iterations=1,
    )
    return collected.stack(), totals
