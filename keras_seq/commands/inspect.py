"""`keras-seq inspect DIR`: what an export holds, and the GPU report."""

import argparse
import json
import pathlib
import sys

from keras_seq.commands.inspection_text import inspection_text
from keras_seq.commands.usage_error import UsageError

_CLEAN, _NOT_CLEAN = 0, 1
_EXAMPLES = """examples:
  keras-seq inspect saved_models/sentiment
  keras-seq inspect outputs/exported/translation/2 --json

exit code: 0 if nothing would be refused and every operation that belongs on a
GPU has a kernel there; 1 if not, or if it could not be checked; 2 if DIR is
no SavedModel"""


def add_parser(commands) -> None:
    """Add the command and its arguments."""
    parser = commands.add_parser(
        "inspect",
        help="show what an exported model holds, and what a GPU lacks for it",
        description="Show the signatures, sizes, operations and model card of "
        "a SavedModel, and which of its operations have no GPU kernel. Reads "
        "the files and runs nothing; needs no GPU.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "folder",
        metavar="DIR",
        type=pathlib.Path,
        help="a SavedModel, or a folder of versions: the newest is taken",
    )
    parser.add_argument(
        "--json", action="store_true", help="all of it as one JSON object"
    )
    parser.set_defaults(run=run)


def run(arguments) -> int:
    """Inspect; return the exit code."""
    sys.stdout.reconfigure(errors="replace")
    # By name: a function of the package could not be told from its module.
    from keras_seq.export.inspection import inspect

    try:
        found = inspect(arguments.folder)
    except (ValueError, OSError) as error:
        raise UsageError(str(error)) from error
    if arguments.json:
        print(json.dumps(found, indent=1, ensure_ascii=False))
    else:
        print(inspection_text(found))
    return _CLEAN if found["is_clean"] else _NOT_CLEAN
