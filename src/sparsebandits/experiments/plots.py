"""Figures in one style: told apart by colour-blind readers (Okabe and Ito 2008) and in black and white."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.ticker import MaxNLocator

from sparsebandits.checks import FloatArray
from sparsebandits.experiments.intervals import mean_interval
from sparsebandits.posteriors.draws import Draws

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
PALE = "#B5DAF0"
"""Of areas, so that lines of any colour stand out on them."""

DASHES = (
    "-",
    (0, (5, 1.5)),
    (0, (1, 1)),
    (0, (5, 1, 1, 1)),
    (0, (3, 1, 1, 1, 1, 1)),
    (0, (8, 2)),
    (0, (2, 2)),
)

BAND_NODES = 100
"""Rounds at which a band is computed; between them it is drawn straight."""

BINS = 32
"""Bins of a histogram, about."""


def regret_curves(regret: Mapping[str, FloatArray], path: str | os.PathLike[str], title: str = "") -> None:
    """Draw mean cumulative regret over rounds with pointwise 95% bands; ``regret[name]`` is (trials, rounds)."""
    figure = Figure(figsize=(6.4, 4.2), dpi=200, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    # Lines keep their style from run to run: it goes by name order, the legend by standing.
    style = {name: (COLOURS[i % 7], DASHES[(i + i // 7) % 7]) for i, name in enumerate(regret)}
    for name in sorted(regret, key=lambda name: -float(regret[name][:, -1].mean())):
        curves = regret[name]
        colour, dashes = style[name]
        rounds = np.arange(1, curves.shape[1] + 1)
        axes.plot(rounds, curves.mean(axis=0), color=colour, linestyle=dashes, linewidth=1.8, label=name)
        if len(curves) > 1:
            shown = np.unique(np.linspace(0, len(rounds) - 1, BAND_NODES).astype(int))
            low, high = mean_interval(curves[:, shown])
            axes.fill_between(rounds[shown], low, high, color=colour, alpha=0.15, linewidth=0)
    trials = len(next(iter(regret.values())))
    axes.set_xlabel("round")
    axes.set_ylabel("cumulative regret")
    axes.set_xlim(0, max(curves.shape[1] for curves in regret.values()))
    axes.set_ylim(bottom=0)
    if title:
        axes.set_title(title, fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.6)
    band = f"mean and 95% band, {trials} trials" if trials > 1 else "one trial"
    axes.legend(frameon=False, handlelength=3.2, title=band, alignment="left")
    _write(figure, path)


def histograms(
    rows: Mapping[str, Draws],
    truth: FloatArray,
    path: str | os.PathLike[str],
    title: str = "",
    caption: str = "",
) -> None:
    """Draw a row of panels for each posterior: histograms of its first coordinates, one for each number of ``truth``.

    Panels below each other share their bins, and their heights too, except where some draws are exactly zero: that
    bar would dwarf the others, so such a panel has a height of its own and says how much of the mass is there.
    """
    figure = Figure(figsize=(2.6 * len(truth), 1.7 * len(rows) + 1.0), dpi=200, layout="constrained")
    FigureCanvasAgg(figure)
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
    _write(figure, path)


def _panel(
    axes: Axes, values: FloatArray, weights: FloatArray, truth: float, edges: FloatArray, symbol: str
) -> float | None:
    """Draw one histogram; return the height of its largest bar, or None if that holds a point mass at zero."""
    heights = np.histogram(values, edges, weights=weights)[0]
    axes.stairs(heights, edges, fill=True, facecolor=PALE, edgecolor=COLOURS[0], linewidth=0.7)
    # Thin dashes on a thick line: both are seen where they coincide.
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

    Zero, where it is covered, is the centre of a bin, so that a point mass there is drawn where it is.

    >>> zero_centred_bins([(np.array([-1.0, 1.0]), np.array([0.5, 0.5]))], 0.0)[[0, 1, -1]].round(3)
    array([-1.031, -0.969,  1.031])
    """
    bulk = [np.quantile(values, [0.001, 0.999], weights=weights, method="inverted_cdf") for values, weights in columns]
    low, high = float(np.min([*np.ravel(bulk), truth])), float(np.max([*np.ravel(bulk), truth]))
    width = (high - low) / BINS or 1.0
    first, last = np.floor(np.array([low, high]) / width + 0.5)
    return (np.arange(first, last + 2) - 0.5) * width


def _write(figure: Figure, path: str | os.PathLike[str]) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    dated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}  # the same curves give the same bytes
    with rc_context({"svg.hashsalt": "sparsebandits"}):
        figure.savefig(path, metadata=dated.get(Path(path).suffix.lower()))
