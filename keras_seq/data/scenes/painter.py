"""Turn a scene into pixels, and say where each thing can be seen."""

import functools

import numpy as np

from keras_seq.data.scenes import things
from keras_seq.data.scenes.backgrounds import BACKGROUNDS
from keras_seq.data.scenes.distances import coverage, union
from keras_seq.data.scenes.paints import COLOURS, body_colour

SHADOW = 0.3
# A thing's outline, in parts of the picture's side.
OUTLINE = 0.011


def paint(scene, size):
    """Paint a scene.

    Returns:
        The picture, `(size, size, 3)` uint8; for each thing the box of what
        can be seen of it and how much of it that is, 0 to 1; and the boxes of
        the parts of the background. A box is `(left, top, right, bottom)` in
        pixels; right and bottom are outside of it.
    """
    x, y = _grid(size)
    rng = np.random.default_rng(scene.seed)
    image, parts = BACKGROUNDS[scene.background](rng, x, y)
    owner = np.full((size, size), -1)
    whole = []
    for number, thing in enumerate(scene.things):
        rows, cols, alpha = _paint_thing(image, thing, size)
        inside = alpha > 0.5
        owner[rows, cols][inside] = number
        whole.append(int(inside.sum()))
    boxes, shares = [], []
    for number, area in enumerate(whole):
        seen_y, seen_x = np.nonzero(owner == number)
        shares.append(len(seen_x) / max(area, 1))
        boxes.append(
            (
                int(seen_x.min()),
                int(seen_y.min()),
                int(seen_x.max()) + 1,
                int(seen_y.max()) + 1,
            )
            if len(seen_x)
            else (0, 0, 0, 0)
        )
    regions = {
        part: tuple(round(min(max(edge, 0), 1) * size) for edge in box)
        for part, box in parts.items()
    }
    pixels = np.clip(image + 0.5, 0, 255).astype("uint8")
    return pixels, tuple(boxes), tuple(shares), regions


@functools.cache
def _grid(size):
    places = (np.arange(size) + 0.5) / size
    return tuple(np.meshgrid(places, places))


def _paint_thing(image, thing, size):
    """Paint over `image`; return where, and how much of each pixel."""
    radius = thing.radius * size
    centre = np.array(thing.centre) * size
    reach = int(np.ceil(1.35 * radius)) + 2
    left, top = (int(c) - reach for c in centre)
    cols = slice(max(left, 0), min(left + 2 * reach, size))
    rows = slice(max(top, 0), min(top + 2 * reach, size))
    px, py = np.meshgrid(
        (np.arange(cols.start, cols.stop) + 0.5 - centre[0]) / radius,
        (np.arange(rows.start, rows.stop) + 0.5 - centre[1]) / radius,
    )
    cos, sin = np.cos(thing.turn), np.sin(thing.turn)
    x, y = cos * px + sin * py, cos * py - sin * px
    drawing = things.DRAWINGS[thing.kind](x, y)
    distance = union(*(part for _, part in drawing)) * radius
    width = max(OUTLINE * size, 0.8)
    patch = image[rows, cols]
    # The shadow is the outline moved to the lower right, with a soft edge.
    step = max(round(0.1 * radius), 1)
    moved = np.full_like(distance, radius)
    moved[step:, step:] = distance[:-step, :-step]
    soft = np.clip(0.5 - moved / (4.0 * step), 0, 1)
    patch *= 1.0 - SHADOW * soft[..., np.newaxis]
    alpha = coverage(distance - width)
    _blend(patch, alpha, 0.36 * np.array(COLOURS[thing.colour]))
    for paint_name, part in drawing:
        if paint_name in (things.BODY, things.SHADE):
            shade = 1.0 if paint_name == things.BODY else 0.8
            colours = body_colour(
                thing.colour, thing.texture, x, y, 1.0 / radius, shade
            )
        else:
            colours = np.array(paint_name, "float64")
        _blend(patch, coverage(part * radius), colours)
    # Light that falls from the upper left, on whatever way up it is.
    shine = np.exp(-((px + 0.38) ** 2 + (py + 0.42) ** 2) / 0.09)
    _blend(patch, 0.22 * shine * coverage(distance), 255.0)
    return rows, cols, alpha


def _blend(patch, alpha, colours):
    patch += alpha[..., np.newaxis] * (colours - patch)
