"""C_min of the hypercube {−1, 1}^d in closed form, with an optimal distribution on few of its 2^d corners.

C_min is 1 (Hao, Lattimore and Wang 2020). Corners drawn uniformly have E[aa'] = I, whose smallest eigenvalue is 1, and
no distribution does better: σ_min(E[aa']) ≤ tr(E[aa']) / d = 1. The same bound holds for all actions with ‖a‖_∞ ≤ 1, so
a set of such actions that the paper calls exploratory (C_min ≥ 1) has C_min = 1.

Not all of the 2^d corners are needed: any d columns of a Hadamard matrix are orthogonal, so its rows, with equal
weights, have E[aa'] = I too. Sylvester's matrix has as many rows as the smallest power of two that is at least d.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import hadamard

from sparsebandits.arguments import FloatArray, check_count, frozen


@dataclass(frozen=True)
class HypercubeDesign:
    """The distribution that explores {−1, 1}^d best, like a :class:`Design` but without 2^d rows.

    Parameters
    ----------
    dimension : int
        Dimension d of the cube.
    c_min, upper_bound : float, default=1.0
        Both are 1, so the gap is zero.
    """

    dimension: int
    c_min: float = 1.0
    upper_bound: float = 1.0

    @property
    def gap(self) -> float:
        """How much larger than ``c_min`` the optimum may be, which is zero."""
        return self.upper_bound - self.c_min

    @property
    def exploratory(self) -> bool:
        """Whether C_min ≥ 1."""
        return self.c_min >= 1.0

    def corners(self) -> FloatArray:
        """Return fewer than 2d corners that with equal weights explore as well as all of them.

        Returns
        -------
        array of shape (n, d)
            One row per corner.
        """
        rows = 1 << (self.dimension - 1).bit_length()
        return frozen(hadamard(rows, dtype=np.float64)[:, : self.dimension])


def hypercube_design(dimension: int) -> HypercubeDesign:
    """Return the distribution that explores {−1, 1}^d best, and its C_min.

    Parameters
    ----------
    dimension : int
        Dimension d of the cube.

    Returns
    -------
    HypercubeDesign

    Examples
    --------
    >>> cube = hypercube_design(3)
    >>> cube.c_min, cube.gap, cube.corners().shape
    (1.0, 0.0, (4, 3))
    """
    return HypercubeDesign(check_count("dimension", dimension))
