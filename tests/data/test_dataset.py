"""Dataset: the same examples as tf.data, as columns and as rows."""

import numpy as np
import pytest

from keras_seq.data import Dataset
from keras_seq.data.holdout import hold_out


def small():
    return Dataset(
        "small",
        "CC0",
        {
            "train": {"text": ["a", "bé", ""], "label": [1, 0, 1]},
            "odd": {"text": ["x"], "label": np.array([0], "int32")},
        },
        gold={"odd": ["because"]},
    )


def test_every_view_shows_the_same_examples():
    dataset = small()
    assert dataset.sizes == {"train": 3, "odd": 1}
    assert dataset.columns("train")["text"].tolist() == ["a", "bé", ""]
    rows = dataset.examples("train")
    assert rows[1] == {"text": "bé", "label": 0}
    for row, example in zip(rows, dataset.train, strict=True):
        assert example["text"].numpy().decode() == row["text"]
        assert example["label"] == row["label"]


def test_extra_splits_are_reached_by_name():
    dataset = small()
    (example,) = dataset.tf_data("odd")
    assert example["text"] == "x" and dataset.gold["odd"] == ["because"]


def test_a_missing_split_is_named_with_those_there_are():
    with pytest.raises(ValueError, match="'odd', 'train'.*Received: 'test'"):
        _ = small().test


def test_cannot_be_changed_by_accident():
    dataset = small()
    with pytest.raises(AttributeError):
        dataset.name = "other"
    dataset.columns("train")["text"] = None
    assert dataset.columns("train")["text"] is not None


def test_columns_and_gold_must_fit():
    with pytest.raises(ValueError, match="one length.*'text': 2.*'label': 1"):
        Dataset("x", "", {"train": {"text": ["a", "b"], "label": [1]}})
    with pytest.raises(ValueError, match="gold.*2 examples.*Received: 1"):
        Dataset("x", "", {"train": {"text": ["a", "b"]}}, gold={"train": [1]})


def test_what_is_held_out_hangs_on_the_text_alone():
    texts = np.array([f"text {i}" for i in range(1000)], dtype=object)
    aside = hold_out(texts)
    assert aside.sum() == 100
    order = np.random.default_rng(0).permutation(1000)
    np.testing.assert_array_equal(hold_out(texts[order]), aside[order])
    assert (hold_out(texts, salt="other") != aside).any()
    # The very choice is fixed, for all time and machines.
    assert np.flatnonzero(aside)[:5].tolist() == [6, 12, 13, 19, 20]


def test_equal_texts_are_held_out_together():
    texts = [f"text {i % 40}" for i in range(200)]
    aside = hold_out(texts, share=0.1)
    kept = {t for t, out in zip(texts, aside, strict=True) if not out}
    held = {t for t, out in zip(texts, aside, strict=True) if out}
    assert not kept & held and 20 <= aside.sum() < 25


@pytest.mark.parametrize("share", [0, 1, -0.1])
def test_a_share_is_a_share(share):
    with pytest.raises(ValueError, match=f"`share`.*Received: {share}"):
        hold_out(["a", "b"], share)
