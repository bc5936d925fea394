"""Image files by name: a file, a folder, a pattern."""

import glob
import os
import pathlib
from collections.abc import Iterator
from typing import NamedTuple


class ImageInput(NamedTuple):
    """A file that was asked for, or why there is none.

    Attributes:
        path: As it was said, or as it was found.
        contents: The bytes; None if there are none.
        error: What is wrong with it; "" if nothing is.
    """

    path: str
    contents: bytes | None
    error: str


def image_inputs(names: list[bytes]) -> Iterator[ImageInput]:
    """Read the files that some names stand for, one at a time.

    Args:
        names: Each a file, a folder (all images in it and below), or a
            pattern such as `photos/*.jpg`, if the shell has left it as it is.
            What stands for no file comes back with an error.
    """
    for name in names:
        for path in _files(os.fsdecode(name)):
            yield path if isinstance(path, ImageInput) else _read(path)


def _files(name):
    # Here and not above: the package brings TensorFlow along.
    from keras_seq.data.image_files import ENDINGS

    path = pathlib.Path(name)
    if not name.strip():
        return [_failed(name, "must be the path of an image", "an empty line")]
    if _is_folder(path):
        found = sorted(
            file
            for file in path.rglob("*")
            if file.suffix.lower() in ENDINGS and file.is_file()
        )
        endings = ", ".join(ENDINGS)
        received = "a folder without one"
        return found or [
            _failed(name, f"must hold images ({endings})", received)
        ]
    if glob.has_magic(name) and not os.path.lexists(path):
        found = sorted(glob.glob(name, recursive=True))
        files = [pathlib.Path(file) for file in found if os.path.isfile(file)]
        received = "a pattern without a match"
        return files or [_failed(name, "must match image files", received)]
    return [path]


def _is_folder(path):
    try:
        return path.is_dir()
    except (OSError, ValueError):  # too long for a name, or a null in it
        return False


def _read(path):
    try:
        return ImageInput(str(path), path.read_bytes(), "")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        return _failed(str(path), "must be an image file", why)


def _failed(path, wanted, received):
    return ImageInput(path, None, f"{wanted}. Received: {received}")
