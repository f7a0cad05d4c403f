"""The pictures of docs/real_data.md and of the notebook, in the style of all figures of the package."""

from collections.abc import Mapping
from io import BytesIO
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image

from sparsebandits.arguments import FloatArray, IntArray
from sparsebandits.results import mean_interval
from sparsebandits.results.plots import (
    COLOURS,
    PALE,
    Look,
    dress,
    house_style,
    legend_below,
    legend_shape,
    looks,
    new_figure,
)
from studies.real_data.pools import POOLS, TOP, Pool
from studies.real_data.record import found_curves
from studies.real_data.tables import paper_name

SHOWN = 20
"""Number of features in the picture of inclusion probabilities."""

COLOURS_OF_AN_IMAGE = 64


@house_style()
def searches_image(results: Mapping[str, Mapping[str, Any]]) -> Image.Image:
    """Draw how many of the top have been found against measurements: one panel per pool, 95% bands over seeds."""
    names = list(dict.fromkeys(name for result in results.values() for name in result["searches"]))
    look = looks(names)
    width = 4.7 * len(results) if len(results) > 1 else 6.4
    columns, below = legend_shape(names, width)
    figure = new_figure(width, 3.6 + below)
    seeds = 0
    for axes, (pool_name, result) in zip(np.ravel(figure.subplots(1, len(results))), results.items(), strict=True):
        pool = POOLS[pool_name]()
        rounds = np.arange(1, len(pool) * 6 // 10 + 1)
        for name, searches in result["searches"].items():
            seeds = max(seeds, len(searches))
            _line_and_band(axes, rounds, found_curves(searches, rounds), look[name])
        axes.set_title(f"{len(pool)} {pool.candidates}, {pool.features.shape[1]} features")
        axes.set_xlabel(f"measurements of {pool.measured}")
        axes.set_ylabel(f"of the {TOP} largest, found")
        axes.set_ylim(0, TOP + 0.2)
        axes.set_xlim(0, rounds[-1])
        dress(axes)
    handles = [
        Line2D([], [], color=look[n].colour, linestyle=look[n].dashes, marker=look[n].marker, markersize=4)
        for n in names
    ]
    legend_below(figure, handles, names, f"mean and 95% band over {seeds} searches each", columns)
    return image(figure)


def _line_and_band(axes: Axes, rounds: IntArray, found: FloatArray, look: Look) -> None:
    axes.plot(
        rounds,
        found.mean(axis=0),
        color=look.colour,
        linestyle=look.dashes,
        marker=look.marker,
        markersize=4,
        markevery=len(rounds) // 8,
        linewidth=1.4,
    )
    nodes = np.unique(np.linspace(0, len(rounds) - 1, 60).astype(int))
    low, high = mean_interval(found[:, nodes])
    axes.fill_between(rounds[nodes], low, high, color=look.colour, alpha=0.12, linewidth=0)


@house_style()
def inclusion_image(result: Mapping[str, Any], pool: Pool) -> Image.Image:
    """Draw inclusion probabilities of the most likely features; a dot marks those that the Lasso keeps."""
    inclusion = np.array(result["selection"]["inclusion"])
    order = np.argsort(-inclusion, kind="stable")[:SHOWN]
    kept = np.isin(order, result["selection"]["Lasso by cross-validation"])
    names = [paper_name(pool.feature_names[j]) for j in order]
    places = np.arange(len(order))
    figure = new_figure(7.2, 3.6)
    axes = figure.add_subplot()
    axes.bar(places, inclusion[order], color=PALE, edgecolor=COLOURS[0], linewidth=0.8, label="P(included)")
    axes.plot(
        places[kept],
        np.full(kept.sum(), 1.06),
        linestyle="none",
        marker="o",
        markersize=4,
        color=COLOURS[1],
        label="kept by the Lasso, cross-validated",
    )
    axes.axhline(0.5, color="#555555", linewidth=0.8, linestyle=(0, (4, 3)))
    axes.set_xticks(places, names, rotation=60, ha="right", fontsize=8)
    axes.set_ylim(0, 1.12)
    axes.set_yticks(np.linspace(0, 1, 6))
    axes.set_ylabel("probability that it matters")
    axes.set_title(f"{SHOWN} of {pool.features.shape[1]} features, after all {len(pool)} {pool.candidates}")
    dress(axes)
    axes.grid(axis="x", visible=False)
    axes.legend(frameon=False, fontsize=8, loc="upper right", bbox_to_anchor=(1.0, 0.8))
    return image(figure)


def image(figure: Figure) -> Image.Image:
    """Return a figure as an image with few colours: a notebook shows it, and ``save`` writes it."""
    content = BytesIO()
    figure.savefig(content, format="png")
    return Image.open(content).convert("RGB").quantize(COLOURS_OF_AN_IMAGE)
