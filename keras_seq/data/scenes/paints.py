"""Colours, and the textures that are laid over them."""

import numpy as np

COLOURS = {
    "red": (214, 45, 48),
    "orange": (244, 132, 30),
    "yellow": (250, 208, 44),
    "green": (38, 152, 74),
    "blue": (40, 98, 206),
    "purple": (130, 66, 176),
    "pink": (246, 134, 176),
    "white": (246, 246, 244),
}
TEXTURES = ("plain", "striped", "spotted", "checked")
# A texture's second colour: light on most, and dark on the light ones.
LIGHT, DARK = (255, 250, 236), (70, 66, 84)
NEEDS_DARK = {"yellow", "white", "pink"}


def body_colour(colour, texture, x, y, pixel, shade=1.0):
    """Return `(..., 3)` colours of a surface, lit from the upper left.

    Args:
        colour: A name of `COLOURS`.
        texture: A name of `TEXTURES`.
        x: Where, in the thing's own coordinates, from -1 to 1.
        y: The same.
        pixel: How wide a pixel is in those coordinates, for smooth edges.
        shade: Below 1 is darker.
    """
    first = np.array(COLOURS[colour], "float64") * shade
    light = 1.0 - 0.16 * np.clip(x + y, -1.2, 1.2)[..., np.newaxis]
    surface = first * light
    if texture != "plain":
        ink = DARK if colour in NEEDS_DARK else LIGHT
        second = np.array(ink, "float64") * shade * np.minimum(light, 1.0)
        edge = pattern(texture, x, y) / pixel
        much = 0.85 * np.clip(0.5 - edge, 0.0, 1.0)[..., np.newaxis]
        surface = surface + much * (second - surface)
    return surface


def pattern(texture, x, y):
    """Return a distance, below 0 where the second colour is."""
    if texture == "striped":  # Bands that run down.
        return np.abs((x / 0.4) % 1.0 - 0.5) * 0.4 - 0.09
    if texture == "spotted":  # Discs, each other row moved by half.
        row = np.floor(y / 0.36)
        across = (x / 0.42 + 0.5 * (row % 2)) % 1.0 - 0.5
        return np.hypot(across * 0.42, (y / 0.36) % 1.0 * 0.36 - 0.18) - 0.11
    if texture == "checked":  # The signs of two waves.
        wide = 0.5
        a, b = (np.abs((t / wide) % 1.0 - 0.5) - 0.25 for t in (x, y))
        return np.sign(a * b) * np.minimum(np.abs(a), np.abs(b)) * wide
    raise ValueError(
        f"`texture` must be one of {TEXTURES}. Received: {texture!r}"
    )
