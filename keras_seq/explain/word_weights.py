"""From weights of tokens, which a model reads, to weights of words."""

import dataclasses
import unicodedata

import numpy as np

# Between two letters they are part of a word: "don't", "well-made".
_JOINERS = "'’‑-"
# Non-joiner, joiner, soft hyphen: seen by nobody, and inside words.
_ZERO_WIDTH = "\u200c\u200d\u00ad"
_SKIN_TONES = range(0x1F3FB, 0x1F400)


@dataclasses.dataclass(frozen=True, eq=False)
class WeightedWords:
    """The words of one text, and how much each counted.

    Attributes:
        text: The text.
        spans: Where the words stand in it, `(N, 2)`: `text[start:end]`.
        weights: `(N,)` float64.
    """

    text: str
    spans: np.ndarray
    weights: np.ndarray

    @property
    def words(self) -> list[str]:
        """The words themselves."""
        return [self.text[start:end] for start, end in self.spans]


def word_weights(text, starts, ends, weights):
    """Add the weights of the tokens of each word.

    Words are found by `word_spans`. The weight of a token that reaches over
    several words is split by how many characters of each it covers. A token
    that covers none, such as the space before a word, counts for the next
    word, or for the last one. So nothing is lost: words and tokens have the
    same sum.

    Args:
        text: A string.
        starts: First character of each token in it, `(T,)`.
        ends: One past the last character of each token, `(T,)`; both as
            `keras_seq.text.TokenSpans` has them.
        weights: Of the tokens. More than T if they are padded, with zeros; if
            the text was cut, those of the first tokens.

    Returns:
        `WeightedWords`.

    Example:
        >>> found = word_weights("Unputdownable!", [0, 2, 5, 13],
        ...     [2, 5, 13, 14], [0.1, 0.2, 0.3, 0.4])
        >>> found.words, found.weights.round(2).tolist()
        (['Unputdownable', '!'], [0.6, 0.4])
    """
    starts, ends, weights = _checked(text, starts, ends, weights)
    spans = np.array(word_spans(text), dtype="int64").reshape(-1, 2)
    total = np.zeros(len(spans))
    if len(spans):
        for start, end, weight in zip(starts, ends, weights, strict=False):
            # How many characters token and word have in common, `(N,)`.
            shared = np.minimum(end, spans[:, 1]) - np.maximum(
                start, spans[:, 0]
            )
            shared = np.maximum(shared, 0)
            if not shared.any():
                after = np.searchsorted(spans[:, 0], start)
                shared[min(after, len(spans) - 1)] = 1
            total += weight * shared / shared.sum()
    return WeightedWords(text, spans, total)


def word_spans(text):
    """Return `[(start, end), ...]` of the words and marks of a text.

    A word is letters, their accents and digits of any script, with the
    apostrophes and hyphens inside it. Every other sign is a word of its own,
    together with what only changes its look (an emoji with its skin tone).
    Scripts that write no spaces come out as one long word.

    >>> text = "Ça n'est pas mal: 4½ 👍🏽!"
    >>> [text[start:end] for start, end in word_spans(text)]
    ['Ça', "n'est", 'pas', 'mal', ':', '4½', '👍🏽', '!']
    """
    spans, place = [], 0
    while place < len(text):
        start = place
        if _is_letter(text[place]):
            place = _end_of_word(text, place)
            spans.append((start, place))
        elif text[place].isspace() or _is_invisible(text[place]):
            place += 1
        else:
            place = _end_of_sign(text, place)
            spans.append((start, place))
    return spans


def _end_of_word(text, place):
    while place < len(text):
        joins = text[place] in _JOINERS and _is_letter(text[place + 1 :][:1])
        if not (joins or _is_letter(text[place]) or text[place] in _ZERO_WIDTH):
            break
        place += 1
    return place


def _end_of_sign(text, place):
    """Walk over a sign, what modifies it, and what a joiner ties to it."""
    place += 1
    while place < len(text):
        is_tied = text[place - 1] == "\u200d" and not text[place].isspace()
        modifies = (
            text[place] in _ZERO_WIDTH
            or unicodedata.category(text[place]).startswith("M")
            or ord(text[place]) in _SKIN_TONES
        )
        if not (is_tied or modifies):
            break
        place += 1
    return place


def _is_letter(character):
    return bool(character) and (
        character == "_" or unicodedata.category(character)[0] in "LMN"
    )


def _is_invisible(character):
    return unicodedata.category(character) in ("Cc", "Cf")


def _checked(text, starts, ends, weights):
    starts, ends = np.asarray(starts), np.asarray(ends)
    weights = np.asarray(weights, dtype="float64")
    if not (starts.shape == ends.shape and starts.ndim == weights.ndim == 1):
        raise ValueError(
            "`starts`, `ends` and `weights` must be of the tokens of one "
            f"text, (T,). Received: shapes {starts.shape}, {ends.shape} and "
            f"{weights.shape}"
        )
    if len(starts) and (starts.min() < 0 or ends.max() > len(text)):
        raise ValueError(
            f"`starts` and `ends` must be characters of `text`, 0 to "
            f"{len(text)}. Received: {starts.min()} to {ends.max()}"
        )
    if np.any(weights[len(starts) :]):
        raise ValueError(
            f"`weights` must be 0 after the {len(starts)} tokens of the text. "
            f"Received: {weights[len(starts) :]}"
        )
    return starts, ends, weights
