"""Open an exported folder with TensorFlow alone."""

import functools
import pathlib
from collections.abc import Callable

import numpy as np

from keras_seq.export.model_card import read_card
from keras_seq.export.standalone import ask, open_saved_model
from keras_seq.export.version_folders import find_version


class ExportedModel:
    """The signatures of a SavedModel as Python functions.

    Attributes:
        folder: The version folder.
        card: What `model_card.json` says; empty if there is none.
        signatures: `{name: function}`. A function takes its inputs by name,
            as lists or arrays, and returns `{name: array}`; strings come
            back as bytes.
    """

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.card = read_card(folder)
        # Functions do not keep their variables alive; this object does.
        self._loaded, _ = open_saved_model(folder)
        self.signatures: dict[str, Callable[..., dict[str, np.ndarray]]] = {
            name: functools.partial(self._ask, name)
            for name in self._loaded.signatures
        }

    def __call__(self, **inputs) -> dict[str, np.ndarray]:
        """Ask `serving_default`."""
        return self.signatures["serving_default"](**inputs)

    def _ask(self, name, **inputs):
        return ask(self._loaded.signatures[name], inputs)


def load(folder) -> ExportedModel:
    """Open a version folder, or the newest version in a folder of them.

    Nothing of the code that made the model is needed: only TensorFlow, and
    tensorflow-text if the model reads text.

    Args:
        folder: What `save` was given, or what it returned.
    """
    path = find_version(folder)
    if path is None:
        raise ValueError(
            "`folder` must be a SavedModel, or hold versions (1, 2, ...) that "
            f"are. Received: {str(folder)!r}"
        )
    return ExportedModel(path)
