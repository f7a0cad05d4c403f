"""Whether the world has moved: how much each reward surprises the policy, over time.

For numbers and counts that is the log evidence of the reward. For clicks it is (y − p) / √(p (1 − p)), with p the
probability that was predicted: the log evidence of a click depends on p more than on the surprise. Since the
evidence is p for a click, and 1 − p for none, it says what p was.
"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sparsebandits.arguments import ArgumentValueError, FloatArray, check_count
from sparsebandits.model.families import Bernoulli
from sparsebandits.policies.policy import Policy
from sparsebandits.results.plots.style import COLOURS, PALE, house_style, new_figure

LEAST = 10
"""Number of rewards that a running mean is of, at least."""

PARTS = 20
"""Number of windows that the rewards are divided into, by default."""


@house_style()
def drift(policy: Policy, window: int | None = None, ax: Axes | None = None) -> Figure:
    """Draw how much each reward surprised the policy, given those before, and the running mean.

    The model predicts every reward before it learns from it. For numbers and counts, this is the log evidence of the
    reward, whose running mean dips where rewards surprise. For clicks, it is the click minus its predicted probability,
    in standard deviations: the running mean then mostly stays within the grey band, two standard errors about zero, as
    long as clicks come as predicted. Look for a dip, or an excursion, that is deeper and longer than those before;
    single ones happen by chance. A policy that forgets (``forgetting=sb.Discount(...)``) recovers sooner than one that
    does not. Clicks that were told in batches are left out, and the evidence of counts depends on their exposure.

    Parameters
    ----------
    policy : Policy
        A policy on Particles, or on Laplace (clicks and counts), which estimate the evidence.
    window : int, optional
        Number of rewards in a running mean; by default a twentieth of them, at least 10.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Figure
        The figure.

    Raises
    ------
    ArgumentValueError
        If no reward has an evidence.
    """
    clicks = isinstance(getattr(policy.posterior, "rewards", None), Bernoulli)
    values = standardised(policy.told, policy.log_evidence) if clicks else policy.log_evidence
    rounds = np.flatnonzero(np.isfinite(values))
    if not len(rounds):
        expected = "one on Particles or Laplace that has been told rewards" + ", one at a time" * clicks
        raise ArgumentValueError("policy", expected, "no log evidence")
    size = max(LEAST, len(rounds) // PARTS) if window is None else check_count("window", window)
    figure: Any = new_figure(7.0, 3.2) if ax is None else ax.figure
    axes = figure.subplots() if ax is None else ax
    if clicks:
        reach = 2.0 / np.sqrt(size)
        axes.axhspan(-reach, reach, color="0.9", zorder=0, label="two standard errors about zero")
    axes.plot(rounds, values[rounds], ".", color=PALE, markersize=3, label="one reward")
    if len(rounds) >= size:
        mean = np.convolve(values[rounds], np.full(size, 1.0 / size), "valid")
        axes.plot(rounds[size - 1 :], mean, color=COLOURS[0], linewidth=1.8, label=f"mean of the last {size}")
    low, high = np.quantile(values[rounds], [0.02, 0.98] if clicks else [0.005, 1.0])
    if clicks:
        low, high = min(low, -1.0), max(high, 1.0)
    axes.set_ylim(low - 0.05 * (high - low) - 1e-9, high + 0.05 * (high - low) + 1e-9)
    axes.set_xlabel("decision")
    axes.set_ylabel("surprise (standard deviations)" if clicks else "log evidence of its reward")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="best", frameon=False, fontsize=8)
    found: Figure = figure
    return found


def standardised(clicks: FloatArray, evidence: FloatArray) -> FloatArray:
    """Return clicks minus their predicted probability, in standard deviations, from their log evidence.

    Parameters
    ----------
    clicks : array of shape (t,)
        Zeros and ones.
    evidence : array of shape (t,)
        Log evidence of each; those of a batch are equal, and say nothing of a single click.

    Returns
    -------
    array of shape (t,)
        NaN where there is no evidence of a single click.

    Examples
    --------
    >>> standardised(np.array([1.0, 0.0]), np.log([0.2, 0.9]))
    array([ 2.        , -0.33333333])
    """
    _, place, count = np.unique(evidence, return_inverse=True, return_counts=True)
    likelihood = np.where(count[place] > 1, np.nan, np.exp(evidence))
    predicted = np.where(clicks == 1.0, likelihood, 1.0 - likelihood)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: FloatArray = (clicks - predicted) / np.sqrt(predicted * (1.0 - predicted))
    return found
