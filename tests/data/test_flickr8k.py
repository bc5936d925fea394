"""Photographs and their captions, in every layout they come in."""

import gzip
import io
import itertools
import os
import pathlib
import shutil
import warnings
import zipfile

import numpy as np
import PIL.Image
import pytest

from keras_seq.data import ImageFiles, encode_png, load_flickr8k

pytestmark = pytest.mark.tensorflow

BESIDE = pathlib.Path(__file__).parents[3] / "shared" / "data"
REAL = pathlib.Path(os.environ.get("KERAS_SEQ_DATA", BESIDE))
SPLITS = {"train": "abc", "dev": "d", "test": "ef"}


def png(shade):
    return encode_png(np.full((3, 5, 3), shade, "uint8"))


def pictures(letters="abcdef"):
    return {f"{letter}.png": png(ord(letter)) for letter in letters}


def pack(path, files):
    path.parent.mkdir(exist_ok=True, parents=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def put(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True, parents=True)
        if isinstance(content, str):
            content = content.encode()
        path.write_bytes(content)
    return folder


def table():
    rows = ["image\tsplit\tindex\tcaption"]
    for split, letters in SPLITS.items():
        for letter, n in itertools.product(letters, range(5)):
            rows.append(f"{letter}.png\t{split}\t{n}\t{letter} says {n} .")
    return "\n".join(rows) + "\n"


def original():
    lines = [
        f"{letter}.png#{n}\t{letter} says {n} ."
        for letter, n in itertools.product("abcdefx", range(5))
    ]
    files = {"Flickr8k.token.txt": "\n".join(lines) + "\n"}
    for split, letters in SPLITS.items():
        listed = "".join(f"{letter}.png\n" for letter in letters)
        files[f"Flickr_8k.{split}Images.txt"] = listed
    return files


def layouts(folder, layout):
    """Write the six pictures; return what `load_flickr8k` is to be given."""
    if layout == "table, zip":
        put(folder, {"captions.tsv.gz": gzip.compress(table().encode())})
        pack(folder / "images_train.zip", pictures("abc"))
        pack(folder / "images_rest.zip", pictures("def"))
        return {"data_dir": folder}
    if layout == "table, folder":
        put(folder / "flickr8k", {"captions.tsv": table()})
        put(folder / "flickr8k" / "photos", pictures())
        return {"data_dir": folder}
    if layout == "original":
        put(folder, {**original(), **pictures()})
        return {"data_dir": folder}
    if layout == "original, apart":
        put(folder / "Flickr8k_text", original())
        put(folder / "elsewhere", pictures())
        return {
            "data_dir": folder / "Flickr8k_text",
            "images": folder / "elsewhere",
        }
    if layout == "original, two zips":
        pack(folder / "Flickr8k_text.zip", original())
        photos = {f"Flicker8k_Dataset/{n}": p for n, p in pictures().items()}
        ghosts = {f"__MACOSX/x/._{n}": b"ghost" for n in pictures()}
        pack(folder / "Flickr8k_Dataset.zip", {**ghosts, **photos})
        return {"data_dir": folder}
    return {"data_dir": pack(folder / "all.zip", {**original(), **pictures()})}


@pytest.mark.parametrize(
    "layout",
    [
        "table, zip",
        "table, folder",
        "original",
        "original, apart",
        "original, two zips",
        "one zip",
    ],
)
def test_every_layout_gives_the_same_data_set(tmp_path, layout):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dataset = load_flickr8k(**layouts(tmp_path, layout))
    assert dataset.sizes == {"train": 3, "validation": 1, "test": 2}
    assert dataset.columns("test")["name"].tolist() == ["e.png", "f.png"]
    assert dataset.columns("validation")["captions"][0] == tuple(
        f"d says {n} ." for n in range(5)
    )
    assert dataset.image_bytes("test", 1) == pictures()["f.png"]
    (example,) = dataset.validation
    assert example["image_bytes"].numpy() == pictures()["d.png"]
    assert example["captions"].numpy()[4] == b"d says 4 ."
    assert "no redistribution" in dataset.licence


def test_the_folder_may_be_named_by_the_environment(tmp_path, monkeypatch):
    layouts(tmp_path, "table, folder")
    monkeypatch.setenv("KERAS_SEQ_DATA", str(tmp_path))
    assert load_flickr8k().sizes["train"] == 3
    monkeypatch.delenv("KERAS_SEQ_DATA")
    with pytest.raises(ValueError, match=r"data_dir.*'flickr8k'.*neither"):
        load_flickr8k()


def test_captions_without_a_split_are_counted(tmp_path):
    dataset = load_flickr8k(**layouts(tmp_path, "original"))
    assert dataset.notes == ("1 pictures with captions are in no split.",)


def test_a_missing_picture_is_named_and_the_others_are_there(tmp_path):
    put(tmp_path, {"captions.tsv": table(), **pictures("acdef")})
    with pytest.warns(UserWarning, match=r"1 pictures.*left out: b\.png$"):
        dataset = load_flickr8k(tmp_path)
    assert dataset.columns("train")["name"].tolist() == ["a.png", "c.png"]
    assert "b.png" in dataset.notes[-1]


def test_a_split_without_pictures_is_named_and_the_others_are_there(tmp_path):
    put(tmp_path, {"captions.tsv": table(), **pictures("ef")})
    with pytest.warns(UserWarning, match="That is all of train, validation"):
        dataset = load_flickr8k(tmp_path)
    assert dataset.sizes == {"test": 2}
    with pytest.raises(ValueError, match="`split` must be one of .'test'"):
        dataset.columns("train")


def test_other_pictures_than_those_named_are_no_data_set(tmp_path):
    put(tmp_path, {"captions.tsv": table(), "z.png": png(0)})
    with pytest.raises(ValueError, match=r"like a\.png.*with 1 others"):
        load_flickr8k(tmp_path)


def test_a_folder_without_captions_or_without_pictures_is_told(tmp_path):
    with pytest.raises(ValueError, match=r"captions\.tsv or Flickr8k\.token"):
        load_flickr8k(tmp_path)
    put(tmp_path, {"captions.tsv": table()})
    with pytest.raises(ValueError, match="`images` must hold pictures"):
        load_flickr8k(tmp_path)
    with pytest.raises(ValueError, match="data_dir.*which is not there"):
        load_flickr8k(tmp_path / "nowhere")


@pytest.mark.parametrize(
    "content, message",
    [
        ("a.png\ttrain\t0", r"captions\.tsv, line 2: must have 4 fields.*3"),
        ("a.png\tval\t0\tA dog", r"line 2: the column 'split'.*'val'"),
        ("a.png\ttrain\t0\t ", r"line 2: must have a picture and its caption"),
        (
            "a.png\ttrain\t0\tx\na.png\ttest\t1\ty",
            r"line 3: a picture must be in one split.*'a\.png' in 'test'",
        ),
    ],
)
def test_a_broken_line_of_the_table_is_named(tmp_path, content, message):
    header = "image\tsplit\tindex\tcaption\n"
    put(tmp_path, {"captions.tsv": header + content, **pictures()})
    with pytest.raises(ValueError, match=message):
        load_flickr8k(tmp_path)


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("Flickr8k.token.txt", "a.png#0\tx\na.png y\n", r"token\.txt, line 2"),
        ("Flickr8k.token.txt", "a.png#one\tx\n", r"token\.txt, line 1"),
        ("Flickr8k.token.txt", "a.png#0\t\n", r"token\.txt, line 1"),
        ("Flickr8k.token.txt", "\n", r"token\.txt: must have captions"),
        ("Flickr8k.token.txt", b"a.png#0\t\xff", r"line 1: must be UTF-8"),
        ("Flickr_8k.devImages.txt", "d.png\nq.png\n", r"line 2.*'q\.png'"),
        ("Flickr_8k.testImages.txt", "a.png\n", r"line 1.*'train' as well"),
    ],
)
@pytest.mark.parametrize("zipped", [False, True], ids=["folder", "zip"])
def test_a_broken_line_of_the_original_is_named(
    tmp_path, name, content, message, zipped
):
    files = {**original(), name: content, **pictures()}
    put(tmp_path, files)
    path = pack(tmp_path / "x.zip", files) if zipped else tmp_path
    with pytest.raises(ValueError, match=message):
        load_flickr8k(path)


