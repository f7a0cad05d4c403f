"""Gibbs sweeps over the coordinates of θ for a Gaussian or a Laplace spike, with over-relaxation.

Given the others, θ_j has likelihood exp(h θ − q θ² / 2) with q = X'X_jj / σ² and h = (X'y − X'X θ_{−j})_j / σ². With a
slab N(m, V) its conditional is N(μ, v), v = 1/(q + 1/V) and μ = v(h + m/V), with weight

    prior odds · √(v/V) exp(μ²/2v − m²/2V);

a Gaussian spike has the weight of a slab, and a Laplace spike of scale b is a mixture of two normals truncated at zero,
with weights (2b)⁻¹ ∫₀^∞ exp((±h − 1/b) θ − q θ²/2) dθ. So γ_j can be drawn with θ_j integrated out, and θ_j given γ_j.

Instead of a fresh draw, θ_j may make any step that leaves its law given γ_j unchanged, if γ_j has not changed. For
N(μ, v) this is the step of Adler (1981),

    θ_j ← μ + α(θ_j − μ) + √(1 − α²) √v z,   z ~ N(0, 1).

With α < 0, θ_j goes to the other side of μ, so that successive sweeps do not undo each other's work where features are
correlated. α = 0 is a fresh draw.

For a Laplace spike the integrals are expensive. They are not needed where spike and slab overlap, as seen at the
precision of the data ("wide" coordinates below): there γ_j is drawn given θ_j, and θ_j makes the step of a normal close
to its conditional, which a Metropolis test corrects. A visit then needs neither exponentials nor logarithms.

References
----------
Adler (1981), *Over-relaxation method for the Monte Carlo evaluation of the partition function for multiquadratic
actions*. Neal (1998), *Suppressing random walks in Markov chain Monte Carlo using ordered overrelaxation*.
"""

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import erfcx

from sparsebandits.posteriors.kernels.compiled import COMPILED
from sparsebandits.posteriors.kernels.inline_random import BINS, BYTE, happens_in_bin, normal, random_bits, uniform

GAUSSIAN, LAPLACE = 1, 2
SHIFT_8, SHIFT_16 = np.uint64(8), np.uint64(16)
ROOT_HALF = math.sqrt(0.5)

WIDE = 0.5
"""Smallest width of a wide Laplace spike, in standard deviations of the likelihood of θ_j.

At d = 100 and n = 300, the slowest feature has as many effective draws per sweep either way at this width; below it,
γ_j given θ_j seldom changes.
"""

CURVATURE = 0.7
"""Curvature of the normal that stands in for a wide Laplace spike near zero, in units of √q/b.

Most proposals are accepted with values between 0.7 and 1.0 (over 90% at a spike as wide as the likelihood).
"""

LOGS = np.concatenate(([-np.inf], np.log(np.arange(1, BINS + 1) / BINS)))
"""log(i / BINS): the logarithm of a uniform number lies between two of these, so most logarithms are not needed."""

PIECES, DEGREE = 64, 8


def _erfcx_table() -> NDArray[np.float64]:
    """Return coefficients of polynomials in y = 4 / (4 + x), one row for each of PIECES equal parts of (0, 1]."""
    nodes = np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1))  # Chebyshev nodes
    powers = np.linalg.inv(np.vander(nodes, increasing=True))
    y = (np.arange(PIECES)[:, np.newaxis] + 0.5 * (1.0 + nodes)) / PIECES
    return np.asarray(erfcx(4.0 / y - 4.0) @ powers.T)


ERFCX = _erfcx_table()


@njit(**COMPILED)
def scaled_erfc(x: float) -> Any:
    """Return exp(x²) erfc(x) with a relative error of about 1e-13.

    Parameters
    ----------
    x : float
        At least 0.

    Returns
    -------
    float
    """
    if x > 50.0:  # the asymptotic series
        y = 0.5 / (x * x)
        return (1.0 - y * (1.0 - 3.0 * y * (1.0 - 5.0 * y))) / (x * math.sqrt(math.pi))
    place = 4.0 * PIECES / (4.0 + x)
    piece = min(int(place), PIECES - 1)
    t = 2.0 * (place - piece) - 1.0
    value = ERFCX[piece, DEGREE]
    for power in range(DEGREE - 1, -1, -1):
        value = value * t + ERFCX[piece, power]
    return value


