"""Rewards with an unknown intercept: it has a flat prior and is integrated out exactly.

    y_i = α + ⟨x_i, θ⟩ + ε_i,   ε_i ~ N(0, σ²),   p(α) ∝ 1.

The n − 1 contrasts c_k = √(k / (k + 1)) · (z_{k+1} − mean of z_1 … z_k), taken of rewards and of features alike, are
orthonormal and orthogonal to 1 (Helmert contrasts). So they do not depend on α, their noise is again independent with
variance σ², and their likelihood is that of (θ, σ²) with α integrated out. Given θ, α ~ N(ȳ − ⟨x̄, θ⟩, σ²/n), so the
mean reward of an action a is ȳ + ⟨a − x̄, θ⟩ in expectation over α: a policy on the contrasts chooses among the rows
a − x̄.
"""

import numpy as np

from sparsebandits.arguments import FloatArray


def contrasts(values: FloatArray) -> FloatArray:
    """Return the n − 1 Helmert contrasts of n values or rows.

    Contrasts are in the order of the values: a further value adds one contrast and changes none of the others.

    Parameters
    ----------
    values : array of shape (n,) or (n, d)
        Rewards or rows of features.

    Returns
    -------
    array of shape (n - 1,) or (n - 1, d)
        The contrasts.

    Examples
    --------
    >>> contrasts(np.array([5.0, 7.0, 6.0])).round(3)
    array([1.414, 0.   ])
    """
    apart = values - values[:1]  # values far from zero would lose digits
    count = np.arange(1.0, len(values)).reshape(-1, *(1,) * (values.ndim - 1))
    before = np.cumsum(apart, axis=0)[:-1] / count
    return np.asarray(np.sqrt(count / (count + 1.0)) * (apart[1:] - before))
