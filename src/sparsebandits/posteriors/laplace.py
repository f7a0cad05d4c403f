"""Clicks and counts under a Gaussian prior: Laplace's approximation, a Gaussian at the mode of the posterior.

MacKay (1992), *The evidence framework applied to classification networks*; Chapelle and Li (2011) for Thompson sampling
by it. With β = (α, θ), prior β ~ N(m, D²), D diagonal, and z = D⁻¹(β − m), the log posterior is

    L(z) = Σ_u ℓ_u(η_u) − ½ ‖z‖²,   η = offset + X z,

over the distinct rows u of features, which has one maximum ẑ, since each ℓ_u is concave. The approximation is N(ẑ, H⁻¹)
with H = I + X'WX, where w_u = −ℓ_u''(η_u) is the *observed* information. It equals the Fisher information for the logit
link and for counts; for the probit link it does not. The approximation of the evidence is

    log p(y) ≈ L(ẑ) − ½ log det H.

Newton's method finds ẑ from that of the rewards before, in a few steps of O(U d² + d³) for U distinct rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy  # scipy.linalg, which is slow to import, is loaded on first use
from numpy.random import Generator

from sparsebandits.arguments import ArgumentTypeError, ArgumentValueError, FloatArray, shown
from sparsebandits.layouts import Absent, Count, Layout, Maybe, Number, Reals, wrong
from sparsebandits.model.counts import Counts
from sparsebandits.model.families import Bernoulli, Linked, Poisson
from sparsebandits.model.priors import GaussianPrior
from sparsebandits.posteriors.diagnostics import Health
from sparsebandits.posteriors.draws import Draws
from sparsebandits.posteriors.engine import Engine
from sparsebandits.randomness import Seed, copied

CLOSE = 1e-12
"""Squared length, in posterior standard deviations, of a Newton step that is the last one: convergence is quadratic."""

FLAT = 0.01
"""Largest change of η in that step. Where the likelihood is nearly flat, a step may be short in standard deviations and
still change the information."""

MOST_STEPS = 500
"""Largest number of Newton steps. Where data are separable, or rates far too high at first, each step changes η by
about one; within the limits below, fewer steps are enough."""

FARTHEST_MEAN = 20.0
"""Largest |η| at the prior mean: probabilities of 2 · 10⁻⁹ and rates of 5 · 10⁸."""

REACH = 1e10
"""Largest product of a feature and a prior standard deviation: how far the prior lets one feature move η."""

MOST_TRIALS = 1e12
"""Largest sum of counts or of weights of one row."""

SUFFICIENT = 1e-4
"""Share of what its slope promises that a Newton step has to gain (Armijo's rule)."""

ROUNDING = 1e-14
"""Relative error of the log posterior."""

WELL_CONDITIONED = 1e8
"""Largest diagonal entry of H with which H is formed. Beyond, its square root comes from a QR factorisation, in which
rounding does not hide the prior."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A Gaussian at the mode of L, in standard deviations of the prior from its mean.

    Attributes
    ----------
    mode : array of shape (p,)
        ẑ.
    root : array of shape (p, p)
        Upper triangular S with SS' = H⁻¹.
    log_evidence : float
        L(ẑ) − ½ log det H.
    steps : int
        Number of Newton steps.
    """

    mode: FloatArray
    root: FloatArray
    log_evidence: float
    steps: int


def fitted(
    family: Linked, design: FloatArray, offset: FloatArray, successes: FloatArray, trials: FloatArray, start: FloatArray
) -> Fit:
    """Maximise L by Newton's method; steps are halved until they gain enough.

    Parameters
    ----------
    family : Linked
        Family of the rewards.
    design : array of shape (U, p)
        X.
    offset : array of shape (U,)
        η at z = 0.
    successes, trials : array of shape (U,)
        s and n of each row.
    start : array of shape (p,)
        Where the search begins, unless L is larger at zero.

    Returns
    -------
    Fit
        The approximation; its ``steps`` are ``MOST_STEPS`` only if the mode was not found.

    Examples
    --------
    >>> one = np.ones((1, 1))
    >>> fit = fitted(Bernoulli(), one, np.zeros(1), np.array([3.0]), np.array([4.0]), np.zeros(1))
    >>> gradient = 3.0 - 4.0 / (1.0 + np.exp(-fit.mode)) - fit.mode
    >>> fit.mode.round(3), bool(abs(gradient[0]) < 1e-12)
    (array([0.505]), True)
    """

    def value(z: FloatArray, eta: FloatArray) -> tuple[float, float]:
        """Return L and its rounding error."""
        natural, cumulant = family.parameters(eta)
        gains, losses = successes * natural, trials * cumulant
        total = float((gains - losses).sum() - 0.5 * (z @ z))
        return total, ROUNDING * float(1.0 + np.abs(gains).sum() + losses.sum())

    mode, eta, steps, found = start, offset + design @ start, 0, False
    if value(np.zeros_like(mode), offset)[0] > value(mode, eta)[0]:  # a new row may be far out
        mode, eta = np.zeros_like(mode), offset
    while not found and steps < MOST_STEPS:
        score, information = family.derivatives(eta, successes, trials)
        root = square_root(design, information)
        half = (score @ design - mode) @ root
        step, squared = root @ half, float(half @ half)
        along = design @ step
        found = squared < CLOSE and bool(np.abs(along).max() < FLAT)
        (before, error), size = value(mode, eta), 1.0
        while value(mode + size * step, eta + size * along)[0] < before + SUFFICIENT * size * squared - error:
            size /= 2.0
        mode = mode + size * step
        eta, steps = offset + design @ mode, steps + 1
    root = square_root(design, family.derivatives(eta, successes, trials)[1])
    log_evidence = value(mode, eta)[0] + float(np.log(np.abs(np.diag(root))).sum())
    return Fit(mode, root, log_evidence, steps)


def square_root(design: FloatArray, information: FloatArray) -> FloatArray:
    """Return an upper triangular S with SS' = (I + X'WX)⁻¹.

    Parameters
    ----------
    design : array of shape (U, p)
        X.
    information : array of shape (U,)
        The diagonal of W.

    Returns
    -------
    array of shape (p, p)
    """
    hessian = (design.T * information) @ design
    np.einsum("jj->j", hessian)[:] += 1.0
    if hessian.diagonal().max() < WELL_CONDITIONED:
        factor: Any = np.linalg.cholesky(hessian, upper=True)
    else:
        rows = np.sqrt(information)[:, np.newaxis] * design
        factor = np.linalg.qr(np.vstack((rows, np.eye(len(hessian)))), mode="r")
    inverse, _ = scipy.linalg.lapack.dtrtri(factor)
    return np.asarray(inverse)


class Laplace(Engine):
    """Gaussian approximation of the posterior of clicks or counts under a :class:`GaussianPrior`.

    It is quick, and accurate where there are many rewards per coefficient. Where there are few, or where one outcome is
    rare, intervals and probabilities are off, whatever the number of draws.

    Parameters
    ----------
    prior : GaussianPrior
        Prior of θ.
    dimension : int
        Number of features d.
    n_draws : int, default=1000
        Number of independent draws that :meth:`draws` gives, new ones after each reward.
    seed : int, SeedSequence or None
        Seed of those draws.
    rewards : Bernoulli or Poisson, optional
        How a reward arises from θ; by default ``Bernoulli()``.

    Examples
    --------
    >>> from sparsebandits import Bernoulli
    >>> posterior = Laplace(GaussianPrior(variance=4.0), dimension=2, seed=0, rewards=Bernoulli(intercept=True))
    >>> posterior.update([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]], [1, 1, 0])
    >>> posterior.mean().round(2), posterior.draws().intercepts.shape
    (array([ 1.59, -0.57]), (1000,))
    """

    rewards: Bernoulli | Poisson

    saved: ClassVar[Layout] = {
        **Engine.saved,
        "mode": Reals("parameters"),
        "root": Reals("parameters", "parameters", order=""),
        "log_evidence": Number(),
        "steps": Count(high=MOST_STEPS),
        "drawn": Maybe({"theta": Reals("n_draws", "dimension"), "intercepts": Absent(Reals("n_draws"))}),
    }

    def __init__(
        self,
        prior: GaussianPrior,
        dimension: int,
        n_draws: int = 1000,
        seed: Seed = None,
        rewards: Bernoulli | Poisson | None = None,
    ) -> None:
        if not isinstance(prior, GaussianPrior):
            raise ArgumentTypeError("prior", "a GaussianPrior", shown(prior))
        family = Bernoulli() if rewards is None else rewards
        if not isinstance(family, Linked):
            raise ArgumentTypeError("rewards", "Bernoulli or Poisson rewards for Laplace", shown(rewards))
        super().__init__(prior, dimension, family, n_draws, seed)
        mean, variance = prior.moments(self.dimension)
        if family.intercept:
            mean, variance = np.insert(mean, 0, 0.0), np.insert(variance, 0, family.intercept_variance)
        self._prior_mean, self._prior_deviation = mean, np.sqrt(variance)
        self._fit = Fit(np.zeros(len(mean)), np.eye(len(mean)), 0.0, 0)
        self._draws: Draws | None = None

    @property
    def noise_variance(self) -> float:
        """Always 1, since clicks and counts have no noise beside their family's own."""
        return float(self.rewards.variance)

    @property
    def log_evidence(self) -> float:
        """Laplace's approximation of log p(y), without the factor 1 / Π y! of counts."""
        return self._fit.log_evidence

    def condition(
        self, x: FloatArray, y: FloatArray, weights: FloatArray | None = None, counts: FloatArray | None = None
    ) -> None:
        """Condition on a batch that has been checked; weights are powers of the likelihood, by default 1.

        What observations count in n does not matter: there is no noise variance to be learnt.

        Raises
        ------
        ArgumentValueError
            If features or sums are so large that the mode could not be found.
        """
        data: Counts = self.evidence
        # Older rewards have been discounted since the last fit, so their evidence is another one.
        before = self._fit if self.forgetting is None else self._refitted()
        log_base = data.log_base
        data.absorb(x, y, weights)
        design, offset = self._design()
        for name, of, values, most in (
            ("x", "features times prior standard deviations", design, REACH),
            ("x", "features with η at the prior mean", offset, FARTHEST_MEAN),
            ("y", "sums of rewards per row", data.successes, MOST_TRIALS),
            ("weight", "sums of weights per row", data.trials, MOST_TRIALS),
        ):
            largest = float(np.abs(values).max())
            if largest > most:
                raise ArgumentValueError(name, f"{of} of magnitude at most {most:g}", f"{largest:g}")
        self._fit = self._refitted()
        if len(y):
            self.gained = self._fit.log_evidence - before.log_evidence + data.log_base - log_base
        self._draws = None

    def _design(self) -> tuple[FloatArray, FloatArray]:
        """Return X and the offset."""
        rows = np.insert(self.evidence.rows, 0, 1.0, axis=1) if self.rewards.intercept else self.evidence.rows
        return rows * self._prior_deviation, rows @ self._prior_mean

    def _refitted(self) -> Fit:
        """Return the approximation given the data as they are, from the last mode on."""
        data: Counts = self.evidence
        if not len(data.trials):
            return self._fit
        return fitted(self.rewards, *self._design(), data.successes, data.trials, self._fit.mode)

    def mean(self) -> FloatArray:
        """Return the mode of θ, which is its mean in the approximation, shape ``(d,)``."""
        return (self._prior_mean + self._prior_deviation * self._fit.mode)[-self.dimension :]

    def inclusions(self) -> FloatArray:
        """Return P(γ_j = 1), shape ``(d,)``: always one, since a Gaussian prior excludes no feature."""
        return np.ones(self.dimension)

    @property
    def _root(self) -> FloatArray:
        """A matrix of shape ``(d, p)`` whose product with its transpose is Cov[θ]."""
        return (self._prior_deviation[:, np.newaxis] * self._fit.root)[-self.dimension :]

    def covariance(self) -> FloatArray:
        """Return Cov[θ], shape ``(d, d)``."""
        root = self._root
        return root @ root.T

    def covariance_times(self, x: FloatArray) -> FloatArray:
        """Return Cov[θ] x without forming the covariance."""
        root = self._root
        return root @ (root.T @ x)

    def draws(self) -> Draws:
        """Return equally weighted, independent draws; other ones after each reward."""
        draws = self._draws
        if draws is None:
            rng = copied(self._rng)
            standard = self._fit.mode + rng.standard_normal((self.n_draws, len(self._fit.mode))) @ self._fit.root.T
            drawn = self._prior_mean + self._prior_deviation * standard
            intercepts = drawn[:, 0].copy() if self.rewards.intercept else None
            draws = self._equally_weighted(np.ascontiguousarray(drawn[:, -self.dimension :]), intercepts)
            vars(self).update(_rng=rng, _draws=draws)  # in one step
        return draws

    def _equally_weighted(self, theta: FloatArray, intercepts: FloatArray | None) -> Draws:
        return Draws.trusted(theta, np.full(self.n_draws, 1.0 / self.n_draws), intercepts)

    def sample(self, rng: Generator, size: int) -> FloatArray:
        """Return ``size`` draws, chosen at random, shape ``(size, d)``."""
        return self.draws().theta[rng.integers(self.n_draws, size=size)]

    def health(self) -> Health:
        """Report how far the numbers can be trusted."""
        found = self._fit.steps < MOST_STEPS
        mode = f"{'found in' if found else 'NOT found after'} {self._fit.steps} steps"
        return Health(found, f"approximate, whatever the number of draws: a Gaussian at the mode, which was {mode}")

    def state(self) -> dict[str, Any]:
        """Return everything that continuing bit for bit needs."""
        fit, drawn = self._fit, None
        if self._draws is not None:
            intercepts = self._draws.intercepts
            drawn = {"theta": self._draws.theta, **({} if intercepts is None else {"intercepts": intercepts})}
        return {
            **super().state(),
            "mode": fit.mode,
            "root": fit.root,
            "log_evidence": fit.log_evidence,
            "steps": fit.steps,
            "drawn": drawn,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        found = self._found(Laplace.saved, state)
        drawn, expected = found["drawn"], len(self._prior_mean)
        if len(found["mode"]) != expected:
            raise wrong("mode", f"{expected} numbers", f"{len(found['mode'])}")
        if drawn is not None and ("intercepts" in drawn) is not self.rewards.intercept:
            raise wrong("drawn", "intercepts if, and only if, the rewards have them", "others")
        super().restore(state)
        self._fit = Fit(found["mode"], found["root"], found["log_evidence"], found["steps"])
        self._draws = None if drawn is None else self._equally_weighted(drawn["theta"], drawn.get("intercepts"))
