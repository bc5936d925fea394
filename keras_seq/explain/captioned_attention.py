"""A picture, its words and their attention, checked and ready to be drawn."""

import dataclasses

import numpy as np

from keras_seq.explain.drawn_texts import readable


@dataclasses.dataclass(frozen=True, eq=False)
class CaptionedAttention:
    """What one model said and where it looked.

    Attributes:
        name: Of the model, like "soft"; may be empty.
        words: T words.
        maps: `(T, h, w)`.
        boxes: For each word the boxes of what it means; may be empty.
    """

    name: str
    words: list[str]
    maps: np.ndarray
    boxes: list[list[tuple[float, ...]]]

    @property
    def caption(self):
        return " ".join(self.words)


def captioned_attention(words, attention, boxes=None):
    """Return a list of `CaptionedAttention`.

    Args:
        words: A list of words, or `{name: words}` if models say different
            things.
        attention: `(T, h, w)`, or `{name: (T, h, w)}`.
        boxes: None, or for each word a list of `(left, top, right, bottom)`
            in pixels; or `{name: boxes}`.

    >>> (one,) = captioned_attention(["a", b"cup"], np.ones((2, 3, 4)))
    >>> one.caption, one.maps.shape
    ('a cup', (2, 3, 4))
    """
    if not isinstance(attention, dict):
        attention = {"": attention}
    if not attention:
        raise ValueError("`attention` must not be empty. Received: {}")
    return [
        _checked(
            str(name),
            _of(words, name, "words"),
            maps,
            None if boxes is None else _of(boxes, name, "boxes"),
        )
        for name, maps in attention.items()
    ]


def _of(given, name, argument):
    if not isinstance(given, dict):
        return given
    if name not in given:
        raise ValueError(
            f"`{argument}` must have an entry for {name!r}. "
            f"Received: {list(given)}"
        )
    return given[name]


def _checked(name, words, maps, boxes):
    if isinstance(words, (str, bytes)):
        raise ValueError(f"`words` must be a list. Received: {words!r}")
    words = [
        readable(
            word.decode("utf-8", "replace")
            if isinstance(word, bytes)
            else str(word)
        )
        for word in words
    ]
    maps = np.asarray(maps, dtype="float64")
    of = f" of {name!r}" if name else ""
    if maps.ndim != 3 or 0 in maps.shape:
        raise ValueError(
            f"`attention`{of} must have the shape (T, h, w). "
            f"Received: shape {maps.shape}"
        )
    boxes = [[] for _ in words] if boxes is None else boxes
    if not len(maps) == len(words) == len(boxes):
        raise ValueError(
            f"`attention`{of} must have a map for each of the {len(words)} "
            f"`words`, and `boxes` an entry. Received: shape {maps.shape}, "
            f"{len(boxes)} entries"
        )
    if not (np.isfinite(maps).all() and (maps >= 0).all()):
        raise ValueError(
            f"`attention`{of} must be finite, and not negative. "
            f"Received: from {maps.min()} to {maps.max()}"
        )
    boxes = [[tuple(map(float, box)) for box in found] for found in boxes]
    return CaptionedAttention(name, words, maps, boxes)
