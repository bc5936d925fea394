"""Image files to one array, and what could not be read."""

import os

import numpy as np

from keras_seq.vision.image_bytes import MAX_PIXELS, decode_checked


def read_images(paths, size=(224, 224), fit="crop", max_pixels=MAX_PIXELS):
    """Read image files; those that cannot be read do not stop the others.

    Args:
        paths: List of paths.
        size: `(H, W)` of the images, in pixels.
        fit: "crop" or "stretch", as in `decode_images`.
        max_pixels: Largest number of pixels of a file.

    Returns:
        images, `(n, H, W, 3)` float32 with pixels from 0 to 255, of the files
        that could be read, in their order; and failures, a dict of the paths
        that could not and why.

    Example:
        >>> images, failures = read_images(["no_such.jpg"], size=(7, 5))
        >>> images.shape, failures
        ((0, 7, 5, 3), {'no_such.jpg': 'No such file or directory'})
    """
    if isinstance(paths, (str, os.PathLike)):
        raise ValueError(f"`paths` must be a list. Received: {paths!r}")
    images, failures = [], {}
    for path in paths:
        image, failure = read_image(
            lambda p=path: _read(p), size, fit, max_pixels
        )
        if failure is None:
            images.append(image)
        else:
            failures[str(path)] = failure
    empty = np.zeros((0, *size, 3), "float32")
    return (np.stack(images) if images else empty), failures


def read_image(read, size, fit, max_pixels=MAX_PIXELS):
    """Return `(image, None)`, or `(None, why not)`.

    Args:
        read: Function without arguments that returns the bytes.
        size: As above, and so are the others.
        fit: As above.
        max_pixels: As above.
    """
    try:
        return decode_checked(read(), size, fit, max_pixels), None
    except OSError as error:
        return None, error.strerror or str(error)
    except ValueError as error:
        return None, str(error)


def _read(path):
    with open(path, "rb") as file:
        return file.read()
