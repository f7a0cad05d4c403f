r"""Statistics over trials: intervals, paired comparisons, growth of regret, and pulls of groups of actions.

Tables, figures and reports use these functions alone, so that they agree.

**Intervals** are bootstrap intervals over trials, bias-corrected and accelerated (Efron 1987), with a fixed seed.

**Pairing.** Row i of every policy is trial i, with the same instance and the same noise, so policies are compared row
by row. A policy with fewer trials than another has the first ones; the two are compared on those.

**The sign test** (Arbuthnott 1710; Conover, *Practical Nonparametric Statistics*, 1999, Section 3.4) assumes nothing
about the size of the differences. Ties are left out; if neither policy were better, the wins among the other n trials
would be Binomial(n, 1/2). The p-value is exact and two-sided: the probability of a split at least as uneven as the
observed one. A policy that loses rarely but heavily may win most trials and still have the larger mean; so wins are
reported beside means, not in place of them.

**Growth.** The exponent over the last part of a run of T rounds is the slope α of the least-squares line

    log R̄(t) ≈ c + α log t,    (1 − part)·T ≤ t ≤ T,

through up to 50 rounds evenly spaced in log t, where R̄ is cumulative regret averaged over trials. Its interval is the
bootstrap over trials: rounds of one trial depend on each other, trials do not.

R̄(t) = C·t has α = 1, C·√t has α = 1/2, C·log t has α = 1/log t, which decreases slowly (0.14 at t = 1000), and regret
that has stopped growing has α = 0. The exponent describes its window and nothing else. It misleads where

- **some trials are stuck**: if a share p of them pays δ per round forever and the others stop at C, then
  R̄(t) = (1 − p)·C + p·δ·t, and α lies between 0 and 1 although no trial grows like that. It tends to 1, but slowly. The
  share of trials that still grow linearly (:func:`growing`) separates this case from a true power;
- **regret starts with a fixed cost**: R̄(t) = C + δ·t (explore, then commit to a wrong action) has
  α = δt/(C + δt) < 1;
- **the window is short or early**: exploration that lasts as long as the run looks linear;
- **a few trials dominate the mean**: the interval is then wide, and with fewer than about 20 trials still too narrow.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
import scipy  # scipy.stats, which is slow to import, is loaded on first use
from numpy.typing import NDArray

from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    IntArray,
    check_between,
    shown,
)

RESAMPLES = 2000

NODES = 50
"""Largest number of rounds that the line of the growth exponent is fitted through."""

LATE = 0.2
"""Share of the run at its start and at its end that :func:`growing` compares."""


class Estimate(NamedTuple):
    """A number with the ends of its 95% interval; NaN where there is none."""

    value: float
    low: float
    high: float


def estimate_mean(values: FloatArray) -> Estimate:
    """Return the mean of one number per trial, with its 95% interval.

    Examples
    --------
    >>> estimate_mean(np.array([2.0, 2.0, 2.0]))
    Estimate(value=2.0, low=2.0, high=2.0)
    """
    low, high = mean_interval(values)
    return Estimate(float(values.mean()), float(low), float(high))


def mean_interval(values: FloatArray, confidence: float = 0.95) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the interval for the mean over the first axis.

    Parameters
    ----------
    values : array of shape (n, ...)
        Independent rows, for example one per trial.
    confidence : float, default=0.95
        Coverage of the interval.

    Returns
    -------
    low, high : array of shape (...)
        NaN if there are fewer than two rows; equal where all rows are equal.
    """
    shape = values.shape[1:]
    if len(values) < 2:
        return np.full(shape, np.nan), np.full(shape, np.nan)
    low = np.array(values[0], dtype=np.float64)
    high = low.copy()
    varied = np.ptp(values, axis=0) > 1e-12 * np.abs(values).max(axis=0)  # otherwise rows differ by rounding only
    if varied.any():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", scipy.stats.DegenerateDataWarning)
            interval = scipy.stats.bootstrap(
                (values[:, varied] if shape else values,),
                np.mean,
                axis=0,
                n_resamples=RESAMPLES,
                batch=100,
                confidence_level=confidence,
                vectorized=True,
                rng=np.random.default_rng(0),
            ).confidence_interval
        low[varied], high[varied] = interval.low, interval.high
    return low, high


