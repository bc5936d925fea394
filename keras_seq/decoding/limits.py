"""What may be written, and how much of it."""

import keras
import numpy as np
from keras import ops

PADDING = 0
NEVER = float("-inf")


def limits_and_room(max_length, room, batch_size):
    """Return a limit for each row, `(B, 1)` int32, and the largest of them.

    Args:
        max_length: An integer, a scalar tensor or one of shape `(B,)`.
        room: How many tokens to make room for; by default the largest limit.
        batch_size: `B`.
    """
    for name, value in (("max_length", max_length), ("room", room)):
        if _is_number(value) and np.any(np.less(value, 0)):
            raise ValueError(
                f"`{name}` must not be negative. Received: {name}={value}"
            )
    limits = ops.cast(ops.convert_to_tensor(max_length), "int32")
    if len(limits.shape) > 1:
        raise ValueError(
            "`max_length` must be a number or have shape (B,). "
            f"Received: shape={tuple(limits.shape)}"
        )
    if room is None:
        room = max_length
        if not isinstance(max_length, int):
            room = ops.max(limits, initial=0)
            if keras.backend.backend() != "tensorflow":
                room = int(room)
    limits = ops.reshape(ops.minimum(limits, room), (-1, 1))
    return ops.broadcast_to(limits, (batch_size, 1)), room


def _is_number(value):
    return isinstance(value, (int, np.integer, np.ndarray, list, tuple))


def ban(start_ids, end_id, banned_ids, vocabulary_size):
    """Return what to add to log-probabilities, `(B or 1, V)`: 0 or `-inf`."""
    if not 0 < end_id < vocabulary_size:
        raise ValueError(
            f"`end_id` must lie between 1 and {vocabulary_size - 1}, as 0 is "
            f"padding. Received: end_id={end_id}"
        )
    ids = np.arange(vocabulary_size)[None]
    banned = ids == PADDING
    if banned_ids is None:
        own = ops.equal(ops.expand_dims(start_ids, 1), ids.astype("int32"))
        banned = ops.logical_or(own, banned)
        banned = ops.logical_and(banned, ids != end_id)
    elif end_id in banned_ids:
        raise ValueError(
            "`banned_ids` must not hold `end_id`, or nothing ever ends. "
            f"Received: banned_ids={banned_ids}, end_id={end_id}"
        )
    else:
        banned = banned | np.isin(ids, list(banned_ids))
    never = ops.full((1, vocabulary_size), NEVER, "float32")
    return ops.where(banned, never, ops.zeros_like(never))
