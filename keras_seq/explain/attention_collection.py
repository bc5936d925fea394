"""Collect the attention weights of every layer that runs inside a model.

Layers of keras_seq hand in their weights by themselves. Any other layer whose
`call` has an argument `return_attention_scores` is asked for them: while a
model is watched, its `call` is followed by a second one that wants the scores.
What the model itself gets is the answer to its own call, to the last bit.
(Keras computes the two in different ways, and they differ where a query is
padding.)
"""

import contextlib
import contextvars
import functools
import inspect
import threading

import keras
from keras import ops, tree

from keras_seq.explain.layer_tree import named_layers, unused
from keras_seq.explain.tensor_masks import mask_of, masked_copy
from keras_seq.layers.attention_recording import recording

_SCORES = "return_attention_scores"
_current = contextvars.ContextVar("attention_collection", default=None)
_lock = threading.Lock()
_watched = {}  # id of layer -> how many collections watch it


@contextlib.contextmanager
def collect_attention(model):
    """Yield a dict that fills with `{name: weights (B, H, T, S)}` of `model`.

    >>> layer = keras.layers.Attention(name="look")
    >>> block = keras.Sequential([layer], name="block")
    >>> with collect_attention(block) as weights:
    ...     _ = layer([ops.ones((2, 3, 4)), ops.ones((2, 5, 4))])
    >>> {name: tuple(w.shape) for name, w in weights.items()}
    {'look': (2, 1, 3, 5)}
    """
    collection = _Collection(model)
    token = _current.set(collection)
    try:
        with _watching(collection.layers):
            yield collection.weights
    finally:
        _current.reset(token)


class _Collection:
    """The weights of one run, under the names of the model's layer tree."""

    def __init__(self, model):
        paths = named_layers(model)
        self.layers = [model, *paths.values()]
        self.weights = {}
        self._names = {id(layer): path for path, layer in paths.items()}
        self._names[id(model)] = model.name
        self._loops = [
            path
            for path, layer in paths.items()
            if isinstance(layer, keras.layers.RNN)
        ]

    def add(self, layer, weights):
        """File the weights of one call under the name of its layer."""
        name = self._names.get(id(layer), layer.path or layer.name)
        for loop in self._loops:
            if name.startswith(f"{loop}/"):
                raise ValueError(
                    f"Attention '{name}' runs inside the loop of the recurrent "
                    f"layer '{loop}', and its weights cannot leave that loop. "
                    "Let the recurrent cell return them as an output."
                )
        if len(weights.shape) == 3:
            weights = ops.expand_dims(weights, 1)
        self.weights[unused(name, self.weights)] = weights


@contextlib.contextmanager
def _watching(layers):
    """Put a watched `call` on each layer, and leave them as they were.

    Several threads may watch the same layer: the first one in puts the watched
    `call` in its place, the last one out takes it away.
    """
    with _lock:
        for layer in layers:
            _watched[id(layer)] = _watched.get(id(layer), 0) + 1
            if _watched[id(layer)] == 1:
                # `vars`, since an attribute that is set on a layer is tracked.
                vars(layer)["call"] = _watched_call(layer)
    try:
        yield
    finally:
        with _lock:
            for layer in layers:
                _watched[id(layer)] -= 1
                if _watched[id(layer)] == 0:
                    del _watched[id(layer)]
                    watched = vars(layer).pop("call")
                    if watched.replaced is not None:
                        vars(layer)["call"] = watched.replaced


def _watched_call(layer):
    """Return `layer.call`, which also hands its weights to the collection."""
    call = layer.call
    signature = inspect.signature(call)

    @functools.wraps(call)
    def watched(*args, **kwargs):
        collection = _current.get()
        if collection is None:  # another thread, which uses the model as it is
            return call(*args, **kwargs)
        before = len(collection.weights)
        asked = None
        if _SCORES in signature.parameters:
            asked = signature.bind(*args, **kwargs)
            masks = tree.map_structure(mask_of, asked.arguments)
        with recording() as recorded:
            outputs = call(*args, **kwargs)
        for weights in recorded.values():
            collection.add(layer, weights)
        if asked and len(collection.weights) == before:
            # Neither the layer nor one inside it has spoken. It gets copies,
            # because Keras takes the masks off the tensors it is given.
            asked.arguments = tree.map_structure(
                masked_copy, asked.arguments, masks
            )
            asked.arguments[_SCORES] = True
            scored = call(*asked.args, **asked.kwargs)
            if isinstance(scored, tuple) and scored[1] is not None:
                collection.add(layer, scored[1])
        return outputs

    watched.replaced = vars(layer).get("call")
    return watched
