"""Say what shape was wanted, before a backend complains about its insides."""

import keras


def check_shape(name, shape, *allowed):
    """Raise `ValueError` unless `shape` is one of `allowed`.

    Args:
        name: What the caller calls this tensor.
        shape: Its static shape; `None` stands for a length not known yet.
        *allowed: Tuples of lengths and of letters; a letter is any length.

    >>> check_shape("inputs", (2, 3), ("B", "T", 7))
    Traceback (most recent call last):
    ValueError: `inputs` must have shape (B, T, 7). Received: shape=(2, 3)
    """
    shape = tuple(shape)
    if not any(_fits(shape, wanted) for wanted in allowed):
        wanted = " or ".join(
            f"({', '.join(str(axis) for axis in axes)})" for axes in allowed
        )
        raise ValueError(
            f"`{name}` must have shape {wanted}. Received: shape={shape}"
        )


def _fits(shape, wanted):
    return len(shape) == len(wanted) and all(
        got is None or isinstance(want, str) or got == want
        for got, want in zip(shape, wanted, strict=True)
    )


def is_symbol(length):
    """Return True if `length` is only a name, which cannot be compared.

    So it is where JAX infers or exports a shape that is not known. Where
    TensorFlow does, a length is a tensor.

    >>> is_symbol(3)
    False
    """
    return keras.backend.backend() == "jax" and not isinstance(length, int)
