"""Asymptotically optimal information-directed sampling, for finitely many actions that do not change.

Kirschner, Lattimore, Vernade and Szepesvári (2021), *Asymptotically Optimal Information-Directed Sampling* (COLT). The
asymptotic lower bound on regret asks for the cheapest way to rule out every θ under which another action would be the
best. So information is measured against these alternatives. Of ridge regression on s rewards, θ̂ and V; x̂ is the action
with the largest estimate, and for every other action y

    ν(y)  = argmin ‖ν − θ̂‖² in V, over the ν under which y is at least as good as x̂,

in closed form θ̂ + V⁻¹(y − x̂) ⟨x̂ − y, θ̂⟩ / ‖y − x̂‖² in V⁻¹; or over the smaller cell of ν under which y is the best of
all. With e(y) = ‖ν(y) − θ̂‖² in V, the evidence against y, and m = min_y e(y), the same for both:

    exploit   play x̂ if m ≥ β(t, 1/(t log t)) in round t, and learn nothing from its reward;
    explore   otherwise: weights q(y) ∝ exp(−η e(y)), with η = 1 / √(max(1, the largest m so far)),
              gain I(x) = Σ_y q(y) (|⟨ν(y) − θ̂, x⟩| + √β(s, 1/(s log s)) ‖x‖)², with ‖x‖ in V⁻¹,
              gap  Δ̂(x) = max_z ⟨z, θ̂⟩ + √β(s, 1/(s log s)) ‖z‖ − ⟨x, θ̂⟩,
              and the distribution that minimises Δ̂² / I.

√β(s, δ) = √(2 log(1/δ) + log det V − log det Λ) + √λ S is the radius of Abbasi-Yadkori et al. (2011). As t grows, q
goes to the alternatives that are hardest to rule out, and the second term of the gain to zero: what is left is the
program of the lower bound. V has X'X / σ² here, so all of this is in units of the noise; a constant factor in the gain
changes no minimiser.

The formulas are those of the authors' program (kirschnj/pm-ids, ``AsymptoticInfoGain``, ``GapEstimator`` and
``RegularizedLeastSquares``); there, s counts from 1 and both s and t are at least 2.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy  # scipy.optimize, which is slow to import, is loaded on first use
from numpy.random import Generator

from sparsebandits.arguments import ArgumentTypeError, FloatArray, check_choice, check_flag, check_positive
from sparsebandits.layouts import Count, Layout, Number
from sparsebandits.model.priors import GaussianPrior
from sparsebandits.model.rewards import Gaussian
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.policy import Policy, Recorder
from sparsebandits.posteriors.conjugate import Conjugate
from sparsebandits.randomness import ENGINE_STREAM, Seed, child
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import Choice, Reasons
from sparsebandits.rules.ids import drawn
from sparsebandits.rules.optima import pick
from sparsebandits.rules.optimism import ConfidenceRadius
from sparsebandits.rules.ratio import minimise_over_distributions, ratios
from sparsebandits.rules.rule import Rule

EXPLOITS = "The evidence suffices: it plays the best estimate, and learns nothing from the reward."


def half_spaces(mean: FloatArray, projections: FloatArray, best: int) -> FloatArray:
    """Return the nearest parameters under which each action is at least as good as the best estimate.

    Parameters
    ----------
    mean : array of shape (K,)
        Estimated reward of each action.
    projections : array of shape (K, d)
        S'x of each action, with V⁻¹ = SS'.
    best : int
        Row of the best estimate x̂.

    Returns
    -------
    array of shape (K, d)
        S⁻¹(ν(y) − θ̂) of each action y: its length is the distance in V, and its product with S'x is ⟨ν(y) − θ̂, x⟩. Zero
        for the best one and for all with its features.
    """
    apart = projections - projections[best]
    squares = np.einsum("kj,kj->k", apart, apart)
    steps = np.divide(mean[best] - mean, squares, out=np.zeros(len(mean)), where=squares > 0)
    return np.asarray(steps[:, np.newaxis] * apart)


def cells(mean: FloatArray, projections: FloatArray, best: int) -> FloatArray:
    """Return the nearest parameters under which each action is the best of all.

    The cell of y is the cone {ν: ⟨y − x, ν⟩ ≥ 0 for all x}. The projection onto a cone leaves a nonnegative combination
    of its constraints, ν − θ̂ = V⁻¹ Σ_x λ_x (y − x), whose λ is a nonnegative least-squares solution (Moreau).

    Parameters
    ----------
    mean, projections, best
        As for :func:`half_spaces`.

    Returns
    -------
    array of shape (K, d)
        As :func:`half_spaces`.
    """
    centre = np.linalg.lstsq(projections, mean)[0]  # S⁻¹θ̂, as far as actions show it
    found = np.zeros_like(projections)
    for row in range(len(mean)):
        if row != best:
            constraints = (projections[row] - projections).T
            found[row] = constraints @ scipy.optimize.nnls(constraints, -centre)[0]
    return found


ALTERNATIVES = {"half-spaces": half_spaces, "cells": cells}


class ExplorationPosterior(Conjugate):
    """The Gaussian posterior of the rewards of exploration, with what the learning rate depends on.

    A row of zeros, as decisions that exploit have, says nothing and does not count.

    Parameters
    ----------
    prior, dimension, noise_variance, n_draws, seed, rewards
        As for :class:`~sparsebandits.Conjugate`.

    Attributes
    ----------
    explored : int
        Number of rewards that count.
    farthest : float
        The largest m so far, at least 1.
    """

    saved: ClassVar[Layout] = {**Conjugate.saved, "explored": Count(), "farthest": Number(low=1.0)}
    explored: int = 0
    farthest: float = 1.0

    def absorb(
        self, x: FloatArray, y: FloatArray, weights: FloatArray | None = None, times: FloatArray | None = None
    ) -> None:
        """Learn from a batch that has been checked."""
        super().absorb(x, y, weights, times)
        self.explored = self.explored + int(np.count_nonzero(x.any(axis=1)))

    def state(self) -> dict[str, Any]:
        """Return everything that continuing bit for bit needs."""
        return {**super().state(), "explored": self.explored, "farthest": self.farthest}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        found = self._found(ExplorationPosterior.saved, state)
        super().restore(state)
        self.explored, self.farthest = found["explored"], found["farthest"]


@dataclass(frozen=True)
class AsymptoticInformationDirected(Rule):
    """Exploit if the evidence against all alternatives suffices; otherwise minimise squared gap by gain.

    Parameters
    ----------
    bound : float, default=1.0
        S, with ‖θ‖ ≤ S.
    alternatives : {"half-spaces", "cells"}, default="half-spaces"
        Whether an alternative makes an action as good as the best estimate, or the best of all. Cells take one
        nonnegative least-squares problem per action.
    discard : bool, default=True
        Whether nothing is learnt from the rewards of rounds that exploit.

    Examples
    --------
    >>> AsymptoticInformationDirected(alternatives="cells")
    AsymptoticInformationDirected(bound=1.0, alternatives='cells', discard=True)
    """

    bound: float = 1.0
    alternatives: str = "half-spaces"
    discard: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "bound", check_positive("bound", self.bound))
        check_choice("alternatives", self.alternatives, tuple(ALTERNATIVES))
        check_flag("discard", self.discard)

    def check(self, posterior: Any) -> None:
        """Require :class:`ExplorationPosterior`."""
        if not isinstance(posterior, ExplorationPosterior):
            expected = f"ExplorationPosterior for {type(self).__name__}"
            raise ArgumentTypeError("posterior", expected, type(posterior).__name__)

    def radius(self, posterior: ExplorationPosterior, count: int) -> float:
        """Return √β(n, 1/(n log n)).

        Parameters
        ----------
        posterior : ExplorationPosterior
            The posterior.
        count : int
            n, which is taken to be at least 2.

        Returns
        -------
        float
        """
        n = max(count, 2)
        confidence = ConfidenceRadius(1.0 / (n * math.log(n)), self.bound)
        return confidence.width(posterior.log_det_ratio, float(np.min(posterior.prior.variance)))

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        """Play the best estimate, or draw from the minimiser."""
        posterior, features, mean = beliefs.posterior, beliefs.features, beliefs.differences
        projections = posterior.projections(features)
        best, probability = pick(mean, rng)
        others = (features != features[best]).any(axis=1)
        steps = ALTERNATIVES[self.alternatives](mean, projections, best)
        evidence = np.where(others, np.einsum("kj,kj->k", steps, steps), np.inf)  # e
        least, threshold = float(evidence.min()), self.radius(posterior, beliefs.decisions + 1) ** 2
        width = self.radius(posterior, posterior.explored + 1)
        bonus = width * np.sqrt(np.einsum("kj,kj->k", projections, projections))
        gap = (mean + bonus).max() - mean
        notes = {"least evidence": least, "evidence needed": threshold, "width": width}
        action, mixture, exploits = best, None, least >= threshold
        weights, gain = np.zeros(len(mean)), np.zeros(len(mean))
        if not exploits:
            posterior.farthest = max(
                posterior.farthest, least
            )  # of a fork, which becomes the posterior with the choice
            rate = 1.0 / math.sqrt(posterior.farthest)  # η
            _, action_of, copies = np.unique(features, axis=0, return_inverse=True, return_counts=True)
            weights = np.exp(-rate * (evidence - least)) / copies[action_of.reshape(-1)]  # equal rows are one action
            weights /= weights.sum()
            gain = weights @ (np.abs(steps @ projections.T) + bonus) ** 2
            minimiser = minimise_over_distributions(gap, gain)
            action, probability, mixture = drawn(minimiser, gap, gain, rng)
            notes["ratio minimised"] = minimiser.ratio
        columns = {
            "gap estimate": gap,
            "information gain": gain,
            "ratio": ratios(gap, gain),
            "estimate": mean,
            "evidence against": evidence,
            "weight": weights,
        }
        contributions, unused = features[action] * beliefs.coefficients, exploits and self.discard
        remarks = (EXPLOITS,) if unused else ()
        reasons = Reasons.top(action, mean, columns, contributions, notes, mixture, remarks=remarks)
        observation = np.zeros_like(features[action]) if unused else None  # from which nothing is learnt
        return Choice(action, probability, reasons, observation=observation)


class AsymptoticIDS(Policy):
    """Information-directed sampling that is asymptotically optimal for finitely many actions.

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d)
        One row per action.
    noise_variance : float, default=1.0
        Noise variance σ² of a reward.
    penalty : float, default=1.0
        Ridge penalty λ: the prior of each coefficient is N(0, σ²/λ).
    bound : float, default=1.0
        S, with ‖θ‖ ≤ S.
    alternatives : {"half-spaces", "cells"}, default="half-spaces"
        Whether an alternative makes an action as good as the best estimate, or the best of all. Cells take one
        nonnegative least-squares problem per action.
    discard : bool, default=True
        Whether nothing is learnt from the rewards of rounds that exploit.
    seed : int, SeedSequence or None
        Seed of all random choices.
    journal : Recorder, optional
        Where decisions and rewards are recorded.

    Examples
    --------
    >>> policy = AsymptoticIDS(np.eye(3), noise_variance=0.1, seed=1)
    >>> policy.tell(policy.ask(), 1.0)
    """

    def __init__(
        self,
        actions: object,
        noise_variance: float = 1.0,
        penalty: float = 1.0,
        bound: float = 1.0,
        alternatives: str = "half-spaces",
        discard: bool = True,
        seed: Seed = None,
        journal: Recorder | None = None,
    ) -> None:
        available = ActionSet.of(actions)
        variance = check_positive("noise_variance", noise_variance)
        prior = GaussianPrior(variance / check_positive("penalty", penalty))
        engine_seed = child(seed, ENGINE_STREAM)
        learner = ExplorationPosterior(prior, available.dimension, seed=engine_seed, rewards=Gaussian(variance))
        super().__init__(available, learner, AsymptoticInformationDirected(bound, alternatives, discard), seed, journal)
