"""A Gibbs sweep over the coordinates of θ, for every spike.

Given the others, θ_j has likelihood exp(h θ − q θ² / 2) with q = X'X_jj / σ² and h = (X'y − X'X θ_{−j})_j / σ². With a
slab N(m, V) its conditional is N(μ, v), v = 1/(q + 1/V) and μ = v(h + m/V), with weight

    prior odds · √(v/V) exp(μ²/2v − m²/2V);

a point mass has weight 1, a Gaussian spike the weight of a slab, and a Laplace spike of scale b is a mixture of two
normals truncated at zero, with weights (2b)⁻¹ ∫₀^∞ exp((±h − 1/b) θ − q θ²/2) dθ. So the conditional of each coordinate
is sampled exactly. A sweep costs O(d), and O(d) for each coordinate that changes.
"""

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import erfcx

from sparsebandits.posteriors.kernels.compiled import COMPILED
from sparsebandits.posteriors.kernels.inline_random import BYTE, happens_in_bin, normal, random_bits, uniform

POINT_MASS, GAUSSIAN, LAPLACE = 0, 1, 2
SHIFT_8 = np.uint64(8)
ROOT_HALF = math.sqrt(0.5)


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


@njit(**COMPILED)
def _subtract(residual: Any, change: float, gram: Any, j: int) -> None:
    """Subtract X'X_j times a change of θ_j from the residual."""
    for i in range(len(residual)):
        residual[i] -= change * gram[j, i]


@njit(**COMPILED)
def _begin(residual: Any, theta: Any, row: int, gram: Any, moment: Any, active: Any) -> None:
    """Set the residual to X'y − X'X θ, four coefficients at a time; ``active`` is workspace for their indices."""
    d, count = len(residual), 0
    for j in range(d):  # without a branch, which could not be predicted
        active[count] = j
        count += theta[row, j] != 0.0
    for j in range(d):
        residual[j] = moment[j]
    k = 0
    while k + 4 <= count:
        p, q, r, s = active[k], active[k + 1], active[k + 2], active[k + 3]
        a, b, c, e = theta[row, p], theta[row, q], theta[row, r], theta[row, s]
        for j in range(d):
            residual[j] -= (a * gram[p, j] + b * gram[q, j]) + (c * gram[r, j] + e * gram[s, j])
        k += 4
    while k < count:
        _subtract(residual, theta[row, active[k]], gram, active[k])
        k += 1


