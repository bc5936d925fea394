"""Batches of sequences of like length, in an order that can be resumed."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from keras_seq.data.columns import as_column

# Shuffled rows are sorted by length in pools of this many batches: large
# enough for little padding, small enough that epochs differ.
BATCHES_PER_POOL = 128


class Batches:
    """Padded batches of rows of like length, shuffled anew each epoch.

    Rows are packed in memory once; a batch is cut out when it is asked for.
    Which rows make step `step` of epoch `epoch` is a function of
    `(seed, epoch, step)` and of nothing else, so a training that was killed
    can go on with the very batch it would have seen.

    Args:
        columns: A column, or a tuple or dict (of tuples or dicts) of columns.
            A column is a list of 1-D sequences, to be padded with 0, or an
            array with one entry per row. For a classifier
            `(token_ids, labels)`, for a translator
            `({"source": ..., "target": ...}, labels)`.
        batch_size: Rows per batch. Give this or `tokens_per_batch`.
        tokens_per_batch: The most that one padded column of a batch may hold,
            padding included. A row longer than this is a batch of its own.
        shuffle: Whether to mix the rows, anew in each epoch. If not, they
            come sorted by length, the same each time.
        seed: Makes the order.
        length_multiple: Padded lengths are rounded up to a multiple of this,
            so that compiled functions meet few shapes.
        drop_remainder: Whether to leave out the one batch that has fewer than
            `batch_size` rows.
        resample: `resample(epoch)` returns columns to cut the batches of an
            epoch from, instead of `columns`: the same rows in another form,
            such as words split otherwise. Which rows make a batch is planned
            by `columns` all the same, so `tokens_per_batch` and the padding
            share speak of those.

    Example:
        >>> batches = Batches(
        ...     ([[5, 6], [7], [8, 9, 4], [3]], [0, 1, 0, 1]),
        ...     batch_size=2,
        ...     shuffle=False,
        ... )
        >>> for token_ids, labels in batches.epoch(0):
        ...     print(token_ids.numpy().tolist(), labels.numpy().tolist())
        [[7], [3]] [1, 1]
        [[5, 6, 0], [8, 9, 4]] [0, 0]
        >>> round(batches.padding_share(), 3)
        0.125
    """

    def __init__(
        self,
        columns,
        batch_size: int | None = None,
        tokens_per_batch: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        length_multiple: int = 1,
        drop_remainder: bool = False,
        resample: Callable[[int], Any] | None = None,
    ):
        _check_sizes(batch_size, tokens_per_batch, length_multiple)
        if drop_remainder and batch_size is None:
            raise ValueError(
                "`drop_remainder` needs `batch_size`. "
                f"Received: tokens_per_batch={tokens_per_batch}"
            )
        self._columns = _map_leaves(as_column, columns)
        self._leaves = tf.nest.flatten(self._columns)
        sizes = [len(column) for column in self._leaves]
        if len(set(sizes)) != 1 or not sizes[0]:
            raise ValueError(
                "`columns` must be of one length and not empty. "
                f"Received: lengths {sizes}"
            )
        self.num_rows = sizes[0]
        self.batch_size = batch_size
        self.tokens_per_batch = tokens_per_batch
        self.shuffle = shuffle
        self.seed = seed
        self.length_multiple = length_multiple
        self.drop_remainder = drop_remainder
        self._resample = resample
        lengths = [c.lengths for c in self._leaves if c.lengths is not None]
        self._lengths = np.stack(lengths or [np.ones(self.num_rows, int)])
        self._longest = self._padded_length(self._lengths.max(axis=0))

    def plan(self, epoch: int = 0) -> list[np.ndarray]:
        """Return which rows make each batch of an epoch, in order."""
        rng = np.random.default_rng([self.seed, epoch])
        if not self.shuffle:
            return self._cut(np.arange(self.num_rows))
        order = rng.permutation(self.num_rows)
        rows = self.batch_size or max(
            1, int(self.tokens_per_batch / self._longest.mean())
        )
        pool = BATCHES_PER_POOL * rows
        batches = [
            batch
            for at in range(0, self.num_rows, pool)
            for batch in self._cut(order[at : at + pool])
        ]
        return [batches[i] for i in rng.permutation(len(batches))]

    def steps(self, epoch: int = 0) -> int:
        """How many batches an epoch has.

        With `batch_size` every epoch has as many; with `tokens_per_batch` the
        number differs a little from epoch to epoch.
        """
        if self.batch_size is None:
            return len(self.plan(epoch))
        whole, rest = divmod(self.num_rows, self.batch_size)
        return whole + int(rest > 0 and not self.drop_remainder)

    def arrays(self, epoch: int = 0, start_step: int = 0) -> Iterator[Any]:
        """Yield the batches of an epoch as NumPy arrays."""
        columns = self._columns
        if self._resample is not None:
            columns = _map_leaves(as_column, self._resample(epoch))
        for rows in self.plan(epoch)[start_step:]:
            yield _map_leaves(
                lambda column, rows=rows: self._take(column, rows), columns
            )

    def epoch(self, epoch: int = 0, start_step: int = 0) -> tf.data.Dataset:
        """Return the batches of one epoch, from `start_step` on."""
        return self._tf_data(lambda: self.arrays(epoch, start_step))

    def stream(
        self, start_epoch: int = 0, start_step: int = 0
    ) -> tf.data.Dataset:
        """Return the batches of all epochs, one after the other, endlessly."""

        def arrays():
            epoch, step = start_epoch, start_step
            while True:
                yield from self.arrays(epoch, step)
                epoch, step = epoch + 1, 0

        return self._tf_data(arrays)

    def padding_share(self, epoch: int = 0) -> float:
        """Which part of the padded columns of an epoch is padding, 0 to 1."""
        real = padded = 0
        for rows in self.plan(epoch):
            lengths = self._lengths[:, rows]
            real += lengths.sum()
            longest = self._padded_length(lengths.max(axis=1))
            padded += longest.sum() * len(rows)
        return float(1 - real / padded)

    def _cut(self, rows):
        """Sort `rows` by length and cut them into batches."""
        # Rows as long as each other stay in the order they came in.
        keys = (*self._lengths[:, rows], self._longest[rows])
        rows = rows[np.lexsort(keys)]
        if self.batch_size is not None:
            cuts = np.arange(self.batch_size, len(rows), self.batch_size)
            batches = np.split(rows, cuts)
            if self.drop_remainder and len(batches[-1]) < self.batch_size:
                batches.pop()
            return batches
        cuts, begun = [], 0
        for at, longest in enumerate(self._longest[rows].tolist()):
            if (at + 1 - begun) * longest > self.tokens_per_batch and at:
                cuts.append(at)
                begun = at
        return np.split(rows, cuts)

    def _take(self, column, rows):
        if column.lengths is None:
            return column.take(rows, None)
        longest = self._padded_length(column.lengths[rows].max())
        return column.take(rows, int(longest))

    def _padded_length(self, lengths):
        # At least one column: some layers cannot take a length of 0.
        multiple = self.length_multiple
        return np.maximum(-(-lengths // multiple), 1) * multiple

    def _tf_data(self, arrays):
        dataset = tf.data.Dataset.from_generator(
            arrays,
            output_signature=_map_leaves(
                lambda column: column.signature(), self._columns
            ),
        )
        options = tf.data.Options()
        # Left on, it can end an epoch with a stall of many milliseconds.
        options.autotune.enabled = False
        options.deterministic = True
        return dataset.prefetch(4).with_options(options)


def _check_sizes(batch_size, tokens_per_batch, length_multiple):
    for name, value in (
        ("batch_size", batch_size),
        ("tokens_per_batch", tokens_per_batch),
        ("length_multiple", length_multiple),
    ):
        if value is not None and value < 1:
            raise ValueError(f"`{name}` must be positive. Received: {value}")
    if (batch_size is None) == (tokens_per_batch is None):
        raise ValueError(
            "Give one of `batch_size` and `tokens_per_batch`. Received: "
            f"batch_size={batch_size}, tokens_per_batch={tokens_per_batch}"
        )


def _map_leaves(function, nest):
    """Apply `function` to each column; tuples and dicts hold columns."""
    if isinstance(nest, tuple):
        return tuple(_map_leaves(function, part) for part in nest)
    if isinstance(nest, dict):
        return {key: _map_leaves(function, part) for key, part in nest.items()}
    return function(nest)
