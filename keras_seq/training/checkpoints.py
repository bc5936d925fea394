"""Checkpoints: one file holds all that a training run needs to go on."""

import dataclasses
import json
import pathlib
import re
import warnings
import zipfile
import zlib

import keras
import numpy as np

from keras_seq.training.atomic_files import remove_unfinished, replacing

_NAME = "step-{:010d}.npz"
_PATTERN = re.compile(r"step-(\d{10})\.npz")
_STATE = "state.json"


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """What was in a checkpoint file.

    Attributes:
        path: The file.
        state: Counters, history and the like: whatever JSON can hold.
        arrays: Lists of NumPy arrays by group (`"model"`, `"optimizer"`, ...).
    """

    path: pathlib.Path
    state: dict
    arrays: dict[str, list[np.ndarray]]


class CheckpointFolder:
    """A folder of checkpoints of one run, the newest few kept.

    A file is written beside the others under a temporary name and renamed
    when it is on disk, so a process that is killed while it writes leaves
    the earlier checkpoints as they were. A file that was damaged later is
    noticed by its checksums; the one before it is used instead.

    Args:
        folder: Where the files go; made on the first save.
        keep: How many of the newest files stay.
    """

    def __init__(self, folder, keep: int = 2):
        if keep < 1:
            raise ValueError(f"`keep` must be at least 1. Received: {keep}")
        self.folder = pathlib.Path(folder)
        self.keep = keep

    def paths(self) -> list[pathlib.Path]:
        """Return the checkpoint files, oldest first."""
        if not self.folder.is_dir():
            return []
        found = (p for p in self.folder.iterdir() if _PATTERN.fullmatch(p.name))
        return sorted(found)

    def save(self, step: int, state: dict, arrays: dict) -> pathlib.Path:
        """Write a checkpoint, then delete those that are no longer kept."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / _NAME.format(step)
        with replacing(path) as unfinished:
            _write(unfinished, state, arrays)
        for old in self.paths()[: -self.keep]:
            old.unlink(missing_ok=True)
        return path

    def latest(self) -> Checkpoint | None:
        """Read the newest checkpoint that is whole; `None` if there is none."""
        if self.folder.is_dir():
            remove_unfinished(self.folder)
        paths = self.paths()
        for path in reversed(paths):
            try:
                return _read(path)
            except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
                warnings.warn(
                    f"{path} is damaged and is left out: {error}", stacklevel=2
                )
        if paths:
            raise ValueError(f"No checkpoint in {self.folder} can be read.")
        return None


def arrays_of(variables) -> list[np.ndarray]:
    """Copy the values of Keras or TensorFlow variables."""
    return [np.array(_native(variable).numpy()) for variable in variables]


def check_fit(group: str, arrays, variables, path) -> None:
    """Raise `ValueError` if `arrays` cannot be the values of `variables`."""
    if len(arrays) != len(variables):
        raise ValueError(
            f"The checkpoint {path} is not of this run: its `{group}` has "
            f"{len(arrays)} arrays where this one has {len(variables)}."
        )
    for array, variable in zip(arrays, variables, strict=True):
        if tuple(array.shape) != tuple(variable.shape):
            name = getattr(variable, "path", variable.name)
            raise ValueError(
                f"The checkpoint {path} is of another shape: `{name}` is "
                f"{tuple(array.shape)} there and {tuple(variable.shape)} here."
            )


def assign(arrays, variables) -> None:
    """Give each variable its array."""
    for array, variable in zip(arrays, variables, strict=True):
        if array.dtype.kind == "V":  # bfloat16 is just two bytes to NumPy
            array = array.view(_native(variable).dtype.as_numpy_dtype)
        variable.assign(array)


def _native(variable):
    return variable.value if isinstance(variable, keras.Variable) else variable


def _write(path, state, arrays):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(_STATE, json.dumps(state))
        for group, members in arrays.items():
            for index, array in enumerate(members):
                name = f"{group}/{index:05d}.npy"
                with archive.open(name, "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, np.asarray(array))


def _read(path):
    arrays = {}
    try:
        with zipfile.ZipFile(path) as archive:
            state = json.loads(archive.read(_STATE))
            for name in sorted(archive.namelist()):
                if name == _STATE:
                    continue
                with archive.open(name) as member:
                    array = np.lib.format.read_array(member)
                arrays.setdefault(name.split("/")[0], []).append(array)
    except (zlib.error, EOFError, NotImplementedError) as error:
        raise zipfile.BadZipFile(str(error)) from error
    return Checkpoint(path, state, arrays)
