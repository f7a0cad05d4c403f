r"""How fast regret grows: an exponent with its interval, and the trials in which it still grows linearly.

The exponent over the last part of a run of T rounds is the slope α of the least-squares line

    log R̄(t) ≈ c + α log t,    (1 − part)·T ≤ t ≤ T,

through up to 50 rounds evenly spaced in log t, where R̄ is cumulative regret, averaged over trials. Its interval is the
bootstrap over trials (``intervals.py``): rounds of one trial depend on each other, trials do not.

R̄(t) = C·t has α = 1, C·√t has α = 1/2, C·log t has α = 1/log t, which falls towards 0 slowly (0.14 at t = 1000), and
regret that has stopped growing has α = 0. The exponent describes the window and no more. It misleads where

- **a part of the trials is stuck**: if a share p of them pays δ a round for ever and the others stop at C, then
  R̄(t) = (1 − p)·C + p·δ·t, and α lies between 0 and 1 although no trial grows like that. It tends to 1, but late. The
  share of trials that still grow linearly (:func:`growing`) tells this case from a true power;
- **regret begins with a toll**: R̄(t) = C + δ·t (explore, then commit to a wrong action) has α = δt/(C + δt) < 1;
- **the window is short or early**: exploration that lasts as long as the run looks linear;
- **the mean is a few trials'**: the interval is then wide, and at fewer than about 20 trials too narrow all the same.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsebandits.arguments import ArgumentValueError, FloatArray, IntArray, check_between
from sparsebandits.results.intervals import statistic_interval

NODES = 50
"""Rounds that the line is fitted through, at most."""

LATE = 0.2
"""The last part of a run, and the first, that are compared to tell whether regret still grows."""


@dataclass(frozen=True)
class Exponent:
    """α with the ends of its 95% interval; NaN where there is none."""

    value: float
    low: float
    high: float


def growth_exponent(regret: FloatArray, rounds: IntArray, part: float = 0.5) -> Exponent:
    """Return the exponent of mean cumulative regret over the last ``part`` of the rounds.

    It is NaN where fewer than two recorded rounds are in that part, or where mean regret is zero in it. There is no
    interval for one trial, nor where some resampled trials have no regret at all.

    Parameters
    ----------
    regret : (trials, recorded rounds), cumulative
    rounds : the recorded rounds, from 1, increasing
    part : share of the rounds that are looked at, more than 0 and at most 1

    >>> rounds = np.arange(1, 1001)
    >>> round(growth_exponent(np.sqrt([rounds, 2 * rounds, 5 * rounds]), rounds).value, 6)
    0.5
    """
    nodes = window(rounds, part)
    if len(nodes) < 2:
        return Exponent(np.nan, np.nan, np.nan)
    x = np.log(rounds[nodes])
    weights = (x - x.mean()) / np.square(x - x.mean()).sum()  # of the logarithms in the least-squares slope

    def slope(curves: FloatArray) -> FloatArray:
        mean = curves.mean(axis=-2)
        logarithms = np.log(mean, out=np.full_like(mean, np.nan), where=mean > 0)
        exponent: FloatArray = logarithms @ weights
        return exponent

    curves = regret[:, nodes]
    return Exponent(float(slope(curves)), *statistic_interval(curves, slope))


def window(rounds: IntArray, part: float) -> IntArray:
    """Return the places of up to ``NODES`` rounds in the last ``part``, evenly spaced in log t as far as there are.

    >>> window(np.arange(1, 9), 0.5) + 1
    array([4, 5, 6, 7, 8])
    """
    if check_between("part", part, 0.0, 1.0) == 0.0:
        raise ArgumentValueError("part", "a number above 0", f"{part}")
    last = int(rounds[-1])
    start = max(float(rounds[0]), (1.0 - part) * last)
    wanted = np.geomspace(start, last, NODES)
    places = np.searchsorted(rounds, wanted * (1 - 1e-12))  # the first round at or after it
    return np.unique(np.minimum(places, len(rounds) - 1)).astype(np.intp)


def growing(regret: FloatArray, rounds: IntArray) -> NDArray[np.bool_]:
    """Return, for each trial, whether its regret still grows linearly at the end.

    It does if in the last fifth of the rounds it grows by at least half of what it grew by in the first fifth, a pace
    that exploration has. With fewer than five rounds nothing can be told, and no trial counts.

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
