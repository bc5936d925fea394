"""Keys and values of the past, for decoding step by step.

A cache is a flat dict of tensors with the batch on axis 0, so that beams can be
reordered by one gather per tensor:

    key     (B, L, G, D)   the keys so far, of G heads
    value   (B, L, G, E)   the values so far
    mask    (B, L)         True where there is a real step
    length  (B,)           how many steps were appended; only if `L` is fixed

`L` grows with each step, or is fixed from the start (`max_length`), which is
what a compiled loop needs.
"""

from keras import ops


def empty_cache(batch_size, num_heads, key_dim, value_dim, dtype, max_length):
    """Return a cache with no steps in it, growing if `max_length` is `None`."""
    length = 0 if max_length is None else max_length
    cache = {
        "key": ops.zeros((batch_size, length, num_heads, key_dim), dtype),
        "value": ops.zeros((batch_size, length, num_heads, value_dim), dtype),
        "mask": ops.zeros((batch_size, length), "bool"),
    }
    if max_length is not None:
        cache["length"] = ops.zeros((batch_size,), "int32")
    return cache


def steps_so_far(cache):
    """Return how many steps were appended: a scalar, or `(B,)`."""
    return cache.get("length", ops.shape(cache["mask"])[1])


def append(cache, key, value, mask):
    """Return the cache with new steps: key and value `(B, T, G, D)`.

    Steps beyond a fixed length find no place, and are not seen.
    """
    new = {"key": key, "value": value, "mask": mask}
    if "length" not in cache:
        return {
            name: ops.concatenate([cache[name], tensor], axis=1)
            for name, tensor in new.items()
        }
    grown = {
        name: _write(cache[name], tensor, cache["length"])
        for name, tensor in new.items()
    }
    return {**grown, "length": cache["length"] + ops.shape(key)[1]}


def _write(buffer, new, start):
    """Put `new` `(B, T, ...)` at row-wise `start` `(B,)` of `buffer`.

    A select and not an update in place: it is the one form that runs in a
    graph, in XLA, on a GPU and on every backend alike.
    """
    batch, steps, *trailing = ops.shape(new)
    place = ops.arange(ops.shape(buffer)[1], dtype="int32")[None]
    offset = place - ops.expand_dims(start, 1)  # (B, L)
    inside = ops.logical_and(offset >= 0, offset < steps)
    inside = ops.reshape(inside, (*ops.shape(inside), *(1 for _ in trailing)))
    if new.shape[1] != 1:  # spread the new steps over the buffer
        first = steps * ops.expand_dims(ops.arange(batch, dtype="int32"), 1)
        index = first + ops.clip(offset, 0, steps - 1)
        new = ops.reshape(new, (batch * steps, *trailing))
        new = ops.take(new, index, axis=0)
    return ops.where(inside, new, buffer)


def visible(cache, steps, window=None):
    """Return `(B, 1, T, L)`: what the last `steps` appended steps may see."""
    end = ops.reshape(ops.cast(steps_so_far(cache), "int32"), (-1, 1))
    step_at = end - steps + ops.arange(steps, dtype="int32")  # (1 or B, T)
    place = ops.arange(ops.shape(cache["mask"])[1], dtype="int32")
    distance = ops.expand_dims(step_at, -1) - place
    seen = distance >= 0
    if window is not None:
        seen = ops.logical_and(seen, distance < window)
    seen = ops.logical_and(seen, ops.expand_dims(cache["mask"], 1))
    return ops.expand_dims(seen, 1)
