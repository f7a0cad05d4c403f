"""Lines with 95% bands: regret over rounds, in one panel or several; paired differences; a swept parameter."""

from collections.abc import Collection, Mapping, Sequence
from math import ceil
from typing import Protocol

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, NullFormatter, NullLocator, ScalarFormatter

from sparsebandits.arguments import FloatArray, IntArray
from sparsebandits.results.plots.style import (
    Look,
    Target,
    dress,
    house_style,
    labelled,
    legend_below,
    legend_shape,
    looks,
    new_figure,
    plain,
    write,
)
from sparsebandits.results.statistics import mean_interval, paired
from sparsebandits.tables import formatted

BAND_NODES = 100
"""Number of rounds at which a band is computed; between them it is interpolated linearly."""

ACROSS = 3
"""Largest number of panels side by side."""


class Curves(Protocol):
    """What a panel shows, such as a :class:`~sparsebandits.Result`."""

    @property
    def regret(self) -> Mapping[str, FloatArray]:
        """Cumulative regret of shape (trials, recorded rounds) by policy."""

    @property
    def rounds(self) -> IntArray | None:
        """The recorded rounds, from 1; None for all."""


@house_style()
def regret_curves(
    regret: Mapping[str, FloatArray],
    path: Target | None = None,
    title: str = "",
    rounds: IntArray | None = None,
    y_label: str = "cumulative regret",
) -> Figure:
    """Draw mean regret over rounds with pointwise 95% bands.

    Parameters
    ----------
    regret : mapping of str to array of shape (trials, P)
        Curves of each policy at the recorded rounds.
    path : str, path or binary file, optional
        PNG, SVG or PDF file, or an open file, which gets SVG; by default nothing is written.
    title : str, default=""
        Title of the figure.
    rounds : array of shape (P,), default=None
        The recorded rounds, from 1; None for all rounds.
    y_label : str, default="cumulative regret"
        Label of the curves.

    Returns
    -------
    Figure
        The figure.
    """
    labels = _labels(regret)
    columns, below = legend_shape(list(labels.values()), 6.4)
    figure = new_figure(6.4, 3.9 + below)
    axes = figure.add_subplot()
    _draw_curves(axes, regret, rounds, looks(regret))
    axes.set_ylabel(plain(y_label, 45))
    axes.set_title(plain(title, 75))
    order = _standing([regret])
    legend_below(figure, _handles(order, looks(regret)), [labels[n] for n in order], _drawn(_most(regret)), columns)
    if path is not None:
        write(figure, path)
    return figure


@house_style()
def regret_panels(
    panels: Mapping[str, Curves],
    path: Target,
    title: str = "",
    y_label: str = "cumulative regret",
    beyond: Collection[str] = (),
) -> None:
    """Draw mean regret in panels side by side with one legend; a policy looks the same in all panels.

    Parameters
    ----------
    panels : mapping of str to Result
        What each panel shows, by title.
    path : str, path or binary file
        PNG, SVG or PDF file, or an open file, which gets SVG.
    title : str, default=""
        Title of the figure.
    y_label : str, default="cumulative regret"
        Label of the curves.
    beyond : collection of str, default=()
        Policies that are ignored when the height of a panel is set, so their curves may leave it; a note in the panel
        says where those end.
    """
    names = list(dict.fromkeys(name for panel in panels.values() for name in panel.regret))
    look = looks(names)
    labels = labelled({n: [len(p.regret[n]) for p in panels.values() if n in p.regret] for n in names})
    across = min(ACROSS, len(panels))
    down = ceil(len(panels) / across)
    width = max(3.4 * across, 6.4)
    columns, below = legend_shape(list(labels.values()), width)
    figure = new_figure(width, 2.9 * down + below)
    grid = figure.subplots(down, across, squeeze=False)
    for axes, (heading, panel) in zip(grid.flat, panels.items(), strict=False):
        _draw_curves(axes, panel.regret, panel.rounds, look)
        axes.set_title(plain(heading, 36))
        inside = [curves for policy, curves in panel.regret.items() if policy not in beyond]
        if len(inside) < len(panel.regret) and inside:
            top = 1.1 * max(float(curves.mean(axis=0).max()) for curves in inside)
            axes.set_ylim(top=top)
            ends = {name: float(panel.regret[name].mean(axis=0)[-1]) for name in beyond if name in panel.regret}
            above = [
                f"{plain(name, 24)} ({formatted(float(f'{ends[name]:.3g}'))})" for name in ends if ends[name] > top
            ]
            if above:
                note = f"beyond the panel, at the end: {'; '.join(above)}"
                axes.set_title(plain(heading, 36), pad=17.0)
                axes.text(0.5, 1.02, note, transform=axes.transAxes, ha="center", fontsize=6.5, color="#444444")
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for axes in grid[:, 0]:
        axes.set_ylabel(plain(y_label, 45))
    figure.suptitle(plain(title, int(12 * width)), fontsize=11)
    order = _standing([panel.regret for panel in panels.values()])
    trials = max(_most(panel.regret) for panel in panels.values())
    legend_below(figure, _handles(order, look), [labels[n] for n in order], _drawn(trials), columns)
    write(figure, path)


