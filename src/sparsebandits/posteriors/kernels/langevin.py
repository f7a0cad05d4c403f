"""Steps of Algorithm 1 of Hao, Lattimore and Deng (2021): Langevin steps on θ, stochastic approximation of ν.

The equations are in ``posteriors/langevin.py``. There are two forms of the same steps:

* :func:`langevin_steps`, in double precision, one coefficient after the other;
* :func:`wide_langevin_steps`, for many chains at a time and in single precision. Matrix products and elementary
  functions come from NumPy, which vectorises them, and the rest is fused into compiled loops. A rounding error of 1e-7
  is far below the bias of the steps themselves.
"""

import math
from typing import Any

import numpy as np
from numba import njit

from sparsebandits.arguments import FloatArray
from sparsebandits.posteriors.kernels.compiled import COMPILED
from sparsebandits.posteriors.kernels.inline_random import GOLDEN, RandomState, mixed, normal, uniform


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
def _uniform_pairs(first: Any, angle: Any, state: Any) -> None:
    """Fill in uniforms in (0, 1) and angles in [0, 2π), from 24 bits each of SplitMix64 at successive counters."""
    start = state[0]
    for i in range(len(first)):
        z = mixed(start + np.uint64(i + 1) * GOLDEN)
        first[i] = (np.float32(np.int32(z >> np.uint64(40))) + np.float32(0.5)) * np.float32(2.0**-24)
        angle[i] = np.float32(np.int32((z >> np.uint64(8)) & np.uint64(0xFFFFFF))) * np.float32(math.pi * 2.0**-23)
    state[0] = start + np.uint64(len(first)) * GOLDEN


@njit(**COMPILED)
def _move(
    theta: Any,
    nu: Any,
    product: Any,
    normals: Any,
    moment: Any,
    mean: Any,
    slab: Any,
    odds: Any,
    spike: Any,
    rate: Any,
    deviation: Any,
    exponent: Any,
) -> None:
    """Take one step of θ, and set ``exponent`` to minus the log odds of inclusion."""
    one, half = np.float32(1.0), np.float32(0.5)
    for c in range(theta.shape[0]):
        for j in range(theta.shape[1]):
            t, n = theta[c, j], nu[c, j]
            sign = np.float32(t > 0) - np.float32(t < 0)
            gradient = product[c, j] - moment[j] + (one - n) * sign * spike + n * (t - mean[j]) * slab[j]
            t += deviation * normals[c, j] - rate * gradient
            theta[c, j] = t
            apart = t - mean[j]
            exponent[c, j] = half * apart * apart * slab[j] - abs(t) * spike - odds[j]


@njit(**COMPILED)
def _average(nu: Any, exponential: Any, weight: Any) -> None:
    """Take one step of ν."""
    one = np.float32(1.0)
    for c in range(nu.shape[0]):
        for j in range(nu.shape[1]):
            nu[c, j] += weight * (one / (one + exponential[c, j]) - nu[c, j])


def wide_langevin_steps(
    t: Any,
    n: Any,
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
    t, n : float32 arrays of shape (C, d)
        θ and ν of each chain, changed in place.

    All other parameters are those of :func:`langevin_steps`.
    """
    real = np.float32
    g = gram.astype(real)
    vectors = [v.astype(real) for v in (moment, slab_mean, slab_precision, log_odds)]
    product, exponent = np.empty_like(t), np.empty_like(t)
    half = (t.size + 1) // 2
    first, angle, flat = np.empty(half, real), np.empty(half, real), np.empty(2 * half, real)
    normals = flat[: t.size].reshape(t.shape)
    ones, kept, order = np.ones(len(t), real), 0, np.arange(len(y))
    with np.errstate(over="ignore", invalid="ignore"):
        for k, (rate, weight) in enumerate(zip(rates.tolist(), weights.tolist(), strict=True)):
            if batch == 0:
                np.dot(t, g, out=product)
            else:
                batch_gradient(t, x, y, order, batch, product, state)
            _uniform_pairs(first, angle, state)
            np.log(first, out=first)
            np.multiply(first, real(-2.0), out=first)
            np.sqrt(first, out=first)  # Box and Muller (1958): a radius and an angle give two normals
            np.cos(angle, out=flat[:half])
            np.sin(angle, out=flat[half:])
            flat[:half] *= first
            flat[half:] *= first
            deviation = math.sqrt(2.0 * rate)
            _move(t, n, product, normals, *vectors, real(spike_precision), real(rate), real(deviation), exponent)
            np.exp(exponent, out=exponent)
            _average(n, exponent, real(weight))
            if k >= burn_in and (k - burn_in + 1) % thinning == 0:
                draws[:, kept] = t
                kept += 1
                inclusion += ones @ n
