"""How to train a captioner on which data: settings as plain dicts."""

import functools

from keras_seq.models import (
    SHOW_AND_TELL_PRESETS,
    SHOW_ATTEND_TELL_PRESETS,
    TRANSFORMER_CAPTIONER_PRESETS,
    show_and_tell,
    show_attend_tell,
    transformer_captioner,
)

# Each family: what makes a model, and its presets.
FAMILIES = {
    "show_and_tell": (show_and_tell, SHOW_AND_TELL_PRESETS),
    "soft": (
        functools.partial(show_attend_tell, attention="soft"),
        SHOW_ATTEND_TELL_PRESETS,
    ),
    "hard": (
        functools.partial(show_attend_tell, attention="hard"),
        SHOW_ATTEND_TELL_PRESETS,
    ),
    "transformer": (transformer_captioner, TRANSFORMER_CAPTIONER_PRESETS),
}

# What a recipe does not say.
TRAINING_DEFAULTS = {
    # What sees: "small_cnn", which learns with the captioner, or a network of
    # `vision.backbone`, which stays as it is and whose features are kept.
    "vision": "EfficientNetLite0",
    "vision_weights": "imagenet",
    "image_size": (224, 224),
    "fit": "stretch",
    "cnn_widths": (24, 48, 96),  # of "small_cnn"
    # Layers of a network that stays as it is, to look at instead of its last.
    "feature_layers": None,
    "projection_dim": 256,  # of kept features; None leaves them as wide
    "feature_dropout": 0.2,  # of kept features
    "mirror": False,  # whether to learn from kept features in a mirror, too
    "vocabulary_size": 10000,
    "min_count": 1,  # words said less often are unknown
    "max_length": 24,  # tokens of a caption, its end included
    "batch_size": 64,  # captions
    "captions_per_image": 1,  # in one batch
    "word_dropout": 0.0,
    "epochs": 10,
    "learning_rate": 1.5e-3,  # at the end of the warm-up, then a cosine to 0
    "warmup_steps": 300,
    "global_clipnorm": 5.0,
    "label_smoothing": 0.1,
    "average_decay": 0.998,  # of the weights; 0 takes the last ones
    "reward_weight": 1.0,  # of hard attention, as is the next
    "entropy_weight": 0.01,
    "patience": None,  # epochs without a better BLEU before it stops
    "bleu_images": 0,  # of the validation part, captioned each epoch
    "beam_size": 4,
    "length_penalty": 0.6,
}
_SCENE_READER = {"attention_dim": 64, "dropout": 0.1, "tie_embeddings": False}
# For each kind of data: what suits every family, and what suits one of them.
RECIPES = {
    "scenes": {
        "preset": "tiny",
        # Early layers: what they see, they see where it is.
        "feature_layers": ("block_4_add", "block_10_add"),
        "image_size": (160, 160),
        "projection_dim": 96,
        "feature_dropout": 0.1,
        "captions_per_image": 5,
        "batch_size": 80,
        "epochs": 6,
        "learning_rate": 3e-3,
        "warmup_steps": 60,
        "label_smoothing": 0.0,
        "average_decay": 0.99,
        "soft": _SCENE_READER,
        "hard": _SCENE_READER,
        "show_and_tell": {"dropout": 0.1},
        "transformer": {"dropout": 0.1},
    },
    "flickr8k": {
        "preset": "small",
        "min_count": 4,
        "mirror": True,
        "length_penalty": 1.2,
        "soft": {"hidden_dim": 320, "attention_dim": 192, "dropout": 0.4},
        "hard": {
            "hidden_dim": 320,
            "attention_dim": 192,
            "dropout": 0.4,
            "outside_training": "expected",
            "reward_weight": 0.1,
            "length_penalty": 0.8,
        },
        "show_and_tell": {"hidden_dim": 320, "dropout": 0.4},
        "transformer": {
            "num_layers": 2,
            "intermediate_dim": 768,
            "dropout": 0.25,
            "projection_dim": None,
        },
    },
    "coco": {"preset": "small", "min_count": 5, "epochs": 5},
    "files": {"preset": "small"},
}


def resolve_settings(data, model="soft", preset=None, overrides=None):
    """Return `(preset, training settings, model overrides)` for `data`.

    Args:
        data: A name in `RECIPES`, or files.
        model: A name in `FAMILIES`.
        preset: A preset of that family; None for the recipe's own.
        overrides: Settings of the training or of the model that replace the
            recipe's.

    >>> resolve_settings("scenes", "hard", overrides={"epochs": 2})[0]
    'tiny'
    """
    if model not in FAMILIES:
        raise ValueError(
            f"`model` must be one of {list(FAMILIES)}. Received: {model!r}"
        )
    presets = FAMILIES[model][1]
    known = "scenes" if data == "biased_scenes" else data
    recipe = dict(RECIPES.get(known, RECIPES["files"]))
    of_family = {name: recipe.pop(name, {}) for name in FAMILIES}[model]
    own = recipe.pop("preset")
    preset = own if preset is None else preset
    if preset not in presets:
        raise ValueError(
            f"`preset` must be one of {sorted(presets)}. Received: {preset!r}"
        )
    asked = {**TRAINING_DEFAULTS, **recipe, **of_family}
    if preset != own:  # the recipe's layers are those of its own size
        asked = {k: v for k, v in asked.items() if k in TRAINING_DEFAULTS}
    asked |= overrides or {}
    how = {name: asked.pop(name) for name in TRAINING_DEFAULTS}
    _check(how)
    return preset, how, asked


def _check(how):
    for name in ("batch_size", "captions_per_image", "epochs", "max_length"):
        if how[name] < 1:
            raise ValueError(
                f"`{name}` must be positive. Received: {how[name]!r}"
            )
    if how["mirror"] and how["vision"] == "small_cnn":
        raise ValueError(
            "`mirror` must be False where the network learns, too. "
            f"Received: {how['mirror']!r}"
        )
    if how["patience"] is not None and not how["bleu_images"]:
        raise ValueError(
            "`bleu_images` must be positive to stop by BLEU. "
            f"Received: {how['bleu_images']!r}"
        )
