"""Bars: regret at chosen rounds with intervals, and histograms of how often a group of actions was played."""

from collections.abc import Mapping
from math import ceil

import numpy as np
from matplotlib.ticker import MaxNLocator

from sparsebandits.arguments import FloatArray
from sparsebandits.results.plots.style import Target, dress, house_style, labelled, looks, new_figure, plain, write
from sparsebandits.results.statistics import mean_interval
from sparsebandits.tables import formatted

ACROSS = 3
"""Largest number of panels side by side."""

BINS = 30
"""Largest number of bars of a histogram."""


@house_style()
def horizon_bars(
    regret_at: Mapping[int, Mapping[str, FloatArray]], path: Target, title: str = "", x_label: str = "cumulative regret"
) -> None:
    """Draw one panel of bars per round, with 95% intervals.

    Policies are in the order of their means at the last round, best on top, with their names beside the bars.

    Parameters
    ----------
    regret_at : mapping of int to mapping of str to array of shape (trials,)
        Regret of each policy after each round.
    path : str, path or binary file
        PNG, SVG or PDF file, or an open file, which gets SVG.
    title : str, default=""
        Title of the figure.
    x_label : str, default="cumulative regret"
        What the bars show.
    """
    last = regret_at[max(regret_at)]
    look = looks(last)
    names = sorted(last, key=lambda name: float(last[name].mean()))
    across = min(ACROSS, len(regret_at))
    down = ceil(len(regret_at) / across)
    named = labelled({name: [len(last[name])] for name in names}, 42)
    labels = [named[name] for name in names]
    beside = 0.075 * max(len(line) for label in labels for line in label.split("\n")) + 0.2
    tall = len(labels) * max(0.3, 0.15 * max(label.count("\n") + 1 for label in labels) + 0.08)
    figure = new_figure(max(6.4, beside + 2.1 * across), (tall + 0.75) * down + 0.6)
    grid = figure.subplots(down, across, squeeze=False, sharey=True)
    places = np.arange(len(names))
    trials = max(len(values) for values in last.values())
    for axes, (at, values) in zip(grid.flat, regret_at.items(), strict=False):
        means = np.array([values[name].mean() for name in names])
        axes.barh(
            places,
            means,
            height=0.62,
            color=[look[name].pale for name in names],
            edgecolor=[look[name].colour for name in names],
            linewidth=0.9,
        )
        ends = np.array([mean_interval(values[name]) for name in names]).reshape(len(names), 2).T
        known = np.isfinite(ends[0])
        axes.errorbar(
            means[known],
            places[known],
            xerr=np.abs(ends - means)[:, known],
            fmt="none",
            ecolor="black",
            capsize=2.5,
            linewidth=1.1,
        )
        reach = np.where(known, ends[1], means)
        span = float(reach.max()) or 1.0
        for place, mean, end in zip(places, means, reach, strict=True):
            axes.text(end + 0.03 * span, place, formatted(float(f"{mean:.3g}")), va="center", fontsize=8)
        axes.set_xlim(0, 1.3 * span)
        axes.xaxis.set_major_locator(MaxNLocator(4))
        axes.set_title(f"round {at}")
        dress(axes)
        axes.grid(visible=False, axis="y")
    grid[0, 0].set_yticks(places, labels, fontsize=9)
    grid[0, 0].set_ylim(len(names) - 0.5, -0.5)
    for axes in grid.flat[len(regret_at) :]:
        axes.set_axis_off()
    interval = f"mean and 95% interval, {trials} trials" if trials > 1 else "one trial, no interval"
    figure.supxlabel(f"{x_label}: {interval}", fontsize=9)
    if title:
        figure.suptitle(plain(title, 75), fontsize=11)
    write(figure, path)


@house_style()
def pull_histograms(
    counts: Mapping[str, FloatArray], path: Target, title: str = "", x_label: str = "pulls in a trial"
) -> None:
    """Draw one histogram per policy: the share of trials by how often it played a group of actions.

    Panels share bins and scales, so that bars can be compared between them.

    Parameters
    ----------
    counts : mapping of str to array of shape (trials,)
        How often each policy played the group, one number per trial.
    path : str, path or binary file
        PNG, SVG or PDF file, or an open file, which gets SVG.
    title : str, default=""
        Title of the figure.
    x_label : str, default="pulls in a trial"
        Label of the counts.
    """
    look = looks(counts)
    edges = pull_bins(int(max(values.max() for values in counts.values())))
    across = 1 if len(counts) <= 3 else 2 if len(counts) <= 8 else ACROSS
    down = ceil(len(counts) / across)
    width = 6.4 if across < ACROSS else 8.4
    means = {name: f"mean {formatted(float(f'{values.mean():.3g}'))}" for name, values in counts.items()}
    named = labelled({name: [len(values)] for name, values in counts.items()}, int(13 * width / across) - 6)
    titles = [f"{named[name]}\n{means[name]}" for name in counts]
    lines = [max(title.count("\n") + 1 for title in titles[i * across : (i + 1) * across]) for i in range(down)]
    figure = new_figure(width, sum(1.0 + 0.16 * count for count in lines) + 0.9)
    grid = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True)
    shares = {name: np.histogram(values, edges)[0] / len(values) for name, values in counts.items()}
    for axes, (name, values), title_of in zip(grid.flat, counts.items(), titles, strict=False):
        axes.stairs(
            shares[name], edges, fill=True, facecolor=look[name].pale, edgecolor=look[name].colour, linewidth=0.9
        )
        axes.axvline(float(values.mean()), color="black", linewidth=1.2, linestyle=(0, (4, 2)))
        axes.set_title(title_of, loc="left", fontsize=9)
        axes.yaxis.set_major_locator(MaxNLocator(3))
        dress(axes)
    grid[0, 0].set_ylim(0, 1.1 * max(float(heights.max()) for heights in shares.values()))
    for axes in grid.flat[len(counts) :]:
        axes.set_axis_off()
    for column in grid.T:
        shown = [axes for axes in column if axes.axison]
        shown[-1].tick_params(labelbottom=True)
    margin = 0.02 * (edges[-1] - edges[0])
    grid[0, 0].set_xlim(edges[0] - margin, edges[-1] + margin)
    grid[0, 0].xaxis.set_major_locator(MaxNLocator(6, integer=True))
    trials = max(len(values) for values in counts.values())
    figure.supxlabel(f"{x_label} ({trials} trial{'s' if trials > 1 else ''}; dashes: mean)", fontsize=9)
    figure.supylabel("share of trials", fontsize=9)
    if title:
        figure.suptitle(plain(title, 75), fontsize=11)
    write(figure, path)


def pull_bins(most: int) -> FloatArray:
    """Return the edges of at most ``BINS`` bars of the same whole-number width that cover the counts 0 to ``most``.

    Examples
    --------
    >>> pull_bins(3)
    array([-0.5,  0.5,  1.5,  2.5,  3.5])
    >>> pull_bins(100)[[0, 1, -1]]
    array([ -0.5,   3.5, 103.5])
    """
    width = ceil((most + 1) / BINS)
    return width * np.arange(ceil((most + 1) / width) + 1, dtype=np.float64) - 0.5
