"""Best actions of many contexts under each draw, from compressed rows."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sparsebandits.arguments import FloatArray, IntArray

SINGLE = 1.2e-7
"""Rounding of a sum in single precision, per term and as a share of the terms."""


@njit(cache=True, fastmath=False, nogil=True)
def best_of_contexts(
    begins: IntArray,
    ends: IntArray,
    columns: IntArray,
    values: FloatArray,
    actions: FloatArray,
    starts: IntArray,
    reach: FloatArray,
    addresses: NDArray[np.uint64],
) -> tuple[IntArray, FloatArray, NDArray[np.uint64]]:
    """Return the best action of each context under each draw, its value, and which actions are as good.

    Parameters
    ----------
    begins, ends : int arrays of shape (M,)
        Where the nonzero coefficients of each draw begin and end.
    columns, values : int and float arrays
        Column and value of each nonzero coefficient.
    actions : float32 array of shape (d, N)
        Features of the actions of all contexts, one column per action.
    starts : int array of shape (m + 1,)
        Where the actions of each context start.
    reach : array of shape (d,)
        Largest absolute value of each feature.
    addresses : uint64 array of shape (N,)
        Random numbers whose sums identify a set of actions.

    Returns
    -------
    best, value : int and float arrays of shape (M, m)
        Number of the best action among all N, the first if several are, and its value ⟨φ, θ⟩.
    ties : uint64 array of shape (M, m)
        Sum of the addresses of the best actions, up to rounding, if there are several; else zero.
    """
    draws, contexts = len(begins), len(starts) - 1
    best, value = np.empty((draws, contexts), np.int64), np.empty((draws, contexts))
    ties = np.zeros((draws, contexts), np.uint64)
    sums = np.empty(actions.shape[1], np.float32)
    for i in range(draws):
        sums[:] = np.float32(0.0)
        terms = 0.0
        for k in range(begins[i], ends[i]):
            row, coefficient = actions[columns[k]], np.float32(values[k])
            terms += abs(values[k]) * reach[columns[k]]
            for a in range(len(sums)):
                sums[a] += coefficient * row[a]
        margin = np.float32(SINGLE * (ends[i] - begins[i] + 1) * terms)
        for s in range(contexts):
            place = starts[s]
            for a in range(starts[s] + 1, starts[s + 1]):
                if sums[a] > sums[place]:
                    place = a
            best[i, s], value[i, s] = place, sums[place]
            least, several, key = sums[place] - margin, 0, np.uint64(0)
            for a in range(starts[s], starts[s + 1]):
                if sums[a] >= least:
                    several += 1
                    key += addresses[a]
            if several > 1:
                ties[i, s] = key
    return best, value, ties


@njit(cache=True, fastmath=False, nogil=True)
def sums_of_groups(
    begins: IntArray,
    ends: IntArray,
    columns: IntArray,
    values: FloatArray,
    weights: FloatArray,
    place: IntArray,
    sums: FloatArray,
    mass: FloatArray,
) -> None:
    """Add w θ of each draw to the group that it belongs to in each context.

    Parameters
    ----------
    begins, ends, columns, values : arrays
        The draws as compressed rows.
    weights : array of shape (M,)
        Their weights.
    place : int array of shape (M, m)
        Group of each draw in each context.
    sums, mass : arrays of shape (G, d) and (G,)
        Σ w θ and Σ w over each group, which are added to.
    """
    for i in range(len(begins)):
        for s in range(place.shape[1]):
            group = place[i, s]
            mass[group] += weights[i]
            for k in range(begins[i], ends[i]):
                sums[group, columns[k]] += weights[i] * values[k]
