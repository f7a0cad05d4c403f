"""Tables that people have, as columns: CSV and Parquet files, and DataFrames of pandas, polars or Arrow.

A CSV file is UTF-8 text with commas between cells and a decimal point in numbers, and begins with a line of column
names. A Parquet file is told by its first bytes. A column is numbers if every cell that is not empty is one. Errors say
where: the line of a CSV file, the row of a Parquet file (from 1) or of a DataFrame (from 0), and the column.
"""

import csv
import io
import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from sparsebandits.arguments import LARGEST, ArgumentTypeError, ArgumentValueError, FloatArray, columns_of, shown

PARQUET = b"PAR1"
PANDAS_INDEX = "__index_level_0__"
MOST_SHOWN = 200
"""Characters of the names of columns in a message, at most."""


@dataclass(frozen=True, eq=False)
class Column:
    """One column: its numbers, NaN where a cell is empty, or None if it holds anything else; and its cells as text."""

    name: str
    numbers: FloatArray | None
    cells: Sequence[str]
    kind: str = "text"  # of what is no number

    def names_rows(self) -> bool:
        """Whether this could be names: text in every cell, and a number in none, with a decimal comma neither."""
        return self.numbers is None and self.kind == "text" and not any(c == "" or _like_number(c) for c in self.cells)


