"""The folder of a trained model: its weights, its tokenizer, its settings."""

import json
import pathlib
import zipfile
import zlib

import keras

from keras_seq.training.atomic_files import replacing

MODEL = "model.keras"


def save_parts(folder, file, model, tokenizer, **description) -> None:
    """Write `model.keras` and a description, with the tokenizer in it.

    Each file is replaced in one step when it is complete, the description
    last.

    Args:
        folder: Where to write; it is made if it is not there.
        file: Name of the description, JSON.
        model: A Keras model.
        tokenizer: A `text.Tokenizer`.
        **description: What else `load_parts` is to give back.
    """
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    # Keras goes by the ending of the name, which `replacing` keeps.
    with replacing(folder / MODEL) as unfinished:
        model.save(unfinished)
    description["tokenizer"] = keras.saving.serialize_keras_object(tokenizer)
    with replacing(folder / file) as unfinished:
        unfinished.write_text(json.dumps(description, indent=1) + "\n")


def load_parts(folder, file, task):
    """Return `(tokenizer, model, description)` that `save_parts` wrote.

    A file that is missing or damaged is a `ValueError` that names it.
    """
    folder = pathlib.Path(folder)
    for name in (file, MODEL):
        if not (folder / name).is_file():
            raise ValueError(
                f"`folder` must hold a finished {task} training. "
                f"Received: {str(folder)!r}, which has no {name}"
            )
    description = _read_description(folder / file)
    _check_whole(folder / MODEL)
    tokenizer = description.pop("tokenizer")
    return (
        keras.saving.deserialize_keras_object(tokenizer),
        keras.saving.load_model(folder / MODEL, compile=False),
        description,
    )


def _read_description(path):
    try:
        description = json.loads(path.read_text())
    except ValueError as error:
        raise _damaged(path, error) from error
    if not isinstance(description, dict) or "tokenizer" not in description:
        raise _damaged(path, "no tokenizer in it")
    return description


def _check_whole(path):
    try:
        with zipfile.ZipFile(path) as file:
            bad = file.testzip()
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise _damaged(path, error) from error
    if bad is not None:
        raise _damaged(path, f"{bad} in it has changed")


def _damaged(path, found):
    return ValueError(
        f"{path}: must be as it was saved, and is damaged; copy it again, or "
        f"train again. Received: {found}"
    )
