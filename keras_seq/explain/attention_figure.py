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


def attention_figure(maps, title=None, heads="all", dpi=150):
    """Return a `matplotlib.figure.Figure` of a list of `AttentionMap`.

    The heads of a single layer fill a grid; several layers have a row each.
    All share one colour scale, from 0 to the largest weight.
    """
    # The object API: pyplot would keep a reference to every figure.
    from matplotlib.figure import Figure

    grid = _grid(maps, heads)
    wide, tall = max(map(len, grid)), len(grid)
    longest = max(max(m.weights.shape[1:]) for m in maps)
    room = 6 if wide == tall == 1 else 3  # inches for the longest side
    pen = _Pen(maps, title, cell=float(np.clip(room / longest, 0.09, 0.5)))
    figure = Figure(
        pen.size(grid), dpi, facecolor="white", layout="constrained"
    )
    axes = figure.subplots(
        tall,
        wide,
        squeeze=False,
        height_ratios=[len(row[0][0].rows) for row in grid],
    )
    numbers = np.concatenate([m[~np.isnan(m)] for _, _, m in sum(grid, [])])
    scale = {
        "vmin": min(0.0, numbers.min(initial=0.0)),
        "vmax": numbers.max(initial=0.0) or 1.0,
    }
    for (i, j), axis in np.ndenumerate(axes):
        panel = _panel(grid, i, j)
        if panel is None:
            axis.set_visible(False)
            continue
        layer, caption, matrix = panel
        below = _panel(grid, i + 1, j)
        image = pen.draw(axis, matrix, scale)
        pen.write(axis.set_title, caption, size=9, pad=4)
        pen.label(
            axis,
            layer,
            show_rows=j == 0,
            show_columns=below is None or below[0].columns != layer.columns,
        )
    bar = figure.colorbar(image, ax=axes, aspect=30, shrink=0.9, pad=0.02)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=8, color=_PALE, labelcolor=_INK)
    if title:
        pen.write(figure.suptitle, title, size=13)
    # The layout takes two passes to make room for the tokens.
    figure.draw_without_rendering()
    return figure


def _grid(maps, heads):
    """Return rows of panels, each `(map, caption, matrix (T, S))`."""
    grid = []
    for m in maps:
        if heads == "mean" and len(m.weights) > 1:
            panels = [(m, "mean of heads", m.mean)]
        elif len(m.weights) == 1:
            panels = [(m, "", m.weights[0])]
        else:
            panels = [
                (m, f"head {number}", matrix)
                for number, matrix in enumerate(m.weights, start=1)
            ]
        many = len(panels) if len(maps) > 1 else _HEADS_IN_A_ROW
        grid += [panels[i : i + many] for i in range(0, len(panels), many)]
    return grid


def _panel(grid, i, j):
    return grid[i][j] if i < len(grid) and j < len(grid[i]) else None


class _Pen:
    """Knows how large a cell is, and which fonts can write the tokens."""

    def __init__(self, maps, title, cell):
        text = [token for m in maps for token in m.rows + m.columns]
        text += [m.name for m in maps] + [title or "", "…"]
        text += [string.ascii_letters, string.digits]  # of the captions
        self.families, self.drawable = fonts_for("".join(text))
        self.cell = cell  # inches
        self.size_of_tokens = float(np.clip(72 * cell * 0.75, 5, 10))  # points

    def size(self, grid):
        """Width and height in inches that the panels and their tokens need."""
        layers = [row[0][0] for row in grid]
        width = 1.2 + max(self._length(layer.rows) for layer in layers)
        width += max(
            len(row) * (self.cell * len(layer.columns) + 0.3)
            for row, layer in zip(grid, layers, strict=True)
        )
        height = 0.5
        for layer, below in itertools.zip_longest(layers, layers[1:]):
            height += self.cell * len(layer.rows) + 0.35
            if below is None or below.columns != layer.columns:
                height += self._length(layer.columns)
        return width, max(height, 1.6)

    def draw(self, axis, matrix, scale):
        """Draw one matrix; hatching shows through where it has no number."""
        axis.patch.set(facecolor="white", edgecolor=_PALE, hatch="//////")
        image = axis.imshow(
            np.ma.masked_invalid(matrix),
            cmap="Blues",
            interpolation="nearest",
            **scale,
        )
        axis.spines[:].set_visible(False)
        axis.tick_params(length=0, which="both")
        rows, columns = matrix.shape
        if self.cell >= 0.15:  # white lines between the cells
            axis.set_xticks(np.arange(1, columns) - 0.5, minor=True)
            axis.set_yticks(np.arange(1, rows) - 0.5, minor=True)
            axis.grid(which="minor", color="white", linewidth=1)
        if max(rows, columns) <= _NUMBERS_UP_TO:
            for (t, s), weight in np.ndenumerate(matrix):
                if weight >= 0.005:  # "0.00" everywhere says nothing
                    dark = weight > 0.55 * scale["vmax"]
                    axis.text(
                        s,
                        t,
                        f"{weight:.2f}",
                        color="white" if dark else _INK,
                        fontsize=min(10, 26 * self.cell),
                        ha="center",
                        va="center",
                    )
        return image

    def label(self, axis, layer, show_rows, show_columns):
        """Write the tokens along the sides, and the layer's name."""
        self._ticks(axis.set_yticks, layer.rows if show_rows else [])
        self._ticks(
            axis.set_xticks,
            layer.columns if show_columns else [],
            rotation=90,
            ha="center",
            va="top",
        )
        if show_rows and layer.name:
            self.write(axis.set_ylabel, layer.name, size=9)

    def _ticks(self, put, tokens, **style):
        # Where tokens would be written over each other, leave some out.
        step = math.ceil(0.95 * self.size_of_tokens / (72 * self.cell))
        places = range(0, len(tokens), step)
        put(
            places,
            [self._short(tokens[i]) for i in places],
            fontsize=self.size_of_tokens,
            color=_INK,
            family=self.families,
            parse_math=False,  # a `$` in a token is no mathematics
            **style,
        )

    def write(self, put, text, size, **style):
        """Write `text` by calling `put`."""
        put(
            drawable_text(text, self.drawable),
            fontsize=size,
            color=_INK,
            family=self.families,
            **style,
        ).set_parse_math(False)

    def _short(self, token):
        if len(token) > _LONGEST_TOKEN:
            token = token[: _LONGEST_TOKEN - 1] + "…"
        return drawable_text(token, self.drawable)

    def _length(self, tokens):
        """About how many inches the longest token takes."""
        longest = max(len(self._short(token)) for token in tokens)
        return 0.6 * longest * self.size_of_tokens / 72
