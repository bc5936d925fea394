"""How to train on which data: settings as plain dicts."""

from keras_seq.models.text_classifier_settings import (
    TEXT_CLASSIFIER_PRESETS,
    classifier_settings,
)

# What a recipe does not say.
TRAINING_DEFAULTS = {
    "tokenizer": "word",  # or "subword"
    "vocabulary_size": 20_000,  # at most
    "min_count": 1,  # of a word in the training texts, to be known
    "max_length": 400,  # tokens: the first and the last half of it
    "batch_size": 64,
    "epochs": 6,
    "learning_rate": 3e-3,
    "warmup": 0.05,  # share of all steps
    "label_smoothing": 0.0,
    "average_decay": 0.99,  # of the weights; 0 takes the last ones
    "global_clipnorm": 1.0,
    # For the last training, when all settings are chosen.
    "learn_from_validation": False,
    "ngram_min_count": 3,  # texts that an n-gram must stand in, to be known
    "spelling_min_count": 2,  # the same for a run of letters
}

REVIEWS = {
    "preset": "attention",
    "max_length": 120,
    "epochs": 12,
    "learning_rate": 5e-3,
}
# Counting does most of the work, in seconds; attention over the embeddings
# adds what it can, and says which words it read.
NGRAMS = {
    "preset": "ngrams_attention",
    "min_count": 2,
    "epochs": 3,
    "learning_rate": 2e-3,
    "ngram_strength": 0.03,
    "learn_from_validation": True,
}
SENTENCES = {
    **NGRAMS,
    "preset": "ngrams_spelling",
    "max_length": 150,
    "min_count": 1,
    "epochs": 4,
    "learning_rate": 1.5e-3,
    "ngram_min_count": 1,
    "ngram_strength": 0.1,
}
RECIPES = {
    "reviews": REVIEWS,
    "biased": REVIEWS,
    "imdb": {
        **NGRAMS,
        "max_length": 800,
        "vocabulary_size": 30_000,
        "num_ngrams": 1_000_000,
        "ngram_min_count": 2,
    },
    # Several sets, short and long texts, and small enough to be shipped.
    "joined": {
        **NGRAMS,
        "max_length": 300,
        "vocabulary_size": 25_000,
        "embedding_dim": 32,
        "encoder": "gru",
        "bidirectional": True,
        "units": 32,
        "num_ngrams": 350_000,
        "ngram_min_count": 2,
        "ngram_strength": 0.05,
        # A tweet has few n-grams that were counted; the encoder must be able
        # to do without.
        "ngram_silence": 0.5,
    },
    "sst2": SENTENCES,
    "rotten_tomatoes": SENTENCES,
    "table": {"preset": "attention", "min_count": 2},
}

# What a preset needs whatever the data; it replaces what the recipe says.
PRESET_TRAINING = {
    "transformer": {"learning_rate": 3e-3, "warmup": 0.1},
    # Of a word that it does not know, the word tokenizer keeps no letter.
    "ngrams_spelling": {"tokenizer": "subword", "vocabulary_size": 8000},
}


def resolve_settings(data, preset=None, overrides=None):
    """Return `(preset, training settings, model settings)` for `data`.

    Args:
        data: A name in `RECIPES`; names with a "+" between them are a joined
            set, and anything else is a table.
        preset: A name in `models.TEXT_CLASSIFIER_PRESETS`; None for the
            recipe's own.
        overrides: Settings of the training or of the model that replace the
            recipe's.

    >>> resolve_settings("reviews", "gru", {"epochs": 2})[1]["epochs"]
    2
    """
    kind = "joined" if "+" in data else "table"
    recipe = dict(RECIPES.get(data, RECIPES[kind]))
    own = recipe.pop("preset")
    preset = own if preset is None else preset
    if preset not in TEXT_CLASSIFIER_PRESETS:
        raise ValueError(
            f"`preset` must be one of {sorted(TEXT_CLASSIFIER_PRESETS)}. "
            f"Received: {preset!r}"
        )
    recipe |= PRESET_TRAINING.get(preset, {})
    asked = {**recipe, **(overrides or {})}
    known = {*TRAINING_DEFAULTS, *classifier_settings(preset)}
    for name, value in asked.items():
        if name not in known:
            raise ValueError(
                f"Settings must be among {sorted(known)}. "
                f"Received: {name}={value!r}"
            )
    training = {
        name: asked.pop(name, value)
        for name, value in TRAINING_DEFAULTS.items()
    }
    return preset, training, classifier_settings(preset, asked)
