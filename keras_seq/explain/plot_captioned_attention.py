"""Draw where a captioner looked for each word, from plain arrays."""

import pathlib

from keras_seq.explain.captioned_attention import captioned_attention
from keras_seq.explain.captioned_attention_figure import (
    captioned_attention_figure,
)
from keras_seq.explain.captioned_attention_gif import write_captioned_gif
from keras_seq.explain.captioned_attention_html import (
    captioned_attention_html,
)
from keras_seq.explain.lit_image import as_pixels

_PICTURES = (".png", ".svg", ".pdf")


def plot_captioned_attention(
    image, words, attention, path=None, title=None, *, boxes=None, dpi=150
):
    """Draw a picture once for each word, lit up where the model looked.

    Each map is on its own scale: full light is its largest weight, which
    stands beside the word, and a line goes round what has half of that.

    Args:
        image: `(H, W, 3)` or `(H, W)`; integers 0 to 255 or floats 0 to 1.
        words: The T words that were said; or `{name: words}`.
        attention: `(T, h, w)`; or `{name: (T, h, w)}` for several models, like
            "soft" and "hard", to see one beside the other.
        path: Where to write. `.html` makes one self-contained page that plays
            the caption, `.gif` an animation, `.png`, `.svg` and `.pdf` a
            picture of all words. Default: do not write.
        title: Text above the drawing.
        boxes: What the words mean: for each a list of boxes `(left, top,
            right, bottom)` in pixels, drawn when it is said; or `{name: ...}`.
        dpi: Dots per inch of a picture or an animation.

    Returns:
        The path that was written, or else a `matplotlib.figure.Figure`.

    Example:
        >>> import numpy as np
        >>> figure = plot_captioned_attention(
        ...     np.ones((30, 40, 3)), ["a", "cup"], np.ones((2, 3, 4)))
        >>> [text.get_text() for text in figure.texts]
        ['image', 'a', '1.00', 'cup', '1.00']
    """
    path = None if path is None else pathlib.Path(path)
    kind = "" if path is None else path.suffix.lower()
    if path is not None and kind not in (".html", ".gif", *_PICTURES):
        raise ValueError(
            f"`path` must end in .html, .gif, {', '.join(_PICTURES)}. "
            f"Received: {str(path)!r}"
        )
    if kind == ".html":
        page = captioned_attention_html(image, words, attention, title, boxes)
        path.write_text(page, encoding="utf-8")
        return path
    pixels = as_pixels(image)
    models = captioned_attention(words, attention, boxes)
    if kind == ".gif":
        write_captioned_gif(path, pixels, models, title, dpi)
        return path
    figure = captioned_attention_figure(pixels, models, title, dpi)
    if path is None:
        return figure
    figure.savefig(path)
    return path
