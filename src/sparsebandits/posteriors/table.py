"""The exact posterior of a prior that is a table of hypotheses: Bayes' rule, row by row.

No published source beyond that rule.

With rows θ_m, prior weights w_m, and rewards y_i of features x_i with noise variance σ² / v_i,

    log p(θ_m | y) = log w_m + Σ_i v_i ⟨x_i, θ_m⟩ (2 y_i − ⟨x_i, θ_m⟩) / 2σ² + const,

in which the part of the log likelihood that all rows share is left out: it may be so large that differences between
rows would be lost in it. Clicks and counts have the log likelihood of their family instead. Nothing is sampled: the
draws are the rows with their posterior weights, so regret, information and probabilities are exact sums over them.

If rewards are discounted, the sum is multiplied by the power of the likelihood and log w_m is not: the posterior to the
power γ times the prior to the power 1 − γ, normalised.
"""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import ArgumentTypeError, ArgumentValueError, FloatArray, check_count, shown
from sparsebandits.layouts import Layout, Reals
from sparsebandits.model.families import Linked
from sparsebandits.model.hypotheses import Hypotheses
from sparsebandits.model.limits import MOST
from sparsebandits.model.rewards import Rewards, rewards_of
from sparsebandits.posteriors.cloud import Weights
from sparsebandits.posteriors.diagnostics import Health
from sparsebandits.posteriors.draws import Draws
from sparsebandits.posteriors.engine import Engine
from sparsebandits.randomness import Seed

AT_ONCE = 2**20
"""Number of predictions that are computed at a time."""

LARGEST_LOG = 1e300
"""Largest magnitude of a log likelihood; that of a count at the largest rate is far below."""

LIKELY = 1e-3
"""Posterior probability from which :meth:`Table.health` counts a row as likely."""


