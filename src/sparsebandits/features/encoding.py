"""Encoding of tables: numbers in standard units, booleans as 0 and 1, and one indicator per category of text.

A number x becomes (x − mean) / sd, with mean and sd of the table that the encoding was made from, so that products of
two columns do not repeat what each says alone. False is 0 and True is 1, so that a product with a column of booleans is
zero for those who have not what it says. A category that was not in that table has no indicator: all are zero.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sparsebandits.arguments import LARGEST, FloatArray
from sparsebandits.features.frame import Frame

ROUNDING = 1e-12
"""Spread of a column, as a share of its largest number, below which it is constant."""

SMALLEST = 1.0 / LARGEST**6
"""Spread below which a column is constant, 1e-300: numbers in this unit would have few digits."""


@dataclass(frozen=True)
class Column:
    """How one column is encoded.

    Parameters
    ----------
    name : str
        Name of the column.
    levels : tuple of str, optional
        Categories, if the column is text.
    centre, scale : float
        What is subtracted from numbers, and what they are divided by after that.
    """

    name: str
    levels: tuple[str, ...] | None = None
    centre: float = 0.0
    scale: float = 1.0

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the numbers that the column becomes."""
        return (self.name,) if self.levels is None else tuple(f"{self.name}={level}" for level in self.levels)


@dataclass(frozen=True)
class Encoding:
    """How a table becomes a matrix.

    Parameters
    ----------
    columns : tuple of Column
        How each column is encoded.

    Examples
    --------
    >>> table = Frame.of("users", [{"age": 30, "country": "DE"}, {"age": 50, "country": "FR"}], "user")
    >>> encoding = Encoding.of(table)
    >>> encoding.names
    ('age', 'country=DE', 'country=FR')
    >>> encoding.encoded(table)
    array([[-1.,  1.,  0.],
           [ 1.,  0.,  1.]])
    """

    columns: tuple[Column, ...]

    @classmethod
    def of(cls, table: Frame) -> "Encoding":
        """Return the encoding in the standard units of a table, with its categories in alphabetical order.

        Parameters
        ----------
        table : Frame
            The table.

        Returns
        -------
        Encoding
        """
        return cls(tuple(_column(*one) for one in zip(table.names, table.columns, strict=True)))

    @classmethod
    def plain(cls, names: tuple[str, ...]) -> "Encoding":
        """Return the encoding that takes numbers as they are.

        Parameters
        ----------
        names : tuple of str
            Names of the columns.

        Returns
        -------
        Encoding
        """
        return cls(tuple(Column(name) for name in names))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of the matrix."""
        return tuple(name for column in self.columns for name in column.names)

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """Name of the column of the table that each column of the matrix is made of."""
        return tuple(column.name for column in self.columns for _ in column.names)

    def encoded(self, table: Frame) -> FloatArray:
        """Return a table as a matrix.

        Parameters
        ----------
        table : Frame
            A table with these columns.

        Returns
        -------
        array of shape (n, p)
        """
        cells = dict(zip(table.names, table.columns, strict=True))
        return np.column_stack([_encoded(column, cells[column.name]) for column in self.columns])

    def encoded_row(self, row: Mapping[str, Any]) -> FloatArray:
        """Return one row as numbers.

        Parameters
        ----------
        row : mapping
            A value for each column.

        Returns
        -------
        array of shape (p,)
        """
        found: list[float] = []
        for column in self.columns:
            cell = row[column.name]
            if column.levels is None:
                found.append((cell - column.centre) / column.scale)
            else:
                found.extend(1.0 if cell == level else 0.0 for level in column.levels)
        return np.array(found)


def _column(name: str, cells: Any) -> Column:
    if isinstance(cells, tuple):
        return Column(name, tuple(sorted(set(cells))))
    if cells.dtype == np.bool_:
        return Column(name)
    largest = float(np.abs(cells).max())
    unit = (
        2.0 ** math.frexp(largest)[1]
    )  # since squares of numbers such as 1e-200 are zero; a power of 2 rounds nothing
    own = cells / unit
    centre, spread = float(own.mean()) * unit, float(own.std()) * unit
    constant = spread <= max(ROUNDING * largest, SMALLEST)
    return Column(name, None, centre, 1.0 if constant else spread)


def _encoded(column: Column, cells: Any) -> FloatArray:
    if column.levels is None:
        return (np.asarray(cells, dtype=np.float64) - column.centre) / column.scale
    return np.array([[1.0 if cell == level else 0.0 for level in column.levels] for cell in cells])
