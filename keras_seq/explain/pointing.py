"""Grade where a captioner looked against where the things are.

The pointing game (Zhang et al., 2016): when a word is said, is the peak of the
attention inside what the word means?
"""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class PointingScores:
    """How often attention peaks inside what a word means.

    Attributes:
        accuracy: How often it does, over all words that were graded.
        chance: How often a peak anywhere in the picture would.
        share: How much of the attention is inside, on the average.
        words: How many words were graded.
        by_word: `{word: (accuracy, chance, share, words)}`.
    """

    accuracy: float
    chance: float
    share: float
    words: int
    by_word: dict[str, tuple[float, float, float, int]]


def pointing_accuracy(
    attention, words, boxes, image_size, *, things=()
) -> PointingScores:
    """Return how often attention peaks in the gold box of the word said.

    A cell of the attention map is inside a box if its middle is. A box too
    small to have a cell's middle in it has the cells that it covers most.
    Between equal peaks the choice is by chance, and its expectation is
    counted: attention that is the same everywhere scores `chance`, exactly.

    Args:
        attention: `(T, h, w)` of one picture; or a list of such, for many.
        words: The T words that were said; or a list of lists.
        boxes: For each word a sequence of boxes `(left, top, right, bottom)`
            in pixels, as `SceneGold.boxes_of` gives them; any of them will
            do. Words without a box are not graded, but for `things`. Or a
            list of such.
        image_size: `(height, width)` of the pictures, in pixels.
        things: Words that name what is to be seen. One of them without a box
            was said of a picture that has no such thing: no place to look at
            is right, so it is a miss, with a chance and a share of 0. By
            default there are none, and only words that are true of the
            picture are graded.

    Returns:
        `PointingScores`; NaN where no word was graded.

    Example:
        >>> attention = np.zeros((2, 3, 4))
        >>> attention[0, 0, 3] = attention[1, 2, 0] = 1
        >>> ball = [(60, 0, 80, 20)]
        >>> pointing_accuracy(attention, ["a", "ball"], [(), ball], (60, 80))
        PointingScores(accuracy=0.0, chance=0.0833..., share=0.0, words=1,
                       by_word={'ball': (0.0, 0.0833..., 0.0, 1)})

        The second look is right, but there is no car:

        >>> said = ["car", "ball"]
        >>> attention = attention[::-1]
        >>> pointing_accuracy(attention, said, [(), ball], (60, 80)).accuracy
        1.0
        >>> pointing_accuracy(
        ...     attention, said, [(), ball], (60, 80), things={"car", "ball"}
        ... ).accuracy
        0.5
    """
    things = _word_set(things)
    if not isinstance(attention, (list, tuple)):
        attention, words, boxes = [attention], [words], [boxes]
    if not len(attention) == len(words) == len(boxes):
        raise ValueError(
            "`attention`, `words` and `boxes` must be of the same pictures. "
            f"Received: {len(attention)}, {len(words)} and {len(boxes)}"
        )
    graded = {}
    for maps, said, gold in zip(attention, words, boxes, strict=True):
        maps = _checked(maps, said, gold)
        for weights, word, found in zip(maps, said, gold, strict=True):
            word = str(word).lower()
            if len(found):
                row = _grade(weights, found, image_size)
            elif word in things:
                row = (0.0, 0.0, 0.0)
            else:
                continue
            graded.setdefault(word, []).append(row)
    every = [row for rows in graded.values() for row in rows]
    return PointingScores(
        *_means(every),
        {word: _means(rows) for word, rows in sorted(graded.items())},
    )


def gold_cells(boxes, grid, image_size) -> np.ndarray:
    """Return which cells of a `(h, w)` map are inside one of the boxes.

    >>> gold_cells([(0, 0, 20, 20), (52, 31, 54, 33)], (2, 3), (40, 60))
    array([[ True, False, False],
           [False, False,  True]])
    """
    (h, w), (height, width) = grid, image_size
    inside = np.zeros(grid, bool)
    for left, top, right, bottom in boxes:
        if not (left < right and top < bottom):
            raise ValueError(
                "`boxes` must be (left, top, right, bottom), with something "
                f"inside. Received: {(left, top, right, bottom)}"
            )
        rows = _middles(h, height, top, bottom)
        columns = _middles(w, width, left, right)
        cells = np.outer(rows, columns)
        if not cells.any():
            cover = np.outer(
                _overlap(h, height, top, bottom),
                _overlap(w, width, left, right),
            )
            if not cover.any():
                raise ValueError(
                    f"`boxes` must be inside the picture, {height} high and "
                    f"{width} wide. Received: {(left, top, right, bottom)}"
                )
            cells = np.isclose(cover, cover.max())
        inside |= cells
    return inside


def _grade(weights, boxes, image_size):
    """Return whether the peak is inside, how much is, and how much looks."""
    inside = gold_cells(boxes, weights.shape, image_size)
    total = weights.sum()
    share = weights[inside].sum() / total if total else inside.mean()
    peaks = inside[weights == weights.max()]
    return peaks.mean(), inside.mean(), share


def _word_set(things):
    if isinstance(things, str):
        raise ValueError(
            f"`things` must be words, not one string. Received: {things!r}"
        )
    return {str(word).lower() for word in things}


def _middles(cells, length, start, end):
    middles = (np.arange(cells) + 0.5) * length / cells
    return (start <= middles) & (middles < end)


def _overlap(cells, length, start, end):
    edges = np.arange(cells + 1) * length / cells
    return np.clip(
        np.minimum(edges[1:], end) - np.maximum(edges[:-1], start), 0, None
    )


def _means(rows):
    if not rows:
        return (float("nan"),) * 3 + (0,)
    return (*np.mean(rows, axis=0).tolist(), len(rows))


def _checked(maps, words, boxes):
    maps = np.asarray(maps, dtype="float64")
    if maps.ndim != 3 or 0 in maps.shape[1:]:
        raise ValueError(
            "`attention` of a picture must have the shape (T, h, w). "
            f"Received: shape {maps.shape}"
        )
    if not len(maps) == len(words) == len(boxes):
        raise ValueError(
            "`attention`, `words` and `boxes` of a picture must have one entry "
            f"for each word. Received: {len(maps)}, {len(words)} and "
            f"{len(boxes)}"
        )
    if not (np.isfinite(maps).all() and (maps >= 0).all()):
        raise ValueError(
            "`attention` must be finite, and not negative. "
            f"Received: from {maps.min()} to {maps.max()}"
        )
    return maps
