"""Draw how gradients fade or grow on their way back in time."""

import pathlib

import numpy as np

# Colours that people with colour-blindness can tell apart.
_COLOURS = ("#2f6db3", "#e07b39", "#3a9d6e", "#8e5bb5", "#c94f5d", "#7a7f87")
_INK, _PALE = "#24292f", "#d0d7de"


def plot_gradient_flow(flows, path=None, title=None, *, dpi=150):
    r"""Draw gradient norms against lag, and the Jacobians' singular values.

    Left, on a logarithmic axis: $\|dL/dh_t\|$, averaged over the batch. A
    straight line downwards is a gradient that vanishes, upwards one that
    explodes; dashed, for an LSTM, $\|dL/dc_t\|$ of its cells. Right: the
    spectrum of the step's Jacobian, the median over time and the range in
    which nine of ten steps lie. Where it is above 1 a step back makes a
    gradient longer, where it is below it makes it shorter.

    Args:
        flows: `{label: GradientFlow}`, as `gradient_flow` returns it; join
            several of them to compare models.
        path: Where to write, `.png`, `.svg` or `.pdf`. Default: nowhere.
        title: Text above the drawing.
        dpi: Dots per inch.

    Returns:
        The path that was written, or else a `matplotlib.figure.Figure`.

    Example:
        >>> from keras_seq.explain import GradientFlow
        >>> ones = np.ones((5, 1))
        >>> powers = 0.5 ** np.arange(5.0)
        >>> flow = GradientFlow("rnn", powers[None], None, ones / 2,
        ...     ones[:, 0] / 2, powers)
        >>> figure = plot_gradient_flow({"rnn": flow})
        >>> [axis.get_xlabel() for axis in figure.axes]
        ['steps back in time', 'direction, strongest first (%)']
    """
    # The object API: pyplot would keep a reference to every figure.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if not flows:
        raise ValueError("`flows` must name at least one. Received: none")
    path = None if path is None else pathlib.Path(path)
    if path and path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise ValueError(
            f"`path` must end in .png, .svg or .pdf. Received: {str(path)!r}"
        )
    figure = Figure(
        figsize=(10, 4.2), dpi=dpi, facecolor="white", layout="constrained"
    )
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    for n, (label, flow) in enumerate(flows.items()):
        colour = _COLOURS[n % len(_COLOURS)]
        line = {"color": colour, "linewidth": 2.2}
        left.semilogy(flow.lag, _positive(flow.norm), label=label, **line)
        if flow.cell_norm is not None:
            cell = _positive(flow.cell_norm)
            left.semilogy(
                flow.lag, cell, "--", label=f"{label}, its cells", **line
            )
        values = flow.singular_values
        if len(values):
            rank = 100 * np.arange(1, values.shape[1] + 1) / values.shape[1]
            low, middle, high = np.percentile(values, [5, 50, 95], axis=0)
            right.fill_between(
                rank, low, high, color=colour, alpha=0.2, linewidth=0
            )
            right.plot(rank, middle, **line)
    left.set_title(r"Gradient norm $\|dL/dh_t\|$", loc="left")
    left.set_xlabel("steps back in time")
    left.legend(frameon=False)
    left.xaxis.get_major_locator().set_params(integer=True)
    right.set_title("Singular values of a step's Jacobian", loc="left")
    right.set_xlabel("direction, strongest first (%)")
    right.axhline(1.0, color=_INK, linewidth=0.8, linestyle="--", zorder=0)
    right.set_ylim(bottom=0.0)
    for axes in (left, right):
        axes.tick_params(colors=_INK, labelsize=9)
        axes.grid(axis="y", color=_PALE, linewidth=0.6)
        for side, spine in axes.spines.items():
            spine.set_visible(side in ("left", "bottom"))
            spine.set_color(_PALE)
    if title:
        figure.suptitle(title, color=_INK, fontsize=13, x=0.01, ha="left")
    if path is None:
        return figure
    figure.savefig(path)
    return path


def _positive(norms):
    """Leave a gap where a gradient is exactly zero: its logarithm is not."""
    return np.where(norms > 0, norms, np.nan)