@njit(**COMPILED)
def positive_normal(state: Any, mean: float) -> Any:
    """Return a draw from N(mean, 1) truncated to positive numbers (Robert 1995 for a mean below zero).

    Parameters
    ----------
    state : array of one uint64
        The random state, changed in place.
    mean : float
        The mean before truncation.

    Returns
    -------
    float
    """
    if mean > 0.0:
        while True:
            x = mean + normal(state)
            if x > 0.0:
                return x
    root = math.sqrt(mean * mean + 4.0)
    rate, gap = 0.5 * (root - mean), 2.0 / (root - mean)
    while True:
        x = -math.log(uniform(state)) / rate
        if uniform(state) <= math.exp(-0.5 * (x - gap) ** 2):
            return x


@njit(inline="always", error_model="numpy")
def relaxed(state: Any, old: float, centre: float, deviation: float, alpha: float, fresh: float) -> Any:
    """Return a step of Adler from an old value, which leaves a normal law unchanged.

    Parameters
    ----------
    state : array of one uint64
        The random state, changed in place.
    old : float
        The old value.
    centre, deviation : float
        Mean and standard deviation of the normal.
    alpha, fresh : float
        α and √(1 − α²): what is kept of the distance from the mean, and what is drawn.

    Returns
    -------
    float
    """
    return alpha * old + (1.0 - alpha) * centre + fresh * deviation * normal(state)


@njit(inline="always", error_model="numpy")
def passes_in_bin(state: Any, low: Any, log_ratio: float) -> bool:
    """Return whether a Metropolis test is passed, given the whole part of BINS times a uniform number.

    Parameters
    ----------
    state : array of one uint64
        The random state, changed in place.
    low : int
        The whole part, from 0 to BINS - 1.
    log_ratio : float
        The logarithm of the probability of acceptance, or more than zero.

    Returns
    -------
    bool
    """
    if log_ratio >= LOGS[low + 1]:
        return True
    if log_ratio < LOGS[low]:
        return False
    return bool(low + uniform(state) < BINS * math.exp(log_ratio))


@njit(**COMPILED)
def laplace_weights(h: float, deviation: float, rate: float) -> Any:
    """Return ∫ exp(hθ − qθ²/2 − rate·|θ|) dθ, as a logarithm and split by the sign of θ.

    Each side is √(π/2q) exp(x²) erfc(x) with x = (rate ∓ h)/√(2q).

    Parameters
    ----------
    h : float
        Slope of the log likelihood at zero.
    deviation : float
        1/√q.
    rate : float
        1/b.

    Returns
    -------
    logarithm, positive, both : tuple of float
        The logarithm of the integral divided by √(π/2q); the part of θ > 0, and both parts, on a common scale.
    """
    x, y = (rate - h) * deviation * ROOT_HALF, (rate + h) * deviation * ROOT_HALF
    low = min(x, y)  # at most this one is negative; then both sides are scaled by exp(−low²)
    if low >= 0.0:
        positive = scaled_erfc(x)
        both = positive + scaled_erfc(y)
        return math.log(both), positive, both
    fade = math.exp(-low * low)
    near, far = 2.0 - scaled_erfc(-low) * fade, scaled_erfc(max(x, y)) * fade
    return low * low + math.log(near + far), near if x < y else far, near + far


@njit(**COMPILED)
def _subtract(residual: Any, change: float, gram: Any, j: int) -> None:
    """Subtract X'X_j times a change of θ_j from the residual."""
    for i in range(len(residual)):
        residual[i] -= change * gram[j, i]


