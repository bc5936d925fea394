"""Which data captioning knows, and what it makes of captions."""

import json

import pytest

from keras_seq.data.png import encode_png
from keras_seq.tasks.captioning_data import (
    clean_caption,
    encode_captions,
    load_data,
    may_be_mirrored,
)
from keras_seq.text import WordTokenizer
from tests.tasks.captioning_toy import toy_images

pytestmark = pytest.mark.tensorflow


def write_coco(folder, part, count, name=None):
    images = toy_images(count)
    (folder / part).mkdir(parents=True)
    for n, image in enumerate(images):
        (folder / part / f"{part}{n}.png").write_bytes(encode_png(image))
    content = {
        "images": [
            {"id": n, "file_name": f"{part}{n}.png"} for n in range(count)
        ],
        "annotations": [
            {"image_id": n % count, "caption": f"A {part} picture, {n}."}
            for n in range(5 * count)
        ],
    }
    path = folder / (name or f"annotations/captions_{part}2017.json")
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content))
    return path


def test_coco_is_found_in_its_own_folders(tmp_path):
    write_coco(tmp_path / "coco", "train", 41)
    write_coco(tmp_path / "coco", "val", 3)
    dataset = load_data("coco", tmp_path)
    assert dataset.sizes["test"] == 3
    assert dataset.sizes["train"] + dataset.sizes["validation"] == 41
    assert dataset.image_bytes("test", 0)[:4] == b"\x89PNG"
    (tmp_path / "coco/annotations/captions_val2017.json").unlink()
    with pytest.raises(ValueError, match=r"captions_val\*.json"):
        load_data("coco", tmp_path)


def test_ones_own_captions_and_pictures(tmp_path):
    path = write_coco(tmp_path, "mine", 61, "captions.json")
    dataset = load_data(f"{path},{tmp_path / 'mine'}")
    assert sum(dataset.sizes.values()) == 61
    assert load_data(dataset) is dataset
    for wrong in ("flickr9k", f"{path},{tmp_path / 'no'}", f"{path}"):
        with pytest.raises(ValueError, match="`data` must be one of"):
            load_data(wrong)


@pytest.mark.parametrize(
    ("caption", "clean"),
    [
        ("A dog .", "a dog"),
        ("Two dogs - one black - run!", "two dogs one black run"),
        ("A boy 's t-shirt's 'fun'", "a boy s t-shirt's fun"),
        ("", ""),
        ("Élan, vital", "élan vital"),
    ],
)
def test_captions_are_words(caption, clean):
    assert clean_caption(caption) == clean


def test_captions_that_do_not_fit_are_left_out():
    tokenizer = WordTokenizer(["a", "b"])
    ids = encode_captions(tokenizer, [["a b", "a b a b"], ["", "a"]], 4)
    assert [[list(r) for r in given] for given in ids] == [[[4, 5]], [[4]]]


def test_sides_cannot_be_mirrored():
    captions = [["on the left"], ["leftover food"], ["a dog"]]
    assert may_be_mirrored(captions).tolist() == [False, False, True]
