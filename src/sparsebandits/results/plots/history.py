"""How rewards have come over the decisions of a policy."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from sparsebandits.arguments import ArgumentValueError, FloatArray, IntArray, check_count
from sparsebandits.model.families import Bernoulli
from sparsebandits.results.plots.reading import Known, is_advice, twin
from sparsebandits.results.plots.style import BELOW, COLOURS, DASHES, TICKS, axes_in, dress, house_style

LEAST, PARTS = 10, 20
"""A running mean is of a twentieth of the rewards, and of ten at least."""

SETTLED = 10
"""Number of clicks and others after which their rate is not cut off at the top."""


@house_style()
def progress(policy: Known, window: int | None = None, ax: Axes | None = None) -> Figure:
    """Draw the rewards of a policy over its decisions, with the best so far and a running mean.

    For clicks (rewards of 0 and 1) it is the rate of clicks among all decisions so far, and the running rate, with a
    mark on top for each click. Decisions that await their reward are left out, and so are rewards that the posterior
    was given without a decision. Of an Advice, past rewards are drawn in the order of its tables; if small ones are
    wanted, the best is the smallest.

    Parameters
    ----------
    policy : Policy or Advice
        A policy that has been told rewards, or an Advice from a table with past rewards.
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
    ArgumentError
        If the policy has been told no rewards.

    Examples
    --------
    >>> import sparsebandits as sb
    >>> policy = sb.LinUCB(np.eye(2), seed=0)
    >>> policy.tell(policy.ask(n=2, distinct=True), [1.0, 3.0])
    >>> len(sb.plots.progress(policy).axes[0].lines[0].get_xdata())
    2
    """
    told, family, small = _told(policy)
    rounds = np.flatnonzero(np.isfinite(told))
    rewards = told[rounds]
    if not len(rounds):
        raise ArgumentValueError("policy", "one that has been told rewards", "none so far")
    size = max(LEAST, len(rounds) // PARTS) if window is None else check_count("window", window)
    figure, axes = axes_in(ax, 7.0, 3.2)
    both = bool(np.isin(rewards, (0.0, 1.0)).all()) and np.ptp(rewards) > 0.0
    if isinstance(family, Bernoulli) or both:
        _rates(axes, rounds, rewards, size)
    else:
        _values(axes, rounds, rewards, size, small)
    axes.set_xlabel("past reward" if is_advice(policy) else "decision")
    axes.xaxis.set_major_locator(MaxNLocator(**TICKS, integer=True))
    dress(axes)
    axes.legend(**BELOW)
    return figure


def _told(known: Any) -> tuple[FloatArray, object, bool]:
    """Return the rewards, NaN where one has not come, their family, and whether small ones are wanted."""
    if is_advice(known):
        family = getattr(known.policy.posterior, "rewards", None)
        return known.past.rewards, family, known.goal.minimize
    policy = twin(known, needs_posterior=False)
    return policy.told, getattr(policy.posterior, "rewards", None), False


def _values(axes: Axes, rounds: IntArray, rewards: FloatArray, size: int, small: bool) -> None:
    axes.plot(rounds, rewards, ".", color="#777777", markersize=4, label="reward")
    axes.step(
        rounds,
        (np.minimum if small else np.maximum).accumulate(rewards),
        where="post",
        color=COLOURS[1],
        linestyle=DASHES[1],
        linewidth=1.4,
        label="best so far",
    )
    _running(axes, rounds, rewards, size, f"mean of the last {size}")
    axes.set_ylabel("reward")


def _rates(axes: Axes, rounds: IntArray, clicks: FloatArray, size: int) -> None:
    so_far = np.cumsum(clicks) / np.arange(1, len(clicks) + 1)
    marks = rounds[clicks == 1.0]
    top = axes.get_xaxis_transform()
    axes.plot(marks, np.full(len(marks), 0.985), "|", color="#777777", markersize=6, transform=top, label="click")
    axes.plot(rounds, so_far, color=COLOURS[1], linestyle=DASHES[1], linewidth=1.4, label="rate of clicks, all so far")
    running = _running(axes, rounds, clicks, size, f"rate of the last {size}")
    largest = max(so_far[min(SETTLED, len(so_far)) - 1 :].max(), running.max(initial=0.0), 0.01)
    axes.set_ylim(0.0, 1.15 * float(largest))
    axes.set_ylabel("rate of clicks")


def _running(axes: Axes, rounds: IntArray, rewards: FloatArray, size: int, label: str) -> FloatArray:
    """Draw and return the running mean, which is empty if there are fewer rewards than it is of."""
    if len(rewards) < size:
        return np.empty(0)
    mean = np.convolve(rewards, np.full(size, 1.0 / size), "valid")
    axes.plot(rounds[size - 1 :], mean, color=COLOURS[0], linewidth=1.8, label=label)
    return mean
