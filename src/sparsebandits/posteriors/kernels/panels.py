"""Products of actions with sparse draws of θ, at the cost of the non-zero coefficients.

With s of d coefficients in a draw, M draws and K actions, everything here costs O(M s K) or less, where a matrix
product costs O(M d K). Actions are laid out in panels of ``WIDTH`` actions, so that the product of a draw with a panel
is one vectorised loop over memory that stays in the cache. Columns of the panels are in units of their own, powers of
two, in which the largest feature is about one: then single precision does in any unit. ``rows`` is the tuple (begins,
ends, columns, values) of :class:`~sparsebandits.posteriors.rows.Rows`, with values in the precision of the panels.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sparsebandits.arguments import FloatArray, IntArray
from sparsebandits.posteriors.kernels.compiled import COMPILED, THREADED
from sparsebandits.posteriors.rows import Rows

WIDTH = 128
"""Actions in a panel."""

MOST_SUMS = 4_194_304
"""Number of sums over groups that are kept at a time, 32 MB; predictions pass by fastest in whole rows."""


class Panels:
    """Actions in panels of ``WIDTH``, in single precision; the last panel is padded with zeros.

    Parameters
    ----------
    actions : array of shape (K, d)
        One row per action.
    reach : array of shape (d,)
        Largest absolute value of each feature.

    Attributes
    ----------
    single : array of shape (⌈K / WIDTH⌉, d, WIDTH)
        The panels.
    units : array of shape (d,)
        Unit of each column; zero where all features are, so that coefficients do not matter.
    """

    def __init__(self, actions: FloatArray, reach: FloatArray) -> None:
        size, dimension = actions.shape
        units = np.exp2(np.ceil(np.log2(np.where(reach > 0.0, reach, 1.0))))
        self.units: FloatArray = np.where(reach > 0.0, units, 0.0)
        self.single: NDArray[np.float32] = np.zeros((-(-size // WIDTH), dimension, WIDTH), np.float32)
        for p, panel in enumerate(self.single):
            some = actions[p * WIDTH : (p + 1) * WIDTH]
            panel[:, : len(some)] = (some / units).T

    def padded(self, values: FloatArray) -> NDArray[np.float32]:
        """Return one number per action in single precision, with zeros for what pads the last panel."""
        found = np.zeros(len(self.single) * WIDTH, np.float32)
        found[: len(values)] = values
        return found


@njit(**COMPILED)
def _add_predictions(begin: int, end: int, columns: Any, values: Any, panel: Any, sums: Any) -> None:
    """Add the products of one row with each action of a panel to ``sums``, four coefficients at a time."""
    k = begin
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
def _largest(sums: Any) -> Any:
    """Return the largest of WIDTH numbers: eight running ones, since each step waits for the one before."""
    a, b, c, d, e, f, g, h = sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7]
    for i in range(8, WIDTH, 8):
        a, b = max(a, sums[i]), max(b, sums[i + 1])
        c, d = max(c, sums[i + 2]), max(d, sums[i + 3])
        e, f = max(e, sums[i + 4]), max(f, sums[i + 5])
        g, h = max(g, sums[i + 6]), max(h, sums[i + 7])
    return max(max(max(a, b), max(c, d)), max(max(e, f), max(g, h)))


@njit(**THREADED)
def best_of_rows(
    rows: Any,
    panels: Any,
    actions: int,
    reference: Any,
    means: Any,
    margins: Any,
    kept: Any,
    index: Any,
    ties: Any,
    value: Any,
    squares: Any,
    work: Any,
) -> None:
    """Find the action with the largest prediction for each row, and whether others may be as good.

    Arrays are made by the caller: to make them here takes longer to compile than all the rest.

    The prediction of action a for a row is its product with the row less that with the reference, and ``means[a]`` more
    when it is compared with that of other actions.

    Parameters
    ----------
    rows : tuple of arrays
        Compressed rows.
    panels : array of shape (·, d, WIDTH)
        The actions.
    actions : int
        Number of actions K.
    reference : tuple of arrays
        One compressed row.
    means : array, padded as the panels
        One number per action.
    margins : array, one entry per row
        Difference up to which predictions may tie, rounding included.
    kept : array of shape (rows, K)
        Set to the predictions, without means; with no rows, nothing is kept.
    index : int array, one entry per row
        Set to one of the best actions.
    ties : bool array, one entry per row
        Set to whether another action has a prediction within the margin.
    value : array, one entry per row, of −∞
        Set to the largest prediction.
    squares : array of zeros, padded as the panels
        Set to the mean square of each action's predictions, if nothing is kept.
    work : array of shape (4, WIDTH), of zeros
        Workspace in single precision.
    """
    begins, ends, columns, values = rows
    size = len(begins)
    sums, shift, mean, some = work[0], work[1], work[2], work[3]
    for p in range(len(panels)):
        first, panel = p * WIDTH, panels[p]
        inside = min(WIDTH, actions - first)
        for i in range(WIDTH):
            sums[i], mean[i] = 0.0, means[first + i]
        # As predictions are computed, so that those of actions which never differ are equal bit for bit.
        _add_predictions(reference[0][0], reference[1][0], reference[2], reference[3], panel, sums)
        for i in range(WIDTH):
            shift[i] = -sums[i]
        for i in range(inside, WIDTH):  # what pads the panel is never the best
            mean[i] = -np.inf
        for row in range(size):
            for i in range(WIDTH):
                sums[i] = shift[i]
            _add_predictions(begins[row], ends[row], columns, values, panel, sums)
            if len(kept) > 0:
                line = kept[row, first : first + inside]
                for i in range(inside):
                    line[i] = sums[i]
            else:
                for i in range(WIDTH):
                    some[i] += sums[i] * sums[i]
                if row % 64 == 63 or row == size - 1:  # sums of many in double precision
                    for i in range(WIDTH):
                        squares[first + i] += some[i] / size
                        some[i] = 0.0
            for i in range(WIDTH):
                sums[i] += mean[i]
            largest = _largest(sums)
            margin = margins[row]
            if largest < value[row] - margin:
                continue
            near, least = 0, largest - margin
            for i in range(WIDTH):
                near += sums[i] >= least
            ties[row] = near > 1 or (largest <= value[row] + margin)
            if largest > value[row]:
                value[row] = largest
                i = 0
                while sums[i] != largest:
                    i += 1
                index[row] = first + i


@njit(**COMPILED)
def predictions_of_rows(rows: Any, order: Any, panels: Any, actions: int, reference: Any) -> Any:
    """Return the products of each action with some rows, less that with the reference.

    Parameters
    ----------
    rows : tuple of arrays
        Compressed rows.
    order : int array of shape (M,)
        Which rows.
    panels : array of shape (·, d, WIDTH)
        The actions.
    actions : int
        Number of actions K.
    reference : tuple of arrays
        One compressed row.

    Returns
    -------
    array of shape (M, K)
    """
    begins, ends, columns, values = rows
    found = np.empty((len(order), actions), np.float32)
    sums, shift = np.empty(WIDTH, np.float32), np.empty(WIDTH, np.float32)
    for p in range(len(panels)):
        panel, inside = panels[p], min(WIDTH, actions - p * WIDTH)
        for i in range(WIDTH):
            sums[i] = 0.0
        _add_predictions(reference[0][0], reference[1][0], reference[2], reference[3], panel, sums)
        for i in range(WIDTH):
            shift[i] = -sums[i]
        for m in range(len(order)):
            for i in range(WIDTH):
                sums[i] = shift[i]
            _add_predictions(begins[order[m]], ends[order[m]], columns, values, panel, sums)
            line = found[m, p * WIDTH : p * WIDTH + inside]
            for i in range(len(line)):
                line[i] = sums[i]
    return found


@njit(**COMPILED)
def values_of_best(rows: Any, actions: Any, index: Any) -> Any:
    """Return the product of each row with its own action, in double precision.

    Parameters
    ----------
    rows : tuple of arrays
        Compressed rows, in double precision.
    actions : array of shape (K, d)
        The actions.
    index : int array, one entry per row
        Number of the action.

    Returns
    -------
    array, one entry per row
    """
    begins, ends, columns, values = rows
    found = np.zeros(len(begins))
    for row in range(len(found)):
        action, total = actions[index[row]], 0.0
        for k in range(begins[row], ends[row]):
            total += values[k] * action[columns[k]]
        found[row] = total
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
    centre: Any,
) -> Any:
    """Return Var(E[z | group]) and Var z of each action, where z are its kept predictions less an offset of each draw.

    Predictions are taken relative to a centre near their mean, so that no digits are lost. The draws are in cells, one
    after the other, and each cell belongs to a group or is shared by several. Sums over a cell are in single precision,
    and sums over cells in double precision.

    Parameters
    ----------
    kept : array of shape (M, K)
        Predictions of each draw.
    offset : array of shape (M,)
        What is subtracted from all predictions of a draw.
    weights : array of shape (M,)
        Weights of the draws.
    starts : int array of shape (C + 1,)
        Cell c has the draws from ``starts[c]`` to ``starts[c + 1]``.
    pair_starts : int array of shape (C + 1,)
        Cell c belongs to the groups ``group[pair_starts[c]:pair_starts[c + 1]]``.
    group, share : int array and array
        A group, and its share of the cell.
    probability : array of shape (G,)
        Weight of each group.
    centre : array of shape (K,)
        E z of each action, up to rounding.

    Returns
    -------
    between, total : arrays of shape (K,)
    """
    count, groups, single = kept.shape[1], len(probability), np.float32
    between, total = np.zeros(count), np.zeros(count)
    most = min(count, max(WIDTH, MOST_SUMS // max(groups, 1)))  # actions at a time
    all_sums, all_squares, of_group = np.empty(most, single), np.empty(most, single), np.empty((groups, most))
    rest = np.empty(most)  # what is left of the mean
    for first in range(0, count, max(most, 1)):
        width = min(most, count - first)
        sums, squares, mean = all_sums[:width], all_squares[:width], centre[first : first + width]
        one, other = between[first : first + width], total[first : first + width]
        for g in range(groups):
            for i in range(width):
                of_group[g, i] = 0.0
        for c in range(len(starts) - 1):
            if pair_starts[c] == pair_starts[c + 1]:  # its weight is zero
                continue
            for i in range(width):
                sums[i] = 0.0
                squares[i] = 0.0
            m, end = starts[c], starts[c + 1]
            while m + 2 <= end:  # two draws at a time: half as many passes over the sums
                of_m, of_n = kept[m, first : first + width], kept[m + 1, first : first + width]
                weight_m, weight_n, offset_m, offset_n = weights[m], weights[m + 1], offset[m], offset[m + 1]
                for i in range(width):
                    y, z = of_m[i] - mean[i] - offset_m, of_n[i] - mean[i] - offset_n
                    part_y, part_z = weight_m * y, weight_n * z
                    sums[i] += part_y + part_z
                    squares[i] += part_y * y + part_z * z
                m += 2
            if m < end:
                of_m, weight_m, offset_m = kept[m, first : first + width], weights[m], offset[m]
                for i in range(width):
                    y = of_m[i] - mean[i] - offset_m
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
            rest[i] = 0.0
        for g in range(groups):
            for i in range(width):
                rest[i] += of_group[g, i]
        for i in range(width):
            other[i] = max(other[i] - rest[i] * rest[i], 0.0)
        for g in range(groups):
            line, weight = of_group[g], probability[g]
            for i in range(width):
                apart = line[i] - weight * rest[i]
                one[i] += apart * (apart / weight)  # the inverse of a small weight may overflow
    return between, total


@njit(**COMPILED)
def pattern_of_groups(rows: Any, order: Any, group_starts: Any, dimension: int) -> Any:
    """Return where sums over groups of rows are not zero, and how to compute them.

    Parameters
    ----------
    rows : tuple of arrays
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
    begins, row_ends, row_columns, row_values = rows
    size = 0
    for m in order:  # rows may share their entries
        size += row_ends[m] - begins[m]
    starts, columns = np.empty(len(group_starts), np.int64), np.empty(size, row_columns.dtype)
    ends, values, target = np.empty(len(order), np.int64), np.empty(size), np.empty(size, np.int64)
    last, entry = np.full(dimension, -1), np.empty(dimension, np.int64)
    total, place = 0, 0
    for g in range(len(group_starts) - 1):
        starts[g] = total
        for i in range(group_starts[g], group_starts[g + 1]):
            m = order[i]
            for k in range(begins[m], row_ends[m]):
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
def squares_of_columns(ends: Any, values: Any, target: Any, columns: Any, dimension: int, weights: Any) -> Any:
    """Return Σ w θ_j² over all rows.

    Parameters
    ----------
    ends, values, target, columns : arrays
        What :func:`pattern_of_groups` returns.
    dimension : int
        The number of columns.
    weights : array
        The weights w, in the order of the groups.

    Returns
    -------
    array of shape (d,)
    """
    sums = np.zeros(dimension)
    k = 0
    for i in range(len(ends)):
        weight = weights[i]
        while k < ends[i]:
            sums[columns[target[k]]] += weight * values[k] * values[k]
            k += 1
    return sums


