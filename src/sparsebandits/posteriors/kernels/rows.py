"""What is computed from the nonzero coefficients of draws alone: products, means, squares.

``rows`` is the tuple (begins, ends, columns, values) of :class:`~sparsebandits.posteriors.rows.Rows`.
"""

from typing import Any

import numpy as np
from numba import njit

from sparsebandits.posteriors.kernels.compiled import COMPILED, THREADED


@njit(**COMPILED)
def compress(theta: Any, columns: Any, values: Any) -> None:
    """Fill columns and values of the coefficients that are not zero, row after row.

    Parameters
    ----------
    theta : array of shape (M, d)
        One row per draw.
    columns, values : arrays
        One entry per coefficient that is not zero.
    """
    total = 0
    for m in range(theta.shape[0]):
        for j in range(theta.shape[1]):
            if theta[m, j] != 0.0:
                columns[total], values[total] = j, theta[m, j]
                total += 1


@njit(**COMPILED)
def longer(columns: Any, values: Any, total: int, size: int) -> Any:
    """Return longer arrays that begin with the same entries.

    Parameters
    ----------
    columns, values : arrays
        The entries.
    total : int
        How many of them there are.
    size : int
        Length of the new arrays.

    Returns
    -------
    columns, values : arrays of shape (size,)
    """
    longer_columns, longer_values = np.empty(size, np.int32), np.empty(size)
    for i in range(total):
        longer_columns[i], longer_values[i] = columns[i], values[i]
    return longer_columns, longer_values


@njit(**COMPILED)
def products(rows: Any, x: Any) -> Any:
    """Return ⟨x, θ⟩ of each row.

    Parameters
    ----------
    rows : tuple of arrays
        Compressed rows.
    x : array of shape (d,)
        Features.

    Returns
    -------
    array, one entry per row
    """
    begins, ends, columns, values = rows
    found = np.zeros(len(begins))
    for row in range(len(found)):
        total = 0.0
        for k in range(begins[row], ends[row]):
            total += values[k] * x[columns[k]]
        found[row] = total
    return found


@njit(**THREADED)
def many_products(rows: Any, columns: Any) -> Any:
    """Return the products of each row with several vectors.

    Parameters
    ----------
    rows : tuple of arrays
        M draws as compressed rows.
    columns : array of shape (d, U), in C order
        The vectors, one per column.

    Returns
    -------
    array of shape (M, U)
    """
    begins, ends, places, values = rows
    found = np.zeros((len(begins), columns.shape[1]))
    for m in range(len(begins)):
        line = found[m]
        for k in range(begins[m], ends[m]):
            value, vector = values[k], columns[places[k]]
            for i in range(len(line)):
                line[i] += value * vector[i]
    return found


@njit(**COMPILED)
def add_weighted(rows: Any, weights: Any, mean: Any, inside: Any) -> None:
    """Add Σ_m w_m θ^m, and the weight of the rows that have an entry, to two arrays, column by column.

    Parameters
    ----------
    rows : tuple of arrays
        Compressed rows.
    weights : array, one entry per row
        Their weights.
    mean, inside : arrays of shape (d,)
        Changed in place.
    """
    begins, ends, columns, values = rows
    for row in range(len(begins)):
        weight = weights[row]
        for k in range(begins[row], ends[row]):
            mean[columns[k]] += weight * values[k]
            inside[columns[k]] += weight


@njit(**COMPILED)
def slab_sums(rows: Any, slab_mean: Any, slab_variance: Any) -> Any:
    """Return Σ (θ_j − m_j)² / r_j over the entries of each row.

    Parameters
    ----------
    rows : tuple of arrays
        Compressed rows.
    slab_mean, slab_variance : arrays of shape (d,)
        m and r.

    Returns
    -------
    array, one entry per row
    """
    begins, ends, columns, values = rows
    sums = np.zeros(len(begins))
    for row in range(len(sums)):
        for k in range(begins[row], ends[row]):
            j = columns[k]
            apart = values[k] - slab_mean[j]
            sums[row] += apart * apart / slab_variance[j]
    return sums


@njit(**COMPILED)
def quadratic_forms(rows: Any, gram: Any) -> Any:
    """Return θ'Gθ of each row, in O(s²) for s entries.

    Parameters
    ----------
    rows : tuple of arrays
        Compressed rows.
    gram : array of shape (d, d)
        The symmetric matrix G.

    Returns
    -------
    array, one entry per row

    Examples
    --------
    >>> from sparsebandits.posteriors.rows import Rows
    >>> quadratic_forms(Rows.of(np.array([[1.0, 0.0], [1.0, 2.0]])).arrays, np.eye(2))
    array([1., 5.])
    """
    begins, ends, columns, values = rows
    forms = np.zeros(len(begins))
    for row in range(len(forms)):
        for a in range(begins[row], ends[row]):
            line = gram[columns[a]]
            inner = 0.5 * values[a] * line[columns[a]]
            for b in range(begins[row], a):
                inner += values[b] * line[columns[b]]
            forms[row] += 2.0 * values[a] * inner
    return forms


@njit(**COMPILED)
def sizes_of_terms(rows: Any, reach: Any) -> Any:
    """Return Σ_j |θ_j| reach_j of each row, which bounds the terms of its predictions.

    Parameters
    ----------
    rows : tuple of arrays
        Compressed rows.
    reach : array of shape (d,)
        Largest absolute value of each feature.

    Returns
    -------
    array, one entry per row
    """
    begins, ends, columns, values = rows
    sizes = np.zeros(len(begins))
    for row in range(len(sizes)):
        for k in range(begins[row], ends[row]):
            sizes[row] += abs(values[k]) * reach[columns[k]]
    return sizes


@njit(**COMPILED)
def second_moments(rows: Any, weights: Any, dimension: int) -> Any:
    """Return Σ_m w_m θ^m θ^mᵀ.

    Parameters
    ----------
    rows : tuple of arrays
        Compressed rows.
    weights : array, one entry per row
        Their weights.
    dimension : int
        Number of columns d.

    Returns
    -------
    array of shape (d, d)
    """
    begins, ends, columns, values = rows
    flat = np.zeros(dimension * dimension)
    for row in range(len(begins)):
        for k in range(begins[row], ends[row]):
            weighted, line = weights[row] * values[k], np.int64(columns[k]) * dimension
            for i in range(begins[row], k + 1):  # columns ascend: the lower half
                flat[np.uint64(line + columns[i])] += weighted * values[i]  # unsigned: no test for a negative index
    moments = flat.reshape(dimension, dimension)
    for j in range(dimension):
        for i in range(j):
            moments[i, j] = moments[j, i]
    return moments
