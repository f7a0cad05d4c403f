"""Sufficient statistics of linear-Gaussian data: all that any posterior here needs of the past.

For rows x_i and rewards y_i = ⟨x_i, θ⟩ + noise, the likelihood of θ depends on X'X, X'y, y'y and n alone.
Their shapes never grow, so neither does the cost of a round.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.linalg.blas import dger

from sparsebandits.arguments import FloatArray, check_count, check_observations

BLOCK = 256
"""Observations summed on their own before they join the total, so that n roundings become about n / BLOCK."""


class Evidence:
    """Running X'X, X'y, y'y and n.

    Playing one action a hundred thousand times adds the same numbers as often, and their rounding errors all point
    the same way. So sums are kept in two levels: those of a recent block, and the total of all blocks before it.

    >>> evidence = Evidence(2)
    >>> evidence.add([1.0, 2.0], 3.0)
    >>> evidence.add([[0.0, 1.0], [1.0, 0.0]], [1.0, -1.0])
    >>> evidence.gram, evidence.moment, evidence.square, evidence.count
    (array([[2., 2.], [2., 5.]]), array([2., 7.]), 11.0, 3)
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = check_count("dimension", dimension)
        self.count = 0  # n
        self._total = _Sums(dimension)
        self._recent = _Sums(dimension)

    @property
    def gram(self) -> FloatArray:
        """X'X, shape ``(d, d)``."""
        return self._total.gram + self._recent.gram

    @property
    def moment(self) -> FloatArray:
        """X'y, shape ``(d,)``."""
        return self._total.moment + self._recent.moment

    @property
    def square(self) -> float:
        """Y'y."""
        return self._total.square + self._recent.square

    def add(self, x: object, y: object) -> None:
        """Add one observation ``(d,), scalar`` or a batch ``(n, d), (n,)``."""
        self.absorb(*check_observations(x, y, self.dimension))

    def absorb(self, x: FloatArray, y: FloatArray) -> None:
        """Add a batch that has been checked."""
        recent = self._recent
        if len(y) == 1:  # one rank-one update in place; BLAS wants Fortran order
            dger(1.0, x[0], x[0], a=recent.gram, overwrite_a=1)
        else:
            recent.gram += x.T @ x
        recent.moment += y @ x
        recent.square += float(y @ y)
        before, self.count = self.count, self.count + len(y)
        if self.count // BLOCK > before // BLOCK:
            self._total.gram += recent.gram
            self._total.moment += recent.moment
            self._total.square += recent.square
            self._recent = _Sums(self.dimension)

    def state(self) -> dict[str, Any]:
        """Return what :meth:`restore` needs."""
        sums = {
            name: {"gram": part.gram.copy(order="F"), "moment": part.moment.copy(), "square": part.square}
            for name, part in (("total", self._total), ("recent", self._recent))
        }
        return {"count": self.count, **sums}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        self.count = int(state["count"])
        for sums, saved in ((self._total, state["total"]), (self._recent, state["recent"])):
            sums.gram, sums.moment, sums.square = saved["gram"].copy(order="F"), saved["moment"].copy(), saved["square"]


class _Sums:
    def __init__(self, dimension: int) -> None:
        self.gram: FloatArray = np.zeros((dimension, dimension), order="F")
        self.moment: FloatArray = np.zeros(dimension)
        self.square = 0.0
