"""Tables of labelled text: what is read, and what is said when it cannot be."""

import gzip
import lzma

import pytest

from keras_seq.data import load_table, read_table

OPEN = {"": open, ".gz": gzip.open, ".xz": lzma.open}


def write(folder, name, content):
    path = folder / name
    content = content if isinstance(content, bytes) else content.encode()
    with OPEN[path.suffix if path.suffix in OPEN else ""](path, "wb") as file:
        file.write(content)
    return path


@pytest.mark.parametrize("ending", ["", ".gz", ".xz"])
def test_tabs_commas_and_compression_give_the_same_columns(tmp_path, ending):
    tabs = write(
        tmp_path,
        f"a.tsv{ending}",
        'label\tid\ttext\n1\t7\tsays "hi", é\r\n0\t8\t\n',
    )
    commas = write(
        tmp_path,
        f"a.csv{ending}",
        'text,label\n"says ""hi"", é",1\n,0\n',
    )
    for path in (tabs, commas):
        columns = read_table(path)
        assert columns["text"].tolist() == ['says "hi", é', ""]
        assert columns["label"].tolist() == [1, 0]
        assert columns["label"].dtype == "int32"


def test_quoted_fields_may_hold_line_ends(tmp_path):
    path = write(tmp_path, "a.csv", 'label,text\n1,"one\ntwo"\n0,three\n')
    assert read_table(path)["text"].tolist() == ["one\ntwo", "three"]


def test_columns_labels_and_delimiter_can_be_named(tmp_path):
    path = write(tmp_path, "a.csv", "\ufeffreview;mood\nfine;good\nbad;awful\n")
    columns = read_table(
        path,
        text="review",
        label="mood",
        labels=("awful", "good"),
        delimiter=";",
    )
    assert columns["label"].tolist() == [1, 0]


def test_a_byte_order_mark_may_stand_before_a_quoted_name(tmp_path):
    path = write(tmp_path, "a.csv", '\ufeff"text","label"\r\nfine,1\r\n')
    assert read_table(path)["text"].tolist() == ["fine"]


def test_long_texts_are_read(tmp_path):
    path = write(tmp_path, "a.csv", f"label,text\n1,{'x' * 300_000}\n")
    assert len(read_table(path)["text"][0]) == 300_000


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("a.tsv", "", r"a\.tsv: the first line must name.*empty file"),
        ("a.tsv", "label\ttext\n", r"a\.tsv: must have rows.*none"),
        (
            "a.tsv",
            "label\tbody\n1\tx\n",
            r"a\.tsv, line 1: the columns \['text'\].*Received: "
            r"\['label', 'body'\]",
        ),
        (
            "a.tsv",
            "label\ttext\n1\tx\npositive\ty\n",
            r"a\.tsv, line 3: the column 'label' must hold one of "
            r"\['0', '1'\]. Received: 'positive'",
        ),
        ("a.tsv", "label\ttext\n1\tx\n0\n", r"line 3: must have 2 fields.*1"),
        ("a.tsv", "label\ttext\n\n2\tx\n", r"line 3: .*Received: '2'"),
        ("a.tsv", b"label\ttext\n1\t\xff\n", r"line 2: must be UTF-8"),
        ("a.csv", 'label,text\n1,"a"b"\n', r"line 2: must be well-formed CSV"),
        ("a.csv", 'label,text\n1,"a\nb"\n3,c\n', r"line 4: .*Received: '3'"),
        ("a.csv", 'label,text\n1,"never closed\n', r"must be well-formed CSV"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_line(
    tmp_path, name, content, message
):
    with pytest.raises(ValueError, match=message):
        read_table(write(tmp_path, name, content))


@pytest.mark.parametrize("ending", [".gz", ".xz"])
def test_broken_archives_are_named(tmp_path, ending):
    path = write(tmp_path, f"a.tsv{ending}", "label\ttext\n" + "1\tx\n" * 999)
    whole = path.read_bytes()
    for broken in (whole[:-20], b"not an archive", whole[:30] + whole[35:]):
        path.write_bytes(broken)
        with pytest.raises(ValueError, match=rf"a\.tsv{ending}"):
            read_table(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ValueError, match="Received: '.*none.csv'.*not exist"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(ValueError, match="must be readable"):
        read_table(tmp_path)


def table(n, start=0):
    return "label\ttext\n" + "".join(
        f"{i % 2}\ttext {i}\n" for i in range(start, start + n)
    )


def test_one_table_is_split_in_three(tmp_path):
    path = write(tmp_path, "mine.tsv", table(200))
    dataset = load_table(path)
    assert dataset.name == "mine" and dataset.sizes == {
        "train": 162,
        "validation": 20,
        "test": 18,
    }
    texts = [set(dataset.columns(split)["text"]) for split in dataset.sizes]
    assert len(set.union(*texts)) == 200
    again = load_table(path)
    for split in dataset.sizes:
        assert (
            dataset.columns(split)["text"].tolist()
            == again.columns(split)["text"].tolist()
        )


def test_given_parts_are_kept_whole(tmp_path):
    dataset = load_table(
        write(tmp_path, "a.tsv", table(50)),
        validation=write(tmp_path, "b.tsv", table(7, 100)),
        test=write(tmp_path, "c.tsv", table(5, 200)),
        name="three",
    )
    assert dataset.sizes == {"train": 50, "validation": 7, "test": 5}
    assert dataset.name == "three" and dataset.notes == ()


def test_too_little_to_split_is_said(tmp_path):
    path = write(tmp_path, "a.tsv", "label\ttext\n1\tx\n0\tx\n")
    with pytest.raises(ValueError, match="`validation`.*2 rows, 1 different"):
        load_table(path)
