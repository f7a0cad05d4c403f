"""Sparse draws of θ as compressed rows, which is how particles with a point-mass spike are kept from end to end."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsebandits.arguments import FloatArray, IntArray, frozen
from sparsebandits.layouts import Layout, Reals, wrong

ROWS: Layout = {
    "counts": Reals("particles", low=0, high=2**31 - 1, dtypes=("int32",)),
    "columns": Reals("entries", low=0, high=2**31 - 1, dtypes=("int32",)),
    "values": Reals("entries"),
}
"""How rows are saved."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Draws of θ as compressed rows.

    Draw m has the columns ``columns[begins[m]:ends[m]]``, ascending, and the values at the same places. Rows may share
    their entries: draws that were resampled have the same begins and ends again, and nothing is copied.

    Attributes
    ----------
    begins, ends : int array of shape (M,)
        Where each row begins and ends.
    columns : int32 array of shape (N,)
        Column of each entry.
    values : array of shape (N,)
        Value of each entry, not zero.
    dimension : int
        Number of columns d.
    """

    begins: IntArray
    ends: IntArray
    columns: NDArray[np.int32]
    values: FloatArray
    dimension: int

    @classmethod
    def of(cls, theta: FloatArray) -> "Rows":
        """Return dense draws as compressed rows.

        Parameters
        ----------
        theta : array of shape (M, d)
            One row per draw.

        Returns
        -------
        Rows
            The coefficients that are not zero.

        Examples
        --------
        >>> rows = Rows.of(np.array([[0.0, 2.0], [0.0, 0.0]]))
        >>> rows.begins, rows.ends, rows.columns, rows.values
        (array([0, 1]), array([1, 1]), array([1], dtype=int32), array([2.]))
        """
        ends = np.cumsum(np.count_nonzero(theta, axis=1), dtype=np.int64)
        columns, values = np.empty(ends[-1], np.int32), np.empty(ends[-1])
        from sparsebandits.posteriors.kernels.rows import compress  # compiled code, which dense draws do not need

        compress(np.array(theta), columns, values)  # a copy, since a read-only array would be compiled for anew
        return cls(np.concatenate((np.zeros(1, np.int64), ends[:-1])), ends, columns, values, theta.shape[1])

    def __len__(self) -> int:
        return len(self.begins)

    @property
    def arrays(self) -> tuple[Any, Any, Any, Any]:
        """What compiled code takes."""
        return self.begins, self.ends, self.columns, self.values

    @property
    def counts(self) -> IntArray:
        """Number of entries of each row, shape ``(M,)``."""
        return self.ends - self.begins

    def take(self, rows: IntArray) -> "Rows":
        """Return some of the rows, which share their entries with these."""
        return Rows(self.begins[rows], self.ends[rows], self.columns, self.values, self.dimension)

    def entries(self) -> tuple[IntArray, NDArray[np.int32], FloatArray]:
        """Return row, column and value of each entry, row after row."""
        counts = self.counts
        ends = np.cumsum(counts)
        place = np.arange(ends[-1]) + np.repeat(self.begins - (ends - counts), counts)
        return np.repeat(np.arange(len(counts)), counts), self.columns[place], self.values[place]

    def compact(self) -> "Rows":
        """Return the same rows one after the other, each with entries of its own."""
        _, columns, values = self.entries()
        ends = np.cumsum(self.counts)
        return Rows(ends - self.counts, ends, columns, values, self.dimension)

    @cached_property
    def dense(self) -> FloatArray:
        """The draws as an array of shape ``(M, d)``, read-only."""
        theta = np.zeros((len(self), self.dimension))
        row, column, value = self.entries()
        theta[row, column] = value
        return frozen(theta)

    def mean(self, weights: FloatArray) -> FloatArray:
        """Return Σ_m w_m θ^m, shape ``(d,)``."""
        return self._weighted(weights)[0]

    def of_columns(self, weights: FloatArray) -> FloatArray:
        """Return the weight of the draws that have an entry in each column, shape ``(d,)``."""
        return self._weighted(weights)[1]

    def _weighted(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        from sparsebandits.posteriors.kernels.rows import add_weighted

        mean, inside = np.zeros(self.dimension), np.zeros(self.dimension)
        add_weighted(self.arrays, frozen(weights), mean, inside)  # compiled for read-only weights alone
        return mean, inside

    def products(self, x: FloatArray) -> FloatArray:
        """Return ⟨x, θ^m⟩ of each draw, shape ``(M,)``."""
        from sparsebandits.posteriors.kernels.rows import products

        found: FloatArray = products(self.arrays, np.array(x))  # a copy: a read-only array would be compiled for anew
        return found

    def many_products(self, x: FloatArray) -> FloatArray:
        """Return ⟨x_u, θ^m⟩ of each draw for several rows, shape ``(M, U)``."""
        from sparsebandits.posteriors.kernels.rows import many_products

        found: FloatArray = many_products(self.arrays, np.array(x.T, order="C"))
        return found

    def apart(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the mean m, and θ − m split so that small differences keep their digits.

        Returns
        -------
        mean : array of shape (d,)
            m, with equal weights.
        values : array of shape (N,)
            The values, less the mean in columns that all rows have.
        rest : array of shape (d,)
            The mean in the other columns: θ − m is a row with these values, less this.
        """
        size = len(self)
        mean = self.mean(np.full(size, 1.0 / size))
        everywhere = np.bincount(self.entries()[1], minlength=self.dimension) == size
        return mean, self.values - np.where(everywhere, mean, 0.0)[self.columns], np.where(everywhere, 0.0, mean)

    def sums(self, numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the sum of the numbers of each row's columns, modulo 2⁶⁴, shape ``(M,)``."""
        running = np.append(np.uint64(0), np.cumsum(numbers[self.columns], dtype=np.uint64))
        return running[self.ends] - running[self.begins]

    @classmethod
    def after(cls, found: tuple[Any, Any, Any], dimension: int) -> "Rows":
        """Return rows that lie one after the other, from the ends, columns and values that sweeps return."""
        ends, columns, values = found
        return cls(np.append(0, ends[:-1]), ends, columns, values, dimension)

    @classmethod
    def joined(cls, parts: Sequence["Rows"]) -> "Rows":
        """Return the rows of several, one after the other."""
        if len(parts) == 1:
            return parts[0]
        shift = np.cumsum([0, *(len(part.columns) for part in parts[:-1])])
        return cls(
            np.concatenate([part.begins + before for part, before in zip(parts, shift, strict=True)]),
            np.concatenate([part.ends + before for part, before in zip(parts, shift, strict=True)]),
            np.concatenate([part.columns for part in parts]),
            np.concatenate([part.values for part in parts]),
            parts[0].dimension,
        )

    def distinct(self) -> int:
        """Return how many different rows there are."""
        places = np.unique(np.column_stack((self.begins, self.ends)), axis=0)
        some = Rows(places[:, 0], places[:, 1], self.columns, self.values, self.dimension)
        return len({(c.tobytes(), v.tobytes()) for c, v in some._parts()})

    def _parts(self) -> Iterator[tuple[Any, Any]]:
        for begin, end in zip(self.begins.tolist(), self.ends.tolist(), strict=True):
            yield self.columns[begin:end], self.values[begin:end]

    def moments(self) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
        """Return means of inclusions and of coefficients, and the variances of both, each of shape ``(d,)``."""
        size, (_, column, value) = len(self), self.entries()
        inside = np.bincount(column, minlength=self.dimension) / size
        mean = np.bincount(column, value, self.dimension) / size
        squares = np.bincount(column, (value - mean[column]) ** 2, self.dimension) / size  # without cancellation
        return (inside, mean), (inside * (1.0 - inside), squares + (1.0 - inside) * mean * mean)

    def state(self) -> dict[str, Any]:
        """Return the rows as arrays by name."""
        own = self.compact()
        return {"counts": own.counts.astype(np.int32), "columns": own.columns, "values": own.values}

    @classmethod
    def restored(cls, found: Mapping[str, Any], dimension: int) -> "Rows":
        """Return the rows whose :meth:`state` has been read by its layout.

        Parameters
        ----------
        found : mapping
            The state.
        dimension : int
            Number of columns d.

        Returns
        -------
        Rows
            The rows.

        Raises
        ------
        SaveFileError
            If columns do not ascend within a row, if there are too many or too few, or if a value is zero.
        """
        ends = np.cumsum(found["counts"], dtype=np.int64)
        rows = cls(ends - found["counts"], ends, found["columns"], found["values"], dimension)
        if ends[-1] != len(rows.columns):
            raise wrong("rows", f"{len(rows.columns)} entries", f"{ends[-1]}")
        row, column, value = rows.entries()
        place = row * dimension + column
        if (np.diff(place) <= 0).any() or (column >= dimension).any() or not value.all():
            raise wrong("rows", f"ascending columns below {dimension} and values that are not zero", "others")
        return rows
