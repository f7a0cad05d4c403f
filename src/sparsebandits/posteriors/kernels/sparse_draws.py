"""Products of actions with sparse draws of θ, at the cost of the non-zero coefficients.

With s of d coefficients in a draw, M draws and K actions, everything here costs O(M s K) or less, where a matrix
product costs O(M d K). Actions are laid out in panels of ``WIDTH`` actions, so that the product of a draw with a panel
is one vectorised loop over memory that stays in the cache. The coefficients of a draw or of a group are a compressed
row: row i has the columns ``columns[starts[i]:starts[i + 1]]`` and the values at the same positions.
"""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sparsebandits.arguments import FloatArray, IntArray
from sparsebandits.posteriors.kernels.compiled import COMPILED

WIDTH = 128
"""Actions in a panel."""

LARGE = 30_000_000
"""Number of products of coefficients and actions above which single precision is worth a second copy of the actions."""

SINGLE_SHOWS = 1e-5
"""A variance below this share of the squares it is summed from is computed in double precision: single has 1e-7."""

SINGLE_LEAST = 1e-34
"""Variance below which single precision underflows."""


class Rows(NamedTuple):
    """Compressed rows.

    Parameters
    ----------
    starts : int array of shape (rows + 1,)
        Where each row begins, and where the last one ends.
    columns : int array of shape (n,)
        The column of each entry.
    values : array of shape (n,)
        The value of each entry.
    """

    starts: Any
    columns: Any
    values: Any


class Panels:
    """Actions in panels of ``WIDTH``; the last panel is padded with copies of the last action.

    Parameters
    ----------
    actions : array of shape (K, d)
        One row per action.

    Attributes
    ----------
    double : array of shape (⌈K / WIDTH⌉, d, WIDTH)
        The panels in double precision.
    """

    def __init__(self, actions: FloatArray) -> None:
        count = -(-len(actions) // WIDTH)
        padded = np.concatenate((actions, np.repeat(actions[-1:], count * WIDTH - len(actions), axis=0)))
        self.double = np.ascontiguousarray(padded.reshape(count, WIDTH, -1).transpose(0, 2, 1))

    @cached_property
    def single(self) -> NDArray[np.float32]:
        """The panels in single precision."""
        return self.double.astype(np.float32)


@njit(**COMPILED)
def _compress(theta: Any, columns: Any, values: Any) -> None:
    """Fill columns and values of the coefficients that are not zero, row after row."""
    total = 0
    for m in range(theta.shape[0]):
        for j in range(theta.shape[1]):
            if theta[m, j] != 0.0:
                columns[total], values[total] = j, theta[m, j]
                total += 1


def compressed(theta: FloatArray) -> Rows:
    """Return draws as compressed rows.

    The arrays are made here: a named tuple that compiled code returns goes through Python code, where an interrupt ends
    the interpreter.

    Parameters
    ----------
    theta : array of shape (M, d)
        One row per draw.

    Returns
    -------
    Rows
        The coefficients that are not zero.
    """
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.count_nonzero(theta, axis=1), dtype=np.int64)))
    columns, values = np.empty(starts[-1], np.int64), np.empty(starts[-1])
    _compress(theta, columns, values)
    return Rows(starts, columns, values)


@njit(**COMPILED)
def _add_predictions(row: int, rows: Any, panel: Any, sums: Any) -> None:
    """Add the products of one row with each action of a panel to ``sums``, four coefficients at a time."""
    starts, columns, values = rows
    k, end = starts[row], starts[row + 1]
    while k + 4 <= end:
        a, b, c, d = values[k], values[k + 1], values[k + 2], values[k + 3]
        of_a, of_b, of_c, of_d = panel[columns[k]], panel[columns[k + 1]], panel[columns[k + 2]], panel[columns[k + 3]]
        for i in range(WIDTH):
            sums[i] += (a * of_a[i] + b * of_b[i]) + (c * of_c[i] + d * of_d[i])
        k += 4
    while k < end:
        a, of_a = values[k], panel[columns[k]]
        for i in range(WIDTH):
            sums[i] += a * of_a[i]
        k += 1


