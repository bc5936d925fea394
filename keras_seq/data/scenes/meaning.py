"""What a scene says, before it is painted or put into words."""

import dataclasses

SIZES = ("small", "medium", "big")
POSES = ("upright", "tilted", "upside-down")
# A relation, and what it is seen from the other thing.
RELATIONS = {
    "left": "right",
    "right": "left",
    "above": "below",
    "below": "above",
    "front": "behind",
    "behind": "front",
}


@dataclasses.dataclass(frozen=True)
class Thing:
    """One thing in a scene.

    Attributes:
        kind: What it is, a name of `things.DRAWINGS`.
        colour: A name of `paints.COLOURS`.
        size: One of `SIZES`.
        texture: One of `paints.TEXTURES`.
        pose: One of `POSES`.
        centre: `(x, y)`, in parts of the picture's side.
        radius: Of the circle it fills, in parts of the picture's side.
        turn: By how much it is turned, in radians, clockwise.
    """

    kind: str
    colour: str
    size: str
    texture: str
    pose: str
    centre: tuple[float, float]
    radius: float
    turn: float

    @property
    def combinations(self):
        """The pairs of attributes that a split may keep for itself."""
        pairs = [(self.kind, self.colour)]
        if self.texture != "plain":
            pairs.append((self.kind, self.texture))
        return pairs


@dataclasses.dataclass(frozen=True)
class Scene:
    """Things before a background.

    Attributes:
        background: A name of `backgrounds.BACKGROUNDS`.
        things: One to three; later ones are painted over earlier ones.
        relation: `(thing, name, other thing)`, the things counted from 0 and
            the name one of `RELATIONS`; None if there is one thing only.
        seed: Makes what is left to chance in the background.
    """

    background: str
    things: tuple[Thing, ...]
    relation: tuple[int, str, int] | None
    seed: int
