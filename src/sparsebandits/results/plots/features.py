"""Which features matter, and how: the probability that each does, and its effect with an interval."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from sparsebandits.arguments import check_count
from sparsebandits.results.plots.reading import Effects, Known, effects_of
from sparsebandits.results.plots.style import (
    BELOW,
    COLOURS,
    DASHES,
    TICKS,
    axes_in,
    dress_rows,
    height_of,
    house_style,
    named,
)
from sparsebandits.tables import formatted

HATCHES = {"positive effect": (COLOURS[0], ""), "negative effect": (COLOURS[1], "////"), "no effect": ("#BBBBBB", "")}
"""Colour and hatch of a bar by the sign of the posterior mean."""

READABLE = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
"""Background of numbers that a line may go through."""

MATTERS = 0.5
"""Probability above which a point is filled."""


@house_style()
def inclusion(policy: Known, most: int = 20, ax: Axes | None = None) -> Figure:
    """Draw the probability that each feature matters, the most likely first.

    Colour and hatch show the sign of the posterior mean. The dashed line is the prior probability; an Advice does not
    say what that was. Under a Gaussian prior, which leaves no feature out, all bars have length one.

    Parameters
    ----------
    policy : Policy or Advice
        Whose posterior is drawn.
    most : int, default=20
        Largest number of features.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Figure
        The figure.

    Raises
    ------
    ArgumentError
        If the policy has no posterior of coefficients.

    Examples
    --------
    >>> import numpy as np
    >>> import sparsebandits as sb
    >>> figure = sb.plots.inclusion(sb.SparseIDS(np.eye(3), seed=0))
    >>> figure.axes[0].get_xlabel()
    'probability that the feature matters'
    """
    found = effects_of(policy)
    rows = found.rows[: check_count("most", most)]
    labels, places = named([row.name for row in rows]), np.arange(len(rows))
    figure, axes = axes_in(ax, 6.4, height_of(labels) + 1.0)
    kinds = [_sign(row.mean) for row in rows]
    axes.barh(
        places,
        [row.inclusion for row in rows],
        height=0.65,
        color=[HATCHES[kind][0] for kind in kinds],
        hatch=[HATCHES[kind][1] for kind in kinds],
        edgecolor="white",
        linewidth=0.0,
    )
    for place, row in zip(places.tolist(), rows, strict=True):
        text = _probability(row.inclusion)
        axes.text(row.inclusion + 0.012, place, text, va="center", fontsize=7.5, bbox=READABLE, zorder=4)
    handles: list[Patch | Line2D] = [
        Patch(facecolor=colour, hatch=hatch, edgecolor="white", linewidth=0.0, label=kind)
        for kind, (colour, hatch) in HATCHES.items()
        if kind in kinds
    ]
    if found.prior is not None:
        prior, dashes = found.prior[: len(rows)], {"colors": "black", "linewidth": 1.1, "linestyle": DASHES[1]}
        same = bool(np.ptp(prior) == 0.0)
        ends = ([prior[0]], [-0.5], [len(rows) - 0.5]) if same else (prior, places - 0.45, places + 0.45)
        axes.vlines(*ends, **dashes)
        text = f"prior probability{f', {formatted(float(prior[0]))}' if same else ''}"
        handles.append(Line2D([], [], color="black", linewidth=1.1, linestyle=DASHES[1], label=text))
    axes.set_xlim(0.0, 1.1)
    axes.set_xticks(np.linspace(0.0, 1.0, 6))
    axes.set_xlabel("probability that the feature matters")
    note = "the prior leaves no feature out" if found.prior is None and all(r.inclusion == 1.0 for r in rows) else ""
    dress_rows(axes, labels, _title(found, len(rows), note))
    axes.legend(handles=handles, **BELOW)
    return figure


@house_style()
def effects(policy: Known, most: int = 20, ax: Axes | None = None) -> Figure:
    """Draw posterior mean and 95% interval of each effect, the features that are most likely to matter first.

    An effect is that of one unit of the feature, or of one standard deviation if an Advice is drawn, since columns of a
    table have different units. It is an effect on the reward, or on the log-odds of a click or the log rate of a count.
    Points are filled where the feature matters with a probability above one half. The mean may lie outside of the
    interval, where most of the probability is at zero.

    Parameters
    ----------
    policy : Policy or Advice
        Whose posterior is drawn.
    most : int, default=20
        Largest number of features.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Figure
        The figure.

    Raises
    ------
    ArgumentError
        If the policy has no posterior of coefficients.

    Examples
    --------
    >>> import numpy as np
    >>> import sparsebandits as sb
    >>> sb.plots.effects(sb.LinUCB(np.eye(3), seed=0)).axes[0].get_xlabel()
    'effect of one unit on the reward, with 95% interval'
    """
    found = effects_of(policy)
    rows = found.rows[: check_count("most", most)]
    labels, places = named([row.name for row in rows]), np.arange(len(rows))
    figure, axes = axes_in(ax, 6.4, height_of(labels) + 1.0)
    axes.axvline(0.0, color="black", linewidth=0.9)
    axes.hlines(places, [row.low for row in rows], [row.high for row in rows], color=COLOURS[0], linewidth=1.6)
    for matters, text in ((True, "matters with probability above ½"), (False, "matters with probability up to ½")):
        of = [i for i, row in enumerate(rows) if (row.inclusion > MATTERS) is matters]
        face = COLOURS[0] if matters else "white"
        style = {"color": COLOURS[0], "markerfacecolor": face, "markersize": 5.5, "linestyle": "none", "marker": "o"}
        text = text if any(row.inclusion < 1.0 for row in rows) else "posterior mean"
        if of:
            axes.plot([rows[i].mean for i in of], of, label=text, **style)  # type: ignore[arg-type]
    axes.xaxis.set_major_locator(MaxNLocator(**TICKS))
    axes.set_xlabel(f"effect of {found.unit} on the {found.scale}, with 95% interval")
    dress_rows(axes, labels, _title(found, len(rows)))
    axes.legend(**BELOW)
    return figure


def _sign(mean: float) -> str:
    return "positive effect" if mean > 0.0 else "negative effect" if mean < 0.0 else "no effect"


def _probability(value: float) -> str:
    """Return a probability as text, which is 0 or 1 only if it is."""
    if 0.0 < value < 0.005:
        return "<0.01"
    return ">0.99" if 0.995 <= value < 1.0 else f"{value:.2g}"


def _title(found: Effects, count: int, note: str = "") -> str:
    """Return how many features are shown, if not all, and what to know of them."""
    shown = f"{count} of {len(found.rows)} features" if count < len(found.rows) else ""
    return "; ".join(text for text in (shown, found.note, note) if text)
