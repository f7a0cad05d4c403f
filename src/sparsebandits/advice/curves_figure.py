"""How the expected reward depends on the columns that matter most: one panel per column, the others at their means."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sparsebandits.advice.advice import Advice
from sparsebandits.advice.curves import EffectCurve, effect_curve
from sparsebandits.results.plots.style import COLOURS, PALE, dress, house_style, new_figure, plain, short

MOST = 6
"""Largest number of panels."""


def columns_that_matter(advice: Advice, most: int = MOST) -> list[str]:
    """Return columns of the table by the largest probability that one of their features, or a term of it, matters.

    Parameters
    ----------
    advice : Advice
        The advice.
    most : int, default=6
        Largest number of columns.
    """
    expansion = advice.expansion
    inclusion = {effect.name: effect.inclusion for effect in advice.features}
    of = dict.fromkeys(expansion.sources, 0.0)
    for name, source in zip(expansion.base_names, expansion.sources, strict=True):
        of[source] = max(of[source], inclusion[name])
    for term in expansion.terms:
        for parent in term.parents:
            source = expansion.sources[parent]
            of[source] = max(of[source], inclusion[term.name])
    return sorted(of, key=lambda source: -round(of[source], 9))[:most]


@house_style()
def effect_curves(advice: Advice) -> Figure:
    """Draw the expected reward along the columns that matter most, with 95% intervals.

    Parameters
    ----------
    advice : Advice
        The advice.

    Returns
    -------
    Figure
        The figure.
    """
    columns = columns_that_matter(advice)
    across = min(3, len(columns))
    down = -(-len(columns) // across)
    figure = new_figure(2.5 * across + 0.4, 2.1 * down + 0.2)
    panels = np.asarray(figure.subplots(down, across, squeeze=False, sharey=True)).ravel()
    for axes, column in zip(panels, columns, strict=False):
        curve = effect_curve(advice.policy.posterior, advice.expansion, column)
        _draw(axes, curve, advice, column)
    for axes in panels[len(columns) :]:
        axes.set_axis_off()
    for axes in panels[::across]:
        axes.set_ylabel("expected reward", fontsize=8)
    return figure


def _draw(axes: Axes, curve: EffectCurve, advice: Advice, column: str) -> None:
    family, goal = advice.about["family"], advice.goal
    mean, low, high = (
        np.array([goal.shown(one, family) for one in values.tolist()]) for values in (curve.mean, curve.low, curve.high)
    )
    if curve.grid.shape[1] == 1 and advice.expansion.continuous[advice.expansion.base_names.index(curve.features[0])]:
        axes.fill_between(curve.grid[:, 0], low, high, color=PALE, linewidth=0)
        axes.plot(curve.grid[:, 0], mean, color=COLOURS[0], linewidth=1.6)
    else:
        places = np.arange(len(mean))
        axes.vlines(places, low, high, color=COLOURS[0], linewidth=1.6)
        axes.plot(places, mean, "o", color=COLOURS[0], markersize=5)
        axes.set_xticks(places, [plain(short(one, 8), 10) for one in _levels(curve, column)], fontsize=7)
        axes.set_xlim(-0.5, len(mean) - 0.5)
    axes.set_xlabel(plain(short(column, 14), 28), fontsize=8)
    axes.tick_params(labelsize=7)
    dress(axes)


def _levels(curve: EffectCurve, column: str) -> list[str]:
    """Return what the points of a category are: the level whose indicator is one, or none of them."""
    names = [name.removeprefix(f"{column}=") if name != column else "yes" for name in curve.features]
    other = "no" if names == ["yes"] else "other"
    return [
        next((name for name, value in zip(names, row, strict=True) if value == 1.0), other)
        for row in curve.grid.tolist()
    ]
