"""Captioning, end to end: train on pictures and their captions, score, save.

>>> captioner, result = train("scenes", folder="outputs/captioning")
... # doctest: +SKIP
>>> captioner.caption(["photo.jpg"])  # doctest: +SKIP
"""

import warnings

import keras
import numpy as np

from keras_seq import training
from keras_seq.data import CaptionedImages
from keras_seq.models import draw_locations
from keras_seq.tasks.caption_batches import CaptionBatches
from keras_seq.tasks.caption_eyes import Eye
from keras_seq.tasks.caption_teacher import CaptionTeacher
from keras_seq.tasks.captioner import Captioner as Captioner
from keras_seq.tasks.captioner import ExplainedCaption as ExplainedCaption
from keras_seq.tasks.captioning_data import NAMES as NAMES
from keras_seq.tasks.captioning_data import (
    clean_captions,
    encode_captions,
    may_be_mirrored,
)
from keras_seq.tasks.captioning_data import load_data as load_data
from keras_seq.tasks.captioning_evaluation import choose_heads, count_heads
from keras_seq.tasks.captioning_evaluation import evaluate as evaluate
from keras_seq.tasks.captioning_recipes import FAMILIES, resolve_settings
from keras_seq.tasks.captioning_scores import captioning_scores
from keras_seq.text import WordTokenizer
from keras_seq.training.objectives import SupervisedObjective

# Pictures of the validation part that an attention head is chosen by.
_TO_CHOOSE_BY = 200


def train(
    data="scenes",
    model="soft",
    preset=None,
    *,
    data_dir=None,
    cache_dir=None,
    folder,
    resume=False,
    seed=0,
    time_limit=None,
    verbose="auto",
    **overrides,
):
    """Train a captioner, and save it.

    The folder then holds what `training.fit` writes (`run.json`,
    `curves.png`, checkpoints) and what `Captioner.load` reads. A run that
    was killed goes on with `resume=True`, and ends as if it had not been.

    Features of a network that stays as it is are computed once, and kept in
    `cache_dir` for the next run.

    Args:
        data: "scenes" (painted, built in), "biased_scenes", "flickr8k",
            "coco", a file of captions in COCO's format and its pictures as
            "captions.json,pictures", or a `data.CaptionedImages`.
        model: "show_and_tell" (one vector), "soft" or "hard" attention
            (`models.show_attend_tell`), or "transformer".
        preset: Size of the model, such as "tiny" or "small"; by default what
            the recipe for this data says.
        data_dir: The folder of the real data sets; by default what the
            environment variable `KERAS_SEQ_DATA` names.
        cache_dir: The folder of features; by default what the environment
            variable `KERAS_SEQ_CACHE` names, or `~/.cache/keras_seq`.
        folder: Where to save.
        resume: Whether to go on with the run in `folder`.
        seed: The same seed gives the same captioner.
        time_limit: Seconds after which to stop learning.
        verbose: As in `training.fit`.
        **overrides: Settings of the training
            (`captioning_recipes.TRAINING_DEFAULTS`) or of the model (what
            its maker in `models` takes) that replace the recipe's, such as
            `epochs=3` or `hidden_dim=64`.

    Returns:
        `(Captioner, training.FitResult)`.
    """
    name = data.name if isinstance(data, CaptionedImages) else str(data)
    preset, how, model_settings = resolve_settings(
        name, model, preset, overrides
    )
    dataset = load_data(data, data_dir)
    settings = {
        "task": "captioning",
        "data": name,
        "licence": dataset.licence,
        "notes": list(dataset.notes),
        "family": model,
        "preset": preset,
        "seed": seed,
        **how,
        "model": model_settings,
    }
    keras.utils.set_random_seed(seed)
    tokenizer = WordTokenizer.train(
        [c for own in clean_captions(dataset.columns("train")) for c in own],
        how["vocabulary_size"],
        how["min_count"],
    )
    eye = Eye(how)
    make_model = FAMILIES[model][0]
    captioner = Captioner(
        tokenizer,
        make_model(
            tokenizer.vocabulary_size, eye.width, preset, **model_settings
        ),
        eye.whole,
        how["image_size"],
        how["fit"],
        how["max_length"],
        settings,
    )
    teacher = CaptionTeacher(eye.learning, captioner.model, name=model)
    seen = {
        split: eye.pictures(dataset, split, cache_dir, verbose=verbose)
        for split in ("train", "validation")
    }
    mirrored = None
    if how["mirror"]:
        mirrored, _ = eye.pictures(dataset, "train", cache_dir, True, verbose)
    batches, validation = (
        _batches(captioner, dataset, split, seen[split], how, **more)
        for split, more in (
            ("train", {"seed": seed, "mirrored": mirrored}),
            ("validation", {"shuffle": False}),
        )
    )
    teacher(next(batches.arrays())[0])  # so that it has its weights
    result = training.fit(
        teacher,
        batches,
        loss=_objective(model, how),
        optimizer=training.Adam(_schedule(how, batches.steps())),
        validation_data=validation,
        evaluate=_bleu_of_validation(
            captioner, eye, dataset, seen["validation"][0], how
        ),
        epochs=how["epochs"],
        early_stopping=(
            None
            if how["patience"] is None
            else training.EarlyStopping("bleu_4", how["patience"], mode="max")
        ),
        average=(
            training.ExponentialAverage(how["average_decay"])
            if how["average_decay"]
            else None
        ),
        global_clipnorm=how["global_clipnorm"],
        time_limit=time_limit,
        seed=seed,
        folder=folder,
        resume=resume,
        settings=settings,
        verbose=verbose,
    )
    gold = dataset.gold.get("validation")
    if gold and captioner.has_attention:
        features = _see(eye, seen["validation"][0][:_TO_CHOOSE_BY])
        if count_heads(captioner, features) > 1:
            captioner.settings["attention_heads"] = choose_heads(
                captioner,
                features,
                gold[:_TO_CHOOSE_BY],
                dataset.columns("validation")["image"].shape[1:3],
            )
    captioner.save(folder)
    return captioner, result


