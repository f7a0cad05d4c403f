"""How much sparse draws are like what they were: correlations of coefficients and inclusions."""

import math
from typing import Any

import numpy as np
from numba import njit

from sparsebandits.arguments import FloatArray
from sparsebandits.posteriors.kernels.compiled import COMPILED


@njit(**COMPILED)
def _add_columns(rows: Any, deviations: Any, sums: Any) -> None:
    """Set means of inclusions and coefficients, and their sums of squared differences, by column: shape (4, d)."""
    begins, ends, columns, values = rows
    size, d = len(begins), len(deviations)
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


@njit(**COMPILED)
def pooled_correlations(before: Any, after: Any, deviations: Any, sums: Any, found: Any) -> None:
    """Set the correlations of inclusions and of coefficients, pooled over columns by variance.

    Parameters
    ----------
    before, after : tuples of arrays
        The same draws at two moments, as compressed rows.
    deviations : array of shape (d,)
        Unit of the coefficients of each column.
    sums : array of shape (9, d), of zeros
        Workspace.
    found : array of shape (2,), of zeros
        Set to Σ (b − b̄)(a − ā) over draws and columns, divided by the root of the product of both sums of squares; zero
        if nothing varies.
    """
    size, d = len(before[0]), len(deviations)
    _add_columns(before, deviations, sums[:4])
    _add_columns(after, deviations, sums[4:8])
    inside_b, mean_b, inside_a, mean_a, both = sums[0], sums[1], sums[4], sums[5], sums[8]
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
            both[j] += 1.0  # draws that have the column at either moment
    for i in range(2):
        before_squares = after_squares = 0.0
        for j in range(d):  # and draws that have the column at neither moment
            found[i] += (size - both[j]) * sums[i, j] * sums[4 + i, j]
            before_squares += sums[2 + i, j]
            after_squares += sums[6 + i, j]
        scale = math.sqrt(before_squares) * math.sqrt(after_squares)
        found[i] = found[i] / scale if scale > 0.0 else 0.0


def correlations(before: Any, after: Any, deviations: FloatArray) -> FloatArray:
    """Return the correlations of inclusions and of coefficients, pooled over columns by variance.

    Parameters
    ----------
    before, after : tuples of arrays
        The same draws at two moments, as compressed rows.
    deviations : array of shape (d,)
        Unit of the coefficients of each column.

    Returns
    -------
    array of shape (2,)
        Both correlations; zero if nothing varies.
    """
    found = np.zeros(2)
    pooled_correlations(before, after, deviations, np.zeros((9, len(deviations))), found)
    return found
