"""Names of columns: numbers are no names, repeated and empty ones are replaced, and said."""

import os
from collections.abc import Mapping, Sequence

import numpy as np

from sparsebandits.advice.cells import Column, is_number
from sparsebandits.arguments import ArgumentValueError, shown

YEARS = range(1900, 2101)


def column_names(
    argument: str, path: str | os.PathLike[str], header: Sequence[str]
) -> tuple[list[str], list[str], list[str]]:
    """Return the names of the columns, those that have no name of their own, and what was assumed.

    Parameters
    ----------
    argument : str
        Argument that errors are about.
    path : str or path
        The name of the file, for errors.
    header : sequence of str
        The cells of the first row.

    Raises
    ------
    ArgumentValueError
        If this is a row of numbers and not of names.
    """
    cells = [cell.strip() for cell in header]
    named = [cell for cell in (cells[1:] if cells[0] == "" else cells) if cell]
    numbers = [cell for cell in named if is_number(cell)]
    if numbers and not _may_be_names(numbers, named):
        raise ArgumentValueError(argument, "a first line of column names", f"the number {shown(numbers[0])} in {path}")
    names: list[str] = []
    unnamed, remarks = [], []
    for place, cell in enumerate(cells):
        if cell == "" and place:
            unnamed.append(_unused(f"column {place + 1}", {*names, *cells}))
            names.append(unnamed[-1])
        elif cell in names:
            names.append(_unused(cell, {*names, *cells}))
            remarks.append(f"another column {cell} is called {names[-1]}")
        else:
            names.append(cell)
            unnamed += [""] if cell == "" else []
    return names, unnamed, remarks


def without_blank(columns: Mapping[str, Column], unnamed: Sequence[str]) -> tuple[dict[str, Column], list[str]]:
    """Return the columns without those that have no name and no cells, and a remark on others without a name."""
    blank = {name for name in unnamed if not any(columns[name].cells)}
    left = {name: column for name, column in columns.items() if name not in blank}
    return left, [f"{name} has no name" for name in unnamed if name in left and name]


def left_out(lines: int) -> list[str]:
    """Say how many lines above the column names are left out."""
    return [f"{lines} line{' above the column names is' if lines == 1 else 's above the column names are'} left out"][
        : int(lines > 0)
    ]


def _may_be_names(numbers: Sequence[str], named: Sequence[str]) -> bool:
    """Return whether numbers are names: 0, 1, 2, ... of pandas, years, or at least three in equal steps."""
    if list(named) == [str(column) for column in range(len(named))]:
        return True
    values = np.array([float(number) for number in numbers])
    steps = np.diff(values)
    if len(set(numbers)) < len(numbers) or not np.isfinite(values).all():
        return False
    if all(number.isdecimal() and int(number) in YEARS for number in numbers):
        return len(numbers) < len(named)
    return len(numbers) > 2 and len(numbers) < len(named) and bool(np.allclose(steps, steps[0], rtol=1e-6))


def _unused(name: str, taken: set[str]) -> str:
    if name.startswith("column ") and name not in taken:
        return name
    return next(f"{name} {number}" for number in range(2, len(taken) + 3) if f"{name} {number}" not in taken)