def _batches(captioner, dataset, split, seen, how, mirrored=None, **more):
    """Return `CaptionBatches` of the pictures that could be read."""
    images, failures = seen
    captions = clean_captions(dataset.columns(split))
    tokenizer = captioner.tokenizer
    ids = encode_captions(tokenizer, captions, how["max_length"])
    for row in failures:
        ids[row] = []
    if failures:
        row, why = next(iter(failures.items()))
        name = dataset.columns(split).get("name", {row: f"number {row}"})[row]
        if len(failures) == len(ids):
            raise ValueError(
                "`data` must have pictures that can be read. Received: "
                f"{split!r}, with {len(ids)}, the first of them {name}: {why}"
            )
        warnings.warn(
            f"{len(failures)} pictures of {split!r} cannot be read and are "
            f"left out, the first of them {name}: {why}",
            stacklevel=3,
        )
    if not any(ids):
        raise ValueError(
            "`max_length` must leave captions to learn from. "
            f"Received: {how['max_length']}"
        )
    learns = split == "train"
    return CaptionBatches(
        images,
        ids,
        start_id=tokenizer.start_id,
        end_id=tokenizer.end_id,
        unknown_id=tokenizer.unknown_id,
        batch_size=how["batch_size"],
        captions_per_image=how["captions_per_image"],
        word_dropout=how["word_dropout"] if learns else 0.0,
        mirrored=mirrored,
        may_mirror=may_be_mirrored(captions),
        **more,
    )


def _objective(model, how):
    loss = training.MaskedCrossentropy(how["label_smoothing"])
    measured = {
        "metrics": [training.TokenCrossentropy(name="crossentropy")],
        "metrics_in_training": False,
    }
    if model != "hard":
        return SupervisedObjective(loss, **measured)
    return training.HardAttentionObjective(
        draw_locations,
        how["reward_weight"],
        how["entropy_weight"],
        loss=loss,
        **measured,
    )


def _schedule(how, steps_per_epoch):
    updates = max(how["epochs"] * steps_per_epoch, 2)
    # Of a short run, no more than the first quarter warms up.
    warmup = min(how["warmup_steps"], max(updates // 4, 1))
    return training.WarmupCosine(how["learning_rate"], warmup, updates)


def _bleu_of_validation(captioner, eye, dataset, images, how):
    if not how["bleu_images"]:
        return None
    chosen = slice(how["bleu_images"])
    right = [list(r) for r in dataset.columns("validation")["captions"][chosen]]

    def bleu(model):
        features = _see(eye, images[chosen])
        found = captioner.caption_features(features, beam_size=1)
        scores = captioning_scores(found, right, use_meteor=False)
        return {name: scores[name] for name in ("bleu_4", "cider")}

    return bleu


def _see(eye, images, batch_size=32):
    """Return the features `(n, h * w, D)` that a captioner takes."""
    found = [
        eye.learning(
            np.asarray(images[at : at + batch_size], "float32"), training=False
        )
        for at in range(0, len(images), batch_size)
    ]
    grid = np.concatenate([np.asarray(part) for part in found])
    return grid.reshape(len(grid), -1, grid.shape[-1])
