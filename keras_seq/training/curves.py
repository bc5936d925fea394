"""Learning curves as a picture."""

import math

from matplotlib.figure import Figure

from keras_seq.training.atomic_files import replacing

_NOT_DRAWN = ("epoch", "seconds")


def draw_curves(history: list[dict], path=None, best_epoch=None) -> Figure:
    """Draw each number of the logs against the epoch.

    Training and validation share a panel: `loss` with `val_loss`.

    Args:
        history: The logs of each epoch, as in `FitResult.history`.
        path: Where to write a PNG, if anywhere.
        best_epoch: Epoch to mark with a line, if any.

    Returns:
        The figure.

    Example:
        >>> history = [{"epoch": 1, "loss": 2.0, "val_loss": 2.5, "bleu": 9.0}]
        >>> figure = draw_curves(history)
        >>> [axes.get_title() for axes in figure.axes]
        ['loss', 'bleu']
    """
    panels = _panels(history)
    columns = 2 if len(panels) == 4 else max(1, min(3, len(panels)))
    rows = max(1, math.ceil(len(panels) / columns))
    figure = Figure(figsize=(4.2 * columns, 3.2 * rows), layout="constrained")
    for place, (title, names) in enumerate(panels.items(), start=1):
        axes = figure.add_subplot(rows, columns, place)
        for label, name in names.items():
            points = [(e["epoch"], e[name]) for e in history if name in e]
            axes.plot(*zip(*points, strict=True), marker=".", label=label)
        if best_epoch is not None:
            axes.axvline(
                best_epoch, color="0.6", linestyle=":", label="best epoch"
            )
        axes.set_title(title.replace("_", " "))
        axes.set_xlabel("epoch")
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.grid(alpha=0.3)
        if len(names) > 1:
            axes.legend(frameon=False)
    if path is not None:
        with replacing(path) as unfinished:
            figure.savefig(unfinished, format="png", dpi=120)
    return figure


def _panels(history):
    """Return {title: {"training" or "validation" or title: name}}."""
    names = {
        name: None  # a dict keeps the order of appearance
        for logs in history
        for name, value in logs.items()
        if isinstance(value, int | float) and name not in _NOT_DRAWN
    }
    panels = {}
    for name in names:
        title = name.removeprefix("val_")
        paired = title in names and f"val_{title}" in names
        label = "validation" if name.startswith("val_") else "training"
        panels.setdefault(title, {})[label if paired else name] = name
    return panels
