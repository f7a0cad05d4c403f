"""Tables of users or items as people have them: named columns of numbers, of booleans or of text."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from sparsebandits.arguments import (
    LARGEST,
    ArgumentTypeError,
    ArgumentValueError,
    BoolArray,
    FloatArray,
    IntArray,
    check_matrix,
    columns_of,
    frozen,
    shown,
)

Cells: TypeAlias = FloatArray | BoolArray | tuple[str, ...]
"""A column: numbers, booleans or text."""

Cell: TypeAlias = float | bool | str
"""One value of a column."""

KINDS = "a DataFrame, a list of dictionaries, or an array with one row each"


@dataclass(frozen=True, eq=False)
class Frame:
    """Named columns of equal length, each of numbers, of booleans or of text.

    Parameters
    ----------
    names : tuple of str
        Names of the columns.
    columns : tuple of arrays or of tuples of str
        The cells of each column.
    """

    names: tuple[str, ...]
    columns: tuple[Cells, ...]

    @classmethod
    def of(cls, name: str, value: object, prefix: str) -> "Frame":
        """Read a table.

        Parameters
        ----------
        name : str
            Name of the argument, for errors.
        value : DataFrame, sequence of mappings or Series, mapping of columns, array of shape (n, p), or Frame
            The table.
        prefix : str
            What columns without names are called, before their number.

        Returns
        -------
        Frame
            The table, copied.

        Raises
        ------
        ArgumentError
            If it is something else or has no cells, if two columns have the same name as text, such as 1 and "1", or if
            a column has empty cells, or numbers and text side by side.

        Examples
        --------
        >>> Frame.of("users", [{"age": 31, "country": "DE"}, {"age": 54, "country": "FR"}], "user").names
        ('age', 'country')
        """
        if isinstance(value, Frame):
            return value
        columns: dict[str, Any] | None = columns_of(name, value)
        if columns is None and isinstance(value, Mapping):
            named = _by_name(name, value)
            columns = {column: _column(f"{name}, column {column!r}", cells) for column, cells in named.items()}
        if columns is None and isinstance(value, list | tuple) and value and _has_names(value[0]):
            columns = _of_rows(name, value)
        if columns is None:
            if isinstance(value, str) or not hasattr(value, "__len__"):
                raise ArgumentTypeError(name, KINDS, shown(value))
            matrix = check_matrix(name, value)
            columns = {f"{prefix} {j}": matrix[:, j] for j in range(matrix.shape[1])}
        found = {column: _cells(f"{name}, column {column!r}", cells) for column, cells in columns.items()}
        if len({len(cells) for cells in found.values()}) != 1 or not len(next(iter(found.values()))):
            raise ArgumentValueError(name, "at least one row and one column, all columns of one length", shown(value))
        return cls(tuple(found), tuple(found.values()))

    def __len__(self) -> int:
        return len(self.columns[0])

    def row(self, number: int) -> dict[str, Cell]:
        """Return one row, by column name."""
        return {name: _plain(cells[number]) for name, cells in zip(self.names, self.columns, strict=True)}

    def rows(self, numbers: IntArray) -> "Frame":
        """Return some rows."""
        kept = [
            frozen(cells[numbers]) if isinstance(cells, np.ndarray) else tuple(cells[i] for i in numbers.tolist())
            for cells in self.columns
        ]
        return Frame(self.names, tuple(kept))


def row_of(name: str, value: object, names: Sequence[str]) -> dict[str, Cell]:
    """Read one user: a mapping, a Series, or as many values as there are columns.

    Parameters
    ----------
    name : str
        Name of the argument, for errors.
    value : mapping, Series, DataFrame with one row, or sequence
        The row. Further entries of a mapping are left out.
    names : sequence of str
        Names of the columns that it has to have.

    Returns
    -------
    dict of str to float, bool or str
        The row, by column name.

    Raises
    ------
    ArgumentError
        If it is something else, or if columns are missing; all of them are named.

    Examples
    --------
    >>> row_of("context", {"age": 31, "country": "DE", "id": 7}, ["age", "country"])
    {'age': 31.0, 'country': 'DE'}
    """
    entries: Any = _entries(name, value)
    if isinstance(entries, Mapping):
        entries = _by_name(name, entries)
        missing = [column for column in names if column not in entries]
        if missing:
            got = f"one without {', '.join(missing)}; it has {', '.join(entries) or 'nothing'}"
            raise ArgumentValueError(name, f"a row with {', '.join(names)}", got)
    elif isinstance(entries, str | bytes) or not hasattr(entries, "__len__") or np.ndim(entries) != 1:
        raise ArgumentTypeError(name, f"a row with {', '.join(names)}", shown(value))
    elif len(entries) != len(names):
        raise ArgumentValueError(name, f"{len(names)} values ({', '.join(names)})", f"{len(entries)}")
    else:
        entries = dict(zip(names, entries, strict=True))
    return {column: _plain(_cells(f"{name}, column {column!r}", [entries[column]])[0]) for column in names}


def _has_names(row: Any) -> bool:
    """Return whether a row has names: a mapping, a Series or a DataFrame with one row."""
    return isinstance(row, Mapping) or hasattr(row, "columns") or (hasattr(row, "index") and hasattr(row, "to_dict"))


def _entries(name: str, row: Any) -> Any:
    """Return a row with names as a mapping, and anything else as it is."""
    columns = columns_of(name, row) if hasattr(row, "columns") else None
    if columns is not None:
        if {len(cells) for cells in columns.values()} != {1}:
            raise ArgumentValueError(name, "one row", shown(row))
        return {column: cells[0] for column, cells in columns.items()}
    if isinstance(row, Mapping) or not _has_names(row):
        return row
    _check_names(name, row.index)
    return row.to_dict()


def _by_name(name: str, entries: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a mapping by text; refuse names that are the same as text, of which one would replace the other."""
    found = {str(column): entry for column, entry in entries.items()}
    if len(found) < len(entries):
        _check_names(name, entries)
    return found


