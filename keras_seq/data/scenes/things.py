"""What the painter can draw: each thing as parts, each part an outline.

A drawing is a list of `(paint, distance)`, from back to front. The paint
`BODY` is the thing's own colour and texture, `SHADE` the same but darker, and
others are fixed colours. Coordinates run from -1 to 1 and the thing, upright,
fills about a circle of radius 1.
"""

from keras_seq.data.scenes.distances import (
    box,
    circle,
    cut,
    ellipse,
    polygon,
    star_points,
    union,
)

BODY, SHADE = "body", "shade"
WOOD = (122, 78, 44)
CREAM = (250, 240, 214)
GLASS = (196, 230, 246)
DARK = (42, 42, 52)
LAMP = (255, 226, 120)
GREY = (178, 182, 190)


def ball(x, y):
    """A disc."""
    return [(BODY, circle(x, y, 0.88))]


def star(x, y):
    """A star of five points."""
    return [(BODY, polygon(x, y, star_points(5, 0.92, 0.42), corner=0.07))]


def heart(x, y):
    """A heart."""
    lobes = union(*(circle(x, y, 0.5, (at, -0.3)) for at in (-0.42, 0.42)))
    tip = [(-0.8, 0.0), (0.0, -0.45), (0.8, 0.0), (0.0, 0.86)]
    return [(BODY, union(lobes, polygon(x, y, tip, corner=0.03)))]


def house(x, y):
    """A house with a roof, a door and a window."""
    roof = [(-0.94, -0.12), (0.0, -0.9), (0.94, -0.12)]
    return [
        (BODY, box(x, y, (0.7, 0.5), (0, 0.38))),
        (SHADE, polygon(x, y, roof, corner=0.04)),
        (WOOD, box(x, y, (0.17, 0.3), (0.25, 0.58), corner=0.03)),
        (LAMP, box(x, y, (0.18, 0.17), (-0.31, 0.3), corner=0.03)),
    ]


def tree(x, y):
    """A tree with a round crown."""
    crown = union(
        circle(x, y, 0.5, (0, -0.42)),
        circle(x, y, 0.44, (-0.42, 0.02)),
        circle(x, y, 0.44, (0.42, 0.02)),
        circle(x, y, 0.3, (0, 0.1)),
    )
    return [
        (WOOD, box(x, y, (0.14, 0.42), (0, 0.52), corner=0.03)),
        (BODY, crown),
    ]


def car(x, y):
    """A car that drives to the right."""
    cabin = [(-0.55, -0.05), (-0.36, -0.5), (0.3, -0.5), (0.56, -0.05)]
    panes = [(-0.4, -0.08), (-0.28, -0.38), (0.23, -0.38), (0.4, -0.08)]
    wheels = union(*(circle(x, y, 0.24, (at, 0.42)) for at in (-0.48, 0.48)))
    hubs = union(*(circle(x, y, 0.1, (at, 0.42)) for at in (-0.48, 0.48)))
    pane = polygon(x, y, panes, corner=0.02)
    return [
        (BODY, polygon(x, y, cabin, corner=0.06)),
        (GLASS, cut(pane, box(x, y, (0.035, 0.4), (0.0, -0.2)))),
        (BODY, box(x, y, (0.96, 0.25), (0, 0.16), corner=0.13)),
        (LAMP, circle(x, y, 0.08, (0.84, 0.1))),
        (DARK, wheels),
        (GREY, hubs),
    ]


def boat(x, y):
    """A boat with two sails."""
    hull = [(-0.92, 0.28), (0.92, 0.28), (0.56, 0.78), (-0.56, 0.78)]
    jib = [(0.06, -0.86), (0.66, 0.1), (0.06, 0.1)]
    sail = [(-0.08, -0.7), (-0.08, 0.1), (-0.6, 0.1)]
    return [
        (WOOD, box(x, y, (0.05, 0.58), (0, -0.32), corner=0.02)),
        (CREAM, union(polygon(x, y, jib, 0.02), polygon(x, y, sail, 0.02))),
        (BODY, polygon(x, y, hull, corner=0.05)),
    ]


def fish(x, y):
    """A fish that swims to the right."""
    tail = [(-0.42, 0.0), (-0.92, -0.46), (-0.76, 0.0), (-0.92, 0.46)]
    fin = [(-0.2, -0.35), (0.06, -0.74), (0.32, -0.35)]
    return [
        (SHADE, polygon(x, y, tail, corner=0.05)),
        (SHADE, polygon(x, y, fin, corner=0.04)),
        (BODY, ellipse(x, y, (0.72, 0.48), (0.2, 0.0))),
        (CREAM, circle(x, y, 0.15, (0.54, -0.12))),
        (DARK, circle(x, y, 0.075, (0.57, -0.12))),
    ]


def mushroom(x, y):
    """A mushroom."""
    below = box(x, y, (2.0, 1.0), (0, 1.1))
    stem = [(-0.2, 0.0), (0.2, 0.0), (0.3, 0.84), (-0.3, 0.84)]
    return [
        (CREAM, polygon(x, y, stem, corner=0.06)),
        (BODY, cut(ellipse(x, y, (0.92, 0.86), (0, 0.06)), below)),
    ]


def cup(x, y):
    """A cup with its handle on the right."""
    sides = [(-0.66, -0.56), (0.42, -0.56), (0.3, 0.66), (-0.54, 0.66)]
    handle = cut(
        circle(x, y, 0.42, (0.46, 0.02)), circle(x, y, 0.24, (0.46, 0.02))
    )
    return [
        (SHADE, handle),
        (BODY, polygon(x, y, sides, corner=0.07)),
        (DARK, ellipse(x, y, (0.5, 0.12), (-0.12, -0.52))),
    ]


DRAWINGS = {
    drawing.__name__: drawing
    for drawing in (
        ball,
        boat,
        car,
        cup,
        fish,
        heart,
        house,
        mushroom,
        star,
        tree,
    )
}
# These look the same, or nearly, when they are turned.
ROUND = {"ball", "star"}
