"""Steps of Algorithm 1 of Hao, Lattimore and Deng (2021): Langevin steps on θ, stochastic approximation of ν.

The equations are in ``posteriors/langevin.py``. There are two forms of the same steps:

* :func:`langevin_steps`, in double precision, one coefficient after the other;
* :func:`wide_langevin_steps`, for many chains at a time and in single precision. Each step is a matrix product and
  three loops over all coordinates of all chains that the compiler vectorises. An error of 1e-6 is far below the bias of
  the steps themselves.
"""

import math
from typing import Any

import numpy as np
from numba import njit

from sparsebandits.arguments import FloatArray
from sparsebandits.posteriors.kernels.compiled import COMPILED
from sparsebandits.posteriors.kernels.elementary import HALF, ONE, REAL, exponential, fill_normals
from sparsebandits.posteriors.kernels.inline_random import RandomState, normal, uniform


@njit(**COMPILED)
def batch_gradient(theta: Any, x: Any, y: Any, order: Any, batch: int, gradient: Any, state: Any) -> None:
    """Compute the gradient of −log L from a minibatch of each chain's own, times the number of rows over its size.

    Parameters
    ----------
    theta : array of shape (C, d)
        θ of each chain.
    x : array of shape (n, d)
        Rows over σ.
    y : array of shape (n,)
        Rewards over σ.
    order : int array of shape (n,)
        Any permutation of the rows, changed in place: its head is the last minibatch.
    batch : int
        Number of rows of a minibatch, drawn without replacement, from 1 to n.
    gradient : array of shape (C, d)
        Set to (n / batch) Σ x_i (⟨x_i, θ⟩ − y_i) over the minibatch.
    state : array of one uint64
        The random state, changed in place.
    """
    n, d = x.shape
    for c in range(theta.shape[0]):
        gradient[c] = 0.0
        for k in range(batch):  # Fisher and Yates: each subset is equally likely, whatever the permutation was
            chosen = min(k + int(uniform(state) * (n - k)), n - 1)
            i = order[chosen]
            order[chosen], order[k] = order[k], i
            residual = -y[i]
            for j in range(d):
                residual += x[i, j] * theta[c, j]
            residual *= n / batch
            for j in range(d):
                gradient[c, j] += residual * x[i, j]


@njit(**COMPILED)
def langevin_steps(
    theta: Any,
    nu: Any,
    rates: Any,
    weights: Any,
    burn_in: int,
    thinning: int,
    gram: Any,
    moment: Any,
    slab_mean: Any,
    slab_precision: Any,
    log_odds: Any,
    spike_precision: float,
    draws: Any,
    inclusion: Any,
    x: Any,
    y: Any,
    batch: int,
    state: Any,
) -> None:
    """Take all steps of all chains, and keep every ``thinning``-th after the burn-in.

    Parameters
    ----------
    theta, nu : arrays of shape (C, d)
        θ and ν of each chain, changed in place.
    rates : array of shape (K,)
        The step sizes η_k.
    weights : array of shape (K,)
        The weights ω_k.
    burn_in : int
        The number of steps before the first that may be kept.
    thinning : int
        Every ``thinning``-th step is kept.
    gram : array of shape (d, d)
        X'X / σ², in C order.
    moment : array of shape (d,)
        X'y / σ²; zero with minibatches.
    slab_mean, slab_precision : arrays of shape (d,)
        Mean and precision 1/V of the slab of each coordinate.
    log_odds : array of shape (d,)
        log β/(1−β) plus the log ratio of the constants of ψ₁ and ψ₀.
    spike_precision : float
        1/b.
    draws : array of shape (C, ·, d)
        Set to θ of the steps that are kept.
    inclusion : array of shape (d,)
        ν of the steps that are kept is added to it, summed over chains.
    x, y : arrays of shape (n, d) and (n,)
        Rows and rewards over σ, for minibatches.
    batch : int
        Number of rows of a minibatch; 0 is the full gradient, from ``gram`` and ``moment``.
    state : array of one uint64
        The random state, changed in place.
    """
    chains, d = theta.shape
    kept, order = 0, np.arange(len(y))
    product = np.empty_like(theta)
    for k in range(len(rates)):
        if batch == 0:
            product = np.dot(theta, gram)
        else:
            batch_gradient(theta, x, y, order, batch, product, state)
        rate, weight, deviation = rates[k], weights[k], math.sqrt(2.0 * rates[k])
        for c in range(chains):
            for j in range(d):
                t, n = theta[c, j], nu[c, j]
                pull = spike_precision if t > 0.0 else (-spike_precision if t < 0.0 else 0.0)
                gradient = product[c, j] - moment[j] + (1.0 - n) * pull
                gradient += n * (t - slab_mean[j]) * slab_precision[j]
                t += deviation * normal(state) - rate * gradient
                theta[c, j] = t
                apart = t - slab_mean[j]
                odds = log_odds[j] + abs(t) * spike_precision - 0.5 * apart * apart * slab_precision[j]
                nu[c, j] = n + weight * (1.0 / (1.0 + math.exp(-odds)) - n)
        if k >= burn_in and (k - burn_in + 1) % thinning == 0:
            for c in range(chains):
                for j in range(d):
                    draws[c, kept, j] = theta[c, j]
                    inclusion[j] += nu[c, j]
            kept += 1


