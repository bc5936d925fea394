"""Runs of neighbouring tokens, each as one number."""

from keras import ops

from keras_seq.ops.lookup import existing_rows
from keras_seq.ops.masks import padding_mask

# Two odd constants under 2**31 that mix the bits of a 32-bit integer well.
FACTORS = (0x2C1B3C6D, 0x297A2D39)


def ngram_keys(token_ids, max_ngram):
    """Give each run of 1 to `max_ngram` tokens a number, by a hash.

    The hash is made of 32-bit integers that overflow, which every backend
    lets them do in the same way. Two of a million different runs share a
    number by chance once in four thousand times.

    Shapes:
        token_ids `(B, T)` -> int32 `(B, T, max_ngram)`: the runs that begin
        at `t`, shortest first. 0 is for a run that would reach past the row
        or into padding.

    >>> ids = ops.convert_to_tensor([[7, 3, 7, 3, 0]])
    >>> keys = ngram_keys(ids, 2).numpy()[0]
    >>> keys[0].tolist() == keys[2].tolist()  # "7" and "7 3"
    True
    >>> (keys == 0).astype(int).tolist()
    [[0, 0], [0, 0], [0, 0], [0, 1], [1, 1]]
    """
    token_ids = ops.cast(token_ids, "int32")
    last = max_ngram - 1
    padded = ops.pad(token_ids, [[0, 0], [0, last]])
    hashes, is_real, keys = None, None, []
    for n in range(max_ngram):
        token = padded[:, n : n - last or None]  # the n-th one after each
        here = padding_mask(token)
        if n == 0:
            hashes, is_real = _mixed(token), here
        else:
            hashes = _mixed(hashes * 31 + token)
            is_real = ops.logical_and(is_real, here)
        keys.append(ops.where(is_real, hashes, 0))
    return ops.stack(keys, axis=-1)


def _mixed(hashes):
    hashes = ops.bitwise_xor(hashes, ops.right_shift(hashes, 15)) * FACTORS[0]
    hashes = ops.bitwise_xor(hashes, ops.right_shift(hashes, 12)) * FACTORS[1]
    return ops.bitwise_xor(hashes, ops.right_shift(hashes, 15))


def count_smaller(table, values):
    """Return how many entries of a sorted table are smaller than each value.

    `ops.searchsorted`, by halving, for runtimes that do not have it.

    Shapes:
        table `(N,)`, values `(...)` int32 -> int32 `(...)`.

    >>> table = ops.convert_to_tensor([2, 3, 5, 7, 11])
    >>> count_smaller(table, ops.convert_to_tensor([1, 5, 6, 12])).numpy()
    array([0, 2, 3, 5], dtype=int32)
    """
    size = table.shape[0]
    found = ops.zeros_like(values)
    step = 1 << size.bit_length()
    while step := step // 2:
        further = found + step
        last = existing_rows(table, ops.minimum(further, size) - 1)
        is_smaller = ops.logical_and(further <= size, last < values)
        found = ops.where(is_smaller, further, found)
    return found


def present_entries(keys, table):
    """Return 1.0 for each entry of a table that a row has, else 0.0.

    Nothing is sorted: ONNX sorts whole numbers as floats, and so takes
    neighbours for equal.

    Shapes:
        keys `(B, M)`, table `(N,)` sorted -> `(B, N)` float32.

    >>> table = ops.convert_to_tensor([2, 3, 5])
    >>> keys = ops.convert_to_tensor([[5, 2, 5], [9, 0, 3]])
    >>> present_entries(keys, table).numpy().tolist()
    [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """
    size = table.shape[0]
    place = ops.minimum(count_smaller(table, keys), size - 1)
    is_known = existing_rows(table, place) == keys
    place = ops.where(is_known, place, size)  # one more column, cut off below
    batch = ops.shape(keys)[0]
    rows = ops.expand_dims(ops.arange(batch, dtype="int32"), 1)
    places = ops.stack([rows + ops.zeros_like(place), place], axis=-1)
    counts = ops.scatter(
        places, ops.ones_like(place, dtype="float32"), (batch, size + 1)
    )
    return ops.minimum(counts, 1.0)[:, :-1]
