"""Excel workbooks: the first worksheet that has a table, read by openpyxl.

The first row that fills at least half as many cells as the fullest one has the column names; what stands above it, such
as a title, is left out, and so are empty rows and columns. Formulas count as the values that Excel saved for them.
"""

import io
import os
from collections.abc import Sequence
from typing import Any
from zipfile import BadZipFile

import numpy as np

from sparsebandits.advice.cells import MOST_CELLS, Column, as_text, typed_columns
from sparsebandits.advice.header import column_names, left_out, without_blank
from sparsebandits.arguments import ArgumentValueError, shown

WORKBOOK = b"PK\x03\x04"
"""First bytes of a workbook, which is a zip file."""

MOST_ROWS = 100
"""Number of rows that are compared to find the column names."""

OLD = b"\xd0\xcf\x11\xe0"
"""First bytes of a workbook of Excel 2003 and before."""


def read_workbook(
    argument: str, path: str | os.PathLike[str], content: bytes
) -> tuple[dict[str, Column], list[int], tuple[str, ...]]:
    """Return the columns of the first table of a workbook, the rows they were in, and what was assumed.

    Parameters
    ----------
    argument : str
        Argument that errors are about.
    path : str or path
        The name of the file, for errors.
    content : bytes
        The file.

    Raises
    ------
    OSError
        If openpyxl is not installed.
    ArgumentValueError
        If it is not a workbook with a table.
    """
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        hint = "pip install 'sparsebandits[excel]'"
        raise OSError(f"{argument}: {path} is an Excel file, which needs openpyxl ({hint})") from error
    try:
        book = load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        sheets = [(name, _cells(argument, path, book[name])) for name in book.sheetnames]
    except ArgumentValueError:
        raise
    except (BadZipFile, KeyError, ValueError, OSError, SyntaxError, EOFError, TypeError, AttributeError) as error:
        why = f"{type(error).__name__}: {error}"
        raise ArgumentValueError(argument, "a complete Excel workbook", f"{path}: {shown(why)}") from None
    _check_formulas(argument, path, content, dict(sheets))
    filled = [(name, rows) for name, rows in sheets if rows]
    if not filled:
        raise ArgumentValueError(argument, "a table in the workbook", f"none in {path}")
    name, rows = next((one for one in filled if _is_table(one[1])), filled[0])
    first = _header(rows)
    header, body = rows[first], [(row, cells) for row, cells in enumerate(rows) if row > first and _count(cells)]
    width = max((place + 1 for place, cell in enumerate(header) if cell is not None), default=0)
    names, unnamed, renamed = column_names(argument, path, as_text(header[:width]))
    padded = [[*cells[:width], *([None] * (width - len(cells)))] for _, cells in body]
    arrays = {one: _column([row[place] for row in padded]) for place, one in enumerate(names)}
    columns, kept = without_blank(typed_columns(arrays), unnamed)
    remarks = []
    if len(filled) > 1:
        remarks.append(f"worksheet {name} is read, not {', '.join([one for one, _ in filled if one != name][:3])}")
    return columns, [row + 1 for row, _ in body], (*remarks, *left_out(first), *renamed, *kept)


def _check_formulas(
    argument: str, path: str | os.PathLike[str], content: bytes, sheets: dict[str, list[list[Any]]]
) -> None:
    """Refuse formulas without a stored value, which a program has written and no spreadsheet has computed yet."""
    from openpyxl import load_workbook

    if all(cell is not None for rows in sheets.values() for row in rows for cell in row):
        return
    book = load_workbook(io.BytesIO(content), read_only=True)
    for name, rows in sheets.items():
        for values, cells in zip(rows, book[name].iter_rows() if rows else (), strict=False):
            for value, cell in zip(values, cells, strict=False):
                if value is None and getattr(cell, "data_type", None) == "f":
                    expected = "formulas with stored values (open the file in Excel or LibreOffice, and save it)"
                    raise ArgumentValueError(
                        argument, expected, f"none in {cell.coordinate} of worksheet {name} in {path}"
                    )


def _header(rows: Sequence[Sequence[Any]]) -> int:
    """Return which row has the column names."""
    most = max(map(_count, rows[:MOST_ROWS]))
    return next(place for place, row in enumerate(rows) if _count(row) >= max(min(most, 2), most / 2))


def _is_table(rows: Sequence[Sequence[Any]]) -> bool:
    """Return whether a worksheet has at least two columns and two rows of cells."""
    first = _header(rows)
    return _count(rows[first]) > 1 and sum(_count(row) > 0 for row in rows[first + 1 :]) > 1


def _cells(argument: str, path: str | os.PathLike[str], sheet: Any) -> list[list[Any]]:
    """Return the rows of a worksheet, without empty ones at the end; a sheet of charts has none."""
    if not hasattr(sheet, "iter_rows"):
        return []
    rows: list[list[Any]] = []
    count = 0
    for row in sheet.iter_rows(values_only=True):
        cells = [None if isinstance(cell, str) and not cell.strip() else cell for cell in row]
        count += len(cells)
        if count > MOST_CELLS:
            raise ArgumentValueError(argument, f"at most {MOST_CELLS} cells", f"more in {path}")
        rows.append(cells)
    while rows and _count(rows[-1]) == 0:
        rows.pop()
    return rows


def _count(row: Sequence[Any]) -> int:
    return sum(cell is not None for cell in row)


def _column(cells: list[Any]) -> Any:
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array
