"""A data set of sparse linear regression: the one of Figure 1 of Hao, Lattimore and Deng (2021).

The paper has d = 10 features and n = 100 rows from N(0, Σ) with Σ_ij = 0.6^|i−j|, and y = ⟨x, θ*⟩ + noise with
θ* = (3, 2, 0, …, 0); it calls this s = 3, though two entries are not zero. It does not state the variance of the noise;
it is 1 here, as in the paper's model section.
Rows and noise have random streams of their own, so that data sets of one seed and other coefficients or noise variances
have the same rows.
"""

import math
from dataclasses import dataclass

from sparsebandits.arguments import FloatArray, check_array, check_between, check_count, check_positive, frozen
from sparsebandits.environments.gaussian_actions import correlated_rows
from sparsebandits.randomness import Seed, stream

ROW_STREAM, ERROR_STREAM = 0, 1
"""Below the seed of a data set."""

FIGURE_1 = (3.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
"""The coefficients θ* of the paper's Figure 1."""


@dataclass(frozen=True, eq=False)
class RegressionData:
    """Data of a linear regression, and the truth behind them. Arrays are read-only.

    Attributes
    ----------
    x : array of shape (n, d)
        Features, one row per observation.
    y : array of shape (n,)
        Responses.
    theta : array of shape (d,)
        The true coefficients θ*.
    noise_variance : float
        Variance of a response given its row.
    """

    x: FloatArray
    y: FloatArray
    theta: FloatArray
    noise_variance: float

    def __repr__(self) -> str:
        rows, columns = self.x.shape
        matter = int((self.theta != 0.0).sum())
        noise = f"noise variance {self.noise_variance:g}"
        return f"{type(self).__name__}({rows} rows of {columns} features of which {matter} matter, {noise})"


def sparse_regression(
    seed: Seed,
    theta: object = FIGURE_1,
    n_rows: int = 100,
    correlation: float = 0.6,
    noise_variance: float = 1.0,
) -> RegressionData:
    """Draw a data set of sparse linear regression, by default one of the paper's Figure 1.

    Parameters
    ----------
    seed : int, SeedSequence or None
        The seed; None for fresh entropy.
    theta : array of shape (d,), default=(3, 2, 0, 0, 0, 0, 0, 0, 0, 0)
        The true coefficients θ*.
    n_rows : int, default=100
        Number of rows n.
    correlation : float, default=0.6
        Correlation ρ of neighbouring features, from -1 to 1: rows are N(0, Σ) with Σ_ij = ρ^|i−j|.
    noise_variance : float, default=1.0
        Variance of a response given its row. The paper does not state it.

    Returns
    -------
    RegressionData

    Examples
    --------
    >>> data = sparse_regression(seed=0)
    >>> data
    RegressionData(100 rows of 10 features of which 2 matter, noise variance 1)
    >>> import sparsebandits as sb
    >>> posterior = sb.Enumeration(sb.SpikeSlab(inclusion=0.3, slab_variance=10.0), 10, data.noise_variance)
    >>> posterior.update(data.x, data.y)
    >>> (posterior.inclusion() > 0.5).nonzero()[0]
    array([0, 1])
    """
    coefficients = check_array("theta", theta, ndim=1)
    check_count("theta", len(coefficients))
    rows = check_count("n_rows", n_rows)
    neighbours = check_between("correlation", correlation, -1.0, 1.0)
    variance = check_positive("noise_variance", noise_variance)
    x = correlated_rows(stream(seed, ROW_STREAM), rows, len(coefficients), neighbours)
    y = x @ coefficients + math.sqrt(variance) * stream(seed, ERROR_STREAM).standard_normal(rows)
    return RegressionData(frozen(x), frozen(y), frozen(coefficients.copy()), variance)
