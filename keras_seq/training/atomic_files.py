"""Files that are either the old ones or the new ones, never half of each."""

import contextlib
import os
import pathlib
from collections.abc import Iterator

TEMPORARY = ".unfinished-"


@contextlib.contextmanager
def replacing(path) -> Iterator[pathlib.Path]:
    """Write to a temporary name; take the place of `path` when complete.

    The body gets the temporary path, in the same folder. After the body the
    bytes are forced to disk and the file is renamed, which the file system
    does in one step: a process killed at any moment, or a machine that loses
    power, leaves the old file or the new one. If the body raises, the
    temporary file is removed and the old file stays.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = pathlib.Path(folder, "note.txt")
    ...     with replacing(target) as unfinished:
    ...         _ = unfinished.write_text("all of it")
    ...     [p.name for p in target.parent.iterdir()], target.read_text()
    (['note.txt'], 'all of it')
    """
    path = pathlib.Path(path)
    unfinished = path.with_name(TEMPORARY + path.name)
    try:
        yield unfinished
        _force_to_disk(unfinished)
        os.replace(unfinished, path)
        _force_to_disk(path.parent)
    finally:
        unfinished.unlink(missing_ok=True)


def remove_unfinished(folder) -> None:
    """Delete what a killed process left behind in `folder`."""
    for path in pathlib.Path(folder).glob(TEMPORARY + "*"):
        path.unlink(missing_ok=True)


def _force_to_disk(path):
    if path.is_dir() and os.name == "nt":  # Windows syncs no folders
        return
    descriptor = os.open(path, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
