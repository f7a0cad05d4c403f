"""Bounds on regret over the horizon, on logarithmic axes, where a power of n is a straight line."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from sparsebandits.results.plots.style import (
    Target,
    dress,
    house_style,
    legend_below,
    legend_shape,
    looks,
    new_figure,
    plain,
    write,
)
from sparsebandits.theory.regret import LOWER, RATE, RegretBound, RegretBounds

EVERY = 7
"""Half the number of points between the markers of a line."""


@house_style()
def bound_curves(bounds: Sequence[RegretBounds], path: Target, horizon: int, title: str = "") -> None:
    """Draw each bound that has a constant over the horizon; lower bounds have markers.

    A bound is left out where its conditions are not met. Vertical lines mark ``horizon`` and the horizon at which the
    two terms of Theorem 1, as printed, cross.

    Parameters
    ----------
    bounds : sequence of RegretBounds
        The bounds at increasing horizons, from :func:`sparsebandits.theory.regret_bounds_over`.
    path : str, path or binary file
        PNG, SVG or PDF file, or an open file, which gets SVG.
    horizon : int
        Horizon to mark.
    title : str, default=""
        Title of the figure.
    """
    curves: dict[str, list[tuple[int, float]]] = {}
    for at in bounds:
        for row in _drawn(at.rows):
            curves.setdefault(_label(row), [])
            if row.holds:
                curves[_label(row)].append((at.problem.horizon, row.value))
    curves = {name: points for name, points in curves.items() if points}
    order = sorted(curves, key=lambda name: -curves[name][-1][1])
    lower = {_label(row) for row in bounds[-1].rows if row.side == LOWER}
    look = looks(curves)
    handles = {}
    columns, below = legend_shape([plain(name) for name in order], 7.6)
    figure = new_figure(7.6, 4.4 + below)
    axes = figure.add_subplot()
    for i, name in enumerate(curves):
        x, y = np.array(curves[name]).T
        drawn = look[name]
        marker = drawn.point if name in lower else drawn.marker
        axes.plot(
            x,
            y,
            color=drawn.colour,
            linestyle=drawn.dashes,
            linewidth=1.6,
            marker=marker,
            markersize=4.5,
            markevery=(i % EVERY, 2 * EVERY),
        )
        handles[name] = Line2D(
            [], [], color=drawn.colour, linestyle=drawn.dashes, linewidth=1.6, marker=marker, markersize=4.5
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(bounds[0].problem.horizon, bounds[-1].problem.horizon)
    dress(axes)
    last, crosses = bounds[-1].problem.horizon, bounds[-1].regime.crossover
    _mark(axes, float(horizon), f"n = {horizon}", 0.015)
    if crosses is not None and crosses <= last:
        _mark(axes, crosses, "terms of Theorem 1, as printed, cross", 0.075)
    axes.set_xlabel("horizon n")
    axes.set_ylabel("bound on regret")
    axes.set_title(plain(title, 85))
    caption = "rates without a constant are left out"
    legend_below(figure, [handles[name] for name in order], [plain(name) for name in order], caption, columns)
    write(figure, path)


def _mark(axes: Axes, place: float, text: str, height: float) -> None:
    """Draw a vertical line with text on the side that has more room."""
    axes.axvline(place, color="#555555", linewidth=0.9)
    first, last = axes.get_xlim()
    right = math.log(place / first) < 0.5 * math.log(last / first)
    axes.annotate(
        plain(text),
        (place, height),
        xycoords=("data", "axes fraction"),
        xytext=(3 if right else -3, 0),
        textcoords="offset points",
        ha="left" if right else "right",
        fontsize=8,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0},
    )


def _drawn(rows: Sequence[RegretBound]) -> list[RegretBound]:
    """Return the bounds with a constant, without the corollary for Thompson sampling, which equals Theorem 1."""
    return [row for row in rows if row.constant != RATE and not row.source.startswith("Corollary")]


def _label(row: RegretBound) -> str:
    if row.source == "trivial":
        return f"trivial, {row.constant}"
    if row.side == LOWER:
        return f"{row.source}, {row.policy}, from below"
    return f"Theorem 1, {row.actions.split(',')[0]}, {row.constant}"
