"""A Gibbs sweep over models with θ integrated out, for point-mass spikes.

Given the other coordinates of the model γ, coordinate j is included with odds (Mitchell and Beauchamp 1988; George and
McCulloch 1997)

    prior odds · N(0; m_j, V_j) / N(0; r/s, 1/s),

where N(r/s, 1/s) is the posterior of θ_j if it is included. These odds depend on the model alone, so particles that
share a model share the work: a group of n particles visits each coordinate together, a binomial number of them flips,
and those continue as a group of their own. Each particle has the same distribution as in a sweep of its own. Where
columns are correlated, one coordinate cannot leave the model before the other has joined it; so coordinates are also
swapped in pairs (a Metropolis step). Afterwards θ is drawn given the model.

If the number of coordinates is restricted, few flips or none are possible. Then a coordinate of the model, chosen at
random, is also exchanged for any coordinate outside or stays, with the probabilities of the models that this gives: a
Gibbs step given the rest of the model, and reversible, since each of its coordinates is as likely to be chosen.

Symbols: P = X'X/σ² + D⁻¹ on the model's coordinates, b = X'y/σ² + D⁻¹m, C = P⁻¹, μ = Cb; g_j is the column of X'X/σ²
that belongs to j, restricted to the model. For every j outside, s_j = X'X_jj/σ² + 1/V_j − g_j'Cg_j and
r_j = b_j − g_j'μ are kept up to date, so a visit costs O(1) and a flip O(k d) for a model of k coordinates.
"""

import math
from typing import Any

import numpy as np
from numba import njit

from sparsebandits.posteriors.kernels.compiled import COMPILED, THREADED
from sparsebandits.posteriors.kernels.inline_random import binomial, happens, normal, uniform
from sparsebandits.posteriors.kernels.rows import longer


@njit(**COMPILED)
def _how_many(state: Any, n: int, log_odds: float) -> Any:
    """Return for how many of n particles an event with these log odds happens."""
    if n == 1:
        return 1 if happens(state, log_odds) else 0
    return binomial(state, n, 1.0 / (1.0 + math.exp(-log_odds)) if log_odds > -700.0 else 0.0)


@njit(**COMPILED)
def _factor(active: Any, k: int, gram: Any, b: Any, own: Any, precision: float, lower: Any, mean: Any) -> None:
    """Fill ``lower`` with the Cholesky factor of P and ``mean`` with μ."""
    for i in range(k):
        for j in range(i + 1):
            total = gram[active[i], active[j]] * precision
            if i == j:
                total += own[active[i]]
            for m in range(j):
                total -= lower[i, m] * lower[j, m]
            if i == j:
                lower[i, i] = math.sqrt(max(total, own[active[i]]))  # P ≥ D⁻¹: anything below is a rounding error
            else:
                lower[i, j] = total / lower[j, j]
    for i in range(k):
        total = b[active[i]]
        for m in range(i):
            total -= lower[i, m] * mean[m]
        mean[i] = total / lower[i, i]
    for i in range(k - 1, -1, -1):
        total = mean[i]
        for m in range(i + 1, k):
            total -= lower[m, i] * mean[m]
        mean[i] = total / lower[i, i]


@njit(**COMPILED)
def _prepare(
    active: Any,
    k: int,
    gram: Any,
    b: Any,
    own: Any,
    precision: float,
    lower: Any,
    mean: Any,
    work: Any,
    covariance: Any,
    r: Any,
    s: Any,
) -> None:
    """Compute C from the factor, and r and s of every coordinate (they have no meaning inside the model)."""
    d = len(b)
    for j in range(k):  # the inverse of L, in ``work``
        work[j, j] = 1.0 / lower[j, j]
        for i in range(j + 1, k):
            total = 0.0
            for m in range(j, i):
                total -= lower[i, m] * work[m, j]
            work[i, j] = total / lower[i, i]
    for i in range(k):
        for j in range(i + 1):
            total = 0.0
            for m in range(i, k):
                total += work[m, i] * work[m, j]
            covariance[i, j] = covariance[j, i] = total
    for j in range(d):
        s[j] = gram[j, j] * precision + own[j]
        r[j] = b[j]
    for i in range(k):  # rows of L⁻¹ G, one after the other
        for j in range(d):
            work[k, j] = 0.0
        for m in range(i + 1):
            factor, a = work[i, m] * precision, active[m]
            for j in range(d):
                work[k, j] += factor * gram[a, j]
        scaled, a = mean[i] * precision, active[i]
        for j in range(d):
            s[j] -= work[k, j] * work[k, j]
            r[j] -= scaled * gram[a, j]
    for j in range(d):
        s[j] = max(s[j], own[j])  # anything below is a rounding error