@njit(**COMPILED)
def _begin(residual: Any, theta: Any, row: int, gram: Any, moment: Any) -> None:
    """Set the residual to X'y − X'X θ, four coefficients at a time."""
    d = len(residual)
    for j in range(d):
        residual[j] = moment[j]
    k = 0
    while k + 4 <= d:
        a, b, c, e = theta[row, k], theta[row, k + 1], theta[row, k + 2], theta[row, k + 3]
        for j in range(d):
            residual[j] -= (a * gram[k, j] + b * gram[k + 1, j]) + (c * gram[k + 2, j] + e * gram[k + 3, j])
        k += 4
    while k < d:
        _subtract(residual, theta[row, k], gram, k)
        k += 1


@njit(**COMPILED)
def continuous_sweeps(
    passed: Any,
    theta: Any,
    included: Any,
    precisions: Any,
    order: Any,
    gram: Any,
    moment: Any,
    slab_mean: Any,
    slab_variance: Any,
    slab_scales: Any,
    log_odds: Any,
    shared_log_odds: Any,
    kind: int,
    spikes: Any,
    relaxation: float,
    state: Any,
) -> None:
    """Sweep S + 1 times over the coordinates of each particle, and store θ after each sweep but the last.

    Parameters
    ----------
    passed : array of shape (M, S, d)
        Set to θ after each of the first S sweeps.
    theta : array of shape (M, d)
        Changed in place.
    included : bool array of shape (M, d)
        γ, changed in place. If ``relaxation`` is zero, its values do not matter.
    precisions : array of shape (M,)
        1/σ², one per particle.
    order : int array of shape (d,)
        The coordinates in the order of the visits.
    gram : array of shape (d, d)
        X'X, in C order.
    moment : array of shape (d,)
        X'y.
    slab_mean, slab_variance : arrays of shape (d,)
        Mean and variance of the slab of each coordinate.
    slab_scales : array of shape (M,)
        Factor on the slab variances, one per particle.
    log_odds : array of shape (d,)
        Prior log odds of the inclusion of each coordinate, ±inf where it is certain.
    shared_log_odds : array of shape (M,)
        Log odds that are added for all coordinates of a particle: those of its own β, or zero.
    kind : {GAUSSIAN, LAPLACE}
        The kind of the spike.
    spikes : array of shape (M,)
        The variance of a Gaussian spike, or the scale of a Laplace spike, one per particle.
    relaxation : float
        −α, at least 0 and below 1. At zero each coordinate is drawn independently of its old value.
    state : array of one uint64
        The random state, changed in place.
    """
    d, sweeps = theta.shape[1], passed.shape[1] + 1
    residual, diagonal = np.empty(d), np.diag(gram).copy()
    wide, base, pull, tail = np.zeros(d, np.bool_), np.empty(d), np.empty(d), np.empty(d)
    slab_v, slab_sd, spike_v, spike_sd = np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    near_v, near_sd, limit, curve = np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    alpha, fresh = -relaxation, math.sqrt(1.0 - relaxation * relaxation)
    bits = np.uint64(0)
    last_precision, last_scale, last_spike = -1.0, -1.0, -1.0
    for row in range(theta.shape[0]):
        precision, scale, spike, shared = precisions[row], slab_scales[row], spikes[row], shared_log_odds[row]
        rate = 1.0 / spike
        if precision != last_precision or scale != last_scale or spike != last_spike:
            last_precision, last_scale, last_spike = precision, scale, spike
            for j in range(d):
                q, own = diagonal[j] * precision, 1.0 / (slab_variance[j] * scale)
                root = math.sqrt(q)
                pull[j], tail[j] = slab_mean[j] * own, 0.5 * own
                slab_v[j] = 1.0 / (q + own)
                slab_sd[j] = math.sqrt(slab_v[j])
                start = log_odds[j] - 0.5 * slab_mean[j] * pull[j]
                # The slab must overlap with the likelihood too: it may be narrow, or far from zero
                wide[j] = (
                    kind == LAPLACE
                    and relaxation > 0.0
                    and root * spike >= WIDE
                    and q >= WIDE * WIDE * own
                    and abs(pull[j]) * WIDE <= root
                )
                if wide[j]:  # prior odds at θ = 0
                    spike_v[j], spike_sd[j] = 1.0 / q, 1.0 / root
                    base[j] = start + 0.5 * math.log(own * 2.0 / math.pi) + math.log(spike)
                    curve[j] = CURVATURE * root * rate
                    near_v[j] = 1.0 / (q + curve[j])
                    near_sd[j] = math.sqrt(near_v[j])
                    limit[j] = root / CURVATURE + rate  # where the two normals have the same mean
                elif kind == GAUSSIAN:
                    spike_v[j] = 1.0 / (q + rate)
                    spike_sd[j] = math.sqrt(spike_v[j])
                    base[j] = start + 0.5 * math.log(slab_v[j] * own / (spike_v[j] * rate))
                else:  # a column of zeros has q = 0; the floor is below rounding error
                    spike_v[j] = 1.0 / max(q, 1e-30 * rate * rate)
                    spike_sd[j] = math.sqrt(spike_v[j])
                    base[j] = start + 0.5 * math.log(slab_v[j] * own * 8.0 / (math.pi * spike_v[j])) + math.log(spike)
        _begin(residual, theta, row, gram, moment)
        for sweep in range(sweeps):
            for position in range(d):
                if position % 4 == 0:
                    bits = random_bits(state)  # two bytes per coordinate, which are mostly enough to decide
                bin_, test, bits = np.int64(bits & BYTE), np.int64((bits >> SHIFT_8) & BYTE), bits >> SHIFT_16
                j = order[position]
                old = theta[row, j]
                h = (residual[j] + diagonal[j] * old) * precision
                pulled = h + pull[j]
                if wide[j]:
                    size = abs(old)
                    odds = base[j] + shared + old * (pull[j] - tail[j] * old) + rate * size
                    inside = happens_in_bin(state, bin_, odds)
                    included[row, j] = inside
                    if inside:
                        new = relaxed(state, old, slab_v[j] * pulled, slab_sd[j], alpha, fresh)
                    else:
                        if abs(h) < limit[j]:
                            centre, deviation, c, side = near_v[j] * h, near_sd[j], curve[j], 0.0
                        else:  # on the side of h the conditional is this normal, and the ratio below is one
                            side = math.copysign(1.0, h)
                            centre, deviation, c = spike_v[j] * (h - side * rate), spike_sd[j], 0.0
                        new = relaxed(state, old, centre, deviation, alpha, fresh)
                        step = new - old
                        log_ratio = 0.5 * c * step * (new + old) + rate * (side * step - (abs(new) - size))
                        if not passes_in_bin(state, test, log_ratio):
                            continue
                else:
                    centre = slab_v[j] * pulled
                    odds = base[j] + shared + 0.5 * centre * pulled
                    positive, both = 0.0, 1.0
                    if kind == GAUSSIAN:
                        odds -= 0.5 * spike_v[j] * h * h
                    else:
                        logarithm, positive, both = laplace_weights(h, spike_sd[j], rate)
                        odds -= logarithm
                    inside = happens_in_bin(state, bin_, odds)
                    keep, noise = 0.0, 1.0
                    if inside == included[row, j]:
                        keep, noise = alpha, fresh
                    included[row, j] = inside
                    if inside:
                        new = relaxed(state, old, centre, slab_sd[j], keep, noise)
                    elif kind == GAUSSIAN:
                        new = relaxed(state, old, spike_v[j] * h, spike_sd[j], keep, noise)
                    elif uniform(state) * both < positive:  # independent of the old value
                        new = spike_sd[j] * positive_normal(state, (h - rate) * spike_sd[j])
                    else:
                        new = -spike_sd[j] * positive_normal(state, (-h - rate) * spike_sd[j])
                theta[row, j] = new
                _subtract(residual, new - old, gram, j)
            if sweep < sweeps - 1:
                for j in range(d):  # a slice would take Numba seconds to compile
                    passed[row, sweep, j] = theta[row, j]