@house_style()
def difference_curves(
    regret: Mapping[str, FloatArray], baseline: str, path: Target, title: str = "", rounds: IntArray | None = None
) -> None:
    """Draw the regret of each policy minus that of the baseline, paired by trial, with pointwise 95% bands.

    Parameters
    ----------
    regret : mapping of str to array of shape (trials, P)
        Curves of each policy at the recorded rounds.
    baseline : str
        The policy that the others are compared with.
    path : str, path or binary file
        PNG, SVG or PDF file, or an open file, which gets SVG.
    title : str, default=""
        Title of the figure.
    rounds : array of shape (P,), default=None
        The recorded rounds, from 1; None for all rounds.
    """
    differences = {}
    for name, curves in regret.items():
        if name != baseline:
            mine, base = paired(curves, regret[baseline])
            differences[name] = mine - base
    look = looks(regret)
    order = _standing([differences])
    labels = _labels(differences)
    baseline_label = plain(f"{baseline} (baseline)")
    columns, below = legend_shape([*labels.values(), baseline_label], 6.4)
    figure = new_figure(6.4, 3.9 + below)
    axes = figure.add_subplot()
    line = axes.axhline(0.0, color="#555555", linewidth=1.0)
    _draw_curves(axes, differences, rounds, look)
    axes.set_ylabel("difference of cumulative regret")
    axes.set_title(plain(title, 75))
    at = next((i for i, name in enumerate(order) if differences[name][:, -1].mean() < 0), len(order))
    handles: list[Line2D] = _handles(order, look)
    texts = [labels[name] for name in order]
    caption = f"{_drawn(_most(differences), 'mean paired difference and 95% band')}; below zero is better"
    legend_below(
        figure, [*handles[:at], line, *handles[at:]], [*texts[:at], baseline_label, *texts[at:]], caption, columns
    )
    write(figure, path)


