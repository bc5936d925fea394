"""Captions in COCO's JSON."""

import json

import numpy as np
import pytest

from keras_seq.data import encode_png, load_coco_captions

pytestmark = pytest.mark.tensorflow


def content(first=0, count=40):
    return {
        "info": {"description": "made for a test"},
        "images": [
            {"id": 100 + n, "file_name": f"{n:012}.jpg", "height": 3}
            for n in range(first, first + count)
        ],
        "annotations": [
            {"id": 7 * n, "image_id": 100 + n, "caption": f"Picture {n}.\n"}
            for n in range(first, first + count)
        ]
        + [{"id": 3, "image_id": 100 + first, "caption": "It is\nthe first."}],
    }


def write(folder, data, name="captions.json"):
    path = folder / name
    data = data if isinstance(data, str) else json.dumps(data)
    path.write_text(data, encoding="utf-8")
    return path


@pytest.fixture
def images(tmp_path):
    folder = tmp_path / "images"
    folder.mkdir()
    picture = encode_png(np.zeros((3, 5, 3), "uint8"))
    for n in range(60):
        (folder / f"{n:012}.jpg").write_bytes(picture)
    return folder


def test_captions_find_their_pictures(tmp_path, images):
    train = write(tmp_path, content())
    val = write(tmp_path, content(40, 7), "val.json")
    test = write(tmp_path, content(47, 5), "test.json")
    dataset = load_coco_captions(train, images, validation=val, test=test)
    assert dataset.sizes == {"train": 40, "validation": 7, "test": 5}
    columns = dataset.columns("train")
    assert columns["name"][0] == "000000000000.jpg"
    assert columns["captions"][0] == ("Picture 0.", "It is the first.")
    assert columns["captions"][39] == ("Picture 39.",)
    lengths = [len(e["captions"]) for e in dataset.test]
    assert lengths == [2, 1, 1, 1, 1]
    assert dataset.image_bytes("test", 0).startswith(b"\x89PNG")
    assert dataset.notes == ()


def test_what_is_not_given_is_kept_aside_by_picture(tmp_path, images):
    dataset = load_coco_captions(write(tmp_path, content()), images)
    names = {s: set(dataset.columns(s)["name"]) for s in dataset.sizes}
    assert dataset.sizes == {"train": 36, "validation": 2, "test": 2}
    assert len(set.union(*names.values())) == 40
    assert len(dataset.notes) == 2


def test_a_missing_picture_is_named_and_the_others_are_there(tmp_path, images):
    (images / "000000000003.jpg").unlink()
    path = write(tmp_path, content())
    with pytest.warns(UserWarning, match="left out: 000000000003.jpg"):
        dataset = load_coco_captions(path, images)
    assert sum(dataset.sizes.values()) == 39


def two_albums(folder, *names):
    """Two pictures of one name in two folders, and captions of `names`."""
    for shade, album in enumerate(("cats", "dogs")):
        (folder / "albums" / album).mkdir(parents=True)
        picture = encode_png(np.full((3, 5, 3), shade, "uint8"))
        (folder / "albums" / album / "1.png").write_bytes(picture)
    data = {
        "images": [{"id": n, "file_name": f} for n, f in enumerate(names)],
        "annotations": [
            {"image_id": n, "caption": f"This is {f}."}
            for n, f in enumerate(names)
        ],
    }
    return write(folder, data), folder / "albums"


@pytest.mark.parametrize("above", ["", "./", "albums/", "all/albums/"])
def test_pictures_of_one_name_are_told_apart_by_their_folders(tmp_path, above):
    names = [f"{above}{album}/1.png" for album in ("cats", "dogs")]
    path, albums = two_albums(tmp_path, *names)
    dataset = load_coco_captions(path, albums, validation=path, test=path)
    assert dataset.sizes["train"] == 2
    for row, album in enumerate(("cats", "dogs")):
        (caption,) = dataset.columns("train")["captions"][row]
        assert album in caption
        wanted = (albums / album / "1.png").read_bytes()
        assert dataset.image_bytes("train", row) == wanted


def test_a_name_of_two_pictures_is_refused(tmp_path):
    path, albums = two_albums(tmp_path, "1.png")
    with pytest.raises(ValueError, match=r"'1\.png'.* cats/1\.png and dogs/1"):
        load_coco_captions(path, albums, validation=path, test=path)
    dog = (albums / "dogs" / "1.png").read_bytes()
    (albums / "cats" / "1.png").write_bytes(dog)  # a copy is no other picture
    dataset = load_coco_captions(path, albums, validation=path, test=path)
    assert dataset.image_bytes("train", 0) == dog


def test_two_names_of_one_picture_are_refused(tmp_path):
    path, albums = two_albums(tmp_path, "x/1.png", "y/1.png")
    with pytest.raises(ValueError, match=r"'x/1\.png' and 'y/1\.png'.*both"):
        load_coco_captions(path, albums / "cats", validation=path, test=path)


def test_pictures_without_a_caption_are_left_out(tmp_path, images):
    data = content()
    data["annotations"] = data["annotations"][1:30]
    path = write(tmp_path, data)
    dataset = load_coco_captions(path, images, test=path, validation=path)
    assert dataset.sizes["train"] == 29


def broken(**changes):
    return {**content(), **changes}


@pytest.mark.parametrize(
    "data, message",
    [
        ('{"images": [],\n "annotations": [}', r"line 2: must be JSON"),
        ("[1]", r"must have the lists 'images' and 'annotations'.*\[1\]"),
        (broken(images=3), r"must have the lists"),
        (broken(images=[{"id": 1}]), r"images\[0\] must have 'file_name'"),
        (
            broken(images=[{"id": [1], "file_name": "a.jpg"}]),
            r"captions\.json: images\[0\] must have a number or .* \[1\]",
        ),
        (
            broken(images=[{"id": 1, "file_name": ["a.jpg"]}]),
            r"images\[0\] must have the name of a file",
        ),
        (
            broken(images=[{"id": 1, "file_name": f} for f in ("a", "b")]),
            r"images\[1\] must have an 'id' of its own. Received: 1.*'a'",
        ),
        (
            broken(annotations=[{"image_id": {}, "caption": "x"}]),
            r"annotations\[0\] must have a number or a text as 'image_id'",
        ),
        (broken(annotations=["x"]), r"annotations\[0\] must have 'image_id'"),
        (
            broken(annotations=[{"image_id": 1, "caption": "x"}]),
            r"annotations\[0\] must be of one of the 40.*image_id 1",
        ),
        (
            broken(annotations=[{"image_id": 100, "caption": " "}]),
            r"annotations\[0\] must have a caption",
        ),
        (broken(annotations=[]), "must have captions. Received: none"),
        (content(0, 1), "`test` is to be split off|`validation` is to be"),
    ],
)
def test_what_cannot_be_read_is_told(tmp_path, images, data, message):
    with pytest.raises(ValueError, match=message):
        load_coco_captions(write(tmp_path, data), images)


def test_a_missing_file_and_an_empty_folder_are_told(tmp_path):
    with pytest.raises(ValueError, match=r"nowhere\.json.*does not exist"):
        load_coco_captions(tmp_path / "nowhere.json", tmp_path)
    with pytest.raises(ValueError, match="`images` must hold pictures"):
        load_coco_captions(write(tmp_path, content()), tmp_path)