@dataclass(frozen=True, eq=False)
class Sheet:
    """Columns of equal length, and where they came from."""

    argument: str  # that errors are about
    source: str  # the path of a file; empty for a DataFrame
    columns: tuple[Column, ...]
    rows: Sequence[int]  # what errors call the rows,
    row_word: str  # and whether those are lines or rows
    index: tuple[str, ...] | None = None  # names of the rows that came apart from the columns

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def inside(self) -> str:
        """The file, as the end of a message."""
        return f" in {self.source}" if self.source else ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        listed = ", ".join(map(repr, self.names))
        listed = listed if len(listed) <= MOST_SHOWN else f"{listed[:MOST_SHOWN]}..."
        near = get_close_matches(name, self.names, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ArgumentValueError(self.argument, f"a column {name!r}", f"{listed}{self.inside}{hint}")

    def where(self, row: int, column: str) -> str:
        """Return the place of a cell, for a message."""
        of = f" of {self.source}" if self.source else ""
        return f"{self.row_word} {self.rows[row]}, column {shown(column)}{of}"

    def name_column(self, besides: Collection[str] = ()) -> str | None:
        """Return the column that names the rows: the first without a name of its own, or the first of text.

        An index of words comes before it.
        """
        if self.index is not None and not all(map(is_number, self.index)):
            return None
        left = [column for column in self.columns if column.name not in besides]
        if left and left[0].name in ("", PANDAS_INDEX):
            return left[0].name
        return next((column.name for column in left if column.names_rows()), None)

    def matching(self, argument: str, patterns: str | Sequence[str]) -> list[str]:
        """Return the columns of those names or patterns, in the order of the table; each has to find one."""
        if not isinstance(patterns, str | Iterable):
            raise ArgumentTypeError(argument, "names of columns", shown(patterns))
        wanted = [patterns] if isinstance(patterns, str) else list(patterns)
        found: set[str] = set()
        for pattern in wanted:
            if not isinstance(pattern, str):
                raise ArgumentTypeError(argument, "names of columns", shown(pattern))
            matches = {column for column in self.names if fnmatchcase(column, pattern)}
            found |= {self[pattern].name} if pattern in self.names or not matches else matches
        return [column for column in self.names if column in found]

    def refuse_empty(self) -> None:
        """Require at least one row and one column."""
        if not self.columns:
            raise ArgumentValueError(self.argument, "at least one column", f"none{self.inside}")
        if not len(self):
            what = "one line an action after the column names" if self.row_word == "line" else "one row an action"
            raise ArgumentValueError(self.argument, what, f"none{self.inside}")

    def numbers(self, name: str, largest: float = LARGEST, empty: bool = False) -> FloatArray:
        """Return a column of finite numbers, NaN in empty cells if those are allowed."""
        column = self[name]
        if column.numbers is None:
            self._refuse_text(column)
        wrong = ~(np.abs(column.numbers) <= largest)
        if empty:
            wrong &= ~np.isnan(column.numbers)
        for row in np.flatnonzero(wrong).tolist():
            where, number = self.where(row, name), column.numbers[row]
            if column.cells[row] == "":
                hint = "features have no gaps; name a column of rewards, or ignore it"
                raise ArgumentValueError(self.argument, "a number in every cell", f"an empty cell in {where}; {hint}")
            expected = f"finite numbers of magnitude at most {largest:g}"
            raise ArgumentValueError(self.argument, expected, f"{number:g} in {where}")
        return column.numbers

    def _refuse_text(self, column: Column) -> NoReturn:
        text = column.kind == "text"
        wrong = [row for row, cell in enumerate(column.cells) if cell and not (text and is_number(cell))]
        if wrong:
            cell = column.cells[wrong[0]]
            got = shown(cell) if text else column.kind
            hint = "; numbers are written with a decimal point" if text and _like_number(cell) else ""
        else:  # a table that knows its kinds has a column of text, and digits in it
            wrong = [row for row, cell in enumerate(column.cells) if cell]
            got, hint = f"the text {shown(column.cells[wrong[0]])}", "; make them numbers, or say that they are names"
        where = self.where(wrong[0], column.name)
        raise ArgumentValueError(self.argument, "a number in every cell", f"{got} in {where}{hint}")

    def matrix(self, names: Sequence[str], largest: float = LARGEST) -> FloatArray:
        """Return columns of finite numbers side by side, ``(rows, columns)``."""
        return np.column_stack([self.numbers(name, largest) for name in names])


def is_number(cell: str) -> bool:
    """Whether a cell of a text file reads as a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # Python reads 1_000, nobody else does


def _like_number(cell: str) -> bool:
    return is_number(cell) or is_number(cell.replace(",", "."))


def sheet_of(argument: str, value: object) -> Sheet:
    """Return the file at a path, or a DataFrame, as a sheet."""
    if isinstance(value, str | os.PathLike):
        return read_sheet(argument, value)
    columns = columns_of(argument, value)
    if columns is None:
        raise ArgumentTypeError(argument, "a DataFrame or the path of a file", shown(value))
    index = getattr(value, "index", None)  # pandas has one
    plain = index is None or (type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1))
    names = None if plain else tuple(plain_text(label) for label in index)  # type: ignore[union-attr]
    count = len(next(iter(columns.values()))) if columns else 0
    typed = tuple(column_of(name, array) for name, array in columns.items())
    return Sheet(argument, "", typed, range(count), "row", names)


def read_sheet(argument: str, path: str | os.PathLike[str]) -> Sheet:
    """Return the CSV or Parquet file at ``path``."""
    try:
        content = Path(path).read_bytes()  # once: it may be a pipe
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        why = getattr(error, "strerror", None) or error
        raise OSError(f"{argument}: expected a CSV or Parquet file, got {path}: {why}") from error
    return (_from_parquet if content.startswith(PARQUET) else _from_csv)(argument, path, content)


def _from_csv(argument: str, path: str | os.PathLike[str], content: bytes) -> Sheet:
    try:
        text = content.decode("utf-8-sig")
        if "\0" in text:
            raise UnicodeError
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        lines = [(reader.line_num, row) for row in reader if row]
    except UnicodeError:
        raise ArgumentValueError(argument, "UTF-8 text or Parquet", f"something else in {path}") from None
    except csv.Error as error:
        raise ArgumentValueError(argument, "CSV", f"something else in {path}: {error}") from None
    if not lines:
        raise ArgumentValueError(argument, "a line of column names and lines of cells", f"nothing in {path}")
    while len(lines) > 1 and not any(cell.strip() for cell in lines[-1][1]):  # as spreadsheets leave them at the end
        lines.pop()
    (_, header), rows = lines[0], lines[1:]
    names = [name.strip() for name in header]
    marks = {";": "semicolons", "\t": "tabs"}
    for mark, word in marks.items():
        if len(names) == 1 and mark in names[0]:
            hint = "save it with commas, and with points in numbers"
            raise ArgumentValueError(argument, "commas between cells", f"{word} in {path}; {hint}")
    _check_names(argument, path, names)
    for line, row in rows:
        if len(row) != len(names):
            expected = f"{len(names)} cells, one a column"
            raise ArgumentValueError(argument, expected, f"{len(row)} in line {line} of {path}")
    columns = tuple(_parsed(name, [row[j].strip() for _, row in rows]) for j, name in enumerate(names))
    return Sheet(argument, str(path), columns, [line for line, _ in rows], "line")


def _parsed(name: str, cells: list[str]) -> Column:
    if not all(cell == "" or is_number(cell) for cell in cells):
        return Column(name, None, cells)
    return Column(name, np.array([float(cell) if cell else np.nan for cell in cells]), cells)


def _check_names(argument: str, path: str | os.PathLike[str], names: Sequence[str]) -> None:
    """Refuse a first line that is data, empty names and names that come twice; 0, 1, 2, … are names, by pandas."""
    named = names[1:] if names[0] == "" else names
    numbers = [name for name in named if is_number(name)]
    if numbers and list(named) != [str(column) for column in range(len(named))]:
        got = f"the number {shown(numbers[0])} in {path}"
        raise ArgumentValueError(argument, "a first line of column names", got)
    if "" in named:
        raise ArgumentValueError(argument, "a name for each column after the first", f"an empty one in {path}")
    twice = sorted({name for name in named if list(named).count(name) > 1})
    if twice:
        got = f"more than one of {shown(twice)} in {path}"
        raise ArgumentValueError(argument, "columns with names of their own", got)


def _from_parquet(argument: str, path: str | os.PathLike[str], content: bytes) -> Sheet:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        hint = "pip install 'sparsebandits[results]'"
        raise OSError(f"{argument}: {path} is a Parquet file, which needs pyarrow ({hint})") from error
    try:
        table = pq.ParquetFile(pa.BufferReader(content)).read()
    except (pa.ArrowException, OSError) as error:
        raise ArgumentValueError(argument, "a whole Parquet file", f"{path}: {error}") from None
    columns = columns_of(argument, table) or {}
    index = columns.pop(PANDAS_INDEX, None)
    ordered = {**({} if index is None else {PANDAS_INDEX: index}), **columns}  # pandas writes it last
    typed = tuple(column_of(name, array) for name, array in ordered.items())
    return Sheet(argument, str(path), typed, range(1, table.num_rows + 1), "row")


def column_of(name: str, array: Any) -> Column:
    """Return a column of a table that knows its kinds; an empty cell is None, NaN, or what pandas has for them."""
    if array.dtype.kind in "fiub":
        numbers = array.astype(np.float64)
        return Column(name, numbers, [plain_text(cell) for cell in array.tolist()])
    if array.dtype.kind not in "OUST":
        return Column(name, None, [str(cell) for cell in array.tolist()], str(array.dtype))
    cells = array.tolist()
    words = [plain_text(cell) for cell in cells]
    if any(isinstance(cell, str) for cell in cells):
        return Column(name, None, words)
    if all(word == "" or is_number(word) for word in words):  # whole numbers with empty cells, decimals
        return Column(name, np.array([float(word) if word else np.nan for word in words]), words)
    other = next(cell for cell, word in zip(cells, words, strict=True) if word and not is_number(word))
    return Column(name, None, words, type(other).__name__)


def plain_text(cell: Any) -> str:
    """Return a cell, or a label, as a text file would have it; nothing for what is missing."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and cell != cell):
        return ""
    if isinstance(cell, bool):
        return str(int(cell))
    if isinstance(cell, int) and abs(cell) > LARGEST:
        return "inf" if cell > 0 else "-inf"  # too long to show
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell).strip()
