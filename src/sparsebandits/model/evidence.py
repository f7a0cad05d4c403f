"""Sufficient statistics of linear-Gaussian data: all that the engines need of past observations.

For rows x_i and rewards y_i = ⟨x_i, θ⟩ + noise of variance σ² / w_i, the likelihood of θ and σ² depends on X'WX, X'Wy,
y'Wy, n and Σ log w_i alone (W has the weights on its diagonal, 1 by default). X'WX is needed when draws are moved, and
not in every round; so the latest rows are kept as they are, at most d of them (or 256), and are multiplied out when
somebody asks for X'WX. A round costs O(d), and what is kept never grows beyond O(d²).

If old observations are discounted (``forgetting.py``), all sums, n included, are multiplied by a factor. What the sums
are multiplied by is kept as one number, the share, so that this costs O(1); the sums themselves are multiplied by it
when a block of rows is full, or when the share has become small.
"""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from sparsebandits.arguments import FloatArray, check_count, check_observations
from sparsebandits.atomic import forked
from sparsebandits.layouts import Absent, Count, Layout, Maybe, Number, Reals, read, wrong

BLOCK = 256
"""Number of rows that are kept at least before they join the total: n rounding errors become about n / BLOCK."""

ROUNDING = 1e-6
"""Share by which sums may miss what holds for them without rounding; the errors of 10⁶ observations are far below."""

UNDERFLOW = 1e-100
"""Size of sums below which squares of features may have become zero."""

LEAST_SHARE = 1e-6
"""Share below which sums are multiplied out: they would grow by its reciprocal."""

SUMS: Layout = {"moment": Reals("dimension"), "squares": Reals("dimension", low=0.0), "square": Number(low=0.0)}


