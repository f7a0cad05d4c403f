"""How much sparse draws are like what they were: correlations of coefficients and inclusions."""

from typing import Any

import numpy as np
from numba import njit

from sparsebandits.posteriors.kernels.compiled import COMPILED


@njit(**COMPILED)
def _column_sums(rows: Any, deviations: Any) -> Any:
    """Return means of inclusions and coefficients, and their sums of squared differences, by column: shape (4, d)."""
    begins, ends, columns, values = rows
    size, d = len(begins), len(deviations)
    sums = np.zeros((4, d))
    for m in range(size):
        for k in range(begins[m], ends[m]):
            sums[0, columns[k]] += 1.0
            sums[1, columns[k]] += values[k] / deviations[columns[k]]
    for j in range(d):
        sums[0, j] /= size
        sums[1, j] /= size
        absent = size * (1.0 - sums[0, j])
        sums[2, j] = absent * sums[0, j] * sums[0, j] + (size - absent) * (1.0 - sums[0, j]) ** 2
        sums[3, j] = absent * sums[1, j] * sums[1, j]
    for m in range(size):
        for k in range(begins[m], ends[m]):
            apart = values[k] / deviations[columns[k]] - sums[1, columns[k]]
            sums[3, columns[k]] += apart * apart
    return sums


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
    of_before, of_after = _column_sums(before, deviations), _column_sums(after, deviations)
    inside_b, inside_a, mean_b, mean_a = of_before[0], of_after[0], of_before[1], of_after[1]
    found, both = np.zeros(2), np.zeros(d)  # sums of products, and how many draws have a column at either moment
    begins_b, ends_b, columns_b, values_b = before
    begins_a, ends_a, columns_a, values_a = after
    for m in range(size):
        i, k = begins_b[m], begins_a[m]
        while i < ends_b[m] or k < ends_a[m]:
            j = d
            if i < ends_b[m]:
                j = columns_b[i]
            if k < ends_a[m]:
                j = min(j, columns_a[k])
            b, a, was, now = 0.0, 0.0, 0.0, 0.0
            if i < ends_b[m] and columns_b[i] == j:
                b, was = values_b[i] / deviations[j], 1.0
                i += 1
            if k < ends_a[m] and columns_a[k] == j:
                a, now = values_a[k] / deviations[j], 1.0
                k += 1
            found[0] += (was - inside_b[j]) * (now - inside_a[j])
            found[1] += (b - mean_b[j]) * (a - mean_a[j])
            both[j] += 1.0
    for j in range(d):  # draws that have the column at neither moment
        found[0] += (size - both[j]) * inside_b[j] * inside_a[j]
        found[1] += (size - both[j]) * mean_b[j] * mean_a[j]
    for i in range(2):
        scale = np.sqrt(of_before[2 + i].sum()) * np.sqrt(of_after[2 + i].sum())
        found[i] = found[i] / scale if scale > 0.0 else 0.0
    return found[0], found[1]
