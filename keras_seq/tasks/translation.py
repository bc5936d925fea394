"""Translation, end to end: train on pairs of sentences, score, save.

>>> translator, result = train("grammar", folder="outputs/translation")
... # doctest: +SKIP
>>> translator.translate(["The big cats sleep."])  # doctest: +SKIP
"""

import keras
import numpy as np

from keras_seq import training
from keras_seq.data import Dataset
from keras_seq.tasks.translation_alignment import (
    best_head,
    cross_attentions,
)
from keras_seq.tasks.translation_batches import (
    training_batches as training_batches,
)
from keras_seq.tasks.translation_data import NAMES as NAMES
from keras_seq.tasks.translation_data import load_data as load_data
from keras_seq.tasks.translation_data import named_data
from keras_seq.tasks.translation_evaluation import (
    distinct_sources as distinct_sources,
)
from keras_seq.tasks.translation_evaluation import evaluate as evaluate
from keras_seq.tasks.translation_evaluation import gold_error_rates
from keras_seq.tasks.translation_recipes import (
    FAMILIES,
    learning_rate_schedule,
    resolve_settings,
    weights_average,
)
from keras_seq.tasks.translation_scores import corpus_scores
from keras_seq.tasks.translator import Translator as Translator
from keras_seq.text import SubwordTokenizer


def train(
    data="grammar",
    model="transformer",
    preset=None,
    *,
    languages=None,
    data_dir=None,
    folder,
    resume=False,
    seed=0,
    time_limit=None,
    verbose="auto",
    **overrides,
):
    """Train a translator, and save it.

    The folder then holds what `training.fit` writes (`run.json`,
    `curves.png`, checkpoints) and what `Translator.load` reads. A run that
    was killed goes on with `resume=True`, and ends as if it had not been.

    Args:
        data: "grammar" (English-French, built in), "multi30k", "tatoeba",
            several of them joined ("tatoeba+grammar"), a table of two
            columns, two line-aligned files as "train.en,train.fr", or a
            `data.Dataset` with fields `source` and `target`.
        model: "transformer", "rnn_search" or "seq2seq".
        preset: Size of the model, such as "tiny" or "small"; by default what
            the recipe for this data says.
        languages: Which ones, and which way: "en-fr", "en-de", "de-en", ...
            Where the data has several, by default "en-fr"; of data of your
            own, what the model card is to say.
        data_dir: The folder of the real data sets; by default what the
            environment variable `KERAS_SEQ_DATA` names.
        folder: Where to save.
        resume: Whether to go on with the run in `folder`.
        seed: The same seed gives the same translator.
        time_limit: Seconds after which to stop learning.
        verbose: As in `training.fit`.
        **overrides: Settings of the training
            (`translation_recipes.TRAINING_DEFAULTS`) or of the model (what
            its maker in `models` takes) that replace the recipe's, such as
            `epochs=3` or `num_layers=2`.

    Returns:
        `(Translator, training.FitResult)`.
    """
    name = data.name if isinstance(data, Dataset) else str(data)
    preset, how, model_settings = resolve_settings(
        name, model, preset, overrides
    )
    dataset = load_data(data, data_dir, languages)
    settings = {
        "task": "translation",
        "data": name,
        "languages": languages or named_data(name)[1],
        "licence": dataset.licence,
        "notes": list(dataset.notes),
        "family": model,
        "preset": preset,
        "seed": seed,
        **how,
        "model": model_settings,
    }
    keras.utils.set_random_seed(seed)
    columns = dataset.columns("train")
    tokenizer = SubwordTokenizer.train(
        np.concatenate([columns["source"], columns["target"]]),
        how["vocabulary_size"],
    )
    make_model = FAMILIES[model][0]
    translator = Translator(
        tokenizer,
        make_model(tokenizer.vocabulary_size, preset, **model_settings),
        how["max_length"],
        settings,
    )
    batches = training_batches(translator, columns, how, seed)
    for noted in (settings, translator.settings):
        noted["padding_share"] = round(batches.padding_share(), 4)
        noted["pairs_too_long"] = len(columns["source"]) - batches.num_rows
    validation = training_batches(
        translator, dataset.columns("validation"), how, shuffle=False
    )
    result = training.fit(
        translator.model,
        batches,
        loss=training.MaskedCrossentropy(how["label_smoothing"]),
        optimizer=training.Adam(
            learning_rate_schedule(
                how, sum(map(batches.steps, range(how["epochs"])))
            ),
            beta_2=0.98,
            epsilon=1e-9,
        ),
        metrics=[
            training.TokenCrossentropy(name="crossentropy"),
            training.TokenAccuracy(name="accuracy"),
        ],
        metrics_in_training=False,
        validation_data=validation,
        evaluate=_bleu_of_validation(translator, dataset, how),
        epochs=how["epochs"],
        early_stopping=_early_stopping(how),
        average=weights_average(how),
        gradient_accumulation_steps=how["gradient_accumulation_steps"],
        jit_compile=how["jit_compile"],
        time_limit=time_limit,
        seed=seed,
        folder=folder,
        resume=resume,
        settings=settings,
        verbose=verbose,
    )
    if dataset.gold.get("validation") and cross_attentions(translator.model):
        rates = gold_error_rates(
            translator,
            dataset.columns("validation"),
            dataset.gold["validation"],
        )
        translator.settings["alignment_heads"] = best_head(rates)
    translator.save(folder)
    return translator, result


def _bleu_of_validation(translator, dataset, how):
    if not how["bleu_sentences"]:
        return None
    columns = dataset.columns("validation")
    sources, references = distinct_sources(columns)
    sources = sources[: how["bleu_sentences"]]
    references = references[: how["bleu_sentences"]]

    def bleu(model):
        found = translator.translate(sources, beam_size=1)
        return {"bleu": corpus_scores(found, references)["bleu"]}

    return bleu


def _early_stopping(how):
    if how["patience"] is None:
        return None
    if how["monitor"] == "bleu" and not how["bleu_sentences"]:
        raise ValueError(
            '`bleu_sentences` must be positive for `monitor="bleu"`. '
            f"Received: {how['bleu_sentences']}"
        )
    mode = "max" if how["monitor"] == "bleu" else "min"
    return training.EarlyStopping(
        monitor=how["monitor"], patience=how["patience"], mode=mode
    )
