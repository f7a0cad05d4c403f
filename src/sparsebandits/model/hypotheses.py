"""A prior that is a table: finitely many parameter vectors, one of which is the true one, and their probabilities.

Lower bounds are proved with such priors ("one of these k actions is better by γ"). They also describe what is known
where the candidates can be listed, such as a handful of fitted models. No published source.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import (
    ArgumentValueError,
    FloatArray,
    check_columns,
    check_matrix,
    check_vector,
    column_order,
    frozen,
    shown,
)

NORMALISED = 1e-12
"""Distance of a sum of weights from one below which it is rounding: weights that were normalised stay as they are."""


@dataclass(frozen=True, eq=False, repr=False)
class Hypotheses:
    """Prior with finitely many values of θ: row m of a table with probability w_m.

    The posterior is exact: the weight of each row is multiplied by the likelihood of each reward
    (:class:`~sparsebandits.Table`). A coefficient counts as included in the rows in which it is not zero.

    Parameters
    ----------
    theta : array or DataFrame of shape (M, d)
        The possible values of θ, one per row. The columns of a DataFrame are names of features: policies match them to
        the features of their actions.
    weights : array of shape (M,), optional
        Prior weight of each row, at least zero; divided by their sum. By default all rows are equally likely.
    feature_names : tuple of str, optional
        Names of the columns; by default those of the DataFrame.

    Raises
    ------
    ArgumentError
        If shapes or names do not match, or if weights are negative or all zero.

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
    feature_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        values, named = check_columns("theta", self.theta)
        theta = check_matrix("theta", values)
        names = named if self.feature_names is None else tuple(self.feature_names)
        if names is not None and len(set(names)) != theta.shape[1]:
            raise ArgumentValueError("feature_names", f"{theta.shape[1]} different names", shown(names))
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
        object.__setattr__(self, "feature_names", names)

    def __repr__(self) -> str:
        rows, coefficients = self.theta.shape
        return f"Hypotheses({rows} rows of {coefficients} coefficients)"

    def __len__(self) -> int:
        return len(self.theta)

    @property
    def dimension(self) -> int:
        """Number of features d."""
        return int(self.theta.shape[1])

    def matched(self, names: Sequence[str] | None) -> "Hypotheses":
        """Return the same prior with its columns in the order of some features.

        Parameters
        ----------
        names : sequence of str or None
            Names of the features.

        Returns
        -------
        Hypotheses
            The prior itself if the features or its columns have no names.

        Raises
        ------
        ArgumentValueError
            If the columns have other names.

        Examples
        --------
        >>> Hypotheses([[1.0, 2.0]], feature_names=("price", "size")).matched(["size", "price"]).theta
        array([[2., 1.]])
        """
        if names is None or self.feature_names is None or tuple(names) == self.feature_names:
            return self
        order = column_order("prior", names, self.feature_names)
        return Hypotheses(self.theta[:, order], self.weights, tuple(names))

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