class Evidence:
    """Running X'WX, X'Wy, y'Wy, n and Σ log w.

    Playing one action a hundred thousand times adds the same numbers each time, and their rounding errors all have the
    same sign. So sums are kept in two levels: those of the latest rows, and the total of all blocks before them.

    Parameters
    ----------
    dimension : int
        Number of features d.

    Attributes
    ----------
    dimension : int
        Number of features d.
    seen : int
        Number of observations.
    count : float
        What they count, n: the same number, unless some are discounted.
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

    saved: ClassVar[Layout] = {
        "count": Count(),
        "log_weight": Number(),
        "total": SUMS,
        "gram": Maybe(Reals("dimension", "dimension")),
        "recent": SUMS,
        "rows": Reals("recent_rows", "dimension"),
        "discounted": Absent({"count": Number(low=0.0), "share": Number(low=LEAST_SHARE, high=1.0)}),
    }

    def __init__(self, dimension: int) -> None:
        self.dimension = check_count("dimension", dimension)
        self.seen = 0
        self.log_weight = 0.0  # Σ log w
        self._total = _Sums(dimension)
        self._gram: FloatArray | None = None  # X'WX of the rows that have joined the total, if any have
        self._recent = _Sums(dimension)
        self._rows: tuple[FloatArray, ...] = ()  # √w x of the others
        self._discounted: float | None = None  # n, if observations are discounted
        self._share = 1.0  # all sums are the kept ones times this

    @property
    def count(self) -> float:
        """What the observations count, n."""
        return self.seen if self._discounted is None else self._discounted

    @property
    def gram(self) -> FloatArray:
        """X'WX, shape ``(d, d)``, in C order; a new array."""
        gram: FloatArray = self.gram_with()
        return gram

    def gram_with(self, row: FloatArray | None = None, dtype: Any = np.float64, scale: FloatArray | None = None) -> Any:
        """Return X'WX, as if one more row had been observed, in some precision and unit.

        Parameters
        ----------
        row : array of shape (d,), optional
            √w x of the further row.
        dtype : dtype, default=float64
            Precision of the result. In single precision, and without a total, X'WX is never formed in double precision.
        scale : array of shape (d,), optional
            Factors c, powers of two: the result is c_i (X'WX)_ij c_j.

        Returns
        -------
        array of shape (d, d)
            A new array, in C order.
        """
        further = () if row is None else (row,)
        rows = np.array((*self._rows, *further), dtype=np.float64).reshape(-1, self.dimension)
        if self._share != 1.0:
            rows[: len(self._rows)] *= math.sqrt(self._share)
        if scale is not None:
            rows *= scale
        narrow = rows.astype(dtype, copy=False)
        gram = narrow.T @ narrow
        if self._gram is not None:
            step = max(1, 2**20 // self.dimension)
            for start in range(0, self.dimension, step):  # so that no second matrix is made
                part = slice(start, start + step)
                total = self._gram[part] if self._share == 1.0 else self._share * self._gram[part]
                gram[part] += total if scale is None else total * scale * scale[part, np.newaxis]
        return gram

    @property
    def squares(self) -> FloatArray:
        """Diagonal of X'WX, shape ``(d,)``."""
        return self._share * (self._total.squares + self._recent.squares)

    @property
    def moment(self) -> FloatArray:
        """X'Wy, shape ``(d,)``."""
        return self._share * (self._total.moment + self._recent.moment)

    @property
    def square(self) -> float:
        """Y'Wy."""
        return self._share * (self._total.square + self._recent.square)

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

    def absorb(
        self, x: FloatArray, y: FloatArray, weights: FloatArray | None = None, counts: FloatArray | None = None
    ) -> None:
        """Add a batch that has been checked.

        Parameters
        ----------
        x : array of shape (n, d)
            Features.
        y : array of shape (n,)
            Rewards.
        weights : array of shape (n,), optional
            Weight w of each observation, whose noise variance is σ² / w; by default 1. If observations are
            discounted, this times their share.
        counts : array of shape (n,), optional
            What each of them counts in n; by default 1. Not the weight: that of a noisier reward is smaller, but it is
            one reward.
        """
        recent, rows, weighted = self._recent, x, y
        if counts is not None or self._discounted is not None:
            self._discounted = self.count + float(len(y) if counts is None else counts.sum())
        if weights is not None:
            self.log_weight += float(np.log(weights).sum() if counts is None else counts @ np.log(weights / counts))
        if self._share != 1.0:
            weights = (np.ones(len(y)) if weights is None else weights) / self._share
        if weights is not None:
            roots = np.sqrt(weights)
            rows, weighted = x * roots[:, np.newaxis], weights * y
        recent.moment = recent.moment + weighted @ x
        recent.squares = recent.squares + (rows[0] * rows[0] if len(y) == 1 else np.einsum("ij,ij->j", rows, rows))
        recent.square += float(weighted @ y)
        self._rows = (*self._rows, *(row.copy() for row in rows))  # a caller may change its array
        self.seen += len(y)
        if len(self._rows) > max(BLOCK, self.dimension):
            self._multiply_out()
            self._gram, self._rows = self.gram, ()
            self._total, self._recent = self._total.plus(self._recent), _Sums(self.dimension)

    def scaled(self, factor: float) -> "Evidence":
        """Return a copy in which every observation counts less.

        The likelihood is raised to a power f: X'WX, X'Wy, y'Wy, n and Σ log w are all multiplied by it.

        Parameters
        ----------
        factor : float
            f, from 0 to 1.

        Returns
        -------
        Evidence

        Examples
        --------
        >>> evidence = Evidence(1)
        >>> evidence.add([[2.0], [0.0]], [3.0, 1.0])
        >>> half = evidence.scaled(0.5)
        >>> half.gram, half.moment, half.square, half.count
        (array([[2.]]), array([3.]), 5.0, 1.0)
        """
        other = self.copied()
        other._discounted, other._share = factor * self.count, factor * self._share
        other.log_weight = factor * self.log_weight
        if other._share < LEAST_SHARE:
            other._multiply_out()
        return other

    def _multiply_out(self) -> None:
        """Multiply the kept sums and rows by their share, which is one afterwards."""
        share, self._share = self._share, 1.0
        if share != 1.0:
            self._total, self._recent = self._total.times(share), self._recent.times(share)
            self._gram = None if self._gram is None else share * self._gram
            root = math.sqrt(share)
            self._rows = tuple(root * row for row in self._rows)

    def copied(self) -> "Evidence":
        """Return a copy that may take in more; arrays are shared, since they are replaced and never changed."""
        other = forked(self)
        other._recent = forked(self._recent)
        return other

    def state(self) -> dict[str, Any]:
        """Return everything that :meth:`restore` needs, as arrays and JSON values."""
        discounted = {} if self._discounted is None else {"count": self._discounted, "share": self._share}
        return {
            "count": self.seen,
            "log_weight": self.log_weight,
            "total": self._total.state(),
            "gram": None if self._gram is None else self._gram.copy(),
            "recent": self._recent.state(),
            "rows": np.array(self._rows).reshape(-1, self.dimension),
            **({"discounted": discounted} if discounted else {}),
        }

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
        rows, gram = found["rows"], found["gram"]
        if len(rows) > found["count"] or (gram is None and len(rows) < found["count"]):
            raise wrong("rows", f"the last of {found['count']} rows", f"{len(rows)}")
        _check_sums("recent", np.einsum("ij,ij->j", rows, rows), **found["recent"])
        _check_sums("total", np.zeros(self.dimension) if gram is None else np.diag(gram), **found["total"])
        if gram is not None:
            _check_gram(gram)
        discounted = found.get("discounted", {"count": None, "share": 1.0})
        if (discounted["count"] or 0.0) > found["count"] * (1.0 + ROUNDING):
            raise wrong("discounted.count", f"at most {found['count']}", str(discounted["count"]))
        self._discounted, self._share = discounted["count"], discounted["share"]
        self.seen, self.log_weight = found["count"], found["log_weight"]
        self._total, self._recent = _Sums(self.dimension), _Sums(self.dimension)
        vars(self._total).update(found["total"])
        vars(self._recent).update(found["recent"])
        self._gram, self._rows = gram, tuple(rows)


def _check_sums(name: str, diagonal: FloatArray, moment: FloatArray, squares: FloatArray, square: float) -> None:
    """Refuse sums that are not those of the rows, or that break the inequality of Cauchy and Schwarz."""
    if (np.abs(diagonal - squares) > ROUNDING * squares + UNDERFLOW).any():
        raise wrong(name, "the squares of its rows", "others")
    if (np.abs(moment) > np.sqrt(squares) * np.sqrt(square) * (1.0 + ROUNDING) + UNDERFLOW).any():
        raise wrong(name, "sums of squares and products", "other numbers")


def _check_gram(gram: FloatArray) -> None:
    """Refuse an X'WX that is not symmetric, or that has a negative eigenvalue."""
    lengths = np.sqrt(np.maximum(np.diag(gram), 0.0))
    most = np.outer(lengths, lengths) * (1.0 + ROUNDING) + UNDERFLOW
    symmetric = (np.abs(gram - gram.T) <= ROUNDING * most + UNDERFLOW).all()
    if not symmetric or not (np.abs(gram) <= most).all():
        raise wrong("gram", "sums of squares and products", "other numbers")
    scale = np.where(lengths > np.sqrt(UNDERFLOW), lengths, np.inf)
    correlation = gram / scale[:, np.newaxis] / scale
    np.einsum("jj->j", correlation)[:] = 1.0 + ROUNDING
    try:
        np.linalg.cholesky(correlation)
    except np.linalg.LinAlgError:
        raise wrong("gram", "a positive semidefinite matrix", "another one") from None


class _Sums:
    """X'Wy, the diagonal of X'WX, and y'Wy."""

    def __init__(self, dimension: int) -> None:
        self.moment: FloatArray = np.zeros(dimension)
        self.squares: FloatArray = np.zeros(dimension)
        self.square = 0.0

    def plus(self, other: "_Sums") -> "_Sums":
        """Return the sums of both."""
        both = forked(self)
        both.moment, both.squares = self.moment + other.moment, self.squares + other.squares
        both.square = self.square + other.square
        return both

    def times(self, factor: float) -> "_Sums":
        """Return the sums times a number."""
        other = forked(self)
        other.moment, other.squares, other.square = factor * self.moment, factor * self.squares, factor * self.square
        return other

    def state(self) -> dict[str, Any]:
        """Return a copy of the sums by name."""
        return {"moment": self.moment.copy(), "squares": self.squares.copy(), "square": self.square}
