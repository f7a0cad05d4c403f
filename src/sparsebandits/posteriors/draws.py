"""Weighted draws of θ, which every engine gives."""

import numpy as np

from sparsebandits.arguments import ArgumentValueError, FloatArray, check_matrix, check_vector, frozen
from sparsebandits.posteriors.rows import Rows

MOSTLY_ZERO = 0.25
"""Share of nonzero coefficients below which going through them one by one is faster than a matrix product."""

LOOKED_AT = 256
"""Number of draws by which :func:`mostly_zero` judges."""


def mostly_zero(theta: FloatArray) -> bool:
    """Return whether few coefficients of the draws are not zero, by a look at the first of them.

    Parameters
    ----------
    theta : array of shape (M, d)
        Draws of θ, one per row.

    Returns
    -------
    bool
    """
    some = theta[:LOOKED_AT]
    return bool(np.count_nonzero(some) < MOSTLY_ZERO * some.size)


class Draws:
    """Weighted draws of θ.

    Arrays are read-only. An engine that returns the *same* ``source`` again says that only weights have changed, which
    a policy may use to skip work.

    Parameters
    ----------
    theta : array of shape (M, d)
        Draws of θ, one per row.
    weights : array of shape (M,)
        Weights of the draws, which sum to one.

    Attributes
    ----------
    source : array of shape (M, d) or Rows
        The draws as the engine has them: dense, or as compressed rows.
    intercepts : array of shape (M,) or None
        Intercept α of each draw, where rewards are clicks or counts and have one.
    exact : bool
        Whether these are all values that θ may have, with their probabilities: then sums over them have no Monte Carlo
        error, and none is corrected for. False for draws that are a sample.

    Raises
    ------
    ArgumentError
        If shapes do not match, or if weights are negative or do not sum to one.

    Examples
    --------
    >>> draws = Draws([[0.0, 1.0], [2.0, 1.0]], [0.25, 0.75])
    >>> draws.mean(), round(draws.effective_sample_size, 2)
    (array([1.5, 1. ]), 1.6)
    """

    source: "FloatArray | Rows"
    weights: FloatArray
    intercepts: FloatArray | None = None
    exact: bool = False

    def __init__(self, theta: object, weights: object) -> None:
        dense = check_matrix("theta", theta)
        checked = check_vector("weights", weights, len(dense))
        if checked.min() < 0 or abs(checked.sum() - 1.0) > 1e-9:
            raise ArgumentValueError("weights", "non-negative numbers that sum to 1", f"a sum of {checked.sum():g}")
        self.source, self.weights = frozen(dense.copy()), frozen(checked.copy())

    @classmethod
    def trusted(
        cls,
        source: "FloatArray | Rows",
        weights: FloatArray,
        intercepts: FloatArray | None = None,
        exact: bool = False,
    ) -> "Draws":
        """Return draws from an engine, without checking or copying.

        Parameters
        ----------
        source : array of shape (M, d) or Rows
            Draws of θ; an array is made read-only.
        weights : array of shape (M,)
            Weights that sum to one; made read-only.
        intercepts : array of shape (M,), optional
            Intercepts of the draws.
        exact : bool, default=False
            Whether these are all values that θ may have.

        Returns
        -------
        Draws
            The draws.
        """
        draws = object.__new__(cls)
        draws.source = source if isinstance(source, Rows) else frozen(source)
        draws.weights = frozen(weights)
        draws.intercepts, draws.exact = intercepts, exact
        return draws

    @property
    def theta(self) -> FloatArray:
        """Draws of θ, one per row, shape ``(M, d)``; compressed rows are written out when they are first asked for."""
        return self.source.dense if isinstance(self.source, Rows) else self.source

    def __len__(self) -> int:
        return len(self.weights)

    def mean(self) -> FloatArray:
        """Return E[θ], shape ``(d,)``."""
        if isinstance(self.source, Rows):
            return self.source.mean(self.weights)
        return self.weights @ self.source

    @property
    def effective_sample_size(self) -> float:
        """Number of equally weighted draws that these are worth, 1 / Σ w², between 1 and M (Kong 1992)."""
        return float(1.0 / (self.weights @ self.weights))


def moments(values: FloatArray, weights: FloatArray) -> dict[str, FloatArray]:
    """Return mean, standard deviation and the ends of the 95% interval of each column of weighted rows."""
    mean = weights @ values
    deviation = np.sqrt(np.maximum(weights @ (values - mean) ** 2, 0.0))
    low, high = np.quantile(values, [0.025, 0.975], axis=0, weights=weights, method="inverted_cdf")
    return {"mean": mean, "sd": deviation, "2.5%": low, "97.5%": high}