@njit(**THREADED)
def weighted_squares(rows: Any, weights: Any, centre: Any, offset: Any, panels: Any, actions: int) -> Any:
    """Return Σ_g weights[g] (⟨a, row g⟩ − centre[a] − offset[g])² for each action a.

    Parameters
    ----------
    rows : tuple of arrays
        Compressed rows.
    weights, offset : arrays
        One number per row.
    centre : array, padded as the panels
        One number per action.
    panels : array of shape (·, d, WIDTH)
        The actions.
    actions : int
        Number of actions K.

    Returns
    -------
    array of shape (K,)
    """
    begins, ends, columns, values = rows
    result = np.zeros(len(panels) * WIDTH)
    sums, squares = np.empty(WIDTH, np.float32), np.empty(WIDTH, np.float32)
    for p in range(len(panels)):
        start, found = centre[p * WIDTH : (p + 1) * WIDTH], result[p * WIDTH : (p + 1) * WIDTH]
        for i in range(WIDTH):
            squares[i] = 0.0
        for g in range(len(weights)):
            shift, weight = offset[g], weights[g]
            for i in range(WIDTH):
                sums[i] = -start[i] - shift
            _add_predictions(begins[g], ends[g], columns, values, panels[p], sums)
            for i in range(WIDTH):
                squares[i] += weight * sums[i] * sums[i]
            if g % 64 == 63 or g == len(weights) - 1:  # sums of many in double precision
                for i in range(WIDTH):
                    found[i] += squares[i]
                    squares[i] = 0.0
    return result[:actions]


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
        self.starts, self.columns, *self._layout = pattern_of_groups(rows.arrays, order, group_starts, dimension)

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
        return np.asarray(squares_of_columns(*self._layout, self.columns, dimension, weights))
