"""Sentiment on the command line; `task.py` says what a task has to offer."""

import difflib
import pathlib

from keras_seq.commands.usage_error import UsageError

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
    parser.add_argument(
        "--data-dir",
        metavar="DIR",
        help="folder of the real data sets (default: KERAS_SEQ_DATA)",
    )
    parser.add_argument(
        "--preset",
        metavar="P",
        help=f"the model: {_PRESETS} (default: what suits the data)",
    )
    parser.add_argument(
        "--epochs",
        metavar="N",
        type=int,
        help="how often to go through the data (default: what suits it)",
    )
    parser.add_argument(
        "--seed",
        metavar="N",
        type=int,
        help="the same number gives the same model (default: 0)",
    )
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

    settings = {k: v for k, v in settings.items() if v is not None}
    try:
        _, result = sentiment.train(
            **settings, folder=folder, resume=resume, verbose=1
        )
    except ValueError as error:
        raise usage_error(error) from error
    accuracy = result.final_metrics.get("val_accuracy")
    if accuracy is None:
        return ""
    return f"Right on {accuracy:.1%} of the validation texts."


def next_command(model: str) -> str:
    """Return what to try with a model that was just trained."""
    return f'keras-seq predict {model} "I would not miss it for the world."'


def is_run(folder) -> bool:
    """Whether `folder` holds a trained classifier."""
    return all(pathlib.Path(folder, name).is_file() for name in _FILES)


def open_run(folder, method: str = "auto"):
    """Load the classifier of a run."""
    from keras_seq.commands.sentiment_model import SentimentRun

    try:
        return SentimentRun(folder, method)
    except ValueError as error:
        raise usage_error(error) from error


def open_export(exported):
    """Use an exported classifier; TensorFlow and tensorflow-text will do."""
    from keras_seq.commands.sentiment_model import SentimentModel

    return SentimentModel(exported.signatures, exported.card)


def usage_error(error: ValueError) -> UsageError:
    """Say what the library says in the words of the command line.

    >>> print(usage_error(ValueError("`data_dir` must be a folder.")))
    --data-dir must be a folder.
    """
    message = str(error)
    for name in (*DEFAULTS, "method", "split"):
        message = message.replace(f"`{name}`", "--" + name.replace("_", "-"))
    return UsageError(message)
