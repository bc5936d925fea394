"""Labelled text in tables: CSV or TSV, plain, `.gz` or `.xz`."""

import csv
import gzip
import lzma
import os
import pathlib
import zipfile
import zlib

import numpy as np

from keras_seq.data.dataset import Dataset
from keras_seq.data.holdout import hold_out

OPENERS = {".gz": gzip.open, ".xz": lzma.open}


def load_table(
    path,
    *,
    validation=None,
    test=None,
    text="text",
    label="label",
    labels=("0", "1"),
    delimiter=None,
    name=None,
    licence="unknown: yours",
) -> Dataset:
    """Load a table with a text and a label column as a data set.

    Args:
        path: The training table. Its first line names the columns. Fields are
            divided by tabs if the name has `.tsv` (or `.txt`) in it and by
            commas otherwise; with commas, fields may be "quoted".
        validation: A table to choose by. None keeps a tenth of `path` aside.
        test: A table to score on. None keeps another tenth of `path` aside.
        text: Name of the text column.
        label: Name of the label column.
        labels: What the label column says for class 0, for class 1, ...
        delimiter: What divides fields, if the name of the file misleads.
        name: Name of the data set; the file's own by default.
        licence: Terms of use, to be kept with models made from it.

    Returns:
        A `Dataset` with fields `text` and `label`.
    """
    how = dict(text=text, label=label, labels=labels, delimiter=delimiter)
    splits = {"train": read_table(path, **how)}
    notes = []
    for split, file in (("validation", validation), ("test", test)):
        if file is not None:
            splits[split] = read_table(file, **how)
            continue
        splits["train"], splits[split] = split_off(splits["train"], split)
        notes.append(f"`{split}` is a tenth of {path}, kept out of `train`.")
    name = pathlib.Path(path).name.split(".")[0] if name is None else name
    return Dataset(name, licence, splits, notes=tuple(notes))


def read_table(
    path, *, text="text", label="label", labels=("0", "1"), delimiter=None
) -> dict[str, np.ndarray]:
    """Read `{"text": (N,) str, "label": (N,) int32}` from one table.

    What cannot be read is a `ValueError` that names the file, the line and
    what was expected there. Arguments are those of `load_table`.
    """
    columns = read_columns(path, (text, label), delimiter)
    classes = {value: index for index, value in enumerate(labels)}
    found = np.empty(len(columns[label]), "int32")
    for row, value in enumerate(columns[label]):
        if value.strip() not in classes:
            raise ValueError(
                f"{path}, line {columns['line'][row]}: the column {label!r} "
                f"must hold one of {list(labels)}. Received: {value!r}"
            )
        found[row] = classes[value.strip()]
    return {"text": np.array(columns[text], dtype=object), "label": found}


def read_columns(path, wanted, delimiter=None) -> dict[str, list]:
    """Read the `wanted` columns of a table as strings, and `"line"` numbers."""
    if delimiter is None:
        names_tabs = {".tsv", ".txt", ".tab"} & set(pathlib.Path(path).suffixes)
        delimiter = "\t" if names_tabs else ","
    rows = _rows(path, delimiter)
    _, header = next(rows, (1, None))
    if header is None:
        raise ValueError(
            f"{path}: the first line must name the columns {list(wanted)}. "
            "Received: an empty file"
        )
    header = [field.strip() for field in header]
    missing = [column for column in wanted if column not in header]
    if missing:
        raise ValueError(
            f"{path}, line 1: the columns {missing} must be in the header, "
            f"divided by {delimiter!r}. Received: {header}"
        )
    columns = {"line": [], **{column: [] for column in wanted}}
    places = {column: header.index(column) for column in wanted}
    for line, row in rows:
        if len(row) != len(header):
            raise ValueError(
                f"{path}, line {line}: must have {len(header)} fields, as "
                f"the header has, divided by {delimiter!r}. "
                f"Received: {len(row)}"
            )
        columns["line"].append(line)
        for column, place in places.items():
            columns[column].append(row[place])
    if not columns["line"]:
        raise ValueError(
            f"{path}: must have rows below its header. Received: none"
        )
    return columns


def split_off(columns, split, share=0.1):
    """Divide columns into what stays and what is kept aside for `split`."""
    aside = hold_out(columns["text"], share, salt=split)
    if aside.all():
        raise ValueError(
            f"`{split}` is to be split off and leaves no text to learn from. "
            f"Received: {len(aside)} rows, {len(set(columns['text']))} "
            "different texts"
        )
    return tuple(
        {field: column[rows] for field, column in columns.items()}
        for rows in (~aside, aside)
    )


def open_text(path):
    """Open a text file, `.gz` or `.xz` or plain, as bytes."""
    if isinstance(path, zipfile.Path):  # a file inside a zip file
        return path.open("rb")
    return OPENERS.get(pathlib.Path(path).suffix, open)(path, "rb")


def read_lines(path):
    """Yield `(number, line)` of a UTF-8 file; blame the line that is not.

    A byte order mark, which some editors put at the beginning, is no text.
    """
    try:
        with open_text(path) as file:
            for number, line in enumerate(file, start=1):
                encoding = "utf-8-sig" if number == 1 else "utf-8"
                try:
                    yield number, line.decode(encoding).rstrip("\r\n")
                except UnicodeDecodeError as error:
                    raise ValueError(
                        f"{path}, line {number}: must be UTF-8. "
                        f"Received: {error.reason} at byte {error.start}"
                    ) from error
    except FileNotFoundError as error:
        raise ValueError(
            f"`path` must be a file. Received: {os.fspath(path)!r}, which "
            "does not exist"
        ) from error
    except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        raise ValueError(
            f"{path}: must be readable, and whole. Received: {error}"
        ) from error


def _rows(path, delimiter):
    """Yield `(line number, fields)`; quoted fields may hold line ends."""
    if delimiter == "\t":
        for number, line in read_lines(path):
            if line:
                yield number, line.split("\t")
        return
    lines = (line + "\n" for _, line in read_lines(path))
    limit = csv.field_size_limit(2**30)  # a long review is not an attack
    try:
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        for row in reader:
            if row:
                yield reader.line_num, row
    except csv.Error as error:
        raise ValueError(
            f"{path}, line {reader.line_num}: must be well-formed CSV. "
            f"Received: {error}"
        ) from error
    finally:
        csv.field_size_limit(limit)
