"""Positions as a bias on attention scores: how far is the key from the query?

Distances are counted from the query back to the key: 0 is the query's own
place, positive is the past and negative the future.
"""

import math

import numpy as np
from keras import ops

from keras_seq.ops.masks import relative_distance


def query_key_distance(query_length, key_length, start_index=None):
    """Return `(T, S)` integers: how far key `s` lies behind query `t`.

    Args:
        query_length: T.
        key_length: S.
        start_index: Position of the first query among the keys. By default
            the last query stands at the last key, as in a cache that holds
            exactly the past; a cache with room to spare needs the index.
    """
    distance = relative_distance(query_length, key_length)
    if start_index is None:
        return distance
    return distance + (start_index - (key_length - query_length))


def alibi_slopes(num_heads):
    """Return one slope per head, a NumPy array `(H,)`.

    For a power of two the slopes are a geometric series from `2^(-8/H)` to
    `2^-8`. Otherwise, as the authors do it: the series of the next smaller
    power of two, then every other term of the next larger one.

    >>> alibi_slopes(4).tolist()
    [0.25, 0.0625, 0.015625, 0.00390625]
    """
    if num_heads < 1:
        raise ValueError(f"`num_heads` must be positive. Received: {num_heads}")
    smaller = 2 ** int(math.log2(num_heads))
    series = [2 ** (-8 * (h + 1) / smaller) for h in range(smaller)]
    finer = [2 ** (-4 * (h + 1) / smaller) for h in range(2 * smaller)]
    return np.array(series + finer[::2][: num_heads - smaller])


def alibi_bias(num_heads, query_length, key_length=None, start_index=None):
    r"""Attention with linear biases (Press et al., 2022).

    $$ bias_{hts} = -m_h \, |t - s| $$

    with $m_h$ of `alibi_slopes`, to be added to the scores. The same numbers
    serve both ways: with a causal mask what is left is the paper's triangle,
    without one it is the symmetric form for encoders.

    Args:
        num_heads: H, any number.
        query_length: T.
        key_length: S, by default T. The last query stands at the last key.
        start_index: Position of the first query among the keys, if it is
            not `S - T`.

    Shapes:
        `(1, H, T, S)`, float32.

    >>> alibi_bias(1, query_length=1, key_length=3).numpy()[0, 0].tolist()
    [[-0.0078125, -0.00390625, -0.0]]

    Reference: <https://arxiv.org/abs/2108.12409>
    """
    key_length = query_length if key_length is None else key_length
    distance = query_key_distance(query_length, key_length, start_index)
    distance = ops.cast(ops.abs(distance), "float32")
    slopes = alibi_slopes(num_heads).astype("float32")[None, :, None, None]
    return -ops.convert_to_tensor(slopes) * distance


def relative_position_bucket(
    distance, num_buckets=32, max_distance=128, bidirectional=True
):
    r"""Which of T5's buckets a distance falls into (Raffel et al., 2020).

    The first half of the buckets hold one distance each, the second half ever
    wider ranges up to `max_distance`; all that is farther shares the last.
    With $e$ of $n$ buckets exact, a distance $d \ge e$ goes to

    $$ e + \min\left(n - e - 1, \left\lfloor
       \frac{\log(d / e)}{\log(d_{max} / e)} (n - e) \right\rfloor\right). $$

    Args:
        distance: Integers, how far the key lies behind the query.
        num_buckets: How many buckets in all.
        max_distance: From here on, all distances are alike.
        bidirectional: If True, past and future have half of the buckets each,
            the past first. If False, the future shares bucket 0.

    Shapes:
        any -> the same, int32.

    >>> distance = ops.convert_to_tensor([0, 1, 8, 16, 500, -1, -500])
    >>> relative_position_bucket(distance).numpy().tolist()
    [0, 1, 8, 10, 15, 17, 31]

    Reference: <https://arxiv.org/abs/1910.10683>
    """
    check_buckets(num_buckets, max_distance, bidirectional)
    distance = ops.convert_to_tensor(distance)
    one_way = num_buckets // 2 if bidirectional else num_buckets
    bucket_of = ops.convert_to_tensor(_buckets(one_way, max_distance))
    size = ops.abs(distance) if bidirectional else ops.maximum(distance, 0)
    bucket = ops.take(bucket_of, ops.minimum(size, max_distance), axis=0)
    if bidirectional:
        bucket = bucket + one_way * ops.cast(distance < 0, "int32")
    return bucket


def check_buckets(num_buckets, max_distance, bidirectional):
    """Raise `ValueError` for buckets that cannot be laid out."""
    fewest = 4 if bidirectional else 2
    if num_buckets < fewest or (bidirectional and num_buckets % 2):
        raise ValueError(
            f"`num_buckets` must be at least {fewest}"
            f"{' and even' if bidirectional else ''}. Received: "
            f"num_buckets={num_buckets}, bidirectional={bidirectional}"
        )
    exact = num_buckets // fewest
    if max_distance <= exact:
        raise ValueError(
            "`max_distance` must be greater than the number of exact buckets, "
            f"{exact}. Received: {max_distance}"
        )


def _buckets(num_buckets, max_distance):
    """Return the bucket of each distance from 0 to `max_distance`.

    A table, because a float32 logarithm may land on either side of a whole
    number. Here the logarithms are raised to integers, which do not round:
    `log(d/e) / log(m/e) >= k/n` where `d^n e^k >= m^k e^n`.
    """
    exact = num_buckets // 2
    wide = num_buckets - exact
    table = np.arange(max_distance + 1, dtype="int32")
    k = 0
    for d in range(exact, max_distance + 1):
        while k < wide - 1 and (
            d**wide * exact ** (k + 1) >= max_distance ** (k + 1) * exact**wide
        ):
            k += 1
        table[d] = exact + k
    return table
