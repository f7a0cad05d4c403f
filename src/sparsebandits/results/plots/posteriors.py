"""Histograms of posteriors with the true values."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.ticker import MaxNLocator

from sparsebandits.arguments import FloatArray
from sparsebandits.posteriors.draws import Draws
from sparsebandits.results.plots.style import COLOURS, DASHES, PALE, Target, house_style, new_figure, write

BINS = 32
"""Approximate number of bins of a histogram."""


@house_style()
def histograms(
    rows: Mapping[str, Draws],
    truth: FloatArray,
    path: Target,
    title: str = "",
    caption: str = "",
) -> None:
    """Draw one row of histograms per posterior, one panel per coordinate.

    Panels of the same coordinate share their bins and heights, except where some draws are exactly zero: that bar would
    dwarf the others, so such a panel has its own height and states the probability of zero.

    Parameters
    ----------
    rows : mapping of str to Draws
        Draws of each posterior.
    truth : array of shape (m,)
        True values of the first m coordinates, which are drawn.
    path : str, path or binary file
        PNG, SVG or PDF file, or an open file, which gets SVG.
    title : str, default=""
        Title of the figure.
    caption : str, default=""
        Text below the legend.
    """
    figure = new_figure(2.6 * len(truth), 1.7 * len(rows) + 1.0)
    panels = figure.subplots(len(rows), len(truth), sharex="col", squeeze=False)
    for j, true in enumerate(truth.tolist()):
        columns = [(draws.theta[:, j], draws.weights) for draws in rows.values()]
        edges = zero_centred_bins(columns, true)
        symbol = f"$\\theta_{{{j + 1}}}$"
        tops = [_panel(axes, *column, true, edges, symbol) for axes, column in zip(panels[:, j], columns, strict=True)]
        for axes, top in zip(panels[:, j], tops, strict=True):
            if top is not None:
                axes.set_ylim(0, 1.08 * max(other for other in tops if other is not None))
        panels[-1, j].set_xlabel(symbol)
    for axes, name in zip(panels[:, 0], rows, strict=True):
        axes.set_title(name, fontsize=9, fontweight="bold", loc="left")
        axes.set_ylabel("probability of a bin", fontsize=7.5)
    figure.suptitle(title, fontsize=10.5)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    legend = figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False, fontsize=8)
    legend.set_title(caption, FontProperties(size=8))
    legend.get_title().set_multialignment("center")
    write(figure, path)


def _panel(
    axes: Axes, values: FloatArray, weights: FloatArray, truth: float, edges: FloatArray, symbol: str
) -> float | None:
    """Draw one histogram; return the height of its largest bar, or None if there is a point mass at zero."""
    heights = np.histogram(values, edges, weights=weights)[0]
    axes.stairs(heights, edges, fill=True, facecolor=PALE, edgecolor=COLOURS[0], linewidth=0.7)
    # Thin dashes on a thick line, so that both are visible where they coincide.
    axes.axvline(float(values @ weights), color=COLOURS[1], linewidth=2.0, label="posterior mean")
    axes.axvline(truth, color=COLOURS[6], linewidth=0.9, linestyle=DASHES[1], label="truth")
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(0, 1.08 * heights.max())
    axes.yaxis.set_major_locator(MaxNLocator(3))
    axes.tick_params(labelsize=7)
    axes.spines[["top", "right"]].set_visible(False)
    at_zero = float(weights @ (values == 0))
    if at_zero == 0:
        return float(heights.max())
    side, x = ("right", 0.97) if edges[0] + edges[-1] > 0 else ("left", 0.03)  # away from the bar
    axes.text(x, 0.85, f"P({symbol} = 0) = {at_zero:.3g}", transform=axes.transAxes, ha=side, fontsize=8)
    return None


def zero_centred_bins(columns: Sequence[tuple[FloatArray, FloatArray]], truth: float) -> FloatArray:
    """Return edges of equal bins over ``truth`` and the bulk (0.1% to 99.9%) of each (values, weights).

    If zero is covered, it is the centre of a bin, so that a point mass at zero is drawn in the right place.

    Examples
    --------
    >>> zero_centred_bins([(np.array([-1.0, 1.0]), np.array([0.5, 0.5]))], 0.0)[[0, 1, -1]].round(3)
    array([-1.031, -0.969,  1.031])
    """
    bulk = [np.quantile(values, [0.001, 0.999], weights=weights, method="inverted_cdf") for values, weights in columns]
    low, high = float(np.min([*np.ravel(bulk), truth])), float(np.max([*np.ravel(bulk), truth]))
    width = (high - low) / BINS or 1.0
    first, last = np.floor(np.array([low, high]) / width + 0.5)
    return (np.arange(first, last + 2) - 0.5) * width
