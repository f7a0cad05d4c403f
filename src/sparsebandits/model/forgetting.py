"""Forgetting: old rewards count less, so that a posterior follows a world that changes.

Power discounting: with L_i the likelihood of a reward and age_i how long ago it was, the target is

    p(θ) Π_i L_i^(γ^age_i),   γ = 2^(−1/half-life),

so a reward of one half-life ago counts as half a reward. A step of one unit raises the posterior to the power γ and
multiplies it by the prior to the power 1 − γ, which is the stabilised forgetting of Kulhavý and Zarrop (1993). The
prior is never discounted: what has not been seen for long returns to it, and a feature that has ceased to matter may
matter again. Ages are in decisions or in seconds. They count from the newest reward that has come, the clock; a late
reward counts what it would count by now if it had come in time. So the posterior depends on rewards and their times
alone, not on the order in which they come, nor on how they are put into batches.
"""

import math
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    IntArray,
    check_between,
    check_choice,
    check_positive,
    shown,
)

UNITS = ("decisions", "seconds")

FIRST, LAST = datetime(1, 1, 2, tzinfo=UTC).timestamp(), datetime(9999, 12, 30, tzinfo=UTC).timestamp()
"""Times that have a date in every time zone."""

FORGOTTEN = 100.0
"""Number of half-lives after which a reward counts nothing. It would count 10⁻³⁰, which no sum of squares that engines
accept (``limits.py``) could show."""


@dataclass(frozen=True, eq=False)
class Passage:
    """What becomes of older rewards, and of some new ones, when the new ones come.

    Attributes
    ----------
    clock : float
        Time of the newest reward, the new ones included.
    factor : float
        What older rewards count now, as a share of what they counted before.
    order : int array of shape (m,)
        The new rewards that count at all, the newest first.
    shares : array of shape (m,)
        What each of these counts: γ^age, which is 1 for the newest of all.
    """

    clock: float
    factor: float
    order: IntArray
    shares: FloatArray

    def weights(self, weights: FloatArray | None) -> FloatArray:
        """Return the weight of each of the new rewards in sums: its share, times its own weight if it has one.

        Parameters
        ----------
        weights : array of shape (n,) or None
            Weights of all new rewards, in the order in which they came.

        Returns
        -------
        array of shape (m,)
        """
        return self.shares if weights is None else self.shares * weights[self.order]

    def counts(self, contrasts: int | None = None) -> FloatArray:
        """Return how many observations each of the new rewards, or of their contrasts, stands for.

        With Gaussian rewards, Π_i L_i^(g_i) has σ^(−n) with n = Σ g_i, and an intercept with a flat prior that is
        integrated out takes one from it: n = Σ g_i − 1. Let N be Σ g_i before, and f the factor. After the new rewards
        n is f N + Σ g_i − 1, but the older contrasts, which stood for N − 1, now stand for f (N − 1) only. So the new
        ones stand for Σ g_i − (1 − f). If f < 1, the clock has moved and the first of them has g = 1: it stands for f.
        If f = 1, each stands for g_i. Both are f g_i for the first, and g_i for the others. If there was nothing
        before, the newest has no contrast, and the others stand for Σ g_i − 1 as they should.

        Parameters
        ----------
        contrasts : int, optional
            Number of contrasts, one fewer than rewards if there was nothing before; by default there is no intercept.

        Returns
        -------
        array of shape (m,) or (contrasts,)
        """
        if contrasts is None:
            return self.shares
        counts = self.shares.copy()
        counts[:1] *= self.factor
        return counts[len(counts) - contrasts :]


