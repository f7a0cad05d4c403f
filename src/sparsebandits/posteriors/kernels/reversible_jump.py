"""Markov chains for clicks and counts with a point-mass spike: one coefficient at a time, on the linear predictor.

Let θ_j = t be one coefficient, base = η − x_j θ_j the linear predictor of the distinct rows without it, and N(m, V) its
slab. Given the others, the log density of t is the concave function

    f(t) = Σ_u ℓ_u(base_u + z_u t) + h t − P t² / 2   with z = x_j, P = 1/V and h = m/V.

N(t̂, v) is fitted to it: t̂ is its mode (by Newton's method within a bracket, starting from zero), and 1/v the curvature
there. The fit depends on the other coefficients alone, so it serves in both directions of a move:

- Reversible jump (Green 1995). If j is out, t ~ N(t̂, v) is proposed and accepted with probability min(1, R(t)); if j is
  in, leaving is accepted with probability min(1, 1/R(θ_j)), where

      R(t) = prior odds · N(t; m, V) L(t) / (L(0) N(t; t̂, v)).

- Swap. A coefficient j leaves and k, one of the coefficients whose columns are most correlated with its own, joins at
  t ~ N(t̂_k, v_k) in one step, with probability min(1, R_k(t) / R_j(θ_j) · degree_j / degree_k). Both are relative to
  the same model without j and k. Where columns are copies of each other, one could not leave before the other has
  joined.
- Slice sampling (Neal 2003) of t while j is in. The density is log-concave, so an interval around t̂ that ends below the
  slice on both sides holds all of it. The interval does not depend on θ_j, and is shrunk towards it.
- The same along e_j − ρ e_k, where k is another coefficient of the model or the intercept, and ρ = x_uj / x_uk for a
  row u, all chosen at random. The prediction for that row stays as it is; where columns are correlated, the others
  nearly do, and single coefficients could hardly move. With z = x_j − ρ x_k, this is again f(t) for t = θ_j, with other
  P and h.

Where a chain starts, the density may be so low that a slice holds nearly everything; then the next state would be far
off, and on its way back for thousands of sweeps. So in the first sweeps t is drawn from N(t̂, v) instead.
"""

import math
from typing import Any

import numpy as np
from numba import njit

from sparsebandits.posteriors.kernels.compiled import COMPILED
from sparsebandits.posteriors.kernels.continuous import scaled_erfc
from sparsebandits.posteriors.kernels.inline_random import normal, uniform

LOGIT, PROBIT, POISSON = 0, 1, 2

ROOT_HALF = math.sqrt(0.5)
ROOT_TWO_OVER_PI = math.sqrt(2.0 / math.pi)

FARTHEST = 500.0
"""Largest η of a count, as in ``model/families.py``."""

MOST_STEPS = 100
"""Largest number of steps to a mode; three to five are usual."""

CLOSE = 0.01
"""Distance from the mode, in standard deviations, at which the search for it ends."""

WIDTH = 2.5
"""Half the width of the first interval of a slice, in standard deviations: it holds 95% of slices of a Gaussian."""

STEEPEST = 1e6
"""Largest |ρ|: beyond it, a slide moves nothing but the other coefficient."""

SWAPS = 2
"""Number of swaps that a sweep attempts."""


@njit(**COMPILED)
def log_likelihood(family: int, eta: float, successes: float, trials: float) -> Any:
    """Return the log likelihood of s successes in n trials, or of a count s at exposure n, up to a constant.

    Parameters
    ----------
    family : int
        LOGIT, PROBIT or POISSON.
    eta : float
        η.
    successes, trials : float
        s and n.

    Returns
    -------
    float
    """
    if family == POISSON:
        return successes * eta - trials * math.exp(min(eta, FARTHEST))
    if family == LOGIT:
        return successes * eta - trials * (max(eta, 0.0) + math.log1p(math.exp(-abs(eta))))
    near = math.log1p(-0.5 * math.erfc(abs(eta) * ROOT_HALF))  # log Φ(|η|)
    far = math.log(0.5 * scaled_erfc(abs(eta) * ROOT_HALF)) - 0.5 * eta * eta  # log Φ(−|η|)
    return successes * (near if eta > 0.0 else far) + (trials - successes) * (far if eta > 0.0 else near)


