"""A picture lit up where attention looks."""

import numpy as np

_DARKEST = 0.22  # what is left of the light where nothing is looked at
_COLOURLESS = 0.75  # and how much of the colour goes
_EDGE = np.array([255, 176, 32], "float64")  # of the line at half the peak


def as_pixels(image) -> np.ndarray:
    """Return a picture as `(H, W, 3)` uint8.

    Args:
        image: `(H, W)`, `(H, W, 1)`, `(H, W, 3)` or `(H, W, 4)`; integers 0 to
            255, or floats 0 to 1.

    >>> as_pixels(np.ones((2, 3)) / 2).tolist()[0][0]
    [128, 128, 128]
    """
    pixels = np.asarray(image)
    if pixels.ndim == 2:
        pixels = pixels[..., np.newaxis]
    if (
        pixels.ndim != 3
        or pixels.shape[2] not in (1, 3, 4)
        or 0 in pixels.shape
    ):
        raise ValueError(
            "`image` must have the shape (H, W, 3), (H, W, 4) or (H, W). "
            f"Received: shape {np.shape(image)}"
        )
    most = 255 if pixels.dtype.kind in "iu" else 1
    if not (np.isfinite(pixels).all() and 0 <= pixels.min() <= pixels.max()):
        raise ValueError("`image` must be finite and positive. Received: not")
    if pixels.max() > most:
        raise ValueError(
            "`image` must be integers from 0 to 255, or floats from 0 to 1. "
            f"Received: {pixels.dtype} up to {pixels.max()}"
        )
    pixels = np.round(pixels * (255 / most)).astype("uint8")[..., :3]
    return np.broadcast_to(pixels, (*pixels.shape[:2], 3)).copy()


def enlarge(pixels, least=320) -> np.ndarray:
    """Return a small picture in a size at which its light looks smooth."""
    import PIL.Image

    height, width = pixels.shape[:2]
    scale = max(1.0, least / max(height, width))
    size = (round(width * scale) or 1, round(height * scale) or 1)
    picture = PIL.Image.fromarray(pixels)
    return np.asarray(picture.resize(size, PIL.Image.Resampling.BICUBIC))


def smooth_map(weights, height, width) -> np.ndarray:
    r"""Spread `(h, w)` weights over `(height, width)` pixels.

    A pixel is the mean of the cells, each counted by
    $e^{-d^2 / 2 \sigma^2}$ of its distance in each direction, with $\sigma$
    half a cell: no squares, no values that are not between those given.

    >>> smooth_map([[0.0, 1.0]], 1, 4).round(2).tolist()
    [[0.05, 0.27, 0.73, 0.95]]
    """
    weights = np.asarray(weights, "float64")
    down = _spread(weights.shape[0], height)  # (height, h)
    along = _spread(weights.shape[1], width)  # (width, w)
    return down @ weights @ along.T


def light(pixels, weights) -> np.ndarray:
    """Return the picture, bright and coloured only where the weights are.

    Light is full at the peak of the map; a line goes round what has at least
    half of that. A map of zeros leaves the picture dark.

    Args:
        pixels: `(H, W, 3)` uint8.
        weights: `(h, w)`, not negative.
    """
    height, width = pixels.shape[:2]
    level = smooth_map(weights, height, width)
    level = level / (level.max() or 1.0)
    colours = pixels.astype("float64")
    grey = colours @ [0.299, 0.587, 0.114]
    amount = level[..., np.newaxis]
    dull = colours + _COLOURLESS * (grey[..., np.newaxis] - colours)
    lit = (amount * colours + (1 - amount) * dull) * (
        _DARKEST + (1 - _DARKEST) * amount
    )
    lit[_edge(level >= 0.5)] = _EDGE
    return np.round(lit).astype("uint8")


def _edge(inside):
    """The pixels of `inside` beside others; three wide at 500 pixels."""
    shrunk = inside.copy()
    for _ in range(max(1, round(max(inside.shape) / 170))):
        around = shrunk.copy()
        around[1:] &= shrunk[:-1]
        around[:-1] &= shrunk[1:]
        around[:, 1:] &= shrunk[:, :-1]
        around[:, :-1] &= shrunk[:, 1:]
        shrunk = around
    return inside & ~shrunk


def _spread(cells, pixels):
    places = (np.arange(pixels) + 0.5) * cells / pixels
    distance = places[:, np.newaxis] - (np.arange(cells) + 0.5)
    shares = np.exp(-(distance**2) / (2 * 0.5**2))
    return shares / shares.sum(axis=1, keepdims=True)
