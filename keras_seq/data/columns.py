"""Columns of examples, packed so that any rows can be cut out fast."""

import numpy as np
import tensorflow as tf

from keras_seq.text import Tokenizer


class SequenceColumn:
    """Rows of different lengths, kept end to end in one array.

    Args:
        rows: A list or object array of 1-D sequences of numbers, or a ragged
            tensor of rank 2.
    """

    def __init__(self, rows):
        if isinstance(rows, tf.RaggedTensor):
            self.lengths = rows.row_lengths().numpy()
            values = rows.values.numpy()
        else:
            rows = [np.asarray(row) for row in rows]
            if any(row.ndim != 1 for row in rows):
                raise ValueError(
                    "A column of sequences must have 1-D rows. "
                    f"Received: a row of {max(r.ndim for r in rows)} axes"
                )
            self.lengths = np.array([len(row) for row in rows])
            filled = [row for row in rows if len(row)]
            values = np.concatenate(filled) if filled else np.zeros(0, "int32")
        if values.dtype.kind not in "iuf":
            raise ValueError(
                "A column of sequences must hold numbers. "
                f"Received: dtype={values.dtype}"
            )
        self.dtype = "float32" if values.dtype.kind == "f" else "int32"
        self._starts = np.cumsum(self.lengths) - self.lengths
        self._values = np.append(values, 0).astype(self.dtype)

    def __len__(self):
        return len(self.lengths)

    def take(self, rows, length):
        """Return `(rows, length)`, padded with 0."""
        places = np.arange(length)
        real = places < self.lengths[rows, np.newaxis]
        source = self._starts[rows, np.newaxis] + places
        return np.where(real, self._values[np.where(real, source, -1)], 0)

    def signature(self):
        return tf.TensorSpec((None, None), self.dtype)


class ArrayColumn:
    """Rows of one shape: labels, images.

    Args:
        values: A NumPy array or a list of numbers; axis 0 is the rows.
    """

    lengths = None

    def __init__(self, values):
        values = np.asarray(values)
        if values.ndim < 1 or values.dtype.kind not in "biuf":
            raise ValueError(
                "A column must hold numbers, one entry for each row. "
                f"Received: dtype={values.dtype}, shape={values.shape}"
            )
        narrow = {"float64": "float32", "int64": "int32"}
        self.dtype = narrow.get(values.dtype.name, values.dtype.name)
        self._values = values.astype(self.dtype, copy=False)

    def __len__(self):
        return len(self._values)

    def take(self, rows, length):
        return self._values[rows]

    def signature(self):
        return tf.TensorSpec((None, *self._values.shape[1:]), self.dtype)


def as_column(values):
    """Pack `values`, by what they look like."""
    if isinstance(values, np.ndarray) and values.dtype != object:
        return ArrayColumn(values)
    if isinstance(values, tf.Tensor):
        return ArrayColumn(values.numpy())
    if isinstance(values, tf.RaggedTensor):
        return SequenceColumn(values)
    values = list(values)
    if values and np.ndim(values[0]) == 0:
        return ArrayColumn(values)
    return SequenceColumn(values)


def encode_texts(
    tokenizer: Tokenizer,
    texts,
    max_length: int | None = None,
    add_start: bool = False,
    add_end: bool = False,
    chunk_size: int = 512,
) -> list[np.ndarray]:
    """Return the token ids of each text, without padding, as a column.

    Args:
        tokenizer: A tokenizer of `keras_seq.text`.
        texts: A list or array of strings.
        max_length: As in the call of the tokenizer, like the next two.
        add_start: Whether rows begin with the start token.
        add_end: Whether rows end with the end token.
        chunk_size: How many texts to encode at a time.

    >>> from keras_seq.text import WordTokenizer
    >>> words = WordTokenizer(["good", "film"])
    >>> [row.tolist() for row in encode_texts(words, ["good film", "good"])]
    [[4, 5], [4]]
    """
    texts = list(texts)
    rows = []
    for at in range(0, len(texts), chunk_size):
        ids = tokenizer(
            texts[at : at + chunk_size],
            max_length=max_length,
            add_start=add_start,
            add_end=add_end,
        ).numpy()
        lengths = (ids != tokenizer.pad_id).sum(axis=1)
        rows += [row[:n] for row, n in zip(ids, lengths, strict=True)]
    return rows
