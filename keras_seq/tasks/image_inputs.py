"""Pictures as users hand them over: bytes, paths or pixels."""

import os
import warnings

import numpy as np
import tensorflow as tf

from keras_seq.vision.read_images import read_image

_NAMED = 5  # of the pictures that could not be read, so many are named


def read_inputs(images, size, fit="stretch"):
    """Read pictures; those that cannot be read do not stop the others.

    Args:
        images: A list of: `bytes`, the contents of a file; `str` or a path, a
            file; or pixels `(height, width, 3)`, 0 to 255, of any size.
        size: `(H, W)` in pixels to make of them.
        fit: As in `vision.decode_images`; pixels are always stretched.

    Returns:
        `(pixels, failures)`: `(n, H, W, 3)` float32 of those that could be
        read, in order; and `{place in the list: why not}` of the others.

    Example:
        >>> pixels, failures = read_inputs([np.ones((9, 9, 3)), b"?"], (7, 5))
        >>> pixels.shape, failures
        ((1, 7, 5, 3),
         {1: '`image_bytes` must be a JPEG, PNG, GIF or BMP file. ...'})
    """
    found, failures = [], {}
    for place, image in enumerate(as_list(images)):
        pixels, failure = _read(image, size, fit)
        if failure is None:
            found.append(pixels)
        else:
            failures[place] = failure
    empty = np.zeros((0, *size, 3), "float32")
    return (np.stack(found) if found else empty), failures


def as_list(images) -> list:
    """Return pictures as a list, also if it is one alone."""
    if isinstance(images, (str, bytes, os.PathLike)):
        return [images]
    if getattr(images, "ndim", None) == 3:  # the pixels of one
        return [images]
    return list(images)


def name_of(image, place) -> str:
    """Say which picture it is, in a message."""
    if isinstance(image, (str, os.PathLike)):
        return os.fspath(image)
    return f"images[{place}]"


def warn_of(failures, images, stacklevel) -> None:
    """Warn of pictures that could not be read, naming the first ones."""
    if not failures:
        return
    images = as_list(images)
    named = [
        f"{name_of(images[place], place)}: {why}"
        for place, why in list(failures.items())[:_NAMED]
    ]
    more = len(failures) - len(named)
    warnings.warn(
        f"{len(failures)} of {len(images)} pictures could not be read: "
        + "; ".join(named)
        + (f"; and {more} more" if more else ""),
        stacklevel=stacklevel + 1,
    )


def _read(image, size, fit):
    if isinstance(image, bytes):
        return read_image(lambda: image, size, fit)
    if isinstance(image, (str, os.PathLike)):
        return read_image(lambda: _contents(image), size, fit)
    try:
        pixels = np.asarray(image, "float32")
    except (TypeError, ValueError):
        pixels = np.zeros(0)
    if pixels.ndim != 3 or pixels.shape[-1] != 3 or not pixels.size:
        return None, (
            "a picture must be bytes, a path or pixels (height, width, 3). "
            f"Received: {type(image).__name__} of shape {np.shape(pixels)}"
        )
    if pixels.shape[:2] != tuple(size):
        resized = tf.image.resize(
            pixels, size, tf.image.ResizeMethod.BICUBIC, antialias=True
        )
        pixels = np.clip(resized.numpy(), 0, 255)
    return pixels, None


def _contents(path):
    with open(path, "rb") as file:
        return file.read()
