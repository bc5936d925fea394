"""`keras-seq export MODEL`: a model that needs nothing of keras_seq."""

import argparse
import pathlib
import sys

from keras_seq.commands.model_argument import (
    add_model_argument,
    find_model,
    open_found,
)
from keras_seq.commands.task import load_task
from keras_seq.commands.usage_error import UsageError
from keras_seq.commands.wording import in_shell

_DONE, _FAILED = 0, 1
_EXAMPLES = """examples:
  keras-seq export sentiment
  keras-seq export outputs/sentiment/run-1 --output models/sentiment
  keras-seq export translation --half
  keras-seq export sentiment --format onnx"""
_FORMATS = ("savedmodel", "onnx", "litert")


def add_parser(commands) -> None:
    """Add the command and its arguments."""
    parser = commands.add_parser(
        "export",
        help="write a trained model as a SavedModel, ONNX or LiteRT, verified",
        description="Write a trained model as a SavedModel that needs "
        "TensorFlow and tensorflow-text only: a new version folder, which "
        "counts when a process without keras_seq has given the same answers. "
        "ONNX and LiteRT files, of classifiers, take token ids: they have no "
        "operations on text. tokenizer.json is written beside them.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_model_argument(parser)
    parser.add_argument(
        "--output",
        metavar="DIR",
        type=pathlib.Path,
        help="folder of the versions (default: outputs/exported/TASK, or "
        "TASK-FORMAT)",
    )
    parser.add_argument(
        "--format",
        choices=_FORMATS,
        default=_FORMATS[0],
        help="what to write (default: %(default)s); the others need the extra "
        "of their name",
    )
    parser.add_argument(
        "--half",
        action="store_true",
        help="write the weights as float16: half the size, computed in "
        "float32 as before",
    )
    parser.set_defaults(run=run)


def run(arguments) -> int:
    """Export; return the exit code."""
    sys.stdout.reconfigure(line_buffering=True, errors="replace")
    found = find_model(arguments.model)
    if not found.is_run:
        raise UsageError(
            f"{found.folder} is an export already. Name the run it was made "
            "from"
        )
    from keras_seq.export import ExportError

    is_file = arguments.format != _FORMATS[0]
    if is_file and arguments.half:
        raise UsageError("--half is for SavedModels: leave --format out")
    name = f"{found.task}-{arguments.format}" if is_file else found.task
    folder = arguments.output or pathlib.Path("outputs/exported", name)
    print(f"Exporting {found.folder} ...")
    model = open_found(found)
    if is_file and not hasattr(model, "export_file"):
        raise UsageError(
            f"--format {arguments.format} is for classifiers: the loop that "
            "writes a sequence cannot be in such a file. Received: "
            f"{found.task}"
        )
    try:
        if is_file:
            path = model.export_file(folder, arguments.format)
        else:
            path = model.export(folder, half=arguments.half)
    except ExportError as error:
        print(f"keras-seq export: {error}", file=sys.stderr)
        return _FAILED
    except ImportError as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        raise UsageError(
            "--output must be a folder that can be written to. "
            f"Received: {str(folder)!r} ({error.strerror})"
        ) from error
    size = sum(p.stat().st_size for p in path.rglob("*") if p.is_file())
    what = "the SavedModel"
    if is_file:
        what = "the model, tokenizer.json"
    print(
        f"A process without keras_seq gave the same answers. {path} "
        f"({size / 1e6:.1f} MB) holds {what} and its model_card.json"
    )
    if is_file:
        return _DONE
    task = load_task(found.task)
    print(f"Next: {task.next_command(in_shell(folder), found.folder)}")
    return _DONE
