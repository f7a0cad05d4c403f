"""Learning in epochs: an estimate that is fitted again only when an epoch ends, and the schedules of epochs.

Epochs count rewards, in the order in which they come. If each reward comes before the next decision, that is the number
of rounds, as in the sources; late rewards delay the end of an epoch.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    IntArray,
    check_choice,
    check_count,
    check_flag,
    shown,
)
from sparsebandits.policies.rivals.lasso import Estimator, LassoEstimator

WINDOWS = ("last", "all")


class Schedule(Protocol):
    """Interface of schedules of epochs; frozen dataclasses."""

    def end(self, count: int) -> int:
        """Return the end of the last complete epoch, as a number of rewards; zero during the first epoch.

        Parameters
        ----------
        count : int
            Number of rewards so far.

        Returns
        -------
        int
            At most ``count``.
        """

    def rows(self, end: int) -> IntArray:
        """Return which rewards the estimate is fitted to when an epoch ends.

        Parameters
        ----------
        end : int
            What :meth:`end` returned.

        Returns
        -------
        int array
            Their places, below ``end``.
        """


@dataclass(frozen=True)
class Doubling:
    """Epochs that end after 2, 4, 8, … rewards.

    As in Simchi-Levi and Xu (2020) and in Wang, Chen, Fang, Wang and Li (2020).

    Parameters
    ----------
    window : {"last", "all"}, default="last"
        Whether the estimate is fitted to the rewards of the last epoch or to all rewards before its end.

    Examples
    --------
    >>> [Doubling().end(count) for count in (0, 1, 2, 3, 4, 9)]
    [0, 0, 2, 2, 4, 8]
    >>> Doubling().rows(8), Doubling().number(8)
    (array([4, 5, 6, 7]), 4)
    """

    window: str = "last"

    def __post_init__(self) -> None:
        check_choice("window", self.window, WINDOWS)

    def end(self, count: int) -> int:
        """Return the largest power of two from 2 to ``count``; zero if there is none."""
        return 1 << (count.bit_length() - 1) if count >= 2 else 0

    def number(self, end: int) -> int:
        """Return the number m of the epoch that begins after ``end`` rewards, from one."""
        return end.bit_length() if end else 1

    def rows(self, end: int) -> IntArray:
        """Return the rewards of the epoch that ends, or all of them."""
        return np.arange(end // 2 if self.window == "last" and end > 2 else 0, end)


@dataclass(frozen=True)
class BatchGrid:
    """Batches that end after given numbers of rewards.

    As in Ren and Zhou (2020).

    Parameters
    ----------
    ends : tuple of int
        End of each batch, increasing; nothing is fitted after the last.
    split : bool, default=False
        Whether fits use different rewards: each batch is cut into as many parts as there are batches, and the fit after
        the m-th batch uses the m-th part of each batch so far. Otherwise a fit uses all rewards.

    Examples
    --------
    >>> grid = BatchGrid((4, 10, 16), split=True)
    >>> grid.end(9), grid.rows(4), grid.rows(10)
    (4, array([0]), array([1, 6, 7]))
    """

    ends: tuple[int, ...]
    split: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.ends, tuple) or not self.ends:
            raise ArgumentTypeError("ends", "a tuple of whole numbers", shown(self.ends))
        for end in self.ends:
            check_count("ends", end)
        if any(one >= other for one, other in zip(self.ends, self.ends[1:], strict=False)):
            raise ArgumentValueError("ends", "increasing numbers", shown(self.ends))
        check_flag("split", self.split)

    def end(self, count: int) -> int:
        """Return the largest end up to ``count``; zero if there is none."""
        return max((end for end in self.ends if end <= count), default=0)

    def rows(self, end: int) -> IntArray:
        """Return all rewards up to ``end``, or the parts of batches that this fit uses."""
        if not self.split:
            return np.arange(end)
        number = self.ends.index(end)
        starts = (0, *self.ends[:number])
        parts = []
        for start, stop in zip(starts, self.ends[: number + 1], strict=True):
            size = (stop - start) // len(self.ends)
            parts.append(np.arange(start + size * number, start + size * (number + 1)))
        found = np.concatenate(parts)
        return found if len(found) else np.arange(end)  # batches that are too short to be cut


class EpochEstimator(LassoEstimator):
    """Learner: stored rewards, and an estimate that is fitted when an epoch ends.

    No published source: what the policies in epochs have in common.

    Parameters
    ----------
    dimension : int
        Number of features d.
    estimator : Estimator
        How θ is estimated; a frozen dataclass.
    schedule : Doubling or BatchGrid
        When epochs end, and which rewards count then.
    """

    def __init__(self, dimension: int, estimator: Estimator, schedule: Any) -> None:
        if not isinstance(schedule, Doubling | BatchGrid):
            raise ArgumentTypeError("schedule", "Doubling or BatchGrid", shown(schedule))
        super().__init__(dimension, estimator)
        self.schedule = schedule

    def refit(self) -> None:
        """Fit again if an epoch has ended since the last fit."""
        end = self.schedule.end(len(self.samples))
        if end > self._fitted:
            rows = self.schedule.rows(end)
            estimate = self.estimator(self.samples.x[rows], self.samples.y[rows], self._estimate.lasso)
            vars(self).update(_estimate=estimate, _fitted=end)  # in one step

    @property
    def end(self) -> int:
        """Number of rewards at the end of the last complete epoch."""
        return int(self.schedule.end(len(self.samples)))
