"""The posterior as weighted particles: sequential Monte Carlo over the observations.

Chopin (2002) for the scheme, Del Moral, Doucet and Jasra (2006) for tempering. Particles start as prior draws, and an
observation multiplies each weight by its likelihood. When the effective number of particles would fall below half,
only the part of the observation that brings it to a half is taken in (found by bisection), the particles are resampled
and moved by Gibbs sweeps that leave the posterior so far unchanged, and the rest of the observation follows. Nothing is
approximated but by the number of particles; the product of mean weights estimates the evidence without bias.

How a move is made is decided by what it achieves. First comes a sweep over the coordinates of θ, which is cheap. Where
particles still remember where they were (the correlation of inclusions, coefficients and predictions before and after),
sweeps over models follow, with θ integrated out, which do not stick where the data tie coordinates together.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.optimize import brentq
from scipy.special import logit

from sparsebandits.checks import FloatArray, check_count, check_observations, shown
from sparsebandits.evidence import Evidence
from sparsebandits.posteriors.cloud import Cloud, Weights
from sparsebandits.posteriors.collapsed import collapsed_sweep, correlated_neighbours
from sparsebandits.posteriors.coordinate import GAUSSIAN, LAPLACE, POINT_MASS, coordinate_sweep
from sparsebandits.posteriors.draws import Draws
from sparsebandits.posteriors.inline_random import random_state
from sparsebandits.priors import (
    BetaInclusion,
    GaussianSpike,
    InverseGammaNoise,
    LaplaceSpike,
    Noise,
    PointMass,
    SpikeSlab,
    check_noise,
)
from sparsebandits.randomness import Seed, generator_state, restore_generator, stream

LEAST_SHARE = 0.5
"""Share of the particles that the effective number must not fall below."""

FORGOTTEN = 0.5
"""Correlation of what particles were before a move and are after it, at which the move may stop."""

MOST_SWEEPS = 10
"""Sweeps of one move at the most."""

SWAPS = 4
"""Attempts of each particle to exchange a coordinate for a correlated one, in each sweep over models."""

WATCHED = 1000
"""Particles on which that correlation is measured."""


def systematic(weights: FloatArray, rng: Generator) -> Any:
    """Return indices that repeat each particle by its weight, from one uniform number (Kitagawa 1996)."""
    count = len(weights)
    positions = (rng.random() + np.arange(count)) / count
    return np.minimum(np.searchsorted(np.cumsum(weights), positions), count - 1)


class Particles:
    """Posterior of θ under a :class:`SpikeSlab` prior, as weighted particles.

    Parameters
    ----------
    prior : SpikeSlab
    dimension : number of features d
    noise_variance : a number, or an :class:`InverseGammaNoise`
    n_draws : number of particles
    seed : integer, SeedSequence, or None for fresh entropy

    >>> posterior = Particles(SpikeSlab(inclusion=0.5, slab_variance=1.0), dimension=2, noise_variance=1.0, seed=0)
    >>> posterior.update([1.0, 0.0], 3.0)
    >>> bool(abs(posterior.inclusion()[0] - 0.87) < 0.03)
    True
    """

    def __init__(
        self,
        prior: SpikeSlab,
        dimension: int,
        noise_variance: Noise = 1.0,
        n_draws: int = 10_000,
        seed: Seed = None,
    ) -> None:
        if not isinstance(prior, SpikeSlab):
            raise TypeError(f"prior: expected a SpikeSlab, got {shown(prior)}")
        self.prior = prior
        self.dimension = check_count("dimension", dimension)
        self.noise = check_noise(noise_variance)
        self.n_draws = check_count("n_draws", n_draws, least=10)
        self.evidence = Evidence(dimension)
        self.log_evidence = 0.0
        self.sweeps = 0  # of the last move
        self._slab_mean, self._slab_variance = prior.slab(dimension)
        self._rng = stream(seed)
        theta, self._included, inclusion = prior.sample(self._rng, n_draws, dimension)
        self._beta: FloatArray | None = None  # the inclusion of each particle, if it is learnt
        if isinstance(prior.inclusion, BetaInclusion):
            self._beta = inclusion[:, 0].copy()
        self._noise_variances: FloatArray | None = None  # and its noise variance
        if isinstance(self.noise, InverseGammaNoise):
            self._noise_variances = self.noise.sample(self._rng, n_draws)
        self._cloud = Cloud(theta)

    @property
    def noise_variance(self) -> float:
        """The noise variance, or its posterior mean if it is learnt."""
        if self._noise_variances is None:
            return float(self.noise)  # type: ignore[arg-type]
        return float(self._cloud.weights.normalised @ self._noise_variances)

    def update(self, x: object, y: object) -> None:
        """Condition on one observation ``(d,), scalar`` or on a batch ``(n, d), (n,)``."""
        self.absorb(*check_observations(x, y, self.dimension))

    def absorb(self, x: FloatArray, y: FloatArray) -> None:
        """Condition on a batch that has been checked, one observation after the other."""
        for row, reward in zip(x, y.tolist(), strict=True):
            self._assimilate(row, reward)
            self.evidence.absorb(row[np.newaxis], np.array([reward]))

    def draws(self) -> Draws:
        """Return the particles with their weights; ``theta`` is the same array until the particles have moved."""
        return self._cloud.draws()

    def mean(self) -> FloatArray:
        """Return E[θ], shape ``(d,)``."""
        return self.draws().mean()

    def inclusion(self) -> FloatArray:
        """Return P(γ_j = 1), shape ``(d,)``."""
        draws = self.draws()
        beta = self.prior.inclusions(self.dimension) if self._beta is None else self._beta[:, np.newaxis]
        return draws.weights @ self.prior.inclusion_given(draws.theta, beta)

    def sample(self, rng: Generator, size: int) -> FloatArray:
        """Return ``size`` particles chosen by weight, shape ``(size, d)``."""
        draws = self.draws()
        return draws.theta[rng.choice(len(draws), size=size, p=draws.weights)]

    # From here on: how it is computed

    def _assimilate(self, x: FloatArray, y: float) -> None:
        """Take in an observation, whole if the particles bear it, else in parts with a move after each."""
        taken, least = 0.0, LEAST_SHARE * self.n_draws
        while taken < 1.0:
            before, log_likelihood = self._cloud.weights, self._log_likelihood(x, y)
            part = 1.0 - taken
            after = Weights.of(before.logs + part * log_likelihood)
            if after.effective_size < least:
                # The effective number falls from above ``least`` at 0 to below it at ``part``.
                part = _bisect(before.logs, log_likelihood, part, least)
                after = Weights.of(before.logs + part * log_likelihood)
            self.log_evidence += after.log_total - before.log_total
            self._cloud.reweight(after)
            taken += part
            if taken < 1.0:
                self._resample_and_move(x, y, taken)

    def _log_likelihood(self, x: FloatArray, y: float) -> FloatArray:
        variance = self.noise if self._noise_variances is None else self._noise_variances
        return -0.5 * (self._cloud.misfit(x, y) / variance + np.log(2.0 * np.pi * variance))  # type: ignore[operator]

    def _resample_and_move(self, x: FloatArray, y: float, part: float) -> None:
        """Resample, and move under the posterior given all evidence and ``part`` of the observation (x, y)."""
        chosen = systematic(self._cloud.weights.normalised, self._rng)
        theta, self._included = self._cloud.theta[chosen], self._included[chosen]
        if self._beta is not None:
            self._beta = self._beta[chosen]
        if self._noise_variances is not None:
            self._noise_variances = self._noise_variances[chosen]
        evidence = Sums(
            np.ascontiguousarray(self.evidence.gram + part * np.outer(x, x)),
            self.evidence.moment + part * y * x,
            self.evidence.square + part * y * y,
            self.evidence.count + part,
        )
        watched = np.linspace(0, self.n_draws - 1, min(WATCHED, self.n_draws)).astype(int)
        before, models_before = theta[watched], self._included[watched]
        for sweep in range(1, MOST_SWEEPS + 1):
            if sweep == 1 or not isinstance(self.prior.spike, PointMass):
                self._sweep_coordinates(theta, evidence)
            else:
                theta = self._sweep_models(evidence)
            self._draw_hyperparameters(theta, evidence)
            self.sweeps = sweep
            after, models_after = theta[watched], self._included[watched]
            memories = ((models_before, models_after), (before, after), (before @ x, after @ x))
            if max(_correlation(*pair) for pair in memories) < FORGOTTEN:
                break
        self._cloud = Cloud(theta)

    def _sweep_coordinates(self, theta: FloatArray, evidence: "Sums") -> None:
        """Move θ and γ in place, one coordinate after the other."""
        spike = self.prior.spike
        kind, width = POINT_MASS, 0.0
        if isinstance(spike, GaussianSpike):
            kind, width = GAUSSIAN, spike.variance
        elif isinstance(spike, LaplaceSpike):
            kind, width = LAPLACE, spike.scale
        shared = np.zeros(self.n_draws) if self._beta is None else logit(self._beta)
        coordinate_sweep(
            theta,
            self._included,
            self._precisions(),
            self._rng.permutation(self.dimension),
            evidence.gram,
            evidence.moment,
            self._slab_mean,
            self._slab_variance,
            self._log_odds(),
            shared,
            kind,
            width,
            random_state(self._rng),
        )

    def _sweep_models(self, evidence: "Sums") -> FloatArray:
        """Move γ with θ integrated out; return θ drawn given γ. A Beta inclusion is integrated out too."""
        first, counts = np.arange(self.n_draws), np.ones(self.n_draws, dtype=np.intp)
        if self._noise_variances is None:  # particles of one model share the work
            address = self._rng.integers(0, 2**64, size=self.dimension, dtype=np.uint64)
            hashes = self._included @ address  # equal for equal models, and for others with probability 2^-64
            _, first, counts = np.unique(hashes, return_index=True, return_counts=True)
        others = np.arange(self.dimension)
        size_log_odds = np.zeros(self.dimension)
        if isinstance(self.prior.inclusion, BetaInclusion):
            a, b = self.prior.inclusion.a, self.prior.inclusion.b
            size_log_odds = np.log(a + others) - np.log(b + self.dimension - 1 - others)
        theta = np.empty((self.n_draws, self.dimension))
        collapsed_sweep(
            self._included[first],
            counts,
            self._precisions()[first],
            self._rng.permutation(self.dimension),
            SWAPS,
            correlated_neighbours(evidence.gram),
            evidence.gram,
            evidence.moment,
            self._slab_mean,
            self._slab_variance,
            self._log_odds(),
            size_log_odds,
            theta,
            random_state(self._rng),
        )
        self._included = theta != 0
        return theta

    def _draw_hyperparameters(self, theta: FloatArray, evidence: "Sums") -> None:
        """Draw β given γ and σ² given θ, where they are learnt."""
        if isinstance(self.prior.inclusion, BetaInclusion):
            count = self._included.sum(axis=1)
            self._beta = self._rng.beta(self.prior.inclusion.a + count, self.prior.inclusion.b + self.dimension - count)
        if isinstance(self.noise, InverseGammaNoise):
            misfit = evidence.square - 2.0 * theta @ evidence.moment
            misfit += np.einsum("mj,mj->m", theta @ evidence.gram, theta)
            shape = self.noise.shape + evidence.count / 2.0
            scale = self.noise.scale + np.maximum(misfit, 0.0) / 2.0
            self._noise_variances = scale / self._rng.standard_gamma(shape, self.n_draws)

    def _precisions(self) -> FloatArray:
        if self._noise_variances is None:
            return np.full(self.n_draws, 1.0 / float(self.noise))  # type: ignore[arg-type]
        return 1.0 / self._noise_variances

    def _log_odds(self) -> FloatArray:
        """Return the prior log odds of each coordinate, zero where they are learnt."""
        if isinstance(self.prior.inclusion, BetaInclusion):
            return np.zeros(self.dimension)
        return np.asarray(logit(self.prior.inclusions(self.dimension)))

    def state(self) -> dict[str, Any]:
        """Return everything that continuing bit for bit needs."""
        return {
            "evidence": self.evidence.state(),
            "log_evidence": self.log_evidence,
            "sweeps": self.sweeps,
            "rng": generator_state(self._rng),
            "included": self._included,
            "beta": self._beta,
            "theta": self._cloud.theta,
            "log_weights": self._cloud.weights.logs,
            "noise_variances": self._noise_variances,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        self.evidence.restore(state["evidence"])
        self.log_evidence = float(state["log_evidence"])
        self.sweeps = int(state["sweeps"])
        restore_generator(self._rng, state["rng"])
        self._cloud = Cloud(state["theta"], state["log_weights"])
        self._included = state["included"]
        self._beta = state["beta"]
        self._noise_variances = state["noise_variances"]


@dataclass(frozen=True, eq=False)
class Sums:
    """Sufficient statistics in which an observation may count in part."""

    gram: FloatArray  # X'X, in C order
    moment: FloatArray  # X'y
    square: float  # y'y
    count: float  # n


def _correlation(before: Any, after: Any) -> float:
    """Return the correlation over particles between before and after, pooled over coordinates by their variance."""
    one, other = before - before.mean(axis=0), after - after.mean(axis=0)
    scale = float(np.sqrt((one * one).sum() * (other * other).sum()))
    return float((one * other).sum()) / scale if scale > 0 else 0.0


def _bisect(logs: FloatArray, log_likelihood: FloatArray, most: float, least: float) -> float:
    """Return the part of the likelihood, between 0 and ``most``, that brings the effective number to ``least``."""

    def surplus(part: float) -> float:
        return Weights.of(logs + part * log_likelihood).effective_size - least

    return float(brentq(surplus, 0.0, most, xtol=1e-12, rtol=1e-9))
