"""`keras-seq predict MODEL`: answers for texts, images, standard input."""

import argparse
import json
import sys

from keras_seq.commands.input_lines import add_texts_argument, input_batches
from keras_seq.commands.model_argument import add_model_argument, open_model
from keras_seq.commands.wording import in_shell

_DONE, _FAILED = 0, 1
_EXAMPLES = """examples:
  keras-seq predict sentiment "The food was cold and nobody cared."
  keras-seq predict sentiment --json < reviews.txt
  keras-seq predict saved_models/sentiment "Not bad at all!"
  keras-seq predict saved_models/captioning photos more/*.jpg"""


def add_parser(commands) -> None:
    """Add the command and its arguments."""
    parser = commands.add_parser(
        "predict",
        help="answer texts or images with a trained model",
        description="Answer texts with a trained model, or caption images; "
        "without TEXT, each line of standard input as it comes.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_model_argument(parser)
    add_texts_argument(parser)
    parser.add_argument(
        "--json", action="store_true", help="one JSON object for each text"
    )
    parser.set_defaults(run=run)


def run(arguments) -> int:
    """Answer; return the exit code."""
    sys.stdout.reconfigure(line_buffering=True, errors="replace")
    model = open_model(arguments.model)
    failed = False
    for batch in input_batches(arguments.texts, model.asks_for):
        for answer in model.predict(batch):
            if "error" in answer:
                failed = True
                print(f"keras-seq predict: {answer['error']}", file=sys.stderr)
            if arguments.json:
                print(json.dumps(answer, ensure_ascii=False))
            elif "error" not in answer:
                print(model.line(answer))
    if sys.stdout.isatty() and not arguments.json:
        name = in_shell(arguments.model)
        print(f"\nNext, to see what decided: keras-seq explain {name}")
    return _FAILED if failed else _DONE
