"""Rewards far out of line: how much they weigh.

A Gaussian likelihood believes every reward. One that is a hundred standard deviations off (a typing error, a broken
sensor) makes a learnt noise so large that nothing is learnt for hundreds of rounds. So a reward at z standard
deviations of the other rewards, beyond a limit, is given the weight (limit / z)²: it counts as one at the limit does.
This is the weight of Huber's estimator, decided when the reward comes, as in the outlier-robust filter of Duran-Martin
et al. (2024): the posterior stays one of weighted observations, and costs nothing more. What has happened before is
believed: a reward no more than twice as far from the mean as another one on the same side counts in full, so rare
successes are not lost.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sparsebandits.arguments import FloatArray
from sparsebandits.layouts import Absent, Count, Layout, Number, read, wrong

LEAST = 10
"""Number of other rewards below which nothing is out of line."""

AGAIN = 2.0
"""A reward at most so many times as far out as another one is believed."""

DIGITS = 1e-6
"""Share of a sum of squares below which what is left of it after one term is taken away is summed anew."""

ROUNDING = 1e-9
"""Rewards that differ by less than this share of their size are equal, and no measure of what is out of line."""


@dataclass(frozen=True)
class Spread:
    """Number, mean and sum of squared deviations of rewards.

    Attributes
    ----------
    count : int
        Number of rewards.
    mean : float
        Their mean.
    squares : float
        Sum of squared deviations from the mean.
    least, most : float
        The smallest and the largest of them.
    """

    saved: ClassVar[Layout] = {
        "count": Count(),
        "mean": Number(),
        "squares": Number(low=0.0),
        "least": Absent(Number()),
        "most": Absent(Number()),
    }

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0
    least: float = math.inf
    most: float = -math.inf

    def after(self, y: FloatArray, weights: FloatArray | None = None) -> "Spread":
        """Return the spread with further rewards.

        Parameters
        ----------
        y : array of shape (n,)
            Rewards.
        weights : array of shape (n,), optional
            Their :meth:`weights`; by default 1. One that weighs w < 1 counts as one at the limit, √w as far from the
            others: else it would hide the next one.

        Returns
        -------
        Spread
            That of all of them.
        """
        if len(y) == 0:
            return self
        ends = min(self.least, float(y.min())), max(self.most, float(y.max()))
        if weights is not None and (weights < 1.0).any():
            ordinary = y[weights == 1.0]
            others = self.after(ordinary).mean
            y = np.where(weights < 1.0, others + np.sqrt(weights) * (y - others), y)
        mean, count = float(y.mean()), self.count + len(y)
        apart = mean - self.mean
        squares = float(((y - mean) ** 2).sum()) + apart * apart * self.count * len(y) / count
        return Spread(count, self.mean + apart * len(y) / count, self.squares + squares, *ends)

    def weights(self, y: FloatArray, limit: float) -> FloatArray:
        """Return the weight of each of some further rewards, by how far it is from all others.

        Parameters
        ----------
        y : array of shape (n,)
            Rewards.
        limit : float
            Standard deviations of the others up to which a reward counts in full.

        Returns
        -------
        array of shape (n,)
            Weights of at most 1.

        Examples
        --------
        >>> Spread(100, 0.0, 100.0, -2.5, 2.5).weights(np.array([1.0, 10.0]), limit=5.0).round(2)
        array([1.  , 0.25])
        """
        others = self.count + len(y) - 1
        if others < LEAST:
            return np.ones(len(y))
        if len(y) == 1 and abs(float(y[0]) - self.mean) <= limit * math.sqrt(self.squares / others):
            return np.ones(1)  # a shortcut for the usual case
        everything = self.after(y)
        # The spread of all but one: mean m − (y − m) / others, squares less (y − m)² count / others.
        apart = y - everything.mean
        squares = np.maximum(everything.squares - apart * apart * everything.count / others, 0.0)
        centre = everything.mean - apart / others
        for i in np.flatnonzero(squares < DIGITS * everything.squares):  # one that hides the others: no differences
            rest = self.after(np.delete(y, i))
            squares[i], centre[i] = rest.squares, rest.mean
        distance, deviation = np.abs(y - centre), np.sqrt(squares / others)
        far = (distance > limit * deviation) & (deviation > ROUNDING * np.abs(centre))
        high, low = np.sort(np.append(y, self.most)), np.sort(np.append(y, self.least))  # infinite if none came before
        most = np.where(y == high[-1], high[-2], high[-1])  # of the others
        least = np.where(y == low[0], low[1], low[0])
        far &= np.where(apart > 0, y - centre > AGAIN * (most - centre), centre - y > AGAIN * (centre - least))
        return np.where(far, (limit * deviation / np.where(far, distance, 1.0)) ** 2, 1.0)

    def state(self) -> dict[str, Any]:
        """Return the spread as JSON values."""
        ends = {"least": self.least, "most": self.most} if self.count else {}
        return {"count": self.count, "mean": self.mean, "squares": self.squares, **ends}

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> "Spread":
        """Return the spread whose :meth:`state` is given."""
        found = read(cls.saved, state)
        ends = [found[name] for name in ("least", "most") if found.get(name) is not None]
        if len(ends) != (2 if found["count"] else 0) or ends != sorted(ends):
            raise wrong("spread", "a smallest and a largest reward if there are rewards", str(ends))
        return cls(**found)
