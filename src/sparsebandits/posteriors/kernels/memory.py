"""How much sparse draws are like what they were: correlations of coefficients and inclusions."""

from typing import Any

import numpy as np
from numba import njit

from sparsebandits.posteriors.kernels.compiled import COMPILED


@njit(**COMPILED)
def correlations(before: Any, after: Any, deviations: Any) -> Any:
    """Return the correlations of inclusions and of coefficients, pooled over columns by variance.

    Parameters
    ----------
    before, after : tuples of arrays
        The same draws at two moments, as compressed rows.
    deviations : array of shape (d,)
        Unit of the coefficients of each column.

    Returns
    -------
    inclusions, coefficients : float
        Σ (b − b̄)(a − ā) over draws and columns, divided by the root of the products of both sums of squares; zero if
        nothing varies.
    """
    size, d = len(before[0]), len(deviations)
    place, count = np.full(d, -1, np.int64), 0  # only columns that occur
    for rows in (before, after):
        begins, ends, columns, _ = rows
        for m in range(size):
            for k in range(begins[m], ends[m]):
                if place[columns[k]] < 0:
                    place[columns[k]] = count
                    count += 1
    dense = np.zeros((2, size, count))
    for moment in range(2):
        begins, ends, columns, values = before if moment == 0 else after
        for m in range(size):
            for k in range(begins[m], ends[m]):
                dense[moment, m, place[columns[k]]] = values[k] / deviations[columns[k]]
    means = np.zeros((2, 2, count))  # of inclusions and coefficients, at both moments
    for moment in range(2):
        for m in range(size):
            for j in range(count):
                means[0, moment, j] += dense[moment, m, j] != 0.0
                means[1, moment, j] += dense[moment, m, j]
    sums = np.zeros((2, 3))  # squares before, squares after, products
    for m in range(size):
        for j in range(count):
            b, a = dense[0, m, j], dense[1, m, j]
            x, y = (b != 0.0) - means[0, 0, j] / size, (a != 0.0) - means[0, 1, j] / size
            sums[0, 0] += x * x
            sums[0, 1] += y * y
            sums[0, 2] += x * y
            x, y = b - means[1, 0, j] / size, a - means[1, 1, j] / size
            sums[1, 0] += x * x
            sums[1, 1] += y * y
            sums[1, 2] += x * y
    found = np.zeros(2)
    for i in range(2):
        scale = np.sqrt(sums[i, 0]) * np.sqrt(sums[i, 1])
        found[i] = sums[i, 2] / scale if scale > 0.0 else 0.0
    return found[0], found[1]
