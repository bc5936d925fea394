"""Where scenes play: places painted over the whole picture.

Each painter takes a random generator and grids `x`, `y` from 0 to 1 and
returns the picture, `(H, W, 3)` from 0 to 255, and where its parts are:
`{part: (left, top, right, bottom)}`, in parts of the picture's side.
"""

import numpy as np


def meadow(rng, x, y):
    """Grass under clouds."""
    horizon = rng.uniform(0.34, 0.44)
    image = _gradient(y / horizon, (126, 188, 240), (214, 236, 250))
    _clouds(rng, image, x, y, horizon)
    hill = horizon + 0.025 * _wave(rng, x)
    grass = _gradient(
        (y - horizon) / (1 - horizon), (150, 200, 92), (86, 150, 56)
    )
    grass += _blades(rng, x, y)[..., np.newaxis] * np.array((10, 16, 6))
    _cover(image, y - hill, grass)
    return image, {"sky": (0, 0, 1, horizon), "ground": (0, horizon, 1, 1)}


def beach(rng, x, y):
    """Sand before the sea."""
    horizon = rng.uniform(0.26, 0.34)
    shore = horizon + rng.uniform(0.14, 0.2)
    image = _gradient(y / horizon, (120, 196, 246), (222, 242, 252))
    sea = _gradient(
        (y - horizon) / (shore - horizon), (18, 122, 168), (86, 196, 206)
    )
    _cover(image, y - horizon, sea)
    line = shore + 0.012 * _wave(rng, x, 3)
    foam = np.broadcast_to(np.array((248, 252, 252), "float64"), image.shape)
    _cover(image, y - line, foam)
    sand = _gradient(
        (y - shore) / (1 - shore), (240, 218, 168), (222, 190, 132)
    )
    sand += _speckle(rng, x)[..., np.newaxis] * 9
    _cover(image, y - line - 0.018, sand)
    return image, {
        "sky": (0, 0, 1, horizon),
        "sea": (0, horizon, 1, shore),
        "ground": (0, shore, 1, 1),
    }


def snow(rng, x, y):
    """Two hills of snow, and flakes."""
    horizon = rng.uniform(0.36, 0.46)
    image = _gradient(y / horizon, (150, 168, 192), (206, 216, 228))
    for depth, tone in ((0.0, (186, 204, 224)), (0.06, (232, 240, 250))):
        hill = horizon + depth + 0.03 * _wave(rng, x)
        ground = _gradient(
            (y - hill) / (1 - horizon), np.array(tone) + 8, np.array(tone) - 10
        )
        _cover(image, y - hill, ground)
    _dots(rng, image, x, y, 26, (0.006, 0.011), (255, 255, 255), 0.9)
    return image, {"sky": (0, 0, 1, horizon), "ground": (0, horizon, 1, 1)}


def night(rng, x, y):
    """Stars over dark land."""
    horizon = rng.uniform(0.66, 0.76)
    image = _gradient(y / horizon, (14, 18, 52), (52, 52, 112))
    _dots(rng, image, x, y, 34, (0.004, 0.009), (255, 250, 214), 0.95, horizon)
    hill = horizon + 0.03 * _wave(rng, x)
    ground = _gradient(
        (y - horizon) / (1 - horizon), (34, 44, 62), (20, 26, 40)
    )
    _cover(image, y - hill, ground)
    return image, {"sky": (0, 0, 1, horizon), "ground": (0, horizon, 1, 1)}


def desert(rng, x, y):
    """Dunes under the sun."""
    horizon = rng.uniform(0.38, 0.48)
    image = _gradient(y / horizon, (250, 190, 110), (254, 232, 178))
    radius, at = rng.uniform(0.06, 0.08), rng.uniform(0.12, 0.88)
    high = rng.uniform(0.11, 0.16)
    gap = np.hypot(x - at, y - high)
    glow = np.exp(-np.maximum(gap - radius, 0) / 0.07)[..., np.newaxis]
    image += 0.5 * glow * (np.array((255, 250, 226)) - image)
    disc = np.broadcast_to(np.array((255, 248, 216), "float64"), image.shape)
    _cover(image, radius - gap, disc)
    for depth, tone in ((0.0, (226, 156, 92)), (0.16, (206, 128, 68))):
        dune = horizon + depth + 0.05 * _wave(rng, x)
        ground = _gradient(
            (y - dune) / (1 - horizon), np.array(tone) + 14, np.array(tone) - 14
        )
        _cover(image, y - dune, ground)
    return image, {
        "sky": (0, 0, 1, horizon),
        "sun": (at - radius, high - radius, at + radius, high + radius),
        "ground": (0, horizon, 1, 1),
    }


