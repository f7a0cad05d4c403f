"""Cells of a table: which of them are numbers, their text, and text that a spreadsheet does not take for a formula.

Columns are read as a whole. The text of their cells is made only where it is needed: for names, and for errors.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sparsebandits.arguments import LARGEST, FloatArray

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""What a cell begins with that a spreadsheet takes for a formula, or drops before it looks for one."""

MOST_CELLS = 200_000_000
"""Largest number of cells of a table; as numbers they take 1.6 GB."""

MANY = 1000
"""Number of cells from which pyarrow is worth its import; it reads numbers three times as fast as Python."""


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a table.

    Parameters
    ----------
    numbers : array of shape (rows,) or None
        The cells as numbers, NaN where a cell is empty; None if some cell is not a number.
    values : sequence or None
        The cells as they came; None if only their numbers were kept.
    kind : str, default="text"
        What the cells are that are not numbers.
    nans : collection of int, default=()
        Rows in which a file says that the number is NaN, where only numbers were kept: these cells are not empty.
    ready : bool, default=False
        Whether the values are the text of the cells already.
    """

    numbers: FloatArray | None
    values: Sequence[Any] | None
    kind: str = "text"
    nans: Iterable[int] = ()
    ready: bool = False

    @cached_property
    def cells(self) -> list[str]:
        """The cells as text, empty where a value is missing."""
        if self.values is not None:
            return list(self.values) if self.ready else as_text(self.values)
        return [] if self.numbers is None else number_text(self.numbers, self.nans)

    def names_rows(self) -> bool:
        """Return whether this column, not of numbers, may hold names: no cell is empty or reads like a number."""
        return self.kind == "text" and not any(cell == "" or like_number(cell) for cell in self.cells)


def is_number(cell: str) -> bool:
    """Return whether a cell of a text file reads as a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # Python reads 1_000, other programs do not


def like_number(cell: str) -> bool:
    """Return whether a cell reads as a number, perhaps with a decimal comma."""
    return is_number(cell) or is_number(cell.replace(",", "."))


def as_numbers(cells: Sequence[str], decimal: str = ".") -> FloatArray | None:
    """Return cells as numbers, NaN where they are empty, or None if one is something else.

    Parameters
    ----------
    cells : sequence of str
        The cells.
    decimal : {".", ","}, default="."
        The decimal mark. With a comma, a cell with a point is no number, since that may separate thousands.
    """
    if decimal == ",":
        cells = [_with_point(cell) for cell in cells]
    found = _by_arrow(cells) if len(cells) >= MANY else None
    if found is not None:
        return found
    try:
        numbers = np.array([float(cell) if cell and not cell.isspace() else np.nan for cell in cells])
    except ValueError:
        return None
    return None if any("_" in cell for cell in cells) else numbers  # as in is_number


def _with_point(cell: str) -> str:
    """Return a number with a decimal comma as one with a point; one with a point becomes text."""
    if "." in cell:
        return f"{cell}?"
    return cell.replace(",", ".") if cell.count(",") == 1 else cell


def _by_arrow(cells: Sequence[str]) -> FloatArray | None:
    """Return many cells as numbers, or None where pyarrow may differ from Python: spaces, empty cells, NaN, text."""
    try:
        import pyarrow
    except ImportError:
        return None
    try:
        numbers = pyarrow.array(cells, pyarrow.string()).cast(pyarrow.float64()).to_numpy()
    except (pyarrow.ArrowException, UnicodeError):
        return None
    return None if np.isnan(numbers).any() else np.asarray(numbers, dtype=np.float64)


def as_text(values: Iterable[Any]) -> list[str]:
    """Return cells, or labels, as a text file would have them: whole numbers without a point, nothing if missing."""
    return [_as_text(value) for value in values]


def _as_text(value: Any) -> str:
    if value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int) and abs(value) > LARGEST:
        return "inf" if value > 0 else "-inf"  # too long to show
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


def number_text(numbers: FloatArray, nans: Iterable[int]) -> list[str]:
    """Return numbers as text: nothing for a NaN, except in the rows ``nans``."""
    cells = as_text(numbers.tolist())
    for row in nans:
        cells[row] = "nan"
    return cells


def escaped(cell: str) -> str:
    """Return text for a CSV file, with an apostrophe before what a spreadsheet would take for a formula.

    Numbers stay as they are. :func:`unescaped` gives the text back.

    Examples
    --------
    >>> escaped("=1+1"), escaped("-5"), escaped("size"), unescaped(escaped("=1+1"))
    ("'=1+1", '-5', 'size', '=1+1')
    """
    return f"'{cell}" if _like_formula(cell) else cell


def unescaped(cell: str) -> str:
    """Return the text that :func:`escaped` made a cell from."""
    return cell[1:] if cell.startswith("'") and _like_formula(cell) else cell


def _like_formula(cell: str) -> bool:
    """Return whether a cell, after any apostrophes, would be a formula."""
    bare = cell.lstrip("'")
    return bare.startswith(FORMULA) and not is_number(bare)


def typed_columns(arrays: Mapping[str, Any]) -> dict[str, Column]:
    """Return the columns of a table with types; an empty cell is None, NaN, or what pandas has for them."""
    return {name: _typed(array) for name, array in arrays.items()}


def _typed(array: Any) -> Column:
    if array.dtype.kind in "fiub":
        return Column(array.astype(np.float64), array.tolist())
    values = array.astype("datetime64[us]").tolist() if array.dtype.kind == "M" else array.tolist()
    if array.dtype.kind not in "OUST":
        return Column(None, values, str(array.dtype))
    if any(isinstance(value, str) for value in values):
        return Column(None, values)
    cells = as_text(values)  # integers with empty cells, or decimals
    numbers = as_numbers(cells)
    if numbers is not None:
        return Column(numbers, cells)
    other = next(value for value, cell in zip(values, cells, strict=True) if cell and not is_number(cell))
    return Column(None, values, type(other).__name__)
