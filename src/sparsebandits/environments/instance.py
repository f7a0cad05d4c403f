"""One bandit problem with its solution: the actions, the true θ* and the rewards. A policy never sees it.

The mean reward of an action is μ(α + ⟨a, θ*⟩), where μ belongs to the family of the rewards (``model/rewards.py``): the
identity if they are Gaussian, otherwise the inverse of a link.

``simulate`` knows a problem as a :class:`World`, which says what may be played in a round and what a decision was
worth. Nothing more is needed, so actions may be fixed rows (:class:`Instance`), rows that change from round to round
(``changing.py``) or points that are never enumerated (``hypercube.py``, ``unit_ball.py``), and θ* may change too
(``drifting.py``). Rows may be made from the context of a round (``contexts.py``), and a round may have one right action
(``labelled.py``).
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    check_matrix,
    check_number,
    check_vector,
    frozen,
    shown,
)
from sparsebandits.model.rewards import Gaussian, Rewards, rewards_of
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
        Which noise of the round makes the reward: two decisions with the same index get the same noise.
    observation : float, optional
        The mean of what the policy is told, if that is not the reward.
    noise_scale : float, default=1.0
        Factor on the standard deviation of a Gaussian reward, where noise depends on the action (``unit_ball.py``).
    """

    mean: float
    regret: float
    noise_index: int
    observation: float | None = None
    noise_scale: float = 1.0

    @property
    def told(self) -> "Outcome":
        """The outcome with the reward that the policy is told, which is this one by default."""
        return self if self.observation is None else self._replace(mean=self.observation)

    def reward(self, round_number: int, rewards: Rewards, noise: IndexedNormals) -> float:
        """Return the reward of the decision. All simulated rewards are made here.

        A Gaussian reward is its mean plus noise. Any other is the quantile of its distribution at Φ(noise), so that
        one normal per round and action makes the rewards of all families.

        Parameters
        ----------
        round_number : int
            The round, counted from 0.
        rewards : Gaussian, Bernoulli or Poisson
            The family of the rewards; the variance of Gaussian ones is known.
        noise : IndexedNormals
            The noise of the trial.

        Returns
        -------
        float
        """
        normal = noise(round_number, self.noise_index)
        if isinstance(rewards, Gaussian):
            return self.mean + self.noise_scale * math.sqrt(rewards.variance) * normal
        return rewards.drawn(self.mean, 0.5 * math.erfc(-normal / math.sqrt(2.0)))


class Round(Protocol):
    """The actions of one round and what they are worth."""

    @property
    def actions(self) -> FloatArray:
        """The actions, shape ``(K, d)``."""

    @property
    def means(self) -> FloatArray:
        """Mean reward of each action, shape ``(K,)``."""

    @property
    def noise_variance(self) -> float:
        """Variance of a Gaussian reward around its mean; NaN for other families."""

    @property
    def rewards(self) -> Rewards:
        """The family of the rewards."""

    def outcome(self, round_number: int, action: int, features: FloatArray) -> Outcome:
        """Return what a decision was worth.

        Parameters
        ----------
        round_number : int
            The round, counted from 0.
        action : int
            The row that was chosen.
        features : array of shape (d,)
            The action itself.

        Returns
        -------
        Outcome
        """


@runtime_checkable
class World(Protocol):
    """The problem that ``simulate`` plays against."""

    @property
    def actions(self) -> object:
        """The actions as a policy is given them before the first round."""

    @property
    def noise_variance(self) -> float:
        """Variance of a Gaussian reward around its mean; NaN for other families, where it depends on the mean."""

    @property
    def rewards(self) -> Rewards:
        """The family of the rewards; its ``intercept`` says whether there is one that a policy has to learn."""

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


class RoundByRound(ABC):
    """An instance with new actions in each round; a subclass says what they are and what they are worth."""

    @abstractmethod
    def at(self, round_number: int) -> Round:
        """Return the actions of one round and what they are worth.

        Parameters
        ----------
        round_number : int
            The round, counted from 0.

        Returns
        -------
        Round
        """

    def offered(self, round_number: int) -> FloatArray:
        """Return the actions of one round.

        Parameters
        ----------
        round_number : int
            The round, counted from 0.

        Returns
        -------
        array of shape (K, d)
        """
        return self.at(round_number).actions

    def outcome(self, round_number: int, action: int, features: FloatArray) -> Outcome:
        """Return what a decision was worth against the other actions of its round.

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


@dataclass(frozen=True, eq=False, init=False)
class Instance:
    """A bandit with fixed actions and mean rewards μ(α + ⟨a, θ*⟩), linear by default.

    Parameters
    ----------
    actions : array of shape (K, d)
        One row per action.
    theta : array of shape (d,)
        The true coefficients θ*.
    noise_variance : float, optional
        The variance of a reward around its mean. Short form of ``rewards``.
    rewards : Gaussian, Bernoulli or Poisson, optional
        The family of the rewards; the variance of Gaussian ones has to be known. Its ``intercept`` says whether a
        policy has to learn one; it becomes True if ``intercept`` is not zero.
    intercept : float, default=0.0
        The true intercept α.

    Examples
    --------
    >>> import numpy as np
    >>> instance = Instance(np.eye(2), [1.0, 3.0], noise_variance=0.5)
    >>> instance.means, instance.gaps
    (array([1., 3.]), array([2., 0.]))
    >>> from sparsebandits import Bernoulli
    >>> Instance(np.eye(2), [1.0, 3.0], rewards=Bernoulli(), intercept=-2.0).means.round(3)
    array([0.269, 0.731])
    """

    actions: FloatArray
    theta: FloatArray
    rewards: Rewards
    intercept: float

    def __init__(
        self,
        actions: object,
        theta: object,
        noise_variance: float | None = None,
        rewards: Rewards | None = None,
        intercept: float = 0.0,
    ) -> None:
        rows = check_matrix("actions", actions)
        level = check_number("intercept", intercept)
        family = _known(rewards, noise_variance)
        object.__setattr__(self, "actions", frozen(rows.copy()))
        object.__setattr__(self, "theta", frozen(check_vector("theta", theta, rows.shape[1]).copy()))
        object.__setattr__(self, "rewards", replace(family, intercept=family.intercept or level != 0.0))
        object.__setattr__(self, "intercept", level)

    def __repr__(self) -> str:
        actions, dimension = self.actions.shape
        matter = np.count_nonzero(self.theta)
        gaussian = isinstance(self.rewards, Gaussian)
        kind = f"noise variance {self.noise_variance:g}" if gaussian else f"{type(self.rewards).__name__} rewards"
        return f"{type(self).__name__}({actions} actions of {dimension} features of which {matter} matter, {kind})"

    @property
    def noise_variance(self) -> float:
        """Variance of a Gaussian reward around its mean; NaN for other families, where it depends on the mean."""
        return float(self.rewards.variance) if isinstance(self.rewards, Gaussian) else math.nan

    @cached_property
    def means(self) -> FloatArray:
        """Mean reward of each action, shape ``(K,)``."""
        return np.asarray(frozen(self.rewards.mean(self.intercept + self.actions @ self.theta)))

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


def _known(rewards: Rewards | None, noise_variance: float | None) -> Rewards:
    """Return the family of the rewards of an instance."""
    family = rewards_of(rewards, noise_variance, default=None)
    if not family.known:
        name = "noise_variance" if rewards is None else "rewards"
        raise ArgumentTypeError(name, "a known noise variance", shown(family.variance))
    return family


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
