"""One bandit problem with its solution: the actions, the true θ* and the noise. A policy never sees it.

``simulate`` knows a problem as a :class:`World`, which says what may be played in a round and what a decision was
worth. Nothing more is needed, so actions may be fixed rows (:class:`Instance`), rows that change from round to round
(``changing.py``) or points that are never enumerated (``hypercube.py``).
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from sparsebandits.arguments import ArgumentValueError, FloatArray, check_matrix, check_positive, check_vector, frozen
from sparsebandits.randomness import IndexedNormals, Seed


class Outcome(NamedTuple):
    """What a decision was worth.

    Parameters
    ----------
    mean : float
        The mean of its reward.
    regret : float
        The best mean reward of the round minus this one.
    noise_index : int
        Which noise of the round is added: two decisions with the same index get the same noise.
    """

    mean: float
    regret: float
    noise_index: int

    def reward(self, round_number: int, noise_variance: float, noise: IndexedNormals) -> float:
        """Return the reward of the decision: its mean plus noise. All simulated rewards are made here.

        Parameters
        ----------
        round_number : int
            The round, counted from 0.
        noise_variance : float
            The variance of a reward around its mean.
        noise : IndexedNormals
            The noise of the trial.

        Returns
        -------
        float
        """
        return self.mean + math.sqrt(noise_variance) * noise(round_number, self.noise_index)


@runtime_checkable
class World(Protocol):
    """The problem that ``simulate`` plays against."""

    @property
    def actions(self) -> object:
        """The actions as a policy is given them before the first round."""

    @property
    def noise_variance(self) -> float:
        """Variance of a reward around its mean."""

    def offered(self, round_number: int) -> FloatArray | None:
        """Return the actions of one round.

        Parameters
        ----------
        round_number : int
            The round, counted from 0.

        Returns
        -------
        array of shape (K, d), or None
            None if they are those that the policy was made with.
        """

    def outcome(self, round_number: int, action: int, features: FloatArray) -> Outcome:
        """Return what a decision was worth.

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
        """


def check_row(action: int) -> int:
    """Require a decision that chose a row.

    Parameters
    ----------
    action : int
        The row; -1 if there is none.

    Returns
    -------
    int

    Raises
    ------
    ArgumentValueError
        If there is none.
    """
    if action < 0:
        raise ArgumentValueError("action", "a row of the actions", "a decision without one")
    return action


@dataclass(frozen=True, eq=False)
class Instance:
    """A linear bandit with fixed actions.

    Parameters
    ----------
    actions : array of shape (K, d)
        One row per action.
    theta : array of shape (d,)
        The true coefficients θ*.
    noise_variance : float
        The variance of a reward around its mean.

    Examples
    --------
    >>> import numpy as np
    >>> instance = Instance(np.eye(2), [1.0, 3.0], noise_variance=0.5)
    >>> instance.means, instance.gaps
    (array([1., 3.]), array([2., 0.]))
    """

    actions: FloatArray
    theta: FloatArray
    noise_variance: float

    def __post_init__(self) -> None:
        actions = check_matrix("actions", self.actions)
        theta = check_vector("theta", self.theta, actions.shape[1])
        object.__setattr__(self, "actions", frozen(actions.copy()))
        object.__setattr__(self, "theta", frozen(theta.copy()))
        object.__setattr__(self, "noise_variance", check_positive("noise_variance", self.noise_variance))

    def __repr__(self) -> str:
        actions, dimension = self.actions.shape
        matter = np.count_nonzero(self.theta)
        noise = f"noise variance {self.noise_variance:g}"
        return f"{type(self).__name__}({actions} actions of {dimension} features of which {matter} matter, {noise})"

    @cached_property
    def means(self) -> FloatArray:
        """Mean reward of each action, shape ``(K,)``."""
        return np.asarray(frozen(self.actions @ self.theta))

    @cached_property
    def gaps(self) -> FloatArray:
        """Regret of playing each action once, shape ``(K,)``."""
        return np.asarray(frozen(self.means.max() - self.means))

    def at(self, round_number: int) -> "Instance":
        """Return the instance whose actions are those of one round: itself, since they do not change.

        Parameters
        ----------
        round_number : int
            The round, counted from 0.

        Returns
        -------
        Instance
        """
        return self

    def offered(self, round_number: int) -> None:
        """Return None: the actions do not change.

        Parameters
        ----------
        round_number : int
            The round, counted from 0.
        """

    def outcome(self, round_number: int, action: int, features: FloatArray) -> Outcome:
        """Return what a decision was worth.

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
        row = check_row(action)
        return Outcome(float(self.means[row]), float(self.gaps[row]), row)


class Environment(Protocol):
    """A distribution over bandit problems."""

    def sample(self, seed: Seed) -> World:
        """Return the problem that belongs to a seed.

        Parameters
        ----------
        seed : int, SeedSequence or None
            The seed; None for fresh entropy.

        Returns
        -------
        World
        """
