"""Explained captions as files: one picture, animation or page for each."""

import pathlib

LONGEST = 512  # pixels of a side that is drawn


def picture_files(
    path: pathlib.Path, explanations: list[dict], image_size, fit: str
) -> list[pathlib.Path]:
    """Write what a model looked at, and return the files.

    Of one explanation `path` is written; of several, files beside it that
    have the name of the image in theirs. One without a word has none.

    Args:
        path: Its ending says what to draw: `.html`, `.png` or `.gif`.
        explanations: With `image` (a path), `text`, `words`, `attention`.
        image_size: `(H, W)` that the model takes.
        fit: How images come to that size.
    """
    from keras_seq.explain import plot_captioned_attention

    drawn = [one for one in explanations if one["words"]]
    written = []
    for one in drawn:
        place = path
        if len(explanations) > 1:
            stem = pathlib.PurePath(one["image"]).stem
            place = _unused(path, stem, written)
        plot_captioned_attention(
            view(pathlib.Path(one["image"]).read_bytes(), image_size, fit),
            one["words"],
            one["attention"],
            path=place,
            title=one["text"],
        )
        written.append(place)
    return written


def view(contents: bytes, image_size, fit: str):
    """Return what the model sees of an image, `(h, w, 3)` uint8, unbent.

    Args:
        contents: Bytes of the file.
        image_size: `(H, W)` that the model takes.
        fit: How images come to that size: of a stretched one all is seen, in
            its own shape.
    """
    import numpy as np
    import tensorflow as tf

    from keras_seq.vision.image_bytes import MAX_PIXELS, decode_image
    from keras_seq.vision.image_header import read_image_header

    height, width = image_size
    contents = tf.constant(contents)
    header = read_image_header(contents)
    sides = int(header.height), int(header.width)
    if int(header.orientation) >= 5:  # lies on its side
        sides = sides[::-1]
    if fit == "stretch":
        height, width = sides
    scale = min(LONGEST, max(sides)) / max(height, width)
    size = tuple(max(1, round(scale * side)) for side in (height, width))
    pixels = decode_image(contents, size, fit, MAX_PIXELS)
    return np.round(pixels.numpy()).astype("uint8")


def _unused(path, stem, written):
    number, place = 1, path.with_stem(f"{path.stem}-{stem}")
    while place in written:
        number += 1
        place = path.with_stem(f"{path.stem}-{stem}-{number}")
    return place
