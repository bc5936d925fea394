"""The data sets that the sentiment task knows, alone and joined."""

import os
import pathlib
import re

import numpy as np

from keras_seq.data import (
    Dataset,
    load_biased_reviews,
    load_imdb,
    load_reviews,
    load_rotten_tomatoes,
    load_sst2,
    load_table,
    read_table,
)

LOADERS = {
    "reviews": lambda data_dir: load_reviews(),
    "biased": lambda data_dir: load_biased_reviews(),
    "imdb": load_imdb,
    "sst2": load_sst2,
    "rotten_tomatoes": load_rotten_tomatoes,
}
# Sentences that were cut into words, "it does n't , really .", as they were.
_JOINED = (
    (r"\bca n't\b", "can't"),
    (r"\bwo n't\b", "won't"),
    (r" n't\b", "n't"),
    (r" '(s|re|ll|ve|d|m)\b", r"'\1"),
    (r"-lrb- ?", "("),
    (r" ?-rrb-", ")"),
    (r"`` ?| ?''", '"'),
    (r" ([,.;:!?])", r"\1"),
)


def load_data(data, data_dir=None, text_column="text", label_column="label"):
    """Return the `data.Dataset` that `train` means by `data`.

    Names joined by "+" are one data set, see `join_datasets`.
    """
    if isinstance(data, Dataset):
        return data
    names = os.fspath(data).split("+")
    if all(name in LOADERS for name in names):
        datasets = [LOADERS[name](data_dir) for name in names]
        return datasets[0] if len(names) == 1 else join_datasets(datasets)
    _check_path(data)
    return load_table(data, text=text_column, label=label_column)


def load_split(data, data_dir, split, text_column, label_column):
    """Return `(texts, labels)` to score on; a table is taken whole."""
    if isinstance(data, Dataset) or is_known(data):
        columns = load_data(data, data_dir).columns(split)
    else:
        _check_path(data)
        columns = read_table(data, text=text_column, label=label_column)
    return columns["text"], columns["label"]


def is_known(data):
    """Whether `data` is a name, or names joined by "+", and not a path."""
    return all(name in LOADERS for name in os.fspath(data).split("+"))


def join_datasets(datasets):
    """Make one data set of several, to be good at all they are about.

    No text of a `test` part is learned from or chosen by, whichever set it
    stands in and however it is spaced: Rotten Tomatoes has most sentences of
    SST-2. Sentences that were cut into words are learned in both spellings,
    as they are and as people write them.
    """
    tested = {
        _letters(text)
        for dataset in datasets
        for text in dataset.columns("test")["text"]
    }
    splits = {
        split: _joined([dataset.columns(split) for dataset in datasets])
        for split in ("train", "validation", "test")
    }
    left_out = 0
    for split in ("train", "validation"):
        columns = splits[split]
        new = np.array([_letters(t) not in tested for t in columns["text"]])
        left_out += int((~new).sum())
        splits[split] = {name: values[new] for name, values in columns.items()}
    splits["train"] = _in_both_spellings(splits["train"])
    return Dataset(
        "+".join(dataset.name for dataset in datasets),
        "; ".join(f"{d.name}: {d.licence}" for d in datasets),
        splits,
        notes=(
            f"{left_out} texts are left out of `train` and `validation`: "
            "they are in a `test` part.",
        ),
    )


def respell(text):
    """Undo the cutting of a sentence into words.

    >>> respell("it does n't , really , and it 's fine .")
    "it doesn't, really, and it's fine."
    """
    for pattern, joined in _JOINED:
        text = re.sub(pattern, joined, text)
    return text


def _joined(parts):
    return {
        name: np.concatenate([part[name] for part in parts])
        for name in ("text", "label")
    }


def _in_both_spellings(columns):
    texts = [respell(text) for text in columns["text"]]
    other = np.array(
        [a != b for a, b in zip(texts, columns["text"], strict=True)]
    )
    respelled = {
        "text": np.array(texts, dtype=object)[other],
        "label": columns["label"][other],
    }
    return _joined([columns, respelled])


def _letters(text):
    return re.sub(r"[\W_]+", "", text.lower())


def _check_path(data):
    if not pathlib.Path(os.fspath(data)).is_file():
        raise ValueError(
            f"`data` must be one of {sorted(LOADERS)}, some of them joined by "
            "'+', or the path of a CSV or TSV table. "
            f"Received: {os.fspath(data)!r}"
        )
