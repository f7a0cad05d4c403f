"""Prior distributions of θ and of the noise: densities, moments and draws, nothing of data. Frozen, to be shared.

The spike-and-slab family of Hao, Lattimore and Deng (2021, §6.1): Mitchell and Beauchamp (1988) for the point mass,
George and McCulloch (1993) for the Gaussian spike, Ročková and George (2018) for the Laplace spike.

    γ_j ~ Bernoulli(β),   θ_j | γ_j = 1 ~ slab N(m_j, V_j),   θ_j | γ_j = 0 ~ spike around zero.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import expit, logit

from sparsebandits.arguments import (
    LARGEST,
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    check_array,
    check_positive,
    check_vector,
    shown,
)


def check_per_coordinate(name: str, value: object, low: float, high: float = LARGEST) -> float | FloatArray:
    """Require one number for all coordinates, or a vector with one for each, in ``[low, high]``."""
    array = check_array(name, value)
    if array.ndim > 1 or array.size == 0:
        raise ArgumentValueError(name, "one number or one a coordinate", f"shape {array.shape}")
    if not ((array >= low) & (array <= high)).all():
        raise ArgumentValueError(name, f"numbers from {low:g} to {high:g}", shown(value))
    if array.ndim == 0:
        return float(array)
    array = array.copy()
    array.flags.writeable = False
    return array


def spread(name: str, value: float | FloatArray, dimension: int) -> FloatArray:
    """Return one number a coordinate; refuse a prior that was made for another dimension."""
    if isinstance(value, float):
        return np.full(dimension, value)
    return check_vector(f"prior.{name}", np.full(dimension, value) if np.ndim(value) == 0 else value, dimension)


@dataclass(frozen=True, eq=False)
class GaussianPrior:
    """θ_j ~ N(mean_j, variance_j), independent. ``variance`` and ``mean`` are one number or one a coordinate.

    >>> GaussianPrior(variance=0.01)
    GaussianPrior(variance=0.01, mean=0.0)
    """

    variance: Any = 1.0
    mean: Any = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "variance", check_per_coordinate("variance", self.variance, 1 / LARGEST))
        object.__setattr__(self, "mean", check_per_coordinate("mean", self.mean, -LARGEST))

    def moments(self, dimension: int) -> tuple[FloatArray, FloatArray]:
        """Return mean ``(d,)`` and variance ``(d,)``."""
        return spread("mean", self.mean, dimension), spread("variance", self.variance, dimension)


@dataclass(frozen=True)
class PointMass:
    """A spike of all mass at zero: excluded coordinates are exactly zero."""


@dataclass(frozen=True)
class GaussianSpike:
    """A spike N(0, variance), much narrower than the slab."""

    variance: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "variance", check_positive("variance", self.variance))


@dataclass(frozen=True)
class LaplaceSpike:
    """A spike with density exp(−|θ| / scale) / (2 scale), the paper's."""

    scale: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", check_positive("scale", self.scale))


Spike: TypeAlias = PointMass | GaussianSpike | LaplaceSpike


@dataclass(frozen=True)
class BetaInclusion:
    """β ~ Beta(a, b): the share of coordinates that matter is not known, but learnt.

    >>> BetaInclusion(1, 9).mean
    0.1
    """

    a: float = 1.0
    b: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "a", check_positive("BetaInclusion.a", self.a))
        object.__setattr__(self, "b", check_positive("BetaInclusion.b", self.b))

    @property
    def mean(self) -> float:
        """E β."""
        return self.a / (self.a + self.b)


@dataclass(frozen=True)
class InverseGamma:
    """A variance that is not known, but learnt: inverse gamma(shape, scale)."""

    shape: float = 0.5
    scale: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", check_positive("shape", self.shape))
        object.__setattr__(self, "scale", check_positive("scale", self.scale))

    def sample(self, rng: Generator, size: int) -> FloatArray:
        """Return draws, shape ``(size,)``."""
        return self.given(rng, np.zeros(size), np.zeros(size))

    def given(self, rng: Generator, count: FloatArray, squares: FloatArray) -> FloatArray:
        """Return draws given ``count`` normals of this variance whose ``squares`` have been summed, one a row."""
        drawn = rng.standard_gamma(self.shape + count / 2.0)
        with np.errstate(divide="ignore", over="ignore"):  # vague priors have mass beyond all bounds
            return np.clip((self.scale + squares / 2.0) / drawn, 1 / LARGEST, LARGEST)


