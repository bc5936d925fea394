"""Captioners of a few numbers, and pictures to give them."""

import keras
import numpy as np

from keras_seq.data import CaptionedImages, ImageFiles
from keras_seq.data.png import encode_png
from keras_seq.models import (
    show_and_tell,
    show_attend_tell,
    transformer_captioner,
)
from keras_seq.tasks.captioner import Captioner
from keras_seq.text import WordTokenizer
from keras_seq.vision import small_cnn

WORDS = ["a", "red", "green", "blue", "cup", "car"]
MAKERS = {
    "show_and_tell": show_and_tell,
    "soft": show_attend_tell,
    "hard": lambda *a, **k: show_attend_tell(*a, attention="hard", **k),
    "transformer": transformer_captioner,
}


def toy_captioner(model="soft", **overrides):
    """Return a captioner that was never trained, of pictures 28 x 20."""
    keras.utils.set_random_seed(0)
    tokenizer = WordTokenizer(WORDS)
    make = MAKERS[model]
    return Captioner(
        tokenizer,
        make(tokenizer.vocabulary_size, feature_dim=6, preset="test"),
        small_cnn(widths=(4, 6)),
        **{"image_size": (28, 20), "max_length": 7, **overrides},
    )


def talkative_captioner(settings=None):
    """Return one that says words, though it was never trained."""
    # With more beams, a caption that ends at once goes before one that is cut.
    captioner = toy_captioner(settings={**(settings or {}), "beam_size": 1})
    (table, *_) = captioner.model.embedding.weights
    values = 8 * keras.ops.convert_to_numpy(table)
    values[captioner.tokenizer.end_id] = 0  # the end is never the likeliest
    table.assign(values)
    return captioner


def toy_images(count=3, seed=0):
    rng = np.random.default_rng(seed)
    return list(rng.integers(0, 256, (count, 28, 20, 3), dtype="uint8"))


def toy_files(folder, count=3, seed=0):
    """Write PNG files; return their paths."""
    paths = [folder / f"{n}.png" for n in range(count)]
    for path, image in zip(paths, toy_images(count, seed), strict=True):
        path.write_bytes(encode_png(image))
    return paths


def file_dataset(folder, bad=(), seed=0):
    paths = toy_files(folder, 9, seed)
    for path in bad:
        (folder / path).write_bytes(b"<html>404</html>")
    names = np.array([path.name for path in paths], object)
    captions = np.empty(9, object)
    captions[:] = [
        ("A red cup .", f"Cup {n} on the left")[: 1 + n % 2] for n in range(9)
    ]
    columns = {"name": names, "captions": captions}
    return CaptionedImages(
        "files_of_toys",
        "CC0",
        {
            s: {k: v[a:b] for k, v in columns.items()}
            for s, a, b in (
                ("train", 0, 6),
                ("validation", 6, 8),
                ("test", 8, 9),
            )
        },
        files=ImageFiles(folder),
    )


class ToyGold:
    """The box of the square, which every word but the articles is about."""

    def __init__(self, colour, box):
        self.true, self.box = {colour, "square"}, box

    def boxes_of(self, words):
        return [(self.box,) if word in self.true else () for word in words]


def toy_dataset(size=120, seed=0):
    """Squares of three colours, anywhere on a grey picture."""
    rng = np.random.default_rng(seed)
    colours = {"red": 0, "green": 1, "blue": 2}

    def split(count):
        images = rng.integers(90, 110, (count, 24, 24, 3)).astype("uint8")
        captions, gold = np.empty(count, object), []
        for row in range(count):
            colour = str(rng.choice(list(colours)))
            left, top = rng.integers(0, 14, 2)
            square = images[row, top : top + 10, left : left + 10]
            square[:] = 20
            square[..., colours[colour]] = 230
            captions[row] = (
                f"A {colour} square.",
                f"There is a {colour} square .",
            )
            gold.append(ToyGold(colour, (left, top, left + 10, top + 10)))
        return {"image": images, "captions": captions}, tuple(gold)

    parts = {
        "train": split(size),
        "validation": split(20),
        "test": split(20),
    }
    return CaptionedImages(
        "toy",
        "CC0",
        {name: columns for name, (columns, _) in parts.items()},
        {name: gold for name, (_, gold) in parts.items()},
    )


# Enough for a small model to learn it, in few updates.
SETTINGS = {
    "preset": "test",
    "vision": "small_cnn",
    "image_size": (24, 24),
    "cnn_widths": (8, 12),
    "dropout": 0.0,
    "label_smoothing": 0.0,
    "average_decay": 0.0,
    "captions_per_image": 2,
    "batch_size": 24,
    "learning_rate": 1e-2,
    "warmup_steps": 5,
    "max_length": 8,
}
