"""Tensors as TensorFlow Serving's JSON writes them, there and back.

A tensor is nested lists of numbers, booleans or strings; bytes that are no text
are `{"b64": "..."}`. What comes in is checked value by value, since NumPy would
rather guess (`[1, true]`, `["a", 1]`, a ragged list) than refuse.
"""

import base64
import binascii
import itertools

import numpy as np

from keras_seq.serving.serving_error import bad_request

MAX_RANK = 16
B64 = "b64"
_SIGNED = ("int8", "int16", "int32", "int64")
_UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
_FLOATS = ("float32", "float64")
_ENOUGH_DIGITS = 9  # to tell any two numbers of 32 bits apart


def decode_tensor(
    name: str, value, dtype: str, shape: list | None
) -> np.ndarray:
    """Return nested lists as an array.

    Args:
        name: Name of the input, for what goes wrong.
        value: What the JSON held.
        dtype: What the signature takes: "string", "int32", ...
        shape: What it takes, None for an axis of any size; None for any rank.

    Raises:
        ServingError: It is ragged, or of another type or shape.

    >>> decode_tensor("x", [[1, 2.5]], "float32", [None, 2])
    array([[1. , 2.5]], dtype=float32)
    """
    sizes, leaves = _flatten(name, value)
    if dtype == "string":
        array = np.empty(len(leaves), object)
        array[:] = [_to_bytes(name, leaf) for leaf in leaves]
    else:
        array = _numbers(name, leaves, dtype)
    if not fits(sizes, shape):
        raise bad_request(
            f"input {name!r} must have the shape {_show(shape)}. "
            f"Received: {_show(sizes)}"
        )
    return array.reshape(sizes)


def encode_tensor(name: str, array: np.ndarray):
    r"""Return an array as nested lists.

    Strings are text, or `{"b64": ...}` where the output's name ends in
    `_bytes` or the bytes are no text.

    >>> encode_tensor("word", np.array([b"fine", b"\xff"], object))
    ['fine', {'b64': '/w=='}]
    """
    array = np.asarray(array)
    if array.dtype.kind in "OSU":
        leaves = [_from_bytes(name, item) for item in array.ravel().tolist()]
    elif array.dtype.kind == "f":
        digits = _ENOUGH_DIGITS if array.dtype.itemsize <= 4 else 17
        leaves = [
            float(f"{item:.{digits}g}") for item in array.ravel().tolist()
        ]
    else:
        return array.tolist()
    return _nest(leaves, array.shape)


def fits(sizes, shape: list | None) -> bool:
    """Whether a tensor of these sizes may go where `shape` is asked for."""
    if shape is None:
        return True
    return len(sizes) == len(shape) and all(
        want is None or want == size
        for size, want in zip(sizes, shape, strict=True)
    )


def is_b64(value) -> bool:
    """Whether it is bytes, `{"b64": ...}`, and not tensors by name."""
    return isinstance(value, dict) and set(value) == {B64}


def _flatten(name, value):
    """Return the shape of nested lists and what is in them, level by level."""
    sizes, leaves = [], [value]
    while leaves:
        lists = sum(type(item) is list for item in leaves)
        if not lists:
            break
        lengths = {len(item) for item in leaves if type(item) is list}
        if lists != len(leaves) or len(lengths) > 1:
            raise bad_request(
                f"input {name!r} must not be ragged: at depth {len(sizes) + 1}"
                " its lists differ in length"
            )
        if len(sizes) == MAX_RANK:
            raise bad_request(
                f"input {name!r} must not be nested deeper than {MAX_RANK}"
            )
        sizes += lengths
        leaves = list(itertools.chain.from_iterable(leaves))
    return sizes, leaves


def _numbers(name, leaves, dtype):
    kinds = set(map(type, leaves))
    if dtype == "bool":
        allowed = {bool}
    elif dtype in _SIGNED + _UNSIGNED:
        allowed = {int}
    elif dtype in _FLOATS:
        allowed = {int, float}
    else:
        raise bad_request(
            f"input {name!r} is of a type that JSON cannot hold: {dtype}"
        )
    if not kinds <= allowed:
        odd = next(leaf for leaf in leaves if type(leaf) not in allowed)
        raise bad_request(
            f"input {name!r} must hold values of type {dtype}. "
            f"Received: {_kind(odd)}"
        )
    try:
        with np.errstate(over="ignore"):  # 1e300 is infinity in 32 bits
            return np.array(leaves, dtype)
    except OverflowError as error:
        raise bad_request(
            f"input {name!r} must hold values of type {dtype}. "
            "Received: a number out of its range"
        ) from error


def _to_bytes(name, leaf):
    if type(leaf) is str:
        try:
            return leaf.encode("utf-8")
        except UnicodeEncodeError as error:
            raise bad_request(
                f"input {name!r} must hold text. Received: half a surrogate "
                "pair"
            ) from error
    if is_b64(leaf) and type(leaf[B64]) is str:
        try:
            return base64.b64decode(leaf[B64], validate=True)
        except (binascii.Error, ValueError) as error:
            raise bad_request(
                f"input {name!r} must hold valid base64 in 'b64'. "
                f"Received: {error}"
            ) from error
    raise bad_request(
        f'input {name!r} must hold strings or {{"b64": string}}. '
        f"Received: {_kind(leaf)}"
    )


def _from_bytes(name, item):
    if isinstance(item, str):
        return item
    if not name.endswith("_bytes"):
        try:
            return item.decode("utf-8")
        except UnicodeDecodeError:
            pass
    return {B64: base64.b64encode(item).decode("ascii")}


def _nest(leaves, shape):
    for axis in range(len(shape) - 1, 0, -1):
        size, count = shape[axis], int(np.prod(shape[:axis]))
        leaves = [leaves[i * size : (i + 1) * size] for i in range(count)]
    return leaves if shape else leaves[0]


def _kind(value):
    """Say what JSON calls a value, never the value: it may be megabytes."""
    if value is None:
        return "null"
    names = {
        bool: "a boolean",
        int: "a whole number",
        float: "a number",
        str: "a string",
        dict: "an object",
    }
    return names[type(value)]


def _show(sizes):
    if sizes is None:
        return "any"
    return "(" + ", ".join("?" if s is None else str(s) for s in sizes) + ")"
