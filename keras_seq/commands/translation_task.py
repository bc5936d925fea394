"""Translation on the command line; `task.py` says what a task has to offer."""

import pathlib

from keras_seq.commands.train_arguments import (
    add_data_dir,
    add_epochs,
    add_minutes,
    add_seed,
    check_numbers,
    final_metrics,
)
from keras_seq.commands.usage_error import UsageError, in_options

SUMMARY = "say it in another language"
EXAMPLES = """\
  keras-seq train translation
  keras-seq train translation --model rnn_search
  keras-seq train translation --data multi30k --data-dir DIR --minutes 10
  keras-seq train translation --data multi30k --data-dir DIR --languages en-de
  keras-seq train translation --data mine.en,mine.fr --preset small
  keras-seq train translation --resume"""
DEFAULTS = {
    "data": "grammar",
    "data_dir": None,
    "languages": None,
    "model": "transformer",
    "preset": None,
    "epochs": None,
    "average_epochs": None,
    "minutes": None,
    "seed": 0,
}
# What `keras-seq evaluate` can be told.
EVALUATE = ("data", "data_dir", "split", "languages", "beam_size", "lowercase")
OPTIONS = (*DEFAULTS, *EVALUATE)
_FILES = ("translator.json", "model.keras")


def add_train_arguments(parser) -> None:
    """Add what can be said about a training."""
    parser.add_argument(
        "--data",
        metavar="NAME|FILES",
        help="grammar, which is built in; multi30k or tatoeba in --data-dir; "
        "several of these, as in tatoeba+grammar; a table of two columns; or "
        "two files with a comma between them, .gz and .xz too "
        "(default: grammar)",
    )
    add_data_dir(parser)
    parser.add_argument(
        "--languages",
        metavar="A-B",
        help="from which to which: en-fr, en-de, de-fr, ...; of files of your "
        "own, what the model card is to say (default: en-fr, for data that has "
        "several)",
    )
    parser.add_argument(
        "--model",
        metavar="M",
        help="transformer, rnn_search (with attention) or seq2seq (without) "
        "(default: transformer)",
    )
    parser.add_argument(
        "--preset",
        metavar="P",
        help="its size: tiny, small, base or big (default: what suits the "
        "data)",
    )
    add_epochs(parser)
    parser.add_argument(
        "--average-epochs",
        metavar="N",
        type=int,
        help="end with the mean of the weights after the last N epochs "
        "(default: a moving average)",
    )
    add_minutes(parser)
    add_seed(parser)


def check(settings: dict) -> None:
    """Refuse settings that cannot be meant, before anything is loaded."""
    check_numbers(settings)
    average = settings["average_epochs"]
    if average is not None and average < 1:
        raise UsageError(
            f"--average-epochs must be at least 1. Received: {average}"
        )
    from keras_seq.tasks.translation_data import check_languages
    from keras_seq.tasks.translation_recipes import resolve_settings

    with in_options(OPTIONS):
        check_languages(settings["languages"])
        resolve_settings(
            settings["data"], settings["model"], settings["preset"]
        )


def train(folder, resume: bool, settings: dict) -> str:
    """Train; return a sentence on how well it went."""
    from keras_seq.tasks import translation

    noted = {}

    def train_and_note(**how):
        translator, result = translation.train(**how)
        noted.update(translator.settings)
        return translator, result

    with in_options(OPTIONS):
        found = final_metrics(train_and_note, folder, resume, settings)
    return " ".join(_said_of(noted, found.get("val_accuracy")))


def _said_of(settings, accuracy):
    if accuracy is not None:
        yield f"Right on {accuracy:.1%} of the next tokens of the validation"
        yield "part."
    yield f"Of the batches {settings['padding_share']:.1%} was padding."
    if settings["pairs_too_long"]:
        room, left_out = settings["max_length"] - 1, settings["pairs_too_long"]
        yield f"Pairs left out, of more than {room} tokens: {left_out}."


def next_command(model: str, run) -> str:
    """Return what to try with a model that was just trained."""
    return f'keras-seq predict {model} "The black cats sleep."'


def is_run(folder) -> bool:
    """Whether `folder` holds a trained translator."""
    return all(pathlib.Path(folder, name).is_file() for name in _FILES)


def open_run(folder, method: str = "auto"):
    """Load the translator of a run."""
    from keras_seq.commands.translation_model import TranslationRun

    _refuse(method)
    with in_options(OPTIONS):
        return TranslationRun(folder)


def open_export(exported):
    """Use an exported translator; TensorFlow and tensorflow-text will do."""
    from keras_seq.commands.translation_model import TranslationModel

    return TranslationModel(exported.signatures, exported.card)


def _refuse(method):
    if method not in ("auto", "attention"):
        raise UsageError(
            "--method must be attention for a translation. "
            f"Received: {method!r}"
        )
