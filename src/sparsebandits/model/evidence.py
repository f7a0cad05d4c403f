"""Sufficient statistics of linear-Gaussian data: all that the engines need of past observations.

For rows x_i and rewards y_i = ⟨x_i, θ⟩ + noise of variance σ² / w_i, the likelihood of θ and σ² depends on X'WX, X'Wy,
y'Wy, n and Σ log w_i alone (W has the weights on its diagonal, 1 by default). Their shapes never grow, so neither does
the cost of a round.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from scipy.linalg.blas import dger

from sparsebandits.arguments import FloatArray, check_count, check_observations
from sparsebandits.atomic import forked
from sparsebandits.layouts import Count, Layout, Number, Reals, read, wrong

BLOCK = 256
"""Observations summed separately before they join the total: n rounding errors become about n / BLOCK."""

ROUNDING = 1e-6
"""Share by which sums may miss what holds for them without rounding; the errors of 10⁶ observations are far below."""

UNDERFLOW = 1e-100
"""Size of sums below which squares of features may have become zero."""

SUMS: Layout = {
    "gram": Reals("dimension", "dimension", order="F"),
    "moment": Reals("dimension"),
    "square": Number(low=0.0),
}


class Evidence:
    """Running X'WX, X'Wy, y'Wy, n and Σ log w.

    Playing one action a hundred thousand times adds the same numbers each time, and their rounding errors all have the
    same sign. So sums are kept in two levels: those of the current block, and the total of all blocks before it.

    Parameters
    ----------
    dimension : int
        Number of features d.

    Attributes
    ----------
    dimension : int
        Number of features d.
    count : int
        Number of observations n.
    log_weight : float
        Σ log w.

    Examples
    --------
    >>> evidence = Evidence(2)
    >>> evidence.add([1.0, 2.0], 3.0)
    >>> evidence.add([[0.0, 1.0], [1.0, 0.0]], [1.0, -1.0])
    >>> evidence.gram, evidence.moment, evidence.square, evidence.count
    (array([[2., 2.], [2., 5.]]), array([2., 7.]), 11.0, 3)
    """

    saved: ClassVar[Layout] = {"count": Count(), "log_weight": Number(), "total": SUMS, "recent": SUMS}

    def __init__(self, dimension: int) -> None:
        self.dimension = check_count("dimension", dimension)
        self.count = 0  # n
        self.log_weight = 0.0  # Σ log w
        self._total = _Sums(dimension)
        self._recent = _Sums(dimension)

    @property
    def gram(self) -> FloatArray:
        """X'WX, shape ``(d, d)``."""
        return self._total.gram + self._recent.gram

    @property
    def squares(self) -> FloatArray:
        """Diagonal of X'WX, shape ``(d,)``."""
        return np.asarray(np.diagonal(self._total.gram) + np.diagonal(self._recent.gram))

    @property
    def moment(self) -> FloatArray:
        """X'Wy, shape ``(d,)``."""
        return self._total.moment + self._recent.moment

    @property
    def square(self) -> float:
        """Y'Wy."""
        return self._total.square + self._recent.square

    def add(self, x: object, y: object) -> None:
        """Add one observation or a batch, of weight one.

        Parameters
        ----------
        x : array of shape (d,) or (n, d)
            Features of one observation or of a batch.
        y : float or array of shape (n,)
            Rewards.

        Raises
        ------
        ArgumentError
            If shapes do not match, or if a number is not finite.
        """
        self.absorb(*check_observations(x, y, self.dimension))

    def absorb(self, x: FloatArray, y: FloatArray, weights: FloatArray | None = None) -> None:
        """Add a batch that has been checked.

        Parameters
        ----------
        x : array of shape (n, d)
            Features.
        y : array of shape (n,)
            Rewards.
        weights : array of shape (n,), optional
            Weight w of each observation, whose noise variance is σ² / w; by default 1.
        """
        recent, weighted = self._recent, y
        if weights is not None:
            weighted = weights * y
            self.log_weight += float(np.log(weights).sum())
        if len(y) == 1:  # one rank-one update in place; BLAS needs Fortran order
            dger(1.0 if weights is None else weights[0], x[0], x[0], a=recent.gram, overwrite_a=1)
        else:
            recent.gram += (x.T if weights is None else x.T * weights) @ x
        recent.moment += weighted @ x
        recent.square += float(weighted @ y)
        before, self.count = self.count, self.count + len(y)
        if self.count // BLOCK > before // BLOCK:
            total = _Sums(self.dimension)
            total.gram, total.moment, total.square = self.gram, self.moment, self.square
            self._total, self._recent = total, _Sums(self.dimension)

    def copied(self) -> "Evidence":
        """Return a copy that may take in more; the total of past blocks is shared, since it is never changed."""
        other = forked(self)
        other._recent = forked(self._recent)
        other._recent.gram, other._recent.moment = self._recent.gram.copy(order="F"), self._recent.moment.copy()
        return other

    def state(self) -> dict[str, Any]:
        """Return everything that :meth:`restore` needs, as arrays and JSON values."""
        sums = {
            name: {"gram": part.gram.copy(order="F"), "moment": part.moment.copy(), "square": part.square}
            for name, part in (("total", self._total), ("recent", self._recent))
        }
        return {"count": self.count, "log_weight": self.log_weight, **sums}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state.

        Parameters
        ----------
        state : mapping
            What :meth:`state` returned.

        Raises
        ------
        SaveFileError
            If these are not the sums of any observations.
        """
        found = read(self.saved, state, {"dimension": self.dimension})
        for name in ("total", "recent"):
            _check_sums(name, **found[name])
        self.count, self.log_weight = found["count"], found["log_weight"]
        self._total, self._recent = _Sums(self.dimension), _Sums(self.dimension)
        vars(self._total).update(found["total"])
        vars(self._recent).update(found["recent"])


def _check_sums(name: str, gram: FloatArray, moment: FloatArray, square: float) -> None:
    """Refuse sums that break the inequality of Cauchy and Schwarz, or an X'WX with a negative eigenvalue."""
    lengths = np.sqrt(np.maximum(np.diag(gram), 0.0))
    most = np.outer(lengths, lengths) * (1.0 + ROUNDING) + UNDERFLOW
    symmetric = (np.abs(gram - gram.T) <= ROUNDING * most + UNDERFLOW).all()
    bounded = (np.abs(gram) <= most).all()
    if (
        not symmetric
        or not bounded
        or (np.abs(moment) > lengths * np.sqrt(square) * (1.0 + ROUNDING) + UNDERFLOW).any()
    ):
        raise wrong(name, "sums of squares and products", "other numbers")
    scale = np.where(lengths > np.sqrt(UNDERFLOW), lengths, np.inf)
    correlation = gram / scale[:, np.newaxis] / scale
    np.einsum("jj->j", correlation)[:] = 1.0 + ROUNDING
    try:
        np.linalg.cholesky(correlation)
    except np.linalg.LinAlgError:
        raise wrong(name, "a positive semidefinite gram", "another one") from None


class _Sums:
    def __init__(self, dimension: int) -> None:
        self.gram: FloatArray = np.zeros((dimension, dimension), order="F")
        self.moment: FloatArray = np.zeros(dimension)
        self.square = 0.0
