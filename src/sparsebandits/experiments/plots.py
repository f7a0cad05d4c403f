"""Figures in one style: told apart by colour-blind readers (Okabe and Ito 2008) and in black and white."""

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from sparsebandits.checks import FloatArray
from sparsebandits.experiments.intervals import mean_interval

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
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
    panels: Mapping[str, tuple[FloatArray, FloatArray, float]],
    path: str | os.PathLike[str],
    columns: int,
    label: str,
) -> None:
    """Draw a weighted histogram a panel, with its mean and the truth; a panel is (values, weights, truth).

    Panels below each other share their axis.
    """
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(2.4 * columns, 1.9 * rows), dpi=200, layout="constrained")
    FigureCanvasAgg(figure)
    for i, (title, (values, weights, truth)) in enumerate(panels.items()):
        above = figure.axes[i - columns] if i >= columns else None
        axes = figure.add_subplot(rows, columns, i + 1, sharex=above)
        axes.hist(values, bins=50, weights=weights, density=True, color=COLOURS[5], edgecolor="none")
        axes.axvline(float(values @ weights), color=COLOURS[1], linewidth=1.6, label="posterior mean")
        axes.axvline(truth, color=COLOURS[6], linewidth=1.2, linestyle=DASHES[1], label="truth")
        axes.set_title(title, fontsize=9)
        axes.set_yticks([])
        axes.spines[["top", "right", "left"]].set_visible(False)
        if i // columns == rows - 1:
            axes.set_xlabel(label)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False, fontsize=8)
    _write(figure, path)


def _write(figure: Figure, path: str | os.PathLike[str]) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    dated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}  # the same curves give the same bytes
    with rc_context({"svg.hashsalt": "sparsebandits"}):
        figure.savefig(path, metadata=dated.get(Path(path).suffix.lower()))
