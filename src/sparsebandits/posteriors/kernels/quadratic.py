"""θ'Gθ of draws that are mostly zeros, from the coefficients that are not: O(s²) a draw where a product has O(d²)."""

from typing import Any

import numpy as np
from numba import njit

from sparsebandits.posteriors.kernels.compiled import COMPILED


@njit(**COMPILED)
def quadratic_forms(theta: Any, gram: Any) -> Any:
    """Return θ'Gθ of each row of ``theta``, shape ``(M,)``, for a symmetric G ``(d, d)``."""
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
