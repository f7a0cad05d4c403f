"""Coordinate ascent for a mean-field spike-and-slab posterior: the formulas are in ``rivals/variational_ts.py``."""

import math

from numba import njit

from sparsebandits.arguments import FloatArray, IntArray

NEWTON_STEPS, NEAR, DECREMENT = 100, 0.01, 1e-20
"""Most Newton steps for one coordinate, and the squared decrements below which they are taken in full, and stop."""

LARGEST_ODDS = 700.0
"""Largest log odds, whose exponential is finite."""

LEAST_PROBABILITY = 1e-10
"""What probabilities are clipped to in entropies."""

ROOT = math.sqrt(2.0 / math.pi)


@njit(cache=True, fastmath=False, nogil=True)
def _objective(curvature: float, pull: float, rate: float, mean: float, deviation: float) -> float:
    """Return f(μ, σ)."""
    z = mean / deviation
    absolute = mean * math.erf(z * math.sqrt(0.5)) + deviation * ROOT * math.exp(-0.5 * z * z)
    quadratic = 0.5 * curvature * (mean * mean + deviation * deviation) - pull * mean
    return quadratic + rate * absolute - math.log(deviation)


@njit(cache=True, fastmath=False, nogil=True)
def laplace_coordinate(
    curvature: float, pull: float, rate: float, mean: float, deviation: float
) -> tuple[float, float, float]:
    """Minimise f(μ, σ) for a Laplace slab, by damped Newton steps; f is convex.

    Parameters
    ----------
    curvature : float
        G_jj.
    pull : float
        g_j − Σ_{k≠j} G_jk m_k.
    rate : float
        λ.
    mean, deviation : float
        μ and σ to start from.

    Returns
    -------
    mean, deviation, value : float
        The minimiser, and the minimum.

    Examples
    --------
    >>> mean, deviation, _ = laplace_coordinate(100.0, 100.0, rate=1.0, mean=0.0, deviation=1.0)
    >>> round(mean, 3), round(deviation, 3)  # the slab shrinks a clear effect by λ / G
    (0.99, 0.1)
    """
    if curvature == 0.0:  # a column of zeros
        mean, deviation = 0.0, 1.0 / (rate * ROOT)
    value = _objective(curvature, pull, rate, mean, deviation)
    for _ in range(NEWTON_STEPS if curvature > 0.0 else 0):
        z = mean / deviation
        density = rate * ROOT * math.exp(-0.5 * z * z)
        by_mean = curvature * mean - pull + rate * math.erf(z * math.sqrt(0.5))
        by_deviation = curvature * deviation + density - 1.0 / deviation
        mean_mean = curvature + density / deviation
        mixed = -density * z / deviation
        deviation_deviation = curvature + (density * z * z + 1.0 / deviation) / deviation
        # mean_mean · deviation_deviation − mixed², in which the large terms cancel if λ is large
        determinant = curvature * deviation_deviation + density / deviation * (curvature + 1.0 / deviation / deviation)
        mean_step = (deviation_deviation * by_mean - mixed * by_deviation) / determinant
        deviation_step = (mean_mean * by_deviation - mixed * by_mean) / determinant
        decrement = by_mean * mean_step + by_deviation * deviation_step
        step = 1.0 if deviation_step < 0.9 * deviation else 0.9 * deviation / deviation_step  # σ stays positive
        after = _objective(curvature, pull, rate, mean - step * mean_step, deviation - step * deviation_step)
        while decrement >= NEAR and after > value - 0.25 * step * decrement:  # E|N| bends where it is not quadratic
            step *= 0.5
            after = _objective(curvature, pull, rate, mean - step * mean_step, deviation - step * deviation_step)
        mean, deviation, value = mean - step * mean_step, deviation - step * deviation_step, after
        if not decrement > DECREMENT:
            break
    return mean, deviation, value


@njit(cache=True, fastmath=False, nogil=True)
def gaussian_coordinate(curvature: float, pull: float, scale: float) -> tuple[float, float, float]:
    """Minimise the same for a Gaussian slab N(0, τ²).

    Parameters
    ----------
    curvature, pull : float
        As for :func:`laplace_coordinate`.
    scale : float
        τ.

    Returns
    -------
    mean, deviation, evidence : float
        The minimiser, and the log Bayes factor of the slab.
    """
    variance = 1.0 / (curvature + 1.0 / (scale * scale))
    mean = variance * pull
    return mean, math.sqrt(variance), 0.5 * (math.log(variance) + mean * pull) - math.log(scale)


@njit(cache=True, fastmath=False, nogil=True)
def entropy(probability: float) -> float:
    """Return the binary entropy of a probability, in bits.

    >>> entropy(0.5)
    1.0
    """
    p = min(max(probability, LEAST_PROBABILITY), 1.0 - LEAST_PROBABILITY)
    return -(p * math.log2(p) + (1.0 - p) * math.log2(1.0 - p))


@njit(cache=True, fastmath=False, nogil=True)
def ascend(
    gram: FloatArray,
    moment: FloatArray,
    laplace: bool,
    rate: float,
    constant: float,
    mean: FloatArray,
    deviation: FloatArray,
    inclusion: FloatArray,
    fitted: FloatArray,
    order: IntArray,
    tolerance: float,
    sweeps: int,
) -> None:
    """Improve one coordinate after another, until no entropy changes by more than a tolerance.

    Parameters
    ----------
    gram : array of shape (d, d)
        G = X'X over the noise variance.
    moment : array of shape (d,)
        g = X'y over the noise variance.
    laplace : bool
        Whether the slab is a Laplace distribution, not a Gaussian one.
    rate : float
        λ of a Laplace slab, or the standard deviation of a Gaussian one.
    constant : float
        What does not depend on the coordinate in its log odds.
    mean, deviation, inclusion : arrays of shape (d,)
        μ, σ and γ, which are changed.
    fitted : array of shape (d,)
        G γμ, which is changed.
    order : int array of shape (d,)
        Order of the coordinates within a sweep.
    tolerance : float
        Change of a binary entropy, in bits, at which it stops.
    sweeps : int
        Most sweeps.
    """
    for _ in range(sweeps):
        largest = 0.0
        for j in order:
            old, before = inclusion[j] * mean[j], entropy(inclusion[j])
            pull = moment[j] - fitted[j] + gram[j, j] * old
            if laplace:
                mean[j], deviation[j], value = laplace_coordinate(gram[j, j], pull, rate, mean[j], deviation[j])
                odds = constant - value
            else:
                mean[j], deviation[j], value = gaussian_coordinate(gram[j, j], pull, rate)
                odds = constant + value
            inclusion[j] = 1.0 / (1.0 + math.exp(min(-odds, LARGEST_ODDS)))
            largest = max(largest, abs(entropy(inclusion[j]) - before))
            change = inclusion[j] * mean[j] - old
            if change != 0.0:
                for k in range(len(fitted)):
                    fitted[k] += change * gram[j, k]
        if largest <= tolerance:
            break
