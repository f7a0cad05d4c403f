"""The exact Gaussian posterior of a Gaussian prior, kept by rank-one updates of a square root.

The covariance is carried as Σ = SS' and each observation changes S by one rank (Potter's square-root form of the
Kalman update; Bierman 1977, *Factorization Methods for Discrete Sequential Estimation*, ch. II). Rounding then
acts on S, whose condition number is the square root of Σ's, so the posterior stays accurate over millions of
updates. It is checked against the sufficient statistics now and then, and factored afresh if it has drifted.

The variances Var⟨a, θ⟩ of an action set are kept up to date at O(K d) per reward (Sherman and Morrison), for as long as
they are asked for of the same set. Draws for information-directed sampling are reweighted by each new likelihood, as in
importance sampling, and made afresh only when their effective sample size has halved: most rounds cost O(M d), not
O(M d²).

Where old rewards are discounted (``model/forgetting.py``), a reward changes Σ by more than one rank: mean and root are
computed from the sufficient statistics, at O(d³) per reward, and draws are made afresh.
"""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import scipy  # scipy.linalg, which is slow to import, is loaded on first use
from numpy.random import Generator

from sparsebandits.arguments import ArgumentTypeError, FloatArray, frozen, shown
from sparsebandits.atomic import forked
from sparsebandits.layouts import LARGEST_FLOAT, Count, Layout, Maybe, Number, Reals, wrong
from sparsebandits.model.priors import GaussianPrior
from sparsebandits.model.rewards import Rewards, known_noise
from sparsebandits.posteriors.cloud import Cloud, Weights
from sparsebandits.posteriors.diagnostics import Health
from sparsebandits.posteriors.draws import Draws
from sparsebandits.posteriors.engine import TIED, Engine
from sparsebandits.randomness import Seed, copied

BLOCK = 256
"""Number of draws that are made at a time."""

CHECK_EVERY = 4096
"""Rank-one updates between two checks of the drift of S, which cost O(d³) each."""

CANCELLED = 1e-7
"""A variance that has shrunk to this share of what it was has lost too many digits to subtraction."""

REFRESH_EVERY = 1024
"""Rank-one updates of the actions' variances before they are computed afresh."""

DRIFT = 1e-7
"""Largest entry of S'PS − I (zero for an exact S) that is left alone, if P is well-conditioned."""


def rank_one(mean: FloatArray, root: FloatArray, x: FloatArray, y: float, noise_variance: float) -> float:
    """Condition N(mean, root root') on y = ⟨x, θ⟩ + noise, in place.

    Parameters
    ----------
    mean : array of shape (d,)
        Mean, which is updated in place.
    root : array of shape (d, d), in Fortran order
        Square root S of the covariance Σ = SS', which is updated in place.
    x : array of shape (d,)
        Features of the observation.
    y : float
        Its reward.
    noise_variance : float
        Noise variance of the reward.

    Returns
    -------
    float
        x'Σx / noise variance, with the Σ from before the update.
    """
    projection = x @ root  # S'x
    explained = float(projection @ projection)  # x'Σx
    total = explained + noise_variance
    direction = root @ projection  # Σx
    mean += direction * ((y - float(x @ mean)) / total)
    scipy.linalg.blas.dger(
        -1.0 / (total + math.sqrt(total * noise_variance)), direction, projection, a=root, overwrite_a=1
    )
    return explained / noise_variance


