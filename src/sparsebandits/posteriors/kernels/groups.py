"""Sums over groups of draws, for mean rewards that are no linear functions of the draws."""

from typing import Any

import numpy as np
from numba import njit

from sparsebandits.posteriors.kernels.compiled import COMPILED


@njit(**COMPILED)
def sums_of_groups(
    values: Any, weights: Any, starts: Any, pair_starts: Any, group: Any, share: Any, groups: int
) -> Any:
    """Return Σ w z of the draws of each group, for several numbers z of each draw.

    The draws are in cells, one after the other, and each cell belongs to a group or is shared by several. Sums over a
    cell are in single precision, and sums over cells in double precision.

    Parameters
    ----------
    values : array of shape (M, K)
        Numbers of each draw.
    weights : array of shape (M,)
        Weights of the draws.
    starts : int array of shape (C + 1,)
        Cell c has the draws from ``starts[c]`` to ``starts[c + 1]``.
    pair_starts : int array of shape (C + 1,)
        Cell c belongs to the groups ``group[pair_starts[c]:pair_starts[c + 1]]``.
    group, share : int array and array
        A group, and its share of the cell.
    groups : int
        Number of groups G.

    Returns
    -------
    array of shape (G, K)
    """
    found, sums = np.zeros((groups, values.shape[1])), np.zeros(values.shape[1], np.float32)
    for c in range(len(starts) - 1):
        if pair_starts[c] == pair_starts[c + 1]:  # its weight is zero
            continue
        for i in range(len(sums)):
            sums[i] = 0.0
        for m in range(starts[c], starts[c + 1]):
            weight, of_m = weights[m], values[m]
            for i in range(len(sums)):
                sums[i] += weight * of_m[i]
        for pair in range(pair_starts[c], pair_starts[c + 1]):
            part, line = share[pair], found[group[pair]]
            for i in range(len(sums)):
                line[i] += part * sums[i]
    return found
