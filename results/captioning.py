"""The rows about captioning: which data, which model, which settings."""

import shutil

import keras

from keras_seq.data import CaptionedImages, load_scenes
from keras_seq.tasks import captioning
from keras_seq.tasks.caption_eyes import Eye
from keras_seq.tasks.captioning_recipes import FAMILIES, resolve_settings
from results.clock import clock

ROWS = {
    f"{data}/{family}": (data, family)
    for data in ("scenes", "flickr8k")
    for family in FAMILIES
}
# Scores by the names they have in print.
PRINTED = {
    **{f"bleu_{n}": f"BLEU-{n}" for n in (1, 2, 3, 4)},
    "brevity_penalty": "brevity penalty",
    "cider": "CIDEr",
    "rouge_l": "ROUGE-L",
    "meteor": "METEOR",
    "relative_bleu_4": "BLEU-4 over that of people",
    "pointing_accuracy": "pointing accuracy",
    "pointing_chance": "pointing by chance",
}
OF_UNSEEN = ("relative_bleu_4", "pointing_accuracy")
FAST = {"preset": "test", "epochs": 1, "max_length": 12}
# A trial need not load a large network for pictures that are painted.
FAST_SCENES = {
    **FAST,
    "vision": "small_cnn",
    "cnn_widths": (4, 6, 8),
    "image_size": (96, 96),
}


def measure(name, *, data_dir, folder, fast=False):
    """Train and score one row; return it as a dict that JSON can hold.

    Features of pictures are made before the clock starts.
    """
    data, family = ROWS[name]
    dataset = _dataset(data, data_dir, fast)
    settings = {}
    if fast:
        settings = FAST_SCENES if data == "scenes" else FAST
    # What an earlier attempt left is not to be gone on with.
    shutil.rmtree(folder, ignore_errors=True)
    keras.utils.clear_session()
    cache_dir = folder / "features" if fast else None
    _keep_features(dataset, family, settings, cache_dir)
    before = clock()
    captioner, result = captioning.train(
        dataset,
        family,
        folder=folder,
        cache_dir=cache_dir,
        verbose=0,
        **settings,
    )
    spent = [after - then for after, then in zip(clock(), before, strict=True)]
    return describe(name, captioner, dataset, spent, result.history, fast)


def describe(name, captioner, dataset, spent, history, fast=False):
    """Score a captioner; return the row.

    Args:
        name: Of the row.
        captioner: A `Captioner`.
        dataset: The data set to score it on.
        spent: Wall and CPU seconds of its training.
        history: The logs of each epoch.
        fast: Whether it is a trial on slices.
    """
    scores = score(captioner, dataset, use_meteor=not fast)
    return {
        "name": name,
        "data": name.split("/")[0],
        "preset": captioner.settings["preset"],
        "scores": {key: round(value, 4) for key, value in scores.items()},
        "examples": dataset.sizes["test"],
        "parameters": captioner.model.count_params()
        + captioner.vision.count_params(),
        "wall_seconds": round(spent[0], 1),
        "cpu_seconds": round(spent[1], 1),
        "epochs": len(history),
        "settings": captioner.settings,
        "command": f"python -m results --only {name} --again",
        "fast": fast,
    }


def score(captioner, dataset, use_meteor=True):
    """Return scores of the part `test`, and of `unseen` where it is."""
    found = captioning.evaluate(captioner, dataset, use_meteor=use_meteor)
    scores = {PRINTED[key]: found[key] for key in PRINTED if key in found}
    if "unseen" in dataset.splits:
        found = captioning.evaluate(
            captioner, dataset, split="unseen", use_meteor=False
        )
        scores |= {
            f"{PRINTED[key]}, unseen": found[key]
            for key in OF_UNSEEN
            if key in found
        }
    return scores


def _keep_features(dataset, family, settings, cache_dir):
    _, how, _ = resolve_settings(dataset.name, family, None, settings)
    eye = Eye(how)
    if eye.frozen is None:
        return
    for split in ("train", "validation"):
        eye.pictures(dataset, split, cache_dir)
    if how["mirror"]:
        eye.pictures(dataset, "train", cache_dir, mirror=True)


def _dataset(data, data_dir, fast):
    if not fast:
        return captioning.load_data(data, data_dir)
    if data == "scenes":
        return load_scenes(12, 5, 5)
    return _slice(captioning.load_data(data, data_dir))


def _slice(dataset, size=12):
    splits = {
        name: {field: column[:size] for field, column in columns.items()}
        for name, columns in dataset.splits.items()
    }
    return CaptionedImages(
        dataset.name, dataset.licence, splits, files=dataset.files
    )