class Conjugate(Engine):
    """Posterior of θ under a :class:`GaussianPrior` and Gaussian noise of known variance.

    Parameters
    ----------
    prior : GaussianPrior
        Prior of θ.
    dimension : int
        Number of features d.
    noise_variance : float, default=1.0
        Short form of ``rewards=Gaussian(variance=noise_variance)``.
    n_draws : int, default=10000
        Number of draws that :meth:`draws` gives.
    seed : int, SeedSequence or None
        Seed of those draws.
    rewards : Gaussian, optional
        How a reward arises from θ; by default Gaussian noise of variance 1.

    Examples
    --------
    >>> posterior = Conjugate(GaussianPrior(variance=1.0), dimension=2, noise_variance=1.0, seed=0)
    >>> posterior.update([1.0, 0.0], 2.0)
    >>> posterior.mean(), posterior.covariance()
    (array([1., 0.]), array([[0.5, 0. ], [0. , 1. ]]))
    """

    picks_from_draws = False

    saved: ClassVar[Layout] = {
        **Engine.saved,
        "mean": Reals("dimension"),
        "root": Reals("dimension", "dimension", order="F"),
        "log_det_ratio": Number(),
        "updates": Count(),
        "watched": Maybe(
            {
                "features": Reals("rows", "dimension", order=""),
                "variances": Reals("rows"),
                "fresh": Reals("rows"),
                "age": Count(high=REFRESH_EVERY),
            }
        ),
        "cloud": Maybe(
            {"theta": Reals("n_draws", "dimension"), "log_weights": Reals("n_draws", low=-math.inf, high=LARGEST_FLOAT)}
        ),
    }

    def __init__(
        self,
        prior: GaussianPrior,
        dimension: int,
        noise_variance: float | None = None,
        n_draws: int = 10_000,
        seed: Seed = None,
        rewards: Rewards | None = None,
    ) -> None:
        if not isinstance(prior, GaussianPrior):
            raise ArgumentTypeError("prior", "a GaussianPrior", shown(prior))
        super().__init__(prior, dimension, known_noise("Conjugate", rewards, noise_variance), n_draws, seed)
        self._noise = float(self.rewards.variance)
        self._prior_mean, variance = prior.moments(dimension)
        self._prior_precision = 1.0 / variance
        self._mean = self._prior_mean.copy()
        self._root: FloatArray = np.asfortranarray(np.diag(np.sqrt(variance)))  # S
        self._log_det_ratio = 0.0
        self._updates = 0
        self._cloud: Cloud | None = None
        self._watched: FloatArray | None = None  # the action set whose variances are kept
        self._variances: FloatArray = np.empty(0)
        self._fresh: FloatArray = np.empty(0)  # as they were when computed afresh
        self._age = 0

    @property
    def noise_variance(self) -> float:
        """Noise variance of a reward of weight one."""
        return self._noise

    def condition(
        self, x: FloatArray, y: FloatArray, weights: FloatArray | None = None, counts: FloatArray | None = None
    ) -> None:
        """Condition on a batch that has been checked; observations weigh 1 by default."""
        if counts is not None:
            self.evidence.absorb(x, y, weights, counts)
            self._cloud = self._watched = None
            if not self._refactor():
                raise ArithmeticError(TIED)
            return
        self._follow(x, weights)
        self.evidence.absorb(x, y, weights)
        noise = [self._noise] * len(y) if weights is None else (self._noise / weights).tolist()
        if len(y) >= self.dimension and self._factor_batch(x, y, np.sqrt(noise)):
            self._cloud = None
            return
        self._mean, self._root = self._mean.copy(), self._root.copy(order="F")  # which change in place
        if self._cloud is not None:
            self._cloud = forked(self._cloud)
        for row, reward, variance in zip(x, y.tolist(), noise, strict=True):
            self._log_det_ratio += math.log1p(rank_one(self._mean, self._root, row, reward, variance))
            if self._cloud is not None:
                log_likelihood = self._cloud.misfit(row, reward) / (-2.0 * variance)
                self._cloud.reweight(Weights.of(self._cloud.weights.logs + log_likelihood))
        before, self._updates = self._updates, self._updates + len(y)
        if self._updates // CHECK_EVERY > before // CHECK_EVERY and self.drift() > self._tolerable_drift():
            self._refactor()

    def mean(self) -> FloatArray:
        """Return E[θ], shape ``(d,)``."""
        return self._mean.copy()

    def inclusions(self) -> FloatArray:
        """Return P(γ_j = 1), shape ``(d,)``: always one, since a Gaussian prior excludes no feature."""
        return np.ones(self.dimension)

    def health(self) -> Health:
        """Report how far the numbers can be trusted."""
        size = "no draws yet" if self._cloud is None else f"{self._cloud.weights.effective_size:.0f} effective draws"
        text = f"exact posterior, {size} of {self.n_draws}; drift of the square root {self.drift():.1e}"
        return Health(True, text)

    def covariance(self) -> FloatArray:
        """Return Cov[θ], shape ``(d, d)``."""
        return self._root @ self._root.T

    def covariance_times(self, x: FloatArray) -> FloatArray:
        """Return Cov[θ] x without forming the covariance."""
        return self._root @ (x @ self._root)

    def projections(self, x: FloatArray) -> FloatArray:
        """Return S'x for each row, with Cov[θ] = SS': the lengths of these and their differences are deviations.

        Parameters
        ----------
        x : array of shape (K, d)
            Rows.

        Returns
        -------
        array of shape (K, d)
        """
        return np.asarray(x @ self._root)

    def variances(self, x: FloatArray) -> FloatArray:
        """Return Var⟨x_k, θ⟩ for each row of ``x``, shape ``(K,)``.

        If ``x`` is read-only, as an action set is, its variances are kept and updated with each observation.
        """
        if x.flags.writeable:  # it may change, so nothing is remembered
            return self._computed_variances(x)
        if self._watched is not x:
            if self._watched is None or not np.array_equal(self._watched, x):
                fresh = self._computed_variances(x)
                vars(self).update(_watched=x, _variances=fresh, _fresh=fresh, _age=0)  # in one step
            self._watched = x
        return self._variances.copy()

    def _computed_variances(self, x: FloatArray) -> FloatArray:
        projections = self.projections(x)
        return np.asarray(np.einsum("kj,kj->k", projections, projections))

    def _follow(self, x: FloatArray, weights: FloatArray | None) -> None:
        """Update the watched variances for one observation, before the posterior is; drop them on a batch."""
        if len(x) != 1 or self._watched is None or self._age >= REFRESH_EVERY:
            self._watched = None
            return
        direction = self.covariance_times(x[0])  # Σx
        change = self._watched @ direction
        noise = self._noise if weights is None else self._noise / float(weights[0])
        self._variances = self._variances - change * change / (x[0] @ direction + noise)
        self._age += 1
        if (self._variances < CANCELLED * self._fresh).any():
            self._watched = None

    @property
    def log_det_ratio(self) -> float:
        """Log det(prior covariance) − log det(posterior covariance), twice the information about θ in the data."""
        return self._log_det_ratio

    def sample(self, rng: Generator, size: int) -> FloatArray:
        """Return ``size`` exact and independent draws of θ, shape ``(size, d)``."""
        theta = np.empty((size, self.dimension))
        transposed = np.ascontiguousarray(self._root.T)
        for start in range(0, size, BLOCK):  # normals stay in the cache
            block = theta[start : start + BLOCK]
            np.matmul(rng.standard_normal(block.shape), transposed, out=block)
            block += self._mean
        return theta

    def draws(self) -> Draws:
        """Return weighted draws; their ``theta`` is the same array until the effective sample size has halved."""
        if self._cloud is None or self._cloud.weights.effective_size < self.n_draws / 2:
            rng = copied(self._rng)
            cloud = Cloud(self.sample(rng, self.n_draws))
            vars(self).update(_rng=rng, _cloud=cloud)  # in one step
            return cloud.draws()
        return self._cloud.draws()

    def precision(self) -> FloatArray:
        """Return the posterior precision P = Λ + X'X / σ² from the sufficient statistics, shape ``(d, d)``."""
        precision: FloatArray = self.evidence.gram / self.noise_variance
        np.einsum("jj->j", precision)[:] += self._prior_precision
        return precision

    def drift(self) -> float:
        """Return the largest absolute entry of S'PS − I: how far the updated root is from the sufficient statistics."""
        error = self._root.T @ self.precision() @ self._root
        np.einsum("jj->j", error)[:] -= 1.0
        return float(np.abs(error).max())

    def _tolerable_drift(self) -> float:
        """Return what rounding in P alone may cause: about eps times its condition number, which is S's squared."""
        condition = float(np.trace(self.precision())) * float(np.einsum("ij,ij->", self._root, self._root))
        return DRIFT + 100.0 * float(np.finfo(np.float64).eps) * condition

    def _factor_batch(self, x: FloatArray, y: FloatArray, deviation: FloatArray) -> bool:
        """Condition on many rows at once by a QR factorisation, which never forms X'X; return whether it worked."""
        try:
            inverse = np.linalg.inv(self._root)
            q, r = np.linalg.qr(np.vstack((inverse, x / deviation[:, np.newaxis])))
            root = np.linalg.inv(r)
        except np.linalg.LinAlgError:
            return False
        self._mean = root @ (q.T @ np.concatenate((inverse @ self._mean, y / deviation)))
        self._root = np.asfortranarray(root)
        self._log_det_ratio = 2.0 * float(np.log(np.abs(np.diag(r))).sum()) - float(np.log(self._prior_precision).sum())
        return True

    def _refactor(self) -> bool:
        """Compute mean and root from the sufficient statistics, unless the precision is singular; return whether."""
        factor, failed = scipy.linalg.lapack.dpotrf(self.precision(), lower=1)  # P = LL'
        if failed:
            return False
        inverse, _ = scipy.linalg.lapack.dtrtri(factor, lower=1)
        self._root = np.asfortranarray(inverse.T)  # S = L^{-T}, so that SS' = P^{-1}
        shift = self._prior_precision * self._prior_mean + self.evidence.moment / self.noise_variance
        self._mean = self._root @ (shift @ self._root)
        self._log_det_ratio = 2.0 * float(np.log(np.diag(factor)).sum()) - float(np.log(self._prior_precision).sum())
        return True

    def state(self) -> dict[str, Any]:
        """Return everything that continuing bit for bit needs."""
        cloud, watched = self._cloud, None
        if self._watched is not None:
            watched = {
                "features": self._watched,
                "variances": self._variances.copy(),
                "fresh": self._fresh,
                "age": self._age,
            }
        return {
            **super().state(),
            "mean": self._mean.copy(),
            "root": self._root.copy(order="F"),
            "log_det_ratio": self._log_det_ratio,
            "updates": self._updates,
            "watched": watched,
            "cloud": None if cloud is None else {"theta": cloud.draws().theta, "log_weights": cloud.weights.logs},
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        found = self._found(Conjugate.saved, state)
        cloud, watched = found["cloud"], found["watched"]
        if cloud is not None and cloud["log_weights"].max() == -math.inf:
            raise wrong("cloud.log_weights", "a draw of positive weight", "none")
        super().restore(state)
        self._mean, self._root = found["mean"], found["root"]
        self._log_det_ratio, self._updates = found["log_det_ratio"], found["updates"]
        self._cloud = None if cloud is None else Cloud(cloud["theta"], cloud["log_weights"])
        self._watched = None
        if watched is not None:
            self._watched, self._fresh, self._age = frozen(watched["features"]), watched["fresh"], watched["age"]
            self._variances = watched["variances"]
