"""Let someone outside read attention weights without rewiring the model.

While a `recording()` is open, every attention layer that runs hands in its
weights. Nothing is kept on a layer, so nothing can go stale, and it works
inside traced functions because the weights are collected in the very trace
that makes them.
"""

import contextlib
import contextvars

from keras import ops

_current = contextvars.ContextVar("attention_recording", default=None)
_choices = contextvars.ContextVar("choice_recording", default=None)


@contextlib.contextmanager
def recording():
    """Collect `{layer path: weights (B, H, T, S)}` of what runs inside.

    >>> from keras_seq.layers import DotProductAttention
    >>> layer = DotProductAttention(name="look")
    >>> with recording() as found:
    ...     _ = layer(ops.ones((2, 3, 4)), ops.ones((2, 5, 4)))
    >>> {name: tuple(w.shape) for name, w in found.items()}
    {'look': (2, 1, 3, 5)}
    """
    found = {}
    token = _current.set(found)
    try:
        yield found
    finally:
        _current.reset(token)


def is_recording():
    """Return True if weights are wanted by someone outside."""
    return _current.get() is not None


def record(layer, weights):
    """Hand in `weights`, `(B, T, S)` or `(B, H, T, S)`, of one call."""
    found = _current.get()
    if found is None:
        return
    if len(weights.shape) == 3:
        weights = ops.expand_dims(weights, 1)
    name, call = layer.path or layer.name, 1
    while name in found:  # a layer that is called again, as shared ones are
        call += 1
        name = f"{layer.path or layer.name}_{call}"
    found[name] = weights


@contextlib.contextmanager
def recording_choices():
    """Collect `(weights, choices)` of every layer that draws where to look.

    Both are `(B, T, S)`; a choice is the drawn place, or the weights
    themselves where the expected value took its place.
    """
    found = []
    token = _choices.set(found)
    try:
        yield found
    finally:
        _choices.reset(token)


def record_choices(weights, choices):
    """Hand in weights and choices of one call, both `(T, B, S)`."""
    found = _choices.get()
    if found is not None:
        turned = (ops.transpose(x, (1, 0, 2)) for x in (weights, choices))
        found.append(tuple(turned))