@njit(**COMPILED)
def slopes(family: int, eta: float, successes: float, trials: float) -> Any:
    """Return the first derivative of the log likelihood in η, and minus the second.

    Parameters
    ----------
    family, eta, successes, trials : int, float, float, float
        As for :func:`log_likelihood`.

    Returns
    -------
    float, float
    """
    if family == POISSON:
        mean = trials * math.exp(min(eta, FARTHEST))
        return successes - mean, mean
    if family == LOGIT:
        small = math.exp(-abs(eta))
        mean = (1.0 if eta > 0.0 else small) / (1.0 + small)
        return successes - trials * mean, trials * small / ((1.0 + small) * (1.0 + small))
    size = abs(eta)
    far = ROOT_TWO_OVER_PI / scaled_erfc(size * ROOT_HALF)  # φ(η) / Φ(−|η|)
    near = 0.5 * ROOT_TWO_OVER_PI * math.exp(-0.5 * size * size) / (1.0 - 0.5 * math.erfc(size * ROOT_HALF))
    one, other = (successes, trials - successes) if eta > 0.0 else (trials - successes, successes)
    slope = one * near - other * far  # in |η|
    return slope if eta > 0.0 else -slope, one * near * (near + size) + other * far * max(far - size, 0.0)


@njit(**COMPILED)
def _height(data: Any, base: Any, z: Any, t: float) -> Any:
    """Return the log likelihood at base + z t."""
    family, successes, trials = data
    total = 0.0
    for u in range(len(base)):
        total += log_likelihood(family, base[u] + z[u] * t, successes[u], trials[u])
    return total


@njit(**COMPILED)
def fitted_normal(data: Any, base: Any, z: Any, h: float, precision: float) -> Any:
    """Return mode and standard deviation of the normal density that is fitted to exp f.

    Parameters
    ----------
    data : tuple
        Family, successes and trials.
    base, z : arrays of shape (U,)
        What f is about: the linear predictor is base + z t.
    h, precision : float
        Its other coefficients, h and P.

    Returns
    -------
    float, float
    """
    family, successes, trials = data
    t, low, high, last, deviation = 0.0, -np.inf, np.inf, np.inf, 1.0
    for _ in range(MOST_STEPS):
        gradient, curvature = h - precision * t, precision
        for u in range(len(base)):
            slope, information = slopes(family, base[u] + z[u] * t, successes[u], trials[u])
            gradient += z[u] * slope
            curvature += z[u] * z[u] * information
        step, deviation = gradient / curvature, 1.0 / math.sqrt(curvature)
        if abs(step) < CLOSE * deviation:
            break
        if gradient > 0.0:
            low = t
        else:
            high = t
        if high - low < np.inf and (not low < t + step < high or abs(step) > 0.5 * last):
            step = 0.5 * (low + high) - t  # Newton's method is slow where the rate of a count explodes
        last = abs(step)
        t += step
    return t, deviation


@njit(**COMPILED)
def _log_ratio(data: Any, base: Any, z: Any, slab_mean: float, slab_variance: float, fit: Any, t: float) -> Any:
    """Return log R(t) + log L(0), without the prior odds."""
    prior, proposal = t - slab_mean, (t - fit[0]) / fit[1]
    density = -0.5 * (prior * prior / slab_variance + math.log(slab_variance))
    return _height(data, base, z, t) + density + 0.5 * proposal * proposal + math.log(fit[1])


@njit(**COMPILED)
def drawn(data: Any, base: Any, z: Any, h: float, precision: float, fit: Any, t: float, first: bool,
          state: Any) -> Any:  # fmt: skip
    """Return another t, by a step of slice sampling that leaves exp f unchanged.

    Parameters
    ----------
    data, base, z, h, precision : tuple, arrays of shape (U,), float, float
        As for :func:`fitted_normal`.
    fit : tuple
        What :func:`fitted_normal` returns.
    t : float
        Where the chain is.
    first : bool
        Whether this is one of the first sweeps of a chain, in which t is drawn from the fitted density.
    state : array of one uint64
        The random state, changed in place.

    Returns
    -------
    float
    """
    if first:
        return fit[0] + fit[1] * normal(state)
    level = _height(data, base, z, t) + t * (h - 0.5 * precision * t) + math.log(uniform(state))
    reach = WIDTH * fit[1]
    low = fit[0] - reach
    while _height(data, base, z, low) + low * (h - 0.5 * precision * low) > level:
        low = fit[0] - 2.0 * (fit[0] - low)
    high = fit[0] + reach
    while _height(data, base, z, high) + high * (h - 0.5 * precision * high) > level:
        high = fit[0] + 2.0 * (high - fit[0])
    while low < t < high:  # else rounding has left nothing of the slice but t
        new = low + (high - low) * uniform(state)
        if _height(data, base, z, new) + new * (h - 0.5 * precision * new) >= level:
            return new
        if new < t:
            low = new
        else:
            high = new
    return t


