"""Whether to go on: how sure it is which action is the best, and what one more trial is worth.

With u_a the mean reward of action a, or what the goal makes of it, and b the action of largest E u_a:

- P(b is the best) is the share of the draws under which it is,
- stopping with b costs E max_a u_a − E u_b on average,
- one more reward Y is worth E max_a E[u_a | Y] − max_a E u_a, the knowledge gradient (Frazier, Powell and Dayanik
  2009), here from draws that are reweighted by the likelihood of simulated rewards.

Where trials have costs, doing nothing is one more choice, with u = 0 (``rules/per_cost.py``), in each maximum.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from sparsebandits.advice.goal import Goal
from sparsebandits.arguments import BoolArray, FloatArray
from sparsebandits.model.families import Bernoulli, Linked
from sparsebandits.policies.policy import Policy
from sparsebandits.tables import formatted

DRAWS, OUTCOMES, CANDIDATES = 2000, 256, 200
"""Numbers of draws, of simulated rewards and of leading actions that are looked at, at most."""

ROUNDING = 1e-9
"""Relative difference of two numbers that are equal but for rounding."""

MOST = 20_000_000
"""Largest number of mean rewards, of actions times draws."""

SURE, LITTLE = 0.95, 0.01
"""Probability from which on an action is called found; share of the spread of expected rewards that is little."""


@dataclass(frozen=True, eq=False)
class Stopping:
    """What is known of the best action, and what one more trial is worth.

    Attributes
    ----------
    best : int
        The action with the largest expected reward.
    name : str
        Its name.
    probability : float
        Probability that it is the best.
    shortfall : float
        Expected difference of its mean reward from that of the best action.
    gain : float
        Expected improvement by one more trial of the recommended action.
    spread : float
        Standard deviation of the expected rewards of all actions.
    chances : array of shape (K,)
        Probability that each action is the best of those that may be.
    unit : str, default="the mean reward"
        What ``shortfall`` and ``gain`` are amounts of.
    """

    best: int
    name: str
    probability: float
    shortfall: float
    gain: float
    spread: float
    chances: FloatArray
    unit: str = "the mean reward"

    def to_dict(self) -> dict[str, str | float]:
        """Return it as values that JSON has."""
        return {
            "best": self.name,
            "probability": self.probability,
            "shortfall": self.shortfall,
            "gain": self.gain,
            "found": self.found,
        }

    @property
    def found(self) -> bool:
        """Whether there is little left to learn."""
        return self.probability >= SURE or self.shortfall <= LITTLE * self.spread

    def __str__(self) -> str:
        sure = f"{self.name} looks best, and is the best with probability {self.probability:.2f}."
        lost = f"To stop with it would give away {formatted(self.shortfall)} of {self.unit} on average"
        if self.found:
            return f"{sure} {lost}: there is little left to gain."
        if self.gain <= LITTLE * self.shortfall:
            return f"{sure} {lost}. One more trial alone is not expected to change the choice."
        return f"{sure} {lost}; one more trial is expected to save {formatted(self.gain)} of that."


def stopping(
    policy: Policy,
    names: tuple[str, ...],
    next_row: int,
    goal: Goal | None = None,
    allowed: BoolArray | None = None,
) -> Stopping:
    """Return whether to go on.

    Parameters
    ----------
    policy : Policy
        The policy, after the past rewards.
    names : tuple of str
        Names of its actions.
    next_row : int
        The action that is to be tried next.
    goal : Goal, optional
        What mean rewards are worth; by default themselves.
    allowed : bool array of shape (K,), optional
        Actions that may be the best; by default all.

    Returns
    -------
    Stopping
    """
    goal = Goal() if goal is None else goal
    utility, idle = goal.utility, goal.idle
    beliefs = policy.beliefs()
    draws, chance = beliefs.draws, beliefs.optimal_probability
    count = max(1, min(DRAWS, len(draws.weights), MOST // len(chance)))
    some = np.searchsorted(np.cumsum(draws.weights), (np.arange(count) + 0.5) / count)
    some = np.minimum(some, len(draws.weights) - 1)
    mean_rewards = beliefs.rewards_under(draws.theta[some])
    if utility is not None:  # then their level matters, too
        levels = ndtri((np.random.default_rng(1).permutation(count) + 0.5) / count)
        mean_rewards = mean_rewards + math.sqrt(beliefs.level_variance) * levels
    worth = mean_rewards if utility is None else utility(mean_rewards)
    may = np.arange(len(worth)) if allowed is None else np.flatnonzero(allowed)
    expected = worth[may].mean(axis=1)
    place = int(np.argmax(expected))
    best = int(may[place])
    shortfall = float(worth[may].max(axis=0, initial=idle).mean() - max(expected[place], idle))
    chances = np.zeros(len(worth))
    chances[may] = _wins(worth[may], expected, idle)
    chances = chance if utility is None and allowed is None else chances
    leading = np.union1d(may[np.argsort(-chances[may], kind="stable")[:CANDIDATES]], [best])
    family = getattr(policy.posterior, "rewards", None)
    shares = outcome_weights(mean_rewards[next_row], float(beliefs.noise_variances[next_row]), family)
    after = shares @ worth[leading].T
    mass = np.full(len(after), 1.0 / len(after)) if len(after) != 2 else outcome_mass(mean_rewards[next_row])
    gain = float(mass @ after.max(axis=1, initial=idle) - (mass @ after).max(initial=idle))
    return Stopping(
        best,
        names[best],
        float(chances[best]),
        max(shortfall, 0.0),
        max(gain, 0.0),
        float(expected.std()),
        chances,
        goal.unit,
    )


def _wins(worth: FloatArray, expected: FloatArray, idle: float) -> FloatArray:
    """Return the share of the draws under which each action is the best; of those that tie, the leader is.

    Parameters
    ----------
    worth : array of shape (K, M)
        What each action is worth under each draw.
    expected : array of shape (K,)
        What it is worth on average.
    idle : float
        What doing nothing is worth, which is the best under the other draws.

    Returns
    -------
    array of shape (K,)
    """
    order = np.argsort(-expected, kind="stable")
    top = worth.max(axis=0)
    close = worth[order] >= top - ROUNDING * np.abs(worth).max(axis=0)
    best = order[close.argmax(axis=0)]
    return np.asarray(np.bincount(best[top >= idle], minlength=len(worth)) / worth.shape[1])


def outcome_weights(means: FloatArray, noise: float, rewards: Any) -> FloatArray:
    """Return weights of the draws given each of some simulated rewards, one row per reward.

    Parameters
    ----------
    means : array of shape (M,)
        Mean reward of the action under each of M equally likely draws.
    noise : float
        Variance of a Gaussian reward.
    rewards : Rewards
        The family of the rewards.

    Returns
    -------
    array of shape (outcomes, M)
        Rows sum to one; for rewards of 0 and 1 there are two.
    """
    if isinstance(rewards, Bernoulli):
        likelihood = np.stack((1.0 - means, means))
    elif isinstance(rewards, Linked):
        simulated = _spread_out(np.random.default_rng(0).poisson(means).astype(np.float64))
        with np.errstate(divide="ignore"):
            log = simulated[:, np.newaxis] * np.log(means) - means
        likelihood = np.exp(log - log.max(axis=1, keepdims=True))
    else:
        normal = ndtri((np.random.default_rng(0).permutation(len(means)) + 0.5) / len(means))
        simulated = _spread_out(means + np.sqrt(noise) * normal)
        log = -((simulated[:, np.newaxis] - means) ** 2) / (2.0 * max(noise, 1e-300))
        likelihood = np.exp(log - log.max(axis=1, keepdims=True))
    return np.asarray(likelihood / np.maximum(likelihood.sum(axis=1, keepdims=True), 1e-300))


def outcome_mass(means: FloatArray) -> FloatArray:
    """Return the probabilities of rewards of 0 and 1."""
    return np.array([1.0 - means.mean(), means.mean()])


def _spread_out(simulated: FloatArray) -> FloatArray:
    """Return quantiles of simulated rewards at equal distances."""
    count = min(OUTCOMES, len(simulated))
    places = ((np.arange(count) + 0.5) * len(simulated) / count).astype(np.intp)
    return np.asarray(np.sort(simulated)[places], dtype=np.float64)
