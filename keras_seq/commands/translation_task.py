"""Translation on the command line; `task.py` says what a task has to offer."""

import pathlib

from keras_seq.commands.usage_error import UsageError

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
    "languages": "en-fr",
    "model": "transformer",
    "preset": None,
    "epochs": None,
    "minutes": None,
    "seed": 0,
}
# What `keras-seq evaluate` can be told.
EVALUATE = ("data", "data_dir", "split", "languages", "beam_size", "lowercase")
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
    parser.add_argument(
        "--data-dir",
        metavar="DIR",
        help="folder of the real data sets (default: KERAS_SEQ_DATA)",
    )
    parser.add_argument(
        "--languages",
        metavar="A-B",
        help="from which to which, where the data has several: en-fr, en-de, "
        "de-fr, ... (default: en-fr)",
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
    parser.add_argument(
        "--epochs",
        metavar="N",
        type=int,
        help="how often to go through the data (default: what suits it)",
    )
    parser.add_argument(
        "--minutes",
        metavar="N",
        type=float,
        help="stop learning after so many (default: no limit)",
    )
    parser.add_argument(
        "--seed",
        metavar="N",
        type=int,
        help="the same number gives the same model (default: 0)",
    )


def check(settings: dict) -> None:
    """Refuse settings that cannot be meant, before anything is loaded."""
    for name, least in (("epochs", 1), ("seed", 0)):
        value = settings[name]
        if value is not None and value < least:
            raise UsageError(
                f"--{name} must be at least {least}. Received: {value}"
            )
    if settings["minutes"] is not None and not settings["minutes"] > 0:
        raise UsageError(
            f"--minutes must be positive. Received: {settings['minutes']}"
        )
    from keras_seq.tasks.translation_recipes import resolve_settings

    try:
        resolve_settings(
            settings["data"], settings["model"], settings["preset"]
        )
    except ValueError as error:
        raise usage_error(error) from error


def train(folder, resume: bool, settings: dict) -> str:
    """Train; return a sentence on how well it went."""
    from keras_seq.tasks import translation

    settings = {k: v for k, v in settings.items() if v is not None}
    minutes = settings.pop("minutes", None)
    try:
        _, result = translation.train(
            **settings,
            time_limit=None if minutes is None else 60 * minutes,
            folder=folder,
            resume=resume,
            verbose=1,
        )
    except ValueError as error:
        raise usage_error(error) from error
    accuracy = result.final_metrics.get("val_accuracy")
    if accuracy is None:
        return ""
    return f"Right on {accuracy:.1%} of the next tokens of the validation part."


def next_command(model: str) -> str:
    """Return what to try with a model that was just trained."""
    return f'keras-seq predict {model} "The black cats sleep."'


def is_run(folder) -> bool:
    """Whether `folder` holds a trained translator."""
    return all(pathlib.Path(folder, name).is_file() for name in _FILES)


def open_run(folder, method: str = "auto"):
    """Load the translator of a run."""
    from keras_seq.commands.translation_model import TranslationRun

    _refuse(method)
    try:
        return TranslationRun(folder)
    except ValueError as error:
        raise usage_error(error) from error


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


def usage_error(error: ValueError) -> UsageError:
    """Say what the library says in the words of the command line.

    >>> print(usage_error(ValueError("`data_dir` must be a folder.")))
    --data-dir must be a folder.
    """
    message = str(error)
    for name in (*DEFAULTS, *EVALUATE):
        message = message.replace(f"`{name}`", "--" + name.replace("_", "-"))
    return UsageError(message)
