"""The posterior of one coefficient."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from sparsebandits.arguments import ArgumentTypeError, ArgumentValueError, FloatArray, shown
from sparsebandits.model.families import Linked
from sparsebandits.model.priors import GaussianSpike, LaplaceSpike
from sparsebandits.policies.naming import Naming
from sparsebandits.policies.policy import Policy
from sparsebandits.posteriors.engine import feature_names
from sparsebandits.results.plots.reading import PRIOR, is_prior, twin
from sparsebandits.results.plots.style import BELOW, COLOURS, DASHES, PALE, axes_in, dress, house_style, plain, short
from sparsebandits.tables import formatted

BINS = 32
"""Number of bins of the histogram."""

ROUNDING = 1e-9
"""Weight that may be missing in a sum of weights, which is one."""


@house_style()
def posterior(policy: Policy, feature: str | int, ax: Axes | None = None) -> Figure:
    """Draw the posterior of one coefficient: a histogram of draws, and the probability that it is zero.

    Draws that are not zero are drawn as the distribution of the coefficient if it is not zero, its middle 99%. The
    hatched bar at zero, on the axis to the right, is the probability that it is zero.

    Parameters
    ----------
    policy : Policy
        Whose posterior is drawn.
    feature : str or int
        Name of the feature, or its column. If all names are whole numbers, an integer is a name.
    ax : Axes, optional
        Where to draw; by default a new figure. It gets a second axis if the coefficient may be zero.

    Returns
    -------
    Figure
        The figure.

    Raises
    ------
    ArgumentError
        If there is no such feature, or if the policy has no posterior of coefficients.

    Examples
    --------
    >>> import sparsebandits as sb
    >>> figure = sb.plots.posterior(sb.SparseIDS(np.eye(3), seed=0), 1)
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['probability of a bin, if not zero', 'probability of zero']
    """
    learnt: Any = twin(policy).posterior
    names = feature_names(learnt.feature_names, learnt.dimension)
    column = _column(feature, names)
    draws = learnt.draws()
    values, weights = draws.theta[:, column], draws.weights
    is_zero = values == 0.0
    zero = float(weights[is_zero].sum())
    figure, axes = axes_in(ax, 6.4, 3.4)
    handles: list[Any] = []
    low, high = 0.0, 0.0
    if zero < 1.0 - ROUNDING:
        edges = bins(values[~is_zero], weights[~is_zero])
        heights = np.histogram(values[~is_zero], edges, weights=weights[~is_zero] / weights[~is_zero].sum())[0]
        axes.stairs(heights, edges, fill=True, facecolor=PALE, edgecolor=COLOURS[0], linewidth=0.7)
        axes.set_ylim(0.0, 1.1 * heights.max())
        low, high = float(edges[0]), float(edges[-1])
    if zero > 0.0:
        low, high = min(low, 0.0), max(high, 0.0)
    mean = float(values @ weights)
    handles.append(axes.axvline(mean, color="black", linewidth=1.2, linestyle=DASHES[1], label=_said("mean", mean)))
    margin = 0.03 * (high - low) or 1.0
    axes.set_xlim(low - margin, high + margin)
    scale = learnt.rewards.scale if isinstance(learnt.rewards, Linked) else "reward"
    axes.set_xlabel(f"effect of one unit on the {scale}")
    axes.set_ylabel("probability of a bin" + ", if not zero" * (zero > 0.0))
    axes.yaxis.set_major_locator(MaxNLocator(5))
    notes = (short(names[column]), PRIOR if is_prior(learnt) else "")
    axes.set_title(plain("; ".join(note for note in notes if note), 70), loc="left", fontsize=9)
    dress(axes)
    if zero > 0.0:
        handles.append(_zero(axes, zero, margin))
    matters = float(learnt.inclusions()[column])
    if isinstance(getattr(learnt.prior, "spike", None), LaplaceSpike | GaussianSpike):  # then no draw is zero
        handles.append(Line2D([], [], linestyle="none", label=_said("probability that it matters", matters)))
    axes.legend(handles=handles, **BELOW)
    return figure


def bins(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return edges of equal bins over the middle 99% of weighted values.

    Parameters
    ----------
    values, weights : array of shape (M,)
        Values, and their weights.

    Returns
    -------
    array
        The edges.

    Examples
    --------
    >>> bins(np.array([1.0, 5.0]), np.array([0.5, 0.5]))[[0, 1, -1]]
    array([1.   , 1.125, 5.   ])
    """
    low, high = np.quantile(values, [0.005, 0.995], weights=weights, method="inverted_cdf")
    if low == high:
        low, high = low - 0.05 * abs(low), high + 0.05 * abs(high)
    return np.linspace(low, high, BINS + 1)


def _zero(axes: Axes, probability: float, width: float) -> Any:
    """Draw the probability of zero as a bar on an axis of its own, to the right, and return the bar."""
    right = axes.twinx()
    right.set_ylim(0.0, 1.0)
    right.set_ylabel("probability of zero")
    right.spines[["top", "left"]].set_visible(False)
    style: dict[str, Any] = {
        "color": COLOURS[1],
        "hatch": "////",
        "edgecolor": "white",
        "linewidth": 0.0,
        "alpha": 0.85,
    }
    return right.bar([0.0], [probability], width=width, label=_said("probability of zero", probability), **style)


def _said(what: str, number: float) -> str:
    return f"{what} {formatted(float(f'{number:.3g}'))}"


def _column(feature: object, names: list[str]) -> int:
    """Return the column of a feature, by the rule that actions are picked by."""
    naming = Naming(len(names), names)
    row = naming.row(feature)
    if row is not None:
        return row
    if isinstance(feature, str | int | np.integer) and not isinstance(feature, bool):
        raise ArgumentValueError("feature", f"one of {shown(names)}", shown(feature))
    raise ArgumentTypeError("feature", "the name of a feature, or its column", shown(feature))
