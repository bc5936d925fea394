"""The loaders of real reviews, on made-up files and on the real ones."""

import gzip
import itertools
import lzma
import os
import pathlib

import numpy as np
import pytest

from keras_seq.data import load_imdb, load_rotten_tomatoes, load_sst2

BESIDE = pathlib.Path(__file__).parents[3] / "shared" / "data"
REAL = pathlib.Path(os.environ.get("KERAS_SEQ_DATA", BESIDE))


def real(name):
    return pytest.mark.skipif(
        not (REAL / name).is_dir(),
        reason=f"no {name} in KERAS_SEQ_DATA or in ../shared/data",
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.delenv("KERAS_SEQ_DATA", raising=False)
    rows = {
        "imdb/train.tsv.xz": ["label\trating\tid\ttext"]
        + [f"{i % 2}\t7\t{i}\tfilm {i}.<br /><br />End." for i in range(40)]
        + ["1\t9\t99\tIn both."],
        "imdb/test.tsv.xz": ["label\trating\tid\ttext"]
        + [f"{i % 2}\t7\t{i}\tother {i}" for i in range(10)]
        + ["0\t2\t98\tIn both."],
        "sst2/train.tsv.gz": ["label\ttext"]
        + [f"{i % 2}\tsentence {i} ." for i in range(40)],
        "sst2/dev.tsv.gz": ["label\ttext", "1\tfine ."],
        "rt_polarity/rt_polarity.tsv.gz": ["fold\tlabel\ttext"]
        + [f"{i % 10}\t{i // 10 % 2}\tline {i}" for i in range(60)],
    }
    for name, lines in rows.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        opener = lzma.open if name.endswith(".xz") else gzip.open
        with opener(path, "wt") as file:
            file.write("\n".join(lines) + "\n")
    return tmp_path


def texts(dataset, split):
    return dataset.columns(split)["text"].tolist()


def test_imdb_loses_its_tags_and_keeps_its_test_part(folder):
    dataset = load_imdb(folder)
    assert dataset.sizes == {"train": 37, "validation": 4, "test": 11}
    everything = texts(dataset, "train") + texts(dataset, "validation")
    assert "film 3. End." in everything
    assert texts(dataset, "test")[-1] == "In both."
    assert any(note.startswith("1 different texts") for note in dataset.notes)


def test_sst2_scores_on_the_dev_part(folder):
    dataset = load_sst2(folder)
    assert dataset.sizes == {"train": 36, "validation": 4, "test": 1}
    assert texts(dataset, "test") == ["fine ."]


def test_each_fold_is_tested_on_once(folder):
    tested = []
    for fold in range(10):
        dataset = load_rotten_tomatoes(folder, fold=fold)
        parts = [set(texts(dataset, split)) for split in dataset.sizes]
        assert len(set.union(*parts)) == 60 == sum(map(len, parts))
        tested += texts(dataset, "test")
    assert len(set(tested)) == len(tested) == 60


def test_the_folder_may_come_from_the_environment(folder, monkeypatch):
    monkeypatch.setenv("KERAS_SEQ_DATA", str(folder))
    assert load_sst2().sizes["test"] == 1
    monkeypatch.setenv("KERAS_SEQ_DATA", str(folder / "none"))
    assert load_sst2(folder).sizes["test"] == 1  # the argument wins
    assert load_sst2(folder / "sst2").sizes["test"] == 1  # the set's own


def test_what_is_missing_is_named(folder, monkeypatch):
    with pytest.raises(ValueError, match="KERAS_SEQ_DATA.*Received: neither"):
        load_imdb()
    with pytest.raises(ValueError, match="must be a folder.*nowhere"):
        load_imdb(folder / "nowhere")
    (folder / "imdb" / "test.tsv.xz").unlink()
    with pytest.raises(ValueError, match=r"'imdb'.*imdb/test\.tsv\.xz"):
        load_imdb(folder)


def test_what_is_malformed_is_named_with_its_line(folder):
    path = folder / "rt_polarity" / "rt_polarity.tsv.gz"
    for row, message in (
        ("10\t1\tx", "line 2: the column 'fold' must hold 0 to 9.*'10'"),
        ("1\tpos\tx", "line 2: the column 'label'.*'pos'"),
        ("1\t1", "line 2: must have 3 fields"),
        ("1\t1\tx", "rows in fold 0 and in others.*0 of 1"),
    ):
        path.write_bytes(gzip.compress(f"fold\tlabel\ttext\n{row}\n".encode()))
        with pytest.raises(ValueError, match=message):
            load_rotten_tomatoes(folder)


@pytest.mark.parametrize("fold", [-1, 10])
def test_there_are_ten_folds(folder, fold):
    with pytest.raises(ValueError, match=f"`fold`.*Received: {fold}"):
        load_rotten_tomatoes(folder, fold=fold)


@real("sst2")
def test_the_real_sst2():
    dataset = load_sst2(REAL)
    assert dataset.sizes == {"train": 6228, "validation": 692, "test": 872}
    labels = dataset.columns("validation")["label"]
    assert 0.45 < labels.mean() < 0.6
    assert not set(texts(dataset, "train")) & set(texts(dataset, "validation"))


@real("rt_polarity")
def test_the_real_rotten_tomatoes():
    sizes = load_rotten_tomatoes(REAL, fold=3).sizes
    assert sum(sizes.values()) == 9029 and sizes["test"] == 903


@real("imdb")
def test_the_first_rows_of_the_real_imdb(tmp_path):
    for name in ("train.tsv.xz", "test.tsv.xz"):
        with lzma.open(REAL / "imdb" / name) as file:
            head = b"".join(itertools.islice(file, 401))
        (tmp_path / name).write_bytes(lzma.compress(head, preset=0))
    dataset = load_imdb(tmp_path)
    assert dataset.sizes == {"train": 360, "validation": 40, "test": 400}
    assert 0.4 < np.mean(dataset.columns("test")["label"]) < 0.6
    everything = texts(dataset, "train") + texts(dataset, "validation")
    assert not any("<br" in text for text in everything)
    assert 1000 < np.mean([len(text) for text in everything]) < 1600