@njit(**COMPILED)
def sizes_of_terms(rows: Any, reach: Any) -> Any:
    """Return Σ_j |θ_j| reach_j of each row, which bounds the terms of its predictions.

    Parameters
    ----------
    rows : Rows
        Compressed rows.
    reach : array of shape (d,)
        Largest absolute value of each feature.

    Returns
    -------
    array, one entry per row
    """
    starts, columns, values = rows
    sizes = np.zeros(len(starts) - 1)
    for row in range(len(sizes)):
        for k in range(starts[row], starts[row + 1]):
            sizes[row] += abs(values[k]) * reach[columns[k]]
    return sizes


@njit(**COMPILED)
def best_of_rows(rows: Any, panels: Any, actions: int, tolerance: Any, reference: Any, kept: Any) -> Any:
    """Return the action with the largest prediction for each row, that prediction, and whether others may tie with it.

    Parameters
    ----------
    rows : Rows
        Compressed rows.
    panels : array of shape (·, d, WIDTH)
        The actions.
    actions : int
        Number of actions K; the last panel may have further copies of the last one.
    tolerance : array, one entry per row
        Difference up to which predictions tie.
    reference : Rows
        One compressed row.
    kept : array of shape (rows, K)
        Set to the predictions less those of ``reference``; with no rows, nothing is kept.

    Returns
    -------
    index : int array, one entry per row
        One of the best actions.
    value : array, one entry per row
        Its prediction.
    ties : bool array, one entry per row
        Whether another action has a prediction within the tolerance.
    reach : float
        Largest absolute value that was kept.
    """
    size = len(rows[0]) - 1
    index, value, ties = np.zeros(size, np.int64), np.full(size, -np.inf), np.zeros(size, np.bool_)
    sums, start, highest, lowest = np.empty(WIDTH), np.zeros(WIDTH), np.zeros(WIDTH), np.zeros(WIDTH)
    reach = 0.0
    for p in range(len(panels)):
        first = p * WIDTH
        inside = min(WIDTH, actions - first)
        start[:], highest[:], lowest[:] = 0.0, 0.0, 0.0
        _add_predictions(0, reference, panels[p], start)  # as predictions are: actions that tie are equal bit for bit
        for row in range(size):
            sums[:] = 0.0
            _add_predictions(row, rows, panels[p], sums)
            if len(kept) > 0:
                line = kept[row, first : first + inside]
                for i in range(inside):
                    apart = sums[i] - start[i]
                    line[i] = apart
                    highest[i], lowest[i] = max(highest[i], apart), min(lowest[i], apart)
            largest = sums[0]
            for i in range(1, WIDTH):
                largest = max(largest, sums[i])
            if largest < value[row] - tolerance[row]:
                continue
            near, least = 0, largest - tolerance[row]
            for i in range(inside):
                near += sums[i] >= least
            ties[row] = near > 1 or (largest <= value[row] + tolerance[row])
            if largest > value[row]:
                value[row] = largest
                i = 0
                while sums[i] != largest:
                    i += 1
                index[row] = first + i
        for i in range(inside):
            reach = max(reach, highest[i], -lowest[i])
    return index, value, ties, reach


@njit(**COMPILED)
def weighted_mean(rows: Any, weights: Any, dimension: int) -> Any:
    """Return Σ_m w_m θ^m.

    Parameters
    ----------
    rows : Rows
        Draws as compressed rows.
    weights : array, one entry per row
        Their weights.
    dimension : int
        Number of columns d.

    Returns
    -------
    array of shape (d,)
    """
    starts, columns, values = rows
    mean = np.zeros(dimension)
    for row in range(len(weights)):
        for k in range(starts[row], starts[row + 1]):
            mean[columns[k]] += weights[row] * values[k]
    return mean


@njit(**COMPILED)
def products(rows: Any, x: Any) -> Any:
    """Return ⟨x, θ⟩ of each row.

    Parameters
    ----------
    rows : Rows
        Compressed rows.
    x : array of shape (d,)
        Features.

    Returns
    -------
    array, one entry per row
    """
    starts, columns, values = rows
    found = np.zeros(len(starts) - 1)
    for row in range(len(found)):
        for k in range(starts[row], starts[row + 1]):
            found[row] += values[k] * x[columns[k]]
    return found


