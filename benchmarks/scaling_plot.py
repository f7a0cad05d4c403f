"""Draw ``benchmarks/scaling.png`` from the figures of ``benchmarks.scaling``: ``python -m benchmarks.scaling_plot``."""

import json
from pathlib import Path
from statistics import median

import numpy as np
from matplotlib.axes import Axes

from benchmarks.section import RESULTS, Figures
from sparsebandits.results.plots import Look, dress, house_style, looks, new_figure, write


@house_style()
def plot(figures: Figures, path: Path) -> None:
    """Draw cost against size on logarithmic scales, and against the round of the long run on plain ones."""
    drawn = new_figure(7.0, 5.6)
    panels = drawn.subplots(2, 2).ravel().tolist()
    units = list(dict.fromkeys(s["unit"] for s in figures["series"]))
    for axes, unit in zip(panels, units, strict=False):
        against_size(axes, [s for s in figures["series"] if s["unit"] == unit])
        axes.set(xscale="log", yscale="log", xlabel=unit)
    against_round(panels[-1], figures["long"])
    panels[-1].set(xlabel="round t, by stretch", xlim=(0, None), ylim=(0, None))
    for axes in panels:
        axes.set_ylabel("ms a round")
        axes.legend(frameon=False, fontsize=7)
        dress(axes)
    write(drawn, path)


def against_size(axes: Axes, series: list[Figures]) -> None:
    """Draw medians and ranges over seeds, and a line of exponent 1 from where the first series begins."""
    for look, s in zip(looks(s["name"] for s in series).values(), series, strict=True):
        costs = np.array(s["ms"])
        axes.fill_between(s["sizes"], costs.min(axis=0), costs.max(axis=0), color=look.colour, alpha=0.2, linewidth=0)
        curve(axes, s["sizes"], costs, look, f"{s['name']}: exponent {median(s['exponents']):.2f}")
    sizes, first = np.array(series[0]["sizes"]), median(row[0] for row in series[0]["ms"])
    axes.plot(sizes, first * sizes / sizes[0], color="0.6", linewidth=0.8, label="exponent 1")


def against_round(axes: Axes, long: list[Figures]) -> None:
    """Draw the mean and the median round of each stretch, medians over seeds."""
    for which, look in looks(("mean", "median")).items():
        curve(axes, long[0]["ends"], [run[which] for run in long], look, which)


def curve(axes: Axes, x: list[float], rows: object, look: Look, label: str) -> None:
    """Draw the median of the rows."""
    middle = np.median(np.asarray(rows), axis=0)
    axes.plot(x, middle, color=look.colour, linestyle=look.dashes, marker=look.point, markersize=4, label=label)


if __name__ == "__main__":
    plot(json.loads((RESULTS / "scaling.json").read_text()), Path(__file__).parent / "scaling.png")