class InverseGammaNoise(InverseGamma):
    """σ² ~ inverse gamma(shape, scale): the noise variance is not known, but learnt.

    The paper's remark has IG(ν/2, νλ/2) with ν = λ = 1, which is ``InverseGammaNoise(0.5, 0.5)``.
    """


@dataclass(frozen=True)
class InverseGammaSlab(InverseGamma):
    """V ~ inverse gamma(shape, scale): how large the coefficients that matter are is not known, but learnt.

    One V for all coordinates, so that a few large coefficients say how large the others may be. With ``of_noise`` the
    slab is N(m, σ²V), as in the paper: then the prior fits rewards of any unit. With ``relative``, one number a
    coordinate, it is N(m_j, r_j V): then features may be of any units too.
    """

    of_noise: bool = False
    relative: float | tuple[float, ...] = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        relative = check_per_coordinate("relative", self.relative, 1 / LARGEST)
        object.__setattr__(self, "relative", relative if isinstance(relative, float) else tuple(relative.tolist()))


@dataclass(frozen=True, eq=False)
class SpikeSlab:
    """Spike-and-slab prior: each coordinate matters with probability ``inclusion``.

    Parameters
    ----------
    inclusion : probability of the slab, one number or one a coordinate (0 and 1 allowed), or a
        :class:`BetaInclusion`
    slab_variance : of the coordinates that matter, one number or one a coordinate, or an :class:`InverseGammaSlab`
    slab_mean : likewise
    spike : distribution of the others: :class:`PointMass`, :class:`LaplaceSpike` or :class:`GaussianSpike`

    >>> SpikeSlab(inclusion=0.1, slab_variance=0.25)
    SpikeSlab(inclusion=0.1, slab_variance=0.25, slab_mean=0.0, spike=PointMass())
    """

    inclusion: Any
    slab_variance: Any
    slab_mean: Any = 0.0
    spike: Spike = PointMass()

    def __post_init__(self) -> None:
        if not isinstance(self.inclusion, BetaInclusion):
            object.__setattr__(self, "inclusion", check_per_coordinate("inclusion", self.inclusion, 0.0, 1.0))
        if not isinstance(self.slab_variance, InverseGammaSlab):
            variance = check_per_coordinate("slab_variance", self.slab_variance, 1 / LARGEST)
            object.__setattr__(self, "slab_variance", variance)
        object.__setattr__(self, "slab_mean", check_per_coordinate("slab_mean", self.slab_mean, -LARGEST))
        if not isinstance(self.spike, Spike):
            raise ArgumentTypeError("spike", "PointMass, LaplaceSpike or GaussianSpike", shown(self.spike))

    @classmethod
    def from_paper(cls, beta: float, lambda0: float, lambda1: float, noise_variance: float) -> "SpikeSlab":
        """Return the paper's prior: spike Laplace(σλ₀), slab N(0, σ²λ₁), inclusion β.

        >>> SpikeSlab.from_paper(beta=0.1, lambda0=0.05, lambda1=4.0, noise_variance=0.25)
        SpikeSlab(inclusion=0.1, slab_variance=1.0, slab_mean=0.0, spike=LaplaceSpike(scale=0.025))
        """
        variance = check_positive("noise_variance", noise_variance)
        scale = float(np.sqrt(variance)) * check_positive("lambda0", lambda0)
        return cls(beta, variance * check_positive("lambda1", lambda1), spike=LaplaceSpike(scale))

    def slab(self, dimension: int) -> tuple[FloatArray, FloatArray]:
        """Return mean ``(d,)`` and variance ``(d,)`` of the slab, the latter as multiples of V where that is learnt."""
        slab = self.slab_variance
        variance = np.asarray(slab.relative) if isinstance(slab, InverseGammaSlab) else slab
        return spread("slab_mean", self.slab_mean, dimension), spread("slab_variance", variance, dimension)

    def refuse_learnt_slab(self, engine: str) -> None:
        """Refuse an :class:`InverseGammaSlab`, on behalf of an engine that does not serve it."""
        if isinstance(self.slab_variance, InverseGammaSlab):
            raise ArgumentTypeError("prior", f"a known slab_variance for {engine}", shown(self.slab_variance))

    def inclusions(self, dimension: int) -> FloatArray:
        """Return E β of each coordinate, shape ``(d,)``."""
        value = self.inclusion.mean if isinstance(self.inclusion, BetaInclusion) else self.inclusion
        return spread("inclusion", value, dimension)

    def sample(self, rng: Generator, size: int, dimension: int) -> "PriorDraws":
        """Return ``size`` draws."""
        beta = variances = None
        probability = np.broadcast_to(self.inclusions(dimension), (size, dimension))
        if isinstance(self.inclusion, BetaInclusion):
            beta = rng.beta(self.inclusion.a, self.inclusion.b, size)
            probability = np.broadcast_to(beta[:, np.newaxis], (size, dimension))
        included = rng.random((size, dimension)) < probability
        mean, variance = self.slab(dimension)
        deviation = np.sqrt(variance)
        if isinstance(self.slab_variance, InverseGammaSlab):
            variances = self.slab_variance.sample(rng, size)
            deviation = deviation * np.sqrt(variances)[:, np.newaxis]
        theta = mean + deviation * rng.standard_normal((size, dimension))
        outside = ~included
        if isinstance(self.spike, PointMass):
            theta[outside] = 0.0
        elif isinstance(self.spike, GaussianSpike):
            theta[outside] = np.sqrt(self.spike.variance) * rng.standard_normal(int(outside.sum()))
        else:
            theta[outside] = rng.laplace(scale=self.spike.scale, size=int(outside.sum()))
        return PriorDraws(theta, included, beta, variances)

    def inclusion_given(self, theta: FloatArray, beta: Any = None, slab_variance: Any = None) -> FloatArray:
        """Return P(γ_j = 1 | θ_j, β, V), the paper's ν, for θ of shape ``(M, d)``.

        ``beta`` and the variance ``slab_variance`` of the slab are one a row where they are learnt.
        """
        inclusion = self.inclusions(theta.shape[-1]) if beta is None else np.asarray(beta)[:, np.newaxis]
        if isinstance(self.spike, PointMass):
            return np.where(theta != 0, 1.0, np.where(inclusion == 1, 1.0, 0.0))
        mean, variance = self.slab(theta.shape[-1])
        if slab_variance is not None:
            variance = variance * np.asarray(slab_variance)[:, np.newaxis]
        log_slab = -0.5 * (np.log(2 * np.pi * variance) + (theta - mean) ** 2 / variance)
        if isinstance(self.spike, GaussianSpike):
            log_spike = -0.5 * (np.log(2 * np.pi * self.spike.variance) + theta**2 / self.spike.variance)
        else:
            log_spike = -np.abs(theta) / self.spike.scale - np.log(2 * self.spike.scale)
        return np.asarray(expit(logit(inclusion) + log_slab - log_spike))