@njit(**COMPILED)
def _visit(data: Any, x: Any, eta: Any, base: Any, mean: float, variance: float, log_odds: float, t: float,
           first: bool, state: Any) -> Any:  # fmt: skip
    """Let a coefficient join or leave the model, and draw it anew if it is in; return it, and update η."""
    for u in range(len(eta)):
        base[u] = eta[u] - x[u] * t
    h, precision, was_in = mean / variance, 1.0 / variance, t != 0.0
    fit = fitted_normal(data, base, x, h, precision)
    joining = t if was_in else fit[0] + fit[1] * normal(state)
    log_ratio = _log_ratio(data, base, x, mean, variance, fit, joining) - _height(data, base, x, 0.0) + log_odds
    if math.log(uniform(state)) < (-log_ratio if was_in else log_ratio):
        t = 0.0 if was_in else joining
    if t != 0.0:
        t = drawn(data, base, x, h, precision, fit, t, first, state)
    for u in range(len(eta)):
        eta[u] = base[u] + x[u] * t
    return t


@njit(**COMPILED)
def _slide(data: Any, x: Any, other: Any, slope: float, eta: Any, base: Any, z: Any, mean: float, variance: float,
           other_mean: float, other_variance: float, t: float, other_t: float, first: bool,
           state: Any) -> Any:  # fmt: skip
    """Draw two coefficients anew along the line on which slope · t + other_t stays as it is; update η."""
    rest = other_t + slope * t
    for u in range(len(eta)):
        z[u] = x[u] - slope * other[u]
        base[u] = eta[u] - z[u] * t
    h = mean / variance + slope * (rest - other_mean) / other_variance
    precision = 1.0 / variance + slope * slope / other_variance
    fit = fitted_normal(data, base, z, h, precision)
    t = drawn(data, base, z, h, precision, fit, t, first, state)
    for u in range(len(eta)):
        eta[u] = base[u] + z[u] * t
    return t, rest - slope * t


@njit(**COMPILED)
def _swap(data: Any, columns: Any, eta: Any, base: Any, means: Any, variances: Any, log_odds: Any, theta: Any, j: int,
          k: int, log_degrees: float, state: Any) -> None:  # fmt: skip
    """Let j leave and k join in one step, or stay; update θ and η."""
    for u in range(len(eta)):
        base[u] = eta[u] - columns[j, u] * theta[j]
    fit = fitted_normal(data, base, columns[j], means[j] / variances[j], 1.0 / variances[j])
    leaving = log_odds[j] + _log_ratio(data, base, columns[j], means[j], variances[j], fit, theta[j])
    fit = fitted_normal(data, base, columns[k], means[k] / variances[k], 1.0 / variances[k])
    t = fit[0] + fit[1] * normal(state)
    joining = log_odds[k] + _log_ratio(data, base, columns[k], means[k], variances[k], fit, t)
    if math.log(uniform(state)) < joining - leaving + log_degrees:
        theta[j], theta[k] = 0.0, t
        for u in range(len(eta)):
            eta[u] = base[u] + columns[k, u] * t


@njit(**COMPILED)
def _picked(inside: Any, count: int, state: Any) -> Any:
    """Return one of the first numbers of an array, at random."""
    return inside[min(int(uniform(state) * count), count - 1)]


