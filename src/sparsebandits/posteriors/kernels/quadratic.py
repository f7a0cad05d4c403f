"""θ'Gθ of sparse draws, from their s non-zero coefficients: O(s²) per draw, where a matrix product costs O(d²)."""

from typing import Any

import numpy as np
from numba import njit

from sparsebandits.posteriors.kernels.compiled import COMPILED


@njit(**COMPILED)
def quadratic_forms(theta: Any, gram: Any) -> Any:
    """Return θ'Gθ of each draw θ.

    Parameters
    ----------
    theta : array of shape (M, d)
        The draws, one per row.
    gram : array of shape (d, d)
        The symmetric matrix G.

    Returns
    -------
    array of shape (M,)

    Examples
    --------
    >>> quadratic_forms(np.array([[1.0, 0.0], [1.0, 2.0]]), np.eye(2))
    array([1., 5.])
    """
    size, d = theta.shape
    result, active = np.zeros(size), np.empty(d, np.int64)
    for m in range(size):
        count = 0
        for j in range(d):
            if theta[m, j] != 0.0:
                active[count] = j
                count += 1
        for a in range(count):
            i = active[a]
            inner = 0.5 * theta[m, i] * gram[i, i]
            for b in range(a):
                inner += theta[m, active[b]] * gram[i, active[b]]
            result[m] += 2.0 * theta[m, i] * inner
    return result
