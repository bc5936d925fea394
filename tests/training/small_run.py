"""A small run with everything on, for tests to repeat, kill and go on with.

As a script it is the process that gets killed.
"""

import sys
import time

import keras
import numpy as np
import tensorflow as tf

from keras_seq import training
from keras_seq.training.epochs import ArrayEpochs

V, T, ROWS, BATCH = 13, 7, 42, 6
STEPS_PER_EPOCH = ROWS // BATCH


def make_model(hidden_dim=5, seed=3):
    keras.utils.set_random_seed(seed)
    return keras.Sequential(
        [
            keras.Input((T,), dtype="int32"),
            keras.layers.Embedding(V, hidden_dim),
            keras.layers.Dropout(0.3),
            keras.layers.Dense(11, "tanh"),
            keras.layers.BatchNormalization(),
            keras.layers.Dense(V),
        ]
    )


def make_data():
    token_ids = np.random.default_rng(0).integers(0, V, (ROWS, T))
    return token_ids, np.where(token_ids > 0, (token_ids * 5) % V, 0)


class DisturbedEpochs(ArrayEpochs):
    """The same batches; `disturb(epoch)` is called before each of them."""

    disturb = staticmethod(lambda epoch: None)

    def epoch(self, epoch=0, start_step=0):
        def meanwhile(x, y):
            call = tf.py_function(lambda: self.disturb(epoch), [], [])
            with tf.control_dependencies([call]):
                return tf.identity(x), y

        return super().epoch(epoch, start_step).map(meanwhile)


class SlowEpochs(DisturbedEpochs):
    """Slow enough for another process to see some of the checkpoints."""

    disturb = staticmethod(lambda epoch: time.sleep(0.03))


def size(model):
    return {"size": keras.ops.sum(model.weights[0])}


def run(folder, resume=False, epochs_of=ArrayEpochs, model=None, **changes):
    model = make_model() if model is None else model
    data = epochs_of(make_data(), BATCH, seed=7)
    arguments = {
        "loss": training.MaskedCrossentropy(label_smoothing=0.1),
        "optimizer": training.Adam(training.Noam(16, warmup_steps=5)),
        "metrics": [training.TokenAccuracy(), training.Perplexity()],
        "validation_data": make_data(),
        "evaluate": size,
        "epochs": 3,
        "early_stopping": training.EarlyStopping("size", patience=None),
        "average": training.ExponentialAverage(0.9),
        "global_clipnorm": 0.5,
        "folder": folder,
        "resume": resume,
        "save_every_seconds": 0,
        "verbose": 0,
    }
    result = training.fit(model, data, **{**arguments, **changes})
    return model, result


if __name__ == "__main__":
    run(sys.argv[1], epochs_of=SlowEpochs)
