"""Prior distributions of θ and of the noise: densities, moments and draws. They hold no data and are frozen.

The spike-and-slab family of Hao, Lattimore and Deng (2021, §6.1): Mitchell and Beauchamp (1988) for the point mass,
George and McCulloch (1993) for the Gaussian spike, Ročková and George (2018) for the Laplace spike.

    γ_j ~ Bernoulli(β),   θ_j | γ_j = 1 ~ slab N(m_j, V_j),   θ_j | γ_j = 0 ~ spike around zero.
"""

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import scipy  # scipy.special, which is slow to import, is loaded on first use
from numpy.random import Generator
from numpy.typing import NDArray

from sparsebandits.arguments import (
    LARGEST,
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    check_array,
    check_flag,
    check_positive,
    check_vector,
    shown,
)
from sparsebandits.model.hierarchy import Hierarchy
from sparsebandits.model.sizes import check_size, draw_models, log_sizes


def check_per_coordinate(name: str, value: object, low: float, high: float = LARGEST) -> float | FloatArray:
    """Require one number for all coordinates, or one number per coordinate, in ``[low, high]``.

    Parameters
    ----------
    name : str
        Name of the argument, for the error.
    value : object
        The argument.
    low, high : float
        Smallest and largest number that is accepted.

    Returns
    -------
    float or array of shape (d,)
        One number, or a read-only copy of the numbers.

    Raises
    ------
    ArgumentError
        If the value is neither a number nor a vector, or out of range.
    """
    array = check_array(name, value)
    if array.ndim > 1 or array.size == 0:
        raise ArgumentValueError(name, "one number or one number per coordinate", f"shape {array.shape}")
    if not ((array >= low) & (array <= high)).all():
        raise ArgumentValueError(name, f"numbers from {low:g} to {high:g}", shown(value))
    if array.ndim == 0:
        return float(array)
    array = array.copy()
    array.flags.writeable = False
    return array


def spread(name: str, value: float | FloatArray, dimension: int) -> FloatArray:
    """Return one number per coordinate.

    Parameters
    ----------
    name : str
        Name of the prior's field, for the error.
    value : float or array of shape (d,)
        One number for all coordinates, or one number per coordinate.
    dimension : int
        Number of features d.

    Returns
    -------
    array of shape (d,)
        One number per coordinate.

    Raises
    ------
    ArgumentError
        If the prior was made for another dimension.
    """
    if isinstance(value, float):
        return np.full(dimension, value)
    return check_vector(f"prior.{name}", np.full(dimension, value) if np.ndim(value) == 0 else value, dimension)


@dataclass(frozen=True, eq=False)
class GaussianPrior:
    """Gaussian prior: θ_j ~ N(mean_j, variance_j), independent.

    The conjugate prior of the linear model (Lindley and Smith 1972).

    Parameters
    ----------
    variance : float or array of shape (d,), default=1.0
        Prior variance, one number or one number per coordinate.
    mean : float or array of shape (d,), default=0.0
        Prior mean, one number or one number per coordinate.

    Examples
    --------
    >>> GaussianPrior(variance=0.01)
    GaussianPrior(variance=0.01, mean=0.0)
    """

    variance: Any = 1.0
    mean: Any = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "variance", check_per_coordinate("variance", self.variance, 1 / LARGEST))
        object.__setattr__(self, "mean", check_per_coordinate("mean", self.mean, -LARGEST))

    def moments(self, dimension: int) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of each coordinate.

        Parameters
        ----------
        dimension : int
            Number of features d.

        Returns
        -------
        mean, variance : array of shape (d,)
            Prior mean and variance of each coordinate.
        """
        return spread("mean", self.mean, dimension), spread("variance", self.variance, dimension)


@dataclass(frozen=True)
class PointMass:
    """Spike with all its mass at zero (Mitchell and Beauchamp 1988): excluded coordinates are exactly zero."""


@dataclass(frozen=True)
class GaussianSpike:
    """Gaussian spike N(0, variance), much narrower than the slab (George and McCulloch 1993).

    Parameters
    ----------
    variance : float
        Variance of the spike.
    """

    variance: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "variance", check_positive("variance", self.variance))


@dataclass(frozen=True)
class LaplaceSpike:
    """Laplace spike with density exp(−|θ| / scale) / (2 scale), as in the paper.

    Ročková and George (2018), whose slab is a Laplace distribution too; the paper's is Gaussian.

    Parameters
    ----------
    scale : float
        Scale of the spike.
    """

    scale: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", check_positive("scale", self.scale))


Spike: TypeAlias = PointMass | GaussianSpike | LaplaceSpike


@dataclass(frozen=True)
class BetaInclusion:
    """Prior β ~ Beta(a, b) of the inclusion probability, where the share of coordinates that matter is learnt.

    Ročková and George (2014), as the paper's remark has it.

    Parameters
    ----------
    a, b : float, default=1.0
        Parameters of the Beta distribution.

    Examples
    --------
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
        """Prior mean E β."""
        return self.a / (self.a + self.b)


