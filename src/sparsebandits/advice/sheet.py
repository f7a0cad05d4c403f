"""The columns of a table: text files, Excel and Parquet files, and DataFrames of pandas, polars or Arrow.

Parquet and Excel files are recognised by their first bytes; any other is read as text. A column is numeric if every
cell that is not empty is a number. Errors say where: the line of a text file, the row of a workbook, of a Parquet file
(from 1) or of a DataFrame (from 0), and the column.
"""

import io
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, NoReturn

import numpy as np

from sparsebandits.advice.cells import MOST_CELLS, Column, as_numbers, as_text, is_number, like_number, typed_columns
from sparsebandits.advice.csv_file import CsvReader
from sparsebandits.advice.dialect import SAMPLE
from sparsebandits.advice.excel import OLD, WORKBOOK, read_workbook
from sparsebandits.advice.values import Numbers
from sparsebandits.arguments import (
    LARGEST,
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    columns_of,
    did_you_mean,
    shown,
)

PARQUET = b"PAR1"
PANDAS_INDEX = "__index_level_0__"
MOST_LISTED = 3
"""Number of cells that a message lists."""

MOST_SHOWN = 200
"""Largest number of characters of column names in a message."""


@dataclass(frozen=True, eq=False)
class Sheet:
    """Columns of equal length, and where they came from.

    Parameters
    ----------
    argument : str
        Argument that errors are about.
    source : str
        Path of the file; empty for a DataFrame.
    columns : mapping of str to Column
        The columns by name, in their order.
    rows : sequence of int
        Number of each row in error messages.
    row_word : str
        What those numbers count: ``"line"`` or ``"row"``.
    index : tuple of str, optional
        Names of the rows that came apart from the columns.
    decimal : {".", ","}, default="."
        Decimal mark of a text file.
    remarks : tuple of str, default=()
        What was assumed about the file.
    problems : tuple of ArgumentValueError, default=()
        What is wrong with its lines.
    found : dict, default={}
        Columns that were read as numbers before, so that each is read once.
    """

    argument: str
    source: str
    columns: Mapping[str, Column]
    rows: Sequence[int]
    row_word: str
    index: tuple[str, ...] | None = None
    decimal: str = "."
    remarks: tuple[str, ...] = ()
    problems: tuple[ArgumentValueError, ...] = ()
    found: dict[str, Numbers | None] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def inside(self) -> str:
        """The file, as the end of a message."""
        return f" in {self.source}" if self.source else ""

    def where(self, row: int, column: str | None = None) -> str:
        """Return the place of a cell or of a row, for a message."""
        place = f"{self.row_word} {self.rows[row]}"
        if column is None:
            return place
        return f"{place}, column {shown(column)}" + (f" of {self.source}" if self.source else "")

    def listed(self, column: str, cells: Sequence[tuple[int, str]]) -> str:
        """Return cells of a column, by row, and their places, for a message; the first few of many."""
        places = [f"{cell or 'an empty cell'} in {self.row_word} {self.rows[row]}" for row, cell in cells]
        more = f" and {len(places) - MOST_LISTED} more" if len(places) > MOST_LISTED else ""
        inside = f" of {self.source}" if self.source else ""
        return f"{', '.join(places[:MOST_LISTED])}{more}, column {shown(column)}{inside}"

    def known(self, name: str) -> str:
        """Return the name of a column, or raise an error that lists the names there are."""
        if name in self.columns:
            return name
        listed = ", ".join(map(repr, self.columns))
        listed = listed if len(listed) <= MOST_SHOWN else f"{listed[:MOST_SHOWN]}..."
        got = f"{listed}{self.inside}{did_you_mean(name, self.columns)}"
        raise ArgumentValueError(self.argument, f"a column {name!r}", got)

    def matching(self, argument: str, patterns: str | Sequence[str]) -> list[str]:
        """Return the columns with these names or patterns, in the order of the table; each has to match one."""
        try:
            wanted = [patterns] if isinstance(patterns, str) else list(patterns)
        except TypeError:
            raise ArgumentTypeError(argument, "names of columns", shown(patterns)) from None
        found: set[str] = set()
        for pattern in wanted:
            if not isinstance(pattern, str):
                raise ArgumentTypeError(argument, "names of columns", shown(pattern))
            matches = {column for column in self.columns if fnmatchcase(column, pattern)}
            found |= {self.known(pattern)} if pattern in self.columns or not matches else matches
        return [column for column in self.columns if column in found]

    def name_column(self, besides: Collection[str] = ()) -> str | None:
        """Return the column that names the rows: the first if it has no name of its own, else the first of text.

        There is none if an index of words names them.
        """
        if self.index is not None and not all(map(is_number, self.index)):
            return None
        left = [name for name in self.columns if name not in besides]
        if left and left[0] in ("", PANDAS_INDEX):
            return left[0]
        words = (name for name in left if self.columns[name].numbers is None)
        return next((name for name in words if self.columns[name].names_rows()), None)

    def numbers(self, names: Sequence[str], largest: float = LARGEST, empty: bool = False) -> FloatArray:
        """Return columns of finite numbers side by side, ``(rows, columns)``.

        Parameters
        ----------
        names : sequence of str
            The columns.
        largest : float, default=1e50
            Largest magnitude of a number.
        empty : bool, default=False
            Whether cells may be empty; these are NaN in the result.
        """
        matrix = np.empty((len(self), len(names)), order="F")
        for name in names:
            if self.columns[name].numbers is None:
                self._refuse_text(name)
        for place, name in enumerate(names):
            numbers = np.asarray(self.columns[name].numbers)
            wrong = ~(np.abs(numbers) <= largest)  # NaN too
            if empty:
                wrong &= ~np.isnan(numbers)
            if wrong.any():
                self._refuse_number(name, int(wrong.argmax()), largest)
            matrix[:, place] = numbers
        return matrix

    def _refuse_number(self, name: str, row: int, largest: float) -> NoReturn:
        column, where = self.columns[name], self.where(row, name)
        if column.cells[row] == "":
            hint = "a feature needs a value in every row; if this column holds rewards, name it, else ignore it"
            raise ArgumentValueError(self.argument, "a number in every cell", f"an empty cell in {where}; {hint}")
        expected = f"finite numbers of magnitude at most {largest:g}"
        number = np.nan if column.numbers is None else column.numbers[row]
        raise ArgumentValueError(self.argument, expected, f"{number:g} in {where}")

    def _refuse_text(self, name: str) -> NoReturn:
        column = self.columns[name]
        text = column.kind == "text"
        filled = [row for row, cell in enumerate(column.cells) if cell]
        wrong = [row for row in filled if not (text and as_numbers([column.cells[row]], self.decimal) is not None)]
        row = next(iter(wrong or filled), 0)
        cell = column.cells[row]
        got, hint = shown(cell) if text else column.kind, ""
        if not filled:
            got = "an empty cell"
        elif not wrong:  # a column of text in a table with types, all digits
            got, hint = f"the text {got}", "; convert them to numbers, or say that the column holds names"
        elif text and like_number(cell):
            hint = f"; numbers are written with a decimal {'comma' if self.decimal == ',' else 'point'}"
        where = self.where(row, name)
        raise ArgumentValueError(self.argument, "a number in every cell", f"{got} in {where}{hint}")


