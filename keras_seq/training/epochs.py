"""Where batches come from: epoch after epoch, each in a known order.

`fit` asks for two things of its data, so that a run can go on where it was
killed: `epoch(epoch, start_step)` gives the batches of one epoch from a step
on, the same ones in the same order each time it is asked, and `steps(epoch)`
says how many the whole epoch has, or None. `keras_seq.data.Batches` is such
an object; arrays, a `tf.data.Dataset` and a function of the epoch are made
into one here.
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
        >>> data.steps()
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

    def steps(self, epoch: int = 0) -> int:
        return math.ceil(self.rows / self.batch_size)

    def epoch(self, epoch: int = 0, start_step: int = 0) -> tf.data.Dataset:
        order = np.arange(self.rows)
        if self.shuffle:
            np.random.default_rng((self.seed, epoch)).shuffle(order)
        left = order[start_step * self.batch_size :]
        rows = tf.data.Dataset.from_tensor_slices(left).batch(self.batch_size)
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
        self.size = int(dataset.cardinality())
        if self.size == tf.data.INFINITE_CARDINALITY and not steps_per_epoch:
            raise ValueError(
                "`steps_per_epoch` must be given for a data set without end."
            )

    def steps(self, epoch: int = 0) -> int | None:
        return self.cut or (self.size if self.size >= 0 else None)

    def epoch(self, epoch: int = 0, start_step: int = 0) -> tf.data.Dataset:
        if not self.cut:
            return self.dataset.skip(start_step)
        endless = self.dataset.repeat().skip(epoch * self.cut + start_step)
        return endless.take(self.cut - start_step)


class FunctionEpochs:
    """A function of the epoch's index that returns a `tf.data.Dataset`."""

    def __init__(self, function, steps_per_epoch=None):
        self.function = function
        self.cut = steps_per_epoch

    def steps(self, epoch: int = 0) -> int | None:
        return self.cut

    def epoch(self, epoch: int = 0, start_step: int = 0) -> tf.data.Dataset:
        dataset = self.function(epoch)
        if not isinstance(dataset, tf.data.Dataset):
            raise ValueError(
                "A function of the epoch must return a `tf.data.Dataset`. "
                f"Received: {type(dataset).__name__}"
            )
        if self.cut:
            dataset = dataset.take(self.cut)
        return dataset.skip(start_step)


def as_epochs(data, batch_size=32, seed=0, shuffle=True, steps_per_epoch=None):
    """Return `data` as an object with `epoch(epoch, start_step)`, `steps`."""
    if hasattr(data, "epoch") and hasattr(data, "steps"):
        return data
    if isinstance(data, tf.data.Dataset):
        return DatasetEpochs(data, steps_per_epoch)
    if callable(data):
        return FunctionEpochs(data, steps_per_epoch)
    if isinstance(data, tuple):
        return ArrayEpochs(data, batch_size, seed, shuffle)
    raise ValueError(
        "Data must be `keras_seq.data.Batches`, a tuple of arrays `(x, y)`, a "
        "`tf.data.Dataset`, a function of the epoch, or an object with "
        "`epoch(epoch, start_step)` and `steps(epoch)`. "
        f"Received: {type(data).__name__}"
    )


def batches(epochs, epoch: int = 0, start_step: int = 0) -> tf.data.Dataset:
    """Return the batches of an epoch from `start_step` on, read ahead."""
    options = tf.data.Options()
    options.deterministic = True
    # With autotuning, ending an epoch waits for the tuner's next look, which
    # can be longer than the epoch.
    options.autotune.enabled = False
    dataset = epochs.epoch(epoch, start_step)
    return dataset.prefetch(2).with_options(options)
