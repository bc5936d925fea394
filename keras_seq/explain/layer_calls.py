"""What goes into layers and comes out, while a model runs."""

import contextlib
from typing import Any, NamedTuple

from keras_seq.explain.call_hooks import hooked


class LayerCall(NamedTuple):
    """One call of a layer.

    Attributes:
        layer: The layer.
        inputs: Its first argument.
        output: What it returned.
    """

    layer: Any
    inputs: Any
    output: Any


@contextlib.contextmanager
def recorded_calls(layers):
    """Yield a list that fills with a `LayerCall` as each call ends.

    What other threads do with the layers is not recorded.

    >>> import keras
    >>> layer = keras.layers.Dense(3)
    >>> with recorded_calls([layer]) as calls:
    ...     _ = layer(keras.ops.ones((2, 5)))
    >>> [(call.layer is layer, tuple(call.output.shape)) for call in calls]
    [(True, (2, 3))]
    """
    calls = []

    def record(layer, call, *args, **kwargs):
        output = call(*args, **kwargs)
        inputs = args[0] if args else next(iter(kwargs.values()), None)
        calls.append(LayerCall(layer, inputs, output))
        return output

    with hooked(layers, record):
        yield calls