def _check_names(name: str, names: Iterable[Any]) -> None:
    twice = [column for column, count in Counter(map(str, names)).items() if count > 1]
    if twice:
        raise ArgumentValueError(name, "a different name for every column", f"{shown(twice)} more than once")


def _of_rows(name: str, rows: Sequence[Any]) -> dict[str, list[Any]]:
    """Return the columns of a list of dictionaries or Series, which all have the same names."""
    by_name: list[dict[str, Any]] = []
    for number, row in enumerate(rows):
        entries = _entries(name, row)
        by_name.append(_by_name(name, entries) if isinstance(entries, Mapping) else {})
        if by_name[-1].keys() != by_name[0].keys() or not isinstance(entries, Mapping):
            raise ArgumentValueError(name, f"rows with {', '.join(by_name[0])}", f"{shown(row)} in row {number}")
    return {column: [row[column] for row in by_name] for column in by_name[0]}


def _column(where: str, cells: Any) -> Any:
    """Return a column of a mapping; refuse one value in its place, and what has no order of rows."""
    if (
        isinstance(cells, str | bytes | Mapping | Set)
        or not hasattr(cells, "__iter__")
        or getattr(cells, "ndim", 1) == 0
    ):
        expected = "one value per row (a table of one row is a list of one dictionary)"
        raise ArgumentTypeError(where, expected, shown(cells))
    return cells


def _cells(where: str, cells: Any) -> Cells:
    """Return a column as numbers, booleans or text; refuse one that is none of them."""
    values = cells.tolist() if isinstance(cells, np.ndarray) else list(cells)
    if any(_empty(one) for one in values):
        raise ArgumentValueError(where, "no empty cells", "at least one (None or NaN)")
    text = [isinstance(one, str) for one in values]
    if values and all(text):
        return tuple(values)
    if values and all(isinstance(one, bool | np.bool_) for one in values):
        return frozen(np.array(values, dtype=bool))
    numbers = [isinstance(one, int | float | np.integer | np.floating | np.bool_) for one in values]
    if not all(numbers):
        strange = values[numbers.index(False)]
        mixed = any(text) and any(numbers)
        expected = "numbers only, or text only" if mixed else "numbers or text"
        raise ArgumentTypeError(where, expected, "both" if mixed else shown(strange))
    try:
        found = np.array([float(one) for one in values])
    except OverflowError:  # an integer beyond all floats
        found = np.array([np.inf])
    if not (np.abs(found) <= LARGEST).all():
        raise ArgumentValueError(where, f"numbers up to {LARGEST:g}", "larger ones")
    return frozen(found)


def _empty(cell: Any) -> bool:
    """Return whether a cell is None, NaN, or the NA of pandas, whose comparisons are neither true nor false."""
    if cell is None or type(cell).__name__ == "NAType":
        return True
    differs = cell != cell  # of an array, which is no cell, an array
    return isinstance(differs, bool | np.bool_) and bool(differs)


def _plain(cell: Any) -> Cell:
    if isinstance(cell, bool | np.bool_):
        return bool(cell)
    return cell if isinstance(cell, str) else float(cell)
