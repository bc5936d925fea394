"""Rows of a table, and an honest answer where the table has no such row.

Left to themselves the backends disagree on an index out of range: TensorFlow
raises on a CPU, gives zeros on a GPU and clamps under XLA; JAX clamps a slice;
negative indices wrap round to the end of the table. Here it is always an
error, or NaN where a compiled program has no way to raise.
"""

import keras
from keras import ops


def known_values(x):
    """Return `x` as a NumPy array, or `None` while it is only being traced."""
    try:
        return ops.convert_to_numpy(x)
    except (RuntimeError, TypeError, ValueError):
        # One kind per backend: there is no value yet, only a symbol.
        return None


def check_range(name, indices, limit):
    """Raise `ValueError` if an index is known to lie outside `[0, limit)`.

    Returns:
        True if the values were there to be checked.
    """
    values = known_values(indices)
    if values is None:
        return False
    if values.size and not 0 <= values.min() <= values.max() < limit:
        raise ValueError(
            f"`{name}` must lie between 0 and {limit - 1}. "
            f"Received: values from {values.min()} to {values.max()}"
        )
    return True


def blank_outside(rows, name, indices, limit):
    """Return `rows`, provided that every index lies in `[0, limit)`.

    Values that are known now raise `ValueError`. Inside a traced function a
    TensorFlow graph raises `InvalidArgumentError` when it runs; where nothing
    can raise (XLA, `jax.jit`) the rows that do not exist are NaN.

    Shapes:
        rows `(..., D)`, indices `(...)` -> `(..., D)`.
    """
    if check_range(name, indices, limit):
        return rows
    exists = ops.logical_and(indices >= 0, indices < limit)
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        message = f"`{name}` must lie between 0 and {limit - 1}. Received:"
        tf.debugging.Assert(tf.reduce_all(exists), [message, indices])
    return ops.where(ops.expand_dims(exists, -1), rows, float("nan"))


def existing_rows(table, indices):
    """Return `table[indices]`, for indices that the table is known to have.

    On TensorFlow one operation, where `keras.ops.take` is seven, since it sees
    to negative indices; a decoding loop pays for each at every step.
    """
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        return tf.gather(table, indices)
    return ops.take(table, indices, axis=0)


def take_rows(table, name, indices):
    """Return `table[indices]`; an index the table does not have is an error.

    Shapes:
        table `(N, D)`, indices `(...)` -> `(..., D)`.

    >>> table = ops.reshape(ops.arange(6), (3, 2))
    >>> take_rows(table, "row", [2, 0]).numpy().tolist()
    [[4, 5], [0, 1]]
    >>> take_rows(table, "row", [3])
    Traceback (most recent call last):
    ValueError: `row` must lie between 0 and 2. Received: values from 3 to 3
    """
    limit = table.shape[0]
    nearest = ops.clip(ops.convert_to_tensor(indices), 0, limit - 1)
    rows = ops.take(table, nearest, axis=0)
    return blank_outside(rows, name, indices, limit)
