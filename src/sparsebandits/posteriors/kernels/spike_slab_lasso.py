"""Coordinate ascent for the spike-and-slab Lasso: the formulas are in ``rivals/spike_slab_lasso.py``."""

import math

from numba import njit

from sparsebandits.arguments import FloatArray

LARGEST_ODDS = 700.0
"""Largest log odds, whose exponential is finite."""


@njit(cache=True, fastmath=False, nogil=True)
def log_spike_odds(size: float, weight: float, slab: float, spike: float) -> float:
    """Return log(1/p* − 1), the log odds of the spike against the slab at |θ_j| = ``size``, for w < 1.

    >>> log_spike_odds(1.0, weight=0.5, slab=1.0, spike=2.0) == math.log(2.0) - 1.0
    True
    """
    return math.log((1.0 - weight) / weight * (spike / slab)) - size * (spike - slab)


@njit(cache=True, fastmath=False, nogil=True)
def penalty_at(size: float, weight: float, slab: float, spike: float) -> float:
    """Return λ*(θ_j) = p* λ₁ + (1 − p*) λ₀ at |θ_j| = ``size``.

    >>> penalty_at(0.0, weight=0.5, slab=1.0, spike=1.0)
    1.0
    """
    if spike == slab or weight == 1.0:
        return slab
    odds = log_spike_odds(size, weight, slab, spike)
    return slab + (spike - slab) / (1.0 + math.exp(min(-odds, LARGEST_ODDS)))


@njit(cache=True, fastmath=False, nogil=True)
def threshold(curvature: float, noise: float, weight: float, slab: float, spike: float) -> float:
    """Return Δ, the |z_j| up to which θ_j is zero.

    Parameters
    ----------
    curvature : float
        ‖x_j‖².
    noise : float
        σ².
    weight : float
        Mixing weight w of the slab.
    slab, spike : float
        λ₁ and λ₀.

    Returns
    -------
    float
        Δ.

    Examples
    --------
    >>> threshold(10.0, noise=1.0, weight=0.5, slab=1.0, spike=1.0)  # the Lasso
    1.0
    """
    if spike == slab or weight == 1.0:
        return noise * slab
    odds = log_spike_odds(0.0, weight, slab, spike)
    surprise = max(odds, 0.0) + math.log1p(math.exp(-abs(odds)))  # log(1/p*(0))
    most = penalty_at(0.0, weight, slab, spike)
    if (most - slab) ** 2 > 2.0 * curvature / noise * surprise:  # g(0) > 0: two modes
        return math.sqrt(2.0 * curvature * noise * surprise) + noise * slab
    return noise * most


@njit(cache=True, fastmath=False, nogil=True)
def explore(
    gram: FloatArray,
    moment: FloatArray,
    noise: float,
    slab: float,
    spikes: FloatArray,
    a: float,
    b: float,
    weight: float,
    theta: FloatArray,
    fitted: FloatArray,
    tolerance: float,
    sweeps: int,
) -> float:
    """Follow the mode along increasing spike penalties, each started from the last.

    Parameters
    ----------
    gram : array of shape (d, d)
        X'X.
    moment : array of shape (d,)
        X'y.
    noise : float
        σ².
    slab : float
        λ₁.
    spikes : array of shape (L,)
        λ₀, increasing, at least λ₁.
    a, b : float
        Beta prior of the weight; a of zero leaves it as it is.
    weight : float
        Mixing weight w to start from.
    theta : array of shape (d,)
        θ to start from, which is changed.
    fitted : array of shape (d,)
        X'X θ, which is changed.
    tolerance : float
        Change of a coefficient, as a share of the largest one, at which the mode counts as found.
    sweeps : int
        Most sweeps for each λ₀.

    Returns
    -------
    float
        The weight w.
    """
    d = len(theta)
    for spike in spikes:
        for _ in range(sweeps):
            largest, moved, used = 0.0, 0.0, 0
            for j in range(d):
                curvature, old = gram[j, j], theta[j]
                z = moment[j] - fitted[j] + curvature * old
                new = 0.0
                if abs(z) > threshold(curvature, noise, weight, slab, spike):
                    size = abs(z) - noise * penalty_at(abs(old), weight, slab, spike)
                    if size > 0.0 and curvature > 0.0:
                        new = math.copysign(size / curvature, z)
                used += new != 0.0
                largest, moved = max(largest, abs(new)), max(moved, abs(new - old))
                if new != old:
                    theta[j] = new
                    for k in range(d):
                        fitted[k] += (new - old) * gram[j, k]
            before = weight
            if a > 0.0:
                weight = (a + used) / (a + b + d)
            if moved <= tolerance * largest and weight == before:
                break
    return weight
