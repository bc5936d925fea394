"""The smallest models that can be exported, sound ones and planted ones."""

import keras
import numpy as np
import tensorflow as tf

from keras_seq import export

CARD = {
    "task": "tiny",
    "data": {"name": "none"},
    "metrics": [{"name": "accuracy", "value": 0.5, "command": "make tiny"}],
    "licence": "CC0-1.0",
    "credits": ["nobody"],
}
FEATURES = 3
ROWS = np.arange(5 * FEATURES, dtype="float32").reshape(5, FEATURES) / 7


def features(dtype="float32", shape=(None, FEATURES)):
    return [tf.TensorSpec(shape, dtype, name="features")]


def dense():
    keras.utils.set_random_seed(0)
    return keras.Sequential([keras.Input((FEATURES,)), keras.layers.Dense(2)])


def sound(model):
    @tf.function(input_signature=features())
    def serving_default(features):
        return {"scores": model(features)}

    return serving_default


def save(folder, function, tracked=(), inputs=None, **changes):
    """Export one function under one name, and what it takes beside."""
    arguments = {
        "tracked": list(tracked),
        "card": CARD,
        "golden": {"serving_default": inputs or {"features": ROWS}},
        **changes,
    }
    return export.save(folder, {"serving_default": function}, **arguments)
