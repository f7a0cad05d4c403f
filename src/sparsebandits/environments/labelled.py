"""Rounds with one right action: the reward is 1 if it was chosen, and 0 otherwise.

A classification problem is such a bandit: the context is a row of the data, the actions are the classes, and the policy
learns whether the class that it chose is the right one, but not which one is. No θ* makes these rewards, so a linear or
logistic model of them is an approximation. Regret is against always being right, which no policy may be able to reach.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sparsebandits.arguments import FloatArray, check_count, frozen
from sparsebandits.environments.contexts import Contexts
from sparsebandits.environments.instance import Outcome, RoundByRound, check_row
from sparsebandits.model.families import Bernoulli


@dataclass(frozen=True, eq=False)
class LabelledRound:
    """The actions of one round, of which one is right.

    Parameters
    ----------
    actions : array of shape (K, d)
        One row per action.
    right : int
        The row of the right action.
    rewards : Bernoulli
        The family of the rewards.
    """

    actions: FloatArray
    right: int
    rewards: Bernoulli

    @property
    def noise_variance(self) -> float:
        """NaN, since rewards are not Gaussian."""
        return math.nan

    @cached_property
    def means(self) -> FloatArray:
        """Mean reward of each action, shape ``(K,)``: 1 for the right one, 0 for the others."""
        means = np.zeros(len(self.actions))
        means[self.right] = 1.0
        return frozen(means)

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
        mean = float(self.means[row])
        return Outcome(mean, 1.0 - mean, row)


class LabelledInstance(RoundByRound):
    """An instance with a new context in each round, for which one action is right.

    Policies are made with the actions of round 0, and are offered those of each round when it comes.

    Parameters
    ----------
    contexts : Contexts
        The contexts of all rounds, and the items.
    label : callable
        ``label(t)`` returns the row of the item that is right in round t.

    Attributes
    ----------
    contexts : Contexts
        ``contexts.row(t)`` is the context of round t, ``contexts.rows(n)`` are those of the first n rounds,
        ``contexts.names`` their names and ``contexts.item_names`` the names of the actions. A policy may know all of
        these.
    actions : array of shape (K, d)
        The actions of round 0.
    rewards : Bernoulli
        The family of the rewards; a policy has to learn the intercept.
    noise_variance : float
        NaN, since rewards are not Gaussian.
    """

    def __init__(self, contexts: Contexts, label: Callable[[int], int]) -> None:
        self.contexts, self._label = contexts, label
        self.rewards = Bernoulli(intercept=True)
        self._round, self._now = 0, self._at(0)
        self.actions = self._now.actions
        self.noise_variance = self._now.noise_variance

    def __repr__(self) -> str:
        count, dimension = self.actions.shape
        return f"{type(self).__name__}({count} actions of {dimension} features, one of which is right in each round)"

    def _at(self, round_number: int) -> LabelledRound:
        return LabelledRound(frozen(self.contexts.actions(round_number)), self._label(round_number), self.rewards)

    def at(self, round_number: int) -> LabelledRound:
        """Return the actions of one round and which of them is right. The latest round is kept.

        Parameters
        ----------
        round_number : int
            The round, counted from 0.

        Returns
        -------
        LabelledRound
        """
        if round_number != self._round:
            self._round, self._now = round_number, self._at(round_number)
        return self._now

    def labels(self, rounds: int, first: int = 0) -> list[int]:
        """Return the right actions of several rounds in succession. A policy may not know them.

        Parameters
        ----------
        rounds : int
            Number of rounds.
        first : int, default=0
            The first of them.

        Returns
        -------
        list of int
        """
        start = check_count("first", first, least=0)
        return [self._label(start + t) for t in range(check_count("rounds", rounds))]
