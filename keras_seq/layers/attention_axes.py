"""Attention over chosen axes of a tensor of rank 4 and more.

Axes that are not attended over join the batch; those that are become one axis
of steps. Attention then knows only `(B, T, D)`.
"""

import dataclasses
import functools
import operator

from keras import ops


@dataclasses.dataclass(frozen=True)
class AttentionAxes:
    """How to fold `(B, ..., D)` into `(B', T, D)` and back.

    Attributes:
        batch: Axes that join the batch, the first axis included.
        steps: Axes that are attended over.
    """

    batch: tuple
    steps: tuple

    @classmethod
    def of(cls, attention_axes, query_shape, value_shape):
        """Return the folding, or `None` if there is nothing to fold."""
        rank = len(query_shape)
        axes = attention_axes or tuple(range(1, rank - 1))
        steps = tuple(axis + rank if axis < 0 else axis for axis in axes)
        if len(set(steps)) < len(steps) or not all(
            0 < axis < rank - 1 for axis in steps
        ):
            raise ValueError(
                "`attention_axes` must be axes between the first and the last "
                f"of the query. Received: attention_axes={attention_axes}, "
                f"query shape={tuple(query_shape)}"
            )
        batch = tuple(a for a in range(rank - 1) if a not in steps)
        if len(value_shape) != rank or not _may_equal(
            [query_shape[a] for a in batch[1:]],
            [value_shape[a] for a in batch[1:]],
        ):
            raise ValueError(
                "`query` and `value` must have the same rank, and the same "
                "sizes on axes that are not attended over. Received: query "
                f"shape={tuple(query_shape)}, value shape={tuple(value_shape)}"
            )
        return None if rank == 3 else cls(batch, steps)

    def flatten(self, x):
        """`(B, ..., D)` -> `(B', T, D)`."""
        shape = ops.shape(x)
        x = _transpose(x, (*self.batch, *self.steps, len(shape) - 1))
        sizes = _size(shape, self.batch), _size(shape, self.steps)
        return ops.reshape(x, (*sizes, shape[-1]))

    def flatten_step_mask(self, name, mask, x):
        """`(B, ...)`, as `x` without its width -> `(B', T)`."""
        if mask is None:
            return None
        mask = ops.convert_to_tensor(mask)
        if not _may_equal(mask.shape, x.shape[:-1]):
            raise ValueError(
                f"`{name}` must have shape {tuple(x.shape[:-1])}. Received: "
                f"shape={tuple(mask.shape)}"
            )
        # As floats: TensorFlow remarks on transposed booleans.
        mask = ops.cast(ops.cast(mask, "bool"), "float32")
        return ops.squeeze(self.flatten(ops.expand_dims(mask, -1)), -1) > 0

    def flatten_mask(self, mask, query, value):
        """`(batch axes, T axes, S axes)` -> `(B', T, S)`.

        Batch axes may be left out, the last ones first, as in Keras.
        """
        if mask is None:
            return None
        mask = ops.convert_to_tensor(mask)
        queries, values = ops.shape(query), ops.shape(value)
        leading = [queries[a] for a in self.batch]
        pairs = [queries[a] for a in self.steps]
        pairs += [values[a] for a in self.steps]
        missing = len(leading) + len(pairs) - len(mask.shape)
        known = [size if isinstance(size, int) else None for size in pairs]
        if not 0 <= missing <= len(leading) or not _may_equal(
            mask.shape[-len(pairs) :], known, or_one=True
        ):
            raise ValueError(
                "`attention_mask` must have the axes that are not attended "
                "over, then the query's that are, then the value's. Received: "
                f"shape={tuple(mask.shape)}, for query shape="
                f"{tuple(query.shape)} and value shape={tuple(value.shape)}"
            )
        for _ in range(missing):
            mask = ops.expand_dims(mask, -len(pairs) - 1)
        mask = ops.broadcast_to(mask, (*leading, *pairs))
        sizes = _size(queries, self.batch), _size(queries, self.steps)
        return ops.reshape(mask, (*sizes, _size(values, self.steps)))

    def restore(self, x, query):
        """`(B', T, ...)` -> `(B, ..., ...)`, the axes of `query`."""
        sizes, order = ops.shape(query), (*self.batch, *self.steps)
        width = tuple(x.shape[2:])
        x = ops.reshape(x, (*(sizes[a] for a in order), *width))
        back = sorted(range(len(order)), key=order.__getitem__)
        return _transpose(x, (*back, *range(len(order), len(x.shape))))

    def restore_scores(self, scores, query, value):
        """`(B', H, T, S)` -> `(batch axes, H, T axes, S axes)`."""
        shape = self.scores_shape(
            scores.shape[1], ops.shape(query), ops.shape(value)
        )
        return ops.reshape(scores, shape)

    def scores_shape(self, num_heads, query_shape, value_shape):
        """Return the shape of the scores."""
        return (
            *(query_shape[a] for a in self.batch),
            num_heads,
            *(query_shape[a] for a in self.steps),
            *(value_shape[a] for a in self.steps),
        )


def _size(shape, axes):
    return functools.reduce(operator.mul, (shape[a] for a in axes))


def _may_equal(got, wanted, or_one=False):
    """Whether sizes, as far as they are known, do not contradict."""
    return len(got) == len(wanted) and all(
        None in (g, w) or g == w or (or_one and g == 1)
        for g, w in zip(got, wanted, strict=True)
    )


def _transpose(x, order):
    return x if order == tuple(range(len(order))) else ops.transpose(x, order)