def test_a_missing_list_is_named(tmp_path):
    files = original()
    del files["Flickr_8k.devImages.txt"]
    put(tmp_path, {**files, **pictures()})
    with pytest.raises(ValueError, match=r"devImages\.txt.*'validation'"):
        load_flickr8k(tmp_path)


def test_pictures_must_be_in_a_folder_or_a_zip_file(tmp_path):
    put(tmp_path, {"captions.tsv": table(), "broken.zip": b"PK no zip"})
    with pytest.raises(ValueError, match=r"broken\.zip'?, which is neither"):
        load_flickr8k(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="`images` must hold pictures"):
        ImageFiles(tmp_path / "empty")
    with pytest.raises(ValueError, match="nowhere.*which is not there"):
        ImageFiles(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="one of the 1 pictures.*'q.png'"):
        ImageFiles(put(tmp_path / "one", {"a.png": png(1)})).read("q.png")


def damaged(path, name, how):
    """Spoil one member of a zip file, where its header or contents are."""
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        start = archive.getinfo(name).header_offset
        central = data.index(name.encode(), archive.start_dir) - 46
    if how == "contents":
        data[start + 30 + len(name) + 20] ^= 0xFF
    elif how == "header":
        data[start] ^= 0xFF
    elif how == "encrypted":
        data[start + 6] |= 1
        data[central + 8] |= 1
    elif how == "method":
        data[start + 8] = data[central + 10] = 99
    path.write_bytes(data)


