"""Where batches come from: epoch after epoch, each in a known order.

`fit` asks for two things of its data, so that a run can go on where it was
killed: `epoch(index)` gives the batches of one epoch, the same ones in the
same order each time it is asked, and `steps_per_epoch` says how many they
are, or is None. Arrays, a `tf.data.Dataset` and a function of the epoch are
made into such an object here.
"""

import math

import numpy as np
import tensorflow as tf


class ArrayEpochs:
    """Batches of arrays, shuffled anew, and repeatably, for each epoch.

    Args:
        arrays: Arrays of equal length, nested as the batches shall be:
            `(x, y)`, `(x, y, sample_weight)`, with tuples or dicts inside.
        batch_size: Rows per batch; the last batch may have fewer.
        seed: With the epoch it decides the order.
        shuffle: False keeps the rows as they are.

    Example:
        >>> data = ArrayEpochs((np.arange(5),), batch_size=2, seed=0)
        >>> data.steps_per_epoch
        3
        >>> first = [batch[0].numpy().tolist() for batch in data.epoch(0)]
        >>> first == [batch[0].numpy().tolist() for batch in data.epoch(0)]
        True
    """

    def __init__(self, arrays, batch_size, seed=0, shuffle=True):
        if batch_size < 1:
            raise ValueError(
                f"`batch_size` must be at least 1. Received: {batch_size}"
            )
        self.arrays = tf.nest.map_structure(tf.convert_to_tensor, arrays)
        lengths = {len(array) for array in tf.nest.flatten(self.arrays)}
        if len(lengths) != 1 or 0 in lengths:
            raise ValueError(
                "The arrays of a data set must have the same number of rows, "
                f"at least one. Received: {sorted(lengths)} rows"
            )
        self.rows = lengths.pop()
        self.batch_size = batch_size
        self.seed = seed
        self.shuffle = shuffle
        self.steps_per_epoch = math.ceil(self.rows / batch_size)

    def epoch(self, index: int) -> tf.data.Dataset:
        order = np.arange(self.rows)
        if self.shuffle:
            np.random.default_rng((self.seed, index)).shuffle(order)
        rows = tf.data.Dataset.from_tensor_slices(order).batch(self.batch_size)
        return rows.map(
            lambda at: tf.nest.map_structure(
                lambda array: tf.gather(array, at), self.arrays
            )
        )


class DatasetEpochs:
    """One `tf.data.Dataset` as every epoch.

    A data set that reshuffles itself gives another order after a restart;
    for an exact resume let a function of the epoch build it with its seed.

    Args:
        dataset: Batches.
        steps_per_epoch: Cut the data into epochs of so many batches; needed
            if it has no end.
    """

    def __init__(self, dataset, steps_per_epoch=None):
        self.dataset = dataset
        self.cut = steps_per_epoch
        size = int(dataset.cardinality())
        if size == tf.data.INFINITE_CARDINALITY and not steps_per_epoch:
            raise ValueError(
                "`steps_per_epoch` must be given for a data set without end."
            )
        self.steps_per_epoch = steps_per_epoch or (size if size >= 0 else None)

    def epoch(self, index: int) -> tf.data.Dataset:
        if self.cut:
            endless = self.dataset.repeat()
            return endless.skip(index * self.cut).take(self.cut)
        return self.dataset


class FunctionEpochs:
    """A function of the epoch's index that returns a `tf.data.Dataset`."""

    def __init__(self, function, steps_per_epoch=None):
        self.function = function
        self.cut = self.steps_per_epoch = steps_per_epoch

    def epoch(self, index: int) -> tf.data.Dataset:
        dataset = self.function(index)
        return dataset.take(self.cut) if self.cut else dataset


def as_epochs(data, batch_size=32, seed=0, shuffle=True, steps_per_epoch=None):
    """Return `data` as an object with `epoch(index)` and `steps_per_epoch`."""
    if hasattr(data, "epoch") and hasattr(data, "steps_per_epoch"):
        return data
    if isinstance(data, tf.data.Dataset):
        return DatasetEpochs(data, steps_per_epoch)
    if callable(data):
        return FunctionEpochs(data, steps_per_epoch)
    if isinstance(data, tuple):
        return ArrayEpochs(data, batch_size, seed, shuffle)
    raise ValueError(
        "Data must be a tuple of arrays `(x, y)`, a `tf.data.Dataset`, a "
        "function of the epoch, or an object with `epoch(index)` and "
        "`steps_per_epoch`. "
        f"Received: {type(data).__name__}"
    )


def batches(epochs, index: int, skip: int = 0) -> tf.data.Dataset:
    """Return the batches of an epoch from batch `skip` on, read ahead."""
    dataset = epochs.epoch(index)
    if not isinstance(dataset, tf.data.Dataset):
        raise ValueError(
            "`epoch(index)` must return a `tf.data.Dataset`. "
            f"Received: {type(dataset).__name__}"
        )
    options = tf.data.Options()
    options.deterministic = True
    # With autotuning, ending an epoch waits for the tuner's next look, which
    # can be longer than the epoch.
    options.autotune.enabled = False
    if skip:
        dataset = dataset.skip(skip)
    return dataset.prefetch(2).with_options(options)
