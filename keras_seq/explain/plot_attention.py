"""Draw attention as a picture or as a page, from plain arrays."""

import pathlib

from keras_seq.explain.attention_figure import attention_figure
from keras_seq.explain.attention_html import attention_html
from keras_seq.explain.attention_maps import attention_maps

_PICTURES = (".png", ".svg", ".pdf")


def plot_attention(
    weights, rows, columns, path=None, title=None, *, heads="all", dpi=150
):
    """Draw where each token looked, for all layers and heads.

    A row is a token that looks, a column a token that is looked at. A token
    that sees nothing (a row of zeros, or of NaN) is left hatched.

    Args:
        weights: Array `(T, S)`, `(H, T, S)` or `(layers, H, T, S)`; or a dict
            `{layer name: weights}` of `(T, S)`, `(H, T, S)` or, as
            `attention_model` gives for a batch of one, `(1, H, T, S)`.
        rows: The T tokens that look, strings or UTF-8 bytes; or a dict
            `{layer name: tokens}` if layers have different ones.
        columns: The S tokens that are looked at, a list or a dict as `rows`.
        path: Where to write. `.html` makes one self-contained page on which
            layer and head are chosen and the pointer shows the number;
            `.png`, `.svg` and `.pdf` make a picture. Default: do not write.
        title: Text above the drawing.
        heads: `"all"`, or `"mean"` for their average. A page has both.
        dpi: Dots per inch of the picture.

    Returns:
        The path that was written, or else a `matplotlib.figure.Figure`.

    Example:
        >>> words = ["Thinking", "Machines"]
        >>> figure = plot_attention([[0.88, 0.12], [0.3, 0.7]], words, words)
        >>> [number.get_text() for number in figure.axes[0].texts]
        ['0.88', '0.12', '0.30', '0.70']
    """
    if heads not in ("all", "mean"):
        raise ValueError(
            f"`heads` must be 'all' or 'mean'. Received: {heads!r}"
        )
    path = None if path is None else pathlib.Path(path)
    kind = "" if path is None else path.suffix.lower()
    if path is not None and kind not in (".html", *_PICTURES):
        raise ValueError(
            f"`path` must end in .html, {', '.join(_PICTURES)}. "
            f"Received: {str(path)!r}"
        )
    if kind == ".html":
        page = attention_html(weights, rows, columns, title)
        path.write_text(page, encoding="utf-8")
        return path
    maps = attention_maps(weights, rows, columns)
    figure = attention_figure(maps, title, heads, dpi)
    if path is None:
        return figure
    figure.savefig(path)
    return path