@njit(**COMPILED)
def _join(
    j: int,
    k: int,
    gram: Any,
    own: Any,
    precision: float,
    active: Any,
    place: Any,
    covariance: Any,
    mean: Any,
    r: Any,
    s: Any,
    weights: Any,
    t: Any,
) -> None:
    """Add j to the model."""
    d = len(r)
    variance = 1.0 / s[j]
    centre = r[j] * variance
    for m in range(d):
        t[m] = -precision * gram[j, m]
    for i in range(k):  # weights = C g
        total = 0.0
        for m in range(k):
            total += covariance[i, m] * gram[j, active[m]]
        weights[i] = total * precision
    for i in range(k):
        factor, a = weights[i] * precision, active[i]
        for m in range(d):
            t[m] += factor * gram[a, m]
        mean[i] -= weights[i] * centre
        for m in range(k):
            covariance[i, m] += weights[i] * weights[m] * variance
        covariance[i, k] = covariance[k, i] = -weights[i] * variance
    for m in range(d):
        s[m] = max(s[m] - t[m] * t[m] * variance, own[m])
        r[m] += t[m] * centre
    covariance[k, k], mean[k], active[k], place[j] = variance, centre, j, k


@njit(**COMPILED)
def _leave(
    p: int,
    k: int,
    gram: Any,
    precision: float,
    active: Any,
    place: Any,
    covariance: Any,
    mean: Any,
    r: Any,
    s: Any,
    weights: Any,
    t: Any,
) -> None:
    """Remove the coordinate at position p: condition on its θ being zero, and close the gap with the last one."""
    d = len(r)
    j, last, schur = active[p], k - 1, 1.0 / covariance[p, p]
    rest = mean[p] * schur
    for m in range(d):
        t[m] = 0.0
    for i in range(k):
        weights[i] = covariance[i, p]
        factor, a = weights[i] * precision, active[i]
        for m in range(d):
            t[m] += factor * gram[a, m]
    for m in range(d):
        s[m] += t[m] * t[m] * schur
        r[m] += t[m] * rest
    s[j], r[j] = schur, rest
    for i in range(k):
        mean[i] -= weights[i] * rest
        for m in range(k):
            covariance[i, m] -= weights[i] * weights[m] * schur
    place[j] = -1
    if p != last:
        active[p], mean[p] = active[last], mean[last]
        place[active[p]] = p
        for i in range(k):
            covariance[i, p] = covariance[i, last]
        for i in range(k):
            covariance[p, i] = covariance[last, i]


@njit(**COMPILED)
def _push(stack: Any, depth: int, n: int, start: int, k: int, active: Any, gone: int, come: int) -> Any:
    """Push n particles whose model lacks position ``gone`` and has ``come`` instead (−1: neither); return the stack.

    A row of the stack holds the size of the model, the number of particles, the position to start from, and the
    coordinates of the model.
    """
    if depth == len(stack):
        taller = np.empty((2 * depth, stack.shape[1]), np.int64)
        for i in range(depth):  # a slice would take Numba seconds to compile
            for j in range(stack.shape[1]):
                taller[i, j] = stack[i, j]
        stack = taller
    top = stack[depth]
    for i in range(k):
        top[3 + i] = active[i]
    if gone >= 0:
        top[3 + gone] = active[k - 1]
        k -= 1
    if come >= 0:
        top[3 + k] = come
        k += 1
    top[0], top[1], top[2] = k, n, start
    return stack


