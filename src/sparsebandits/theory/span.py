"""What a set of actions cannot identify: directions of θ on which no reward depends.

If every action is orthogonal to x, rewards under θ and θ + x are the same and C_min(𝒜) is 0. In terms of features, some
column is then a linear combination of others. The pivoted QR factorisation AP = Q[R₁₁ R₁₂] finds r independent columns,
and every other column in terms of them: the columns of R₁₁⁻¹R₁₂. No published source.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr, solve_triangular

from sparsebandits.arguments import FloatArray, IntArray, check_columns, check_count, check_matrix, frozen
from sparsebandits.theory.design import exploratory_design

NEGLIGIBLE = 3e-6
"""Coefficients below this share of the largest one are dropped: it is what counts as dependent in ``design.py``."""


@dataclass(frozen=True, eq=False)
class Unseen:
    """A feature whose effect cannot be identified: its column is a linear combination of other columns.

    Parameters
    ----------
    feature : int
        Its column in the actions.
    others : int array of shape (n,)
        The columns that it is a combination of; empty if it is zero in all actions, or negligible compared with others.
    coefficients : array of shape (n,)
        The coefficients of these columns.
    """

    feature: int
    others: IntArray
    coefficients: FloatArray

    def direction(self, dimension: int) -> FloatArray:
        """Return the direction that is orthogonal to all actions.

        Parameters
        ----------
        dimension : int
            Number of features d.

        Returns
        -------
        array of shape (d,)
            1 at the feature, minus the coefficients at the other columns, 0 elsewhere.
        """
        x = np.zeros(check_count("dimension", dimension, least=1 + max(self.feature, *self.others.tolist(), 0)))
        x[self.feature] = 1.0
        x[self.others] = -self.coefficients
        return x


def unseen_features(actions: object) -> tuple[Unseen, ...]:
    """Return the features whose columns are linear combinations of others.

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d)
        One row per action.

    Returns
    -------
    tuple of Unseen
        In the order of their columns; empty if the actions span the space.

    Examples
    --------
    >>> [(one.feature, one.others.tolist(), one.coefficients.round(6).tolist())
    ...  for one in unseen_features([[1.0, 0.0, 2.0], [0.0, 0.0, 4.0], [3.0, 0.0, 1.0], [0.0, 0.0, 1.0]])]
    [(1, [], [])]
    """
    features = check_matrix("actions", check_columns("actions", actions)[0])
    rank, dimension = exploratory_design(features).rank, features.shape[1]
    if rank == dimension:
        return ()
    factor, order = qr(np.linalg.qr(features, mode="r"), mode="r", pivoting=True)
    independent, dependent = order[:rank], order[rank:]
    table = solve_triangular(factor[:rank, :rank], factor[:rank, rank:]) if rank else np.empty((0, dimension))
    found = []
    for column, coefficients in zip(dependent.tolist(), table.T, strict=True):
        kept = np.abs(coefficients) > NEGLIGIBLE * max(1.0, float(np.abs(coefficients).max(initial=0.0)))
        others = np.flatnonzero(kept)
        by_column = others[np.argsort(independent[others])]
        found.append(Unseen(column, frozen(independent[by_column]), frozen(coefficients[by_column].copy())))
    return tuple(sorted(found, key=lambda one: one.feature))
