"""Rewards that are not Gaussian: clicks and counts, whose mean is a function of α + ⟨a, θ⟩.

Generalised linear models (McCullagh and Nelder 1989).

With η = α + ⟨a, θ⟩, the log likelihood of s successes in n trials (or of a count s at exposure n) is, up to a constant,

    ℓ(η) = s a(η) − n b(η),

where a is the natural parameter of the family and b its cumulant. A likelihood depends on the data through s and n of
each distinct row of features alone (``model/counts.py``).

================  ==================  ======================  ==============
family            mean μ(η)           a(η)                    b(η)
================  ==================  ======================  ==============
Bernoulli logit   1 / (1 + e^−η)      η                       log(1 + e^η)
Bernoulli probit  Φ(η)                log Φ(η) − log Φ(−η)    −log Φ(−η)
Poisson           e^η                 η                       e^η
================  ==================  ======================  ==============
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy  # scipy.special, which is slow to import, is loaded on first use

from sparsebandits.arguments import ArgumentValueError, FloatArray, check_choice, check_flag, shown
from sparsebandits.model.forgetting import Discount, brief, check_forgetting

LINKS = ("logit", "probit")

FARTHEST = 500.0
"""Largest |η|: beyond it, e^η is on its way to overflow, and no data are needed to tell two such numbers apart."""

LARGEST_LOG = 700.0
"""Logarithm of the largest odds ratio or rate ratio, near that of the largest number."""

LARGE_COUNT = 1e8
"""Mean of counts above which they are drawn as rounded normals: SciPy's quantiles end there."""

TINY = 1e-37
"""What zero is replaced by under a logarithm, in single precision, too."""

ROOT_TWO_OVER_PI = float(np.sqrt(2.0 / np.pi))