@njit(**COMPILED)
def _replacements(
    p: int,
    k: int,
    gram: Any,
    precision: float,
    active: Any,
    place: Any,
    covariance: Any,
    mean: Any,
    r: Any,
    s: Any,
    base: Any,
    half_log_own: Any,
    t: Any,
) -> Any:
    """Fill ``t`` with the running sums of the weights of each coordinate in the place of position p; return their sum.

    The weight of a coordinate is the probability, up to a factor, of the model that has it instead of ``active[p]``;
    ``active[p]`` itself is among them, and the other coordinates of the model have the weight zero.
    """
    d, out, variance = len(r), active[p], covariance[p, p]
    for j in range(d):
        t[j] = 0.0
    for m in range(k):
        factor, a = covariance[m, p] * precision, active[m]
        for j in range(d):
            t[j] += factor * gram[a, j]
    top = -np.inf
    for j in range(d):
        if j == out:
            t[j] = base[j] + half_log_own[j] + 0.5 * (mean[p] * mean[p] / variance + math.log(variance))
        elif place[j] >= 0:
            t[j] = -np.inf
        else:  # s and r without p, as in a swap
            schur = s[j] + t[j] * t[j] / variance
            rest = r[j] + t[j] * mean[p] / variance
            t[j] = base[j] + half_log_own[j] + 0.5 * (rest * rest / schur - math.log(schur))
        top = max(top, t[j])
    total = 0.0
    for j in range(d):
        total += math.exp(t[j] - top)
        t[j] = total
    return total


@njit(**COMPILED)
def _first_above(sums: Any, value: float) -> Any:
    """Return the first index whose running sum is above a value, by bisection; the length if there is none."""
    low, high = 0, len(sums)
    while low < high:
        middle = (low + high) // 2
        if sums[middle] > value:
            high = middle
        else:
            low = middle + 1
    return low


