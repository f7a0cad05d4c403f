"""Moves that leave a spike-and-slab posterior unchanged, for an ensemble of particles or chains.

An :class:`Ensemble` holds θ, γ and, where they are learnt, β, V and σ² of each member; :class:`Moves` changes it. The
work is done by the kernels of ``coordinate.py``, ``collapsed.py``, ``blocked.py`` and ``quadratic.py``.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import logit

from sparsebandits.arguments import LARGEST, FloatArray, IntArray
from sparsebandits.model import limits
from sparsebandits.model.priors import (
    BetaInclusion,
    GaussianSpike,
    InverseGamma,
    InverseGammaNoise,
    InverseGammaSlab,
    LaplaceSpike,
    SpikeSlab,
)
from sparsebandits.model.rewards import Rewards
from sparsebandits.posteriors.engine import TIED
from sparsebandits.posteriors.kernels.blocked import blocked_sweep
from sparsebandits.posteriors.kernels.collapsed import collapsed_sweep, correlated_neighbours
from sparsebandits.posteriors.kernels.coordinate import GAUSSIAN, LAPLACE, POINT_MASS, coordinate_sweeps
from sparsebandits.posteriors.kernels.inline_random import random_state
from sparsebandits.posteriors.kernels.quadratic import quadratic_forms

LEAST_BETA = 1e-12
"""Smallest inclusion probability, and distance from one, where the slab variance depends on it."""

SWAPS = 4
"""Attempts of each member to exchange a coordinate for a correlated one, in each sweep over models."""


@dataclass(frozen=True, eq=False)
class Sums:
    """Sufficient statistics, in which an observation may count in part.

    Attributes
    ----------
    gram : array of shape (d, d), in C order
        X'X.
    moment : array of shape (d,)
        X'y.
    square : float
        y'y.
    count : float
        n.
    """

    gram: FloatArray
    moment: FloatArray
    square: float
    count: float


@dataclass(eq=False)
class Ensemble:
    """Particles or chains, one member per row.

    Attributes
    ----------
    theta : array of shape (M, d)
        Coefficients θ.
    included : bool array of shape (M, d)
        γ: whether each coordinate is in the slab.
    beta : array of shape (M,) or None
        Inclusion probability, if it is learnt.
    slab_variances : array of shape (M,) or None
        V, if it is learnt.
    noise_variances : array of shape (M,) or None
        σ², if it is learnt.
    """

    theta: FloatArray
    included: NDArray[np.bool_]
    beta: FloatArray | None
    slab_variances: FloatArray | None
    noise_variances: FloatArray | None

    def learnt(self) -> dict[str, FloatArray]:
        """Return the hyperparameters that are learnt, by the names of the arguments that set them."""
        named = {
            "inclusion": self.beta,
            "slab_variance": self.slab_variances,
            "noise_variance": self.noise_variances,
        }
        return {name: values for name, values in named.items() if values is not None}

    def take(self, rows: IntArray) -> "Ensemble":
        """Return copies of some members."""
        taken: dict[str, Any] = {name: None if v is None else v[rows] for name, v in vars(self).items()}
        return Ensemble(**taken)

    def copy(self) -> "Ensemble":
        """Return a copy of all members."""
        return self.take(np.arange(len(self.theta)))


class Moves:
    """Moves for one prior and one family of rewards.

    Parameters
    ----------
    prior : SpikeSlab
        Prior of θ.
    dimension : int
        Number of features d.
    rewards : Gaussian
        How a reward arises from θ.
    """

    def __init__(self, prior: SpikeSlab, dimension: int, rewards: Rewards) -> None:
        self.prior = prior
        self.dimension = dimension
        self.noise = rewards.variance  # an engine sets it anew when the unit of the rewards is known
        self._slab_mean, self._slab_variance = prior.slab(dimension)
        self.slab_deviation = np.sqrt(self._slab_variance)  # in units of √V, where that is learnt
        self._log_odds = np.zeros(dimension)
        self._size_log_odds = np.zeros(dimension)
        # Sweeps over models integrate a Beta inclusion out, unless V depends on it.
        learnt = isinstance(prior.inclusion, BetaInclusion)
        self._of_total = learnt and isinstance(prior.slab_variance, InverseGammaSlab) and prior.slab_variance.of_total
        if learnt and not self._of_total:
            others = np.arange(dimension)
            self._size_log_odds = np.log(prior.inclusion.a + others) - np.log(
                prior.inclusion.b + dimension - 1 - others
            )
        elif not learnt:
            self._log_odds = np.asarray(logit(prior.inclusions(dimension)))
        self._sized = prior.size is not None
        if self._sized:  # join only if there is room, leave only if enough remain
            (low, high), others = prior.size_range(dimension), np.arange(dimension)
            self._size_log_odds[others < low] = np.inf
            self._size_log_odds[others >= high] = -np.inf
        self._neighbours: tuple[FloatArray, IntArray] | None = None  # of the last X'X
        self._kind, self._width = POINT_MASS, 0.0
        if isinstance(prior.spike, GaussianSpike):
            self._kind, self._width = GAUSSIAN, prior.spike.variance
        elif isinstance(prior.spike, LaplaceSpike):
            self._kind, self._width = LAPLACE, prior.spike.scale
        self.over_models = self._kind == POINT_MASS  # whether :meth:`models` serves this prior

    @property
    def learn(self) -> bool:
        """Whether there are hyperparameters to be learnt."""
        return any(
            isinstance(part, BetaInclusion | InverseGamma)
            for part in (self.prior.inclusion, self.prior.slab_variance, self.noise)
        )

    def learnt(self) -> list[str]:
        """Return the names of the hyperparameters that are learnt, as :meth:`Ensemble.learnt` has them."""
        learnt = {
            "inclusion": isinstance(self.prior.inclusion, BetaInclusion),
            "slab_variance": isinstance(self.prior.slab_variance, InverseGammaSlab),
            "noise_variance": isinstance(self.noise, InverseGammaNoise),
        }
        return [name for name, whether in learnt.items() if whether]

    def from_prior(self, rng: Generator, size: int) -> Ensemble:
        """Return draws from the prior.

        Parameters
        ----------
        rng : Generator
            Source of randomness.
        size : int
            Number of members M.

        Returns
        -------
        Ensemble
            Independent members.
        """
        drawn = self.prior.sample(rng, size, self.dimension)
        noise = self.noise.sample(rng, size) if isinstance(self.noise, InverseGammaNoise) else None
        members = Ensemble(**vars(drawn), noise_variances=noise)
        if self.prior.of_noise:
            deviation = np.sqrt(self._variances(members))[:, np.newaxis]
            centre = np.where(members.included, self._slab_mean, 0.0)
            members.theta = centre + deviation * (members.theta - centre)
        return members

    def rescaled(self, members: Ensemble, unit: float) -> Ensemble:
        """Return members whose noise variances are ``unit``² times as large, and whose θ is scaled where it has σ.

        Parameters
        ----------
        members : Ensemble
            Members with learnt noise variances.
        unit : float
            Unit of the rewards.

        Returns
        -------
        Ensemble
            The members in that unit.
        """
        assert members.noise_variances is not None
        theta = members.theta
        if self.prior.of_noise:
            centre = np.where(members.included, self._slab_mean, 0.0)
            theta = centre + unit * (theta - centre)
        return replace(members, theta=theta, noise_variances=members.noise_variances * (unit * unit))

    def coordinates(self, members: Ensemble, sums: Sums, rng: Generator, passed: FloatArray | None = None) -> None:
        """Sweep over the coordinates of θ, in place.

        If the prior has a size, this is a sweep over models: single coordinates could hardly move.

        Parameters
        ----------
        members : Ensemble
            Members, which are changed in place.
        sums : Sums
            The data.
        rng : Generator
            Source of randomness.
        passed : array of shape (M, n, d), optional
            Filled with θ after each of n further sweeps, which are made first.
        """
        if self._sized:
            self.models(members, sums, rng)
            return
        size = len(members.theta)
        coordinate_sweeps(
            np.empty((size, 0, self.dimension)) if passed is None else passed,
            members.theta,
            members.included,
            self._precisions(members),
            rng.permutation(self.dimension),
            sums.gram,
            sums.moment,
            self._slab_mean,
            self._slab_variance,
            self._scales(members),
            self._log_odds,
            np.zeros(size) if members.beta is None else logit(members.beta),
            self._kind,
            self._widths(members),
            random_state(rng),
        )

    def models(self, members: Ensemble, sums: Sums, rng: Generator) -> None:
        """Sweep over models with θ (and a Beta inclusion) integrated out, then draw θ.

        Members with the same model share the work, unless each has variances of its own.

        Parameters
        ----------
        members : Ensemble
            Members, which are changed in place.
        sums : Sums
            The data.
        rng : Generator
            Source of randomness.
        """
        size = len(members.theta)
        first, counts, order = np.arange(size), np.ones(size, dtype=np.intp), np.arange(size)
        if members.noise_variances is None and members.slab_variances is None:
            address = rng.integers(0, 2**64, size=self.dimension, dtype=np.uint64)
            hashes = members.included @ address  # equal for equal models, and for others with probability 2^-64
            # Among members with the same model, the kernel returns those that stayed before those that left. In random
            # order every member is equally likely to be among either, so that chains stay exchangeable.
            order = rng.permutation(size)
            order = order[np.argsort(hashes[order], kind="stable")]
            starts = np.flatnonzero(np.diff(hashes[order], prepend=~hashes[order[0]]))
            first, counts = order[starts], np.diff(starts, append=size)
        theta = np.empty((size, self.dimension))
        collapsed_sweep(
            members.included[first],
            counts,
            self._precisions(members)[first],
            rng.permutation(self.dimension),
            SWAPS,
            self._sized,
            self._neighbours_of(sums.gram),
            sums.gram,
            sums.moment,
            self._slab_mean,
            self._slab_variance,
            self._scales(members)[first],
            self._log_odds,
            self._size_log_odds,
            np.zeros(len(first)) if members.beta is None or not self._of_total else logit(members.beta[first]),
            theta,
            random_state(rng),
        )
        members.theta = np.empty_like(theta)
        members.theta[order] = theta  # each takes the place of a member that had its model
        members.included = members.theta != 0

    def block(self, members: Ensemble, sums: Sums, rng: Generator) -> None:
        """Sweep over γ with θ integrated out, then draw θ in one block, for a Gaussian or Laplace spike.

        Parameters
        ----------
        members : Ensemble
            Members, which are changed in place.
        sums : Sums
            The data.
        rng : Generator
            Source of randomness.

        Raises
        ------
        ArithmeticError
            If features are so large and so nearly copies of each other that rounding hides the prior.
        """
        shape = members.theta.shape
        widths = np.broadcast_to(self._widths(members)[:, np.newaxis], shape)
        variances = widths.copy()
        if self._kind == LAPLACE:  # given γ = 1, W is from its prior
            variances = rng.exponential(2.0 * widths**2)
            outside = ~members.included
            variances[outside] = spike_variances(rng, members.theta[outside], widths[outside])
            variances = np.clip(variances, 1e-100, 1e100)
        try:
            blocked_sweep(
                members.theta,
                members.included,
                variances,
                self._precisions(members),
                rng.permutation(self.dimension),
                sums.gram,
                sums.moment,
                self._slab_mean,
                self._slab_variance,
                self._scales(members),
                self._log_odds,
                np.zeros(len(members.theta)) if members.beta is None else logit(members.beta),
                random_state(rng),
            )
        except np.linalg.LinAlgError:
            raise ArithmeticError(TIED) from None

    def redraw(self, members: Ensemble, sums: Sums, rng: Generator) -> None:
        """Sweep with θ integrated out, and draw θ given γ: little is left of where the members were.

        For other spikes than a point mass, a sweep over coordinates follows. Given W, which is from its prior while γ
        is one, a large coefficient cannot go from the slab to a Laplace spike, whose tail is the heavier one.

        Parameters
        ----------
        members : Ensemble
            Members, which are changed in place.
        sums : Sums
            The data.
        rng : Generator
            Source of randomness.
        """
        if self.over_models:
            self.models(members, sums, rng)
        else:
            self.block(members, sums, rng)
            self.coordinates(members, sums, rng)

    def hyperparameters(self, members: Ensemble, sums: Sums, rng: Generator) -> None:
        """Draw β given γ, V given γ and θ, and σ² given θ (and γ and V), where they are learnt.

        Parameters
        ----------
        members : Ensemble
            Members, which are changed in place.
        sums : Sums
            The data.
        rng : Generator
            Source of randomness.
        """
        beta, slab, noise = self.prior.inclusion, self.prior.slab_variance, self.noise
        if isinstance(beta, BetaInclusion):
            count = members.included.sum(axis=1)
            drawn = rng.beta(beta.a + count, beta.b + self.dimension - count)
            members.beta = self._accepted(members, drawn, rng) if self._of_total else drawn
        if isinstance(slab, InverseGammaSlab) or self.prior.of_noise:
            among, squares = self._slab_sums(members)
            scaled = squares / self._variances(members) if self.prior.of_noise else squares
        if isinstance(noise, InverseGammaNoise):
            misfit = sums.square - 2.0 * members.theta @ sums.moment + self._quadratic_forms(members, sums)
        if isinstance(slab, InverseGammaSlab):
            drawn = slab.given(rng, among, scaled, self._expected_sizes(members))
            members.slab_variances = np.minimum(drawn, self._largest_slab(members, sums))
        if isinstance(noise, InverseGammaNoise):
            count, total = np.full(len(members.theta), sums.count), np.maximum(misfit, 0.0)
            if self.prior.of_noise:  # slab and spike depend on this variance too
                count = count + among
                total = total + (squares if members.slab_variances is None else squares / members.slab_variances)
                if self._kind != POINT_MASS:
                    count, total = count + self.dimension - among, total + self._spike_sums(members, rng)
            members.noise_variances = noise.given(rng, count, total)

    def _accepted(self, members: Ensemble, drawn: FloatArray, rng: Generator) -> FloatArray:
        """Return β after a Metropolis step whose proposals are drawn given γ, where the prior of V depends on β.

        The step leaves β given γ and V unchanged: V | β ~ IG(a, b / (β d)) has a density in proportion to
        β^-a exp(−b / (β d V)).
        """
        slab, old, new = self.prior.slab_variance, members.beta, np.clip(drawn, LEAST_BETA, 1.0 - LEAST_BETA)
        assert old is not None
        assert members.slab_variances is not None
        rate = slab.scale / (self.dimension * members.slab_variances)
        log_ratio = -slab.shape * np.log(new / old) - rate * (1.0 / new - 1.0 / old)
        return np.where(np.log(rng.random(len(new))) < log_ratio, new, old)

    def _largest_slab(self, members: Ensemble, sums: Sums) -> Any:
        """Return where V ends: beyond it, rounding hides the data (``model/limits.py``)."""
        largest = float((np.diagonal(sums.gram) * self._slab_variance).max())
        noise = 1.0 if self.prior.of_noise else self._variances(members)
        return limits.MOST * noise / max(largest, limits.MOST / LARGEST)

    def _expected_sizes(self, members: Ensemble) -> Any:
        """Return the number of features that are expected to matter, Σβ_j, of each member, if V is of their total."""
        if not self.prior.slab_variance.of_total:
            return 1.0
        if members.beta is None:
            return self.dimension * max(float(self.prior.inclusions(self.dimension).mean()), LEAST_BETA)
        return self.dimension * members.beta

    def _slab_sums(self, members: Ensemble) -> tuple[FloatArray, FloatArray]:
        """Return how many coordinates of each member are in the slab, and Σ(θ_j − m_j)² / r_j over them."""
        apart = members.theta
        if self._kind != POINT_MASS or self._slab_mean.any():  # otherwise θ is zero outside the slab
            apart = np.where(members.included, members.theta - self._slab_mean, 0.0)
        squares = np.einsum("mj,mj,j->m", apart, apart, 1.0 / self._slab_variance)
        return members.included.sum(axis=1).astype(np.float64), squares

    def _spike_sums(self, members: Ensemble, rng: Generator) -> FloatArray:
        """Return Σ θ_j² / W_j over the coordinates of each member in the spike, where θ_j has the variance σ²W_j.

        W_j is τ² for a Gaussian spike. For a Laplace spike it is drawn given θ_j and σ, so that σ² given W is inverse
        gamma: with W, the joint law of θ, σ² and the data is the same.
        """
        apart = np.where(members.included, 0.0, members.theta)
        squares = apart * apart
        if self._kind == GAUSSIAN:
            return np.asarray(squares.sum(axis=1) / self._width)
        outside, variances = ~members.included, self._variances(members)[:, np.newaxis]
        widths = np.broadcast_to(self._widths(members)[:, np.newaxis], apart.shape)
        absolute = spike_variances(rng, apart[outside], widths[outside])  # σ²W
        squares[outside] /= absolute
        return np.asarray((squares * variances).sum(axis=1))

    def _quadratic_forms(self, members: Ensemble, sums: Sums) -> FloatArray:
        """Return θ'X'Xθ of each member."""
        if self._kind == POINT_MASS:
            return np.asarray(quadratic_forms(members.theta, sums.gram))
        return np.asarray(np.einsum("mj,mj->m", members.theta @ sums.gram, members.theta))

    def inclusion(self, members: Ensemble) -> FloatArray:
        """Return P(γ_j = 1 | θ_j, β, V, σ²) of each member.

        Parameters
        ----------
        members : Ensemble
            The members.

        Returns
        -------
        array of shape (M, d)
            Inclusion probabilities.
        """
        return self.prior.inclusion_given(members.theta, members.beta, members.slab_variances, self._variances(members))

    def _neighbours_of(self, gram: FloatArray) -> IntArray:
        if self._neighbours is None or self._neighbours[0] is not gram:
            self._neighbours = gram, correlated_neighbours(gram)
        return self._neighbours[1]

    def _scales(self, members: Ensemble) -> FloatArray:
        """Return the factor on the slab's variance of each member."""
        scales = np.ones(len(members.theta)) if members.slab_variances is None else members.slab_variances
        return scales * self._variances(members) if self.prior.of_noise else scales

    def _widths(self, members: Ensemble) -> FloatArray:
        """Return the variance of a Gaussian spike, or the scale of a Laplace spike, of each member."""
        if not self.prior.of_noise or self._kind == POINT_MASS:
            return np.full(len(members.theta), self._width)
        variances = self._variances(members)
        return self._width * (variances if self._kind == GAUSSIAN else np.sqrt(variances))

    def _variances(self, members: Ensemble) -> FloatArray:
        """Return the noise variance of each member."""
        variances = self.noise if members.noise_variances is None else members.noise_variances
        return np.broadcast_to(np.asarray(variances, dtype=np.float64), len(members.theta))

    def _precisions(self, members: Ensemble) -> FloatArray:
        return 1.0 / self._variances(members)


def spike_variances(rng: Generator, theta: FloatArray, scales: FloatArray) -> FloatArray:
    """Return draws of W_j given θ_j, where θ_j ~ N(0, W_j) and W_j is exponential, so that θ_j is Laplace.

    Parameters
    ----------
    rng : Generator
        Source of randomness.
    theta : array of shape (N,)
        Coefficients in the spike.
    scales : array of shape (N,)
        Scale b of each Laplace density; W has the mean 2b².

    Returns
    -------
    array of shape (N,)
        Variances.

    References
    ----------
    Park and Casella (2008), *The Bayesian Lasso*: 1/W is inverse Gaussian with mean 1/(b|θ|) and shape 1/b².
    """
    size = np.maximum(np.abs(theta), 1e-100)
    inverse = rng.wald(1.0 / (scales * size), scales**-2.0)
    return np.asarray(1.0 / np.maximum(inverse, 1e-100))  # near θ = 0 rounding may give zero
