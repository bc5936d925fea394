"""The rows about sentiment: which data, which model, which settings."""

import shutil

import keras
import numpy as np

from keras_seq import explain
from keras_seq.data import (
    Dataset,
    load_imdb,
    load_reviews,
    load_rotten_tomatoes,
    load_sst2,
)
from keras_seq.tasks import sentiment
from results.clock import clock

FAMILIES = (
    "bag",
    "rnn",
    "lstm",
    "gru",
    "bidirectional",
    "attention",
    "transformer",
)
# The recipe of the data set itself: `keras-seq train sentiment --data ...`.
BEST = "recipe"
# So that a family costs minutes and not hours, whatever the recipe says.
FAMILY_SETTINGS = {
    "reviews": {},
    "sst2": {"epochs": 6, "learning_rate": 2e-3, "token_dropout": 0.3},
    "imdb": {
        "epochs": 2,
        "learning_rate": 2e-3,
        "max_length": 200,
        "token_dropout": 0.3,
    },
    "rotten_tomatoes": {
        "preset": "bag",
        "epochs": 6,
        "learning_rate": 3e-3,
        "token_dropout": 0.3,
    },
}
# The preset drops nothing, which suits data without end; these sets end.
TRANSFORMER_DROPOUT = {"sst2": 0.2, "imdb": 0.2}
LOADERS = {"sst2": load_sst2, "imdb": load_imdb}
FOLDS = 10

ROWS = {
    **{f"reviews/{family}": family for family in FAMILIES},
    **{f"sst2/{family}": family for family in FAMILIES},
    f"sst2/{BEST}": None,
    "rotten_tomatoes/bag": "bag",
    f"rotten_tomatoes/{BEST}": None,
    **{f"imdb/{family}": family for family in FAMILIES},
    f"imdb/{BEST}": None,
}


def measure(name, *, data_dir, folder, fast=False):
    """Train and score one row; return it as a dict that JSON can hold."""
    data, preset = name.split("/")[0], ROWS[name]
    overrides = _settings(data, preset, fast)
    datasets = _datasets(data, data_dir, fast)
    before = clock()
    scores, parameters = [], 0
    for fold, dataset in enumerate(datasets):
        # What an earlier attempt left is not to be gone on with.
        shutil.rmtree(folder / str(fold), ignore_errors=True)
        classifier, _ = sentiment.train(
            dataset, preset, folder=folder / str(fold), verbose=0, **overrides
        )
        if fold == 0:
            spent = clock()
        scores.append(_scores(classifier, dataset))
        parameters = classifier.model.count_params()
        keras.utils.clear_session()
    if len(datasets) > 1:  # of all folds, their scoring included
        spent = clock()
    return {
        "name": name,
        "data": data,
        "preset": classifier.settings["preset"],
        "scores": {
            key: round(float(np.mean([s[key] for s in scores])), 4)
            for key in scores[0]
        },
        "folds": [s["accuracy"] for s in scores] if len(scores) > 1 else None,
        "examples": sum(d.sizes["test"] for d in datasets),
        "parameters": parameters,
        "wall_seconds": round(spent[0] - before[0], 1),
        "cpu_seconds": round(spent[1] - before[1], 1),
        "settings": classifier.settings,
        "command": f"python -m results --only {name} --again",
        "fast": fast,
    }


def _settings(data, preset, fast):
    settings = {}
    if preset is not None:
        settings = dict(FAMILY_SETTINGS[data])
        settings.pop("preset", None)
        settings["learn_from_validation"] = data != "reviews"
        if preset == "transformer":
            settings.pop("learning_rate", None)  # it has one of its own
            if data in TRANSFORMER_DROPOUT:
                settings["dropout"] = TRANSFORMER_DROPOUT[data]
        if preset == "attention":
            settings.pop("token_dropout", None)  # it has one of its own
    if fast:
        settings |= {"epochs": 1, "max_length": 20, "embedding_dim": 4}
        settings |= {"units": 4, "num_heads": 2, "num_ngrams": 500}
    return settings


def _scores(classifier, dataset):
    scores = sentiment.evaluate(classifier, dataset)
    found = {name: scores[name] for name in ("accuracy", "crossentropy")}
    if "hard" in dataset.splits:
        hard = sentiment.evaluate(classifier, dataset, split="hard")
        found["hard accuracy"] = hard["accuracy"]
        found |= _rationales(classifier, dataset)
    return found


def _rationales(classifier, dataset):
    """Grade the words that a model says decided, where gold is known."""
    weigh = explain.token_weights(classifier.model)
    _, words = explain.explain_texts(
        weigh,
        classifier.encode_with_offsets,
        list(dataset.columns("test")["text"]),
    )
    graded = explain.score_rationales(
        words, [gold.spans for gold in dataset.gold["test"]]
    )
    return {
        "rationale P@1": graded.precision_at_1,
        "rationale AUC": graded.auc,
    }


def _datasets(data, data_dir, fast):
    if data == "reviews":
        return [load_reviews(40, 20, 40) if fast else load_reviews()]
    if data == "rotten_tomatoes":
        folds = range(2 if fast else FOLDS)
        datasets = [load_rotten_tomatoes(data_dir, fold) for fold in folds]
    else:
        datasets = [LOADERS[data](data_dir)]
    return [_slice(dataset) for dataset in datasets] if fast else datasets


def _slice(dataset, size=40):
    splits = {
        name: {field: column[:size] for field, column in columns.items()}
        for name, columns in dataset.splits.items()
    }
    return Dataset(dataset.name, dataset.licence, splits)
