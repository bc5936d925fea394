"""Equations in the words that every runtime knows.

ONNX and LiteRT have no lists of tensors, no search in a sorted table, and lose
shapes on the way that TensorFlow keeps. What is fastest here is therefore not
always something that can be written down for them. While `portable()` is open,
the functions that have two ways to the same numbers take the plain one.

It is asked when Python runs: a graph that was traced outside has the fast way
in it, and pays nothing for there being another.
"""

import contextlib
import contextvars

_open = contextvars.ContextVar("portable", default=False)


@contextlib.contextmanager
def portable():
    """Let what is traced inside be made of plain operations only.

    >>> with portable():
    ...     is_portable()
    True
    >>> is_portable()
    False
    """
    token = _open.set(True)
    try:
        yield
    finally:
        _open.reset(token)


def is_portable():
    """Return True if the plain way is asked for."""
    return _open.get()
