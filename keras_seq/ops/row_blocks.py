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


def loop_blocks(function, num_blocks, shapes, dtype, totals=(), at_once=1):
    """Call `function` on each block in turn; stack results, add up totals.

    Args:
        function: Takes the index of a block; returns `(results, additions)`,
            two tuples, as long as `shapes` and as `totals`.
        num_blocks: How many blocks there are.
        shapes: Static shapes of the results; `None` where not known.
        dtype: Dtype of the results.
        totals: Where the additions start from.
        at_once: How many blocks may be at work at the same time.

    Returns:
        The tuple of stacked results, `(num_blocks, ...)`, and of totals.
    """
    if keras.backend.backend() == "tensorflow":
        return _loop_in_graph(
            function, num_blocks, shapes, dtype, totals, at_once
        )
    collected = []
    for index in range(num_blocks):
        results, additions = function(index)
        collected.append(results)
        totals = _sums(totals, additions)
    stacked = tuple(ops.stack(r) for r in zip(*collected, strict=True))
    return stacked, totals


def _loop_in_graph(function, num_blocks, shapes, dtype, totals, at_once):
    collected = tuple(
        tf.TensorArray(dtype, size=num_blocks, element_shape=shape)
        for shape in shapes
    )

    def body(index, collected, totals):
        results, additions = function(index)
        collected = tuple(
            array.write(index, result)
            for array, result in zip(collected, results, strict=True)
        )
        return index + 1, collected, _sums(totals, additions)

    _, collected, totals = tf.while_loop(
        lambda index, *_: index < num_blocks,
        body,
        (0, collected, tuple(totals)),
        parallel_iterations=at_once,
    )
    return tuple(array.stack() for array in collected), totals


def _sums(totals, additions):
    return tuple(t + a for t, a in zip(totals, additions, strict=True))
