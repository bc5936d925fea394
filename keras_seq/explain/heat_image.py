"""A picture under a heat map: the warmer, the more a place counted."""

import numpy as np

from keras_seq.explain.lit_image import smooth_map

# From nothing over cold to hot; between them, colours are mixed. Lightness
# rises all the way, so that the order survives a grey print.
_COLOURS = np.array(
    [
        (30, 20, 80),
        (60, 50, 165),
        (165, 45, 140),
        (235, 85, 60),
        (255, 170, 40),
        (255, 245, 120),
    ],
    "float64",
)
_MOST = 0.62  # what the heat hides of the picture at its peak
_DIM = 0.62  # and what is left of the light where it is cold
_COLOURLESS = 0.6  # and how much of the colour goes


def heat(pixels, weights) -> np.ndarray:
    """Return the picture with the positive part of a map laid over it.

    A map is on its own scale: its largest value is the hottest colour, 0 and
    below is none. A map without a positive value leaves the picture dim.

    Args:
        pixels: `(H, W, 3)` uint8.
        weights: `(h, w)`, signed.

    >>> grey = np.full((4, 4, 3), 100, "uint8")
    >>> heat(grey, [[0.0, 1.0], [-2.0, 0.0]])[0, 3].tolist()
    [196, 190, 112]
    """
    height, width = pixels.shape[:2]
    positive = np.maximum(np.asarray(weights, "float64"), 0.0)
    level = smooth_map(positive, height, width)
    level = level / (level.max() or 1.0)
    colours = pixels.astype("float64")
    grey = (colours @ [0.299, 0.587, 0.114])[..., np.newaxis]
    cold = _DIM * (colours + _COLOURLESS * (grey - colours))
    amount = level[..., np.newaxis]
    # Warm places keep the colours that the picture has there.
    picture = cold + amount * (colours - cold)
    cover = _MOST * amount**1.2
    mixed = (1 - cover) * picture + cover * _colour(level)
    return np.round(mixed).astype("uint8")


def _colour(level):
    places = np.linspace(0, 1, len(_COLOURS))
    channels = [np.interp(level, places, column) for column in _COLOURS.T]
    return np.stack(channels, axis=-1)
