"""Pictures lit up word by word, side by side in a matplotlib figure."""

import numpy as np

from keras_seq.explain.lit_image import enlarge, light
from keras_seq.explain.token_fonts import drawable_text, fonts_for

_IN_A_ROW = 6
_INK, _QUIET, _GOLD = "#24292f", "#59636e", "#12b5cb"
# In inches: margins, gaps, the line above a panel, the heading of a model.
_MARGIN, _GAP, _LINE, _HEADING = 0.2, 0.12, 0.32, 0.5
_PANEL = 1.75  # the longer side


def captioned_attention_figure(pixels, models, title=None, dpi=150):
    """Return a figure: the picture, and again for each word.

    Args:
        pixels: `(H, W, 3)` uint8.
        models: A list of `CaptionedAttention`; a block of panels for each.
        title: Text above all.
        dpi: Dots per inch.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    large = enlarge(pixels)
    height, width = pixels.shape[:2]
    wide, tall = (_PANEL * n / max(height, width) for n in (width, height))
    wide = max(wide, 0.9)  # room for the words above it
    columns = columns_for(max(len(m.words) for m in models) + 1)
    lines = [-(-(len(m.words) + 1) // columns) for m in models]
    named = [bool(m.name) for m in models]
    size = (
        2 * _MARGIN + columns * (wide + _GAP) - _GAP,
        2 * _MARGIN
        + (1.3 * _LINE if title else 0)
        + sum(lines) * (_LINE + tall + _GAP)
        + _HEADING * sum(named),
    )
    figure = Figure(size, dpi, facecolor="white", layout="none")
    FigureCanvasAgg(figure)
    text = [title or "", *(m.name + m.caption for m in models)]
    families, drawable = fonts_for("".join(text) + "image0123456789.")

    def write(x, y, said, points, **style):
        figure.text(
            x / size[0],
            1 - y / size[1],
            drawable_text(said, drawable),
            fontsize=points,
            family=families,
            va="center",
            parse_math=False,
            **{"color": _INK, **style},
        )

    y = _MARGIN
    if title:
        write(size[0] / 2, y + 0.5 * _LINE, title, 14, ha="center")
        y += 1.3 * _LINE
    for model, rows, has_name in zip(models, lines, named, strict=True):
        if has_name:
            write(_MARGIN, y + 0.5 * _HEADING, model.name, 13, weight="bold")
            y += _HEADING
        panels = [("image", large, [], None)]
        for word, weights, boxes in zip(
            model.words, model.maps, model.boxes, strict=True
        ):
            lit = light(large, weights)
            panels.append((word, lit, boxes, weights.max()))
        for place, (word, picture, boxes, peak) in enumerate(panels):
            row, column = divmod(place, columns)
            x = _MARGIN + column * (wide + _GAP)
            top = y + row * (_LINE + tall + _GAP)
            middle = top + 0.55 * _LINE
            is_word = peak is not None
            style = {"weight": "bold"} if is_word else {"color": _QUIET}
            points = 12 * min(1, 9 / max(len(word), 1))
            write(x, middle, word, max(points, 6), **style)
            if is_word:
                number = f"{peak:.2f}"
                style = {"color": _QUIET, "ha": "right"}
                write(x + wide, middle, number, 8, **style)
            axis = figure.add_axes(
                (
                    x / size[0],
                    1 - (top + _LINE + tall) / size[1],
                    wide / size[0],
                    tall / size[1],
                )
            )
            draw_picture(axis, picture, boxes, (height, width))
        y += rows * (_LINE + tall + _GAP)
    return figure


def draw_picture(axis, picture, boxes, image_size):
    """Draw a picture, however much it was enlarged, and boxes on it."""
    from matplotlib.patches import Rectangle

    height, width = image_size
    axis.imshow(
        picture, extent=(0, width, height, 0), interpolation="antialiased"
    )
    axis.set_axis_off()
    for left, top, right, bottom in boxes:
        axis.add_patch(
            Rectangle(
                (left, top),
                right - left,
                bottom - top,
                fill=False,
                edgecolor=_GOLD,
                linewidth=1.6,
            )
        )


def columns_for(panels):
    """How many panels to set in a row, so that the last row is not bare.

    >>> [columns_for(n) for n in (3, 6, 7, 8, 13)]
    [3, 6, 4, 4, 5]
    """
    rows = -(-panels // _IN_A_ROW)
    return int(np.ceil(panels / rows))
