"""Draw words by their weight, as a picture or as a page, from plain arrays."""

import pathlib

from keras_seq.explain.drawn_texts import drawn_texts
from keras_seq.explain.words_figure import words_figure
from keras_seq.explain.words_html import words_html

_PICTURES = (".png", ".svg", ".pdf")


def plot_words(texts, path=None, title=None, *, dpi=150):
    """Draw texts with their words on grounds as strong as their weights.

    Blue speaks for the answer, orange against it, each text on its own scale;
    words that decide, if they are given, are underlined.

    Args:
        texts: As for `keras_seq.explain.words_ansi`.
        path: Where to write. `.html` makes one self-contained page; `.png`,
            `.svg` and `.pdf` make a picture. Default: do not write.
        title: Text above the drawing.
        dpi: Dots per inch of the picture.

    Returns:
        The path that was written, or else a `matplotlib.figure.Figure`.

    Example:
        >>> figure = plot_words((["So", "dull", "!"], [0.1, 0.83, 0.0]))
        >>> [text.get_text() for text in figure.axes[0].texts]
        ['So', 'dull', '!']
    """
    path = None if path is None else pathlib.Path(path)
    kind = "" if path is None else path.suffix.lower()
    if path is not None and kind not in (".html", *_PICTURES):
        raise ValueError(
            f"`path` must end in .html, {', '.join(_PICTURES)}. "
            f"Received: {str(path)!r}"
        )
    if kind == ".html":
        path.write_text(words_html(texts, title), encoding="utf-8")
        return path
    figure = words_figure(drawn_texts(texts), title, dpi)
    if path is None:
        return figure
    figure.savefig(path)
    return path
