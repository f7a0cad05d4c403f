"""A Gibbs sweep over γ with θ integrated out, then θ in one block, for Gaussian spikes.

Given γ, every coordinate is Gaussian: N(m_j, V_j) in the slab, N(0, W_j) in the spike. So θ has posterior N(μ, C) with
C⁻¹ = X'X/σ² + D⁻¹. Dividing the marginal of θ_j by its own prior leaves the likelihood of θ_j with all other
coordinates integrated out, exp(hθ − λθ²/2) with λ = 1/C_jj − 1/D_j and h = μ_j/C_jj − m_j/D_j; from that γ_j is drawn
as in ``coordinate.py``. A flip changes one diagonal entry of the precision, hence C by a matrix of rank one.

A Laplace spike is a mixture of Gaussian ones, W ~ Exp(1/(2 b²)) (Park and Casella 2008), so it is covered too, given W.
A sweep costs O(d³), much more than one over coordinates, but it does not get stuck where the data tie coordinates
together.
"""

import math
from typing import Any

import numpy as np
from numba import njit

from sparsebandits.posteriors.kernels.compiled import COMPILED
from sparsebandits.posteriors.kernels.inline_random import happens, normal


@njit(**COMPILED)
def blocked_sweep(
    theta: Any,
    included: Any,
    spike_variances: Any,
    precisions: Any,
    order: Any,
    gram: Any,
    moment: Any,
    slab_mean: Any,
    slab_variance: Any,
    slab_scales: Any,
    log_odds: Any,
    shared_log_odds: Any,
    state: Any,
) -> None:
    """Draw γ_j given the other γ for each j, then θ given γ, for each member.

    Parameters
    ----------
    theta : array of shape (M, d)
        Overwritten.
    included : bool array of shape (M, d)
        γ, changed in place.
    spike_variances : array of shape (M, d)
        The variances W of the spikes.
    precisions : array of shape (M,)
        1/σ², one per member.
    order : int array of shape (d,)
        The coordinates in the order of the visits.
    gram : array of shape (d, d)
        X'X.
    moment : array of shape (d,)
        X'y.
    slab_mean, slab_variance : arrays of shape (d,)
        Mean and variance of the slab of each coordinate.
    slab_scales : array of shape (M,)
        Factor on the slab variances, one per member.
    log_odds : array of shape (d,)
        Prior log odds of the inclusion of each coordinate, ±inf where it is certain.
    shared_log_odds : array of shape (M,)
        Log odds that are added for all coordinates of a member.
    state : array of one uint64
        The random state, changed in place.
    """
    d = theta.shape[1]
    noise = np.empty(d)
    for row in range(theta.shape[0]):
        precision, scale = precisions[row], slab_scales[row]
        matrix, shift = np.empty((d, d)), np.empty(d)
        for j in range(d):
            for i in range(d):
                matrix[i, j] = gram[i, j] * precision
            slab = included[row, j]
            matrix[j, j] += 1.0 / (slab_variance[j] * scale if slab else spike_variances[row, j])
            shift[j] = moment[j] * precision + (slab_mean[j] / (slab_variance[j] * scale) if slab else 0.0)
        covariance = np.linalg.inv(matrix)
        mean = covariance @ shift
        for position in range(d):
            j = order[position]
            v, w, m = slab_variance[j] * scale, spike_variances[row, j], slab_mean[j]
            own, pull = (1.0 / v, m / v) if included[row, j] else (1.0 / w, 0.0)
            spread = covariance[j, j]
            q = max(1.0 / spread - own, 0.0)
            h = mean[j] / spread - pull
            v1, v0 = 1.0 / (q + 1.0 / v), 1.0 / (q + 1.0 / w)
            centre = v1 * (h + m / v)
            odds = log_odds[j] + shared_log_odds[row]
            odds += 0.5 * (math.log(v1 / v) + centre * centre / v1 - m * m / v - math.log(v0 / w) - v0 * h * h)
            inside = happens(state, odds)
            if inside == included[row, j]:
                continue
            included[row, j] = inside
            change = (1.0 / v if inside else 1.0 / w) - own
            lift = (m / v if inside else 0.0) - pull
            factor = 1.0 / (1.0 + change * spread)
            step = (lift - change * mean[j]) * factor
            column = covariance[:, j].copy()
            for i in range(d):
                mean[i] += column[i] * step
                scaled = column[i] * change * factor
                for k in range(d):
                    covariance[i, k] -= scaled * column[k]
        for j in range(d):  # computed anew, without the rounding errors of the updates
            slab = included[row, j]
            for i in range(d):
                matrix[i, j] = gram[i, j] * precision
            matrix[j, j] += 1.0 / (slab_variance[j] * scale if slab else spike_variances[row, j])
            shift[j] = moment[j] * precision + (slab_mean[j] / (slab_variance[j] * scale) if slab else 0.0)
            noise[j] = normal(state)
        lower = np.linalg.cholesky(matrix)
        # θ = P⁻¹b + L⁻ᵀz, both terms by substitution
        for i in range(d):
            total = shift[i]
            for k in range(i):
                total -= lower[i, k] * shift[k]
            shift[i] = total / lower[i, i]
        for i in range(d - 1, -1, -1):
            total = shift[i] + noise[i]
            for k in range(i + 1, d):
                total -= lower[k, i] * theta[row, k]
            theta[row, i] = total / lower[i, i]
