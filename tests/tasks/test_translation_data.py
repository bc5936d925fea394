"""Which pairs a name, some names or files stand for."""

import pytest

from keras_seq.data import Dataset
from keras_seq.tasks.translation_data import (
    is_known,
    join_datasets,
    load_data,
    load_split,
)

PAIRS = [("A cat.", "Un chat."), ("A dog.", "Un chien.")]


def dataset(name, train, validation, test):
    return Dataset(
        name,
        "CC0",
        {
            split: {
                "source": [source for source, _ in pairs],
                "target": [target for _, target in pairs],
            }
            for split, pairs in (
                ("train", train),
                ("validation", validation),
                ("test", test),
            )
        },
    )


def test_names_and_paths_are_told_apart():
    assert is_known("grammar") and is_known("tatoeba+grammar")
    assert not is_known("grammar.tsv") and not is_known("grammar+mine")


def test_a_data_set_stands_for_itself():
    given = dataset("mine", PAIRS, PAIRS, PAIRS)
    assert load_data(given) is given
    columns, gold = load_split(given, None, "test")
    assert list(columns["source"]) == ["A cat.", "A dog."]
    assert gold is None


def test_files_are_scored_whole(tmp_path):
    one, other = tmp_path / "a.en", tmp_path / "a.fr"
    one.write_text("A cat.\nA dog.\n")
    other.write_text("Un chat.\nUn chien.\n")
    columns, _ = load_split(f"{one},{other}", None, "test")
    assert list(columns["target"]) == ["Un chat.", "Un chien."]
    table = tmp_path / "a.tsv"
    table.write_text("A cat.\tUn chat.\n")
    assert list(load_split(table, None, "test")[0]["source"]) == ["A cat."]


def test_what_is_scored_on_is_not_learned_from():
    first = dataset("first", PAIRS, [("X", "Y")], [("Same.", "Pareil.")])
    second = dataset(
        "second", [("Same.", "Idem."), ("New.", "Neuf.")], PAIRS[:1], PAIRS[1:]
    )
    joined = join_datasets([first, second])
    assert joined.name == "first+second"
    assert list(joined.columns("train")["source"]) == ["New."]
    assert list(joined.columns("test")["source"]) == ["Same.", "A dog."]
    assert "3 pairs" in joined.notes[0]


@pytest.mark.parametrize("data", ["gramar", "a.en,b.fr", "a,b,c", "grammar+x"])
def test_what_is_neither_name_nor_file_is_refused(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="`data` must be one of.*Received"):
        load_data(data)


@pytest.mark.parametrize(
    ("data", "languages"),
    [
        ("grammar", "en-de"),
        ("multi30k", "english"),
        ("multi30k", "en-xx"),
        (dataset("mine", PAIRS, PAIRS, PAIRS), "en"),
        ("grammar", ""),
    ],
)
def test_languages_must_be_those_of_the_data(data, languages, tmp_path):
    with pytest.raises(ValueError, match="Received"):
        load_data(data, tmp_path, languages)
