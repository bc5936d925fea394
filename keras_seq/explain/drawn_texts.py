"""Words and their weights, checked and ready to be drawn."""

import dataclasses
import unicodedata
from collections.abc import Mapping

import numpy as np

from keras_seq.explain.word_weights import WeightedWords

_KEYS = ("words", "weights", "text", "label", "probability", "marked", "note")
_NO_SPACE_BEFORE = set(".,;:!?)]}%…’”»。，！？、")
_NO_SPACE_AFTER = set("([{“«")
# They turn the direction of what follows, outside the word as well.
_TURNING = {*map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))}


@dataclasses.dataclass(frozen=True)
class DrawnWord:
    """One word.

    Attributes:
        gap: What stands before it: spaces, or nothing.
        word: The word, safe to be shown.
        weight: Its weight.
        level: Its weight as a share of the heaviest in the text, -1 to 1.
        is_marked: Whether it is one of the words that decide.
    """

    gap: str
    word: str
    weight: float
    level: float
    is_marked: bool


@dataclasses.dataclass(frozen=True)
class DrawnText:
    """One text: its words and what the model answered."""

    words: list[DrawnWord]
    label: str = ""
    probability: float | None = None
    note: str = ""


def drawn_texts(texts):
    """Return a list of `DrawnText` from what a caller or a server has.

    Args:
        texts: One text or a list of them; each `WeightedWords`, a pair `(words,
            weights)`, or a dict with `words`, `weights` and, if there are any,
            `text`, `label`, `probability`, `marked` (N booleans) and `note`.

    >>> (text,) = drawn_texts((["So", "good", "!"], [0.0, -0.5, 0.25]))
    >>> [(w.gap + w.word, w.level) for w in text.words]
    [('So', 0.0), (' good', -1.0), ('!', 0.5)]
    """
    is_one = isinstance(texts, (Mapping, WeightedWords)) or (
        isinstance(texts, tuple) and len(texts) == 2
    )
    return [_drawn(text) for text in ([texts] if is_one else texts)]


def _drawn(given):
    if isinstance(given, WeightedWords):
        given = {
            "words": given.words,
            "weights": given.weights,
            "text": given.text,
        }
    elif not isinstance(given, Mapping):
        try:
            words, weights = given
        except (TypeError, ValueError) as error:
            raise ValueError(
                "`texts` must be WeightedWords, pairs of words and weights, or "
                f"dicts. Received: {given!r}"
            ) from error
        given = {"words": words, "weights": weights}
    if not {"words", "weights"} <= set(given) <= set(_KEYS):
        raise ValueError(
            "`texts` must have the keys 'words' and 'weights', and may have "
            f"{list(_KEYS[2:])}. Received: {sorted(map(str, given))}"
        )
    words = [_decoded(word) for word in given["words"]]
    weights = np.asarray(given["weights"], dtype="float64")
    marked = given.get("marked")
    marked = np.zeros(len(words)) if marked is None else np.asarray(marked)
    if not weights.shape == marked.shape == (len(words),):
        raise ValueError(
            f"`weights` and `marked` must have one number for each of the "
            f"{len(words)} words. Received: shapes {weights.shape} and "
            f"{marked.shape}"
        )
    if not np.isfinite(weights).all():
        raise ValueError(f"`weights` must be finite. Received: {weights}")
    levels = weights / (np.abs(weights).max(initial=0) or 1.0)
    gaps = _gaps(words, given.get("text"))
    probability = given.get("probability")
    return DrawnText(
        [
            DrawnWord(gap, readable(word), float(weight), float(level), bool(m))
            for gap, word, weight, level, m in zip(
                gaps, words, weights, levels, marked, strict=True
            )
        ],
        readable(_decoded(given.get("label") or "")),
        None if probability is None else float(probability),
        readable(_decoded(given.get("note") or "")),
    )


def readable(text):
    r"""Return text in which nothing commands the terminal or turns the line.

    >>> readable("a\x1b[31mb\nc")
    'a�[31mb c'
    """
    shown = []
    for character in text:
        if character.isspace():
            shown.append(" ")
        elif character in _TURNING:
            continue
        elif unicodedata.category(character) in ("Cc", "Cs"):
            shown.append("�")
        else:
            shown.append(character)
    return "".join(shown)


def _decoded(word):
    if isinstance(word, bytes):
        return word.decode("utf-8", errors="replace")
    return str(word)


def _gaps(words, text):
    """Return what stands before each word."""
    gaps, last = [], 0
    for i, word in enumerate(words):
        if text is None:
            joins = i == 0 or (
                word[:1] in _NO_SPACE_BEFORE
                or words[i - 1][-1:] in _NO_SPACE_AFTER
            )
            gaps.append("" if joins else " ")
            continue
        start = _decoded(text).find(word, last)
        if start < 0:
            raise ValueError(
                "`words` must stand in `text`, in order. Received: "
                f"{word!r}, which is not in {_decoded(text)[last:]!r}"
            )
        gaps.append(" " if _decoded(text)[last:start] else "")
        last = start + len(word)
    return gaps
