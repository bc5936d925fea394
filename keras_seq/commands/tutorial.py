"""`keras-seq tutorial`: list the course, run one tutorial, or run them all."""

import contextlib
import os
import pathlib
import subprocess
import sys
import time
import traceback

from keras_seq.commands.course import Tutorial, find_tutorial, tutorials
from keras_seq.commands.narrator import Narrator
from keras_seq.commands.percent_script import run_script
from keras_seq.commands.usage_error import UsageError

_DONE, _FAILED = 0, 1


def add_parser(commands) -> None:
    """Add the command and its arguments."""
    parser = commands.add_parser(
        "tutorial",
        help="list the tutorials of the course, or run one",
        description="List the tutorials of the course, or run one: from the "
        "equation, by hand and with the library, to the picture.",
    )
    parser.add_argument(
        "name",
        nargs="?",
        metavar="NAME",
        help="name or number of the tutorial; without it they are listed",
    )
    parser.add_argument(
        "--all", action="store_true", help="run all of them, in course order"
    )
    parser.add_argument(
        "--fast", action="store_true", help="train less, for a first look"
    )
    parser.add_argument(
        "--output",
        metavar="DIR",
        type=pathlib.Path,
        help="where pictures go (default: outputs/NAME; with --all: DIR/NAME)",
    )
    parser.set_defaults(run=run)


def run(arguments) -> int:
    """List or run tutorials; return the exit code."""
    if arguments.name is not None and arguments.all:
        raise UsageError(
            f"--all runs every tutorial. Received also: {arguments.name!r}"
        )
    # Lines appear when they are written, also in a pipe; and a terminal that
    # knows no "×" shows "?" and goes on.
    sys.stdout.reconfigure(line_buffering=True, errors="replace")
    course = tutorials()
    if arguments.all:
        output = arguments.output or pathlib.Path("outputs")
        return _run_all(course, arguments.fast, output)
    if arguments.name is not None:
        chosen = find_tutorial(arguments.name, course)
        output = arguments.output or pathlib.Path("outputs", chosen.name)
        return _run_one(chosen, course, arguments.fast, output)
    if arguments.fast or arguments.output:
        raise UsageError("name the tutorial to run, or say --all")
    _list(course)
    return _DONE


def _list(course):
    rows = [(str(t.number), t.name, t.title, t.takes) for t in course]
    number, name, title, takes = (
        max(map(len, column)) for column in zip(*rows, strict=True)
    )
    print("The tutorials, in course order:\n")
    for t in course:
        line = f"  {t.number:{number}}  {t.name:{name}}  {t.title:{title}}"
        print(f"{line}  {t.takes:>{takes}}".rstrip())
    print(f"\nRun one by name or number: keras-seq tutorial {course[0].name}")


def _run_one(tutorial, course, fast, output):
    start = time.perf_counter()
    with _settings(fast, output):
        try:
            run_script(tutorial.path, Narrator())
        except Exception as error:
            if isinstance(error, BrokenPipeError):
                raise
            _tell_failure(tutorial, error)
            return _FAILED
    print(f"\nDone in {_duration(time.perf_counter() - start)}.")
    if any(output.iterdir()):
        print(f"The pictures are in {output}")
    print(f"The text with its equations is in {_short(tutorial.path)}")
    later = [t.name for t in course if t.number > tutorial.number]
    if later:
        print(f"Next: keras-seq tutorial {later[0]}")
    return _DONE


def _run_all(course, fast, output):
    """Run each in a process of its own, so that none can disturb another."""
    rows = []
    for tutorial in course:
        command = [sys.executable, "-m", "keras_seq.cli", "tutorial"]
        command += [tutorial.path.stem, "--output", str(output / tutorial.name)]
        command += ["--fast"] if fast else []
        print("-" * 80, flush=True)
        start = time.perf_counter()
        code = subprocess.run(command, check=False).returncode
        rows.append((tutorial, code, time.perf_counter() - start))
    print("-" * 80 + "\nSummary\n")
    name = max(len(tutorial.name) for tutorial in course)
    for tutorial, code, seconds in rows:
        verdict = "passed" if code == _DONE else "FAILED"
        print(
            f"{tutorial.number:3}  {tutorial.name:{name}}  {verdict}  "
            f"{_duration(seconds):>10}"
        )
    return _FAILED if any(code for _, code, _ in rows) else _DONE


@contextlib.contextmanager
def _settings(fast, output):
    """Tell the script by environment variables how and where to work."""
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"--output must be a folder that can be written to. "
            f"Received: {str(output)!r} ({error.strerror})"
        ) from error
    settings = {"KERAS_SEQ_OUTPUT": str(output), "MPLBACKEND": "Agg"}
    settings |= {"KERAS_SEQ_FAST": "1"} if fast else {}
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def _tell_failure(tutorial: Tutorial, error: Exception):
    """Print the traceback from the script on, without what ran the script."""
    trace = error.__traceback__
    while trace and trace.tb_frame.f_code.co_filename != str(tutorial.path):
        trace = trace.tb_next
    sys.stdout.flush()
    traceback.print_exception(type(error), error, trace or error.__traceback__)
    print(f"\nTutorial {tutorial.name} failed.", file=sys.stderr)


def _duration(seconds):
    """Write a time for people.

    >>> _duration(4.6), _duration(125)
    ('5 s', '2 min 5 s')
    """
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"


def _short(path):
    with contextlib.suppress(ValueError):
        return path.relative_to(pathlib.Path.cwd())
    return path
