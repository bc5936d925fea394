"""Run a model with another output in the place of one layer's own."""

import contextlib
import contextvars
import functools
import threading

_current = contextvars.ContextVar("layer_substitution", default=None)
_lock = threading.Lock()
_open = {}  # id of layer -> how many substitutions are open


@contextlib.contextmanager
def substituted(layer, output):
    """Let `layer` answer `output` to this thread; masks stay its own.

    >>> import keras
    >>> layer = keras.layers.Dense(3)
    >>> with substituted(layer, keras.ops.array([[7.0]])):
    ...     print(layer(keras.ops.ones((2, 5))).shape)
    (1, 1)
    """
    token = _current.set((layer, output))
    with _lock:
        _open[id(layer)] = _open.get(id(layer), 0) + 1
        if _open[id(layer)] == 1:
            # `vars`, since an attribute that is set on a layer is tracked.
            vars(layer)["call"] = _substituting_call(layer)
    try:
        yield
    finally:
        with _lock:
            _open[id(layer)] -= 1
            if _open[id(layer)] == 0:
                del _open[id(layer)]
                changed = vars(layer).pop("call")
                if changed.replaced is not None:
                    vars(layer)["call"] = changed.replaced
        _current.reset(token)


def _substituting_call(layer):
    call = layer.call

    @functools.wraps(call)
    def substituting(*args, **kwargs):
        current = _current.get()
        if current is None or current[0] is not layer:  # another thread
            return call(*args, **kwargs)
        return current[1]

    substituting.replaced = vars(layer).get("call")
    return substituting
