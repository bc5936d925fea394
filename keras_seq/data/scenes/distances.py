"""Outlines of shapes as distances: below 0 inside, above 0 outside.

From a distance the share of a pixel that a shape covers follows at once
(`coverage`), so edges are smooth at any size without drawing them larger.
`x` grows to the right and `y` downwards; all take and give arrays.
"""

import numpy as np


def coverage(distance):
    """Return how much of each pixel is covered; `distance` is in pixels."""
    return np.clip(0.5 - distance, 0.0, 1.0)


def circle(x, y, radius, at=(0.0, 0.0)):
    """A disc."""
    return np.hypot(x - at[0], y - at[1]) - radius


def ellipse(x, y, radii, at=(0.0, 0.0)):
    """An ellipse; right at its edge, close to right elsewhere."""
    x, y = (x - at[0]) / radii[0], (y - at[1]) / radii[1]
    size = np.hypot(x, y)
    slope = np.hypot(x / radii[0], y / radii[1])
    return size * (size - 1.0) / np.maximum(slope, 1e-6)


def box(x, y, half, at=(0.0, 0.0), corner=0.0):
    """A rectangle of `half` its width and height, with rounded corners."""
    x = np.abs(x - at[0]) - half[0] + corner
    y = np.abs(y - at[1]) - half[1] + corner
    outside = np.hypot(np.maximum(x, 0.0), np.maximum(y, 0.0))
    return outside + np.minimum(np.maximum(x, y), 0.0) - corner


def polygon(x, y, points, corner=0.0):
    """Any polygon that does not cross itself, with rounded corners."""
    nearest = np.full(np.shape(x), np.inf)
    sign = np.ones(np.shape(x))
    points = [(float(a), float(b)) for a, b in points]
    for (ax, ay), (bx, by) in zip(points, points[1:] + points[:1], strict=True):
        ex, ey = bx - ax, by - ay
        px, py = x - ax, y - ay
        along = np.clip((px * ex + py * ey) / (ex * ex + ey * ey), 0.0, 1.0)
        gap = (px - along * ex) ** 2 + (py - along * ey) ** 2
        nearest = np.minimum(nearest, gap)
        # An edge that a ray to the right crosses changes the side.
        crosses = (ay <= y) != (by <= y)
        left = (ex * py - ey * px) * (1.0 if ey > 0 else -1.0) > 0
        sign = np.where(crosses & left, -sign, sign)
    return sign * np.sqrt(nearest) - corner


def star_points(count, outer, inner):
    """Return the corners of a star that stands on two of its points."""
    turns = np.arange(2 * count) * np.pi / count
    radii = np.where(np.arange(2 * count) % 2, inner, outer)
    return np.stack([radii * np.sin(turns), -radii * np.cos(turns)], axis=1)


def union(*distances):
    """What is in any of the shapes."""
    return np.minimum.reduce(distances)


def cut(distance, *others):
    """What is in the first shape and in none of the others."""
    return np.maximum.reduce([distance, *(-other for other in others)])
