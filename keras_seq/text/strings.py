"""Whatever a caller holds text in, as a string tensor."""

import numpy as np
import tensorflow as tf


def as_strings(texts):
    """Return `texts` as a string tensor, ragged if its rows differ in length.

    Takes `str`, `bytes`, nested lists of them, NumPy arrays (`U`, `S`, object)
    and string tensors. A Python `str` that UTF-8 cannot hold (it has a lone
    surrogate) becomes bytes that are not UTF-8; tokenizers read them as U+FFFD.

    >>> as_strings([["a"], ["b", "c"]]).shape.as_list()
    [2, None]
    """
    if isinstance(texts, tf.Tensor | tf.RaggedTensor):
        if texts.dtype != tf.string:
            raise ValueError(
                "`texts` must be strings. "
                f"Received: a tensor of dtype {texts.dtype.name}"
            )
        return texts
    if isinstance(texts, np.ndarray | np.generic):
        texts = texts.tolist()
    if not isinstance(texts, str | bytes | list | tuple):
        raise ValueError(
            "`texts` must be a string, a (nested) list of strings, a NumPy "
            f"array or a string tensor. Received: {type(texts).__name__}"
        )
    encoded = _encode(texts)
    try:
        return tf.constant(encoded, tf.string)
    except (TypeError, ValueError):  # rows of different lengths
        return tf.ragged.constant(encoded, dtype=tf.string)


def _encode(texts):
    if isinstance(texts, str):
        return texts.encode("utf-8", "surrogatepass")
    if isinstance(texts, bytes):
        return texts
    if isinstance(texts, tf.Tensor) and texts.dtype == tf.string:
        return texts.numpy() if texts.ndim == 0 else _encode(list(texts))
    if isinstance(texts, np.ndarray):
        texts = texts.tolist()
    if isinstance(texts, list | tuple):
        return [_encode(text) for text in texts]
    raise ValueError(
        f"`texts` must hold strings only. Received: {texts!r} in it"
    )
