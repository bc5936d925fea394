"""keras_seq: attention and sequence models for Keras 3, library and course.

Importing this package is cheap: a room is opened when it is first asked for,
so `keras_seq.layers` brings Keras along and `import keras_seq` does not.
"""

import importlib
import os

__version__ = "0.1.0"

# Must happen before TensorFlow is imported to have an effect; a value the
# user has chosen stays. "2" hides start-up notes about CPU features and
# missing GPUs and keeps errors.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

_ROOMS = (
    "data",
    "decoding",
    "explain",
    "export",
    "layers",
    "models",
    "ops",
    "serving",
    "tasks",
    "text",
    "training",
    "vision",
)


def __getattr__(name: str):
    if name in _ROOMS:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_ROOMS])
