"""Weighted draws of θ, which every engine gives."""

from dataclasses import dataclass

import numpy as np

from sparsebandits.arguments import ArgumentValueError, FloatArray, check_matrix, check_vector, frozen

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


@dataclass(frozen=True, eq=False)
class Draws:
    """Weighted draws of θ.

    Both arrays are read-only. An engine that returns the *same* ``theta`` array again says that only weights have
    changed, which a policy may use to skip work.

    Parameters
    ----------
    theta : array of shape (M, d)
        Draws of θ, one per row.
    weights : array of shape (M,)
        Weights of the draws, which sum to one.

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

    theta: FloatArray
    weights: FloatArray

    def __post_init__(self) -> None:
        theta = check_matrix("theta", self.theta)
        weights = check_vector("weights", self.weights, len(theta))
        if weights.min() < 0 or abs(weights.sum() - 1.0) > 1e-9:
            raise ArgumentValueError("weights", "non-negative numbers that sum to 1", f"a sum of {weights.sum():g}")
        object.__setattr__(self, "theta", frozen(theta.copy()))
        object.__setattr__(self, "weights", frozen(weights.copy()))

    @classmethod
    def trusted(cls, theta: FloatArray, weights: FloatArray) -> "Draws":
        """Return draws from an engine, without checking or copying.

        Parameters
        ----------
        theta : array of shape (M, d)
            Draws of θ; made read-only.
        weights : array of shape (M,)
            Weights that sum to one; made read-only.

        Returns
        -------
        Draws
            The draws.
        """
        draws = object.__new__(cls)
        object.__setattr__(draws, "theta", frozen(theta))
        object.__setattr__(draws, "weights", frozen(weights))
        return draws

    def __len__(self) -> int:
        return len(self.weights)

    def mean(self) -> FloatArray:
        """Return E[θ], shape ``(d,)``."""
        return self.weights @ self.theta

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