@njit(**COMPILED)
def moments_of_predictions(
    kept: Any,
    offset: Any,
    weights: Any,
    starts: Any,
    pair_starts: Any,
    group: Any,
    share: Any,
    probability: Any,
    mean: Any,
) -> Any:
    """Return Var(E[z | group]) and Var z of each action, where z are its kept predictions less an offset of each draw.

    The draws are in cells, one after the other, and each cell belongs to a group or is shared by several. Sums over a
    cell are in the precision of what is kept, and sums over cells in double precision.

    Parameters
    ----------
    kept : array of shape (M, K)
        Predictions of each draw, less a reference of each action.
    offset : array of shape (M,)
        What is subtracted from all predictions of a draw, in the precision of ``kept``.
    weights : array of shape (M,)
        Weights of the draws, in the precision of ``kept``.
    starts : int array of shape (C + 1,)
        Cell c has the draws from ``starts[c]`` to ``starts[c + 1]``.
    pair_starts : int array of shape (C + 1,)
        Cell c belongs to the groups ``group[pair_starts[c]:pair_starts[c + 1]]``.
    group, share : int array and array
        A group, and its share of the cell.
    probability : array of shape (G,)
        Weight of each group.
    mean : array of shape (K,)
        E z of each action.

    Returns
    -------
    between, total : arrays of shape (K,)
    """
    count, groups = kept.shape[1], len(probability)
    between, total = np.zeros(count), np.zeros(count)
    all_sums, all_squares, of_group = (
        np.empty(WIDTH, kept.dtype),
        np.empty(WIDTH, kept.dtype),
        np.empty((groups, WIDTH)),
    )
    for first in range(0, count, WIDTH):
        width = min(WIDTH, count - first)
        sums, squares, centre = all_sums[:width], all_squares[:width], mean[first : first + width]
        one, other = between[first : first + width], total[first : first + width]
        of_group[:] = 0.0
        for c in range(len(starts) - 1):
            if pair_starts[c] == pair_starts[c + 1]:  # its weight is zero
                continue
            sums[:] = 0.0
            squares[:] = 0.0
            m, end = starts[c], starts[c + 1]
            while m + 2 <= end:  # two draws at a time: half as many passes over the sums
                of_m, of_n = kept[m, first : first + width], kept[m + 1, first : first + width]
                weight_m, weight_n, offset_m, offset_n = weights[m], weights[m + 1], offset[m], offset[m + 1]
                for i in range(width):
                    y, z = of_m[i] - offset_m, of_n[i] - offset_n
                    part_y, part_z = weight_m * y, weight_n * z
                    sums[i] += part_y + part_z
                    squares[i] += part_y * y + part_z * z
                m += 2
            if m < end:
                of_m, weight_m, offset_m = kept[m, first : first + width], weights[m], offset[m]
                for i in range(width):
                    y = of_m[i] - offset_m
                    part_y = weight_m * y
                    sums[i] += part_y
                    squares[i] += part_y * y
            for i in range(width):
                other[i] += squares[i]
            for k in range(pair_starts[c], pair_starts[c + 1]):
                line, part = of_group[group[k]], share[k]
                for i in range(width):
                    line[i] += part * sums[i]
        for i in range(width):
            other[i] = max(other[i] - centre[i] * centre[i], 0.0)
        for g in range(groups):
            line, weight = of_group[g], probability[g]
            for i in range(width):
                apart = line[i] - weight * centre[i]
                one[i] += apart * (apart / weight)  # the inverse of a small weight may overflow
    return between, total