@njit(**THREADED)
def collapsed_sweep(
    models: Any,
    counts: Any,
    dimension: int,
    precisions: Any,
    order: Any,
    visits: bool,
    swaps: int,
    exchange: bool,
    neighbours: Any,
    gram: Any,
    moment: Any,
    slab_mean: Any,
    slab_variance: Any,
    slab_scales: Any,
    log_odds: Any,
    size_log_odds: Any,
    shared_log_odds: Any,
    state: Any,
) -> Any:
    """Sweep once over all coordinates of every particle, swap coordinates, then draw θ given the model.

    Parameters
    ----------
    models : tuple of arrays
        The distinct models, as begins, ends and columns of compressed rows.
    counts : int array of shape (U,)
        The number of particles of each model.
    dimension : int
        Number of coordinates d.
    precisions : array of shape (U,)
        1/σ², one per model.
    order : int array of shape (d,)
        The coordinates in the order of the visits.
    visits : bool
        Whether coordinates are visited; otherwise they are only swapped and exchanged.
    swaps : int
        Number of attempts to swap one coordinate for a correlated one, after the visits.
    exchange : bool
        Whether coordinates are also exchanged for any others, as often as the model has coordinates.
    neighbours : int array of shape (d, ·)
        What :func:`correlated_neighbours` returns.
    gram : array of shape (d, d)
        X'X, in C order.
    moment : array of shape (d,)
        X'y.
    slab_mean, slab_variance : arrays of shape (d,)
        Mean and variance of the slab of each coordinate.
    slab_scales : array of shape (U,)
        Factor on the slab variances, one per model.
    log_odds : array of shape (d,)
        Prior log odds of the inclusion of each coordinate, ±inf where it is certain.
    size_log_odds : array of shape (d,)
        Log odds that are added for a coordinate, by the number of other coordinates in the model; ±inf where only one
        of the two sizes is allowed.
    shared_log_odds : array of shape (U,)
        Log odds that are added for all coordinates of a model: those of a β of its own, or zero.
    state : array of one uint64
        The random state, changed in place.

    Returns
    -------
    ends, columns, values : arrays
        The particles after the sweep as compressed rows, one after the other: those of the first model, and so on.
    """
    begins, model_ends, model_columns = models
    d, widest, size = dimension, 0, 0
    for u in range(len(begins)):
        widest, size = max(widest, model_ends[u] - begins[u]), size + counts[u]
    own, base, half_log_own = np.empty(d), np.empty(d), np.empty(d)
    last_scale = -1.0
    degree = np.zeros(d, np.int64)
    for j in range(d):
        while degree[j] < neighbours.shape[1] and neighbours[j, degree[j]] >= 0:
            degree[j] += 1
    room = min(d, 2 * widest + 16)  # coordinates that a model may have, before the arrays grow
    lower, work, covariance = np.empty((room, room)), np.empty((room + 1, d)), np.empty((room, room))
    mean, weights, t, b, r, s = np.empty(d), np.empty(d), np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    active, place = np.empty(d, np.int64), np.full(d, -1)
    stack = np.empty((16, 3 + d), np.int64)  # groups of particles that are still to be swept
    chosen = np.zeros((room, neighbours.shape[1]), np.int64)
    leaving, coming, rank = np.zeros(d, np.int64), np.zeros(d, np.int64), np.zeros(d, np.int64)
    ends, columns, values = np.empty(size, np.int64), np.empty(size + d, np.int32), np.empty(size + d)
    row, total = 0, 0
    for u in range(len(begins)):
        precision, scale = precisions[u], slab_scales[u]
        if scale != last_scale:
            last_scale = scale
            for j in range(d):
                own[j] = 1.0 / (slab_variance[j] * scale)
                base[j] = log_odds[j] - 0.5 * slab_mean[j] * slab_mean[j] * own[j]
                half_log_own[j] = 0.5 * math.log(own[j])
        for j in range(d):
            b[j] = moment[j] * precision + slab_mean[j] * own[j]
        k = model_ends[u] - begins[u]
        for i in range(k):
            active[i] = model_columns[begins[u] + i]
        stack = _push(stack, 0, counts[u], 0 if visits else d, k, active, -1, -1)
        depth = 1
        while depth > 0:
            depth -= 1
            k, n, start = stack[depth, 0], stack[depth, 1], stack[depth, 2]
            for i in range(k):
                active[i] = stack[depth, 3 + i]
                place[active[i]] = i
            if k + 1 >= room:
                room = min(d, 2 * k + 2)
                lower, work, covariance = np.empty((room, room)), np.empty((room + 1, d)), np.empty((room, room))
                chosen = np.zeros((room, neighbours.shape[1]), np.int64)
            _factor(active, k, gram, b, own, precision, lower, mean)
            _prepare(active, k, gram, b, own, precision, lower, mean, work, covariance, r, s)
            changed = False
            for position in range(start, d):  # include or exclude j
                j = order[position]
                p = place[j]
                if p >= 0:
                    fit, schur, others = mean[p] * mean[p] / covariance[p, p], 1.0 / covariance[p, p], k - 1
                else:
                    fit, schur, others = r[j] * r[j] / s[j], s[j], k
                odds = (
                    base[j]
                    + shared_log_odds[u]
                    + size_log_odds[others]
                    + 0.5 * (fit - math.log(schur))
                    + half_log_own[j]
                )
                included = _how_many(state, n, odds)
                flips = n - included if p >= 0 else included
                if 0 < flips < n:  # the particles that flip wait, the others continue
                    stack = _push(stack, depth, flips, position + 1, k, active, p, j if p < 0 else -1)
                    depth += 1
                    n -= flips
                elif flips == n and p >= 0:
                    _leave(p, k, gram, precision, active, place, covariance, mean, r, s, weights, t)
                    k -= 1
                    changed = True
                elif flips == n and k == room:  # the arrays are too small: begin anew from here with larger ones
                    stack = _push(stack, depth, n, position + 1, k, active, -1, j)
                    depth += 1
                    n = 0
                    break
                elif flips == n:
                    _join(j, k, gram, own, precision, active, place, covariance, mean, r, s, weights, t)
                    k += 1
                    changed = True
            for attempt in range(max(start - d, 0), swaps):  # swap a coordinate for a correlated one
                if k == 0 or n == 0:
                    break
                for _ in range(n):  # each particle makes a proposal of its own
                    p = min(int(uniform(state) * k), k - 1)
                    if degree[active[p]] > 0:
                        chosen[p, min(int(uniform(state) * degree[active[p]]), degree[active[p]] - 1)] += 1
                for p in range(k):
                    out = active[p]
                    for i in range(degree[out]):
                        proposed, j = chosen[p, i], neighbours[out, i]
                        chosen[p, i] = 0
                        if proposed == 0 or place[j] >= 0:
                            continue
                        # Without p, C' = C − cc'/v and μ' = μ − c μ_p/v, where c is the column of p and v its variance.
                        variance, along = covariance[p, p], 0.0
                        for m in range(k):
                            along += covariance[m, p] * gram[j, active[m]] * precision
                        schur = s[j] + along * along / variance
                        rest = r[j] + along * mean[p] / variance
                        gain = base[j] + half_log_own[j] + 0.5 * (rest * rest / schur - math.log(schur))
                        loss = base[out] + half_log_own[out] + 0.5 * (mean[p] * mean[p] / variance + math.log(variance))
                        log_ratio = gain - loss + math.log(degree[out] / degree[j])
                        accepted = binomial(state, proposed, math.exp(min(log_ratio, 0.0)))
                        if accepted == 0:
                            continue
                        if n > 1:
                            stack = _push(stack, depth, accepted, d + attempt + 1, k, active, p, j)
                            depth += 1
                            n -= accepted
                        else:  # one particle: the old model is not needed any more
                            _leave(p, k, gram, precision, active, place, covariance, mean, r, s, weights, t)
                            _join(j, k - 1, gram, own, precision, active, place, covariance, mean, r, s, weights, t)
                            changed = True
                            break
            for attempt in range(max(start - d - swaps, 0), k if exchange else 0):  # exchange one for any other
                if n == 0:
                    break
                for _ in range(n):
                    leaving[min(int(uniform(state) * k), k - 1)] += 1
                for p in range(k):
                    leave, out = leaving[p], active[p]
                    leaving[p] = 0
                    if leave == 0 or base[out] == np.inf:  # what is certain stays
                        continue
                    weight = _replacements(p, k, gram, precision, active, place, covariance, mean, r, s, base,
                                          half_log_own, t)  # fmt: skip
                    for _ in range(leave):
                        j = _first_above(t, uniform(state) * weight)
                        if j < d:
                            coming[j] += 1
                    coming[out] = 0  # these stay
                    for j in range(d):
                        accepted = coming[j]
                        if accepted == 0:
                            continue
                        coming[j] = 0
                        if n > 1:
                            stack = _push(stack, depth, accepted, d + swaps + attempt + 1, k, active, p, j)
                            depth += 1
                            n -= accepted
                        else:
                            _leave(p, k, gram, precision, active, place, covariance, mean, r, s, weights, t)
                            _join(j, k - 1, gram, own, precision, active, place, covariance, mean, r, s, weights, t)
                            changed = True
                            break
            if changed and n > 0:  # computed anew, without the rounding errors of the updates
                _factor(active, k, gram, b, own, precision, lower, mean)
            if total + n * k > len(columns):
                columns, values = longer(columns, values, total, 2 * (total + n * k))
            for i in range(k):  # columns ascend in a row
                rank[i] = 0
                for m in range(k):
                    rank[i] += active[m] < active[i]
            for _ in range(n):
                for i in range(k):
                    weights[i] = normal(state)
                for i in range(k - 1, -1, -1):  # θ = μ + x where L'x is standard normal
                    rest = weights[i]
                    for m in range(i + 1, k):
                        rest -= lower[m, i] * weights[m]
                    weights[i] = rest / lower[i, i]
                    columns[total + rank[i]], values[total + rank[i]] = active[i], mean[i] + weights[i]
                total += k
                ends[row] = total
                row += 1
            for i in range(k):
                place[active[i]] = -1
    return ends, columns[:total].copy(), values[:total].copy()


