"""How to train a translator on which data: settings as plain dicts."""

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
    "tokens_per_batch": 2048,  # of one side, padding included
    "gradient_accumulation_steps": 1,
    "epochs": 30,
    "learning_rate": 2e-3,  # at the end of the warm-up
    "warmup_steps": 800,
    "label_smoothing": 0.1,
    "average_decay": 0.998,  # of the weights; 0 takes the last ones
    "patience": None,  # epochs without a better `monitor` before it stops
    "monitor": "val_loss",  # or "bleu"
    "bleu_sentences": 0,  # of the validation part, translated each epoch
    "jit_compile": False,
}
RECIPES = {
    "grammar": {
        "preset": "tiny",
        "vocabulary_size": 1500,
        "epochs": 6,
        "warmup_steps": 300,
    },
    "multi30k": {"preset": "tiny"},
    "tatoeba": {"preset": "small"},
    "files": {"preset": "small"},
}
# A recurrent network takes its steps one after the other; many rows at once
# make up for it.
RECURRENT = {"tokens_per_batch": 4096}


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
    recipe = dict(RECIPES.get(data.split("+")[0], RECIPES["files"]))
    own = recipe.pop("preset")
    preset = own if preset is None else preset
    if preset not in presets:
        raise ValueError(
            f"`preset` must be one of {sorted(presets)}. Received: {preset!r}"
        )
    if model != "transformer":
        recipe |= RECURRENT
    asked = {**TRAINING_DEFAULTS, **recipe, **(overrides or {})}
    training = {name: asked.pop(name) for name in TRAINING_DEFAULTS}
    return preset, training, asked
