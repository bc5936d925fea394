"""Boolean masks. One convention everywhere: True means "may be looked at"."""

import functools

import keras
from keras import ops

# Far below any real score, far above the smallest float32: adding a score to
# it cannot overflow.
HIDDEN = -1e30


def padding_mask(token_ids, pad_id=0):
    """Return `(B, S)`, True where `token_ids` holds a real token.

    >>> padding_mask(ops.convert_to_tensor([[5, 3, 0]])).numpy().tolist()
    [[True, True, False]]
    """
    return ops.not_equal(token_ids, pad_id)


def relative_distance(query_length, key_length):
    """Return `(T, S)` integers: how far key `s` lies behind query `t`.

    The last query stands at the last key (bottom-right alignment), as it does
    when earlier keys come from a cache. Negative distances are the future.
    """
    query_at = ops.arange(query_length, dtype="int32")
    query_at = query_at + (key_length - query_length)
    key_at = ops.arange(key_length, dtype="int32")
    return ops.expand_dims(query_at, 1) - ops.expand_dims(key_at, 0)


def causal_mask(query_length, key_length=None):
    """Return `(T, S)`: a query sees keys up to its own place.

    >>> causal_mask(2, 3).numpy().tolist()
    [[True, True, False], [True, True, True]]
    """
    key_length = query_length if key_length is None else key_length
    return relative_distance(query_length, key_length) >= 0


def local_mask(window, query_length, key_length=None):
    """Return `(T, S)`: a query sees keys less than `window` places away.

    `window=1` sees itself alone, as `sliding_window=1` does in Keras.

    >>> local_mask(2, 3).numpy().astype(int).tolist()
    [[1, 1, 0], [1, 1, 1], [0, 1, 1]]
    """
    key_length = query_length if key_length is None else key_length
    return ops.abs(relative_distance(query_length, key_length)) < window


def check_mask(name, mask, shapes):
    """Raise `ValueError` unless `mask` is boolean and of one of `shapes`.

    Args:
        name: What the caller calls this mask.
        mask: A tensor; boolean, or integers 0 and 1.
        shapes: Allowed shapes; `None` stands for a length that is not known.
            A mask axis of length 1 is broadcast.

    Returns:
        The mask as booleans.
    """
    mask = ops.convert_to_tensor(mask)
    dtype = keras.backend.standardize_dtype(mask.dtype)
    if "float" in dtype:
        raise ValueError(
            f"`{name}` must be boolean, True where a position may be looked "
            "at; floating-point masks are refused because some are additive "
            f"(0 = visible) and some are not. Received: dtype={dtype}"
        )
    check_broadcast(name, mask, shapes)
    return ops.cast(mask, "bool")


def check_broadcast(name, tensor, shapes):
    """Raise `ValueError` unless `tensor` can be spread to one of `shapes`."""
    got = tuple(tensor.shape)
    if not any(_broadcasts(got, shape) for shape in shapes):
        wanted = " or ".join(str(tuple(shape)) for shape in shapes)
        raise ValueError(
            f"`{name}` must have shape {wanted}. Received: shape={got}"
        )


def _broadcasts(got, wanted):
    return len(got) == len(wanted) and all(
        g is None or w is None or g in (1, w)
        for g, w in zip(got, wanted, strict=True)
    )


def with_head_axis(mask):
    """Lift a mask of rank 2 `(B, S)` or 3 `(B, T, S)` to `(B, 1, T, S)`."""
    if len(mask.shape) == 2:
        mask = ops.expand_dims(mask, 1)
    if len(mask.shape) == 3:
        mask = ops.expand_dims(mask, 1)
    return mask


def merge_masks(*masks):
    """Join masks of any rank by "and"; `None` is a mask that hides nothing.

    Shapes:
        each of `(B, S)`, `(B, T, S)`, `(B, 1, T, S)`, `(B, H, T, S)`
        -> `(B, 1 or H, 1 or T, S)`, or `None` if there was no mask at all.
    """
    masks = [
        with_head_axis(ops.cast(m, "bool")) for m in masks if m is not None
    ]
    return functools.reduce(ops.logical_and, masks) if masks else None


def masked_softmax(scores, mask=None):
    """Softmax over the last axis, in float32, blind to where `mask` is False.

    A row with nothing to look at comes back as zeros: not as NaN, and not as
    the average of the padding. What stands in a hidden score is never read,
    NaN included.

    >>> scores = ops.convert_to_tensor([[1.0, float("nan")], [1.0, 2.0]])
    >>> mask = ops.convert_to_tensor([[True, False], [False, False]])
    >>> masked_softmax(scores, mask).numpy().tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    dtype = scores.dtype
    scores = ops.cast(scores, "float32")
    if mask is None:
        return ops.cast(softmax(scores), dtype)
    scores = ops.where(mask, scores, HIDDEN)
    weights = ops.where(mask, softmax(scores), 0.0)
    return ops.cast(weights, dtype)


def softmax(scores):
    """Softmax over the last axis; of a single score it is 1, without remark.

    Keras warns about an axis of length 1, which is what the first step of any
    decoder has.
    """
    if scores.shape[-1] == 1:
        return ops.ones_like(scores)
    return ops.softmax(scores, axis=-1)