def correlated_neighbours(gram: Any, most: int = 4) -> Any:
    """Return the neighbours of each coordinate: those whose columns are most correlated with its own.

    Two coordinates are neighbours if one is among the most correlated of the other. The relation is symmetric, so that
    every swap can be undone.

    Parameters
    ----------
    gram : array of shape (d, d)
        X'X.
    most : int, default=4
        How many of the most correlated coordinates count.

    Returns
    -------
    int array of shape (d, ·)
        One row per coordinate, padded with -1.

    Examples
    --------
    >>> correlated_neighbours(np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.1], [0.0, 0.1, 1.0]]), most=1)
    array([[ 1, -1],
           [ 0,  2],
           [ 1, -1]])
    """
    d = len(gram)
    scale = np.sqrt(np.maximum(np.diag(gram).astype(np.float64), 1e-300))
    count = min(most, d - 1)
    top = np.empty((d, count), dtype=np.int64)
    at_once = max(1, 2**20 // d)
    for start in range(0, d, at_once if count else d):  # so that no second matrix is made
        rows = np.arange(start, min(start + at_once, d))
        if count:
            correlation = np.abs(gram[rows]) / scale[rows, np.newaxis] / scale
            correlation[np.arange(len(rows)), rows] = -1.0
            top[rows] = np.argpartition(correlation, d - count, axis=1)[:, d - count :]
    one, other = np.repeat(np.arange(d), count), top.ravel()
    pairs = np.unique(np.concatenate((one * d + other, other * d + one)))
    first, second = pairs // d, pairs % d
    degree = np.bincount(first, minlength=d)
    result = np.full((d, max(int(degree.max(initial=0)), 1)), -1)
    result[first, np.arange(len(first)) - np.repeat(np.cumsum(degree) - degree, degree)] = second
    return result