@pytest.mark.parametrize("how", ["contents", "header", "encrypted", "method"])
@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_damaged_member_of_a_zip_file_is_named(tmp_path, how, packing):
    path = tmp_path / "photos.zip"
    noise = np.random.default_rng(0).integers(0, 255, (9, 9, 3), "uint8")
    with zipfile.ZipFile(path, "w", packing) as archive:
        for name in ("a.png", "b.png"):
            archive.writestr(name, encode_png(noise))
    damaged(path, "b.png", how)
    files = ImageFiles(path)
    assert files.read("a.png") == encode_png(noise)
    with pytest.raises(OSError, match=r"b\.png in .*photos\.zip cannot be unp"):
        files.read("b.png")


def test_a_stamp_changes_with_the_picture(tmp_path):
    put(tmp_path / "photos", pictures("ab"))
    path = pack(tmp_path / "photos.zip", pictures("ab"))
    for paths, change in (
        (tmp_path / "photos", lambda p: put(tmp_path / "photos", p)),
        (path, lambda p: pack(path, {**pictures("ab"), **p})),
    ):
        before = [ImageFiles(paths).stamp(n) for n in ("a.png", "b.png")]
        change({"a.png": png(9)})
        after = [ImageFiles(paths).stamp(n) for n in ("a.png", "b.png")]
        assert before[0] != after[0] and before[1] == after[1]


@pytest.mark.skipif(
    not (REAL / "flickr8k").is_dir(),
    reason="no flickr8k in KERAS_SEQ_DATA or in ../shared/data",
)
def test_the_real_test_images_have_five_captions_each(tmp_path):
    # Its own folder, so that only the smallest of the zip files is opened.
    for name in ("captions.tsv.gz", "images_test.zip"):
        shutil.copy(REAL / "flickr8k" / name, tmp_path)
    with pytest.warns(UserWarning, match="7000 pictures.*train, validation"):
        dataset = load_flickr8k(tmp_path)
    assert dataset.sizes == {"test": 500}
    assert {len(said) for said in dataset.columns("test")["captions"]} == {5}
    for row in (0, 250, 499):
        picture = PIL.Image.open(io.BytesIO(dataset.image_bytes("test", row)))
        assert picture.size == (224, 224) and picture.mode == "RGB"
