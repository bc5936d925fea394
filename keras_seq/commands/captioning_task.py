"""Captioning on the command line; `task.py` says what a task has to offer."""

import pathlib

from keras_seq.commands.example_scenes import (
    example_scene,
    write_example_scenes,
)
from keras_seq.commands.train_arguments import (
    add_data_dir,
    add_epochs,
    add_minutes,
    add_seed,
    check_numbers,
    final_metrics,
)
from keras_seq.commands.usage_error import UsageError, in_options
from keras_seq.commands.wording import in_shell

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
OPTIONS = (*DEFAULTS, *EVALUATE)
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
    add_data_dir(parser)
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
    add_epochs(parser)
    add_minutes(parser)
    add_seed(parser)


def check(settings: dict) -> None:
    """Refuse settings that cannot be meant, before anything is loaded."""
    check_numbers(settings)
    from keras_seq.tasks.captioning_recipes import resolve_settings

    with in_options(OPTIONS):
        resolve_settings(
            settings["data"], settings["model"], settings["preset"]
        )


def train(folder, resume: bool, settings: dict) -> str:
    """Train; return a sentence on how well it went."""
    from keras_seq.tasks import captioning

    with in_options(OPTIONS):
        found = final_metrics(captioning.train, folder, resume, settings)
    write_example_scenes(folder, settings["data"])
    nats = found.get("val_crossentropy")
    if nats is None:
        return ""
    return f"{nats:.3f} nats a word of the validation part."


def next_command(model: str, run) -> str:
    """Return what to try with a model that was just trained."""
    picture = in_shell(example_scene(run) or "PHOTO.jpg")
    return f"keras-seq explain {model} {picture} --html look.html"


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
    with in_options(OPTIONS):
        return CaptioningRun(folder)


def open_export(exported):
    """Use an exported captioner; TensorFlow will do."""
    from keras_seq.commands.captioning_model import CaptioningModel

    return CaptioningModel(exported.signatures, exported.card)