@njit(**COMPILED)
def jumping_sweeps(
    passed: Any,
    passed_intercepts: Any,
    theta: Any,
    intercepts: Any,
    data: Any,
    columns: Any,
    neighbours: Any,
    slab_mean: Any,
    slab_variance: Any,
    slab_scales: Any,
    log_odds: Any,
    shared_log_odds: Any,
    intercept_variance: float,
    first: int,
    state: Any,
) -> None:
    """Sweep several times over all coefficients and the intercept of every chain, in place.

    Parameters
    ----------
    passed : array of shape (M, S, d)
        Filled with θ after each of S sweeps.
    passed_intercepts : array of shape (M, S)
        Filled with α after each of them.
    theta : array of shape (M, d)
        Coefficients of each chain; those that are zero are out of the model.
    intercepts : array of shape (M,)
        α of each chain.
    data : tuple of int and two arrays of shape (U,)
        Family (LOGIT, PROBIT or POISSON), and successes s and trials n of each distinct row.
    columns : array of shape (d, U)
        Features of the distinct rows, one feature per row.
    neighbours : int array of shape (d, ·)
        What ``correlated_neighbours`` returns.
    slab_mean, slab_variance : arrays of shape (d,)
        Mean and variance of the slab of each coordinate.
    slab_scales : array of shape (M,)
        Factor on the slab variances, one per chain.
    log_odds : array of shape (d,)
        Prior log odds of the inclusion of each coordinate, ±inf where it is certain.
    shared_log_odds : array of shape (M,)
        Log odds that are added for all coordinates of a chain: those of its own β, or zero.
    intercept_variance : float
        Prior variance of α; zero if there is none.
    first : int
        Number of sweeps in which coefficients are drawn from fitted densities, since the chains start here.
    state : array of one uint64
        The random state, changed in place.
    """
    d, rows = columns.shape
    base, eta, z, ones = np.empty(rows), np.empty(rows), np.empty(rows), np.ones(rows)
    inside, degree = np.empty(d, np.int64), np.zeros(d, np.int64)
    variances, odds = np.empty(d), np.empty(d)
    for j in range(d):
        while degree[j] < neighbours.shape[1] and neighbours[j, degree[j]] >= 0:
            degree[j] += 1
    for m in range(len(theta)):
        own, alpha = theta[m], intercepts[m]
        for j in range(d):
            variances[j], odds[j] = slab_variance[j] * slab_scales[m], log_odds[j] + shared_log_odds[m]
        for sweep in range(passed.shape[1]):
            for u in range(rows):  # anew in each sweep, without the rounding errors of the updates
                eta[u] = alpha
            for j in range(d):
                if own[j] != 0.0:
                    for u in range(rows):
                        eta[u] += columns[j, u] * own[j]
            if intercept_variance > 0.0:
                for u in range(rows):
                    base[u] = eta[u] - alpha
                fit = fitted_normal(data, base, ones, 0.0, 1.0 / intercept_variance)
                alpha = drawn(data, base, ones, 0.0, 1.0 / intercept_variance, fit, alpha, sweep < first, state)
                for u in range(rows):
                    eta[u] = base[u] + alpha
            for j in range(d):
                own[j] = _visit(data, columns[j], eta, base, slab_mean[j], variances[j], odds[j], own[j],
                                sweep < first, state)  # fmt: skip
                if own[j] == 0.0 or rows == 0:
                    continue
                u = min(int(uniform(state) * rows), rows - 1)
                count = 0
                for k in range(d):
                    if k != j and own[k] != 0.0 and abs(columns[j, u]) < STEEPEST * abs(columns[k, u]):
                        inside[count] = k
                        count += 1
                if intercept_variance > 0.0:
                    inside[count] = -1
                    count += 1
                k = _picked(inside, count, state) if count > 0 else d
                if k == -1:
                    own[j], alpha = _slide(data, columns[j], ones, columns[j, u], eta, base, z, slab_mean[j],
                                           variances[j], 0.0, intercept_variance, own[j], alpha, sweep < first,
                                           state)  # fmt: skip
                elif k < d:
                    own[j], own[k] = _slide(data, columns[j], columns[k], columns[j, u] / columns[k, u], eta, base, z,
                                            slab_mean[j], variances[j], slab_mean[k], variances[k], own[j], own[k],
                                            sweep < first, state)  # fmt: skip
            for _ in range(SWAPS):
                count = 0
                for k in range(d):
                    if own[k] != 0.0:
                        inside[count] = k
                        count += 1
                j = _picked(inside, count, state) if count > 0 else 0
                if count == 0 or degree[j] == 0:
                    continue
                k = _picked(neighbours[j], degree[j], state)
                if own[k] == 0.0:
                    _swap(data, columns, eta, base, slab_mean, variances, odds, own, j, k,
                          math.log(degree[j] / degree[k]), state)  # fmt: skip
            passed_intercepts[m, sweep] = alpha
            for j in range(d):
                passed[m, sweep, j] = own[j]
        intercepts[m] = alpha
