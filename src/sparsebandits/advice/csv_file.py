"""CSV files: UTF-8 text with commas between cells, decimal points in numbers, and a first line of column names.

A file is read once, from its beginning to its end, in batches of lines, so that it may be a pipe and need not fit into
memory as text. Of a column of numbers only the numbers are kept, unless its text is asked for.
"""

import csv
import io
import os
from array import array
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import BinaryIO

import numpy as np

from sparsebandits.advice.cells import MOST_CELLS, Column, as_numbers, is_number, number_text, unescaped
from sparsebandits.arguments import ArgumentValueError, FloatArray, shown

LONGEST_LINE = 1 << 24
"""Largest number of characters in a line."""

BATCH = 250_000
"""Number of cells that are held as text at a time, or those of ``LEAST_ROWS`` rows."""

LEAST_ROWS = 64


class CsvReader:
    """Reads one file.

    Parameters
    ----------
    argument : str
        Argument that errors are about.
    path : str or path
        The name of the file, for errors.
    """

    def __init__(self, argument: str, path: str | os.PathLike[str]) -> None:
        self.argument, self.path = argument, path

    def read(self, file: BinaryIO, kept: Collection[str] = ()) -> tuple[dict[str, Column], Sequence[int]]:
        """Return the columns by name, and the line of each row.

        Parameters
        ----------
        file : binary file
            The file, at its beginning.
        kept : collection of str, default=()
            Columns whose cells are needed as they are written, besides the first one.

        Raises
        ------
        ArgumentValueError
            If it is not such a file, or larger than is allowed; the error names the line.
        """
        text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
        try:
            rows = self._rows(self._lines(text))
            _, header = next(rows, (0, None))
            if header is None:
                raise self._error("a line of column names and lines of cells", f"nothing in {self.path}")
            names = [cell.strip() for cell in header]
            self._check_names(names)
            return self._columns(names, self._table(rows, len(names)), kept)
        except UnicodeError:
            raise self._error("UTF-8 text or Parquet", f"something else in {self.path}") from None
        except csv.Error as error:
            raise self._error("CSV", f"something else in {self.path}: {error}") from None
        finally:
            text.detach()

    def _lines(self, text: io.TextIOWrapper) -> Iterator[str]:
        """Yield the lines with their ends; a device without an end has no lines, or endless ones."""
        for line in iter(partial(text.readline, LONGEST_LINE), ""):
            if "\0" in line:
                raise UnicodeError
            if len(line) == LONGEST_LINE:
                raise self._error(f"lines of fewer than {LONGEST_LINE} characters", f"more in {self.path}")
            yield line

    def _rows(self, lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
        """Yield line and cells of each row that is not empty."""
        reader, count = csv.reader(lines, strict=True), 0
        for row in reader:
            count += len(row)
            if count > MOST_CELLS:
                raise self._error(f"at most {MOST_CELLS} cells", f"more in {self.path}")
            if row:
                yield reader.line_num, row

    def _table(self, rows: Iterator[tuple[int, list[str]]], width: int) -> Iterator[tuple[int, list[str]]]:
        """Yield line and cells of each row, without the empty lines that spreadsheets leave at the end."""
        empty: list[tuple[int, list[str]]] = []
        for line, row in rows:
            if not any(cell and not cell.isspace() for cell in row):
                empty.append((line, row))
                continue
            for number, cells in (*empty, (line, row)):
                if len(cells) != width:
                    got = f"{len(cells)} in line {number} of {self.path}"
                    raise self._error(f"{width} cells, one per column", got)
                yield number, cells
            empty.clear()

    def _columns(
        self, names: Sequence[str], rows: Iterator[tuple[int, list[str]]], kept: Collection[str]
    ) -> tuple[dict[str, Column], Sequence[int]]:
        gathered = [_Gathered(keep=place == 0 or name in kept) for place, name in enumerate(names)]
        lines = array("q")
        while batch := list(islice(rows, max(LEAST_ROWS, BATCH // len(names)))):
            lines.extend(line for line, _ in batch)
            for column, cells in zip(gathered, zip(*(row for _, row in batch), strict=True), strict=True):
                column.add(cells)
        return {name: column.column() for name, column in zip(names, gathered, strict=True)}, lines

    def _check_names(self, names: Sequence[str]) -> None:
        """Refuse a first line of data, and names that are empty or repeated; pandas may write 0, 1, 2, … as names."""
        for mark, word in {";": "semicolons", "\t": "tabs"}.items():
            if len(names) == 1 and mark in names[0]:
                hint = "save it with commas, and with points in numbers"
                raise self._error("commas between cells", f"{word} in {self.path}; {hint}")
        named = list(names[1:] if names[0] == "" else names)
        numbers = [name for name in named if is_number(name)]
        if numbers and named != [str(column) for column in range(len(named))]:
            raise self._error("a first line of column names", f"the number {shown(numbers[0])} in {self.path}")
        if "" in named:
            raise self._error("a name for each column after the first", f"an empty one in {self.path}")
        repeated = sorted(name for name, count in Counter(named).items() if count > 1)
        if repeated:
            raise self._error("columns with different names", f"more than one of {shown(repeated)} in {self.path}")

    def _error(self, expected: str, got: str) -> ArgumentValueError:
        return ArgumentValueError(self.argument, expected, got)


class _Gathered:
    """The cells of one column that were read so far: numbers, as long as all of them are, or text."""

    def __init__(self, keep: bool) -> None:
        self.keep = keep
        self.numbers: list[FloatArray] | None = []
        self.nans: list[int] = []
        self.text: list[str] = []
        self.count = 0

    def add(self, cells: Sequence[str]) -> None:
        """Add the cells of a batch."""
        if self.numbers is not None:
            found = as_numbers(cells)
            if found is None:
                if not self.keep:
                    self.text = number_text(self._all(), self.nans)
                self.numbers = None
            else:
                self.numbers.append(found)
                unknown = np.flatnonzero(np.isnan(found)).tolist()
                self.nans += [self.count + row for row in unknown if cells[row] and not cells[row].isspace()]
        if self.keep or self.numbers is None:
            self.text += [unescaped(cell.strip()) for cell in cells]
        self.count += len(cells)

    def _all(self) -> FloatArray:
        return np.concatenate((np.empty(0), *(self.numbers or ())))

    def column(self) -> Column:
        """Return the column, and forget the batches."""
        numbers = None if self.numbers is None else self._all()
        self.numbers = None
        return Column(numbers, self.text if self.keep or numbers is None else None, nans=self.nans, ready=True)
