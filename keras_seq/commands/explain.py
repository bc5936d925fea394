"""`keras-seq explain MODEL`: which words decided?"""

import argparse
import json
import pathlib
import sys

from keras_seq.commands.input_lines import input_batches
from keras_seq.commands.model_argument import add_model_argument, open_model
from keras_seq.commands.usage_error import UsageError
from keras_seq.commands.wording import in_shell

_DONE = 0
_METHODS = ("attention", "transformer", "gradient")
_EXAMPLES = """examples:
  keras-seq explain sentiment "The food was cold and nobody cared."
  keras-seq explain sentiment --method gradient --html page.html < reviews.txt
  keras-seq explain saved_models/sentiment --json "Not bad at all!\""""


def add_parser(commands) -> None:
    """Add the command and its arguments."""
    parser = commands.add_parser(
        "explain",
        help="show which words decided an answer",
        description="Show which words decided the answers of a trained model; "
        "without TEXT, for each line of standard input as it comes.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_model_argument(parser)
    parser.add_argument("texts", nargs="*", metavar="TEXT", help="a text")
    parser.add_argument(
        "--method",
        choices=_METHODS,
        help="how words are weighed: by attention pooling, by the attention of "
        "a Transformer, or by gradient times input (default: the first that "
        "the model has)",
    )
    parser.add_argument(
        "--html",
        metavar="FILE",
        type=pathlib.Path,
        help="write one page with all of them, too",
    )
    parser.add_argument(
        "--json", action="store_true", help="one JSON object for each text"
    )
    parser.set_defaults(run=run)


def run(arguments) -> int:
    """Explain; return the exit code."""
    sys.stdout.reconfigure(line_buffering=True, errors="replace")
    model = open_model(arguments.model, arguments.method)
    if arguments.html:
        _write(arguments.html, "")  # rather now than after the work
    kept = []
    for batch in input_batches(arguments.texts):
        for explanation in model.explain(batch):
            if arguments.json:
                print(json.dumps(explanation, ensure_ascii=False))
            else:
                print(model.draw(explanation))
            if arguments.html:
                kept.append(explanation)
    if arguments.html:
        _write(arguments.html, model.page(kept))
        if not arguments.json:
            print(f"The page is in {arguments.html}")
    if sys.stdout.isatty() and not arguments.json:
        print(f"Next: keras-seq evaluate {in_shell(arguments.model)}")
    return _DONE


def _write(path, text):
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            "--html must be a file that can be written. "
            f"Received: {str(path)!r} ({error.strerror})"
        ) from error