@dataclass(frozen=True)
class InverseGamma:
    """Inverse-gamma prior of a variance that is learnt.

    Parameters
    ----------
    shape, scale : float, default=0.5
        Parameters of the inverse-gamma distribution.
    """

    shape: float = 0.5
    scale: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", check_positive("shape", self.shape))
        object.__setattr__(self, "scale", check_positive("scale", self.scale))

    def sample(self, rng: Generator, size: int, parts: Any = 1.0) -> FloatArray:
        """Return prior draws.

        Parameters
        ----------
        rng : Generator
            Source of randomness.
        size : int
            Number of draws M.
        parts : float or array of shape (M,), default=1.0
            What the scale is divided by.

        Returns
        -------
        array of shape (M,)
            Variances.
        """
        return self.given(rng, np.zeros(size), np.zeros(size), parts)

    def given(self, rng: Generator, count: FloatArray, squares: FloatArray, parts: Any = 1.0) -> FloatArray:
        """Return draws of the variance, each given normal numbers of mean zero that have it.

        Parameters
        ----------
        rng : Generator
            Source of randomness.
        count : array of shape (M,)
            How many normal numbers each draw is given.
        squares : array of shape (M,)
            Sum of their squares, one per draw.
        parts : float or array of shape (M,), default=1.0
            What the scale is divided by.

        Returns
        -------
        array of shape (M,)
            Variances.
        """
        drawn = rng.standard_gamma(self.shape + count / 2.0)
        with np.errstate(divide="ignore", over="ignore"):  # vague priors have mass outside the range of floats
            return np.asarray(np.clip((self.scale / parts + squares / 2.0) / drawn, 1 / LARGEST, LARGEST))


@dataclass(frozen=True)
class InverseGammaNoise(InverseGamma):
    """Inverse-gamma prior of the noise variance σ², where it is learnt.

    The paper's remark has IG(ν/2, νλ/2) with ν = λ = 1 after Ročková and George (2014), which is
    ``InverseGammaNoise(0.5, 0.5)``.

    Parameters
    ----------
    shape, scale : float, default=0.5
        Parameters of the inverse-gamma distribution.
    of_rewards : bool, default=False
        Whether the scale is in units of u², where u is the size of the first rewards (of the first ones that are not
        zero, or that differ if there is an intercept). Then the prior fits rewards in any unit.
    """

    of_rewards: bool = False

    def in_unit(self, unit: float) -> "InverseGammaNoise":
        """Return the prior in a unit of rewards.

        Parameters
        ----------
        unit : float
            u; it has no effect unless ``of_rewards``.

        Returns
        -------
        InverseGammaNoise
            The prior with the scale u² times as large, within the range of a noise variance.
        """
        scale = min(max(self.scale * unit * unit, 1 / LARGEST), LARGEST)
        return InverseGammaNoise(self.shape, scale) if self.of_rewards else self


