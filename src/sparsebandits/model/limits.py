"""How extreme a problem may be: the one range within which posteriors over models are right.

Engines for spike-and-slab priors compare models by sums of squares, of which double precision keeps sixteen digits.
What decides between two models may be a difference of order one between such sums. So everything that enters them,
measured by the noise, has to be far below 10¹⁶:

    Σ w x_j² (V_j + m_j²) / σ²   for every feature j,   and   Σ w y² / σ²,

where N(m_j, V_j) is the slab. Both may be up to ``MOST``: one reward of 10⁷ noise standard deviations, or a slab 10⁷
times as wide as the noise. There, inclusion probabilities are right to about 10⁻³; the error falls with these sums.
Where σ² is learnt, the scale of its prior takes its place in the first sum, and the second has a bound of its own
instead, since variances end at 10⁵⁰. Where V is learnt, the scale of its prior takes its place, draws of V end where
the first sum would, and if σ² is known, rewards end at √MOST_LEARNT noise standard deviations, so that V is far from
there. The mean of a slab is at most √MOST of its standard deviations from zero, and a spike is a point mass, or at
least √LEAST_RATIO as wide as its slab.
"""

import math
from typing import Any

import numpy as np

from sparsebandits.arguments import ArgumentValueError, FloatArray, shown
from sparsebandits.model.priors import GaussianSpike, InverseGammaNoise, InverseGammaSlab, LaplaceSpike, SpikeSlab

MOST = 1e14
"""Largest sum of squares in units of the noise variance."""

MOST_LEARNT = 1e10
"""Largest sum of squares of rewards, in units of a known noise variance, where the slab variance is learnt."""

LARGEST_UNIT = 1e22
"""Largest unit of rewards where σ² is learnt, and largest root of Σ w y²; the smallest unit is its reciprocal."""

LEAST_RATIO = 1e-10
"""Smallest variance of a spike that is not a point mass, in units of the slab's; of a Laplace spike, scale²."""


def check_prior(prior: SpikeSlab, dimension: int, noise: Any) -> None:
    """Refuse a prior whose slab is too far from zero, or whose spike is too narrow, for double precision.

    A hierarchy for another number of features is refused too.

    Parameters
    ----------
    prior : SpikeSlab
        The prior.
    dimension : int
        Number of features d.
    noise : float or InverseGammaNoise
        Noise variance, or its prior.

    Raises
    ------
    ArgumentValueError
        If it is outside of the range.
    """
    if prior.hierarchy is not None and prior.hierarchy.dimension != dimension:
        expected = f"one tuple of parents for each of {dimension} features"
        raise ArgumentValueError("prior.hierarchy", expected, f"{prior.hierarchy.dimension}")
    mean, variance = slab(prior, dimension)
    absolute = variance * (_noise_variance(noise) if prior.of_noise else 1.0)
    if (mean * mean > MOST * absolute).any():
        furthest = f"at most {MOST**0.5:g} standard deviations of the slab from zero"
        raise ArgumentValueError("prior.slab_mean", furthest, shown(prior.slab_mean))
    narrow = np.inf
    if isinstance(prior.spike, GaussianSpike):
        narrow = prior.spike.variance
    elif isinstance(prior.spike, LaplaceSpike):
        narrow = prior.spike.scale**2
    if narrow < LEAST_RATIO * variance.max():
        expected = f"PointMass(), or at least {LEAST_RATIO**0.5:g} as wide as the slab"
        raise ArgumentValueError("prior.spike", expected, shown(prior.spike))


def unit_of(square: float) -> float:
    """Return the unit of rewards: a power of two, so that dividing by it rounds nothing.

    Parameters
    ----------
    square : float
        Mean square of the first rewards that differ.

    Returns
    -------
    float
        The unit.

    Raises
    ------
    ArgumentValueError
        If it is so small or large that variances in this unit would end.

    Examples
    --------
    >>> unit_of(100.0)
    8.0
    """
    if not LARGEST_UNIT**-2.0 <= square <= LARGEST_UNIT**2:
        expected = f"rewards that differ by {1 / LARGEST_UNIT:g} to {LARGEST_UNIT:g} where the noise is learnt"
        raise ArgumentValueError("y", expected, f"{square**0.5:.2g}")
    return float(2.0 ** round(0.5 * math.log2(square)))


def check_sums(
    prior: SpikeSlab, slab: tuple[FloatArray, FloatArray], noise: Any, squares: FloatArray, square: float
) -> None:
    """Refuse observations whose sums double precision cannot tell apart.

    Parameters
    ----------
    prior : SpikeSlab
        The prior.
    slab : tuple of two arrays of shape (d,)
        Its :func:`slab`.
    noise : float or InverseGammaNoise
        Noise variance σ², or its prior.
    squares : array of shape (d,)
        Σ w x_j² over all observations, the new ones included.
    square : float
        Σ w y².

    Raises
    ------
    ArgumentValueError
        If they are outside of the range.
    """
    variance = _noise_variance(noise)
    mean, spread = slab
    signal = float((squares * (spread * (variance if prior.of_noise else 1.0) + mean * mean)).max()) / variance
    if not signal <= MOST:
        expected = f"features at which the prior predicts rewards within {MOST**0.5:g} noise standard deviations"
        raise ArgumentValueError("x", expected, f"{signal**0.5:.2g}")
    if isinstance(noise, InverseGammaNoise):
        if not square <= LARGEST_UNIT**2:
            expected = f"rewards within {LARGEST_UNIT:g} where the noise is learnt (root of the sum of squares)"
            raise ArgumentValueError("y", expected, f"{square**0.5:.2g}")
        return
    most = MOST_LEARNT if isinstance(prior.slab_variance, InverseGammaSlab) else MOST
    if not square <= most * variance:
        expected = f"rewards within {most**0.5:g} noise standard deviations (root of the sum of squares)"
        raise ArgumentValueError("y", expected, f"{(square / variance) ** 0.5:.2g}")


def slab(prior: SpikeSlab, dimension: int) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of the slab, or the scale of the variance's prior where it is learnt.

    Parameters
    ----------
    prior : SpikeSlab
        The prior.
    dimension : int
        Number of features d.

    Returns
    -------
    mean, variance : array of shape (d,)
        In the units of the prior.
    """
    mean, variance = prior.slab(dimension)
    learnt = isinstance(prior.slab_variance, InverseGammaSlab)
    return mean, variance * prior.slab_variance.scale if learnt else variance


def _noise_variance(noise: Any) -> float:
    return float(noise.scale if isinstance(noise, InverseGammaNoise) else noise)