@dataclass(frozen=True)
class Discount:
    """Rewards count less with their age: half as much after each half-life.

    Parameters
    ----------
    half_life : float or timedelta
        Number of decisions, or a time, after which a reward counts half. Infinite for no forgetting at all.
    unit : {"decisions", "seconds"}, default="decisions"
        What a number is in; a timedelta is in seconds.

    Examples
    --------
    >>> Discount(half_life=500)
    Discount(half_life=500.0, unit='decisions')
    >>> Discount(timedelta(days=7))
    Discount(half_life=604800.0, unit='seconds')
    """

    half_life: Any
    unit: str = "decisions"

    def __post_init__(self) -> None:
        half_life = self.half_life
        check_choice("unit", self.unit, UNITS)
        if isinstance(half_life, timedelta):
            object.__setattr__(self, "unit", "seconds")
            half_life = half_life.total_seconds()
        infinite = isinstance(half_life, float | np.floating) and half_life == math.inf
        value = math.inf if infinite else check_positive("half_life", half_life)
        object.__setattr__(self, "half_life", value)

    def shares(self, ages: Any) -> Any:
        """Return γ^age: what rewards of some ages count.

        Parameters
        ----------
        ages : float or array
            Ages, at least zero, in the unit.

        Returns
        -------
        float or array
            Shares of one; zero beyond ``FORGOTTEN`` half-lives.

        Examples
        --------
        >>> Discount(half_life=10).shares(np.array([0.0, 10.0, 30.0]))
        array([1.   , 0.5  , 0.125])
        """
        halvings = ages / self.half_life
        return np.where(halvings <= FORGOTTEN, np.exp2(-halvings), 0.0)

    def passage(self, clock: float | None, times: FloatArray | None, count: int) -> Passage:
        """Return what becomes of older rewards, and of some new ones, when the new ones come.

        Parameters
        ----------
        clock : float or None
            Time of the newest reward so far; None if there is none.
        times : array of shape (n,) or None
            Time of each new reward; None if each came one unit after the one before.
        count : int
            Number n of new rewards, at least one.

        Returns
        -------
        Passage

        Examples
        --------
        >>> passage = Discount(half_life=1).passage(5.0, np.array([4.0, 6.0]), 2)
        >>> passage.clock, passage.factor, passage.order, passage.shares
        (6.0, 0.5, array([1, 0]), array([1.  , 0.25]))
        """
        if times is None:
            times = (-1.0 if clock is None else clock) + np.arange(1.0, count + 1.0)
        now = max(float(times.max()), -math.inf if clock is None else clock)
        shares = self.shares(now - times)
        order = np.argsort(-shares, kind="stable")
        order = order[: np.count_nonzero(shares)]
        return Passage(now, 1.0 if clock is None else float(self.shares(now - clock)), order, shares[order])


def moment(time: object = None) -> float:
    """Return a time in seconds since 1970.

    Parameters
    ----------
    time : datetime or float, optional
        The time; a datetime without a time zone is local. By default now.

    Returns
    -------
    float

    Raises
    ------
    ArgumentError
        If it is something else, or out of the range of dates.

    Examples
    --------
    >>> moment(datetime(2000, 1, 1, tzinfo=UTC))
    946684800.0
    """
    if time is None:
        time = datetime.now(UTC)
    if not isinstance(time, datetime | int | float | np.integer | np.floating):
        raise ArgumentTypeError("time", "a datetime, or a number of seconds since 1970", shown(time))
    try:
        seconds = time.timestamp() if isinstance(time, datetime) else time
    except (OverflowError, ValueError):  # no time at all (NaT), or local and near the end of all dates
        raise ArgumentValueError("time", "a time from year 1 to 9999", shown(time)) from None
    return check_between("time", seconds, FIRST, LAST)


def brief(rewards: Any) -> str:
    """Return the ``repr`` of a family of rewards, without its forgetting if there is none."""
    told = [one.name for one in fields(rewards) if one.name != "forgetting" or rewards.forgetting is not None]
    return f"{type(rewards).__name__}({', '.join(f'{name}={getattr(rewards, name)!r}' for name in told)})"


def check_forgetting(forgetting: object) -> Discount | None:
    """Return how rewards are forgotten; None if they never are, as with an infinite half-life.

    Parameters
    ----------
    forgetting : Discount or None
        The argument ``forgetting``.

    Returns
    -------
    Discount or None

    Raises
    ------
    ArgumentTypeError
        If it is something else.
    """
    if forgetting is not None and not isinstance(forgetting, Discount):
        raise ArgumentTypeError("forgetting", "a Discount, such as Discount(half_life=500)", shown(forgetting))
    return None if forgetting is None or forgetting.half_life == math.inf else forgetting
