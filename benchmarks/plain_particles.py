"""The particle posterior of a point-mass spike in plain NumPy: the reference that ``Particles`` is measured against.

Prior draws are reweighted by the likelihood of each observation. When their effective number falls below half, they are
resampled systematically and moved by Gibbs sweeps over the coordinates, each one vectorised over all particles. What
``Particles`` does beyond (taking an observation in by parts, sweeps over models) is left out.
"""

import numpy as np
from numpy.random import Generator
from scipy.special import expit

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.posteriors.particles import systematic


class PlainParticles:
    """Weighted particles under a prior with a point-mass spike and a slab N(0, V), for a known noise variance."""

    def __init__(
        self, prior: sb.SpikeSlab, dimension: int, noise_variance: float, n_draws: int, rng: Generator, sweeps: int = 1
    ) -> None:
        self._rng, self._noise, self._sweeps = rng, noise_variance, sweeps
        self._inclusion, self._slab_variance = prior.inclusions(dimension), prior.slab(dimension)[1]
        self._gram, self._moment = np.zeros((dimension, dimension)), np.zeros(dimension)
        self._logs = np.zeros(n_draws)
        # (d, M), so that a coordinate of all particles is a row
        self.theta = np.ascontiguousarray(prior.sample(rng, n_draws, dimension).theta.T)
        self.weights = np.full(n_draws, 1.0 / n_draws)
        self.moves = 0

    def update(self, x: FloatArray, y: float) -> None:
        """Condition on one observation."""
        self._gram += np.outer(x, x)
        self._moment += y * x
        self._logs -= (y - x @ self.theta) ** 2 / (2.0 * self._noise)
        weights = np.exp(self._logs - self._logs.max())
        self.weights = weights / weights.sum()
        if 1.0 / (self.weights @ self.weights) < 0.5 * len(self.weights):
            self.theta = self.theta[:, systematic(self.weights, self._rng)]
            for _ in range(self._sweeps):
                self._sweep()
            self._logs[:] = 0.0
            self.weights = np.full_like(self.weights, 1.0 / len(self.weights))
            self.moves += 1

    def mean(self) -> FloatArray:
        """Return E[θ], shape ``(d,)``."""
        return np.asarray(self.theta @ self.weights)

    def _sweep(self) -> None:
        """Draw each coordinate given the others, in random order."""
        for j in self._rng.permutation(len(self.theta)):
            precision, slab, inclusion = self._gram[j, j] / self._noise, self._slab_variance[j], self._inclusion[j]
            pull = (self._moment[j] - self._gram[j] @ self.theta) / self._noise + precision * self.theta[j]
            variance = 1.0 / (precision + 1.0 / slab)
            centre = variance * pull
            odds = np.log(inclusion / (1.0 - inclusion)) + 0.5 * (np.log(variance / slab) + centre * pull)
            inside = self._rng.random(len(pull)) < expit(odds)
            values = centre + np.sqrt(variance) * self._rng.standard_normal(len(pull))
            self.theta[j] = np.where(inside, values, 0.0)
