"""Attention as a matplotlib figure: a small picture for each layer and head."""

import itertools
import math
import string

import numpy as np

from keras_seq.explain.token_fonts import drawable_text, fonts_for

_HEADS_IN_A_ROW = 4
_NUMBERS_UP_TO = 10  # tokens a side: the weights are printed into the cells
_LONGEST_TOKEN = 24  # characters of a token that are shown
_INK, _PALE = "#24292f", "#d0d7de"
# In inches: margins and gaps, a line of text, the place of the colour bar.
_GAP, _LINE, _BAR = 0.15, 0.28, 0.75


def attention_figure(maps, title=None, heads="all", dpi=150):
    """Return a `matplotlib.figure.Figure` of a list of `AttentionMap`.

    The heads of a single layer fill a grid; several layers have a row each.
    All share one colour scale, from 0 to the largest weight, and one size of
    cell. Everything is placed by its size in inches, so that nothing is cut
    off, whatever the tokens.
    """
    # The object API: pyplot would keep a reference to every figure.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # Placed by inches below: a style that lays figures out would interfere.
    figure = Figure(dpi=dpi, facecolor="white", layout="none")
    FigureCanvasAgg(figure)
    rows = _rows(maps, heads)
    longest = max(max(m.weights.shape[1:]) for m in maps)
    is_alone = len(rows) == len(rows[0].panels) == 1
    room, largest = (6, 0.7) if is_alone else (3, 0.5)  # inches
    pen = _Pen(figure, maps, title, np.clip(room / longest, 0.09, largest))

    left = _GAP + max(pen.longest(m.rows) for m in maps) + 0.1
    width = left + max(pen.width(row) for row in rows) + _BAR
    names = "\n".join(m.name for m in maps)
    lines = max(pen.length(title or "", 13), pen.length(names, 10))
    width = max(width, lines + 2 * _GAP)
    head = _GAP + (1.3 * _LINE if title else 0)
    height = head + sum(pen.height(row) for row in rows) + _GAP
    # The colour bar stands beside the first row, and is not too short.
    above_bar = head + _LINE * rows[0].lines
    tall = max(1.0, pen.cell * len(rows[0].layer.rows))
    height = max(height, above_bar + tall + _GAP)
    figure.set_size_inches(width, height)

    drawn = [matrix for row in rows for _, matrix in row.panels]
    numbers = np.concatenate([matrix.ravel() for matrix in drawn])
    numbers = numbers[~np.isnan(numbers)]
    scale = {
        "vmin": min(0.0, numbers.min(initial=0.0)),
        "vmax": numbers.max(initial=0.0) or 1.0,
    }
    top = height - head
    for row in rows:
        image = pen.draw(row, left, top, scale)
        top -= pen.height(row)
    bar = pen.place(width - _BAR + 0.1, height - above_bar - tall, 0.14, tall)
    bar = figure.colorbar(image, cax=bar)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=8, color=_PALE, labelcolor=_INK)
    if title:
        middle, line = 0.5, 1 - (_GAP + 0.6 * _LINE) / height
        pen.write(figure.text, middle, line, title, 13, ha="center")
    return figure


class _Row:
    """Panels of one layer that stand side by side."""

    def __init__(self, layer, panels, is_first):
        self.layer = layer
        self.panels = panels  # list of (caption, matrix (T, S))
        self.has_name = is_first and bool(layer.name)
        # How many lines of text there are above the panels.
        self.lines = self.has_name + bool(panels[0][0])
        self.has_columns = True  # whether the columns' tokens stand below

    def stands_on(self, other):
        """Whether each panel has one below it with the same columns."""
        same = self.layer.columns == other.layer.columns
        return same and len(self.panels) <= len(other.panels)


