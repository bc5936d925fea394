"""Words for what is in a scene. Where there are several, any will do."""

SIZE_WORDS = {
    "small": ("small", "little"),
    "medium": (),
    "big": ("big", "large"),
}
TEXTURE_WORDS = {
    "plain": (),
    "striped": ("striped",),
    "spotted": ("spotted", "dotted"),
    "checked": ("checked",),
}
POSE_WORDS = {
    "upright": (),
    "tilted": ("tilted", "leaning"),
    "upside-down": ("upside-down", "overturned"),
}
RELATION_WORDS = {
    "left": (("to", "the", "left", "of"), ("left", "of")),
    "right": (("to", "the", "right", "of"), ("right", "of")),
    "above": (("above",), ("over",)),
    "below": (("below",), ("beneath",)),
    "front": (("in", "front", "of"),),
    "behind": (("behind",),),
}
# The words of a relation that say something about the picture.
RELATION_CONTENT = {
    "left",
    "right",
    "above",
    "over",
    "below",
    "beneath",
    "front",
    "behind",
}
# Each phrase is words; (word, part) is one that a part of the place shows.
PLACE_PHRASES = {
    "beach": (
        ("on", "the", ("beach", "ground")),
        ("on", "the", ("sand", "ground")),
        ("by", "the", ("sea", "sea")),
    ),
    "desert": (
        ("in", "the", ("desert", "ground")),
        ("on", "the", ("dunes", "ground")),
        ("under", "the", ("sun", "sun")),
    ),
    "meadow": (
        ("on", "the", ("grass", "ground")),
        ("in", "a", ("meadow", "ground")),
        ("under", "the", ("cloudy", "sky"), ("sky", "sky")),
    ),
    "night": (
        ("at", ("night", "sky")),
        ("under", "the", ("stars", "sky")),
        ("in", "the", ("dark", "sky")),
    ),
    "snow": (
        ("in", "the", ("snow", "ground")),
        ("on", "the", ("snowy", "ground"), ("ground", "ground")),
        ("in", ("winter", "ground")),
    ),
    "wall": (
        ("by", "a", ("brick", "wall"), ("wall", "wall")),
        ("on", "a", ("wooden", "ground"), ("floor", "ground")),
        ("in", "a", ("room", "wall")),
    ),
}
