"""Folders `<folder>/<version>`, as model servers watch them.

A server takes a new number for a new model as soon as it appears. So a version
is written under a name that is no number, and gets its number by a rename,
which the file system does in one step: killed at any moment, an export leaves
nothing that a server could pick up.
"""

import contextlib
import os
import pathlib
import shutil
import time
import uuid
from collections.abc import Iterator

UNFINISHED = ".unfinished-"
_ABANDONED_AFTER = 3600  # seconds without a change
_SAVED_MODEL = "saved_model.pb"


def versions(folder) -> dict[int, pathlib.Path]:
    """Return the versions in `folder` by number, lowest first.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("10", "9", "notes", ".unfinished-11"):
    ...         pathlib.Path(folder, name).mkdir()
    ...     list(versions(folder))
    [9, 10]
    """
    folder = pathlib.Path(folder)
    if not folder.is_dir():
        return {}
    found = {
        int(path.name): path
        for path in folder.iterdir()
        if path.name.isascii() and path.name.isdigit() and path.is_dir()
    }
    return dict(sorted(found.items()))


def find_version(folder) -> pathlib.Path | None:
    """Return `folder` if it is a SavedModel, or its newest version, or None."""
    folder = pathlib.Path(folder)
    for path in (folder, *reversed(versions(folder).values())):
        if (path / _SAVED_MODEL).is_file():
            return path
    return None


@contextlib.contextmanager
def new_version(folder, version: int | None = None) -> Iterator[pathlib.Path]:
    """Give the body a folder to write in; number it when the body is done.

    If the body raises, what it wrote is removed. What killed exports left
    behind is removed after an hour in which nothing changed in it.

    Args:
        folder: The folder of all versions; made if there is none.
        version: The number; default: the next after the highest there is.

    Yields:
        The folder to write in. Its new path is `folder / str(version)`.
    """
    folder = pathlib.Path(folder)
    if version is None:
        version = max(versions(folder), default=0) + 1
    if isinstance(version, bool) or not isinstance(version, int) or version < 0:
        raise ValueError(
            "`version` must be a whole number, from 0, or None for the next "
            f"free one. Received: {version!r}"
        )
    final = folder / str(version)
    if final.exists():
        raise ValueError(
            f"`version` must be a number that {folder} does not have yet. "
            f"Received: {version}"
        )
    folder.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(folder)
    unfinished = folder / f"{UNFINISHED}{version}-{uuid.uuid4().hex[:8]}"
    unfinished.mkdir()
    try:
        yield unfinished
        for path in (*unfinished.rglob("*"), unfinished):
            _force_to_disk(path)
        os.rename(unfinished, final)  # refuses a folder that came meanwhile
        _force_to_disk(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _remove_abandoned(folder):
    for path in folder.glob(UNFINISHED + "*"):
        with contextlib.suppress(OSError):  # another export was quicker
            newest = max(p.stat().st_mtime for p in (path, *path.rglob("*")))
            if time.time() - newest > _ABANDONED_AFTER:
                shutil.rmtree(path)


def _force_to_disk(path):
    if os.name == "nt":  # Windows syncs no folders
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
