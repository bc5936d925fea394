"""Sentences and their translations, in two files or in one table."""

import itertools
import pathlib

import numpy as np

from keras_seq.data.dataset import Dataset
from keras_seq.data.folders import find_file
from keras_seq.data.holdout import hold_out
from keras_seq.data.tables import read_lines

MULTI30K_LANGUAGES = ("en", "fr", "de")
MULTI30K_SPLITS = {
    "train": "train",
    "validation": "val",
    "test": "test_2016_flickr",
}
MULTI30K_LICENCE = (
    "none stated; research use, cite Elliott et al. 2016, 2017 and "
    "Barrault et al. 2018"
)
TATOEBA_LICENCE = "CC BY 2.0, www.manythings.org/anki and tatoeba.org"


def read_parallel(source, target) -> dict[str, np.ndarray]:
    """Read two files whose lines translate each other.

    Args:
        source: A UTF-8 file, plain, `.gz` or `.xz`, one sentence per line.
        target: Another, with the translation of each on the same line.

    Returns:
        `{"source": (N,) str, "target": (N,) str}`. Lines that are empty in
        both files are left out; one that is empty in only one of them, or
        missing, is a `ValueError` that names it.
    """
    rows = []
    for one, other in itertools.zip_longest(
        read_lines(source), read_lines(target)
    ):
        if one is None or other is None:
            longer, shorter = (source, target) if one else (target, source)
            raise ValueError(
                f"{longer}, line {(one or other)[0]}: must have a translation "
                f"on the same line of {shorter}. Received: that file ends "
                f"with line {(one or other)[0] - 1}"
            )
        (number, *sides) = (one[0], one[1].strip(), other[1].strip())
        if not all(sides) and any(sides):
            empty, full = (source, target) if sides[1] else (target, source)
            raise ValueError(
                f"{empty}, line {number}: must be a sentence, as in {full}. "
                "Received: an empty line"
            )
        if all(sides):
            rows.append(sides)
    return _columns(rows, f"{source} and {target}")


def read_pairs_table(path, source=0, target=1) -> dict[str, np.ndarray]:
    """Read two columns, divided by tabs, of a file without a header.

    Args:
        path: A UTF-8 file, plain, `.gz` or `.xz`. More columns than the two
            (as the Anki files have) are left alone; empty lines are skipped.
        source: Place of the source column, from 0.
        target: Place of the target column.

    Returns:
        `{"source": (N,) str, "target": (N,) str}`.
    """
    needed, rows = max(source, target) + 1, []
    for number, line in read_lines(path):
        if not line.strip():
            continue
        fields = line.split("\t")
        if len(fields) < needed:
            raise ValueError(
                f"{path}, line {number}: must have at least {needed} fields, "
                f"divided by tabs. Received: {len(fields)}"
            )
        sides = [fields[source].strip(), fields[target].strip()]
        if not all(sides):
            raise ValueError(
                f"{path}, line {number}: must have a sentence and its "
                f"translation. Received: {line!r}"
            )
        rows.append(sides)
    return _columns(rows, path)


def load_pairs(
    train,
    *,
    validation=None,
    test=None,
    name=None,
    licence="unknown: yours",
) -> Dataset:
    """Load translations from any files as a data set.

    Args:
        train: A pair of line-aligned files, `(source, target)`, or one table
            of two columns.
        validation: The same, to choose by. None keeps a twentieth of `train`
            aside.
        test: The same, to score on. None keeps another twentieth aside.
        name: Name of the data set; the first file's own by default.
        licence: Terms of use, to be kept with models made from it.

    Returns:
        A `Dataset` with fields `source` and `target`. What is kept aside is
        chosen by the source sentence: all translations of one sentence go to
        one split.
    """
    splits, notes = {"train": _read(train)}, []
    for split, files in (("validation", validation), ("test", test)):
        if files is not None:
            splits[split] = _read(files)
            continue
        splits["train"], splits[split] = split_off_sources(
            splits["train"], split
        )
        notes.append(
            f"`{split}` is a twentieth of the sentences, kept out of `train`."
        )
    first = train if isinstance(train, str | pathlib.Path) else train[0]
    name = pathlib.Path(first).name.split(".")[0] if name is None else name
    return Dataset(name, licence, splits, notes=tuple(notes))


