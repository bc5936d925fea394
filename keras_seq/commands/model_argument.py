"""`MODEL`: a task's name, the folder of a run, or an exported folder."""

import dataclasses
import pathlib

import keras_seq
from keras_seq.commands.run_folders import runs
from keras_seq.commands.task import TASKS, OpenModel, load_task
from keras_seq.commands.usage_error import UsageError

_SHIPPED = "saved_models"


@dataclasses.dataclass(frozen=True)
class FoundModel:
    """Where a model is, and what it is.

    Attributes:
        task: Name of its task.
        folder: The folder of the run, or the version folder of the export.
        is_run: Whether it is a run; otherwise it is an export.
    """

    task: str
    folder: pathlib.Path
    is_run: bool


def add_model_argument(parser) -> None:
    """Add the positional argument `MODEL`."""
    parser.add_argument(
        "model",
        metavar="MODEL",
        help="the folder of a run, an exported folder, or the name of a task "
        f"({', '.join(TASKS)}): its last run in outputs/",
    )


def open_model(name: str, method: str | None = None) -> OpenModel:
    """Find a model and load it."""
    return open_found(find_model(name), method)


def open_found(found: FoundModel, method: str | None = None) -> OpenModel:
    """Load a model that was found.

    Args:
        found: What `find_model` returned.
        method: How to explain, if it can be chosen; None lets the model say.
    """
    task = load_task(found.task)
    if found.is_run:
        return task.open_run(found.folder, method or "auto")
    if method:
        raise UsageError(
            f"--method is chosen when a model is exported; {found.folder} "
            "has its own. Name the run it was made from"
        )
    from keras_seq import export

    try:
        return task.open_export(export.load(found.folder))
    except ImportError as error:
        raise UsageError(str(error)) from error


def find_model(name: str) -> FoundModel:
    """Return what `MODEL` stands for, or say what is missing."""
    if name in TASKS:
        return _last_run(name)
    folder = pathlib.Path(name)
    if not folder.is_dir():
        raise UsageError(
            "MODEL must be the folder of a run, an exported folder, or one of "
            f"{', '.join(TASKS)}. Received: {name!r}, which is no folder"
        )
    for task in TASKS:
        if load_task(task).is_run(folder):
            return FoundModel(task, folder, is_run=True)
        if folder.resolve() == pathlib.Path("outputs", task).resolve():
            return _last_run(task)
    return _export(folder)


def _last_run(task):
    folders = runs(task)
    for folder in reversed(folders):
        if load_task(task).is_run(folder):
            return FoundModel(task, folder, is_run=True)
    advice = [f"train one with `keras-seq train {task}`"]
    if folders:
        advice.insert(
            0,
            f"go on with {folders[-1]}, which has not come to its end, with "
            f"`keras-seq train {task} --resume`",
        )
    shipped = pathlib.Path(keras_seq.__file__).parents[1] / _SHIPPED / task
    for place in dict.fromkeys((pathlib.Path(_SHIPPED, task), shipped)):
        if place.is_dir():
            advice.append(f"use the one that is shipped, {place}")
            break
    raise UsageError(
        f"there is no trained model of {task} in outputs/{task} yet. "
        f"You can {', or '.join(advice)}"
    )


def _export(folder):
    # The package brings TensorFlow along, which this command needs anyway.
    from keras_seq.export.model_card import read_card
    from keras_seq.export.version_folders import find_version

    path = find_version(folder)
    if path is None:
        raise UsageError(
            "MODEL must be the folder of a finished run, or an exported one. "
            f"Received: {str(folder)!r}, which holds neither"
        )
    try:
        task = read_card(path).get("task")
    except ValueError as error:
        raise UsageError(str(error)) from error
    if task not in TASKS:
        raise UsageError(
            f"{path} must have a model_card.json with a task of "
            f"{', '.join(TASKS)}. Received: {task!r}"
        )
    return FoundModel(task, path, is_run=False)