@dataclass(frozen=True)
class InverseGammaSlab(InverseGamma):
    """Inverse-gamma prior of the slab variance V, where the size of the coefficients that matter is learnt.

    All coordinates share one V, so that a few large coefficients tell how large the others may be.

    Parameters
    ----------
    shape, scale : float, default=0.5
        Parameters of the inverse-gamma distribution.
    of_noise : bool, default=False
        Whether V is in units of the noise variance. Then the slab is N(m, σ²V), as in the paper, and the prior fits
        rewards in any unit. It makes the whole :class:`SpikeSlab` one in units of the noise, its spike included.
    relative : float or tuple of float, default=1.0
        Factor r_j on V, one number or one number per coordinate. The slab of coordinate j is then N(m_j, r_j V), and
        features may be in any units too.
    of_total : bool, default=False
        Whether shape and scale are those of the total Σβ_j · V of the features that are expected to matter, so that V
        given β is IG(shape, scale / Σβ_j): the more features matter, the less does each. (Giannone, Lenza and Primiceri
        2021 tie V to β in the same way.)
    """

    of_noise: bool = False
    relative: float | tuple[float, ...] = 1.0
    of_total: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "of_noise", check_flag("of_noise", self.of_noise))
        object.__setattr__(self, "of_total", check_flag("of_total", self.of_total))
        relative = check_per_coordinate("relative", self.relative, 1 / LARGEST)
        object.__setattr__(self, "relative", relative if isinstance(relative, float) else tuple(relative.tolist()))


