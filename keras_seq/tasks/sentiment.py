"""Sentiment, end to end: train on reviews, score, save.

>>> classifier, result = train("reviews", folder="outputs/sentiment")
... # doctest: +SKIP
>>> classifier.predict(["A wonderful film."])  # doctest: +SKIP
"""

import keras
import numpy as np

from keras_seq import training
from keras_seq.data import Batches, Dataset
from keras_seq.models import text_classifier
from keras_seq.tasks.sentiment_classifier import (
    SentimentClassifier as SentimentClassifier,
)
from keras_seq.tasks.sentiment_data import LOADERS as LOADERS
from keras_seq.tasks.sentiment_data import load_data as load_data
from keras_seq.tasks.sentiment_data import load_split
from keras_seq.tasks.sentiment_recipes import resolve_settings
from keras_seq.text import SubwordTokenizer, WordTokenizer

LABELS = ("negative", "positive")


def train(
    data="reviews",
    preset=None,
    *,
    data_dir=None,
    folder,
    resume=False,
    seed=0,
    text_column="text",
    label_column="label",
    verbose="auto",
    **overrides,
):
    """Train a classifier, and save it.

    The folder then holds what `training.fit` writes (`run.json`,
    `curves.png`, checkpoints) and what `SentimentClassifier.load` reads. A
    run that was killed goes on with `resume=True`, and ends as if it had not
    been.

    Args:
        data: "reviews" (built in), "biased" (built in, with a word that gives
            the label away), "imdb", "sst2", "rotten_tomatoes", several of
            them joined ("imdb+sst2"), the path of a CSV or TSV table, or a
            `data.Dataset` with texts and labels.
        preset: A name in `models.TEXT_CLASSIFIER_PRESETS`; by default what
            the recipe for this data says.
        data_dir: The folder of the real data sets; by default what the
            environment variable `KERAS_SEQ_DATA` names.
        folder: Where to save.
        resume: Whether to go on with the run in `folder`.
        seed: The same seed gives the same classifier.
        text_column: Name of the text column of a table.
        label_column: Name of the label column of a table; it holds 0 for
            negative and 1 for positive.
        verbose: As in `training.fit`.
        **overrides: Settings of the training
            (`sentiment_recipes.TRAINING_DEFAULTS`) or of the model
            (`models.text_classifier`) that replace the recipe's, such as
            `epochs=3` or `units=128`.

    Returns:
        `(SentimentClassifier, training.FitResult)`.
    """
    name = data.name if isinstance(data, Dataset) else str(data)
    preset, how, model_settings = resolve_settings(name, preset, overrides)
    dataset = load_data(
        data, data_dir, text_column=text_column, label_column=label_column
    )
    texts, labels = _training_part(dataset, how)
    settings = {
        "task": "sentiment",
        "data": name,
        "licence": dataset.licence,
        "notes": list(dataset.notes),
        "preset": preset,
        "seed": seed,
        **how,
        "model": model_settings,
    }
    keras.utils.set_random_seed(seed)
    tokenizer = _train_tokenizer(texts, how)
    model = text_classifier(
        tokenizer.vocabulary_size, len(LABELS), preset, **model_settings
    )
    classifier = SentimentClassifier(
        tokenizer, model, LABELS, how["max_length"], settings
    )
    rows = classifier.encode_rows(texts)
    if model_settings["max_ngram"]:
        model.get_layer("ngram_bag").learn_counts(
            rows, labels, how["ngram_min_count"]
        )
    if model_settings["max_spelling"]:
        spelling = model.get_layer("spelling_bag")
        spelling.learn_spellings(_spellings(tokenizer))
        spelling.learn_counts(rows, labels, how["spelling_min_count"])
    batches = Batches((rows, labels), how["batch_size"], seed=seed)
    result = training.fit(
        model,
        batches,
        loss=training.ClassCrossentropy(how["label_smoothing"]),
        optimizer=_optimizer(how, batches.steps() * how["epochs"]),
        metrics=[keras.metrics.SparseCategoricalAccuracy(name="accuracy")],
        validation_data=(
            None
            if how["learn_from_validation"]
            else _validation_batches(classifier, dataset)
        ),
        epochs=how["epochs"],
        average=(
            training.ExponentialAverage(how["average_decay"])
            if how["average_decay"]
            else None
        ),
        global_clipnorm=how["global_clipnorm"],
        seed=seed,
        folder=folder,
        resume=resume,
        settings=settings,
        verbose=verbose,
    )
    classifier.save(folder)
    return classifier, result


def evaluate(
    classifier,
    data,
    *,
    data_dir=None,
    split="test",
    text_column="text",
    label_column="label",
):
    """Score a classifier.

    Args:
        classifier: A `SentimentClassifier`.
        data: As in `train`. A table is scored whole, whatever `split` says.
        data_dir: As in `train`.
        split: "test", "validation", "train"; the built-in reviews also have
            "hard" and the biased ones "aligned" and "reversed".
        text_column: As in `train`.
        label_column: As in `train`.

    Returns:
        A dict: `accuracy`, `crossentropy` (nats), `examples`, and the
        `precision`, `recall` and `f1` of the label "positive".
    """
    texts, labels = load_split(data, data_dir, split, text_column, label_column)
    return _scores(classifier.predict(texts), labels)


def _training_part(dataset, how):
    parts = [dataset.columns("train")]
    if how["learn_from_validation"]:
        parts.append(dataset.columns("validation"))
    return tuple(
        np.concatenate([part[name] for part in parts])
        for name in ("text", "label")
    )


def _train_tokenizer(texts, how):
    if how["tokenizer"] == "subword":
        return SubwordTokenizer.train(
            texts, min(how["vocabulary_size"], 8000), lowercase=True
        )
    return WordTokenizer.train(
        texts, how["vocabulary_size"], min_count=how["min_count"]
    )


def _spellings(tokenizer):
    """Return the tokens with their spaces; special ones have no letters."""
    special = len(tokenizer.SPECIAL_TOKENS)
    tokens = tokenizer.vocabulary()[special:]
    if isinstance(tokenizer, WordTokenizer):
        tokens = [f" {word} " for word in tokens]
    return [""] * special + tokens


def _optimizer(how, total_steps):
    warmup = max(1, min(round(how["warmup"] * total_steps), total_steps - 1))
    schedule = training.WarmupCosine(
        how["learning_rate"], warmup, max(total_steps, warmup + 1)
    )
    return training.Adam(schedule)


def _validation_batches(classifier, dataset):
    columns = dataset.columns("validation")
    rows = classifier.encode_rows(columns["text"])
    return Batches((rows, columns["label"]), batch_size=64, shuffle=False)


def _scores(probabilities, labels):
    found = probabilities.argmax(axis=-1)
    chosen = probabilities[np.arange(len(labels)), labels]
    true_positives = int(((found == 1) & (labels == 1)).sum())
    precision = true_positives / max(1, int((found == 1).sum()))
    recall = true_positives / max(1, int((labels == 1).sum()))
    return {
        "accuracy": float((found == labels).mean()),
        "crossentropy": float(-np.log(np.maximum(chosen, 1e-12)).mean()),
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / max(1e-12, precision + recall),
        "examples": len(labels),
    }