class Table(Engine):
    """Exact posterior of θ for a :class:`Hypotheses` prior.

    Parameters
    ----------
    prior : Hypotheses
        The possible values of θ and their probabilities.
    dimension : int, optional
        Number of features d; that of the table.
    noise_variance : float, default=1.0
        Short form of ``rewards=Gaussian(variance=noise_variance)``. It has to be known.
    seed : int, SeedSequence or None
        Not used by the posterior, in which nothing is random.
    rewards : Gaussian, Bernoulli or Poisson, optional
        How a reward arises from θ; by default Gaussian noise of variance 1. Gaussian rewards may have an intercept,
        which is integrated out under a flat prior; clicks and counts may not.

    Attributes
    ----------
    n_draws : int
        Number of rows M: each is a draw.

    Raises
    ------
    ArgumentError
        If the prior is not a table of d columns, if the noise is to be learnt, or if clicks or counts have an
        intercept.

    Examples
    --------
    >>> posterior = Table(Hypotheses([[1.0, 0.0], [0.0, 1.0]]), noise_variance=1.0)
    >>> posterior.update([1.0, 0.0], 1.0)
    >>> posterior.weights.round(3), posterior.inclusion().round(3)
    (array([0.622, 0.378]), array([0.622, 0.378]))
    """

    saved: ClassVar[Layout] = {
        **Engine.saved,
        "log_likelihood": Reals("n_draws", low=-LARGEST_LOG, high=LARGEST_LOG),
    }

    def __init__(
        self,
        prior: Hypotheses,
        dimension: int | None = None,
        noise_variance: float | None = None,
        seed: Seed = None,
        rewards: Rewards | None = None,
    ) -> None:
        if not isinstance(prior, Hypotheses):
            raise ArgumentTypeError("prior", "Hypotheses, a table, for Table", shown(prior))
        if dimension is not None and check_count("dimension", dimension) != prior.dimension:
            raise ArgumentValueError("prior", f"rows of {dimension} coefficients", shown(prior))
        found = rewards_of(rewards, noise_variance, default=1.0)
        if not found.known:
            raise ArgumentTypeError("rewards", "rewards of known noise variance for a table", shown(found))
        if isinstance(found, Linked) and found.intercept:
            expected = "clicks or counts without an intercept for a table; give intercept=False"
            raise ArgumentValueError("rewards", expected, shown(found))
        super().__init__(prior, prior.dimension, found, len(prior), seed, least_draws=1)
        self.feature_names = prior.feature_names
        with np.errstate(divide="ignore"):
            self._log_prior: FloatArray = np.log(prior.weights)
        self._log_likelihood: FloatArray = np.zeros(len(prior))  # up to what all rows share
        self._weights = Weights.of(self._log_prior)
        self._drawn: Draws | None = None  # until the next observation

    @property
    def noise_variance(self) -> float:
        """Noise variance of a reward of weight one."""
        return float(self.rewards.variance)

    @property
    def weights(self) -> FloatArray:
        """Posterior probability of each row, shape ``(M,)``."""
        return self.draws().weights

    @property
    def log_evidence(self) -> float:
        """Log evidence log p(y) of all rewards; with discounts, the log of the normalising constant."""
        if isinstance(self.rewards, Linked):
            return self._weights.log_total + float(self.evidence.log_base)
        sums = self.evidence
        constant = sums.count * math.log(2.0 * math.pi * self.noise_variance) - sums.log_weight
        return self._weights.log_total - 0.5 * float(constant + sums.square / self.noise_variance)

    def forget(self, factor: float) -> None:
        """Raise the likelihood so far to a power."""
        super().forget(factor)
        self._weigh(factor * self._log_likelihood)

    def condition(
        self, x: FloatArray, y: FloatArray, weights: FloatArray | None = None, counts: FloatArray | None = None
    ) -> None:
        """Condition on a batch that has been checked; observations weigh 1 by default."""
        if not len(y):
            return
        self.check_limits(x, y, weights)
        before = self.log_evidence
        self.evidence.absorb(x, y, weights, counts)
        found, step = self._log_likelihood, max(1, AT_ONCE // self.n_draws)
        own = np.ones(len(y)) if weights is None else weights
        for start in range(0, len(y), step):
            part = slice(start, start + step)
            found = found + self._log_likelihoods(x[part], y[part], own[part])
        self._weigh(found)
        self.gained = self.log_evidence - before

    def _log_likelihoods(self, x: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the log likelihood of rewards under each row, up to what all rows share, shape ``(M,)``."""
        eta: FloatArray = self.prior.theta @ x.T
        if isinstance(self.rewards, Linked):
            return np.asarray(self.rewards.log_likelihood(eta, weights * y, weights).sum(axis=1))
        return np.asarray((eta * (2.0 * y - eta)) @ weights / (2.0 * self.noise_variance))

    def _weigh(self, log_likelihood: FloatArray) -> None:
        self._log_likelihood = log_likelihood
        self._weights = Weights.of(self._log_prior + log_likelihood)
        self._drawn = None

    def check_limits(self, x: FloatArray, y: FloatArray, weights: FloatArray | None = None) -> None:
        """Refuse observations of which double precision would not keep the digits that decide between rows.

        Parameters
        ----------
        x : array of shape (n, d)
            Features, relative to their means if there is an intercept.
        y : array of shape (n,)
            Rewards, likewise.
        weights : array of shape (n,), optional
            Weight of each observation; by default 1.

        Raises
        ------
        ArgumentValueError
            If they are outside of the range.
        """
        weighted_x, weighted_y = (x, y) if weights is None else (x * weights[:, np.newaxis], y * weights)
        squares = self.evidence.squares + np.einsum("ij,ij->j", weighted_x, x)
        # √Σ⟨x_i, θ⟩² is at most Σ_j |θ_j| √Σ x_ij².
        signal = float((np.abs(self.prior.theta) @ np.sqrt(squares)).max()) / math.sqrt(self.noise_variance)
        if not signal <= math.sqrt(MOST):
            expected = f"features at which the table predicts rewards within {MOST**0.5:g} noise standard deviations"
            raise ArgumentValueError("x", expected, f"{signal:.2g}")
        square = (self.evidence.square + float(weighted_y @ y)) / self.noise_variance
        if not square <= MOST:
            expected = f"rewards within {MOST**0.5:g} noise standard deviations (root of the sum of squares)"
            raise ArgumentValueError("y", expected, f"{square**0.5:.2g}")

    def draws(self) -> Draws:
        """Return the rows of the table with their posterior weights, which are exact."""
        if self._drawn is None:
            self._drawn = Draws.trusted(self.prior.theta, self._weights.normalised, exact=True)
        return self._drawn

    def sample(self, rng: Generator, size: int) -> FloatArray:
        """Return ``size`` independent draws of θ, shape ``(size, d)``."""
        rows = rng.choice(self.n_draws, size=size, p=self.weights)
        return np.asarray(self.prior.theta[rows])

    def inclusions(self) -> FloatArray:
        """Return the posterior probability of the rows in which each coefficient is not zero, shape ``(d,)``."""
        return np.asarray(np.minimum(self.weights @ (self.prior.theta != 0.0), 1.0))

    def health(self) -> Health:
        """Report how far the numbers can be trusted: they are exact, if the true θ is a row of the table."""
        weights = self.weights
        likely = int(np.count_nonzero(weights >= LIKELY))
        text = f"exact over a table of {self.n_draws} hypotheses, {likely} of which have a probability of {LIKELY:g} or"
        return Health(True, f"{text} more; the likeliest has {weights.max():.2g}")

    def state(self) -> dict[str, Any]:
        """Return everything that continuing bit for bit needs."""
        return {**super().state(), "log_likelihood": self._log_likelihood.copy()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        found = self._found(Table.saved, state)
        super().restore(state)
        self.check_saved_limits()
        self._weigh(found["log_likelihood"])