@dataclass(frozen=True, eq=False)
class SpikeSlab:
    """Spike-and-slab prior: each coordinate matters with probability ``inclusion``.

    Mitchell and Beauchamp (1988); the sources of the other spikes are with them.

    Parameters
    ----------
    inclusion : float, array of shape (d,) or BetaInclusion
        Probability that a coordinate is in the slab, one number or one number per coordinate (0 and 1 are allowed), or
        a prior if it is to be learnt.
    slab_variance : float, array of shape (d,) or InverseGammaSlab
        Variance of the coordinates that matter, one number or one number per coordinate, or a prior if it is to be
        learnt.
    slab_mean : float or array of shape (d,), default=0.0
        Mean of the coordinates that matter, one number or one number per coordinate.
    spike : PointMass, LaplaceSpike or GaussianSpike, default=PointMass()
        Distribution of the other coordinates.
    of_noise : bool, default=False
        Whether slab and spike are in units of the noise, as in the paper: the slab is N(m, σ²V), a Laplace spike has
        the scale σb and a Gaussian spike the variance σ²τ². ``slab_mean`` is in units of θ all the same. True if
        ``slab_variance`` is an ``InverseGammaSlab(of_noise=True)``.
    size : int or tuple of two ints, optional
        How many coordinates matter, if that is known: exactly so many, or from a smallest to a largest number. The
        prior is conditioned on it (a :class:`BetaInclusion` together with γ). It needs a point-mass spike.
    hierarchy : Hierarchy, optional
        Which coordinates are products or squares of which others, and how much less likely they are to matter without
        these. It needs a point-mass spike, and is served by :class:`Particles` and :class:`Enumeration`.

    Examples
    --------
    >>> SpikeSlab(inclusion=0.1, slab_variance=0.25)
    SpikeSlab(inclusion=0.1, slab_variance=0.25, slab_mean=0.0, spike=PointMass(), of_noise=False, size=None,
              hierarchy=None)
    >>> SpikeSlab(0.5, 1.0, size=(0, 3)).sample(np.random.default_rng(0), 4, dimension=20).included.sum(axis=1)
    array([3, 3, 2, 2])
    """

    inclusion: Any
    slab_variance: Any
    slab_mean: Any = 0.0
    spike: Spike = PointMass()
    of_noise: bool = False
    size: Any = None
    hierarchy: Hierarchy | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.inclusion, BetaInclusion):
            object.__setattr__(self, "inclusion", check_per_coordinate("inclusion", self.inclusion, 0.0, 1.0))
        if not isinstance(self.slab_variance, InverseGammaSlab):
            variance = check_per_coordinate("slab_variance", self.slab_variance, 1 / LARGEST)
            object.__setattr__(self, "slab_variance", variance)
        object.__setattr__(self, "slab_mean", check_per_coordinate("slab_mean", self.slab_mean, -LARGEST))
        if not isinstance(self.spike, Spike):
            raise ArgumentTypeError("spike", "PointMass, LaplaceSpike or GaussianSpike", shown(self.spike))
        learnt = isinstance(self.slab_variance, InverseGammaSlab) and self.slab_variance.of_noise
        object.__setattr__(self, "of_noise", check_flag("of_noise", self.of_noise) or learnt)
        if self.size is not None:
            object.__setattr__(self, "size", check_size("size", self.size))
            if not isinstance(self.spike, PointMass):
                raise ArgumentTypeError("spike", "PointMass() where a size is given", shown(self.spike))
        if self.hierarchy is not None:
            if not isinstance(self.hierarchy, Hierarchy):
                raise ArgumentTypeError("hierarchy", "a Hierarchy", shown(self.hierarchy))
            if not isinstance(self.spike, PointMass):
                raise ArgumentTypeError("spike", "PointMass() where a hierarchy is given", shown(self.spike))

    @classmethod
    def from_paper(
        cls, beta: float, lambda0: float, lambda1: float, noise_variance: float | None = None
    ) -> "SpikeSlab":
        """Return the paper's prior: spike Laplace(σλ₀), slab N(0, σ²λ₁), inclusion β.

        Parameters
        ----------
        beta : float
            Probability of the slab, β.
        lambda0 : float
            Scale of the spike in units of σ, λ₀.
        lambda1 : float
            Variance of the slab in units of σ², λ₁.
        noise_variance : float, optional
            σ². By default the prior is in units of the noise (``of_noise=True``), whether that is known or learnt.

        Returns
        -------
        SpikeSlab
            The prior.

        Examples
        --------
        >>> SpikeSlab.from_paper(beta=0.1, lambda0=0.05, lambda1=4.0)
        SpikeSlab(inclusion=0.1, slab_variance=4.0, slab_mean=0.0, spike=LaplaceSpike(scale=0.05), of_noise=True,
                  size=None, hierarchy=None)
        >>> SpikeSlab.from_paper(beta=0.1, lambda0=0.05, lambda1=4.0, noise_variance=0.25).spike
        LaplaceSpike(scale=0.025)
        """
        scale, variance = check_positive("lambda0", lambda0), check_positive("lambda1", lambda1)
        prior = cls(beta, variance, spike=LaplaceSpike(scale), of_noise=True)
        return prior if noise_variance is None else prior.given_noise(check_positive("noise_variance", noise_variance))

    def given_noise(self, noise_variance: float) -> "SpikeSlab":
        """Return the same prior in units of θ, for a known noise variance.

        Parameters
        ----------
        noise_variance : float
            σ².

        Returns
        -------
        SpikeSlab
            Prior whose ``of_noise`` is False.

        Examples
        --------
        >>> SpikeSlab(0.1, 4.0, of_noise=True).given_noise(0.25).slab_variance
        1.0
        """
        if not self.of_noise:
            return self
        slab, spike = self.slab_variance, self.spike
        if isinstance(slab, InverseGammaSlab):
            slab = replace(slab, scale=slab.scale * noise_variance, of_noise=False)
        else:
            slab = slab * noise_variance
        if isinstance(spike, LaplaceSpike):
            spike = LaplaceSpike(float(np.sqrt(noise_variance)) * spike.scale)
        elif isinstance(spike, GaussianSpike):
            spike = GaussianSpike(noise_variance * spike.variance)
        return replace(self, slab_variance=slab, spike=spike, of_noise=False)

    def slab(self, dimension: int) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the slab.

        Parameters
        ----------
        dimension : int
            Number of features d.

        Returns
        -------
        mean, variance : array of shape (d,)
            Mean and variance of each coordinate; the variance is in multiples of V where V is learnt, and in units of
            σ² where ``of_noise`` is set.
        """
        slab = self.slab_variance
        variance = np.asarray(slab.relative) if isinstance(slab, InverseGammaSlab) else slab
        return spread("slab_mean", self.slab_mean, dimension), spread("slab_variance", variance, dimension)

    def refuse_learnt_slab(self, engine: str) -> None:
        """Refuse an :class:`InverseGammaSlab`, for an engine that does not serve it.

        Parameters
        ----------
        engine : str
            Name of the engine, for the error.

        Raises
        ------
        ArgumentTypeError
            If the slab variance is to be learnt.
        """
        if isinstance(self.slab_variance, InverseGammaSlab):
            raise ArgumentTypeError("prior", f"a known slab_variance for {engine}", shown(self.slab_variance))

    def refuse_hierarchy(self, engine: str) -> None:
        """Refuse a :class:`Hierarchy`, for an engine that does not serve it.

        Parameters
        ----------
        engine : str
            Name of the engine, for the error.

        Raises
        ------
        ArgumentTypeError
            If there is one.
        """
        if self.hierarchy is not None:
            raise ArgumentTypeError("prior", f"no hierarchy for {engine}; or take Particles", shown(self.hierarchy))

    def inclusions(self, dimension: int) -> FloatArray:
        """Return the expected inclusion probability E β of each coordinate, before a size or a hierarchy counts.

        Parameters
        ----------
        dimension : int
            Number of features d.

        Returns
        -------
        array of shape (d,)
            One probability per coordinate.
        """
        value = self.inclusion.mean if isinstance(self.inclusion, BetaInclusion) else self.inclusion
        return spread("inclusion", value, dimension)

    def size_range(self, dimension: int) -> tuple[int, int]:
        """Return the smallest and the largest number of coordinates that may be included.

        Parameters
        ----------
        dimension : int
            Number of features d.

        Returns
        -------
        low, high : int
            The range of ``size``, without numbers that ``inclusion`` makes impossible.

        Raises
        ------
        ArgumentValueError
            If no number is left.

        Examples
        --------
        >>> SpikeSlab([1.0, 0.5, 0.5, 0.0], 1.0, size=(0, 2)).size_range(4)
        (1, 2)
        """
        beta = self.inclusions(dimension)
        fewest, most = int((beta == 1).sum()), int((beta > 0).sum())
        if self.size is None:
            return fewest, most
        low, high = self.size if isinstance(self.size, tuple) else (self.size, self.size)
        if low > most or high < fewest:
            possible = f"from {fewest} to {most}, which inclusion makes possible with {dimension} features"
            raise ArgumentValueError("prior.size", possible, shown(self.size))
        return max(low, fewest), min(high, most)

    def log_size_probabilities(self, dimension: int) -> FloatArray:
        """Return log P(k coordinates are included) for k = 0 … d, given that k is in the range of ``size``.

        Parameters
        ----------
        dimension : int
            Number of features d.

        Returns
        -------
        array of shape (d + 1,)
            Log probabilities, −inf for what is impossible.

        Examples
        --------
        >>> np.exp(SpikeSlab(BetaInclusion(1, 1), 1.0, size=(1, 2)).log_size_probabilities(3)).round(3)
        array([0. , 0.5, 0.5, 0. ])
        """
        logs = self.log_unconditioned_sizes(dimension)
        if self.size is None:
            return logs
        low, high = self.size_range(dimension)
        logs[:low], logs[high + 1 :] = -np.inf, -np.inf
        return np.asarray(logs - scipy.special.logsumexp(logs))

    def log_unconditioned_sizes(self, dimension: int) -> FloatArray:
        """Return log P(k coordinates are included) for k = 0 … d, without a condition on the size.

        Parameters
        ----------
        dimension : int
            Number of features d.

        Returns
        -------
        array of shape (d + 1,)
            Log probabilities, −inf for what is impossible.
        """
        if not isinstance(self.inclusion, BetaInclusion):
            return log_sizes(self.inclusions(dimension))
        k = np.arange(dimension + 1)
        log_factorials = scipy.special.gammaln(k + 1)
        ways = log_factorials[-1] - log_factorials - log_factorials[::-1]
        a, b = self.inclusion.a, self.inclusion.b
        return np.asarray(ways + scipy.special.betaln(a + k, b + dimension - k) - scipy.special.betaln(a, b))

    def sample(self, rng: Generator, size: int, dimension: int) -> "PriorDraws":
        """Return draws from the prior; with σ = 1 where ``of_noise`` is set.

        Parameters
        ----------
        rng : Generator
            Source of randomness.
        size : int
            Number of draws M.
        dimension : int
            Number of features d.

        Returns
        -------
        PriorDraws
            θ, γ and the hyperparameters that are learnt.
        """
        if self.hierarchy is not None:
            return self._accepted(rng, size, dimension, self.hierarchy)
        beta = variances = None
        probability = np.broadcast_to(self.inclusions(dimension), (size, dimension))
        if isinstance(self.inclusion, BetaInclusion):
            beta = rng.beta(self.inclusion.a, self.inclusion.b, size)
            probability = np.broadcast_to(beta[:, np.newaxis], (size, dimension))
        if self.size is None:
            included = rng.random((size, dimension)) < probability
        else:
            included, beta = self._sized_models(rng, size, dimension)
        mean, variance = self.slab(dimension)
        deviation = np.sqrt(variance)
        if isinstance(self.slab_variance, InverseGammaSlab):
            parts: Any = 1.0
            if self.slab_variance.of_total:
                expected = self.inclusions(dimension).mean() if beta is None else beta
                parts = dimension * np.maximum(expected, 1e-12)
            variances = self.slab_variance.sample(rng, size, parts)
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

    def _accepted(self, rng: Generator, size: int, dimension: int, hierarchy: Hierarchy) -> "PriorDraws":
        """Return draws with the hierarchy: those without it, accepted with probability h(γ)."""
        plain, parts, found = replace(self, hierarchy=None), [], 0
        while found < size:
            drawn = plain.sample(rng, size, dimension)
            part = drawn.take(np.log(rng.random(size)) < hierarchy.log_factors(drawn.included))
            parts.append(part)
            found += len(part.theta)
        joined: dict[str, Any] = dict.fromkeys(vars(parts[0]))
        for name in joined:
            if getattr(parts[0], name) is not None:
                joined[name] = np.concatenate([getattr(part, name) for part in parts])[:size]
        return PriorDraws(**joined)

    def _sized_models(self, rng: Generator, count: int, dimension: int) -> tuple[NDArray[np.bool_], FloatArray | None]:
        """Return draws of γ given that its size is in range, and of β given γ where it is learnt.

        Given its size, γ does not depend on β if all coordinates have the same one; and β given γ does not depend on
        the condition, which is about γ alone.
        """
        chances = np.exp(self.log_size_probabilities(dimension))
        sizes = np.minimum(
            np.searchsorted(np.cumsum(chances), rng.random(count), side="right"), chances.nonzero()[0][-1]
        )
        if not isinstance(self.inclusion, BetaInclusion):
            return draw_models(rng, sizes, self.inclusions(dimension)), None
        included = draw_models(rng, sizes, np.full(dimension, 0.5))
        return included, rng.beta(self.inclusion.a + sizes, self.inclusion.b + dimension - sizes)

    def inclusion_given(
        self, theta: FloatArray, beta: Any = None, slab_variance: Any = None, noise_variance: Any = 1.0
    ) -> FloatArray:
        """Return P(γ_j = 1 | θ_j, β, V, σ²), the paper's ν.

        Parameters
        ----------
        theta : array of shape (M, d)
            Coefficients θ, one draw per row.
        beta : array of shape (M,), optional
            Inclusion probability of each draw, where it is learnt.
        slab_variance : array of shape (M,), optional
            Factor on the slab's variance of each draw, where it is learnt.
        noise_variance : float or array of shape (M,), default=1.0
            σ², one for all draws or one per draw; it matters where ``of_noise`` is set.

        Returns
        -------
        array of shape (M, d)
            Probability that each coordinate is in the slab.
        """
        inclusion = self.inclusions(theta.shape[-1]) if beta is None else np.asarray(beta)[:, np.newaxis]
        if isinstance(self.spike, PointMass):
            return np.where(theta != 0, 1.0, np.where(inclusion == 1, 1.0, 0.0))
        mean, variance = self.slab(theta.shape[-1])
        unit = np.asarray(noise_variance, dtype=np.float64)[..., np.newaxis] if self.of_noise else np.ones(1)
        variance = variance * unit
        if slab_variance is not None:
            variance = variance * np.asarray(slab_variance)[:, np.newaxis]
        log_slab = -0.5 * (np.log(2 * np.pi * variance) + (theta - mean) ** 2 / variance)
        if isinstance(self.spike, GaussianSpike):
            narrow = self.spike.variance * unit
            log_spike = -0.5 * (np.log(2 * np.pi * narrow) + theta**2 / narrow)
        else:
            scale = self.spike.scale * np.sqrt(unit)
            log_spike = -np.abs(theta) / scale - np.log(2 * scale)
        return np.asarray(scipy.special.expit(scipy.special.logit(inclusion) + log_slab - log_spike))


@dataclass(frozen=True, eq=False)
class PriorDraws:
    """Draws from a :class:`SpikeSlab`, one per row.

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
    """

    theta: FloatArray
    included: NDArray[np.bool_]
    beta: FloatArray | None
    slab_variances: FloatArray | None

    def take(self, draws: Any) -> "PriorDraws":
        """Return some of the draws."""
        taken: dict[str, Any] = {name: None if each is None else each[draws] for name, each in vars(self).items()}
        return PriorDraws(**taken)


EXPECTED_FEATURES = 5.0
"""Number of features that are expected to matter if the user does not say; the data correct it."""

SPREAD_OF_COUNTS = 0.5
"""Variance of the logarithm of expected counts over the actions, if the user does not say."""


def default_prior(features: FloatArray, counts: bool = False, hierarchy: Hierarchy | None = None) -> SpikeSlab:
    """Return a prior that learns how many features matter, and how much they do.

    With s_j² the mean square of feature j over the actions and σ² the noise variance,

        β ~ Beta(1, d/k − 1),   k = min(5, d/4),
        θ_j | γ_j = 1 ~ N(0, σ² V / s_j²),   β d V ~ IG(1/2, 1/8):

    about k features are expected to matter, and all that matter together are expected to move rewards about as much as
    the noise does (the median of β d V is 0.55), or much more (its tail is heavy), whatever the units of the features
    and however many they are. docs/measurements.md says how these numbers were chosen.

    For clicks σ is one: effects are on the scale of the link. For counts V is known, β d V = 1/2 at the expected β:
    with a heavy tail of V the expected count would be infinite.

    Parameters
    ----------
    features : array of shape (K, d)
        The actions, whose mean squares give the units of the features; relative to their mean if there is an intercept.
    counts : bool, default=False
        Whether rewards are counts.
    hierarchy : Hierarchy, optional
        Which features are made of which others.

    Returns
    -------
    SpikeSlab
        Prior with a Beta inclusion and an inverse-gamma slab variance.
    """
    dimension = features.shape[1]
    few = min(EXPECTED_FEATURES, dimension / 4)
    squares = np.mean(features * features, axis=0)
    squares = np.clip(np.where(squares > 0, squares, 1.0), 1 / LARGEST, LARGEST)
    if counts:
        known = SPREAD_OF_COUNTS / (few * squares)
        return SpikeSlab(BetaInclusion(1.0, dimension / few - 1.0), known, hierarchy=hierarchy)
    slab = InverseGammaSlab(0.5, 0.125, of_noise=True, relative=tuple(1.0 / squares), of_total=True)
    return SpikeSlab(BetaInclusion(1.0, dimension / few - 1.0), slab, hierarchy=hierarchy)
