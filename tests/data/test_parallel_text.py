"""Translations in files: what is read, and what is said when it cannot be."""

import gzip
import itertools
import lzma
import os
import pathlib

import pytest

from keras_seq.data import (
    load_multi30k,
    load_pairs,
    load_tatoeba,
    read_alignments,
    read_pairs_table,
    read_parallel,
)

BESIDE = pathlib.Path(__file__).parents[3] / "shared" / "data"
REAL = pathlib.Path(os.environ.get("KERAS_SEQ_DATA", BESIDE))
OPEN = {".gz": gzip.open, ".xz": lzma.open}


def real(name):
    return pytest.mark.skipif(
        not (REAL / name).is_dir(),
        reason=f"no {name} in KERAS_SEQ_DATA or in ../shared/data",
    )


def write(folder, name, content):
    path = folder / name
    path.parent.mkdir(exist_ok=True, parents=True)
    content = content if isinstance(content, bytes) else content.encode()
    with OPEN.get(path.suffix, open)(path, "wb") as file:
        file.write(content)
    return path


def head(name, folder, lines):
    """Copy the first lines of a real file."""
    with gzip.open(REAL / name) as file:
        write(folder, name, b"".join(itertools.islice(file, lines)))


@pytest.mark.parametrize("ending", ["", ".gz", ".xz"])
def test_lines_side_by_side_are_pairs(tmp_path, ending):
    one = write(tmp_path, f"a.en{ending}", "A dog.\r\n\nÀ cat.\n")
    other = write(tmp_path, f"a.fr{ending}", " Un chien.\n\nUn chat.")
    columns = read_parallel(one, other)
    assert columns["source"].tolist() == ["A dog.", "À cat."]
    assert columns["target"].tolist() == ["Un chien.", "Un chat."]


@pytest.mark.parametrize(
    "one, other, message",
    [
        ("a\nb\nc\n", "a\n", r"a\.en, line 2: must have a transl.*a\.fr.*1$"),
        ("a\n", "a\nb\n", r"a\.fr, line 2: must have a transl.*a\.en.*1$"),
        ("a\n\nc\n", "a\nb\nc\n", r"a\.en, line 2: must be a sentence"),
        ("a\nb\n", "a\n  \n", r"a\.fr, line 2: must be a sentence"),
        ("", "", r"a\.en and .*a\.fr: must have sentences.*none"),
        ("\n", "\n", r"must have sentences.*none"),
        ("a\n", b"ok\xff\n", r"a\.fr, line 1: must be UTF-8"),
    ],
)
def test_the_first_bad_line_of_two_files_is_named(
    tmp_path, one, other, message
):
    files = write(tmp_path, "a.en", one), write(tmp_path, "a.fr", other)
    with pytest.raises(ValueError, match=message):
        read_parallel(*files)


def test_tables_may_have_more_columns(tmp_path):
    path = write(tmp_path, "a.tsv.gz", "Go.\tVa !\tCC-BY\n\nRun!\tCours !\n")
    columns = read_pairs_table(path)
    assert columns["source"].tolist() == ["Go.", "Run!"]
    turned = read_pairs_table(path, source=1, target=0)
    assert turned["source"].tolist() == ["Va !", "Cours !"]


@pytest.mark.parametrize(
    "content, message",
    [
        ("a\tb\nc\n", r"a\.tsv, line 2: must have at least 2 fields.*1"),
        ("a\tb\nc\t \n", r"a\.tsv, line 2: must have a sentence and its"),
        (b"a\tb\n\xe9\tc\n", r"a\.tsv, line 2: must be UTF-8"),
        ("", r"a\.tsv: must have sentences.*none"),
    ],
)
def test_the_first_bad_line_of_a_table_is_named(tmp_path, content, message):
    with pytest.raises(ValueError, match=message):
        read_pairs_table(write(tmp_path, "a.tsv", content))


def test_a_byte_order_mark_is_no_text(tmp_path):
    one = write(tmp_path, "a.en", "\ufeffA dog.\n\ufeffA cat.\n")
    other = write(tmp_path, "a.fr.gz", "\ufeffUn chien.\nUn chat.\n")
    columns = read_parallel(one, other)
    assert columns["source"].tolist() == ["A dog.", "\ufeffA cat."]
    assert columns["target"].tolist() == ["Un chien.", "Un chat."]
    bad = write(tmp_path, "b.tsv", b"\xef\xbb\xbfa\xff\tb\n")
    with pytest.raises(ValueError, match=r"b\.tsv, line 1: must be UTF-8"):
        read_pairs_table(bad)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ValueError, match="nowhere.*does not exist"):
        read_pairs_table(tmp_path / "nowhere.tsv")


def many_translations(count=100):
    rows = [(i, j) for i in range(count) for j in range(1 + i % 3)]
    return "".join(f"sentence {i}\tphrase {i}, {j}\n" for i, j in rows)


def test_all_translations_of_a_sentence_go_to_one_split(tmp_path):
    path = write(tmp_path, "mine.tsv", many_translations())
    dataset = load_pairs(path)
    sources = {s: set(dataset.columns(s)["source"]) for s in dataset.sizes}
    assert len(sources["validation"]) == len(sources["test"]) == 5
    assert len(set.union(*sources.values())) == 100
    assert sum(len(source) for source in sources.values()) == 100
    assert sum(dataset.sizes.values()) == 199
    assert dataset.name == "mine"
    # The order of the lines does not matter.
    lines = many_translations().splitlines(keepends=True)
    other = load_pairs(write(tmp_path, "b.tsv", "".join(reversed(lines))))
    assert set(other.columns("test")["source"]) == sources["test"]


