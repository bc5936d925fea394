"""Every layer inside a model, with a name that says where it stands."""

import re

# Where Keras and its backends keep lists of layers for themselves. A label
# taken from one of these would say nothing about the layer.
_BOOKKEEPING = re.compile(
    r"_layers|_modules|_functional|_operations|_tracked|_self_.*|_compiled_.*"
)


def named_layers(model):
    """Return `{path: layer}` of all layers in `model`, outermost first.

    A path is made of the layers' names, `decoder_1/self_attention`, without
    the name of `model` itself. Where a name was made up by Keras
    (`multi_head_attention_7`, another number in the next process), the
    attribute that holds the layer stands in its place, since that is how the
    author of a block tells its layers apart. Two layers that would share a
    path get `:2`, `:3`, ... in the order in which they were created.

    >>> import keras
    >>> encoder = keras.Sequential([keras.layers.Dense(2, name="a")], name="e")
    >>> list(named_layers(keras.Sequential([encoder])))
    ['e', 'e/a']
    """
    found, seen, queue = {}, {id(model)}, [("", model)]
    while queue:  # breadth first: a shared layer is named where it is shallow
        prefix, owner = queue.pop(0)
        # Keras has no public list of the layers inside a layer.
        for layer in owner._flatten_layers(include_self=False, recursive=False):
            if id(layer) in seen:
                continue
            seen.add(id(layer))
            path = unused(prefix + _label(owner, layer), found)
            found[path] = layer
            queue.append((f"{path}/", layer))
    return found


def unused(name, taken):
    """Return `name`, or `name:2`, `name:3`, ... if it is already in `taken`."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}:{number}"
    return free


def _label(owner, layer):
    """Return the layer's name or, if that is automatic, the attribute's."""
    chosen = re.sub(r"_\d+$", "", layer.name).replace("_", "")
    if chosen != type(layer).__name__.lower().replace("_", ""):
        return layer.name
    # PyTorch keeps sub-modules beside the other attributes.
    attributes = {**vars(owner), **vars(owner).get("_modules", {})}
    for name, value in attributes.items():
        if _BOOKKEEPING.fullmatch(name):
            continue
        if isinstance(value, (list, tuple)):
            held = {f"{name}_{i}": item for i, item in enumerate(value)}
        elif isinstance(value, dict):
            held = {f"{name}_{key}": item for key, item in value.items()}
        else:
            held = {name: value}
        for label, item in held.items():
            if item is layer:
                return label.strip("_")
    return layer.name
