"""The rows about translation: which data, which model, which settings."""

import shutil

import keras

from keras_seq.data import Dataset, load_grammar_pairs
from keras_seq.tasks import translation
from keras_seq.tasks.moses_bleu import moses_bleu
from keras_seq.tasks.translation_alignment import alignment_error_rates
from keras_seq.tasks.translation_data import join_datasets, load_data
from keras_seq.tasks.translation_scores import corpus_scores
from results.clock import clock

# What an hour buys: the recipe is for ten minutes.
HOUR = {
    "hidden_dim": 256,
    "intermediate_dim": 1024,
    "num_decoder_layers": 3,
    "dropout": 0.3,
    "epochs": 30,
}
# For 98 BLEU the grammar wants more than the minutes of `make run`; and after
# that many, shifted sinusoids are far better at sentences longer than those.
GRAMMAR = {
    "transformer": {
        "epochs": 14,
        "schedule": "cosine",
        "positions": "sinusoidal",
        "max_shift": 32,
        "coverage_penalty": 0.0,
    }
}
# Each: data, languages, family, settings that replace the recipe's, minutes.
ROWS = {
    **{
        f"grammar/{family}": (
            "grammar",
            "en-fr",
            family,
            GRAMMAR.get(family, {}),
            None,
        )
        for family in ("transformer", "rnn_search", "seq2seq")
    },
    **{
        f"multi30k/{languages}_{minutes}min": (
            "multi30k",
            languages,
            "transformer",
            settings,
            minutes,
        )
        for minutes, settings in ((10, {}), (60, HOUR))
        for languages in ("en-fr", "en-de")
    },
    "tatoeba/shipped": ("tatoeba+grammar", "en-fr", "transformer", {}, None),
}
FAST = {"preset": "test", "epochs": 1, "vocabulary_size": 400}


def measure(name, *, data_dir, folder, fast=False):
    """Train and score one row; return it as a dict that JSON can hold."""
    _, languages, family, settings, minutes = ROWS[name]
    if fast:
        settings = FAST
    dataset, tested = _datasets(name, data_dir, fast)
    # What an earlier attempt left is not to be gone on with.
    shutil.rmtree(folder, ignore_errors=True)
    keras.utils.clear_session()
    before = clock()
    translator, result = translation.train(
        dataset,
        family,
        languages=languages,
        folder=folder,
        time_limit=None if minutes is None else 60 * minutes,
        verbose=0,
        **settings,
    )
    spent = [after - then for after, then in zip(clock(), before, strict=True)]
    return describe(name, translator, tested, spent, result.history, fast)


def describe(name, translator, tested, spent, history, fast=False):
    """Score a translator; return the row.

    Args:
        name: Of the row.
        translator: A `Translator`.
        tested: The data set to score it on.
        spent: Wall and CPU seconds of its training.
        history: The logs of each epoch.
        fast: Whether it is a trial on slices.
    """
    scores, signatures = score(translator, tested)
    return {
        "name": name,
        "data": name.split("/")[0],
        "preset": translator.settings["preset"],
        "scores": {key: round(value, 4) for key, value in scores.items()},
        "signatures": signatures,
        "examples": tested.sizes["test"],
        "parameters": translator.model.count_params(),
        "wall_seconds": round(spent[0], 1),
        "cpu_seconds": round(spent[1], 1),
        "epochs": len(history),
        "settings": translator.settings,
        "command": f"python -m results --only {name} --again",
        "fast": fast,
    }


def score(translator, dataset):
    """Return `(scores, signatures)`, both by name, of the part `test`.

    Where there is a part `long`, its BLEU is there too; where there are gold
    alignments, the error of the head that was best on the validation part.
    Of Multi30k there is also what its papers report.
    """
    found, references = _translated(translator, dataset.columns("test"))
    cased = corpus_scores(found, references)
    lower = corpus_scores(found, references, lowercase=True)
    bleu = {"BLEU": cased, "BLEU lower-cased": lower}
    if dataset.name.startswith("multi30k"):
        target = translator.settings["languages"].split("-")[1]
        bleu["BLEU of Moses tokens"] = moses_bleu(found, references, target)
    if "long" in dataset.splits:
        far = _translated(translator, dataset.columns("long"))
        bleu["BLEU of long ones"] = corpus_scores(*far)
    scores = {"BLEU": cased["bleu"], "chrF": cased["chrf"]}
    scores |= {name: score["bleu"] for name, score in bleu.items()}
    signatures = {name: score["bleu_signature"] for name, score in bleu.items()}
    signatures["chrF"] = cased["chrf_signature"]
    heads = translator.settings.get("alignment_heads")
    if heads and dataset.gold.get("test"):
        columns = dataset.columns("test")
        rates = alignment_error_rates(
            translator,
            columns["source"],
            columns["target"],
            dataset.gold["test"],
        )
        scores["alignment error"] = float(rates[tuple(heads[0])])
    return scores, signatures


def _translated(translator, columns):
    sources, references = translation.distinct_sources(columns)
    return translator.translate(sources), references


def _datasets(name, data_dir, fast):
    """Return what to learn from and what to be scored on."""
    data, languages = ROWS[name][:2]
    parts = []
    for part in data.split("+"):
        if fast and part == "grammar":
            parts.append(load_grammar_pairs(40, 20, 20))
        else:
            dataset = load_data(part, data_dir, languages)
            parts.append(_slice(dataset) if fast else dataset)
    if len(parts) == 1:
        return parts[0], parts[0]
    return join_datasets(parts), parts[0]


def _slice(dataset, size=40):
    splits = {
        name: {field: column[:size] for field, column in columns.items()}
        for name, columns in dataset.splits.items()
    }
    return Dataset(dataset.name, dataset.licence, splits)
