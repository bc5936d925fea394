"""`keras-seq evaluate MODEL`: how good is it, on which data?"""

import argparse
import json
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

_DONE = 0
_EXAMPLES = """examples:
  keras-seq evaluate sentiment
  keras-seq evaluate translation --split long
  keras-seq evaluate captioning --data flickr8k --data-dir DIR
  keras-seq evaluate sentiment --data imdb --data-dir DIR
  keras-seq evaluate saved_models/sentiment --data mine.csv --json"""


def add_parser(commands) -> None:
    """Add the command and its arguments."""
    parser = commands.add_parser(
        "evaluate",
        help="score a trained model on data",
        description="Score a trained model on data: by default on the test "
        "part of what it was trained with.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_model_argument(parser)
    parser.add_argument(
        "--data",
        metavar="NAME|FILE",
        help="a data set, or a table (default: what it was trained with)",
    )
    parser.add_argument(
        "--data-dir",
        metavar="DIR",
        type=pathlib.Path,
        help="folder of the real data sets (default: KERAS_SEQ_DATA)",
    )
    parser.add_argument(
        "--split",
        metavar="PART",
        help="part of a data set: train, validation, test, or another that it "
        "has (default: test)",
    )
    parser.add_argument("--text-column", metavar="NAME", help="of a table")
    parser.add_argument("--label-column", metavar="NAME", help="of a table")
    parser.add_argument(
        "--languages",
        metavar="A-B",
        help="of translations: from which to which (default: en-fr)",
    )
    parser.add_argument(
        "--beam-size",
        metavar="N",
        type=int,
        help="of translations and captions: how many beams; 1 is greedy "
        "(default: 4)",
    )
    parser.add_argument(
        "--lowercase",
        action="store_true",
        default=None,
        help="of translations: case counts for nothing",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    """Evaluate; return the exit code."""
    sys.stdout.reconfigure(line_buffering=True, errors="replace")
    names = (
        "data",
        "data_dir",
        "split",
        "text_column",
        "label_column",
        "languages",
        "beam_size",
        "lowercase",
    )
    said = {name: getattr(arguments, name) for name in names}
    said = {name: value for name, value in said.items() if value is not None}
    found = find_model(arguments.model)
    for name in set(said) - set(load_task(found.task).EVALUATE):
        option = "--" + name.replace("_", "-")
        raise UsageError(f"{option} says nothing about a {found.task} model")
    numbers = open_found(found).evaluate(said)
    if arguments.json:
        print(json.dumps(numbers, ensure_ascii=False))
        return _DONE
    print(_table(numbers))
    next_step = "export" if found.is_run else "explain"
    print(f"Next: keras-seq {next_step} {in_shell(arguments.model)}")
    return _DONE


def _table(numbers):
    """Return the numbers in lines; groups of them come last.

    >>> print(_table({"bleu_by_length": {"1-5": {"bleu": 97.5}}, "bleu": 9.0}))
    bleu  9
    bleu_by_length
      1-5  bleu 97.5
    """
    plain = {k: v for k, v in numbers.items() if not isinstance(v, dict)}
    lines = _columns({name: _shown(value) for name, value in plain.items()})
    for name, group in numbers.items():
        if name in plain:
            continue
        rows = {
            label: ", ".join(f"{k} {_shown(v)}" for k, v in row.items())
            for label, row in group.items()
        }
        lines += [name, *("  " + line for line in _columns(rows))]
    return "\n".join(lines)


def _columns(rows):
    width = max(map(len, rows), default=0)
    return [f"{name:{width}}  {shown}" for name, shown in rows.items()]


def _shown(value):
    return f"{value:.4g}" if isinstance(value, float) else str(value)
