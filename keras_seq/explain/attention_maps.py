"""Attention weights and their tokens, checked and ready to be drawn."""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class AttentionMap:
    """The attention of one layer.

    Attributes:
        name: Of the layer; empty if there is only one, without a name.
        rows: The T tokens that look.
        columns: The S tokens that are looked at.
        weights: Array `(H, T, S)`, NaN where there is nothing to see: in a
            row of zeros (a token that sees nothing) and where it came as NaN.
    """

    name: str
    rows: list[str]
    columns: list[str]
    weights: np.ndarray

    @property
    def mean(self):
        """The mean over heads, `(T, S)`, NaN where no head has a number."""
        seen = ~np.isnan(self.weights)
        total = np.where(seen, self.weights, 0.0).sum(axis=0)
        count = seen.sum(axis=0)
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def attention_maps(weights, rows, columns):
    """Return a list of `AttentionMap`, one for each layer.

    Args:
        weights: `(T, S)`, `(H, T, S)` or `(layers, H, T, S)`; or a dict
            `{layer name: weights}` of `(T, S)`, `(H, T, S)` or, as a model
            gives for a batch of one, `(1, H, T, S)`.
        rows: The T tokens that look; or `{layer name: tokens}`.
        columns: The S tokens that are looked at; or `{layer name: tokens}`.

    >>> maps = attention_maps([[0.9, 0.1], [0, 0]], ["a", "b"], ["c", "d"])
    >>> maps[0].weights
    array([[[0.9, 0.1],
            [nan, nan]]])
    """
    if isinstance(weights, dict):
        layers = {
            str(name): _layer(value, f"weights[{name!r}]")
            for name, value in weights.items()
        }
    else:
        array = _numbers(weights, "weights")
        if array.ndim == 4:
            names = [f"layer {i + 1}" for i in range(len(array))]
            names = [""] if len(array) == 1 else names
            layers = dict(zip(names, array, strict=True))
        else:
            layers = {"": _layer(array, "weights")}
    if not layers:
        raise ValueError(
            f"`weights` must have at least one layer. Received: {weights!r}"
        )
    return [_map(name, w, rows, columns) for name, w in layers.items()]


def _layer(weights, argument):
    """Return weights as `(H, T, S)`."""
    array = _numbers(weights, argument)
    if array.ndim == 4 and len(array) == 1:
        return array[0]
    if array.ndim == 4:
        raise ValueError(
            f"`{argument}` must be of one example, (H, T, S), but is of a "
            f"batch. Choose one, e.g. weights[0]. Received: shape {array.shape}"
        )
    return array[None] if array.ndim == 2 else array


def _numbers(weights, argument):
    try:
        array = np.asarray(weights, dtype="float64")
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"`{argument}` must be an array of numbers. Received: {weights!r}"
        ) from error
    if array.ndim not in (2, 3, 4):
        raise ValueError(
            f"`{argument}` must have the shape (T, S), (H, T, S) or (layers, "
            f"H, T, S). Received: shape {array.shape}"
        )
    if 0 in array.shape:
        raise ValueError(
            f"`{argument}` must not be empty. Received: shape {array.shape}"
        )
    if np.isinf(array).any():
        raise ValueError(
            f"`{argument}` must be finite, or NaN where there is nothing to "
            f"draw. Received: {np.isinf(array).sum()} infinite numbers"
        )
    return array


def _map(name, weights, rows, columns):
    rows = _tokens(rows, "rows", name)
    columns = _tokens(columns, "columns", name)
    if weights.shape[1:] != (len(rows), len(columns)):
        layer = f" of layer {name!r}" if name else ""
        raise ValueError(
            f"`weights`{layer} must have a row for each of the {len(rows)} "
            f"`rows` and a column for each of the {len(columns)} `columns`. "
            f"Received: shape {weights.shape}"
        )
    blind = ~np.nan_to_num(weights).any(axis=-1, keepdims=True)
    return AttentionMap(name, rows, columns, np.where(blind, np.nan, weights))


def _tokens(tokens, argument, layer):
    if isinstance(tokens, dict):
        if layer not in tokens:
            raise ValueError(
                f"`{argument}` must have the tokens of every layer, and has "
                f"none of {layer!r}. Received: {list(tokens)}"
            )
        tokens = tokens[layer]
    if isinstance(tokens, (str, bytes)) or not hasattr(tokens, "__len__"):
        raise ValueError(
            f"`{argument}` must be a list of tokens. Received: {tokens!r}"
        )
    return [_readable(token) for token in tokens]


def _readable(token):
    r"""Return the token as text, with what cannot be seen made visible.

    >>> [_readable(t) for t in (b"caf\xc3\xa9", " ", "a\nb", "", 7)]
    ['café', '␣', 'a↵b', '∅', '7']
    """
    if isinstance(token, bytes):
        token = token.decode("utf-8", errors="replace")
    token = str(token).encode("utf-8", errors="replace").decode("utf-8")
    if token == "":
        return "∅"
    if token.isspace() and token.strip(" ") == "":
        return "␣" * len(token)
    token = token.replace("\n", "↵").replace("\t", "⇥")
    return "".join("�" if ord(c) < 32 or ord(c) == 127 else c for c in token)
