"""A Gibbs sweep over the coordinates of θ, for every spike.

Given the others, θ_j has likelihood exp(h θ − q θ² / 2) with q = X'X_jj / σ² and h = (X'y − X'X θ_{−j})_j / σ². With a
slab N(m, V) its conditional is N(μ, v), v = 1/(q + 1/V) and μ = v(h + m/V), of weight

    prior odds · √(v/V) exp(μ²/2v − m²/2V);

a point mass has weight 1, a Gaussian spike the weight of a slab, and a Laplace spike of scale b is a mixture of two
normals cut off at zero, of weights (2b)⁻¹ ∫₀^∞ exp((±h − 1/b) θ − q θ²/2) dθ. So the conditional of each coordinate is
sampled exactly. A sweep costs O(d), and O(d) for each coordinate that changes.
"""

import math
from typing import Any

import numpy as np
from numba import njit

from sparsebandits.posteriors.inline_random import COMPILED, happens, normal, uniform

POINT_MASS, GAUSSIAN, LAPLACE = 0, 1, 2


@njit(**COMPILED)
def log_half_integral(a: float, q: float) -> float:
    """Return log ∫₀^∞ exp(aθ − qθ²/2) dθ, for q ≥ 0 (and a < 0 if q = 0), without overflow or cancellation."""
    if q == 0.0:
        return -math.log(-a)
    z = a / math.sqrt(q)
    if z > 0.0:
        return 0.5 * z * z + math.log(0.5 * math.erfc(-z / math.sqrt(2.0))) + 0.5 * math.log(2.0 * math.pi / q)
    x = -z / math.sqrt(2.0)
    if x < 20.0:
        scaled = math.exp(x * x) * math.erfc(x)
    else:  # the asymptotic series of exp(x²) erfc(x)
        y = 1.0 / (2.0 * x * x)
        scaled = (1.0 - y * (1.0 - 3.0 * y * (1.0 - 5.0 * y * (1.0 - 7.0 * y)))) / (x * math.sqrt(math.pi))
    return math.log(scaled) + 0.5 * math.log(math.pi / (2.0 * q))


@njit(**COMPILED)
def half_normal(state: Any, a: float, q: float) -> Any:
    """Return a draw with density proportional to exp(aθ − qθ²/2) on θ > 0 (Robert 1995 in the tail)."""
    if q == 0.0:
        return math.log(uniform(state)) / a
    scale = 1.0 / math.sqrt(q)
    z = a * scale
    if z > 0.0:
        while True:
            x = z + normal(state)
            if x > 0.0:
                return x * scale
    rate = 0.5 * (-z + math.sqrt(z * z + 4.0))
    while True:
        x = -math.log(uniform(state)) / rate  # beyond the cut
        if uniform(state) <= math.exp(-0.5 * (x - z - rate) ** 2):
            return x * scale


@njit(**COMPILED)
def coordinate_sweep(
    theta: Any,  # (M, d), moved in place
    included: Any,  # (M, d) bool, likewise
    precisions: Any,  # (M,) 1/σ² of each particle
    order: Any,  # (d,) coordinates in the order of their visit
    gram: Any,  # (d, d) X'X, in C order
    moment: Any,  # (d,) X'y
    slab_mean: Any,  # (d,)
    slab_variance: Any,  # (d,)
    log_odds: Any,  # (d,) prior log odds of each coordinate, ±inf where certain
    shared_log_odds: Any,  # (M,) added for all coordinates of a particle: its own β, or zero
    kind: int,  # of the spike
    spike: float,  # variance of a Gaussian spike, scale of a Laplace spike
    state: Any,
) -> None:
    """Visit each coordinate of each particle once and draw it given the others."""
    d = theta.shape[1]
    residual, slab_v, slab_sd, base = np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    spike_v, spike_base, pull = np.zeros(d), np.zeros(d), slab_mean / slab_variance
    last_precision = -1.0
    for row in range(theta.shape[0]):
        precision = precisions[row]
        if precision != last_precision:
            last_precision = precision
            for j in range(d):
                q = gram[j, j] * precision
                slab_v[j] = 1.0 / (q + 1.0 / slab_variance[j])
                slab_sd[j] = math.sqrt(slab_v[j])
                base[j] = log_odds[j] + 0.5 * (math.log(slab_v[j] / slab_variance[j]) - slab_mean[j] * pull[j])
                if kind == GAUSSIAN:
                    spike_v[j] = 1.0 / (q + 1.0 / spike)
                    spike_base[j] = 0.5 * math.log(spike_v[j] / spike)
        mine = theta[row]
        for j in range(d):
            residual[j] = moment[j]
        for i in range(d):
            if mine[i] != 0.0:
                value, column = mine[i], gram[i]
                for j in range(d):
                    residual[j] -= value * column[j]
        for position in range(d):
            j = order[position]
            old = mine[j]
            h = (residual[j] + gram[j, j] * old) * precision
            centre = slab_v[j] * (h + pull[j])
            odds = base[j] + shared_log_odds[row] + 0.5 * centre * centre / slab_v[j]
            positive = 0.0
            if kind == GAUSSIAN:
                odds -= spike_base[j] + 0.5 * spike_v[j] * h * h
            elif kind == LAPLACE:
                q = gram[j, j] * precision
                positive = log_half_integral(h - 1.0 / spike, q)
                negative = log_half_integral(-h - 1.0 / spike, q)
                larger = max(positive, negative)
                odds -= larger + math.log1p(math.exp(-abs(positive - negative))) - math.log(2.0 * spike)
                positive -= negative  # log odds of the positive side
            inside = happens(state, odds)
            included[row, j] = inside
            if inside:
                new = centre + slab_sd[j] * normal(state)
            elif kind == POINT_MASS:
                new = 0.0
            elif kind == GAUSSIAN:
                new = spike_v[j] * h + math.sqrt(spike_v[j]) * normal(state)
            elif happens(state, positive):
                new = half_normal(state, h - 1.0 / spike, gram[j, j] * precision)
            else:
                new = -half_normal(state, -h - 1.0 / spike, gram[j, j] * precision)
            if new != old:
                mine[j] = new
                change, column = new - old, gram[j]
                for i in range(d):
                    residual[i] -= change * column[i]
