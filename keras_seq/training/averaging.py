"""Averaged weights: smoother than the last ones, and often better."""

import collections
import contextlib
import dataclasses

import numpy as np
import tensorflow as tf

from keras_seq.training.checkpoints import arrays_of, assign, check_fit


@dataclasses.dataclass(frozen=True)
class ExponentialAverage:
    r"""Average that forgets the older weights.

    After update $n$, which gave the weights $\theta$:

    $$ \bar\theta \leftarrow d_n \bar\theta + (1 - d_n) \theta, \qquad
       d_n = \min\left(d, \frac{1 + n}{10 + n}\right). $$

    The rising $d_n$ lets the first, random weights go quickly.

    Args:
        decay: $d$; the average spans about `1 / (1 - decay)` updates.
    """

    decay: float = 0.999

    def __post_init__(self):
        if not 0 <= self.decay < 1:
            raise ValueError(
                "`decay` must be at least 0 and below 1. "
                f"Received: decay={self.decay}"
            )

    def start(self, model):
        return _RunningExponentialAverage(self, model)


@dataclasses.dataclass(frozen=True)
class LastEpochsAverage:
    """Plain average of the weights at the end of the last few epochs.

    The checkpoint averaging of "Attention is all you need", section 6.1.

    Args:
        epochs: How many.
    """

    epochs: int = 5

    def __post_init__(self):
        if self.epochs < 1:
            raise ValueError(
                f"`epochs` must be at least 1. Received: {self.epochs}"
            )

    def start(self, model):
        return _RunningLastEpochsAverage(self, model)


class _RunningExponentialAverage:
    def __init__(self, rule, model):
        self.rule = rule
        self.weights = model.trainable_variables
        self.count = tf.Variable(0.0, trainable=False)
        self.averages = [
            tf.Variable(w.value, trainable=False) for w in self.weights
        ]

    def update(self):
        """Take in the weights after an update. Runs in graph."""
        n = self.count.assign_add(1.0)
        decay = tf.minimum(self.rule.decay, (1.0 + n) / (10.0 + n))
        for average, weight in zip(self.averages, self.weights, strict=True):
            rate = tf.cast(1.0 - decay, average.dtype)
            average.assign_sub(rate * (average - weight.value))

    def end_epoch(self):
        pass

    def values(self):
        return arrays_of(self.averages)

    def arrays(self):
        return arrays_of([self.count, *self.averages])

    def load(self, arrays, path):
        variables = [self.count, *self.averages]
        check_fit("average", arrays, variables, path)
        assign(arrays, variables)


class _RunningLastEpochsAverage:
    def __init__(self, rule, model):
        self.rule = rule
        self.weights = model.trainable_variables
        self.snapshots = collections.deque(maxlen=rule.epochs)

    def update(self):
        pass

    def end_epoch(self):
        self.snapshots.append(arrays_of(self.weights))

    def values(self):
        if not self.snapshots:  # no epoch is over yet
            return arrays_of(self.weights)
        return [
            np.mean(kept, axis=0, dtype="float64").astype(kept[0].dtype)
            for kept in zip(*self.snapshots, strict=True)
        ]

    def arrays(self):
        return [array for snapshot in self.snapshots for array in snapshot]

    def load(self, arrays, path):
        size = len(self.weights)
        self.snapshots.clear()
        for start in range(0, len(arrays), size):
            snapshot = arrays[start : start + size]
            check_fit("average", snapshot, self.weights, path)
            self.snapshots.append(snapshot)


@contextlib.contextmanager
def averaged_weights(model, average):
    """Let `model` have its averaged weights for the length of a block."""
    if average is None:
        yield
        return
    weights = model.trainable_variables
    before = arrays_of(weights)
    try:
        assign(average.values(), weights)
        yield
    finally:
        assign(before, weights)
