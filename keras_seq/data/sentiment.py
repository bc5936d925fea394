"""Loaders of three well-known sets of reviews: IMDB, SST-2, Rotten Tomatoes.

Label 1 is for, 0 against. Where a set has no validation part, a tenth of its
training part is kept aside for it (`holdout.py`); the test part is never
touched.
"""

import re

import numpy as np

from keras_seq.data.dataset import Dataset
from keras_seq.data.folders import find_file
from keras_seq.data.tables import read_columns, read_table, split_off

RESEARCH = "none stated; research use, cite "
LINE_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)


def load_imdb(data_dir=None) -> Dataset:
    """Load long film reviews (Maas et al., 2011).

    Reads `imdb/train.tsv` and `imdb/test.tsv` (`.xz` or `.gz`), columns
    `label rating id text`. The `<br />` tags become spaces. Some texts are in
    both parts of the original; they stay, as published results have them,
    and `notes` says how many.

    Args:
        data_dir: A folder; by default what `KERAS_SEQ_DATA` names.
    """
    parts = {}
    for part in ("train", "test"):
        columns = read_table(find_file(data_dir, "imdb", f"{part}.tsv"))
        texts = [
            " ".join(LINE_BREAK.sub(" ", text).split())
            for text in columns["text"]
        ]
        columns["text"] = np.array(texts, dtype=object)
        parts[part] = columns
    both = set(parts["train"]["text"]) & set(parts["test"]["text"])
    train, validation = split_off(parts["train"], "validation")
    return Dataset(
        "imdb",
        RESEARCH + "Maas et al. 2011",
        {"train": train, "validation": validation, "test": parts["test"]},
        notes=(
            "`validation` is a tenth of the training part.",
            f"{len(both)} different texts are in the training part and in "
            "the test part.",
        ),
    )


def load_sst2(data_dir=None) -> Dataset:
    """Load sentences of film reviews (Socher et al., 2013), two classes.

    Reads `sst2/train.tsv` and `sst2/dev.tsv`, columns `label text`. The
    sentences are lower-cased and tokenised. The usual dev part is `test`
    here, to be scored on and not chosen by.

    Args:
        data_dir: A folder; by default what `KERAS_SEQ_DATA` names.
    """
    parts = {
        part: read_table(find_file(data_dir, "sst2", f"{part}.tsv"))
        for part in ("train", "dev")
    }
    train, validation = split_off(parts["train"], "validation")
    return Dataset(
        "sst2",
        RESEARCH + "Socher et al. 2013",
        {"train": train, "validation": validation, "test": parts["dev"]},
        notes=(
            "`validation` is a tenth of the training part.",
            "`test` is what is usually called the dev part.",
        ),
    )


def load_rotten_tomatoes(data_dir=None, fold=0) -> Dataset:
    """Load sentences of film reviews (Pang and Lee, 2005), ten folds.

    Reads `rt_polarity/rt_polarity.tsv`, columns `fold label text`.

    Args:
        data_dir: A folder; by default what `KERAS_SEQ_DATA` names.
        fold: Which of the folds 0 to 9 is `test`; the other nine are `train`
            and `validation`.
    """
    if fold not in range(10):
        raise ValueError(f"`fold` must be from 0 to 9. Received: {fold}")
    path = find_file(data_dir, "rt_polarity", "rt_polarity.tsv")
    columns = read_table(path)
    folds = read_columns(path, ("fold",))
    for line, value in zip(folds["line"], folds["fold"], strict=True):
        if value not in "0123456789" or len(value) != 1:
            raise ValueError(
                f"{path}, line {line}: the column 'fold' must hold 0 to 9. "
                f"Received: {value!r}"
            )
    is_test = np.array([int(value) == fold for value in folds["fold"]])
    if not is_test.any() or is_test.all():
        raise ValueError(
            f"{path}: must have rows in fold {fold} and in others. "
            f"Received: {is_test.sum()} of {len(is_test)} rows in it"
        )
    test, rest = (
        {field: column[rows] for field, column in columns.items()}
        for rows in (is_test, ~is_test)
    )
    train, validation = split_off(rest, "validation")
    return Dataset(
        "rotten_tomatoes",
        RESEARCH + "Pang and Lee 2005",
        {"train": train, "validation": validation, "test": test},
        notes=(
            f"`test` is fold {fold} of ten; `validation` is a tenth of the "
            "others.",
        ),
    )
