"""`keras-seq explain MODEL`: what decided?"""

import argparse
import json
import pathlib
import sys

from keras_seq.commands.input_lines import add_texts_argument, input_batches
from keras_seq.commands.model_argument import add_model_argument, open_model
from keras_seq.commands.usage_error import UsageError
from keras_seq.commands.wording import in_shell

_DONE, _FAILED = 0, 1
_KINDS = ("html", "png", "gif")
_METHODS = ("attention", "transformer", "gradient")
_EXAMPLES = """examples:
  keras-seq explain sentiment "The food was cold and nobody cared."
  keras-seq explain sentiment --method gradient --html page.html < reviews.txt
  keras-seq explain saved_models/sentiment --json "Not bad at all!"
  keras-seq explain saved_models/captioning photo.jpg --html look.html"""


def add_parser(commands) -> None:
    """Add the command and its arguments."""
    parser = commands.add_parser(
        "explain",
        help="show which words, or which places, decided an answer",
        description="Show which words decided the answers of a trained model, "
        "or where on an image it looked; without TEXT, for each line of "
        "standard input as it comes.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_model_argument(parser)
    add_texts_argument(parser)
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
        help="write a page, too: one with all texts, or one for each image",
    )
    for kind, what in (("png", "a picture"), ("gif", "an animation")):
        parser.add_argument(
            f"--{kind}",
            metavar="FILE",
            type=pathlib.Path,
            help=f"of captions: write {what} of each image, too",
        )
    parser.add_argument(
        "--json", action="store_true", help="one JSON object for each text"
    )
    parser.set_defaults(run=run)


def run(arguments) -> int:
    """Explain; return the exit code."""
    sys.stdout.reconfigure(line_buffering=True, errors="replace")
    model = open_model(arguments.model, arguments.method)
    files = _files(arguments, model)
    kept, failed = [], False
    for batch in input_batches(arguments.texts, model.asks_for):
        for explanation in model.explain(batch):
            if "error" in explanation:
                failed = True
                error = explanation["error"]
                print(f"keras-seq explain: {error}", file=sys.stderr)
            elif files:
                kept.append(explanation)
            if arguments.json:
                print(json.dumps(explanation, ensure_ascii=False))
            elif "error" not in explanation:
                print(model.draw(explanation))
    for kind, path in files.items():
        for written in model.write(path, kept) if kept else ():
            if not arguments.json:
                what = "page" if kind == "html" else "picture"
                print(f"The {what} is in {written}")
    if sys.stdout.isatty() and not arguments.json:
        print(f"Next: keras-seq evaluate {in_shell(arguments.model)}")
    return _FAILED if failed else _DONE


def _files(arguments, model):
    """Return `{kind: path}` of what is to be written, if it can be."""
    asked = {kind: getattr(arguments, kind) for kind in _KINDS}
    files = {kind: path for kind, path in asked.items() if path}
    for kind, path in files.items():
        if kind not in model.drawn_as:
            raise UsageError(f"--{kind} is for captions of images")
        if len(model.drawn_as) > 1 and path.suffix.lower() != f".{kind}":
            raise UsageError(
                f"--{kind} must be a file that ends in .{kind}. "
                f"Received: {str(path)!r}"
            )
        _try(kind, path)  # rather now than after the work
    return files


def _try(kind, path):
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not path.exists()
        with path.open("a"):
            pass
        if is_new:
            path.unlink()
    except OSError as error:
        raise UsageError(
            f"--{kind} must be a file that can be written. "
            f"Received: {str(path)!r} ({error.strerror})"
        ) from error
