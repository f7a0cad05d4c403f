"""Importance weights: a part of the likelihood of an observation on top of log weights, normalised in one pass."""

import math
from typing import Any

import numpy as np
from numba import njit

from sparsebandits.posteriors.kernels.compiled import COMPILED


@njit(**COMPILED)
def reweighted(logs: Any, predictions: Any, reward: float, factor: float) -> Any:
    """Return log weights plus factor · (⟨x, θ⟩² − 2y⟨x, θ⟩), and what follows from them.

    Parameters
    ----------
    logs : array of shape (M,)
        Log weights.
    predictions : array of shape (M,)
        ⟨x, θ⟩ of each draw.
    reward : float
        y.
    factor : float
        −1/2 times the part of the observation that counts, times its precision.

    Returns
    -------
    logs, normalised : arrays of shape (M,)
        The new log weights, and weights that sum to one.
    log_total : float
        log Σ exp(logs).
    effective_size : float
        1 / Σ normalised².
    """
    size = len(logs)
    new, normalised, largest = np.empty(size), np.empty(size), -np.inf
    for m in range(size):
        new[m] = logs[m] + factor * (predictions[m] * (predictions[m] - 2.0 * reward))
        largest = max(largest, new[m])
    total = 0.0
    for m in range(size):
        normalised[m] = math.exp(new[m] - largest)
        total += normalised[m]
    square = 0.0
    for m in range(size):
        normalised[m] /= total
        square += normalised[m] * normalised[m]
    return new, normalised, largest + math.log(total), 1.0 / square
