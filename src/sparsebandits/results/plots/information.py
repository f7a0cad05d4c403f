"""Information ratios along a run with their bounds, and the information gained with the information available."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from sparsebandits.arguments import FloatArray, IntArray
from sparsebandits.results.plots.style import (
    COLOURS,
    DASHES,
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
from sparsebandits.theory.bounds import COVERING_CONSTANT
from sparsebandits.theory.information_path import LEAST_2, LEAST_3, MIXTURE, OWN, THOMPSON, InformationPath

GREY = "#555555"
DECADES = 4
"""Decades below the largest ratio that are shown: towards the end of a run, ratios go to zero."""

GAINED, SPENT = "information gained", "entropy spent"


@dataclass(frozen=True, eq=False)
class RatioPanel:
    """Ψ_λ of several ways to choose, with the bounds as printed and the bound that holds.

    Attributes
    ----------
    exponent : int
        λ, 2 or 3.
    curves : mapping of str to array of shape (trials, measured rounds)
        The ratio of each way to choose.
    printed : mapping of str to array of shape (trials,)
        Bounds as the paper prints them.
    bound : array of shape (trials, measured rounds)
        The bound that holds.
    """

    exponent: int
    curves: Mapping[str, FloatArray]
    printed: Mapping[str, FloatArray]
    bound: FloatArray


@dataclass(frozen=True, eq=False)
class TotalPanel:
    """Information gained and entropy spent.

    Attributes
    ----------
    gained : array of shape (trials, rounds)
        Information gained up to each round.
    entropy : array of shape (trials, rounds)
        Entropy of the optimal action before each round.
    budget : tuple of (str, float)
        Name and value of the bound on the information that can be gained.
    """

    gained: FloatArray
    entropy: FloatArray
    budget: tuple[str, float]


@house_style()
def information_panels(
    ratios: Sequence[RatioPanel],
    measured: IntArray,
    total: TotalPanel,
    rounds: IntArray,
    path: Target,
    title: str = "",
) -> None:
    """Draw one panel per exponent, with logarithmic heights, and one for the information gained.

    Parameters
    ----------
    ratios : sequence of RatioPanel
        Ratios by exponent.
    measured : array of int
        Rounds at which ratios were measured.
    total : TotalPanel
        Information gained and entropy spent.
    rounds : array of int
        All rounds.
    path : str, path or binary file
        PNG, SVG or PDF file, or an open file, which gets SVG.
    title : str, default=""
        Title of the figure.
    """
    names = [*ratios[0].curves, "bound as printed", "bound that holds"]
    look = looks(ratios[0].curves)
    handles = [
        Line2D([], [], color=look[n].colour, linestyle=look[n].dashes, linewidth=1.8 if i else 3.0)
        for i, n in enumerate(look)
    ]
    handles += [Line2D([], [], color=GREY, linestyle=DASHES[2]), Line2D([], [], color="black", linewidth=1.4)]
    for name, dashes in ((GAINED, DASHES[0]), (SPENT, DASHES[1])):
        names.append(name)
        handles.append(Line2D([], [], color=COLOURS[5], linestyle=dashes, linewidth=1.8))
    columns, below = legend_shape(names, 10.2)
    figure = new_figure(10.2, 3.1 + below)
    panels = figure.subplots(1, len(ratios) + 1)
    for axes, panel in zip(panels, ratios, strict=False):
        _draw_ratios(axes, panel, measured)
    _draw_total(panels[-1], total, rounds)
    for axes in panels:
        axes.set_xlim(0, int(rounds[-1]))
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        axes.set_xlabel("round")
        dress(axes)
    trials = len(total.gained)
    caption = "one run" if trials == 1 else f"median (ratios) and mean (information) of {trials} runs"
    figure.suptitle(plain(title, 120), fontsize=11)
    legend_below(figure, handles, names, caption, columns)
    write(figure, path)


def _draw_ratios(axes: Axes, panel: RatioPanel, measured: IntArray) -> None:
    look = looks(panel.curves)
    heights = []
    for i, (name, curves) in enumerate(panel.curves.items()):
        known = np.isfinite(curves).all(axis=0)  # a policy may not know its own probabilities
        middle = np.median(curves[:, known], axis=0)
        positive = middle > 0  # zero has no logarithm
        heights += middle[positive].tolist()
        axes.plot(
            measured[known][positive],
            middle[positive],
            color=look[name].colour,
            linestyle=look[name].dashes,
            linewidth=1.8 if i else 3.0,  # wider, so that it shows where others lie on top of it
            marker="o" if positive.sum() == 1 else None,
        )
    bound = np.median(panel.bound, axis=0)
    axes.plot(measured, np.where(np.isfinite(bound), bound, np.nan), color="black", linewidth=1.4)
    for name, values in panel.printed.items():
        height = float(np.median(values))
        if not np.isfinite(height):  # the actions do not span the space
            continue
        axes.axhline(height, color=GREY, linestyle=DASHES[2], linewidth=1.4)
        _label(axes, height, name, GREY)
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    axes.set_ylim(max(low, max(heights, default=1.0) * 10.0**-DECADES), high)
    power = {2: "²", 3: "³"}[panel.exponent]
    axes.set_title(f"$\\Psi_{panel.exponent}$ = (expected regret){power} / information gain")


def _draw_total(axes: Axes, total: TotalPanel, rounds: IntArray) -> None:
    spent = total.entropy[:, :1] - total.entropy
    axes.plot(rounds, total.gained.mean(axis=0), color=COLOURS[5], linewidth=1.8)
    axes.plot(rounds, spent.mean(axis=0), color=COLOURS[5], linestyle=DASHES[1], linewidth=1.8)
    prior = float(total.entropy[:, 0].mean())
    name, budget = total.budget
    for height, label, dashes in ((prior, "H(x*) before the first round", DASHES[3]), (budget, f"budget: {name}", "-")):
        axes.axhline(height, color="black", linestyle=dashes, linewidth=1.2)
        _label(axes, height, label, "black")
    low = min(0.0, float(spent.mean(axis=0).min()))
    axes.set_ylim(1.05 * low, 1.12 * max(budget, prior, float(total.gained.mean(axis=0).max())))
    axes.set_title("information about x*, in nats")


def _label(axes: Axes, height: float, text: str, colour: str) -> None:
    """Write text above a horizontal line, on a pale box that stays legible where a curve passes."""
    axes.annotate(
        text,
        (0.98, height),
        xytext=(0, 2),
        xycoords=axes.get_yaxis_transform(),
        textcoords="offset points",
        color=colour,
        fontsize=8,
        ha="right",
        va="bottom",
        bbox={"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 0.3},
    )


def information_path(found: InformationPath, path: Target, title: str = "") -> None:
    """Draw Ψ_{t,2}, Ψ_{t,3} and the cumulative information gain beside their bounds.

    Parameters
    ----------
    found : InformationPath
        What ``sparsebandits.experiments.information_path`` returned.
    path : str or path
        File to write; the suffix says the format.
    title : str, optional
        Title of the figure.
    """
    second, third = found.bounds()
    s, d, n = found.sparsity, found.dimension, len(found.rounds)
    budget = {"log K": float(np.log(found.n_actions))}
    printed: tuple[dict[str, FloatArray], dict[str, FloatArray]] = {"$d / 2$": np.full_like(found.c_min, d / 2)}, {}
    if s is not None:
        budget["2 s log(C d √n / s)"] = 2 * s * float(np.log(COVERING_CONSTANT * d * np.sqrt(n) / s))
        with np.errstate(divide="ignore"):
            printed[1]["$s^2 / (4\\, C_{min})$"] = s**2 / (4 * found.c_min)
    smallest = min(budget, key=lambda name: budget[name])
    panels = [
        RatioPanel(
            exponent=exponent,
            curves={
                found.policy: found.ratio(OWN, exponent),
                THOMPSON: found.ratio(THOMPSON, exponent),
                "mixture of the proof": found.ratio(MIXTURE, exponent),
                "least possible": found.ratio(least, exponent),
            },
            printed=printed[exponent - 2],
            bound=bound,
        )
        for exponent, least, bound in ((2, LEAST_2, second), (3, LEAST_3, third))
    ]
    total = TotalPanel(
        gained=found.information,
        entropy=found.entropy,
        budget=(smallest, budget[smallest]),
    )
    information_panels(panels, found.measured, total, found.rounds, path, title)
