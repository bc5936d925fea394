"""Step between a model and the calls of its layers, for one thread only."""

import contextlib
import contextvars
import functools
import threading

# {id of layer: hooks}, of this thread; the last one stands outermost.
_hooks = contextvars.ContextVar("call_hooks")
_lock = threading.Lock()
_hooked = {}  # id of layer -> how many threads and hooks stand between


@contextlib.contextmanager
def hooked(layers, hook):
    """Let `hook(layer, call, *args, **kwargs)` answer calls of the layers.

    Several threads may hook the same layer: the first one in puts the changed
    `call` in its place, the last one out takes it away. A thread meets its
    own hooks only.

    >>> import keras
    >>> layer = keras.layers.ReLU()
    >>> def twice(layer, call, x):
    ...     return 2 * call(x)
    >>> with hooked([layer], twice):
    ...     print(layer(keras.ops.array([3.0])).numpy())
    [6.]
    """
    layers = list(layers)
    mine = _hooks.get({})
    added = {id(layer): (*mine.get(id(layer), ()), hook) for layer in layers}
    token = _hooks.set({**mine, **added})
    with _lock:
        for layer in layers:
            _hooked[id(layer)] = _hooked.get(id(layer), 0) + 1
            if _hooked[id(layer)] == 1:
                # `vars`, since an attribute that is set on a layer is tracked.
                vars(layer)["call"] = _hooked_call(layer)
    try:
        yield
    finally:
        with _lock:
            for layer in layers:
                _hooked[id(layer)] -= 1
                if _hooked[id(layer)] == 0:
                    del _hooked[id(layer)]
                    changed = vars(layer).pop("call")
                    if changed.replaced is not None:
                        vars(layer)["call"] = changed.replaced
        _hooks.reset(token)


def _hooked_call(layer):
    call = layer.call

    @functools.wraps(call)
    def meeting_hooks(*args, **kwargs):
        answer = call
        for hook in _hooks.get({}).get(id(layer), ()):
            answer = functools.partial(hook, layer, answer)
        return answer(*args, **kwargs)

    meeting_hooks.replaced = vars(layer).get("call")
    return meeting_hooks
