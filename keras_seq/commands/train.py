"""`keras-seq train TASK`: train a model, or go on with a run."""

import argparse
import pathlib
import sys
import time

from keras_seq.commands.run_folders import (
    forget,
    next_run,
    read_settings,
    runs,
    write_settings,
)
from keras_seq.commands.task import TASKS, load_task
from keras_seq.commands.usage_error import UsageError
from keras_seq.commands.wording import duration, in_shell

_DONE, _STOPPED = 0, 130
_MAY_CHANGE = {"data_dir", "cache_dir"}  # data may move in between


def add_parser(commands) -> None:
    """Add the command, and one of its own for each task."""
    parser = commands.add_parser(
        "train",
        help="train a model, or go on with a run that was stopped",
        description="Train a model, or go on with a run that was stopped.",
        epilog="`keras-seq train TASK --help` says what can be chosen.",
    )
    tasks = parser.add_subparsers(dest="task", metavar="TASK", required=True)
    for name in TASKS:
        task = load_task(name)
        one = tasks.add_parser(
            name,
            help=task.SUMMARY,
            description=f"Train a model: {task.SUMMARY}",
            epilog="examples:\n" + task.EXAMPLES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        task.add_train_arguments(one)
        one.add_argument(
            "--output",
            metavar="DIR",
            type=pathlib.Path,
            help=f"folder of the run (default: outputs/{name}/run-1, run-2, "
            "...)",
        )
        one.add_argument(
            "--resume",
            action="store_true",
            help="go on with the run in --output, or with the last one, as if "
            "it had never been stopped",
        )
    parser.set_defaults(run=run)


def run(arguments) -> int:
    """Train; return the exit code."""
    sys.stdout.reconfigure(line_buffering=True, errors="replace")
    task = load_task(arguments.task)
    folder, settings = _plan(arguments, task)
    shown = in_shell(folder)
    print(f"Training {arguments.task} in {folder}")
    start = time.perf_counter()
    try:
        result = task.train(folder, arguments.resume, settings)
    except KeyboardInterrupt:
        print(
            f"\nGo on with: keras-seq train {arguments.task} --resume "
            f"--output {shown}",
            file=sys.stderr,
        )
        return _STOPPED
    except UsageError:
        forget(folder)  # nothing was trained: leave nothing behind
        raise
    print(f"\nDone in {duration(time.perf_counter() - start)}. {result}")
    print(f"The model, its settings and its curves are in {folder}")
    model = arguments.task if folder in runs(arguments.task)[-1:] else shown
    print(f"Next: {task.next_command(model, folder)}")
    return _DONE


def _plan(arguments, task):
    """Return where to train and with what, from what was said and noted."""
    said = {name: getattr(arguments, name) for name in task.DEFAULTS}
    said = {name: value for name, value in said.items() if value is not None}
    if not arguments.resume:
        folder = arguments.output or next_run(arguments.task)
        if read_settings(folder) is not None:
            raise UsageError(
                f"{folder} holds a run already. Say --resume to go on with "
                "it, or name another folder with --output"
            )
        settings = {**task.DEFAULTS, **said}
        task.check(settings)
        write_settings(folder, arguments.task, settings)
        return folder, settings
    folder = arguments.output or next(iter(runs(arguments.task)[::-1]), None)
    noted = folder and read_settings(folder)
    if not noted or noted.get("task") != arguments.task:
        place = folder or pathlib.Path("outputs", arguments.task)
        raise UsageError(
            f"there is no run of {arguments.task} to go on with in {place}. "
            "Leave out --resume to start one"
        )
    for name, value in said.items():
        if value != noted.get(name) and name not in _MAY_CHANGE:
            option = "--" + name.replace("_", "-")
            raise UsageError(
                f"the run in {folder} was started with {option} "
                f"{noted.get(name)}, and goes on with it. Received: {value}"
            )
    return folder, {**{k: noted.get(k) for k in task.DEFAULTS}, **said}
