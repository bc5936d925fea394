"""Write a model as one file for another runtime, and count it when it runs."""

import pathlib
from collections.abc import Callable

import keras

from keras_seq.export.clean_process import replay_in_clean_process
from keras_seq.export.model_card import check_card, write_card
from keras_seq.export.portable_model import PortableModel
from keras_seq.export.version_folders import new_version


def save_file(
    folder,
    model: keras.Model,
    file: str,
    convert: Callable[[PortableModel], bytes],
    *,
    card: dict,
    golden: dict,
    beside: dict[str, bytes] | None = None,
    version: int | None = None,
    **runtime,
) -> pathlib.Path:
    """Write `folder/<version>` with the file, its card and what goes beside.

    Args:
        folder: The folder of all versions.
        model: A functional Keras model.
        file: Name of the file; `standalone` knows by it what to run it with.
        convert: Makes the content of the file.
        card: As in `export.save`.
        golden: `{input: array}`, real questions.
        beside: `{file name: content}` to write into the same folder.
        version: Default: the next after the highest there is.
        **runtime: What the card says of the file.

    Returns:
        The version folder.

    Raises:
        ExportError: The model cannot be written so, or answers otherwise when
            it was. No version was made.
    """
    if keras.backend.backend() != "tensorflow":
        raise ValueError(
            "files for other runtimes are made with the TensorFlow backend. "
            f"Received: KERAS_BACKEND={keras.backend.backend()}"
        )
    check_card(card)
    plain = PortableModel(model)
    pairs = plain.golden_pairs(golden)
    folder = pathlib.Path(folder)
    with new_version(folder, version) as unfinished:
        (unfinished / file).write_bytes(convert(plain))
        for name, content in (beside or {}).items():
            (unfinished / name).write_bytes(content)
        card = {**card, "runtime": {"file": file, **runtime}}
        write_card(unfinished, card, plain.signatures, pairs, needs=[])
        needs = replay_in_clean_process(unfinished)
        write_card(unfinished, card, plain.signatures, pairs, needs=needs)
        number = unfinished.name.split("-")[1]
    return folder / number
