"""EMVS: the posterior mode under a Gaussian spike and a Gaussian slab, by expectation maximisation.

Ročková and George (2014), *EMVS: The EM Approach to Bayesian Variable Selection*. It is a deterministic counterpart of
stochastic search (SSVS; George and McCulloch 1993): the prior is the same :class:`SpikeSlab` with a
:class:`GaussianSpike` that the engines sample from. With spike N(0, v₀), slab N(m, v₁) and weight w of the slab, it
alternates (E) and (M) until θ does not move:

    p_j = 1 / (1 + ((1 − w) N(θ_j; 0, v₀) / (w N(θ_j; m_j, v₁)))^t),   D_j = (1 − p_j)/v₀ + p_j/v₁,            (E)
    θ = (X'X + σ²D)⁻¹ (X'y + σ² p m / v₁),   w = (Σ p_j + a − 1) / (a + b + d − 2),                             (M)
    σ² = (‖y − Xθ‖² + 2·scale) / (n + 2·shape + 2),

where w ~ Beta(a, b) and σ² ~ InverseGamma(shape, scale), if they are learnt. Each step raises the log posterior of
(θ, w, σ²), with γ summed out; t = 1 / temperature below one is deterministic annealing (Ueda and Nakano 1998), whose
objective has Σ_j log(((1 − w) N₀)^t + (w N₁)^t) / t for the log prior of θ.

A prior in units of the noise (``of_noise=True``) is the conjugate form of the paper: σ²D becomes D, and the θ_j count
among the residuals of σ². The authors recommend the other one (Moran, Ročková and George 2019), since d coefficients
that are nearly zero make σ² too small.

The posterior has many modes when v₀ is small. So v₀ decreases along a ladder, each mode being the start of the next
("backward" in the authors' program; their vignette takes the last one). The first starts at p = ½, the limit of high
temperature. As in the program, w and σ² start anew on each rung: w at ½, and σ² at its mode for θ = 0. If σ² went on,
the widest spikes, which fit all noise, would make it small for good.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    check_array,
    check_count,
    check_observations,
    check_positive,
    shown,
)
from sparsebandits.model.priors import BetaInclusion, GaussianSpike, InverseGammaNoise, SpikeSlab
from sparsebandits.policies.rivals.lasso import Estimate, solve_penalised

SLAB, SPIKE, WIDEST, RUNGS = 1.0, math.exp(-10.0), math.exp(-1.0), 20
"""v₁, the last v₀, the first v₀ as a share of v₁, and the number of them: those of the vignette of the R package."""

TOLERANCE, STEPS = 1e-5, 1000
"""Changes of θ and σ², as shares of ‖θ‖ and σ², and of w, at which EM stops; most steps for each v₀."""


@dataclass(frozen=True, eq=False)
class PosteriorMode:
    """Mode of a spike-and-slab posterior.

    Attributes
    ----------
    coefficients : array of shape (d,)
        θ.
    inclusion : array of shape (d,)
        Probability of the slab given θ_j; the model that the mode selects has those above one half.
    weight : float or array of shape (d,)
        Weight w of the slab.
    noise_variance : float
        σ².
    """

    coefficients: FloatArray
    inclusion: FloatArray
    weight: float | FloatArray
    noise_variance: float


@dataclass(frozen=True)
class EMVS:
    """Posterior mode under a Gaussian spike and slab (Ročková and George 2014), as an estimator.

    Parameters
    ----------
    prior : SpikeSlab
        Prior of θ, with a Gaussian spike and a known slab variance; an inclusion that is learnt has a ≥ 1 and b ≥ 1.
    noise_variance : float or InverseGammaNoise, default=1.0
        Noise variance σ² of a reward, or its prior if it is to be learnt.
    rungs : int, default=20
        Number of spike variances, from the slab's variance / e (the smallest, if they differ) to that of the prior, in
        geometric progression.
    temperature : float, default=1.0
        Temperature of deterministic annealing; above one, inclusions are closer to one half.

    Examples
    --------
    >>> x = np.random.default_rng(0).standard_normal((60, 5))
    >>> prior = SpikeSlab(BetaInclusion(1.0, 1.0), 1.0, spike=GaussianSpike(1e-4))
    >>> mode = EMVS(prior, noise_variance=0.1).fit(x, x @ np.array([1.0, 0.0, 0.0, -1.0, 0.0]))
    >>> mode.coefficients.round(2) + 0.0
    array([ 1.,  0.,  0., -1.,  0.])
    >>> mode.inclusion.round(1)
    array([1., 0., 0., 1., 0.])
    """

    prior: SpikeSlab
    noise_variance: float | InverseGammaNoise = 1.0
    rungs: int = RUNGS
    temperature: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.prior, SpikeSlab) or not isinstance(self.prior.spike, GaussianSpike):
            raise ArgumentTypeError("prior", "a SpikeSlab with a Gaussian spike for EMVS", shown(self.prior))
        self.prior.refuse_learnt_slab("EMVS")
        inclusion, noise = self.prior.inclusion, self.noise_variance
        if isinstance(inclusion, BetaInclusion) and min(inclusion.a, inclusion.b) < 1.0:
            raise ArgumentValueError("prior", "an inclusion whose prior has a mode (a ≥ 1, b ≥ 1)", shown(inclusion))
        if not isinstance(noise, InverseGammaNoise):
            object.__setattr__(self, "noise_variance", check_positive("noise_variance", noise))
        elif noise.of_rewards:
            raise ArgumentValueError(
                "noise_variance", "a prior in the unit of rewards (of_rewards=False)", shown(noise)
            )
        check_count("rungs", self.rungs)
        check_positive("temperature", self.temperature)

    def __call__(self, x: FloatArray, y: FloatArray, start: FloatArray) -> Estimate:
        """Return the mode; it is a function of the data, whatever ``start`` is."""
        mode = self._mode(x, y)
        return Estimate(mode.coefficients, mode.coefficients, 0.0)

    def ladder(self) -> FloatArray:
        """Return the spike variances, decreasing to that of the prior; those above it alone if it is the widest."""
        assert isinstance(self.prior.spike, GaussianSpike)
        last = self.prior.spike.variance
        first = max(WIDEST * float(np.min(self.prior.slab_variance)), last)
        return np.append(np.geomspace(first, last, self.rungs)[:-1], last)

    def fit(self, x: object, y: object) -> PosteriorMode:
        """Return the mode at the end of the ladder.

        Parameters
        ----------
        x : array of shape (n, d)
            Features; there may be no rows.
        y : array of shape (n,)
            Rewards.

        Returns
        -------
        PosteriorMode
            The mode.

        Raises
        ------
        ArgumentError
            If they are not finite numbers, or their shapes do not fit.
        """
        return self._mode(*check_data(x, y))

    def _mode(self, x: FloatArray, y: FloatArray) -> PosteriorMode:
        """Return the mode for data that have been checked."""
        noise, dimension = self.noise_variance, x.shape[1]
        if isinstance(noise, InverseGammaNoise):  # at θ = 0
            noise = (float(y @ y) + 2.0 * noise.scale) / (len(y) + 2.0 * noise.shape + 2.0)
        weight = self.prior.inclusions(dimension)
        mode = PosteriorMode(np.zeros(dimension), np.full(dimension, 0.5), weight, noise)
        gram, moment = x.T @ x if len(y) >= dimension else None, x.T @ y
        for rung, variance in enumerate(self.ladder()):
            prior = replace(self.prior, spike=GaussianSpike(variance))
            if isinstance(prior.inclusion, BetaInclusion):
                weight = np.full(1, 0.5)
            mode = PosteriorMode(mode.coefficients, mode.inclusion, weight, noise)
            for step in range(STEPS):
                if rung or step:
                    mode = expectation(prior, mode, self.temperature)
                after = maximisation(prior, self.noise_variance, mode, x, y, gram, moment)
                settled, mode = _is_settled(mode, after), after
                if settled and step:
                    break
        mode = expectation(prior, mode, self.temperature)
        final = mode.weight if np.ndim(self.prior.inclusion) else float(np.max(mode.weight))
        return replace(mode, weight=final)


def check_data(x: object, y: object) -> tuple[FloatArray, FloatArray]:
    """Require the data of a regression, which may have no rows.

    Parameters
    ----------
    x : array of shape (n, d)
        Features.
    y : array of shape (n,)
        Rewards.

    Returns
    -------
    x : array of shape (n, d)
    y : array of shape (n,)

    Raises
    ------
    ArgumentError
        If they are not finite numbers, or their shapes do not fit.
    """
    features = check_array("x", x, ndim=2)
    if features.shape[1] == 0:
        raise ArgumentValueError("x", "at least one column", f"shape {features.shape}")
    return check_observations(features, y, features.shape[1])


def expectation(prior: SpikeSlab, mode: PosteriorMode, temperature: float) -> PosteriorMode:
    """Take the E step: return the same mode with its inclusion probabilities.

    Parameters
    ----------
    prior : SpikeSlab
        Prior of θ.
    mode : PosteriorMode
        θ, w and σ².
    temperature : float
        1 / t.

    Returns
    -------
    PosteriorMode
        With p for the inclusion.
    """
    weight = np.atleast_1d(mode.weight)
    learnt = weight if isinstance(prior.inclusion, BetaInclusion) else None
    inclusion = prior.inclusion_given(
        mode.coefficients[np.newaxis], beta=learnt, noise_variance=np.array([mode.noise_variance])
    )[0]
    if temperature != 1.0:
        from scipy.special import expit, logit

        inclusion = expit(logit(inclusion) / temperature)
    return replace(mode, inclusion=inclusion)


def maximisation(
    prior: SpikeSlab,
    noise: float | InverseGammaNoise,
    mode: PosteriorMode,
    x: FloatArray,
    y: FloatArray,
    gram: FloatArray | None,
    moment: FloatArray,
) -> PosteriorMode:
    """Take the M step: return the best θ given p and σ², then the best σ² and w given θ and p.

    Parameters
    ----------
    prior : SpikeSlab
        Prior of θ.
    noise : float or InverseGammaNoise
        σ² or its prior.
    mode : PosteriorMode
        p and σ².
    x : array of shape (n, d)
        Features.
    y : array of shape (n,)
        Rewards.
    gram : array of shape (d, d), optional
        X'X; without it, a system of n equations is solved.
    moment : array of shape (d,)
        X'y.

    Returns
    -------
    PosteriorMode
        θ, w and σ².
    """
    assert isinstance(prior.spike, GaussianSpike)
    count, dimension = x.shape
    mean, slab = prior.slab(dimension)
    inside, outside = mode.inclusion / slab, (1.0 - mode.inclusion) / prior.spike.variance
    unit = 1.0 if prior.of_noise else mode.noise_variance
    root = 1.0 / np.sqrt(unit * (inside + outside))  # of the prior's variance over σ²
    pull = unit * inside * mean
    if gram is None:  # W(X'u + q) with u = (I + XWX')⁻¹(y − XWq)
        scaled = x * root
        solved = _solve(scaled @ scaled.T, y - scaled @ (root * pull))
        theta = root * (scaled.T @ solved + root * pull)
    else:
        theta = root * _solve(root[:, np.newaxis] * gram * root, root * (moment + pull))
    weight, variance = mode.weight, mode.noise_variance
    if isinstance(prior.inclusion, BetaInclusion):
        a, b = prior.inclusion.a, prior.inclusion.b
        weight = np.full(1, (float(mode.inclusion.sum()) + a - 1.0) / (a + b + dimension - 2.0))
    if isinstance(noise, InverseGammaNoise):
        squares, terms = float(np.square(y - x @ theta).sum()), count
        if prior.of_noise:
            squares += float((inside * (theta - mean) ** 2 + outside * theta**2).sum())
            terms += dimension
        variance = (squares + 2.0 * noise.scale) / (terms + 2.0 * noise.shape + 2.0)
    return PosteriorMode(theta, mode.inclusion, weight, variance)


def _is_settled(before: PosteriorMode, after: PosteriorMode) -> bool:
    """Return whether a step has changed little."""
    moved = float(np.linalg.norm(after.coefficients - before.coefficients))
    return (
        moved <= TOLERANCE * float(np.linalg.norm(after.coefficients))
        and float(np.max(np.abs(after.weight - before.weight))) <= TOLERANCE
        and abs(after.noise_variance - before.noise_variance) <= TOLERANCE * after.noise_variance
    )


def _solve(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """Return (I + M)⁻¹r, also where I is below the rounding errors of M."""
    try:
        return np.asarray(np.linalg.solve(matrix + np.eye(len(matrix)), right))
    except np.linalg.LinAlgError:
        return solve_penalised(matrix, 1.0, right[:, np.newaxis])[:, 0]
