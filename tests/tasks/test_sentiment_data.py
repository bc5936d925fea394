"""Joined data sets: nothing that is tested is learned, two spellings."""

import numpy as np
import pytest

from keras_seq.data import Dataset
from keras_seq.tasks.sentiment_data import join_datasets, load_data, respell
from keras_seq.tasks.sentiment_recipes import RECIPES, resolve_settings


def dataset(name, **splits):
    return Dataset(
        name,
        f"licence of {name}",
        {
            split: {"text": texts, "label": np.arange(len(texts)) % 2}
            for split, texts in splits.items()
        },
    )


def joined():
    return join_datasets(
        [
            dataset(
                "one",
                train=["It does n't work .", "seen by Two", "new"],
                validation=["kept"],
                test=["scored"],
            ),
            dataset(
                "two",
                train=["plain", "Scored !"],
                validation=["also kept", "SEEN, by two"],
                test=["seen by two"],
            ),
        ]
    )


def test_what_is_tested_is_not_learned_however_it_is_spaced():
    splits = joined().splits
    assert splits["test"]["text"].tolist() == ["scored", "seen by two"]
    assert splits["validation"]["text"].tolist() == ["kept", "also kept"]
    assert "3 texts are left out" in joined().notes[0]


def test_cut_sentences_are_learned_in_both_spellings_with_their_label():
    train = joined().splits["train"]
    assert dict(zip(train["text"], train["label"], strict=True)) == {
        "It does n't work .": 0,
        "new": 0,
        "plain": 0,
        "It doesn't work.": 0,
    }
    assert joined().name == "one+two"
    assert "licence of one" in joined().licence


@pytest.mark.parametrize(
    "cut, whole",
    [
        ("i ca n't wait", "i can't wait"),
        ("it 's he 'll they 've", "it's he'll they've"),
        ("a -lrb- very -rrb- good film", "a (very) good film"),
        ("`` fine '' , he said", '"fine", he said'),
        ("nothing to do here", "nothing to do here"),
        ("", ""),
    ],
)
def test_respelling(cut, whole):
    assert respell(cut) == whole
    assert respell(whole) == whole


def test_names_can_be_joined_and_unknown_ones_are_named():
    with pytest.raises(ValueError, match="'imdb'.*Received: 'imdb.yelp'"):
        load_data("imdb+yelp")
    preset, how, _ = resolve_settings("imdb+sst2")
    assert preset == RECIPES["joined"]["preset"]
    assert how["max_length"] == RECIPES["joined"]["max_length"]


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_every_recipe_can_be_resolved(name):
    preset, how, model = resolve_settings(name)
    assert preset == RECIPES[name]["preset"]
    assert set(RECIPES[name]) - {"preset"} <= {*how, *model}
