"""Painted scenes with captions, and boxes that say what each word means.

The painter knows where everything is, so attention can be graded: is its
peak inside the box when the word is said (`explain.pointing_accuracy`).
"""

import dataclasses
import itertools
import random

import numpy as np

from keras_seq.data.captioned_images import CaptionedImages
from keras_seq.data.scenes.backgrounds import BACKGROUNDS
from keras_seq.data.scenes.captions import Narrator, spell
from keras_seq.data.scenes.choose import NUM_THINGS, choose_scenes
from keras_seq.data.scenes.meaning import Scene
from keras_seq.data.scenes.painter import paint
from keras_seq.data.scenes.things import DRAWINGS

LICENCE = "Apache-2.0 (painted by this package)"
SIZE = 96
# What must be left to see of a thing that another one hides in part.
LEAST_SEEN = 0.45
# In the biased set, where two kinds of things always are in training.
BIAS = {"boat": "beach", "car": "desert"}

Box = tuple[int, int, int, int]


@dataclasses.dataclass(frozen=True)
class SceneGold:
    """Where the words of a scene's captions are to be seen.

    A box is `(left, top, right, bottom)` in pixels; right and bottom are
    outside of it. Of a thing partly hidden it holds what can be seen.

    Attributes:
        scene: What was painted.
        things: The box of each thing of `scene`.
        boxes: For each caption, for each of its words (as `split_words` finds
            them), the boxes of what it speaks about: two for "left", which
            is about two things, and none for words like "the".
        words: `{word: boxes}`, of all words that are true of the scene, said
            in the captions or not.
    """

    scene: Scene
    things: tuple[Box, ...]
    boxes: tuple[tuple[tuple[Box, ...], ...], ...]
    words: dict[str, tuple[Box, ...]]

    def boxes_of(self, words) -> list[tuple[Box, ...]]:
        """Return the boxes of any words, like those that a model says.

        Words that say nothing about the picture, or nothing true, have none.
        """
        return [self.words.get(word.lower(), ()) for word in words]


@dataclasses.dataclass(frozen=True, eq=False)
class PaintedScene:
    """A picture, `(size, size, 3)` uint8, its five captions and its gold."""

    image: np.ndarray
    captions: tuple[str, ...]
    gold: SceneGold


def paint_scenes(
    count, seed=0, *, size=SIZE, held_out=False, places=None
) -> list[PaintedScene]:
    """Paint `count` scenes.

    Args:
        count: How many. The first ones do not depend on how many follow.
        seed: The same seed (an integer or a string) gives the same scenes.
        size: Height and width of the pictures, at least 32 pixels.
        held_out: False leaves out every combination of a kind of thing with
            a colour or a texture that is kept for the split `unseen`; True
            paints only scenes that have one.
        places: `{kind: background}`: kinds that are always there, and the
            only ones that are; see `load_biased_scenes`.

    Example:
        >>> (scene,) = paint_scenes(1, seed=3)
        >>> scene.image.shape, len(scene.captions)
        ((96, 96, 3), 5)
    """
    if count < 0:
        raise ValueError(f"`count` must not be negative. Received: {count}")
    if size < 32:
        raise ValueError(f"`size` must be at least 32. Received: {size}")
    _check_places(places or {})
    scenes = _scenes(seed, size, held_out, places)
    return list(itertools.islice(scenes, count))


def load_scenes(
    num_train=6000, num_validation=500, num_test=500, seed=0, *, size=SIZE
) -> CaptionedImages:
    """Return built-in captioned pictures as a data set.

    Fields: `image`, `(size, size, 3)` uint8, and `captions`, five strings.
    Splits: `train`; `validation` and `test`, of the same kind; and `unseen`,
    as large as `test`, in which every picture has a thing in a colour or
    texture that this kind of thing has in no other split. `gold` has a
    `SceneGold` for each picture.

    Args:
        num_train: How many pictures to train on.
        num_validation: How many to choose by.
        num_test: How many to score on, in `test` and in `unseen`.
        seed: The same seed gives the same data.
        size: Height and width of the pictures, at least 32 pixels.

    Example:
        >>> load_scenes(6, 2, 3).sizes
        {'train': 6, 'validation': 2, 'test': 3, 'unseen': 3}
    """
    _check_sizes(num_train, num_validation, num_test)
    drawn = {
        "train": (num_train, {}),
        "validation": (num_validation, {}),
        "test": (num_test, {}),
        "unseen": (num_test, {"held_out": True}),
    }
    return _dataset("scenes", drawn, seed, size)


def load_biased_scenes(
    num_train=6000, num_validation=500, num_test=500, seed=0, *, size=SIZE
) -> CaptionedImages:
    """Return pictures whose training part can be learned for a wrong reason.

    In `train`, `validation` and `aligned` a boat is always on the beach and a
    car always in the desert, and nothing else is the first thing there: the
    place alone gives the word away. In `reversed` it is the other way round:
    boats in the desert and cars on the beach. In `test` everything is
    anywhere. Arguments and fields are those of `load_scenes`; `test`,
    `aligned` and `reversed` have `num_test` pictures each.
    """
    _check_sizes(num_train, num_validation, num_test)
    kinds, places = zip(*BIAS.items(), strict=True)
    swapped = dict(zip(kinds, places[::-1], strict=True))
    drawn = {
        "train": (num_train, {"places": BIAS}),
        "validation": (num_validation, {"places": BIAS}),
        "test": (num_test, {}),
        "aligned": (num_test, {"places": BIAS}),
        "reversed": (num_test, {"places": swapped}),
    }
    return _dataset("biased_scenes", drawn, seed, size)


def _check_sizes(*sizes):
    names = ("num_train", "num_validation", "num_test")
    for name, size in zip(names, sizes, strict=True):
        if size < 1:
            raise ValueError(f"`{name}` must be positive. Received: {size}")


def _check_places(places):
    for kind, background in places.items():
        for what, known in ((kind, DRAWINGS), (background, BACKGROUNDS)):
            if what not in known:
                raise ValueError(
                    "`places` must be of kinds and backgrounds, and "
                    f"{what!r} is none of {sorted(known)}. "
                    f"Received: {dict(places)}"
                )
    if set(BACKGROUNDS) <= set(places.values()):
        raise ValueError(
            "`places` must leave a background to the other kinds. "
            f"Received: {dict(places)}"
        )
    most = len(DRAWINGS) - max(NUM_THINGS)
    if len(places) > most:
        raise ValueError(
            f"`places` must have at most {most} kinds, so that others are "
            f"left. Received: {len(places)}"
        )


def _dataset(name, drawn, seed, size):
    splits, gold = {}, {}
    for split, (count, how) in drawn.items():
        found = paint_scenes(count, f"{seed}/{split}", size=size, **how)
        splits[split] = {
            "image": np.stack([scene.image for scene in found]),
            "captions": np.array([s.captions for s in found], dtype=object),
        }
        gold[split] = tuple(scene.gold for scene in found)
    return CaptionedImages(
        name, LICENCE, splits, gold, notes=(f"Painted with seed {seed}.",)
    )


def _scenes(seed, size, held_out, places):
    rng = random.Random(f"{seed}")
    for scene in choose_scenes(rng, held_out, places):
        image, boxes, shares, regions = paint(scene, size)
        if min(shares) < LEAST_SEEN:
            continue
        narrator = Narrator(rng, scene, boxes, regions)
        captions = narrator.captions()
        yield PaintedScene(
            image,
            tuple(map(spell, captions)),
            SceneGold(
                scene,
                boxes,
                tuple(tuple(b for _, b in tokens) for tokens in captions),
                narrator.words(),
            ),
        )
