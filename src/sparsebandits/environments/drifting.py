"""A θ* that changes while the actions stay: worlds that drift.

θ*_0, θ*_1, … are independent draws of another environment. Either θ* stays for a number of rounds and is then replaced
by the next one, or it turns slowly from one to the next along a great circle during these rounds. No published source.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sparsebandits.arguments import ArgumentValueError, FloatArray, check_choice, check_count
from sparsebandits.environments.changing import FixedActions, check_environment, check_fixed
from sparsebandits.environments.instance import Instance, Outcome
from sparsebandits.randomness import Seed, child

CHANGES = ("abrupt", "rotation")

PARALLEL = 1e-9
"""Sine of the angle below which two directions count as one line: their difference is then mostly rounding."""


class DriftingInstance:
    """An instance whose θ* changes; actions, intercept and family of the rewards do not.

    Policies are not told when θ* changes. Regret is against the best action of the round.

    Parameters
    ----------
    draw : callable
        ``draw(k)`` returns an :class:`Instance` with the k-th θ*; the actions are those of ``draw(0)``.
    every : int
        Rounds from one θ* to the next.
    change : {"abrupt", "rotation"}
        How θ* goes from one to the next.

    Attributes
    ----------
    actions : array of shape (K, d)
        The actions.
    noise_variance : float
        The variance of a Gaussian reward around its mean; NaN for other families.
    rewards : Gaussian, Bernoulli or Poisson
        The family of the rewards.
    """

    def __init__(self, draw: Callable[[int], Instance], every: int, change: str) -> None:
        self._draw, self._every = draw, check_count("every", every)
        self._turns = check_choice("change", change, CHANGES) == "rotation"
        self._first = check_fixed(draw(0))
        if self._turns and len(self._first.theta) < 2:
            raise ArgumentValueError("change", "'abrupt' if there is one feature, which cannot turn", repr(change))
        self._thetas = {0: self._first.theta}
        self._key, self._now = (0, 0), self._first
        self.actions = self._first.actions
        self.noise_variance = self._first.noise_variance
        self.rewards = self._first.rewards

    def __repr__(self) -> str:
        how = "θ* turns into another" if self._turns else "another θ*"
        return f"{type(self).__name__}({self._first!r}, {how} every {self._every} rounds)"

    def at(self, round_number: int) -> Instance:
        """Return the instance with the θ* of one round. The latest one is kept.

        Parameters
        ----------
        round_number : int
            The round, counted from 0.

        Returns
        -------
        Instance
        """
        number, since = divmod(round_number, self._every)
        key = (number, since if self._turns else 0)
        if key != self._key:
            theta = self._theta(number)
            if key[1]:
                theta = turned(theta, self._theta(number + 1), since / self._every)
            self._key, self._now = key, replace(self._first, theta=theta)
        return self._now

    def offered(self, round_number: int) -> None:
        """Return None: the actions do not change.

        Parameters
        ----------
        round_number : int
            The round, counted from 0.
        """

    def outcome(self, round_number: int, action: int, features: FloatArray) -> Outcome:
        """Return what a decision was worth against the best action of its round.

        Parameters
        ----------
        round_number : int
            The round, counted from 0.
        action : int
            The row that was chosen; -1 if actions have no rows.
        features : array of shape (d,)
            The action itself.

        Returns
        -------
        Outcome

        Raises
        ------
        ArgumentValueError
            If the decision has no row.
        """
        return self.at(round_number).outcome(round_number, action, features)

    def _theta(self, number: int) -> FloatArray:
        """Return one of the θ* that were drawn; all of them are kept."""
        if number not in self._thetas:
            self._thetas[number] = self._draw(number).theta
        return self._thetas[number]


def turned(start: FloatArray, end: FloatArray, share: float) -> FloatArray:
    """Return a vector on the way from ``start`` to ``end`` along a great circle.

    Parameters
    ----------
    start, end : array of shape (d,)
        Vectors that are not zero, d ≥ 2. The norm goes from one to the other in equal steps.
    share : float
        Where on the way, from 0 to 1.

    Returns
    -------
    array of shape (d,)

    Examples
    --------
    >>> turned(np.array([2.0, 0.0]), np.array([0.0, 2.0]), 1 / 3).round(3)
    array([1.732, 1.   ])
    """
    lengths = np.linalg.norm(start), np.linalg.norm(end)
    ahead, target = start / lengths[0], end / lengths[1]
    aside = _perpendicular(target, ahead)
    angle = np.arctan2(np.linalg.norm(aside), ahead @ target)
    if np.linalg.norm(aside) < PARALLEL:  # the same direction, or the opposite one, to which every way is as short
        axis = np.zeros_like(ahead)
        axis[np.abs(ahead).argmin()] = 1.0
        aside = _perpendicular(axis, ahead)
    length = (1.0 - share) * lengths[0] + share * lengths[1]
    way = np.cos(share * angle) * ahead + np.sin(share * angle) * aside / np.linalg.norm(aside)
    return np.asarray(length * way)


def _perpendicular(vector: FloatArray, direction: FloatArray) -> FloatArray:
    """Return the part of a vector that is perpendicular to a unit vector."""
    return np.asarray(vector - (vector @ direction) * direction)


@dataclass(frozen=True)
class Drifting:
    """The instances of another environment, whose θ* changes.

    θ* and the actions of round 0 are those of ``environment.sample(seed)``. Each later θ* has a support and values of
    its own, drawn like the first.

    Parameters
    ----------
    environment : object with ``sample(seed)``
        The environment; its instances have rows of actions that do not change.
    every : int, default=500
        Rounds from one θ* to the next.
    change : {"abrupt", "rotation"}, default="abrupt"
        Whether θ* is the same for ``every`` rounds and then another, or turns from one to the next during these rounds.
        While it turns, its norm stays, and the features that matter are those of both.

    Examples
    --------
    >>> from sparsebandits.environments import LogisticActions
    >>> instance = Drifting(LogisticActions(dimension=40, sparsity=4), every=500).sample(seed=0)
    >>> bool((instance.at(0).theta == instance.at(499).theta).all())
    True
    >>> int(instance.at(499).means.argmax()) == int(instance.at(500).means.argmax())
    False
    """

    environment: FixedActions
    every: int = 500
    change: str = "abrupt"

    def __post_init__(self) -> None:
        check_environment(self.environment)
        check_count("every", self.every)
        check_choice("change", self.change, CHANGES)

    def sample(self, seed: Seed) -> DriftingInstance:
        """Return the instance that belongs to a seed.

        Parameters
        ----------
        seed : int, SeedSequence or None
            The seed; None for fresh entropy.

        Returns
        -------
        DriftingInstance
        """
        root = child(seed)  # fresh entropy is drawn once
        return DriftingInstance(
            lambda k: self.environment.sample(child(root, k) if k else root), self.every, self.change
        )
