"""Attention over chosen axes of a tensor of rank 4 and more.

Axes that are not attended over join the batch; those that are become one axis
of steps. Attention then knows only `(B, T, D)`.
"""

import dataclasses
import math

from keras import ops


@dataclasses.dataclass(frozen=True)
class AttentionAxes:
    """How to fold `(B, ..., D)` into `(B', T, D)` and back.

    Attributes:
        batch: Axes that join the batch, the first axis included.
        steps: Axes that are attended over.
        query_shape: Static shape of the query.
        value_shape: Static shape of the value.
    """

    batch: tuple
    steps: tuple
    query_shape: tuple
    value_shape: tuple

    @classmethod
    def of(cls, attention_axes, query_shape, value_shape):
        """Return the folding, or `None` if there is nothing to fold."""
        rank = len(query_shape)
        axes = attention_axes or tuple(range(1, rank - 1))
        steps = tuple(axis % rank for axis in axes)
        if rank == 3 and steps == (1,):
            return None
        if len(value_shape) != rank or None in query_shape[1:]:
            raise ValueError(
                "`query` and `value` must have the same rank, and the axes "
                "of inputs of rank 4 and more must be known. Received: query "
                f"shape={query_shape}, value shape={value_shape}"
            )
        batch = tuple(a for a in range(rank - 1) if a not in steps)
        return cls(batch, steps, tuple(query_shape), tuple(value_shape))

    def flatten(self, x):
        """`(B, ..., D)` -> `(B', T, D)`."""
        x = ops.transpose(x, (*self.batch, *self.steps, len(x.shape) - 1))
        shape = tuple(x.shape)
        length = math.prod(shape[len(self.batch) : -1])
        return ops.reshape(x, (-1, length, shape[-1]))

    def flatten_mask(self, mask):
        """`(batch axes, T axes, S axes)` -> `(B', T, S)`."""
        if mask is None:
            return None
        rank = len(self.batch) + 2 * len(self.steps)
        if len(mask.shape) != rank:
            raise ValueError(
                f"`attention_mask` must have rank {rank}: the axes that are "
                "not attended over, the query's axes that are, and the "
                f"value's. Received: shape={tuple(mask.shape)}"
            )
        length = math.prod(self.query_shape[a] for a in self.steps)
        key_length = math.prod(self.value_shape[a] for a in self.steps)
        return ops.reshape(mask, (-1, length, key_length))

    def restore(self, x):
        """`(B', T, ...)` -> `(B, ..., ...)`."""
        width = tuple(x.shape[2:])
        sizes = [self.query_shape[a] for a in (*self.batch[1:], *self.steps)]
        x = ops.reshape(x, (-1, *sizes, *width))
        order = (*self.batch, *self.steps)
        back = sorted(range(len(order)), key=order.__getitem__)
        return ops.transpose(x, (*back, *range(len(order), len(x.shape))))

    def restore_scores(self, scores):
        """`(B', H, T, S)` -> `(batch axes, H, T axes, S axes)`."""
        return ops.reshape(scores, (-1, *self.scores_shape(scores.shape[1])))

    def scores_shape(self, num_heads):
        """Return the shape of the scores without the first axis."""
        return (
            *(self.query_shape[a] for a in self.batch[1:]),
            num_heads,
            *(self.query_shape[a] for a in self.steps),
            *(self.value_shape[a] for a in self.steps),
        )
