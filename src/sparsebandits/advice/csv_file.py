"""Text files of tables: a first line of column names, then one line per row, in the dialect that ``dialect.py`` finds.

A file is read once, from its beginning to its end, in batches of lines, so that it may be a pipe and need not fit into
memory as text. Of a column of numbers only the numbers are kept, unless its text is asked for. Lines with too many or
too few cells are gathered, so that all of them can be complained about at once.
"""

import csv
import io
import os
import re
from array import array
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, BinaryIO

import numpy as np

from sparsebandits.advice.cells import MOST_CELLS, Column, as_numbers, number_text, unescaped
from sparsebandits.advice.dialect import SAMPLE, Dialect, latin, sniff
from sparsebandits.advice.header import column_names, left_out, without_blank
from sparsebandits.advice.values import is_code
from sparsebandits.arguments import ArgumentValueError, FloatArray

LONGEST_LINE = 1 << 24
"""Largest number of characters in a line."""

BATCH = 250_000
"""Number of cells that are held as text at a time, or those of ``LEAST_ROWS`` rows."""

LEAST_ROWS = 64

CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")
"""Characters that no text has; in other encodings, most files that are not text are refused by their bytes."""

LATIN = ("cp1252", "latin-1")

MOST_LISTED = 3
"""Number of lines that a message lists."""