@njit(**COMPILED)
def _move(
    theta: Any,
    nu: Any,
    product: Any,
    normals: Any,
    moment: Any,
    mean: Any,
    slab: Any,
    spike: Any,
    rate: Any,
    deviation: Any,
) -> None:
    """Take one step of θ; arrays have an entry for each coordinate of each chain."""
    for i in range(len(theta)):
        t, n = theta[i], nu[i]
        sign = REAL(t > 0) - REAL(t < 0)
        gradient = product[i] - moment[i] + (ONE - n) * sign * spike + n * (t - mean[i]) * slab[i]
        theta[i] = t + deviation * normals[i] - rate * gradient


@njit(**COMPILED)
def _average(theta: Any, nu: Any, mean: Any, slab: Any, odds: Any, spike: Any, weight: Any) -> None:
    """Take one step of ν."""
    for i in range(len(theta)):
        apart = theta[i] - mean[i]
        against = HALF * apart * apart * slab[i] - abs(theta[i]) * spike - odds[i]
        nu[i] += weight * (ONE / (ONE + exponential(against)) - nu[i])


@njit(**COMPILED)
def _wide_steps(
    theta: Any,
    nu: Any,
    rates: Any,
    weights: Any,
    burn_in: int,
    thinning: int,
    gram: Any,
    moment: Any,
    slab_mean: Any,
    slab_precision: Any,
    log_odds: Any,
    spike_precision: Any,
    draws: Any,
    inclusion: Any,
    x: Any,
    y: Any,
    batch: int,
    state: Any,
    order: Any,
    product: Any,
    normals: Any,
) -> None:
    """Take all steps; vectors of coordinates are repeated for each chain, and the last three arguments are memory."""
    chains, d = theta.shape
    flat, flat_nu, flat_product = theta.reshape(-1), nu.reshape(-1), product.reshape(-1)
    kept, half = 0, len(normals) // 2
    for k in range(len(rates)):
        if batch == 0:
            np.dot(theta, gram, product)
        else:
            batch_gradient(theta, x, y, order, batch, product, state)
        fill_normals(normals[:half], normals[half:], state)
        rate, deviation = REAL(rates[k]), REAL(math.sqrt(2.0 * rates[k]))
        _move(flat, flat_nu, flat_product, normals, moment, slab_mean, slab_precision, spike_precision, rate, deviation)
        _average(flat, flat_nu, slab_mean, slab_precision, log_odds, spike_precision, REAL(weights[k]))
        if k >= burn_in and (k - burn_in + 1) % thinning == 0:
            for c in range(chains):
                for j in range(d):
                    draws[c, kept, j] = theta[c, j]
                    inclusion[j] += nu[c, j]
            kept += 1


def wide_langevin_steps(
    theta: Any,
    nu: Any,
    rates: FloatArray,
    weights: FloatArray,
    burn_in: int,
    thinning: int,
    gram: FloatArray,
    moment: FloatArray,
    slab_mean: FloatArray,
    slab_precision: FloatArray,
    log_odds: FloatArray,
    spike_precision: float,
    draws: FloatArray,
    inclusion: FloatArray,
    x: FloatArray,
    y: FloatArray,
    batch: int,
    state: RandomState,
) -> None:
    """Take all steps of all chains in single precision, and keep every ``thinning``-th after the burn-in.

    Parameters
    ----------
    theta, nu : float32 arrays of shape (C, d)
        θ and ν of each chain, changed in place.

    All other parameters are those of :func:`langevin_steps`.
    """
    vectors = [np.tile(v.astype(REAL), len(theta)) for v in (moment, slab_mean, slab_precision, log_odds)]
    _wide_steps(
        theta,
        nu,
        rates,
        weights,
        burn_in,
        thinning,
        gram.astype(REAL),
        *vectors,
        REAL(spike_precision),
        draws,
        inclusion,
        x,
        y,
        batch,
        state,
        np.arange(len(y)),
        np.empty_like(theta),
        np.empty(2 * ((theta.size + 1) // 2), REAL),
    )