@njit(**COMPILED)
def second_moments(rows: Any, weights: Any, dimension: int) -> Any:
    """Return Σ_m w_m θ^m θ^mᵀ.

    Parameters
    ----------
    rows : Rows
        Draws as compressed rows.
    weights : array, one entry per row
        Their weights.
    dimension : int
        Number of columns d.

    Returns
    -------
    array of shape (d, d)
    """
    starts, columns, values = rows
    flat = np.zeros(dimension * dimension)
    for row in range(len(weights)):
        for k in range(starts[row], starts[row + 1]):
            weighted, line = weights[row] * values[k], columns[k] * dimension
            for i in range(starts[row], k + 1):  # columns ascend: the lower half
                flat[np.uint64(line + columns[i])] += weighted * values[i]  # unsigned: no test for a negative index
    moments = flat.reshape(dimension, dimension)
    for j in range(dimension):
        for i in range(j):
            moments[i, j] = moments[j, i]
    return moments


@njit(**COMPILED)
def pattern_of_groups(rows: Any, order: Any, group_starts: Any, dimension: int) -> Any:
    """Return where sums over groups of rows are not zero, and how to compute them.

    Parameters
    ----------
    rows : Rows
        Compressed rows.
    order : int array
        The rows, group after group.
    group_starts : int array of shape (G + 1,)
        Group g has the rows ``order[group_starts[g]:group_starts[g + 1]]``.
    dimension : int
        The number of columns.

    Returns
    -------
    starts, columns : int arrays
        The layout of the sums as compressed rows, one per group.
    ends : int array
        Where the values of each row of ``order`` end in ``values``.
    values : array
        The values of all rows in the order of the groups.
    target : int array
        The entry of the sums that each value is added to.
    """
    row_starts, row_columns, row_values = rows
    starts, columns = np.empty(len(group_starts), np.int64), np.empty_like(row_columns)
    ends, values, target = np.empty(len(order), np.int64), np.empty_like(row_values), np.empty_like(row_columns)
    last, entry = np.full(dimension, -1), np.empty(dimension, np.int64)
    total, place = 0, 0
    for g in range(len(group_starts) - 1):
        starts[g] = total
        for i in range(group_starts[g], group_starts[g + 1]):
            m = order[i]
            for k in range(row_starts[m], row_starts[m + 1]):
                j = row_columns[k]
                if last[j] != g:
                    last[j], entry[j] = g, total
                    columns[total] = j
                    total += 1
                values[place], target[place] = row_values[k], entry[j]
                place += 1
            ends[i] = place
    starts[-1] = total
    return starts, columns[:total].copy(), ends, values, target


@njit(**COMPILED)
def sums_of_groups(ends: Any, values: Any, target: Any, size: int, weights: Any) -> Any:
    """Return Σ w θ over each group.

    Parameters
    ----------
    ends, values, target : arrays
        What :func:`pattern_of_groups` returns.
    size : int
        The number of entries of the sums.
    weights : array
        The weights w, in the order of the groups.

    Returns
    -------
    array of shape (size,)
        The values of compressed rows, one per group.
    """
    sums = np.zeros(size)
    k = 0
    for i in range(len(ends)):
        weight = weights[i]
        while k < ends[i]:
            sums[target[k]] += weight * values[k]
            k += 1
    return sums


@njit(**COMPILED)
def weighted_squares(rows: Any, weights: Any, centre: Any, offset: Any, panels: Any) -> Any:
    """Return Σ_g weights[g] (⟨a, row g⟩ − centre[a] − offset[g])² for each action a, in the precision of the panels.

    Parameters
    ----------
    rows : Rows
        Compressed rows.
    weights, offset : arrays
        One number per row.
    centre : array of shape (K,)
        One number per action.
    panels : array of shape (·, d, WIDTH)
        The actions.

    Returns
    -------
    array of shape (K,)
    """
    count = len(centre)
    result = np.empty(count)
    start, sums = np.zeros(WIDTH, panels.dtype), np.empty(WIDTH, panels.dtype)
    squares = np.empty(WIDTH, panels.dtype)
    for p in range(len(panels)):
        inside = min(WIDTH, count - p * WIDTH)
        start[:inside] = -centre[p * WIDTH : p * WIDTH + inside]
        squares[:] = 0.0
        for g in range(len(weights)):
            shift, weight = offset[g], weights[g]
            for i in range(WIDTH):
                sums[i] = start[i] - shift
            _add_predictions(g, rows, panels[p], sums)
            for i in range(WIDTH):
                squares[i] += weight * sums[i] * sums[i]
        result[p * WIDTH : p * WIDTH + inside] = squares[:inside]
    return result


