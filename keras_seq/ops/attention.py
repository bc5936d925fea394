"""Attention from scores: look everywhere a little, and at the match a lot."""

from keras import ops

from keras_seq.ops.masks import check_mask, masked_softmax, with_head_axis


def attend(scores, value, mask=None):
    """Return the average of `value` weighted by softmax of `scores`, and both.

    Shapes:
        scores `(..., T, S)`, value `(..., S, E)`, mask broadcast to scores
        -> context `(..., T, E)`, weights `(..., T, S)`.
    """
    weights = masked_softmax(scores, mask)
    return ops.matmul(ops.cast(weights, value.dtype), value), weights


def hide(x, mask):
    """Zero the steps of `x` `(B, S, D)` that `mask` `(B, S)` hides.

    A weight of zero is not enough: zero times NaN is NaN.
    """
    if mask is None:
        return x
    return ops.where(ops.expand_dims(mask, -1), x, ops.zeros_like(x))


def checked_masks(
    batch,
    query_length,
    key_length,
    num_heads=1,
    query_mask=None,
    value_mask=None,
    key_mask=None,
    attention_mask=None,
):
    """Check the masks of an attention call, and sort them by what they hide.

    Args:
        batch: Static `B`, or `None`.
        query_length: Static `T`, or `None`.
        key_length: Static `S`, or `None`.
        num_heads: `H`.
        query_mask: `(B, T)`.
        value_mask: `(B, S)`.
        key_mask: `(B, S)`.
        attention_mask: `(T, S)`, `(B, T, S)`, `(B, 1, T, S)` or
            `(B, H, T, S)`.

    Returns:
        `(seen_queries (B, T), seen_keys (B, S), pairs (B, 1 or H, T, S))`,
        each `None` if nothing is hidden. `seen_keys` is also False for keys
        that `attention_mask` hides from every query.
    """
    if query_mask is not None:
        query_mask = check_mask(
            "query_mask", query_mask, [(batch, query_length)]
        )
    seen_keys = None
    for name, mask in (("value_mask", value_mask), ("key_mask", key_mask)):
        if mask is not None and mask is not seen_keys:
            mask = check_mask(name, mask, [(batch, key_length)])
            seen_keys = mask if seen_keys is None else seen_keys & mask
    if attention_mask is None:
        return query_mask, seen_keys, None
    pair = (query_length, key_length)
    attention_mask = check_mask(
        "attention_mask",
        attention_mask,
        [pair, (batch, *pair), (batch, 1, *pair), (batch, num_heads, *pair)],
    )
    if len(attention_mask.shape) == 2:
        attention_mask = ops.expand_dims(attention_mask, 0)
    attention_mask = with_head_axis(attention_mask)
    ever_seen = ops.any(attention_mask, axis=(1, 2))
    seen_keys = ever_seen if seen_keys is None else seen_keys & ever_seen
    return query_mask, seen_keys, attention_mask
