"""Captioning on the command line; `task.py` says what a task has to offer."""

import pathlib

from keras_seq.commands.usage_error import UsageError

SUMMARY = "say what is on a picture"
EXAMPLES = """\
  keras-seq train captioning
  keras-seq train captioning --model hard
  keras-seq train captioning --data flickr8k --data-dir DIR --minutes 60
  keras-seq train captioning --data captions.json,photos --preset small
  keras-seq train captioning --resume"""
DEFAULTS = {
    "data": "scenes",
    "data_dir": None,
    "cache_dir": None,
    "model": "soft",
    "preset": None,
    "epochs": None,
    "minutes": None,
    "seed": 0,
}
# What `keras-seq evaluate` can be told.
EVALUATE = ("data", "data_dir", "split", "beam_size")
_FILES = ("captioner.json", "model.keras", "vision.keras")


def add_train_arguments(parser) -> None:
    """Add what can be said about a training."""
    parser.add_argument(
        "--data",
        metavar="NAME|FILES",
        help="scenes or biased_scenes, which are painted; flickr8k or coco in "
        "--data-dir; or a file of captions in COCO's format and the folder or "
        "zip file of its pictures, with a comma between them (default: "
        "scenes)",
    )
    parser.add_argument(
        "--data-dir",
        metavar="DIR",
        help="folder of the real data sets (default: KERAS_SEQ_DATA)",
    )
    parser.add_argument(
        "--cache-dir",
        metavar="DIR",
        help="folder to keep features of pictures in (default: "
        "KERAS_SEQ_CACHE, or ~/.cache/keras_seq)",
    )
    parser.add_argument(
        "--model",
        metavar="M",
        help="show_and_tell (one vector), soft or hard (attention), or "
        "transformer (default: soft)",
    )
    parser.add_argument(
        "--preset",
        metavar="P",
        help="its size: tiny, small, ... (default: what suits the data)",
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
    from keras_seq.tasks.captioning_recipes import resolve_settings

    try:
        resolve_settings(
            settings["data"], settings["model"], settings["preset"]
        )
    except ValueError as error:
        raise usage_error(error) from error


def train(folder, resume: bool, settings: dict) -> str:
    """Train; return a sentence on how well it went."""
    from keras_seq.tasks import captioning

    settings = {k: v for k, v in settings.items() if v is not None}
    minutes = settings.pop("minutes", None)
    try:
        _, result = captioning.train(
            **settings,
            time_limit=None if minutes is None else 60 * minutes,
            folder=folder,
            resume=resume,
            verbose=1,
        )
    except ValueError as error:
        raise usage_error(error) from error
    nats = result.final_metrics.get("val_crossentropy")
    if nats is None:
        return ""
    return f"{nats:.3f} nats a word of the validation part."


def next_command(model: str) -> str:
    """Return what to try with a model that was just trained."""
    return f"keras-seq explain {model} PHOTO.jpg --html look.html"


def is_run(folder) -> bool:
    """Whether `folder` holds a trained captioner."""
    return all(pathlib.Path(folder, name).is_file() for name in _FILES)


def open_run(folder, method: str = "auto"):
    """Load the captioner of a run."""
    from keras_seq.commands.captioning_run import CaptioningRun

    if method not in ("auto", "attention"):
        raise UsageError(
            f"--method must be attention for a caption. Received: {method!r}"
        )
    try:
        return CaptioningRun(folder)
    except ValueError as error:
        raise usage_error(error) from error


def open_export(exported):
    """Use an exported captioner; TensorFlow will do."""
    from keras_seq.commands.captioning_model import CaptioningModel

    return CaptioningModel(exported.signatures, exported.card)


def usage_error(error: ValueError) -> UsageError:
    """Say what the library says in the words of the command line.

    >>> print(usage_error(ValueError("`data_dir` must be a folder.")))
    --data-dir must be a folder.
    """
    message = str(error)
    for name in (*DEFAULTS, *EVALUATE):
        message = message.replace(f"`{name}`", "--" + name.replace("_", "-"))
    return UsageError(message)
