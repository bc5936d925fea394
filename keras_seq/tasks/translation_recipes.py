"""How to train a translator on which data: settings as plain dicts."""

from keras_seq import training
from keras_seq.models import (
    RNN_SEARCH_PRESETS,
    SEQ2SEQ_PRESETS,
    TRANSFORMER_PRESETS,
    rnn_search,
    seq2seq,
    transformer,
)

# Each family: what makes a model, and its presets.
FAMILIES = {
    "transformer": (transformer, TRANSFORMER_PRESETS),
    "rnn_search": (rnn_search, RNN_SEARCH_PRESETS),
    "seq2seq": (seq2seq, SEQ2SEQ_PRESETS),
}

# What a recipe does not say. Adam, the warm-up and the smoothing are those of
# "Attention is all you need".
TRAINING_DEFAULTS = {
    "vocabulary_size": 8000,  # of subwords, shared by both languages
    "max_length": 200,  # tokens of a sentence, its end included
    # Share of the merges left out when words are split to learn from.
    "subword_dropout": 0.0,
    "tokens_per_batch": 2048,  # of one side, padding included
    "gradient_accumulation_steps": 1,
    "epochs": 30,
    "learning_rate": 2e-3,  # at the end of the warm-up
    "warmup_steps": 800,
    "schedule": "inverse_square_root",  # or "cosine", to 0 at the last epoch
    "label_smoothing": 0.1,
    "average_decay": 0.998,  # of the weights; 0 takes the last ones
    # Ends of so many last epochs to average instead, as the paper averages
    # checkpoints; 0 goes by `average_decay`.
    "average_epochs": 0,
    "patience": None,  # epochs without a better `monitor` before it stops
    "monitor": "val_loss",  # or "bleu"
    "bleu_sentences": 0,  # of the validation part, translated each epoch
    "coverage_penalty": 0.0,  # of the search, see `decoding.beam_search`
    "jit_compile": False,
}
# Sizes of the paper are trained as in the paper, section 5.3: what suits a
# small model, or one that normalizes first, is too much for their post-norm.
PAPER_SIZES = ("base", "big")
PAPER_WARMUP = {"warmup_steps": 4000, "schedule": "inverse_square_root"}
# For each kind of data: what suits every family, and what suits one of them.
RECIPES = {
    "grammar": {
        "preset": "tiny",
        "vocabulary_size": 1500,
        "tokens_per_batch": 1024,
        "average_decay": 0.995,
        "warmup_steps": 200,
        "transformer": {
            # About seven minutes on two cores.
            "epochs": 3,
            "learning_rate": 4e-3,
            "num_encoder_layers": 2,
            "num_decoder_layers": 2,
            "normalize_first": True,
            # Learns faster than sinusoids alone; see docs/results.md.
            "positions": "both",
            "max_shift": 16,
            # What is longer than all it learned from, it would leave half out.
            "coverage_penalty": 0.2,
        },
        "rnn_search": {"epochs": 4},
        "seq2seq": {"epochs": 4},
    },
    "multi30k": {
        "preset": "tiny",
        "vocabulary_size": 5000,
        "tokens_per_batch": 1536,
        "transformer": {
            # About ten minutes on two cores.
            "epochs": 12,
            "learning_rate": 3e-3,
            "warmup_steps": 400,
            "schedule": "cosine",
            "hidden_dim": 192,
            "num_decoder_layers": 2,
            "dropout": 0.2,
            "normalize_first": True,
        },
    },
    "tatoeba": {
        "preset": "small",
        "vocabulary_size": 6000,
        "transformer": {
            # 3.7 million parameters, so that it can be shipped.
            "epochs": 6,
            "learning_rate": 2.5e-3,
            "warmup_steps": 600,
            "schedule": "cosine",
            "hidden_dim": 192,
            "intermediate_dim": 768,
            "num_decoder_layers": 2,
            "normalize_first": True,
        },
    },
    "files": {"preset": "small"},
}


def resolve_settings(data, model="transformer", preset=None, overrides=None):
    """Return `(preset, training settings, model overrides)` for `data`.

    Args:
        data: A name in `RECIPES`, names with a "+" between them, or files.
        model: A name in `FAMILIES`.
        preset: A preset of that family; None for the recipe's own.
        overrides: Settings of the training or of the model that replace the
            recipe's.

    >>> resolve_settings("grammar", "rnn_search", overrides={"epochs": 2})[0]
    'tiny'
    """
    if model not in FAMILIES:
        raise ValueError(
            f"`model` must be one of {sorted(FAMILIES)}. Received: {model!r}"
        )
    presets = FAMILIES[model][1]
    first = data.split("+")[0].split("_")[0]  # "multi30k_en_fr" is multi30k
    recipe = dict(RECIPES.get(first, RECIPES["files"]))
    of_family = {name: recipe.pop(name, {}) for name in FAMILIES}[model]
    own = recipe.pop("preset")
    preset = own if preset is None else preset
    if preset not in presets:
        raise ValueError(
            f"`preset` must be one of {sorted(presets)}. Received: {preset!r}"
        )
    if preset != own:  # the recipe's layers are those of its own size
        of_family = {
            k: v for k, v in of_family.items() if k in TRAINING_DEFAULTS
        }
    overrides = dict(overrides or {})
    like_paper = model == "transformer" and preset in PAPER_SIZES
    if like_paper:
        of_family = {**of_family, **PAPER_WARMUP}
    asked = {**TRAINING_DEFAULTS, **recipe, **of_family, **overrides}
    how = {name: asked.pop(name) for name in TRAINING_DEFAULTS}
    if like_paper and "learning_rate" not in overrides:
        width = asked.get("hidden_dim", presets[preset]["hidden_dim"])
        how["learning_rate"] = (width * how["warmup_steps"]) ** -0.5
    if how["average_epochs"] < 0:
        raise ValueError(
            "`average_epochs` must not be negative. "
            f"Received: {how['average_epochs']}"
        )
    if how["coverage_penalty"] and model == "seq2seq":
        raise ValueError(
            "`coverage_penalty` must be 0 for seq2seq, which does not look at "
            f"its source. Received: {how['coverage_penalty']}"
        )
    return preset, how, asked


def weights_average(how):
    """Return the average of weights that the settings `how` ask for, or None.

    >>> weights_average({"average_epochs": 3, "average_decay": 0.998})
    LastEpochsAverage(epochs=3)
    """
    if how["average_epochs"]:
        return training.LastEpochsAverage(how["average_epochs"])
    if how["average_decay"]:
        return training.ExponentialAverage(how["average_decay"])
    return None


def learning_rate_schedule(how, num_batches):
    """Return the schedule that the training settings `how` ask for.

    Args:
        how: Training settings, as `resolve_settings` gives them.
        num_batches: Of all epochs; a cosine is at 0 after them.

    >>> schedule = learning_rate_schedule(TRAINING_DEFAULTS, 4000)
    >>> [f"{float(schedule(step)):.1e}" for step in (800, 3200)]
    ['2.0e-03', '1.0e-03']
    """
    peak, warmup_steps = how["learning_rate"], how["warmup_steps"]
    if how["schedule"] == "inverse_square_root":
        return training.WarmupInverseSquareRoot(peak, warmup_steps)
    if how["schedule"] != "cosine":
        raise ValueError(
            '`schedule` must be "inverse_square_root" or "cosine". '
            f"Received: {how['schedule']!r}"
        )
    updates = max(num_batches // how["gradient_accumulation_steps"], 2)
    # Of a short run, no more than the first quarter warms up.
    return training.WarmupCosine(
        peak, min(warmup_steps, max(updates // 4, 1)), updates
    )