@njit(**COMPILED)
def squared_terms(squares: Any, panels: Any, count: int) -> Any:
    """Return Σ_j a_j² squares[j] for each action a, in double precision.

    Parameters
    ----------
    squares : array of shape (d,)
        One number per column.
    panels : array of shape (·, d, WIDTH)
        The actions.
    count : int
        The number of actions K.

    Returns
    -------
    array of shape (K,)
    """
    result = np.zeros(len(panels) * WIDTH)
    for p in range(len(panels)):
        sums = result[p * WIDTH : (p + 1) * WIDTH]
        for j in range(len(squares)):
            if squares[j] > 0.0:
                of_j = panels[p, j]
                for i in range(WIDTH):
                    a = np.float64(of_j[i])
                    sums[i] += squares[j] * a * a
    return result[:count]


class Grouped:
    """Compressed draws in groups.

    Parameters
    ----------
    rows : Rows
        Compressed rows.
    order : int array
        The rows, group after group.
    group_starts : int array of shape (G + 1,)
        Group g has the rows ``order[group_starts[g]:group_starts[g + 1]]``.
    dimension : int
        The number of columns.
    """

    def __init__(self, rows: Rows, order: IntArray, group_starts: IntArray, dimension: int) -> None:
        self.starts, self.columns, *self._layout = pattern_of_groups(rows, order, group_starts, dimension)

    def sums(self, weights: FloatArray) -> FloatArray:
        """Return Σ w θ over each group.

        Parameters
        ----------
        weights : array
            The weights w, in the order of ``order``.

        Returns
        -------
        array
            The values of compressed rows with ``starts`` and ``columns``.
        """
        return np.asarray(sums_of_groups(*self._layout, len(self.columns), weights))

    def squares(self, weights: FloatArray, dimension: int) -> FloatArray:
        """Return Σ w θ_j² over all rows.

        Parameters
        ----------
        weights : array
            The weights w, in the order of ``order``.
        dimension : int
            The number of columns.

        Returns
        -------
        array of shape (d,)
        """
        ends, values, target = self._layout
        each = np.repeat(weights, np.diff(ends, prepend=0))
        found: FloatArray = np.bincount(self.columns[target], each * values * values, dimension).astype(np.float64)
        return found


def spreads(
    rows: Rows, weights: FloatArray, centre: FloatArray, offset: FloatArray, panels: Panels, dimension: int
) -> FloatArray:
    """Return Σ_g weights[g] (⟨a, row g⟩ − centre[a] − offset[g])² for each action a.

    A large problem is computed in single precision, which is twice as fast. If cancellation would make its error
    visible, or a result is out of its range, everything is computed again in double precision.

    Parameters
    ----------
    rows : Rows
        Compressed rows, one per group.
    weights, offset : arrays of shape (G,)
        One number per group.
    centre : array of shape (K,)
        One number per action.
    panels : Panels
        The actions.
    dimension : int
        Number of columns.

    Returns
    -------
    array of shape (K,)
    """
    if len(rows.values) * len(centre) > LARGE:
        with np.errstate(over="ignore"):
            found = weighted_squares(
                Rows(rows.starts, rows.columns, rows.values.astype(np.float32)),
                weights.astype(np.float32),
                centre.astype(np.float32),
                offset.astype(np.float32),
                panels.single,
            )
        group = np.repeat(np.arange(len(weights)), np.diff(rows.starts))
        squares = np.bincount(rows.columns, weights[group] * rows.values**2, dimension)
        size = centre * centre + squared_terms(squares, panels.single, len(centre)) + float(weights @ offset**2)
        if ((found > np.maximum(SINGLE_SHOWS * size, SINGLE_LEAST)) & (found < np.inf)).all():
            return np.asarray(found)
    return np.asarray(weighted_squares(rows, weights, centre, offset, panels.double))
