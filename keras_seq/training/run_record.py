"""`run.json`: what was run, with what, for how long, and what came out."""

import dataclasses
import datetime
import json
import math
import os
import pathlib
import platform
import sys

import keras
import numpy as np
import tensorflow as tf

import keras_seq
from keras_seq.training.atomic_files import replacing


class RunRecord:
    """A JSON file beside the weights, rewritten whole at each change.

    Args:
        path: The file, or None to write nothing.
        settings: Every setting of the run. Keras objects are written as
            their configs, functions by their names.
    """

    def __init__(self, path, settings: dict):
        self.path = pathlib.Path(path) if path is not None else None
        self.content = {
            "status": "running",
            "started": _now(),
            "settings": jsonable(settings),
            "command": sys.argv,
            "versions": {
                "keras_seq": keras_seq.__version__,
                "keras": keras.__version__,
                "tensorflow": tf.__version__,
                "numpy": np.__version__,
                "python": platform.python_version(),
                "platform": platform.platform(),
            },
        }

    def resume(self) -> None:
        """Keep the start time of the run that goes on."""
        if self.path is not None and self.path.exists():
            before = json.loads(self.path.read_text())
            self.content["started"] = before["started"]
            resumed = before.get("resumed", [])
            self.content["resumed"] = [*resumed, _now()]

    def write(self, **changes) -> None:
        self.content.update(jsonable(changes))
        if self.path is None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(self.path) as unfinished:
            unfinished.write_text(json.dumps(self.content, indent=2) + "\n")


def jsonable(value):
    """Turn settings into what JSON can hold, as tellingly as possible.

    >>> jsonable({"rate": float("nan"), "decay": (1, np.float32(0.5))})
    {'rate': None, 'decay': [1, 0.5]}
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, dict):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, np.generic):
        return jsonable(value.item())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {type(value).__name__: jsonable(dataclasses.asdict(value))}
    if hasattr(value, "get_config"):
        return {type(value).__name__: jsonable(value.get_config())}
    return getattr(value, "__qualname__", None) or type(value).__name__


def _now():
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