class Linked(ABC):
    """Rewards whose mean is a function of α + ⟨a, θ⟩, and whose variance is a function of the mean.

    If there is an intercept α, its prior is a wide Gaussian, and it is never excluded.
    """

    intercept: bool
    forgetting: Discount | None

    variance: ClassVar[float] = 1.0  # of the noise: there is none beside the family's own
    known: ClassVar[bool] = True
    tails: ClassVar[None] = None
    of_mean: ClassVar[str]  # what a mean reward is called
    largest_mean: ClassVar[float]

    def __repr__(self) -> str:
        return brief(self)

    @property
    @abstractmethod
    def ratio(self) -> str | None:
        """What e^θ is called, if it has a name."""

    @property
    @abstractmethod
    def scale(self) -> str:
        """What η is called."""

    @property
    @abstractmethod
    def intercept_variance(self) -> float:
        """Variance of the prior of α, whose mean is zero."""

    @abstractmethod
    def mean(self, eta: Any) -> Any:
        """Return μ(η), in the precision of η."""

    @abstractmethod
    def parameters(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return a(η) and b(η)."""

    @abstractmethod
    def slopes(self, eta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return a'(η), b'(η) = μ(η) a'(η), and the Fisher information μ'(η) a'(η) of one trial."""

    @abstractmethod
    def potential(self, mean: Any) -> Any:
        """Return φ(μ), in the precision of μ.

        The Kullback–Leibler divergence of rewards of mean p from rewards of mean q is φ(p) − φ(q) − φ'(q)(p − q).
        """

    @abstractmethod
    def information(self, divergence: FloatArray) -> FloatArray:
        """Return the information in a reward whose mean varies, from its mean divergence from the mean of means."""

    @abstractmethod
    def variance_at(self, mean: Any) -> Any:
        """Return the variance of a reward of mean μ, which is 1 / φ''(μ)."""

    @abstractmethod
    def noise_variances(self, mean: FloatArray, variance: FloatArray) -> FloatArray:
        """Return E Var(Y | η) of a reward from mean and variance of μ(η)."""

    @abstractmethod
    def check(self, y: FloatArray) -> None:
        """Refuse rewards that this family does not have."""

    @abstractmethod
    def drawn(self, mean: float, uniform: float) -> float:
        """Return the reward that belongs to a number between 0 and 1, by inversion of its distribution."""

    def log_likelihood(self, eta: FloatArray, successes: Any, trials: Any) -> FloatArray:
        """Return s a(η) − n b(η), elementwise.

        Parameters
        ----------
        eta : array
            η.
        successes, trials : float or array
            s and n.

        Returns
        -------
        array
        """
        natural, cumulant = self.parameters(eta)
        return np.asarray(successes * natural - trials * cumulant)

    def derivatives(self, eta: FloatArray, successes: Any, trials: Any) -> tuple[FloatArray, FloatArray]:
        """Return the score ℓ'(η) and the observed information −ℓ''(η), elementwise.

        The observed information is the Fisher information of n trials where a(η) = η, and differs from it otherwise.

        Parameters
        ----------
        eta : array
            η.
        successes, trials : float or array
            s and n.

        Returns
        -------
        score, information : array
        """
        slope, cumulant, information = self.slopes(eta)
        return successes * slope - trials * cumulant, trials * information


@dataclass(frozen=True, repr=False)
class Bernoulli(Linked):
    """Rewards of 0 and 1, such as clicks: P(Y = 1) = μ(α + ⟨a, θ⟩).

    Parameters
    ----------
    link : {"logit", "probit"}, default="logit"
        Logistic or normal distribution function μ. With the logit link, coefficients are differences in log-odds.
    intercept : bool, default=False
        Whether there is an unknown intercept α. For a policy, its argument ``intercept`` decides.
    forgetting : Discount, optional
        How old rewards are discounted (``model/forgetting.py``); by default, and with an infinite half-life, they are
        not.

    Examples
    --------
    >>> Bernoulli()
    Bernoulli(link='logit', intercept=False)
    >>> Bernoulli().mean(np.array([0.0, 2.0])).round(3)
    array([0.5  , 0.881])
    """

    link: str = "logit"
    intercept: bool = False
    forgetting: Discount | None = None

    of_mean: ClassVar[str] = "probability"
    largest_mean: ClassVar[float] = 1.0

    @property
    def ratio(self) -> str | None:
        """What e^θ is called, if it has a name."""
        return "odds ratio" if self.link == "logit" else None

    def __post_init__(self) -> None:
        object.__setattr__(self, "link", check_choice("link", self.link, LINKS))
        object.__setattr__(self, "intercept", check_flag("intercept", self.intercept))
        object.__setattr__(self, "forgetting", check_forgetting(self.forgetting))

    @property
    def scale(self) -> str:
        """What η is called."""
        return "log-odds" if self.link == "logit" else "probit"

    @property
    def intercept_variance(self) -> float:
        """Variance of the prior of α. Rates from a thousandth to nearly one are within two or three deviations."""
        return 9.0 if self.link == "logit" else 3.0

    def mean(self, eta: Any) -> Any:
        """Return P(Y = 1)."""
        if self.link == "probit":
            return scipy.special.ndtr(eta)
        one = eta.dtype.type(1.0)
        return one / (one + np.exp(-np.clip(eta, -80.0, 80.0)))

    def parameters(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return a(η) and b(η)."""
        if self.link == "probit":
            outside = scipy.special.log_ndtr(-eta)
            return scipy.special.log_ndtr(eta) - outside, -outside
        return eta, np.maximum(eta, 0.0) + np.log1p(np.exp(-np.abs(eta)))

    def slopes(self, eta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return a'(η), b'(η), and the Fisher information of one trial."""
        if self.link == "probit":
            lower, upper = _mills(eta), _mills(-eta)
            return lower + upper, upper, lower * upper
        mean = self.mean(eta)
        return np.ones_like(eta), mean, mean * (1.0 - mean)

    def potential(self, mean: Any) -> Any:
        """Return μ log μ + (1 − μ) log(1 − μ)."""
        least = mean.dtype.type(TINY)
        other = 1 - mean
        return mean * np.log(np.maximum(mean, least)) + other * np.log(np.maximum(other, least))

    def information(self, divergence: FloatArray) -> FloatArray:
        """Return the divergence: a mixture of rewards of 0 and 1 is such a reward again."""
        return divergence

    def variance_at(self, mean: Any) -> Any:
        """Return p(1 − p)."""
        return mean * (1.0 - mean)

    def derivatives(self, eta: FloatArray, successes: Any, trials: Any) -> tuple[FloatArray, FloatArray]:
        """Return ℓ'(η) and −ℓ''(η), in which certain outcomes lose no digits."""
        failures = trials - successes
        if self.link == "logit":
            lower, upper = scipy.special.expit(-eta), scipy.special.expit(eta)
            return successes * lower - failures * upper, trials * lower * upper
        lower, upper = _mills(eta), _mills(-eta)
        # The second derivatives of −log Φ(±η) are between 0 and 1; far out, rounding takes them elsewhere.
        of_successes = np.clip(lower * (lower + eta), 0.0, 1.0)
        of_failures = np.clip(upper * (upper - eta), 0.0, 1.0)
        return successes * lower - failures * upper, successes * of_successes + failures * of_failures

    def noise_variances(self, mean: FloatArray, variance: FloatArray) -> FloatArray:
        """Return E[p(1 − p)], at least a millionth of what it is at E p."""
        return np.maximum(mean * (1.0 - mean) - variance, 1e-6 * mean * (1.0 - mean) + 1e-300)

    def check(self, y: FloatArray) -> None:
        """Refuse rewards other than 0 and 1."""
        wrong = y[(y != 0.0) & (y != 1.0)]
        if len(wrong):
            raise ArgumentValueError("reward", "0 or 1 for Bernoulli rewards", shown(float(wrong[0])))

    def drawn(self, mean: float, uniform: float) -> float:
        """Return 1 if ``uniform`` is below the mean, else 0."""
        return 1.0 if uniform < mean else 0.0


@dataclass(frozen=True, repr=False)
class Poisson(Linked):
    """Rewards that are counts: Y ~ Poisson(e^(α + ⟨a, θ⟩)), times its exposure if it has one.

    Parameters
    ----------
    intercept : bool, default=False
        Whether there is an unknown intercept α. For a policy, its argument ``intercept`` decides.
    forgetting : Discount, optional
        How old rewards are discounted (``model/forgetting.py``); by default, and with an infinite half-life, they are
        not.

    Examples
    --------
    >>> Poisson().mean(np.array([0.0, 2.0])).round(3)
    array([1.   , 7.389])
    """

    intercept: bool = False
    forgetting: Discount | None = None

    of_mean: ClassVar[str] = "rate"
    largest_mean: ClassVar[float] = math.inf

    @property
    def ratio(self) -> str:
        """What e^θ is called."""
        return "rate ratio"

    def __post_init__(self) -> None:
        object.__setattr__(self, "intercept", check_flag("intercept", self.intercept))
        object.__setattr__(self, "forgetting", check_forgetting(self.forgetting))

    @property
    def scale(self) -> str:
        """What η is called."""
        return "log rate"

    @property
    def intercept_variance(self) -> float:
        """Variance of the prior of α. Rates from a ten-thousandth to ten thousand are within two deviations."""
        return 25.0

    def mean(self, eta: Any) -> Any:
        """Return the rate."""
        return np.exp(np.clip(eta, -80.0, 80.0))

    def parameters(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return a(η) and b(η)."""
        return eta, np.exp(np.minimum(eta, FARTHEST))

    def slopes(self, eta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return a'(η), b'(η), and the Fisher information at exposure one."""
        rate = np.exp(np.minimum(eta, FARTHEST))
        return np.ones_like(eta), rate, rate

    def potential(self, mean: Any) -> Any:
        """Return μ log μ − μ."""
        return mean * np.log(np.maximum(mean, mean.dtype.type(TINY))) - mean

    def information(self, divergence: FloatArray) -> FloatArray:
        """Return ½ log(1 + 2D): a mixture of counts is wider than a count of its mean."""
        return 0.5 * np.log1p(2.0 * divergence)

    def variance_at(self, mean: Any) -> Any:
        """Return the mean, which is the variance of a count."""
        return mean

    def noise_variances(self, mean: FloatArray, variance: FloatArray) -> FloatArray:
        """Return the mean, which is the variance of a count."""
        return np.maximum(mean, 1e-300)

    def check(self, y: FloatArray) -> None:
        """Refuse rewards that are not whole and at least zero."""
        wrong = y[(y < 0.0) | (y != np.round(y))]
        if len(wrong):
            raise ArgumentValueError("reward", "a count (0, 1, 2, ...) for Poisson rewards", shown(float(wrong[0])))

    def drawn(self, mean: float, uniform: float) -> float:
        """Return the smallest count at which the distribution function is not below ``uniform``."""
        return _poisson_quantile(mean, uniform)


def _mills(eta: FloatArray) -> FloatArray:
    """Return φ(η) / Φ(η), the derivative of log Φ, without loss of digits for any η."""
    return np.asarray(ROOT_TWO_OVER_PI / scipy.special.erfcx(-eta / np.sqrt(2.0)))


def _poisson_quantile(mean: float, uniform: float) -> float:
    """Return the smallest k with P(Y ≤ k) ≥ ``uniform``; of large counts, that of their normal approximation."""
    if mean > LARGE_COUNT:
        return float(max(np.round(mean + math.sqrt(mean) * scipy.special.ndtri(uniform)), 0.0))
    k = float(max(np.floor(scipy.special.pdtrik(uniform, mean)), 0.0)) if 0.0 < uniform < 1.0 else 0.0
    while scipy.special.pdtr(k, mean) < uniform:
        k += 1.0
    while k > 0 and scipy.special.pdtr(k - 1.0, mean) >= uniform:
        k -= 1.0
    return k