@house_style()
def sweep(
    values: Mapping[str, Mapping[float, FloatArray]],
    path: Target,
    x_label: str,
    y_label: str = "cumulative regret",
    title: str = "",
    log_x: bool = False,
) -> None:
    """Draw means with 95% intervals over a parameter; points of the same value are spread a little sideways.

    Parameters
    ----------
    values : mapping of str to mapping of float to array of shape (trials,)
        One number per trial, by policy and value of the parameter.
    path : str, path or binary file
        PNG, SVG or PDF file, or an open file, which gets SVG.
    x_label : str
        Name of the parameter.
    y_label : str, default="cumulative regret"
        Label of the means.
    title : str, default=""
        Title of the figure.
    log_x : bool, default=False
        Whether the axis of the parameter is logarithmic.
    """
    look = looks(values)
    samples = {name: max(points.values(), key=len) for name, points in values.items()}
    labels = _labels(samples)
    columns, below = legend_shape(list(labels.values()), 6.4)
    figure = new_figure(6.4, 3.9 + below)
    axes = figure.add_subplot()
    swept = np.unique([float(x) for points in values.values() for x in points])
    places = np.log(swept) if log_x else swept
    gap = float(np.diff(places).min()) if len(places) > 1 else 1.0
    for i, (name, points) in enumerate(values.items()):
        x = np.sort([float(key) for key in points])
        shift = 0.2 * gap * ((i + 0.5) / len(values) - 0.5)
        apart = x * np.exp(shift) if log_x else x + shift
        samples_at = {float(key): np.asarray(value, dtype=np.float64) for key, value in points.items()}
        mean = np.array([samples_at[key].mean() for key in x.tolist()])
        ends = np.array([mean_interval(samples_at[key]) for key in x.tolist()]).reshape(len(x), 2).T
        drawn = look[name]
        line = {"color": drawn.colour, "linestyle": drawn.dashes, "marker": drawn.point, "markersize": 5}
        axes.plot(apart, mean, **line, clip_on=False)  # else markers at zero would be cut in half
        known = np.isfinite(ends[0])
        whiskers = np.abs(ends - mean)[:, known]
        axes.errorbar(apart[known], mean[known], whiskers, fmt="none", ecolor=drawn.colour, capsize=2.5, linewidth=1.2)
    if log_x:
        axes.set_xscale("log")
    if len(places) > 1 and gap >= 0.07 * float(places[-1] - places[0]):
        axes.set_xticks(swept, [f"{value:g}" for value in swept])
        axes.xaxis.set_minor_locator(NullLocator())
    elif log_x:
        axes.xaxis.set_major_formatter(ScalarFormatter())
        axes.xaxis.set_minor_formatter(NullFormatter())
    dress(axes)
    if all((value >= 0).all() for points in values.values() for value in points.values()):
        axes.set_ylim(bottom=0)
    axes.set_xlabel(plain(x_label, 75))
    axes.set_ylabel(plain(y_label, 45))
    axes.set_title(plain(title, 75))
    handles = [
        Line2D([], [], color=look[n].colour, linestyle=look[n].dashes, marker=look[n].point, markersize=5)
        for n in values
    ]
    caption = _drawn(_most(samples), "mean and 95% interval")
    legend_below(figure, handles, list(labels.values()), caption, columns)
    write(figure, path)


def _draw_curves(
    axes: Axes, regret: Mapping[str, FloatArray], rounds: IntArray | None, look: Mapping[str, Look]
) -> None:
    faint = 0.15 if len(regret) <= 7 else 0.07  # fainter bands where many overlap, so that the lines stand out
    for name in _standing([regret]):
        curves, drawn = regret[name], look[name]
        x = np.arange(1, curves.shape[1] + 1) if rounds is None else rounds
        axes.plot(
            x,
            curves.mean(axis=0),
            color=drawn.colour,
            linestyle=drawn.dashes,
            linewidth=1.8,
            marker=drawn.marker or ("o" if len(x) == 1 else None),
            markevery=max(1, len(x) // 8),
            markersize=5,
        )
        if len(curves) > 1:
            shown = np.unique(np.linspace(0, len(x) - 1, BAND_NODES).astype(int))
            low, high = mean_interval(curves[:, shown])
            axes.fill_between(x[shown], low, high, color=drawn.colour, alpha=faint, linewidth=0)
    last = max(curves.shape[1] for curves in regret.values()) if rounds is None else int(rounds[-1])
    axes.set_xlim(0, last)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    if all((curves >= 0).all() for curves in regret.values()):
        axes.set_ylim(bottom=0)
        if not any(curves.any() for curves in regret.values()):
            axes.set_ylim(0, 1)
    axes.set_xlabel("round")
    dress(axes)


def _standing(panels: Sequence[Mapping[str, FloatArray]]) -> list[str]:
    """Return the policies by final mean in the last panel that has them, largest first."""
    final = {name: float(curves[:, -1].mean()) for panel in panels for name, curves in panel.items()}
    return sorted(final, key=lambda name: -final[name])


def _handles(order: Sequence[str], look: Mapping[str, Look]) -> list[Line2D]:
    return [
        Line2D(
            [], [], color=look[n].colour, linestyle=look[n].dashes, linewidth=1.8, marker=look[n].marker, markersize=5
        )
        for n in order
    ]


def _labels(samples: Mapping[str, FloatArray]) -> dict[str, str]:
    return labelled({name: [len(values)] for name, values in samples.items()})


def _most(samples: Mapping[str, FloatArray]) -> int:
    return max(len(values) for values in samples.values())


def _drawn(trials: int, what: str = "mean and 95% band") -> str:
    """Return the caption: what is drawn, and over how many trials."""
    return f"{what}, {trials} trials" if trials > 1 else "one trial, no interval"
