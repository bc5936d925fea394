"""Choose what is in a scene, and where."""

import functools
import itertools
import math
import zlib

from keras_seq.data.scenes.backgrounds import BACKGROUNDS
from keras_seq.data.scenes.meaning import RELATIONS, SIZES, Scene, Thing
from keras_seq.data.scenes.paints import COLOURS, TEXTURES
from keras_seq.data.scenes.things import DRAWINGS, ROUND

# One in this many pairs of attributes is kept out of training.
HELD_OUT_ONE_IN = 7
NUM_THINGS = {1: 30, 2: 48, 3: 22}
RADII = {"small": (0.11, 0.13), "medium": (0.15, 0.17), "big": (0.2, 0.23)}
EDGE = 0.02
TRIES = 40


def choose_scenes(rng, held_out=False, places=None):
    """Yield scenes without end.

    Args:
        rng: A `random.Random`.
        held_out: False leaves out all pairs of attributes that are kept for
            `unseen`; True gives scenes with at least one such pair.
        places: `{kind: background}`: these kinds are only there, and there is
            nothing else but with them. None: everything is anywhere.
    """
    while True:
        scene = _scene(rng, held_out, places or {})
        if scene is None:
            continue
        pairs = itertools.chain(*(t.combinations for t in scene.things))
        if held_out == any(itertools.starmap(is_held_out, pairs)):
            yield scene


@functools.cache
def is_held_out(one, other):
    """Whether the pair is kept for `unseen`; it hangs on the names alone."""
    return zlib.crc32(f"{one}|{other}".encode()) % HELD_OUT_ONE_IN == 0


def _scene(rng, held_out, places):
    (count,) = rng.choices(list(NUM_THINGS), NUM_THINGS.values())
    free_kinds = sorted(set(DRAWINGS) - set(places))
    kinds = rng.sample(free_kinds, count)
    background = rng.choice(sorted(BACKGROUNDS))
    if places:
        # A kind that keeps to a place is in half of all scenes, and comes
        # first: it is what a model may learn from the place alone.
        free = sorted(set(BACKGROUNDS) - set(places.values()))
        background = rng.choice(free)
        if rng.random() < 0.5:
            kinds[0] = rng.choice(sorted(places))
            background = places[kinds[0]]
    relation = rng.choice(sorted(RELATIONS)) if count > 1 else None
    sizes = [rng.choice(SIZES) for _ in kinds]
    if count == 3:  # The third has to find room.
        sizes[2] = "small"
    radii = [rng.uniform(*RADII[size]) for size in sizes]
    centres = _centres(rng, relation, radii)
    if centres is None:
        return None
    things = [
        _thing(rng, *known, held_out)
        for known in zip(kinds, sizes, radii, centres, strict=True)
    ]
    link = None if relation is None else (0, relation, 1)
    if relation == "front":  # Later things are painted over earlier ones.
        things[:2] = things[1::-1]
        link = (1, relation, 0)
    return Scene(background, tuple(things), link, rng.getrandbits(32))


def _thing(rng, kind, size, radius, centre, held_out):
    while True:
        colour = rng.choice(list(COLOURS))
        texture = rng.choice(TEXTURES) if rng.random() < 0.6 else "plain"
        thing = Thing(kind, colour, size, texture, "", (0, 0), 1, 0)
        if held_out or not any(
            itertools.starmap(is_held_out, thing.combinations)
        ):
            break
    pose, turn = "upright", rng.uniform(-0.08, 0.08)
    if kind not in ROUND and rng.random() < 0.4:
        pose = rng.choice(("tilted", "upside-down"))
        side = rng.choice((-1, 1)) * rng.uniform(0.5, 0.7)
        turn += side if pose == "tilted" else math.pi
    return Thing(kind, colour, size, texture, pose, centre, radius, turn)


def _centres(rng, relation, radii):
    """Find places that show the relation; None if there is no room."""
    for _ in range(TRIES):
        centres = [_anywhere(rng, radius) for radius in radii]
        if relation is None:
            return centres
        if relation in ("front", "behind"):
            centres[1] = _overlapping(rng, centres[0], radii)
        if (
            _shows(relation, *centres[:2], *radii[:2])
            and _fits(centres[1], radii[1])
            and all(
                _apart(centres[2], radii[2], centre, radius)
                for centre, radius in zip(centres[:2], radii[:2], strict=True)
                if len(radii) == 3
            )
        ):
            return centres
    return None


def _anywhere(rng, radius):
    low = radius + EDGE
    return tuple(rng.uniform(low, 1 - low) for _ in "xy")


def _overlapping(rng, centre, radii):
    angle = rng.uniform(0, 2 * math.pi)
    gap = rng.uniform(0.62, 0.8) * (radii[0] + radii[1])
    return (
        centre[0] + gap * math.cos(angle),
        centre[1] + gap * math.sin(angle),
    )


def _fits(centre, radius):
    low = radius + EDGE
    return all(low <= place <= 1 - low for place in centre)


def _apart(centre, radius, other, other_radius):
    return math.dist(centre, other) > 1.05 * (radius + other_radius)


def _shows(relation, one, two, radius, other_radius):
    """Whether nobody would doubt it: far more to the side than up or down."""
    if relation in ("front", "behind"):
        return True
    across, down = two[0] - one[0], two[1] - one[1]
    if relation in ("above", "below"):
        across, down = down, across
    if relation in ("right", "below"):
        across = -across
    return across > 2 * abs(down) and across > 1.02 * (radius + other_radius)
