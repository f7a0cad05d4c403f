"""Algorithm 1 of the paper in plain NumPy: the reference that our engines are measured against."""

from typing import Any

import numpy as np
from numpy.random import Generator

import sparsebandits as sb
from sparsebandits.arguments import FloatArray


def algorithm_1(
    gram: FloatArray,
    moment: FloatArray,
    prior: sb.SpikeSlab,
    noise_variance: float,
    rng: Generator,
    chains: int,
    burn_in: int,
    n_draws: int = 10_000,
    dtype: Any = np.float64,
) -> Any:
    """Return ``n_draws`` draws, each step one matrix product and a few passes over (chains, d) arrays."""
    assert isinstance(prior.spike, sb.LaplaceSpike)
    d, real = len(moment), dtype
    precision, shift = (gram / noise_variance).astype(real), (moment / noise_variance).astype(real)
    spike, slab = real(1.0 / prior.spike.scale), real(1.0 / prior.slab_variance)
    beta = float(prior.inclusion)
    constant = np.log(beta / (1 - beta)) + np.log(2 * prior.spike.scale) - 0.5 * np.log(2 * np.pi * prior.slab_variance)
    rate = real(0.5 / (np.linalg.eigvalsh(gram)[-1] / noise_variance + float(slab)))
    theta = real(np.sqrt(0.1)) * rng.standard_normal((chains, d)).astype(real)
    nu = np.full((chains, d), 0.5, dtype=real)
    draws = np.empty((n_draws, d), dtype=real)
    for k in range(1, burn_in + n_draws // chains + 1):
        gradient = theta @ precision - shift + (1 - nu) * np.sign(theta) * spike + nu * theta * slab
        normals = rng.standard_normal((chains, d), dtype=real)
        theta = theta - rate * gradient + np.sqrt(2 * rate) * normals
        odds = real(constant) + np.abs(theta) * spike - theta * theta * (slab / 2)
        weight = real(k**-0.6)
        nu = (1 - weight) * nu + weight / (1 + np.exp(-odds))
        if k > burn_in:
            start = (k - burn_in - 1) * chains
            draws[start : start + chains] = theta
    return draws
