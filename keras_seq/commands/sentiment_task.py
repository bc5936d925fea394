"""Sentiment on the command line; `task.py` says what a task has to offer."""

import difflib
import pathlib

from keras_seq.commands.train_arguments import (
    add_data_dir,
    add_epochs,
    add_seed,
    final_metrics,
)
from keras_seq.commands.usage_error import UsageError, in_options

SUMMARY = "is a text for or against?"
EXAMPLES = """\
  keras-seq train sentiment
  keras-seq train sentiment --preset transformer --epochs 3
  keras-seq train sentiment --data imdb --data-dir DIR
  keras-seq train sentiment --data mine.csv --text-column review
  keras-seq train sentiment --resume"""
DEFAULTS = {
    "data": "reviews",
    "data_dir": None,
    "preset": None,
    "epochs": None,
    "seed": 0,
    "text_column": "text",
    "label_column": "label",
}
# What `keras-seq evaluate` can be told.
EVALUATE = ("data", "data_dir", "split", "text_column", "label_column")
OPTIONS = (*DEFAULTS, "method", "split")
_PRESETS = (
    "bag, ngrams, ngrams_bag, ngrams_spelling, ngrams_attention, rnn, lstm, "
    "gru, bidirectional, attention, transformer"
)
_FILES = ("classifier.json", "model.keras")


def add_train_arguments(parser) -> None:
    """Add what can be said about a training."""
    parser.add_argument(
        "--data",
        metavar="NAME|FILE",
        help="reviews or biased, which are built in; imdb, sst2 or "
        "rotten_tomatoes in --data-dir; several of these, as in imdb+sst2; or "
        "a CSV or TSV table, .gz and .xz too (default: reviews)",
    )
    add_data_dir(parser)
    parser.add_argument(
        "--preset",
        metavar="P",
        help=f"the model: {_PRESETS} (default: what suits the data)",
    )
    add_epochs(parser)
    add_seed(parser)
    parser.add_argument(
        "--text-column",
        metavar="NAME",
        help="of a table (default: text)",
    )
    parser.add_argument(
        "--label-column",
        metavar="NAME",
        help="of a table; it holds 0 for against and 1 for (default: label)",
    )


def check(settings: dict) -> None:
    """Refuse settings that cannot be meant, before anything is loaded."""
    if settings["epochs"] is not None and settings["epochs"] < 1:
        raise UsageError(
            f"--epochs must be at least 1. Received: {settings['epochs']}"
        )
    if settings["seed"] < 0:
        raise UsageError(
            f"--seed must not be negative. Received: {settings['seed']}"
        )
    if settings["preset"] is None:
        return
    from keras_seq.models.text_classifier import TEXT_CLASSIFIER_PRESETS

    if settings["preset"] not in TEXT_CLASSIFIER_PRESETS:
        close = difflib.get_close_matches(
            settings["preset"], TEXT_CLASSIFIER_PRESETS
        )
        hint = f" Did you mean {' or '.join(close)}?" if close else ""
        raise UsageError(
            f"--preset must be one of {', '.join(TEXT_CLASSIFIER_PRESETS)}. "
            f"Received: {settings['preset']!r}.{hint}"
        )


def train(folder, resume: bool, settings: dict) -> str:
    """Train; return a sentence on how well it went."""
    from keras_seq.tasks import sentiment

    with in_options(OPTIONS):
        found = final_metrics(sentiment.train, folder, resume, settings)
    accuracy = found.get("val_accuracy")
    if accuracy is None:
        return ""
    return f"Right on {accuracy:.1%} of the validation texts."


def next_command(model: str, run) -> str:
    """Return what to try with a model that was just trained."""
    return f'keras-seq predict {model} "I would not miss it for the world."'


def is_run(folder) -> bool:
    """Whether `folder` holds a trained classifier."""
    return all(pathlib.Path(folder, name).is_file() for name in _FILES)


def open_run(folder, method: str = "auto"):
    """Load the classifier of a run."""
    from keras_seq.commands.sentiment_model import SentimentRun

    with in_options(OPTIONS):
        return SentimentRun(folder, method)


def open_export(exported):
    """Use an exported classifier; TensorFlow and tensorflow-text will do."""
    from keras_seq.commands.sentiment_model import SentimentModel

    return SentimentModel(exported.signatures, exported.card)
