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
import re
import threading

import keras
from keras import ops, tree

from keras_seq.explain.layer_tree import named_layers, unused
from keras_seq.explain.tensor_masks import mask_of, masked_copy
from keras_seq.layers.attention_recording import recording

_SCORES = "return_attention_scores"
_current = contextvars.ContextVar("attention_collection", default=None)
_lock = threading.Lock()
_watched = {}  # id of layer -> [layer, how many collections watch it]


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
    askable = [x for x in collection.layers if _SCORES in _parameters(x)]
    token = _current.set(collection)
    try:
        with recording() as recorded, _watching(askable):
            yield collection.weights
        collection.add_recorded(recorded)
    finally:
        _current.reset(token)


class _Collection:
    """The weights of one run, under the names of the model's layer tree."""

    def __init__(self, model):
        paths = named_layers(model)
        self.weights = {}
        self.layers = [model, *paths.values()]
        self._names = {id(layer): path for path, layer in paths.items()}
        self._names[id(model)] = model.name
        self._by_path = {x.path: self._names[id(x)] for x in self.layers}
        self._loops = {
            f"{path}/": layer
            for path, layer in paths.items()
            if isinstance(layer, keras.layers.RNN)
        }

    def add(self, name, weights):
        loop = next((p for p in self._loops if name.startswith(p)), None)
        if loop:
            raise ValueError(
                f"Attention '{name}' runs inside the loop of the recurrent "
                f"layer '{loop[:-1]}', and its weights cannot leave that "
                "loop. Let the recurrent cell return them as an output."
            )
        if len(weights.shape) == 3:
            weights = ops.expand_dims(weights, 1)
        self.weights[unused(name, self.weights)] = weights

    def name_of(self, layer):
        return self._names.get(id(layer), layer.path or layer.name)

    def add_recorded(self, recorded, layer=None):
        """Add what was recorded, in `layer` if it is known where."""
        own = layer and re.escape(layer.path or layer.name) + r"(_\d+)?"
        for path, weights in recorded.items():
            if own and re.fullmatch(own, path):
                self.add(self.name_of(layer), weights)
            else:
                self.add(self._by_path.get(path, path), weights)


def _asking_for_scores(layer):
    """Return `layer.call` that also hands its scores to the collection."""
    call = layer.call

    @functools.wraps(call)
    def call_and_collect(*args, **kwargs):
        collection = _current.get()
        if collection is None:  # another thread, which uses the model as it is
            return call(*args, **kwargs)
        before = len(collection.weights)
        asked = inspect.signature(call).bind(*args, **kwargs)
        masks = tree.map_structure(mask_of, asked.arguments)
        with recording() as recorded:
            outputs = call(*args, **kwargs)
            if not recorded and len(collection.weights) == before:
                # Neither the layer nor one inside it has spoken. It gets
                # copies: Keras takes the masks off the tensors it is given.
                asked.arguments = tree.map_structure(
                    masked_copy, asked.arguments, masks
                )
                asked.arguments[_SCORES] = True
                scored = call(*asked.args, **asked.kwargs)
                if isinstance(scored, tuple) and scored[1] is not None:
                    collection.add(collection.name_of(layer), scored[1])
        collection.add_recorded(recorded, layer)
        return outputs

    return call_and_collect


@contextlib.contextmanager
def _watching(layers):
    """Let `layers` be asked for scores, and leave them as they were.

    Several threads may watch the same layer: the first one in puts the asking
    `call` in place, the last one out takes it away.
    """
    with _lock:
        for layer in layers:
            entry = _watched.setdefault(id(layer), [layer, 0])
            entry[1] += 1
            if entry[1] == 1:
                # `vars`, since an attribute set on a layer is tracked.
                entry.append(vars(layer).get("call"))
                vars(layer)["call"] = _asking_for_scores(layer)
    try:
        yield
    finally:
        with _lock:
            for layer in layers:
                entry = _watched[id(layer)]
                entry[1] -= 1
                if entry[1] == 0:
                    del _watched[id(layer)]
                    if entry[2] is None:
                        del vars(layer)["call"]
                    else:
                        vars(layer)["call"] = entry[2]


def _parameters(layer):
    return inspect.signature(layer.call).parameters