@njit(**COMPILED)
def coordinate_sweep(
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
    state: Any,
) -> None:
    """Visit each coordinate of each particle once and draw it given the others.

    Parameters
    ----------
    theta : array of shape (M, d)
        Changed in place.
    included : bool array of shape (M, d)
        γ, changed in place.
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
    kind : {POINT_MASS, GAUSSIAN, LAPLACE}
        The kind of the spike.
    spikes : array of shape (M,)
        The variance of a Gaussian spike, or the scale of a Laplace spike, one per particle.
    state : array of one uint64
        The random state, changed in place.
    """
    d = theta.shape[1]
    residual, slab_v, slab_sd, base = np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    spike_v, spike_base, pull = np.zeros(d), np.zeros(d), np.empty(d)
    diagonal, active = np.diag(gram).copy(), np.empty(d + 1, np.int64)
    bits = np.uint64(0)
    last_precision, last_scale, last_spike = -1.0, -1.0, -1.0
    for row in range(theta.shape[0]):
        precision, scale, spike = precisions[row], slab_scales[row], spikes[row]
        if precision != last_precision or scale != last_scale or spike != last_spike:
            last_precision, last_scale, last_spike = precision, scale, spike
            for j in range(d):
                q, own = diagonal[j] * precision, 1.0 / (slab_variance[j] * scale)
                pull[j] = slab_mean[j] * own
                slab_v[j] = 1.0 / (q + own)
                slab_sd[j] = math.sqrt(slab_v[j])
                base[j] = log_odds[j] + 0.5 * (math.log(slab_v[j] * own) - slab_mean[j] * pull[j])
                if kind == GAUSSIAN:
                    spike_v[j] = 1.0 / (q + 1.0 / spike)
                    spike_base[j] = 0.5 * math.log(spike_v[j] / spike)
                elif kind == LAPLACE:  # a column of zeros has q = 0; the floor is below rounding error
                    spike_v[j] = 1.0 / max(q, 1e-30 / (spike * spike))
                    spike_base[j] = 0.5 * math.log(math.pi * spike_v[j] / 8.0) - math.log(spike)
        _begin(residual, theta, row, gram, moment, active)
        for position in range(d):
            if position % 8 == 0:
                bits = random_bits(state)  # one byte per coordinate, which is mostly enough to decide
            bin_, bits = np.int64(bits & BYTE), bits >> SHIFT_8
            j = order[position]
            old = theta[row, j]
            h = (residual[j] + diagonal[j] * old) * precision
            centre = slab_v[j] * (h + pull[j])
            odds = base[j] + shared_log_odds[row] + 0.5 * centre * (h + pull[j])
            positive, spike_sd, both = 0.0, 0.0, 1.0
            if kind == GAUSSIAN:
                odds -= spike_base[j] + 0.5 * spike_v[j] * h * h
            elif kind == LAPLACE:  # ∫₀^∞ exp(aθ − qθ²/2) dθ = √(π/2q) exp(x²) erfc(x), x = −a/√(2q), for either sign
                spike_sd = math.sqrt(spike_v[j])
                x, y = (1.0 / spike - h) * spike_sd * ROOT_HALF, (1.0 / spike + h) * spike_sd * ROOT_HALF
                low = min(x, y)  # at most this one is negative; then both sides are scaled by exp(−low²)
                if low >= 0.0:
                    positive = scaled_erfc(x)
                    both = positive + scaled_erfc(y)
                    odds -= spike_base[j] + math.log(both)
                else:
                    fade = math.exp(-low * low)
                    near, far = 2.0 - scaled_erfc(-low) * fade, scaled_erfc(max(x, y)) * fade
                    positive, both = near if x < y else far, near + far
                    odds -= spike_base[j] + low * low + math.log(both)
            inside = happens_in_bin(state, bin_, odds)
            if kind == POINT_MASS and not inside and old == 0.0:
                continue  # nothing changes, as is most often the case
            included[row, j] = inside
            if inside:
                new = centre + slab_sd[j] * normal(state)
            elif kind == POINT_MASS:
                new = 0.0
            elif kind == GAUSSIAN:
                new = spike_v[j] * h + math.sqrt(spike_v[j]) * normal(state)
            elif uniform(state) * both < positive:
                new = spike_sd * positive_normal(state, (h - 1.0 / spike) * spike_sd)
            else:
                new = -spike_sd * positive_normal(state, (-h - 1.0 / spike) * spike_sd)
            if new != old:
                theta[row, j] = new
                _subtract(residual, new - old, gram, j)


@njit(**COMPILED)
def coordinate_sweeps(
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
    state: Any,
) -> None:
    """Sweep S + 1 times, and store θ after each sweep but the last.

    Parameters
    ----------
    passed : array of shape (M, S, d)
        Set to θ after each of the first S sweeps.

    All other parameters are those of :func:`coordinate_sweep`.
    """
    for sweep in range(passed.shape[1] + 1):
        if sweep > 0:
            for row in range(theta.shape[0]):  # a slice would take Numba seconds to compile
                for j in range(theta.shape[1]):
                    passed[row, sweep - 1, j] = theta[row, j]
        coordinate_sweep(
            theta, included, precisions, order, gram, moment, slab_mean, slab_variance, slab_scales, log_odds,
            shared_log_odds, kind, spikes, state,
        )  # fmt: skip