@dataclass(frozen=True, eq=False)
class PriorDraws:
    """Draws from a :class:`SpikeSlab`, one a row."""

    theta: FloatArray  # (M, d)
    included: NDArray[np.bool_]  # (M, d), γ
    beta: FloatArray | None  # (M,) if it is learnt
    slab_variances: FloatArray | None  # (M,) if it is learnt


EXPECTED_FEATURES = 5.0
"""Number of features that are expected to matter when it is not given; the data correct it."""


def default_prior(features: FloatArray) -> SpikeSlab:
    """Return a prior that learns how many features matter, and how much they do.

    A feature matters with probability β ~ Beta(1, d/5 − 1), so that about five of them are expected to; the variance of
    their coefficients is inverse gamma, around where five of them move rewards as much as the noise does, whatever the
    units of the features.

    Parameters
    ----------
    features : array of shape (K, d)
        The actions, whose mean squares give the units of the features.
    """
    dimension = features.shape[1]
    few = min(EXPECTED_FEATURES, dimension / 2)
    squares = np.mean(features * features, axis=0)
    squares = np.clip(np.where(squares > 0, squares, 1.0), 1e-25, 1e25)
    slab = InverseGammaSlab(2.0, 2.0 / few, of_noise=True, relative=tuple(1.0 / squares))
    return SpikeSlab(BetaInclusion(1.0, dimension / few - 1.0), slab)
