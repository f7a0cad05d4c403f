"""Whether the world has moved: the log evidence of each reward, over time."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sparsebandits.arguments import ArgumentValueError, check_count
from sparsebandits.policies.policy import Policy
from sparsebandits.results.plots.style import COLOURS, PALE, house_style, new_figure

LEAST = 10
"""Number of rewards that a running mean is of, at least."""

PARTS = 20
"""Number of windows that the rewards are divided into, by default."""


@house_style()
def drift(policy: Policy, window: int | None = None, ax: Axes | None = None) -> Figure:
    """Draw the log evidence of each reward given those before, and its running mean.

    The model predicts every reward before it learns from it. Where the running mean falls and stays low, rewards are no
    longer what the past says: the world has moved, and a policy should forget (``forgetting=sb.Discount(...)``). A
    policy that forgets in time recovers.

    Parameters
    ----------
    policy : Policy
        A policy on Particles, which estimate the evidence.
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
    values = policy.log_evidence
    rounds = np.flatnonzero(np.isfinite(values))
    if not len(rounds):
        raise ArgumentValueError("policy", "one on Particles that has been told rewards", "no log evidence")
    size = max(LEAST, len(rounds) // PARTS) if window is None else check_count("window", window)
    figure: Any = new_figure(7.0, 3.2) if ax is None else ax.figure
    axes = figure.subplots() if ax is None else ax
    axes.plot(rounds, values[rounds], ".", color=PALE, markersize=3, label="one reward")
    if len(rounds) >= size:
        mean = np.convolve(values[rounds], np.full(size, 1.0 / size), "valid")
        axes.plot(rounds[size - 1 :], mean, color=COLOURS[0], linewidth=1.8, label=f"mean of the last {size}")
    low, high = np.quantile(values[rounds], [0.005, 1.0])
    axes.set_ylim(low - 0.05 * (high - low) - 1e-9, high + 0.05 * (high - low) + 1e-9)
    axes.set_xlabel("decision")
    axes.set_ylabel("log evidence of its reward")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower right", frameon=False, fontsize=8)
    found: Figure = figure
    return found
