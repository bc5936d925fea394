"""What `text_classifier` can be asked for: presets as plain dicts."""

ENCODERS = (None, "rnn", "lstm", "gru", "transformer")
RECURRENT = ENCODERS[1:4]
POOLINGS = (None, "attention", "last", "max", "mean")

# What a preset does not say.
DEFAULTS = {
    "embedding_dim": 64,
    "encoder": None,
    "bidirectional": False,
    "units": 64,
    "num_layers": 1,
    "num_heads": 4,
    "pooling": "mean",
    "attend_to": "states",
    "attention_units": 32,
    "score_scale": 1.0,
    "hidden_dim": 0,
    "token_dropout": 0.0,
    "dropout": 0.2,
    "max_ngram": 0,
    "num_ngrams": 300_000,
    "ngram_strength": 0.05,
    "ngram_dropout": 0.5,
    "ngram_silence": 0.0,
    "max_spelling": 0,
    "num_spellings": 200_000,
    "spelling_strength": 0.01,
    "spelling_dropout": 0.5,
}
TEXT_CLASSIFIER_PRESETS = {
    "bag": {},
    "rnn": {"encoder": "rnn", "pooling": "last"},
    "lstm": {"encoder": "lstm", "pooling": "last"},
    "gru": {"encoder": "gru", "pooling": "last"},
    "bidirectional": {
        "encoder": "lstm",
        "bidirectional": True,
        "pooling": "last",
    },
    # The weights must fall on the words that decide, so what is averaged are
    # the words, which the hidden layer puts together again; the encoder only
    # says where to look.
    "attention": {
        "encoder": "gru",
        "bidirectional": True,
        "embedding_dim": 32,
        "units": 16,
        "pooling": "attention",
        "attend_to": "words",
        "score_scale": 0.1,
        "hidden_dim": 32,
        "token_dropout": 0.25,
        "dropout": 0.05,
    },
    "transformer": {
        "encoder": "transformer",
        "num_layers": 2,
        "dropout": 0.0,
    },
    "ngrams": {"max_ngram": 3, "pooling": None},
    "ngrams_bag": {"max_ngram": 3, "token_dropout": 0.3},
    # Few texts, many words seen once: the letters know more than the words.
    "ngrams_spelling": {
        "max_ngram": 3,
        "max_spelling": 6,
        "token_dropout": 0.3,
    },
    "ngrams_attention": {
        "max_ngram": 3,
        "pooling": "attention",
        "token_dropout": 0.3,
    },
    "test": {
        "encoder": "gru",
        "bidirectional": True,
        "embedding_dim": 8,
        "units": 4,
        "pooling": "attention",
        "attention_units": 4,
        "max_ngram": 2,
        "num_ngrams": 500,
    },
}


def classifier_settings(preset, overrides=()):
    """Return all settings of a preset, `overrides` included, as a dict."""
    if preset not in TEXT_CLASSIFIER_PRESETS:
        raise ValueError(
            f"`preset` must be one of {sorted(TEXT_CLASSIFIER_PRESETS)}. "
            f"Received: {preset!r}"
        )
    settings = {**DEFAULTS, **TEXT_CLASSIFIER_PRESETS[preset]}
    for name, value in dict(overrides).items():
        if name not in DEFAULTS:
            raise ValueError(
                f"`overrides` must be among {sorted(DEFAULTS)}. "
                f"Received: {name}={value!r}"
            )
        settings[name] = value
    for name, allowed in (
        ("encoder", ENCODERS),
        ("pooling", POOLINGS),
        ("attend_to", ("states", "words")),
    ):
        if settings[name] not in allowed:
            raise ValueError(
                f"`{name}` must be one of {allowed}. "
                f"Received: {settings[name]!r}"
            )
    if settings["pooling"] == "last" and settings["encoder"] not in RECURRENT:
        raise ValueError(
            '`pooling="last"` takes the final state of a recurrent encoder. '
            f"Received: encoder={settings['encoder']!r}"
        )
    if settings["pooling"] is None and not settings["max_ngram"]:
        raise ValueError(
            "`pooling` must be given for a model without n-grams. "
            "Received: pooling=None, max_ngram=0"
        )
    return settings
