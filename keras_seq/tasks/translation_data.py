"""The data sets that the translation task knows, alone and joined."""

import os
import pathlib
import re

import numpy as np

from keras_seq.data import (
    Dataset,
    load_grammar_pairs,
    load_multi30k,
    load_pairs,
    load_tatoeba,
)
from keras_seq.data.parallel_text import read_pairs_table, read_parallel

LANGUAGES = "en-fr"  # unless something else is said
NAMES = ("grammar", "multi30k", "tatoeba")
BUILT_IN = ("grammar",)
_PAIR = re.compile("[a-z]{2,3}-[a-z]{2,3}")
# What the data sets call themselves: "multi30k_en_de".
_OWN_NAME = re.compile(f"({'|'.join(NAMES)})(?:_([a-z]+)_([a-z]+))?")


def load_data(data, data_dir=None, languages=None) -> Dataset:
    """Return the `data.Dataset` that `train` means by `data`.

    Names joined by "+" are one data set, see `join_datasets`.
    """
    check_languages(languages)
    if isinstance(data, Dataset):
        return data
    if not is_known(data):
        return load_pairs(_files(data))
    datasets = [
        _load(name, data_dir, languages or LANGUAGES)
        for name in os.fspath(data).split("+")
    ]
    return datasets[0] if len(datasets) == 1 else join_datasets(datasets)


def load_split(data, data_dir, split, languages=None):
    """Return `(columns, gold alignments or None)` to score on.

    Files are taken whole, whatever `split` says.
    """
    check_languages(languages)
    if isinstance(data, Dataset) or is_known(data):
        dataset = load_data(data, data_dir, languages)
        return dataset.columns(split), dataset.gold.get(split)
    files = _files(data)
    if isinstance(files, tuple):
        return read_parallel(*files), None
    return read_pairs_table(files), None


def is_known(data) -> bool:
    """Whether `data` is a name, or names joined by "+", and not a path."""
    return all(name in NAMES for name in os.fspath(data).split("+"))


def check_languages(languages) -> None:
    """Refuse what does not name two languages; None is what was not said."""
    if languages is not None and not _PAIR.fullmatch(languages):
        raise ValueError(
            "`languages` must be two codes with a hyphen between them, as in "
            f"'en-de'. Received: {languages!r}"
        )


def named_data(name):
    """Return the data, and the languages, that a data set's name stands for.

    Both are None if it stands for none that is known here.

    >>> named_data("tatoeba_en_fr+grammar"), named_data("multi30k_en_de")
    (('tatoeba+grammar', 'en-fr'), ('multi30k', 'en-de'))
    >>> named_data("train.en,train.fr")
    (None, None)
    """
    found = [_OWN_NAME.fullmatch(part) for part in str(name).split("+")]
    if not all(found):
        return None, None
    pairs = ["-".join(match.groups()[1:]) for match in found if match[2]]
    return "+".join(match[1] for match in found), (*pairs, LANGUAGES)[0]


def join_datasets(datasets) -> Dataset:
    """Make one data set of several, to be good at all they are about.

    No source sentence of a `validation` or `test` part is learned from,
    whichever set it stands in. The gold alignment of a pair is None where its
    own data set has none.
    """
    aside = {
        source
        for dataset in datasets
        for split in ("validation", "test")
        for source in dataset.columns(split)["source"]
    }
    splits = {
        split: _joined([dataset.columns(split) for dataset in datasets])
        for split in ("train", "validation", "test")
    }
    new = np.array([s not in aside for s in splits["train"]["source"]])
    splits["train"] = {k: v[new] for k, v in splits["train"].items()}
    return Dataset(
        "+".join(dataset.name for dataset in datasets),
        "; ".join(f"{d.name}: {d.licence}" for d in datasets),
        splits,
        gold=_joined_gold(datasets),
        notes=(
            f"{int((~new).sum())} pairs are left out of `train`: their source "
            "is in a `validation` or `test` part.",
        ),
    )


def _load(name, data_dir, languages):
    if name != "multi30k" and languages != LANGUAGES:
        raise ValueError(
            f"`languages` must be {LANGUAGES!r} for the data {name!r}. "
            f"Received: {languages!r}"
        )
    if name == "grammar":
        return load_grammar_pairs()
    if name == "tatoeba":
        return load_tatoeba(data_dir)
    return load_multi30k(data_dir, *languages.split("-"))


def _files(data):
    """Return a table's path, or those of two files with a comma between."""
    paths = [pathlib.Path(part) for part in os.fspath(data).split(",")]
    if len(paths) > 2 or not all(path.is_file() for path in paths):
        raise ValueError(
            f"`data` must be one of {list(NAMES)}, some of them joined by '+', "
            "the path of a table of two columns, or those of two files with a "
            f"comma between them. Received: {os.fspath(data)!r}"
        )
    return paths[0] if len(paths) == 1 else tuple(paths)


def _joined_gold(datasets):
    return {
        split: [
            alignment
            for dataset in datasets
            for alignment in dataset.gold.get(
                split, [None] * dataset.sizes[split]
            )
        ]
        for split in ("validation", "test")
        if any(split in dataset.gold for dataset in datasets)
    }


def _joined(parts):
    return {
        name: np.concatenate([part[name] for part in parts])
        for name in ("source", "target")
    }