def test_splits_may_have_files_of_their_own(tmp_path):
    files = [
        (
            write(tmp_path, f"{name}.en", f"{name}\n" * 3),
            write(tmp_path, f"{name}.fr", f"{name} !\n" * 3),
        )
        for name in ("train", "val", "test")
    ]
    dataset = load_pairs(
        files[0], validation=files[1], test=files[2], name="x", licence="CC0"
    )
    assert dataset.sizes == {"train": 3, "validation": 3, "test": 3}
    assert dataset.columns("test")["target"].tolist() == ["test !"] * 3
    assert (dataset.name, dataset.licence) == ("x", "CC0")
    with pytest.raises(ValueError, match="must be two.*Received: 3"):
        load_pairs((*files[0], "c"))
    with pytest.raises(ValueError, match="leaves no pair.*3 pairs, 1 diff"):
        load_pairs(files[0])


@pytest.fixture
def multi30k(tmp_path):
    for part in ("train", "val", "test_2016_flickr"):
        for language in ("en", "fr", "de"):
            lines = "".join(f"{part} {language} {i}\n" for i in range(4))
            write(tmp_path, f"multi30k/{part}.{language}.gz", lines)
    return tmp_path


def test_multi30k_comes_in_any_direction(multi30k):
    dataset = load_multi30k(multi30k, source="de", target="en")
    assert dataset.sizes == {"train": 4, "validation": 4, "test": 4}
    assert dataset.examples("test")[1] == {
        "source": "test_2016_flickr de 1",
        "target": "test_2016_flickr en 1",
    }
    assert load_multi30k(multi30k).name == "multi30k_en_fr"
    with pytest.raises(ValueError, match="`target` must be one of.*'cs'"):
        load_multi30k(multi30k, target="cs")
    with pytest.raises(ValueError, match="two languages.*'fr' twice"):
        load_multi30k(multi30k, source="fr")
    (multi30k / "multi30k" / "val.fr.gz").unlink()
    with pytest.raises(ValueError, match=r"'multi30k'.*val\.fr"):
        load_multi30k(multi30k)


def test_tatoeba_is_split_by_english_sentence(tmp_path):
    write(tmp_path, "tatoeba_fra_eng/fra.tsv.gz", many_translations())
    dataset = load_tatoeba(tmp_path, share=0.1)
    sources = {s: set(dataset.columns(s)["source"]) for s in dataset.sizes}
    assert list(map(len, sources.values())) == [81, 9, 10]
    assert len(set.union(*sources.values())) == 100
    assert "tatoeba.org" in dataset.licence


def test_tatoeba_may_be_called_as_anki_calls_it(tmp_path):
    with pytest.raises(ValueError, match=r"tatoeba_fra_eng/fra\.tsv"):
        load_tatoeba(tmp_path)
    write(tmp_path, "fra.txt", many_translations().replace("\n", "\tCC-BY\n"))
    columns = load_tatoeba(tmp_path, share=0.1).columns("train")
    assert columns["target"][0].startswith("phrase")


@real("multi30k")
def test_the_real_multi30k_has_its_published_sizes():
    sizes = load_multi30k(REAL).sizes
    assert sizes == {"train": 29000, "validation": 1014, "test": 1000}


@real("tatoeba_fra_eng")
def test_the_first_lines_of_the_real_tatoeba(tmp_path):
    head("tatoeba_fra_eng/fra.tsv.gz", tmp_path, 3000)
    dataset = load_tatoeba(tmp_path, share=0.1)
    assert sum(dataset.sizes.values()) == 3000
    test, train = (
        set(dataset.columns(split)["source"]) for split in ("test", "train")
    )
    assert test and not test & train


# --- gold alignments --------------------------------------------------------


def alignment_files(folder, sentences, links):
    return write(folder, "x.src-tgt", sentences), write(folder, "x.gold", links)


def test_links_are_sure_or_possible_and_count_from_zero(tmp_path):
    files = alignment_files(
        tmp_path, "the old dog ||| le vieux chien\na ||| b\n", "1-1 2p3 3-3\n\n"
    )
    first, second = read_alignments(*files)
    assert first.source == ("the", "old", "dog")
    assert first.target == ("le", "vieux", "chien")
    assert first.alignment.sure == ((0, 0), (2, 2))
    assert first.alignment.possible == ((0, 0), (1, 2), (2, 2))
    assert second.alignment.possible == ()


@pytest.mark.parametrize(
    "sentences, links, message",
    [
        ("a ||| b\n", "1-2\n", r"gold, line 1: links must.*'1-2'"),
        ("a ||| b\n", "0-1\n", r"gold, line 1: links must.*'0-1'"),
        ("a ||| b\n", "1_1\n", r"gold, line 1: links must.*'1_1'"),
        ("a b\n", "1-1\n", r"tgt, line 1: must be words"),
        ("a ||| b\nc ||| d\n", "1-1\n", r"gold: must.*none for line 2"),
        ("a ||| b\n", "1-1\n1-1\n", r"gold, line 2: must have.*1 lines"),
        ("", "", r"tgt: must have lines"),
    ],
)
def test_malformed_alignments_are_named(tmp_path, sentences, links, message):
    with pytest.raises(ValueError, match=message):
        read_alignments(*alignment_files(tmp_path, sentences, links))


@real("word_alignment")
def test_the_real_alignments_have_as_many_links_as_published():
    for name, sentences, sure, possible in (
        ("enfr", 447, 4038, 17438),
        ("roen", 248, None, None),
    ):
        pairs = read_alignments(
            REAL / "word_alignment" / f"{name}.src-tgt.gz",
            REAL / "word_alignment" / f"{name}.gold.gz",
        )
        assert len(pairs) == sentences
        if sure:
            assert sum(len(p.alignment.sure) for p in pairs) == sure
            assert sum(len(p.alignment.possible) for p in pairs) == possible
