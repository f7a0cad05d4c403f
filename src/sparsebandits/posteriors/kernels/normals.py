"""Sums of normal densities at the nodes of adjacent intervals of equal width.

From one interval to the next, a density at a node is multiplied by a factor, and that factor by a constant:

    φ(z + Δ) = φ(z) exp(−zΔ − Δ²/2),

so a density costs two exponentials per node of the first interval, and two products at each further node.
"""

import math
from typing import Any

import numpy as np
from numba import njit

from sparsebandits.posteriors.kernels.compiled import COMPILED


@njit(**COMPILED)
def add_normals(values: Any, rows: Any, counts: Any, edges: Any, widths: Any, heights: Any, places: Any) -> None:
    """Add normal densities to tables of values.

    Parameters
    ----------
    values : array of shape (R, q)
        Values at the q nodes of each interval, changed in place.
    rows : int array of shape (M,)
        Row of the first interval that a density is added to.
    counts : int array of shape (M,)
        Number of intervals, in consecutive rows.
    edges : array of shape (M,)
        Left edge of the first interval, less the mean, in standard deviations.
    widths : array of shape (M,)
        Width Δ of an interval, in standard deviations.
    heights : array of shape (M,)
        Density at its mean.
    places : array of shape (q,)
        Places of the nodes in an interval, from 0 to 1.
    """
    q = len(places)
    value, factor = np.empty(q), np.empty(q)
    for m in range(len(rows)):
        width = widths[m]
        shrink = math.exp(-width * width)
        for i in range(q):
            z = edges[m] + width * places[i]
            value[i] = heights[m] * math.exp(-0.5 * z * z)
            factor[i] = math.exp(-width * (z + 0.5 * width))
        for row in range(rows[m], rows[m] + counts[m]):
            for i in range(q):
                values[row, i] += value[i]
                value[i] *= factor[i]
                factor[i] *= shrink