class CsvReader:
    """Reads one file.

    Parameters
    ----------
    argument : str
        Argument that errors are about.
    path : str or path
        The name of the file, for errors.
    decimal : {".", ","}, optional
        The decimal mark, if it is known.

    Attributes
    ----------
    dialect : Dialect
        How the file writes its table, once it has been read.
    remarks : tuple of str
        What was assumed to read it, in words.
    problems : tuple of ArgumentValueError
        What is wrong with its lines.
    """

    def __init__(self, argument: str, path: str | os.PathLike[str], decimal: str | None = None) -> None:
        self.argument, self.path, self._decimal = argument, path, decimal
        self.dialect = Dialect()
        self.remarks: tuple[str, ...] = ()
        self.problems: tuple[ArgumentValueError, ...] = ()

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
        sample = file.read(SAMPLE)
        if file.seekable():
            file.seek(0)
        else:
            file = io.BufferedReader(_Again(sample, file))
        self.dialect = sniff(sample, self._decimal)
        try:
            return self._read(file, kept)
        except UnicodeDecodeError as error:  # after the sample, so the file is not what its beginning looks like
            if self.dialect.encoding != "utf-8-sig" or not file.seekable():
                raise self._not_text() from None
            self.dialect = replace(self.dialect, encoding=latin(error.object))
            file.seek(0)
            return self._read(file, kept)

    def _read(self, file: BinaryIO, kept: Collection[str]) -> tuple[dict[str, Column], Sequence[int]]:
        text = io.TextIOWrapper(file, encoding=self.dialect.encoding, newline="")
        try:
            rows = self._rows(self._lines(text))
            above = [row for _, row in islice(rows, self.dialect.preamble)]
            self._says_mark = bool(above) and above[0][0].strip().lower().startswith("sep=")
            _, header = next(rows, (0, None))
            if header is None:
                raise self._error("a line of column names and lines of cells", f"nothing in {self.path}")
            names, unnamed, remarks = column_names(self.argument, self.path, self._with_row_names(header))
            columns, lines = self._columns(names, self._table(rows, len(names)), kept)
            columns, kept_unnamed = without_blank(columns, unnamed)
            skipped = self.dialect.preamble - self._says_mark
            self.remarks = (*self.dialect.remarks, *left_out(skipped), *remarks, *kept_unnamed)
            return columns, lines
        except csv.Error as error:
            raise self._error("CSV", f"something else in {self.path}: {error}") from None
        finally:
            text.detach()

    def _with_row_names(self, header: list[str]) -> list[str]:
        return ["", *header] if self.dialect.row_names else header

    def _not_text(self) -> ArgumentValueError:
        return self._error("text, an Excel workbook or Parquet", f"something else in {self.path}")

    def _lines(self, text: io.TextIOWrapper) -> Iterator[str]:
        """Yield the lines with their ends; a device without an end has no lines, or endless ones."""
        for line in iter(partial(text.readline, LONGEST_LINE), ""):
            if "\0" in line or (self.dialect.encoding in LATIN and CONTROL.search(line)):
                raise self._not_text()
            if len(line) == LONGEST_LINE:
                raise self._error(f"lines of fewer than {LONGEST_LINE} characters", f"more in {self.path}")
            yield line

    def _rows(self, lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
        """Yield line and cells of each row that is not empty."""
        reader, count = csv.reader(lines, strict=True, delimiter=self.dialect.delimiter), 0
        for row in reader:
            count += len(row)
            if count > MOST_CELLS:
                raise self._error(f"at most {MOST_CELLS} cells", f"more in {self.path}")
            if row:
                yield reader.line_num, row

    def _table(self, rows: Iterator[tuple[int, list[str]]], width: int) -> Iterator[tuple[int, list[str]]]:
        """Yield line and cells of each row, without empty ones; cells that are too many or too few are a problem."""
        wrong = []
        for line, row in rows:
            if not any(cell and not cell.isspace() for cell in row):
                continue
            while len(row) > width and not row[-1].strip():
                row.pop()  # marks at the end of a line
            if len(row) != width:
                wrong.append(f"{len(row)} in line {line}")
                row = [*row[:width], *[""] * (width - len(row))]
            yield line, row
        if wrong:
            more = f" and {len(wrong) - MOST_LISTED} more" if len(wrong) > MOST_LISTED else ""
            got = f"{', '.join(wrong[:MOST_LISTED])}{more} of {self.path}"
            self.problems = (self._error(f"{width} cells, one per column", got),)

    def _columns(
        self, names: Sequence[str], rows: Iterator[tuple[int, list[str]]], kept: Collection[str]
    ) -> tuple[dict[str, Column], Sequence[int]]:
        gathered = [_Gathered(place == 0 or name in kept, self.dialect.decimal) for place, name in enumerate(names)]
        lines = array("q")
        while batch := list(islice(rows, max(LEAST_ROWS, BATCH // len(names)))):
            lines.extend(line for line, _ in batch)
            for column, cells in zip(gathered, zip(*(row for _, row in batch), strict=True), strict=True):
                column.add(cells)
        return {name: column.column() for name, column in zip(names, gathered, strict=True)}, lines

    def _error(self, expected: str, got: str) -> ArgumentValueError:
        return ArgumentValueError(self.argument, expected, got)


class _Again(io.RawIOBase):
    """A stream that cannot go back, after its beginning was read."""

    def __init__(self, start: bytes, rest: BinaryIO) -> None:
        self.start, self.rest = start, rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Read the beginning again, then the rest."""
        if not self.start:
            found = self.rest.read(len(buffer))
        else:
            found, self.start = self.start[: len(buffer)], self.start[len(buffer) :]
        buffer[: len(found)] = found
        return len(found)


class _Gathered:
    """The cells of one column that were read so far: numbers, as long as all of them are, or text.

    Digits that begin with a zero, or are too many for a number, are text if all cells are digits.
    """

    def __init__(self, keep: bool, decimal: str) -> None:
        self.keep, self.decimal = keep, decimal
        self.numbers: list[FloatArray] | None = []
        self.nans: list[int] = []
        self.text: list[str] = []
        self.count = 0
        self.digits, self.code = True, False

    def add(self, cells: Sequence[str]) -> None:
        """Add the cells of a batch."""
        if self.numbers is not None:
            found = as_numbers(cells, self.decimal)
            code = self.code
            self._see_digits(cells, found)
            if not self.keep and (found is None or self.code > code):
                self.text = number_text(self._all(), self.nans)
            if found is None:
                self.numbers = None
            else:
                self.numbers.append(found)
                unknown = np.flatnonzero(np.isnan(found)).tolist()
                self.nans += [self.count + row for row in unknown if cells[row] and not cells[row].isspace()]
        if self.keep or self.numbers is None or self.code:
            self.text += [unescaped(cell.strip()) for cell in cells]
        self.count += len(cells)

    def _see_digits(self, cells: Sequence[str], found: FloatArray | None) -> None:
        """Note whether all cells so far are digits, and whether some are codes."""
        if not self.digits or found is None:
            return
        with np.errstate(invalid="ignore", divide="ignore"):
            self.digits = bool(((found == np.rint(found)) & (found >= 0) | np.isnan(found)).all())
            count = np.nansum(np.where(found < 10, 1, np.floor(np.log10(found)) + 1)[~np.isnan(found)])
            large = bool((found >= 1e15).any())
        if self.digits and (large or sum(map(len, cells)) != count):  # zeros before, or something else than digits
            given = [cell.strip() for cell in cells if cell and not cell.isspace()]
            self.digits = all(map(str.isdecimal, given))
            self.code = self.digits and (self.code or is_code(given))
        self.code &= self.digits

    def _all(self) -> FloatArray:
        return np.concatenate((np.empty(0), *(self.numbers or ())))

    def column(self) -> Column:
        """Return the column, and forget the batches."""
        numbers = None if self.numbers is None or self.code else self._all()
        self.numbers = None
        return Column(numbers, self.text if self.keep or numbers is None else None, nans=self.nans, ready=True)