def statistic_interval(
    rows: FloatArray, statistic: Callable[[FloatArray], FloatArray], confidence: float = 0.95
) -> tuple[float, float]:
    """Return the ends of the interval for a statistic of independent rows; whole rows are resampled.

    Parameters
    ----------
    rows : array of shape (n, columns)
        Independent rows, for example one per trial.
    statistic : callable
        Maps an array of shape (..., n, columns) to one of shape (...).
    confidence : float, default=0.95
        Coverage of the interval.

    Returns
    -------
    low, high : float
        NaN if there are fewer than two rows, or if the statistic of some resampled rows is NaN; equal if it is the same
        for all resampled rows.
    """
    estimate = float(statistic(rows))
    if len(rows) < 2 or np.isnan(estimate):
        return np.nan, np.nan

    def of_numbers(numbers: Any, axis: int = -1) -> FloatArray:  # scipy resamples row numbers, along the last axis
        return statistic(rows[numbers])

    with warnings.catch_warnings(), np.errstate(invalid="ignore", divide="ignore"):
        warnings.simplefilter("ignore", scipy.stats.DegenerateDataWarning)
        found = scipy.stats.bootstrap(
            (np.arange(len(rows)),),
            of_numbers,
            n_resamples=RESAMPLES,
            batch=100,
            confidence_level=confidence,
            vectorized=True,
            rng=np.random.default_rng(0),
        )
    if np.ptp(found.bootstrap_distribution) <= 1e-12 * max(1.0, abs(estimate)):  # rounding is the only difference
        return estimate, estimate
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def paired(first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the rows of the trials that both policies have played."""
    shared = min(len(first), len(second))
    return first[:shared], second[:shared]


@dataclass(frozen=True)
class Wins:
    """How many trials the first of two policies wins, loses and ties, and the p-value of the sign test."""

    wins: int
    losses: int
    ties: int
    p_value: float


def sign_test(differences: FloatArray) -> Wins:
    """Count the wins (negative differences of regret) and test them against a fair coin.

    If all trials are ties there is nothing to test, and the p-value is 1.

    Examples
    --------
    >>> sign_test(np.array([-1.0, -2.0, -0.5, -3.0, 4.0, 0.0]))
    Wins(wins=4, losses=1, ties=1, p_value=0.375)
    """
    wins, losses = int(np.count_nonzero(differences < 0)), int(np.count_nonzero(differences > 0))
    p_value = float(scipy.stats.binomtest(wins, wins + losses, 0.5).pvalue) if wins + losses else 1.0
    return Wins(wins, losses, len(differences) - wins - losses, p_value)


def growth_exponent(regret: FloatArray, rounds: IntArray, part: float = 0.5) -> Estimate:
    """Return the growth exponent of mean cumulative regret over the last part of the run.

    Parameters
    ----------
    regret : array of shape (trials, P)
        Cumulative regret at the recorded rounds.
    rounds : array of shape (P,)
        The recorded rounds, from 1, increasing.
    part : float, default=0.5
        Share of the run to look at, above 0 and at most 1.

    Returns
    -------
    Estimate
        NaN if the window holds fewer than two recorded rounds, or if mean regret is zero in it. The interval is NaN for
        one trial, and where some resampled trials have no regret at all.

    Examples
    --------
    >>> rounds = np.arange(1, 1001)
    >>> round(growth_exponent(np.sqrt([rounds, 2 * rounds, 5 * rounds]), rounds).value, 6)
    0.5
    """
    nodes = window(rounds, part)
    if len(nodes) < 2:
        return Estimate(np.nan, np.nan, np.nan)
    x = np.log(rounds[nodes])
    weights = (x - x.mean()) / np.square(x - x.mean()).sum()  # of the logarithms in the least-squares slope

    def slope(curves: FloatArray) -> FloatArray:
        mean = curves.mean(axis=-2)
        logarithms = np.log(mean, out=np.full_like(mean, np.nan), where=mean > 0)
        exponent: FloatArray = logarithms @ weights
        return exponent

    curves = regret[:, nodes]
    return Estimate(float(slope(curves)), *statistic_interval(curves, slope))


def window(rounds: IntArray, part: float) -> IntArray:
    """Return the indices of up to ``NODES`` rounds in the last ``part``, as evenly spaced in log t as they come.

    Examples
    --------
    >>> window(np.arange(1, 9), 0.5) + 1
    array([4, 5, 6, 7, 8])
    """
    if check_between("part", part, 0.0, 1.0) == 0.0:
        raise ArgumentValueError("part", "a number above 0", f"{part}")
    last = int(rounds[-1])
    start = max(float(rounds[0]), (1.0 - part) * last)
    wanted = np.geomspace(start, last, NODES)
    places = np.searchsorted(rounds, wanted * (1 - 1e-12))  # the first recorded round at or after each
    return np.unique(np.minimum(places, len(rounds) - 1)).astype(np.intp)


def growing(regret: FloatArray, rounds: IntArray) -> NDArray[np.bool_]:
    """Return, for each trial, whether its regret still grows linearly at the end.

    It does if it grows in the last fifth of the rounds by at least half of what it grew by in the first fifth, which is
    the pace of exploration. With fewer than five rounds no trial counts as growing.

    Examples
    --------
    >>> rounds = np.arange(1, 101)
    >>> growing(np.array([1.0 * rounds, 5 * np.sqrt(rounds), np.minimum(rounds, 30.0), 0.0 * rounds]), rounds)
    array([ True, False, False, False])
    """
    last = float(rounds[-1])
    if last < 1 / LATE:
        return np.zeros(len(regret), dtype=np.bool_)
    at = np.concatenate(([0.0], rounds))
    ends = np.array([np.interp([LATE * last, (1 - LATE) * last, last], at, [0.0, *curve]) for curve in regret])
    early, late = ends[:, 0], ends[:, 2] - ends[:, 1]
    grows: NDArray[np.bool_] = (late > 0) & (late >= 0.5 * early)
    return grows


def group_pulls(pulls: NDArray[Any], actions: object) -> FloatArray:
    """Return how often the actions of a group were played, one number per trial.

    Parameters
    ----------
    pulls : array of shape (trials, K)
        How often each action was played.
    actions : array of bool of shape (K,) or (trials, K), or sequence of int
        The group: a mask, such as ``HardInstance.informative``; a mask per trial; or row numbers.

    Examples
    --------
    >>> group_pulls(np.array([[3, 1, 0], [2, 0, 2]]), [0, 2])
    array([3., 4.])
    >>> group_pulls(np.array([[3, 1, 0], [2, 0, 2]]), np.array([False, True, True]))
    array([1., 2.])
    """
    counts: FloatArray = np.where(_group_mask(actions, *pulls.shape), pulls, 0).sum(axis=1, dtype=np.float64)
    return counts


def _group_mask(actions: object, trials: int, n_actions: int) -> NDArray[np.bool_]:
    """Return the group as a mask of shape (K,) or (trials, K)."""
    try:
        group = np.asarray(cast(Any, actions))
    except ValueError:
        group = np.empty(0, dtype=object)
    if group.dtype == np.bool_:
        if group.shape[-1:] != (n_actions,) or group.ndim > 2 or (group.ndim == 2 and len(group) < trials):
            raise ArgumentValueError(
                "actions", f"({n_actions},) or ({trials}, {n_actions}) booleans", f"shape {group.shape}"
            )
        return group if group.ndim == 1 else group[:trials]
    if group.dtype.kind not in "iu" or group.ndim != 1 or not len(group):
        raise ArgumentTypeError("actions", "booleans or row numbers of actions", shown(actions))
    if group.min() < 0 or group.max() >= n_actions:
        raise ArgumentValueError("actions", f"row numbers from 0 to {n_actions - 1}", shown(actions))
    mask = np.zeros(n_actions, dtype=np.bool_)
    mask[group] = True
    return mask