def sheet_of(argument: str, value: object, kept: Collection[str] = (), decimal: str | None = None) -> Sheet:
    """Return the file at a path, or a DataFrame, as a sheet; the other arguments are as for :func:`read_sheet`."""
    if isinstance(value, Sheet):
        return value
    if isinstance(value, str | os.PathLike):
        return read_sheet(argument, value, kept, decimal)
    arrays = columns_of(argument, value)
    if arrays is None:
        raise ArgumentTypeError(argument, "a DataFrame or the path of a file", shown(value))
    index: Any = getattr(value, "index", None)  # only pandas has one
    plain = index is None or (type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1))
    names = None if plain else tuple(as_text(index))
    count = len(next(iter(arrays.values()))) if arrays else 0
    return Sheet(argument, "", typed_columns(arrays), range(count), "row", names, decimal or ".")


def read_sheet(
    argument: str, path: str | os.PathLike[str], kept: Collection[str] = (), decimal: str | None = None
) -> Sheet:
    """Return the text, Excel or Parquet file at ``path``.

    Parameters
    ----------
    argument : str
        Argument that errors are about.
    path : str or path
        The file.
    kept : collection of str, default=()
        Columns whose numbers are needed as they are written.
    decimal : {".", ","}, optional
        Decimal mark of a text file, if it is known.
    """
    try:
        with io.BufferedReader(io.FileIO(path), SAMPLE) as file:  # once: it may be a pipe
            first = file.peek(len(PARQUET))[: len(PARQUET)]
            if first not in (PARQUET, WORKBOOK, OLD):
                reader = CsvReader(argument, path, decimal)
                columns, lines = reader.read(file, kept)
                mark = reader.dialect.decimal
                return Sheet(argument, str(path), columns, lines, "line", None, mark, reader.remarks, reader.problems)
            content = file.read()
    except ArgumentValueError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        why = getattr(error, "strerror", None) or error
        raise OSError(f"{argument}: expected a text, Excel or Parquet file, got {path}: {why}") from error
    if first == OLD:
        expected = "a text file, an .xlsx workbook or Parquet"
        raise ArgumentValueError(argument, expected, f"the format of old Excel versions in {path}; save it as .xlsx")
    if first == WORKBOOK:
        columns, rows, remarks = read_workbook(argument, path, content)
        return Sheet(argument, str(path), columns, rows, "row", None, decimal or ".", remarks)
    return _from_parquet(argument, path, content)


def _from_parquet(argument: str, path: str | os.PathLike[str], content: bytes) -> Sheet:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        hint = "pip install 'sparsebandits[results]'"
        raise OSError(f"{argument}: {path} is a Parquet file, which needs pyarrow ({hint})") from error
    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        count = file.metadata.num_rows * file.metadata.num_columns
        if count > MOST_CELLS:
            raise ArgumentValueError(argument, f"at most {MOST_CELLS} cells", f"{count} in {path}")
        table = file.read()
    except (pa.ArrowException, OSError) as error:
        raise ArgumentValueError(argument, "a complete Parquet file", f"{path}: {error}") from None
    arrays = columns_of(argument, table) or {}
    if PANDAS_INDEX in arrays:  # pandas writes it last
        arrays = {PANDAS_INDEX: arrays.pop(PANDAS_INDEX), **arrays}
    return Sheet(argument, str(path), typed_columns(arrays), range(1, table.num_rows + 1), "row")
