"""The painter: pictures, words and boxes that say the same thing."""

import io
import itertools

import numpy as np
import PIL.Image
import pytest

from keras_seq.data import (
    encode_png,
    load_biased_scenes,
    load_scenes,
    paint_scenes,
    split_words,
)
from keras_seq.data.scenes import wording
from keras_seq.data.scenes.backgrounds import BACKGROUNDS
from keras_seq.data.scenes.choose import is_held_out
from keras_seq.data.scenes.paints import COLOURS, TEXTURES
from keras_seq.data.scenes.things import DRAWINGS

pytestmark = pytest.mark.tensorflow


@pytest.fixture(scope="module")
def scenes():
    return paint_scenes(400, "test")


@pytest.fixture(scope="module")
def biased():
    return load_biased_scenes(60, 5, 60, size=32)


def centre(box):
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def test_every_content_word_has_boxes_inside_the_picture(scenes):
    listed = "a an the is there we see picture of and in on to by at under"
    function_words = {*listed.split(), ",", "."}
    for scene in scenes:
        for caption, boxes in zip(
            scene.captions, scene.gold.boxes, strict=True
        ):
            words = split_words(caption.lower())
            for word, found in zip(words, boxes, strict=True):
                assert bool(found) == (word not in function_words), caption
                for left, top, right, bottom in found:
                    assert 0 <= left < right <= 96
                    assert 0 <= top < bottom <= 96


def test_captions_of_a_scene_differ(scenes):
    assert all(len(set(scene.captions)) == 5 for scene in scenes)


def test_what_a_caption_calls_a_thing_is_true_of_it(scenes):
    for scene in scenes:
        for caption, boxes in zip(
            scene.captions, scene.gold.boxes, strict=True
        ):
            for word, found in zip(split_words(caption), boxes, strict=True):
                if word in DRAWINGS:
                    (thing,) = [
                        t for t in scene.gold.scene.things if t.kind == word
                    ]
                    at = scene.gold.scene.things.index(thing)
                    assert found == (scene.gold.things[at],)
                if found:
                    assert set(found) <= set(scene.gold.words[word.lower()])


def test_a_plain_thing_has_its_colour_in_its_box(scenes):
    seen = 0
    for scene in scenes:
        for thing, box in zip(
            scene.gold.scene.things, scene.gold.things, strict=True
        ):
            if thing.kind != "ball" or thing.texture != "plain":
                continue
            left, top, right, bottom = box
            pixels = scene.image[top:bottom, left:right].reshape(-1, 3)
            gap = np.abs(pixels - np.array(COLOURS[thing.colour], float))
            assert (gap.max(axis=1) < 45).mean() > 0.3, thing
            seen += 1
    assert seen > 10


def test_relations_are_to_be_seen(scenes):
    seen = set()
    for scene in scenes:
        if not scene.gold.scene.relation:
            continue
        one, name, two = scene.gold.scene.relation
        (ax, ay), (bx, by) = (centre(scene.gold.things[n]) for n in (one, two))
        holds = {
            "left": ax < bx,
            "right": ax > bx,
            "above": ay < by,
            "below": ay > by,
            "front": one > two,  # painted later
            "behind": one < two,
        }
        assert holds[name], (name, scene.captions)
        seen.add(name)
    assert seen == set(wording.RELATION_WORDS)


def test_seed_and_count_decide_and_nothing_else():
    few, many = paint_scenes(3, 5, size=32), paint_scenes(7, 5, size=32)
    for one, other in zip(few, many[:3], strict=True):
        assert (one.image == other.image).all()
        assert one.captions == other.captions and one.gold == other.gold
    assert paint_scenes(1, 6, size=32)[0].captions != few[0].captions


def test_unseen_combinations_are_in_no_other_split():
    dataset = load_scenes(300, 20, 40, size=32)
    pairs = {
        split: [
            set(itertools.chain(*(t.combinations for t in gold.scene.things)))
            for gold in dataset.gold[split]
        ]
        for split in dataset.sizes
    }
    trained = set().union(*pairs["train"], *pairs["validation"], *pairs["test"])
    assert all(found - trained for found in pairs["unseen"])
    assert not any(itertools.starmap(is_held_out, trained))
    # Every part of what is unseen together was seen apart.
    assert {k for k, _ in trained} == set(DRAWINGS)
    assert {v for _, v in trained} == {*COLOURS, *TEXTURES} - {"plain"}


def test_the_bias_holds_in_training_and_is_reversed(biased):
    def places(split, kind):
        return {
            gold.scene.background
            for gold in biased.gold[split]
            if kind in [thing.kind for thing in gold.scene.things]
        }

    assert places("train", "boat") == places("aligned", "boat") == {"beach"}
    assert places("train", "car") == {"desert"}
    assert places("reversed", "boat") == {"desert"}
    assert places("reversed", "car") == {"beach"}
    assert len(places("test", "boat")) > 2


def test_png_bytes_are_the_picture(biased):
    decoded = PIL.Image.open(io.BytesIO(biased.image_bytes("test", 2)))
    assert (np.asarray(decoded) == biased.columns("test")["image"][2]).all()
    with pytest.raises(ValueError, match="`image`.*Received"):
        encode_png(np.zeros((4, 4)))


def test_tf_data_gives_pictures_and_captions(biased):
    example = next(iter(biased.train))
    assert example["image"].shape == (32, 32, 3)
    assert example["captions"].shape == (5,)


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="`size`.*Received: 8"):
        paint_scenes(1, size=8)
    with pytest.raises(ValueError, match="`num_test`.*Received: 0"):
        load_scenes(1, 1, 0)


@pytest.mark.parametrize(
    ("places", "message"),
    [
        (
            {"cat": "beach"},
            r"`places`.*'cat' is none of \['ball', 'boat', 'car'",
        ),
        (
            {"car": "moon"},
            r"'moon' is none of \['beach', 'desert'.*'car': 'moon'",
        ),
        (
            dict(zip(sorted(DRAWINGS), sorted(BACKGROUNDS), strict=False)),
            "leave a",
        ),
        (dict.fromkeys(DRAWINGS, "snow"), "at most 7 kinds.*Received: 10"),
    ],
)
def test_places_that_are_none_are_refused(places, message):
    with pytest.raises(ValueError, match=message):
        paint_scenes(1, places=places)
    most = dict.fromkeys(sorted(DRAWINGS)[:7], "snow")
    assert len(paint_scenes(2, places=most, size=32)) == 2
