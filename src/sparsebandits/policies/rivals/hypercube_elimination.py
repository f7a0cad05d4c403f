"""Selective explore-then-commit on the cube [−1, 1]^d: each coordinate explores until its sign is clear.

Lattimore, Crammer and Szepesvári (2015), *Linear multi-resource allocation with semi-bandit feedback*; Lattimore and
Szepesvári, *Bandit Algorithms*, section 23.2. Coordinate i explores (E_ti = 1) while all its intervals contain 0:

    A_ti = ±1 with equal probability while it explores, then always the sign of the interval that excluded 0,
    T_i  = Σ_s E_si,    θ̂_i = Σ_s E_si A_si Y_s / T_i,
    W_i  = √(2 (B² + σ²) (1/T_i + 1/T_i²) log(n √(2 T_i + 1))),    C_i = [θ̂_i − W_i, θ̂_i + W_i].

Nothing is subtracted from Y for what is known about other coordinates: for coordinate i they are noise, of mean zero
since A_i is an independent sign. A_i (Y − A_i θ_i) = A_i Σ_{j≠i} A_j θ_j + A_i η is subgaussian with variance proxy
B² + σ² if |⟨a, θ⟩| ≤ B for all actions. For B = σ = 1, the book's setting,
W_i = 2 √((1/T_i + 1/T_i²) log(n √(2 T_i + 1))), as in its algorithm Selective Explore-Then-Commit.

Why it holds: mixing exp(λS − λ²κ²T/2) over λ ~ N(0, 1/ρ) gives, with probability 1 − δ for all T at once,
S² ≤ 2 (κ²T + ρ) log(√(κ²T/ρ + 1) / δ). With κ² = B² + σ², ρ = κ²/2 and δ = 1/n this is W_i with 1/(2T_i²) in place of
the book's 1/T_i²; the book's width, slightly larger, is kept. So θ_i is in all its intervals with probability at least
1 − 1/n, whatever the number of rounds. Rewards may come late, in batches, and in any order that does not itself depend
on them: a round counts for the coordinates that explored when it was decided, and C_i is checked once per batch.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import ArgumentTypeError, FloatArray, check_count, check_positive, shown
from sparsebandits.layouts import Layout, Reals, read, wrong
from sparsebandits.policies.actions import Cube
from sparsebandits.policies.policy import Policy, Recorder
from sparsebandits.randomness import Seed
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import NO_ROW, Choice, Reasons
from sparsebandits.rules.rule import Rule


def half_width(rounds: FloatArray, horizon: float, noise_variance: float = 1.0, mean_bound: float = 1.0) -> FloatArray:
    """Return the half-width W of the intervals; infinite before any exploration.

    Parameters
    ----------
    rounds : array of shape (d,)
        T, number of rounds in which each coordinate explored.
    horizon : float
        n, the number of rounds; an interval fails with probability 1/n.
    noise_variance : float, default=1.0
        σ².
    mean_bound : float, default=1.0
        B, at least the largest mean reward.

    Returns
    -------
    array of shape (d,)
        W of each coordinate.

    Examples
    --------
    >>> half_width(np.array([0.0, 1.0, 100.0]), horizon=1000).round(3)
    array([  inf, 7.724, 0.621])
    """
    share = 1.0 / np.maximum(rounds, 1.0)
    spread = 2.0 * (mean_bound * mean_bound + noise_variance)
    width = np.sqrt(spread * (share + share * share) * (math.log(horizon) + 0.5 * np.log1p(2.0 * rounds)))
    return np.where(rounds > 0, width, np.inf)


class SignEstimates:
    """Learner: an interval for each θ_i, and its sign once the interval excludes 0.

    Observations contain explored coordinates only: a feature of 0 means that the coordinate did not explore.

    Parameters
    ----------
    dimension : int
        Number of features d.
    noise_variance : float
        Noise variance of a reward.
    horizon : int
        n, the number of rounds.
    mean_bound : float
        B, at least the largest mean reward.
    """

    saved: ClassVar[Layout] = {
        "rounds": Reals("dimension", low=0.0),
        "totals": Reals("dimension"),
        "signs": Reals("dimension", low=-1.0, high=1.0),
    }

    def __init__(self, dimension: int, noise_variance: float, horizon: int, mean_bound: float) -> None:
        self.dimension = check_count("dimension", dimension)
        self.noise_variance = check_positive("noise_variance", noise_variance)
        self.horizon = check_count("horizon", horizon)
        self.mean_bound = check_positive("mean_bound", mean_bound)
        self.row = dimension  # columns of what ``absorb`` takes
        self.rounds = np.zeros(dimension)  # T
        self.totals = np.zeros(dimension)  # Σ E A Y
        self.signs = np.zeros(dimension)  # 0 while a coordinate explores

    def intervals(self) -> tuple[FloatArray, FloatArray]:
        """Return the centres and half-widths of the intervals.

        Returns
        -------
        estimate, width : array of shape (d,)
            θ̂ (0 before any reward) and W.
        """
        estimate = self.totals / np.maximum(self.rounds, 1.0)
        return estimate, half_width(self.rounds, self.horizon, self.noise_variance, self.mean_bound)

    def absorb(self, x: FloatArray, y: FloatArray, weights: FloatArray | None = None) -> None:
        """Add A Y of the coordinates that explored; those whose interval excludes 0 commit to its sign."""
        self.rounds = self.rounds + (x * x).sum(axis=0)
        self.totals = self.totals + y @ x
        estimate, width = self.intervals()
        new = (self.signs == 0) & (np.abs(estimate) > width)
        self.signs = np.where(new, np.sign(estimate), self.signs)

    def state(self) -> dict[str, Any]:
        """Return sums and signs."""
        return {name: getattr(self, name).copy() for name in ("rounds", "totals", "signs")}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        found = read(self.saved, state, {"dimension": self.dimension}, more=True)
        if not np.isin(found["signs"], (-1.0, 0.0, 1.0)).all():
            raise wrong("signs", "-1, 0 or 1", "other numbers")
        vars(self).update(found)


@dataclass(frozen=True)
class SelectiveExploration(Rule):
    """Draw a random sign for each coordinate that explores; the others keep theirs."""

    def check(self, posterior: Any) -> None:
        """Require :class:`SignEstimates`."""
        if not isinstance(posterior, SignEstimates):
            raise ArgumentTypeError("posterior", "SignEstimates for SelectiveExploration", shown(posterior))

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        """Choose a corner of the cube."""
        learner = beliefs.posterior
        coins = 2.0 * rng.integers(2, size=len(learner.signs)) - 1.0
        exploring = learner.signs == 0
        features = np.where(exploring, coins, learner.signs)
        estimate, width = learner.intervals()
        columns = {
            "sign (0: exploring)": learner.signs,
            "estimate": estimate,
            "interval from": estimate - width,
            "to": estimate + width,
            "rounds explored": learner.rounds,
        }
        count = int(exploring.sum())
        notes = {"coordinates exploring": float(count), "coordinates committed": float(len(exploring) - count)}
        clearest = np.abs(estimate) / width + 1e6 * ~exploring  # committed coordinates first, then those closest to it
        reasons = Reasons.of_coordinates(clearest, columns, features * estimate, notes)
        explored = np.where(exploring, coins, 0.0)
        return Choice(NO_ROW, 0.5**count, reasons, features=features, observation=explored)


class HypercubeElimination(Policy):
    """Selective explore-then-commit, where the actions are all points of [−1, 1]^d and few coordinates matter.

    The ``features`` of a decision are a corner of the cube. It has no row number, so ``action`` is −1, and ``label``
    has the signs. Its probability, 2 to the power of minus the number of exploring coordinates, is exact; with more
    than 1074 of them it is 0 in floating point, and their number is in ``diagnostics``.

    Parameters
    ----------
    actions : int or list of str
        The dimension d, or the names of d features.
    noise_variance : float, default=1.0
        Noise variance of a reward.
    horizon : int
        n, the number of rounds; all intervals of a coordinate contain the truth with probability 1 − 1/n.
    mean_bound : float, default=1.0
        B, at least the largest mean reward ‖θ‖₁; 1 in the sources.
    seed : int, SeedSequence or None
        Seed of all random choices.
    journal : Recorder, optional
        Where decisions and rewards are recorded.

    Examples
    --------
    >>> policy = HypercubeElimination(["price", "size", "age"], horizon=1000, seed=1)
    >>> decision = policy.ask()
    >>> decision.features, decision.label, decision.probability
    (array([-1.,  1.,  1.]), '-++', 0.125)
    >>> policy.tell(decision, 1.0)
    """

    def __init__(
        self,
        actions: object,
        noise_variance: float = 1.0,
        *,
        horizon: int,
        mean_bound: float = 1.0,
        seed: Seed = None,
        journal: Recorder | None = None,
    ) -> None:
        cube = Cube.of(actions)
        learner = SignEstimates(cube.dimension, noise_variance, horizon, mean_bound)
        super().__init__(cube, learner, SelectiveExploration(), seed, journal)