def wall(rng, x, y):
    """A brick wall and a wooden floor."""
    floor = rng.uniform(0.66, 0.74)
    tall, wide = 0.075, 0.17
    row = np.floor(y / tall)
    across = x / wide + 0.5 * (row % 2) + rng.random()
    brick = np.floor(across)
    # Each brick has its own tone, found by mixing up its place.
    tone = np.sin(row * 12.9898 + brick * 78.233 + rng.random()) * 43758.5453
    tone = (tone % 1.0 - 0.5)[..., np.newaxis] * 26
    image = np.array((186, 112, 88), "float64") + tone
    gap = np.minimum(
        0.5 * wide - np.abs(across % 1.0 - 0.5) * wide,
        0.5 * tall - np.abs((y / tall) % 1.0 - 0.5) * tall,
    )
    mortar = np.broadcast_to(np.array((214, 200, 184), "float64"), image.shape)
    _cover(image, 0.006 - gap, mortar)
    plank = np.floor(x / 0.2 + rng.random())
    wood = _gradient((y - floor) / (1 - floor), (164, 112, 66), (132, 86, 48))
    wood += (((plank * 7.13) % 1.0 - 0.5) * 22)[..., np.newaxis]
    _cover(image, y - floor, wood)
    return image, {"wall": (0, 0, 1, floor), "ground": (0, floor, 1, 1)}


BACKGROUNDS = {
    painter.__name__: painter
    for painter in (beach, desert, meadow, night, snow, wall)
}


def _gradient(share, top, bottom):
    top, bottom = np.array(top, "float64"), np.array(bottom, "float64")
    return top + np.clip(share, 0, 1)[..., np.newaxis] * (bottom - top)


def _cover(image, inside, colours):
    """Lay `colours` over `image` where `inside` is above 0, smoothly."""
    much = np.clip(0.5 + inside * image.shape[0], 0, 1)[..., np.newaxis]
    image += much * (colours - image)


def _wave(rng, x, least=1):
    a, b = rng.uniform(0, 2 * np.pi, 2)
    return np.sin(2 * np.pi * least * x + a) + 0.4 * np.sin(
        2 * np.pi * (2 * least + 1) * x + b
    )


def _speckle(rng, x):
    return rng.standard_normal(x.shape)


def _blades(rng, x, y):
    """Short strokes that stand up: noise, drawn out downwards."""
    noise = rng.standard_normal(x.shape)
    return (noise + np.roll(noise, 1, 0) + np.roll(noise, 2, 0)) / 1.8


def _clouds(rng, image, x, y, horizon):
    for _ in range(rng.integers(1, 4)):
        at, high = rng.uniform(0, 1), rng.uniform(0.2, 0.65) * horizon
        for shift in (-0.06, 0.0, 0.06):
            gap = np.hypot((x - at - shift) / 1.5, y - high - abs(shift) / 4)
            much = 0.85 * np.clip((0.042 - gap) * 40, 0, 1)[..., np.newaxis]
            image += much * (255 - image)


def _dots(rng, image, x, y, count, radii, colour, much, lowest=1.0):
    """Small discs, each painted in the few pixels around it."""
    height, width = image.shape[:2]
    for _ in range(count):
        at, high = rng.uniform(0, 1), rng.uniform(0, lowest)
        radius = rng.uniform(*radii)
        rows = _around(high, radius, height)
        cols = _around(at, radius, width)
        patch = image[rows, cols]
        gap = np.hypot(x[rows, cols] - at, y[rows, cols] - high)
        alpha = much * np.clip(0.5 + (radius - gap) * height, 0, 1)
        patch += alpha[..., np.newaxis] * (np.array(colour) - patch)


def _around(centre, radius, size):
    low = int((centre - radius) * size) - 1
    return slice(max(low, 0), int((centre + radius) * size) + 2)
