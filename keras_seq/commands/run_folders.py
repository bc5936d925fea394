"""`outputs/<task>/run-1`, `run-2`, ...: where `keras-seq train` works."""

import contextlib
import json
import pathlib
import re

from keras_seq.commands.usage_error import UsageError

_RUN = re.compile(r"run-(\d+)")
_SETTINGS = "command.json"


def runs(task: str) -> list[pathlib.Path]:
    """Return the runs of a task in `outputs`, oldest first."""
    folder = pathlib.Path("outputs", task)
    if not folder.is_dir():
        return []
    numbered = [
        (int(match[1]), path)
        for path in folder.iterdir()
        if path.is_dir() and (match := _RUN.fullmatch(path.name))
    ]
    return [path for _, path in sorted(numbered)]


def next_run(task: str) -> pathlib.Path:
    """Return the folder for a new run; it is not made yet."""
    last = max((int(path.name[4:]) for path in runs(task)), default=0)
    return pathlib.Path("outputs", task, f"run-{last + 1}")


def read_settings(folder) -> dict | None:
    """Return what a run was started with; None if no run was started there."""
    path = pathlib.Path(folder, _SETTINGS)
    if not path.is_file():
        return None
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UsageError(f"{path}: must be JSON. Received: {error}") from error


def write_settings(folder, task: str, settings: dict) -> None:
    """Note what a run is started with, so that it can go on with it."""
    # Here and not above: the package of `replacing` brings TensorFlow along.
    from keras_seq.training.atomic_files import replacing

    content = json.dumps({"task": task, **settings}, indent=2) + "\n"
    try:
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        with replacing(pathlib.Path(folder, _SETTINGS)) as unfinished:
            unfinished.write_text(content, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            "--output must be a folder that can be written to. "
            f"Received: {str(folder)!r} ({error.strerror})"
        ) from error


def forget(folder) -> None:
    """Remove the note of a run that came to nothing, and its empty folder."""
    folder = pathlib.Path(folder)
    if {path.name for path in folder.iterdir()} == {_SETTINGS}:
        (folder / _SETTINGS).unlink()
        with contextlib.suppress(OSError):  # it may be a mount, or a link
            folder.rmdir()
