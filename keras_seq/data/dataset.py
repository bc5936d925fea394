"""What every data set is: named splits of named columns."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf


@dataclasses.dataclass(frozen=True, eq=False)
class Dataset:
    """Splits of examples, as `tf.data` and as plain columns.

    Attributes:
        name: What the data set is called.
        licence: Under which terms its text may be used.
        splits: `{split: {field: column}}`. Columns are NumPy arrays of one
            length; text is kept as Python `str` in object arrays.
        gold: `{split: one explanation per example}`, where the set knows the
            right answer to "where should a model look".
        notes: What a reader of results should know: what was counted, split
            off or found twice.

    Example:
        >>> dataset = Dataset("two", "CC0", {
        ...     "train": {"text": ["good", "bad"], "label": [1, 0]},
        ... })
        >>> dataset.sizes
        {'train': 2}
        >>> for example in dataset.train:
        ...     print(example["text"].numpy(), example["label"].numpy())
        b'good' 1
        b'bad' 0
    """

    name: str
    licence: str
    splits: Mapping[str, Mapping[str, np.ndarray]]
    gold: Mapping[str, Sequence[Any]] = dataclasses.field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self):
        splits = {
            split: {field: _column(values) for field, values in columns.items()}
            for split, columns in self.splits.items()
        }
        for split, columns in splits.items():
            lengths = {field: len(column) for field, column in columns.items()}
            if len(set(lengths.values())) != 1:
                raise ValueError(
                    f"`splits[{split!r}]` must have columns of one length. "
                    f"Received: {lengths}"
                )
        for split, explanations in self.gold.items():
            if len(explanations) != _size(splits[split]):
                raise ValueError(
                    f"`gold[{split!r}]` must explain each of the "
                    f"{_size(splits[split])} examples. "
                    f"Received: {len(explanations)}"
                )
        object.__setattr__(self, "splits", splits)

    @property
    def train(self) -> tf.data.Dataset:
        """The examples to learn from, as dicts of named fields."""
        return self.tf_data("train")

    @property
    def validation(self) -> tf.data.Dataset:
        """The examples to choose by while learning."""
        return self.tf_data("validation")

    @property
    def test(self) -> tf.data.Dataset:
        """The examples to score on, once."""
        return self.tf_data("test")

    @property
    def sizes(self) -> dict[str, int]:
        """How many examples each split has."""
        return {name: _size(columns) for name, columns in self.splits.items()}

    def columns(self, split: str) -> dict[str, np.ndarray]:
        """Return the fields of one split as NumPy arrays."""
        if split not in self.splits:
            raise ValueError(
                f"`split` must be one of {sorted(self.splits)} for the data "
                f"set {self.name!r}. Received: {split!r}"
            )
        return dict(self.splits[split])

    def examples(self, split: str) -> list[dict[str, Any]]:
        """Return one split as a list of dicts."""
        columns = self.columns(split)
        return [
            dict(zip(columns, row, strict=True))
            for row in zip(*columns.values(), strict=True)
        ]

    def tf_data(self, split: str) -> tf.data.Dataset:
        """Return one split as a `tf.data.Dataset` of dicts, in file order."""
        return tf.data.Dataset.from_tensor_slices(self.columns(split))


def _column(values):
    values = list(values) if not isinstance(values, np.ndarray) else values
    if len(values) and isinstance(values[0], str):
        return np.array(values, dtype=object)
    return np.asarray(values)


def _size(columns):
    return len(next(iter(columns.values())))