def load_multi30k(data_dir=None, source="en", target="fr") -> Dataset:
    """Load captions of photographs in three languages (Elliott et al., 2016).

    Reads `multi30k/{train,val,test_2016_flickr}.{en,fr,de}`, plain or
    compressed: raw text, cased, one sentence per line.

    Args:
        data_dir: A folder; by default what `KERAS_SEQ_DATA` names.
        source: "en", "fr" or "de".
        target: Another of them.
    """
    for name, language in (("source", source), ("target", target)):
        if language not in MULTI30K_LANGUAGES:
            raise ValueError(
                f"`{name}` must be one of {list(MULTI30K_LANGUAGES)}. "
                f"Received: {language!r}"
            )
    if source == target:
        raise ValueError(
            "`source` and `target` must be two languages. "
            f"Received: {source!r} twice"
        )
    splits = {
        split: read_parallel(
            *(
                find_file(data_dir, "multi30k", f"{file}.{language}")
                for language in (source, target)
            )
        )
        for split, file in MULTI30K_SPLITS.items()
    }
    return Dataset(
        f"multi30k_{source}_{target}",
        MULTI30K_LICENCE,
        splits,
        notes=("`test` is test_2016_flickr.",),
    )


def load_tatoeba(data_dir=None, share=0.02) -> Dataset:
    """Load everyday English sentences and their French (Tatoeba, by Anki).

    Reads `tatoeba_fra_eng/fra.tsv`, plain or compressed, or `fra.txt`, as it
    is called in the file from Anki. An English sentence often has several
    translations; all of them are in one split.

    Args:
        data_dir: A folder; by default what `KERAS_SEQ_DATA` names.
        share: Which part of the English sentences goes to `validation`, and
            which to `test`.
    """
    try:
        path = find_file(data_dir, "tatoeba_fra_eng", "fra.tsv")
    except ValueError as error:
        try:
            path = find_file(data_dir, "tatoeba_fra_eng", "fra.txt")
        except ValueError:
            raise error from None
    splits = {"train": read_pairs_table(path)}
    for split in ("test", "validation"):
        splits["train"], splits[split] = split_off_sources(
            splits["train"], split, share
        )
    order = ("train", "validation", "test")
    return Dataset(
        "tatoeba_en_fr",
        TATOEBA_LICENCE,
        {split: splits[split] for split in order},
        notes=(
            "`validation` and `test` are chosen by the English sentence, "
            "which none of them shares with `train`.",
        ),
    )


def split_off_sources(columns, split, share=0.05):
    """Divide pairs into what stays and what is kept aside for `split`.

    The choice hangs on the source sentence alone (`hold_out`), and counts
    each sentence once, however many translations it has.
    """
    sentences = np.array(sorted(set(columns["source"])), dtype=object)
    chosen = set(sentences[hold_out(sentences, share, salt=split)])
    aside = np.array([text in chosen for text in columns["source"]])
    if aside.all():
        raise ValueError(
            f"`{split}` is to be split off and leaves no pair to learn from. "
            f"Received: {len(aside)} pairs, {len(sentences)} different sources"
        )
    return tuple(
        {field: column[rows] for field, column in columns.items()}
        for rows in (~aside, aside)
    )


def _read(files):
    if isinstance(files, str | pathlib.Path):
        return read_pairs_table(files)
    files = tuple(files)
    if len(files) != 2:
        raise ValueError(
            "Line-aligned files must be two, (source, target). "
            f"Received: {len(files)}"
        )
    return read_parallel(*files)


def _columns(rows, where):
    if not rows:
        raise ValueError(f"{where}: must have sentences. Received: none")
    source, target = zip(*rows, strict=True)
    return {
        "source": np.array(source, dtype=object),
        "target": np.array(target, dtype=object),
    }