def _rows(maps, heads):
    rows = []
    for m in maps:
        if heads == "mean" and len(m.weights) > 1:
            panels = [("mean of heads", m.mean)]
        elif len(m.weights) == 1:
            panels = [("", m.weights[0])]
        else:
            panels = [(f"head {i + 1}", w) for i, w in enumerate(m.weights)]
        lines = 1 if len(maps) > 1 else -(-len(panels) // _HEADS_IN_A_ROW)
        many = -(-len(panels) // lines)  # 5 heads are 3 and 2, not 4 and 1
        for start in range(0, len(panels), many):
            some = panels[start : start + many]
            rows.append(_Row(m, some, is_first=start == 0))
    for row, below in itertools.pairwise(rows):
        row.has_columns = not row.stands_on(below)
    return rows


class _Pen:
    """Draws and writes, and knows how much room that takes, in inches."""

    def __init__(self, figure, maps, title, cell):
        text = [token for m in maps for token in m.rows + m.columns]
        text += [m.name for m in maps] + [title or "", "…"]
        text += [string.ascii_letters, string.digits]  # of the captions
        self.families, self.drawable = fonts_for("".join(text))
        self.figure = figure
        self.cell = float(cell)
        self.token_size = float(np.clip(72 * cell * 0.75, 5, 10))  # points

    def longest(self, tokens):
        """How long the longest of the tokens is."""
        return self.length("\n".join(map(self._short, tokens)), self.token_size)

    def length(self, text, size):
        """How long a text, or the longest of its lines, is."""
        text = self.write(self.figure.text, 0, 0, text, size, weight="bold")
        inches = text.get_window_extent().width / self.figure.dpi
        text.remove()
        return inches

    def width(self, row):
        panel = self.cell * len(row.layer.columns)
        return len(row.panels) * (panel + _GAP)

    def height(self, row):
        height = self.cell * len(row.layer.rows) + _GAP
        height += _LINE * row.lines
        if row.has_columns:
            height += self.longest(row.layer.columns) + 0.1
        return height

    def place(self, left, bottom, width, height):
        """Make axes at a place that is given in inches."""
        wide, tall = self.figure.get_size_inches()
        place = (left / wide, bottom / tall, width / wide, height / tall)
        return self.figure.add_axes(place)

    def draw(self, row, left, top, scale):
        """Draw a row of panels below `top`; return one of the images."""
        layer = row.layer
        tall, wide = self.cell * len(layer.rows), self.cell * len(layer.columns)
        if row.has_name:
            size = self.figure.get_size_inches()
            x, y = _GAP / size[0], (top - 0.5 * _LINE) / size[1]
            name = layer.name
            self.write(self.figure.text, x, y, name, 10, weight="bold")
        top -= _LINE * row.lines
        for caption, matrix in row.panels:
            axis = self.place(left, top - tall, wide, tall)
            image = self._matrix(axis, matrix, scale)
            axis.set_title(caption, fontsize=9, color=_INK, pad=4)
            is_first = matrix is row.panels[0][1]
            self._ticks(axis.set_yticks, layer.rows if is_first else [])
            self._ticks(
                axis.set_xticks,
                layer.columns if row.has_columns else [],
                rotation=90,
            )
            left += wide + _GAP
        return image

    def write(self, put, x, y, text, size, **style):
        return put(
            x,
            y,
            drawable_text(text, self.drawable),
            fontsize=size,
            color=_INK,
            family=self.families,
            va="center",
            parse_math=False,  # a `$` in a token is no mathematics
            **style,
        )

    def _matrix(self, axis, matrix, scale):
        # Hatching shows through where there is no number.
        axis.patch.set(facecolor="white", edgecolor=_PALE, hatch="//////")
        image = axis.imshow(
            np.ma.masked_invalid(matrix),
            cmap="Blues",
            interpolation="nearest",
            aspect="auto",
            **scale,
        )
        axis.spines[:].set_visible(False)
        axis.tick_params(length=0, which="both")
        if self.cell >= 0.15:  # white lines between the cells
            axis.set_xticks(np.arange(1, matrix.shape[1]) - 0.5, minor=True)
            axis.set_yticks(np.arange(1, matrix.shape[0]) - 0.5, minor=True)
            axis.grid(which="minor", color="white", linewidth=1)
        if max(matrix.shape) <= _NUMBERS_UP_TO:
            for (t, s), weight in np.ndenumerate(matrix):
                if weight >= 0.005:  # "0.00" everywhere says nothing
                    axis.text(
                        s,
                        t,
                        f"{weight:.2f}",
                        color="white"
                        if weight > 0.55 * scale["vmax"]
                        else _INK,
                        fontsize=min(10, 26 * self.cell),
                        ha="center",
                        va="center",
                    )
        return image

    def _ticks(self, put, tokens, **style):
        # Where tokens would be written over each other, leave some out.
        step = math.ceil(self.token_size / (72 * self.cell))
        places = range(0, len(tokens), step)
        put(
            places,
            [self._short(tokens[i]) for i in places],
            fontsize=self.token_size,
            color=_INK,
            family=self.families,
            parse_math=False,
            **style,
        )

    def _short(self, token):
        if len(token) > _LONGEST_TOKEN:
            token = token[: _LONGEST_TOKEN - 1] + "…"
        return drawable_text(token, self.drawable)
