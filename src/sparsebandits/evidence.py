"""Sufficient statistics of linear-Gaussian data: all that any posterior here needs of the past.

For rows x_i and rewards y_i = ⟨x_i, θ⟩ + noise, the likelihood of θ depends on X'X, X'y, y'y and n alone.
Their shapes never grow, so neither does the cost of a round.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.linalg.blas import dger

from sparsebandits.checks import FloatArray, check_count, check_observations


class Evidence:
    """Running X'X, X'y, y'y and n.

    >>> evidence = Evidence(2)
    >>> evidence.add([1.0, 2.0], 3.0)
    >>> evidence.add([[0.0, 1.0], [1.0, 0.0]], [1.0, -1.0])
    >>> evidence.gram, evidence.moment, evidence.square, evidence.count
    (array([[2., 2.], [2., 5.]]), array([2., 7.]), 11.0, 3)
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = check_count("dimension", dimension)
        self.gram: FloatArray = np.zeros((dimension, dimension), order="F")  # X'X
        self.moment: FloatArray = np.zeros(dimension)  # X'y
        self.square = 0.0  # y'y
        self.count = 0  # n

    def add(self, x: object, y: object) -> None:
        """Add one observation ``(d,), scalar`` or a batch ``(n, d), (n,)``."""
        self.absorb(*check_observations(x, y, self.dimension))

    def absorb(self, x: FloatArray, y: FloatArray) -> None:
        """Add a batch that has been checked."""
        if len(y) == 1:  # one rank-one update in place; BLAS wants Fortran order
            dger(1.0, x[0], x[0], a=self.gram, overwrite_a=1)
        else:
            self.gram += x.T @ x
        self.moment += y @ x
        self.square += float(y @ y)
        self.count += len(y)

    def state(self) -> dict[str, Any]:
        """Return what :meth:`restore` needs."""
        return {"gram": self.gram, "moment": self.moment, "square": self.square, "count": self.count}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        self.gram = np.asfortranarray(state["gram"])
        self.moment = state["moment"]
        self.square = float(state["square"])
        self.count = int(state["count"])
