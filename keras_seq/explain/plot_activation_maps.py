"""Draw where classes were seen in images, from plain arrays."""

import pathlib

import numpy as np

from keras_seq.explain.captioned_attention_figure import (
    columns_for,
    draw_picture,
)
from keras_seq.explain.drawn_texts import readable
from keras_seq.explain.heat_image import heat
from keras_seq.explain.lit_image import as_pixels, enlarge
from keras_seq.explain.token_fonts import drawable_text, fonts_for

_PICTURES = (".png", ".svg", ".pdf")
_INK, _QUIET = "#24292f", "#59636e"
# In inches: the longer side of a panel, margins, gaps, a line of text.
_PANEL, _MARGIN, _GAP, _LINE = 1.75, 0.2, 0.1, 0.28


def plot_activation_maps(
    images, maps, path=None, title=None, *, labels=None, boxes=None, dpi=150
):
    """Draw pictures, and below each the same under its heat maps.

    Every map is on its own scale, from 0 to its largest value, and spread
    smoothly over the picture. What is negative is not drawn.

    Args:
        images: N pictures `(H, W, 3)` or `(H, W)`; integers 0 to 255 or floats
            0 to 1.
        maps: `(N, h, w)` or `ActivationMaps`; or `{name: either}` to see
            several, like CAM and Grad-CAM, one below the other.
        path: Where to write, `.png`, `.svg` or `.pdf`. Default: nowhere.
        title: Text above the drawing.
        labels: N texts, to stand above the pictures.
        boxes: For each picture a list of boxes `(left, top, right, bottom)`
            in pixels, drawn on the heat maps.
        dpi: Dots per inch.

    Returns:
        The path that was written, or else a `matplotlib.figure.Figure`.

    Example:
        >>> figure = plot_activation_maps(
        ...     np.ones((2, 30, 40, 3)), np.ones((2, 3, 4)), labels=["a", "b"])
        >>> [text.get_text() for text in figure.texts], len(figure.axes)
        (['a', 'b'], 4)
    """
    path = None if path is None else pathlib.Path(path)
    if path and path.suffix.lower() not in _PICTURES:
        raise ValueError(
            f"`path` must end in {', '.join(_PICTURES)}. "
            f"Received: {str(path)!r}"
        )
    pictures = [as_pixels(image) for image in images]
    named = maps if isinstance(maps, dict) else {"": maps}
    named = {str(n): _checked(n, m, len(pictures)) for n, m in named.items()}
    labels = _one_each("labels", labels, len(pictures), "")
    boxes = _one_each("boxes", boxes, len(pictures), ())
    if not (pictures and named):
        raise ValueError(
            "`images` and `maps` must not be empty. "
            f"Received: {len(pictures)} images, {len(named)} maps"
        )
    figure = _figure(pictures, named, title, labels, boxes, dpi)
    if path is None:
        return figure
    figure.savefig(path)
    return path


def _figure(pictures, named, title, labels, boxes, dpi):
    # The object API: pyplot would keep a reference to every figure.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    columns = columns_for(len(pictures))
    blocks = -(-len(pictures) // columns)
    name_width = _LINE if any(named) else 0.0
    label_height = _LINE if any(labels) else 0.0
    title_height = 1.5 * _LINE if title else 0.0
    # As high as the highest picture of all; the others stand in the middle.
    tall = max(_PANEL * p.shape[0] / max(p.shape[:2]) for p in pictures)
    row = tall + _GAP
    block = label_height + (1 + len(named)) * row + _GAP
    width = 2 * _MARGIN + name_width + columns * (_PANEL + _GAP) - _GAP
    height = 2 * _MARGIN + title_height + blocks * block - 2 * _GAP
    figure = Figure((width, height), dpi, facecolor="white", layout="none")
    FigureCanvasAgg(figure)
    texts = [readable(str(x)) for x in (title or "", *labels, *named)]
    families, drawable = fonts_for("".join(texts))

    def write(x, y, text, points, **style):
        figure.text(
            x / width,
            1 - y / height,
            drawable_text(readable(str(text)), drawable),
            fontsize=points,
            family=families,
            va="center",
            ha="center",
            parse_math=False,
            **{"color": _INK, **style},
        )

    if title:
        write(width / 2, _MARGIN + 0.4 * _LINE, title, 14)
    for place, pixels in enumerate(pictures):
        down, across = divmod(place, columns)
        top = _MARGIN + title_height + down * block
        left = _MARGIN + name_width + across * (_PANEL + _GAP)
        if label_height:
            points = 11 * min(1, 24 / max(len(str(labels[place])), 1))
            middle = left + _PANEL / 2
            label = labels[place]
            write(middle, top + 0.4 * _LINE, label, points, weight="bold")
        top += label_height
        large = enlarge(pixels)
        drawn = [(large, ())]
        for weights in named.values():
            drawn.append((heat(large, weights[place]), boxes[place]))
        for number, (picture, found) in enumerate(drawn):
            at = top + number * row
            axis = figure.add_axes(
                (
                    left / width,
                    1 - (at + tall) / height,
                    _PANEL / width,
                    tall / height,
                )
            )
            draw_picture(axis, picture, found, pixels.shape[:2])
            if across == 0 and number and name_width:
                name = list(named)[number - 1]
                write(
                    _MARGIN + 0.4 * _LINE,
                    at + tall / 2,
                    name,
                    11 * min(1, 16 / max(len(name), 1)),
                    rotation=90,
                    color=_QUIET,
                )
    return figure


def _checked(name, maps, count):
    maps = np.asarray(getattr(maps, "maps", maps), "float64")
    of = f" of {name!r}" if name else ""
    if maps.ndim != 3 or 0 in maps.shape[1:] or len(maps) != count:
        raise ValueError(
            f"`maps`{of} must have the shape (N, h, w), one for each of the "
            f"{count} images. Received: shape {maps.shape}"
        )
    if not np.isfinite(maps).all():
        raise ValueError(f"`maps`{of} must be finite. Received: not")
    return maps


def _one_each(argument, given, count, default):
    if given is None:
        return [default] * count
    given = list(given)
    if len(given) != count:
        raise ValueError(
            f"`{argument}` must have one entry for each of the {count} images. "
            f"Received: {len(given)}"
        )
    return given
