"""Captioners of a few numbers, and pictures to give them."""

import keras
import numpy as np

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


def toy_images(count=3, seed=0):
    rng = np.random.default_rng(seed)
    return list(rng.integers(0, 256, (count, 28, 20, 3), dtype="uint8"))


def toy_files(folder, count=3, seed=0):
    """Write PNG files; return their paths."""
    paths = [folder / f"{n}.png" for n in range(count)]
    for path, image in zip(paths, toy_images(count, seed), strict=True):
        path.write_bytes(encode_png(image))
    return paths
