"""A Gibbs sweep over the coordinates of sparse draws, for a point-mass spike.

Given the others, θ_j has likelihood exp(h θ − q θ² / 2) with q = X'X_jj / σ² and h = (X'y − X'X θ_{−j})_j / σ². With a
slab N(m, V) its conditional is N(μ, v), v = 1/(q + 1/V) and μ = v(h + m/V), against the point mass with the odds

    prior odds · √(v/V) exp(μ²/2v − m²/2V).

Draws come and go as compressed rows. One of them at a time is written out, with the residual X'y − X'X θ beside it. A
sweep costs O(d), and O(d) for each coordinate that changes. (Comparing many coordinates, or many draws, in vectorised
loops was no faster: most of the time goes to coordinates that change.)

All is in the precision of ``gram``. The caller chooses units in which single precision is enough.
"""

import math
from typing import Any

import numpy as np
from numba import njit

from sparsebandits.posteriors.kernels.compiled import THREADED
from sparsebandits.posteriors.kernels.inline_random import BYTE, LOGITS, happens_in_bin, normal, random_bits
from sparsebandits.posteriors.kernels.rows import longer

SHIFT_8 = np.uint64(8)


@njit(**THREADED)
def point_mass_sweep(
    rows: Any,
    units: Any,
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
) -> Any:
    """Visit each coordinate of each draw once and draw it given the others.

    Parameters
    ----------
    rows : tuple of arrays
        M draws as compressed rows.
    units : array of shape (d,)
        Unit u_j of each coordinate, a power of two: everything below is about θ_j / u_j.
    precisions : array of shape (M,)
        1/σ², one per draw.
    order : int array of shape (d,)
        The coordinates in the order of the visits.
    gram : array of shape (d, d)
        X'X, in C order.
    moment : array of shape (d,)
        X'y, in the precision of ``gram``.
    slab_mean, slab_variance : arrays of shape (d,)
        Mean and variance of the slab of each coordinate.
    slab_scales : array of shape (M,)
        Factor on the slab variances, one per draw.
    log_odds : array of shape (d,)
        Prior log odds of the inclusion of each coordinate, ±inf where it is certain.
    shared_log_odds : array of shape (M,)
        Log odds that are added for all coordinates of a draw: those of its own β, or zero.
    state : array of one uint64
        The random state, changed in place.

    Returns
    -------
    ends, columns, values : arrays
        The draws after the sweep, one row after the other.
    """
    begins, ends, columns, values = rows
    size, d, precise = len(begins), len(moment), gram.dtype.type
    zero = precise(0.0)
    residual, begun, theta = np.empty(d, gram.dtype), np.empty(d, gram.dtype), np.zeros(d, gram.dtype)
    diagonal, deviation = np.empty(d, gram.dtype), np.empty(d, gram.dtype)
    half_v, pull, base = np.empty(d, gram.dtype), np.empty(d, gram.dtype), np.empty(d, gram.dtype)
    bits, total = np.uint64(0), 0
    found_ends, found_columns, found_values = np.empty(size, np.int64), np.empty(1, np.int32), np.empty(1)
    for m in range(size):
        total += ends[m] - begins[m]
    found_columns, found_values = longer(found_columns, found_values, 0, 5 * total // 4 + size + d)
    for j in range(d):
        diagonal[j] = gram[j, j]
    last_precision, last_scale, last_shared = -1.0, -1.0, np.nan
    total = 0
    for m in range(size):
        if total + d > len(found_columns):
            found_columns, found_values = longer(found_columns, found_values, total, 2 * len(found_columns) + d)
        if precisions[m] != last_precision or slab_scales[m] != last_scale or shared_log_odds[m] != last_shared:
            last_precision, last_scale, last_shared = precisions[m], slab_scales[m], shared_log_odds[m]
            for j in range(d):
                own = 1.0 / (slab_variance[j] * last_scale)
                q = diagonal[j] * last_precision + own
                half_v[j], deviation[j], pull[j] = 0.5 / q, 1.0 / math.sqrt(q), slab_mean[j] * own
                shrink = math.log(q / own) + slab_mean[j] * slab_mean[j] * own
                base[j] = log_odds[j] + last_shared - 0.5 * shrink
        precision = precise(last_precision)
        k, end = begins[m], ends[m]
        if m == 0 or k != begins[m - 1] or end != ends[m - 1]:  # copies of a draw begin alike
            for j in range(d):
                begun[j] = moment[j]
            while k + 4 <= end:  # four coefficients at a time
                p, q, r, s = columns[k], columns[k + 1], columns[k + 2], columns[k + 3]
                a, b = precise(values[k] / units[p]), precise(values[k + 1] / units[q])
                c, e = precise(values[k + 2] / units[r]), precise(values[k + 3] / units[s])
                of_a, of_b, of_c, of_e = gram[p], gram[q], gram[r], gram[s]
                for j in range(d):
                    begun[j] -= (a * of_a[j] + b * of_b[j]) + (c * of_c[j] + e * of_e[j])
                k += 4
            while k < end:
                a, of_a = precise(values[k] / units[columns[k]]), gram[columns[k]]
                for j in range(d):
                    begun[j] -= a * of_a[j]
                k += 1
        for j in range(d):
            residual[j] = begun[j]
        for k in range(begins[m], end):
            theta[columns[k]] = values[k] / units[columns[k]]
        for position in range(d):
            if position % 8 == 0:
                bits = random_bits(state)  # one byte per coordinate, which is mostly enough to decide
            bin_, bits = np.int64(bits & BYTE), bits >> SHIFT_8
            j = order[position]
            old = theta[j]
            h = (residual[j] + diagonal[j] * old) * precision + pull[j]
            odds = half_v[j] * h * h + base[j]
            if old == zero and odds < LOGITS[bin_]:
                continue  # nothing changes, as is most often the case
            new = zero
            if happens_in_bin(state, bin_, odds):
                new = precise((half_v[j] + half_v[j]) * h + deviation[j] * precise(normal(state)))
            if new != old:
                theta[j] = new
                change, of_j = new - old, gram[j]
                for i in range(d):
                    residual[i] -= change * of_j[i]
        for j in range(d):
            found_columns[total], found_values[total] = j, theta[j] * units[j]
            total += theta[j] != zero
            theta[j] = zero
        found_ends[m] = total
    return found_ends, found_columns[:total].copy(), found_values[:total].copy()
