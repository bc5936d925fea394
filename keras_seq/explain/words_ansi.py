"""Coloured words for a terminal."""

import os
import sys

from keras_seq.explain.drawn_texts import drawn_texts

COLOURS = ("auto", "truecolor", "256", "none")
# From these shares of the heaviest word on, a word is shown by its ink, by its
# ground, and in bold. Ink and ground are always set together, in middle tones
# that stand out from a black terminal and from a white one.
INK_FROM, GROUND_FROM, BOLD_FROM = 0.1, 0.3, 0.75
_INK = {1: (66, 133, 244), -1: (214, 110, 30)}
_PALE = {1: (108, 146, 196), -1: (206, 148, 98)}
_STRONG = {1: (20, 84, 190), -1: (190, 66, 8)}
_PAPER, _SOOT = (255, 255, 255), (0, 0, 0)


def words_ansi(texts, colours="auto"):
    """Return texts with their words coloured by weight, for a terminal.

    What speaks for the answer is blue, what speaks against it orange; the
    heavier, the stronger. Words that decide, if they are given, are underlined.
    Without colours, heavy words carry their number: `[dull +0.83]`.

    Args:
        texts: One text or a list of them; each `WeightedWords`, a pair `(words,
            weights)`, or a dict with `words`, `weights` and, if there are any,
            `text`, `label`, `probability`, `marked` (N booleans) and `note`.
        colours: "truecolor", "256", "none", or "auto", which looks at the
            variables NO_COLOR, FORCE_COLOR, COLORTERM and TERM, and at whether
            the output is a terminal.

    Returns:
        A string, one line per text.

    Example:
        >>> text = {"words": ["So", "dull", "!"], "weights": [0.1, 0.83, 0.0],
        ...         "label": "negative", "probability": 0.97}
        >>> words_ansi(text, colours="none")
        'negative  97 %  So [dull +0.83]!'
    """
    if colours not in COLOURS:
        raise ValueError(
            f"`colours` must be one of {COLOURS}. Received: {colours!r}"
        )
    if colours == "auto":
        colours = terminal_colours()
    lines = []
    for text in drawn_texts(texts):
        head = [text.label] if text.label else []
        if text.probability is not None:
            head.append(f"{text.probability:4.0%}".replace("%", " %"))
        if text.note:
            head.append(text.note)
        body = "".join(w.gap + _coloured(w, colours) for w in text.words)
        lines.append("  ".join([*head, body]))
    return "\n".join(lines)


def terminal_colours(stream=None):
    """Return "truecolor", "256" or "none": what standard output can show.

    NO_COLOR, if it is not empty, switches colours off (no-color.org), and
    FORCE_COLOR switches them on where there is no terminal.
    """
    stream = sys.stdout if stream is None else stream
    if os.environ.get("NO_COLOR"):
        return "none"
    is_terminal = hasattr(stream, "isatty") and stream.isatty()
    if not is_terminal and not os.environ.get("FORCE_COLOR"):
        return "none"
    if is_terminal and os.environ.get("TERM") == "dumb":
        return "none"
    if os.environ.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return "truecolor"
    return "256"


def _coloured(word, colours):
    size, sign = abs(word.level), 1 if word.level >= 0 else -1
    if colours == "none":
        if size < GROUND_FROM:
            return word.word
        return f"[{word.word} {word.weight:+.2f}]"
    codes = []
    if size >= GROUND_FROM:
        share = (size - GROUND_FROM) / (1 - GROUND_FROM)
        ground = [
            round(a + share * (b - a))
            for a, b in zip(_PALE[sign], _STRONG[sign], strict=True)
        ]
        ink = _PAPER if _is_dark(ground) else _SOOT
        codes += [_code(38, ink, colours), _code(48, ground, colours)]
    elif size >= INK_FROM:
        codes.append(_code(38, _INK[sign], colours))
    if size >= BOLD_FROM:
        codes.append("1")
    if word.is_marked:
        codes.append("4")
    if not codes:
        return word.word
    return f"\x1b[{';'.join(codes)}m{word.word}\x1b[0m"


def _code(layer, colour, colours):
    """Return the code of an ink (38) or a ground (48).

    >>> _code(38, (255, 0, 0), "truecolor"), _code(38, (255, 0, 0), "256")
    ('38;2;255;0;0', '38;5;196')
    """
    if colours == "truecolor":
        return f"{layer};2;{';'.join(map(str, colour))}"
    # The colour cube: 6 steps of red, green and blue, at 0, 95, 135, ..., 255.
    steps = [0 if c < 48 else 1 if c < 115 else (c - 35) // 40 for c in colour]
    return f"{layer};5;{16 + 36 * steps[0] + 6 * steps[1] + steps[2]}"


def _is_dark(colour):
    """Return whether white is easier to read on it than black (WCAG 2)."""
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (value / 255 for value in colour)
    ]
    red, green, blue = linear
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.179
