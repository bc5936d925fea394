"""Words on coloured ground, as a matplotlib figure."""

import string

from keras_seq.explain.token_fonts import drawable_text, fonts_for

_INK, _QUIET, _PALE = "#24292f", "#57606a", "#d8dee4"
_FOR, _AGAINST = (0.12, 0.39, 0.72), (0.70, 0.25, 0.0)
_LEAST, _STRONG = 0.02, 0.85  # shares of the heaviest word
# In inches: the figure's width, margins, a line of words, between two texts.
_WIDTH, _MARGIN, _LINE, _GAP = 10.0, 0.3, 0.33, 0.22
_SIZE, _TITLE_SIZE = 12, 15  # points


def words_figure(texts, title=None, dpi=150):
    """Return a `matplotlib.figure.Figure` of a list of `DrawnText`.

    Label, probability and note stand on the left, the words on the right.
    Everything is placed by its size in inches, so that nothing is cut off.
    """
    # The object API: pyplot would keep a reference to every figure.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(dpi=dpi, facecolor="white", layout="none")
    renderer = FigureCanvasAgg(figure).get_renderer()
    pen = _Pen(renderer, texts, title, dpi)
    heads = [_head(text) for text in texts]
    lines = [line for head in heads for line in head]
    widest = max(map(pen.length, lines), default=0)
    # Bold letters are a little wider than those that were measured.
    left = _MARGIN + (1.12 * widest + 0.3 if widest else 0)
    left = min(left, _WIDTH / 2)
    rows = [pen.wrapped(text.words, _WIDTH - _MARGIN - left) for text in texts]
    heights = [
        _LINE * max(len(lines), len(head), 1)
        for lines, head in zip(rows, heads, strict=True)
    ]
    top = _MARGIN + (0.45 if title else 0)
    height = top + sum(heights) + _GAP * (len(texts) - 1) + _MARGIN
    figure.set_size_inches(_WIDTH, height)
    axis = figure.add_axes((0, 0, 1, 1))
    axis.set(xlim=(0, _WIDTH), ylim=(height, 0))  # inches, downwards
    axis.set_axis_off()
    if title:
        place = (_MARGIN, _MARGIN + 0.1)
        pen.write(axis, *place, title, _TITLE_SIZE, weight=pen.bold)
    for head, lines, tall in zip(heads, rows, heights, strict=True):
        for i, line in enumerate(head):
            style = {"weight": pen.bold} if i == 0 else {"color": _QUIET}
            pen.write(axis, _MARGIN, top + _LINE * (i + 0.5), line, **style)
        for i, line in enumerate(lines):
            for word, x, length in line:
                pen.draw(axis, word, left + x, top + _LINE * (i + 0.5), length)
        top += tall + _GAP
        if head is not heads[-1]:
            axis.axhline(
                top - _GAP / 2,
                _MARGIN / _WIDTH,
                1 - _MARGIN / _WIDTH,
                color=_PALE,
                linewidth=0.8,
            )
    return figure


def _head(text):
    """Return the lines on the left of a text."""
    first = [text.label] if text.label else []
    if text.probability is not None:
        first.append(f"{text.probability:.1%}".replace("%", " %"))
    return [line for line in ("  ".join(first), text.note) if line]


def _glued(words):
    """Return groups of words without a gap: no line begins with a comma."""
    groups = []
    for word in words:
        if groups and not word.gap:
            groups[-1].append(word)
        else:
            groups.append([word])
    return groups


class _Pen:
    """Draws and writes, and knows how much room that takes, in inches."""

    def __init__(self, renderer, texts, title, dpi):
        from matplotlib.font_manager import FontProperties

        written = [title or "", string.printable]
        for text in texts:
            written += [text.label, text.note, *(w.word for w in text.words)]
        self.families, self.drawable = fonts_for("".join(written))
        self._renderer, self._dpi = renderer, dpi
        self._font = FontProperties(family=self.families, size=_SIZE)
        self._space = 0.05
        # Other fonts may have no bold face, and matplotlib would say so.
        self.bold = "bold" if len(self.families) == 1 else "normal"

    def length(self, text):
        text = drawable_text(text, self.drawable)
        width, _, _ = self._renderer.get_text_width_height_descent(
            text, self._font, ismath=False
        )
        return width / self._dpi

    def wrapped(self, words, room):
        """Return lines of `(word, x, length)`, none longer than `room`."""
        lines, x = [[]], 0.0
        for glued in _glued(words):
            lengths = [self.length(word.word) + 0.04 for word in glued]
            x += self._space if lines[-1] else 0.0
            if lines[-1] and x + sum(lengths) > room:
                lines.append([])
                x = 0.0
            for word, length in zip(glued, lengths, strict=True):
                lines[-1].append((word, x, length))
                x += length
        return [line for line in lines if line]

    def draw(self, axis, word, x, y, length):
        from matplotlib.patches import FancyBboxPatch

        size = abs(word.level)
        if size >= _LEAST:
            hue = _FOR if word.level > 0 else _AGAINST
            axis.add_patch(
                FancyBboxPatch(
                    (x + 0.03, y - 0.11),
                    length - 0.06,
                    0.22,
                    boxstyle="round,pad=0.03,rounding_size=0.05",
                    facecolor=(*hue, 0.95 * size),
                    edgecolor="none",
                )
            )
        ink = "white" if size >= _STRONG else _INK
        middle = x + length / 2
        self.write(axis, middle, y, word.word, color=ink, ha="center")
        if word.is_marked:
            ends = [x + 0.04, x + length - 0.04]
            axis.plot(ends, [y + 0.125] * 2, color=_INK, linewidth=1.6)

    def write(self, axis, x, y, text, size=_SIZE, color=_INK, **style):
        axis.text(
            x,
            y,
            drawable_text(text, self.drawable),
            fontsize=size,
            color=color,
            family=self.families,
            va="center_baseline",
            parse_math=False,  # a `$` in a word is no mathematics
            **style,
        )
