"""A prior that is a table: finitely many parameter vectors, one of which is the true one, and their probabilities.

Lower bounds are proved with such priors ("one of these k actions is better by γ"). They also describe what is known
where the candidates can be listed, such as a handful of fitted models.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import ArgumentValueError, FloatArray, check_matrix, check_vector, frozen

NORMALISED = 1e-12
"""Distance of a sum of weights from one below which it is rounding: weights that were normalised stay as they are."""


@dataclass(frozen=True, eq=False, repr=False)
class Hypotheses:
    """Prior with finitely many values of θ: row m of a table with probability w_m.

    The posterior is exact: the weight of each row is multiplied by the likelihood of each reward
    (:class:`~sparsebandits.Table`). A coefficient counts as included in the rows in which it is not zero.

    Parameters
    ----------
    theta : array of shape (M, d)
        The possible values of θ, one per row.
    weights : array of shape (M,), optional
        Prior weight of each row, at least zero; divided by their sum. By default all rows are equally likely.

    Raises
    ------
    ArgumentError
        If shapes do not match, or if weights are negative or all zero.

    Examples
    --------
    >>> prior = Hypotheses([[0.5, 0.0], [0.0, 0.5], [0.0, 0.0]], [1.0, 1.0, 2.0])
    >>> prior
    Hypotheses(3 rows of 2 coefficients)
    >>> prior.weights
    array([0.25, 0.25, 0.5 ])
    """

    theta: Any
    weights: Any = None

    def __post_init__(self) -> None:
        theta = check_matrix("theta", self.theta)
        count = len(theta)
        weights = np.full(count, 1.0 / count) if self.weights is None else check_vector("weights", self.weights, count)
        total = float(weights.sum())
        if weights.min() < 0.0 or not total > 0.0:
            expected = "numbers of at least zero, and not all of them zero"
            raise ArgumentValueError("weights", expected, f"numbers from {weights.min():g} to {weights.max():g}")
        # A saved prior is made again from its weights, which therefore have to stay as they are, to the bit.
        weights = weights.copy() if abs(total - 1.0) <= NORMALISED else weights / total
        object.__setattr__(self, "theta", frozen(theta.copy()))
        object.__setattr__(self, "weights", frozen(weights))

    def __repr__(self) -> str:
        rows, coefficients = self.theta.shape
        return f"Hypotheses({rows} rows of {coefficients} coefficients)"

    def __len__(self) -> int:
        return len(self.theta)

    @property
    def dimension(self) -> int:
        """Number of features d."""
        return int(self.theta.shape[1])

    def sample(self, rng: Generator, size: int) -> FloatArray:
        """Return draws of θ from the prior.

        Parameters
        ----------
        rng : Generator
            Source of randomness.
        size : int
            Number of draws.

        Returns
        -------
        array of shape (size, d)
            Draws, one per row.
        """
        drawn: FloatArray = self.theta[rng.choice(len(self), size=size, p=self.weights)]
        return drawn
