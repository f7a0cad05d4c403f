"""Constraints on rows: ``price < 5``, ``colour = red``, ``price >= 2 and colour != blue``."""

import operator
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from sparsebandits.advice.columns import numbers_of, raw_cells
from sparsebandits.advice.dates import dates
from sparsebandits.advice.sheet import Sheet
from sparsebandits.advice.units import MixedError
from sparsebandits.advice.values import Numbers, plain_number, quantities, yes_or_no
from sparsebandits.arguments import ArgumentTypeError, ArgumentValueError, BoolArray, shown

OPERATORS = {
    "<=": operator.le,
    ">=": operator.ge,
    "!=": operator.ne,
    "==": operator.eq,
    "≤": operator.le,
    "≥": operator.ge,
    "≠": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}
PARTS = re.compile(rf"\s*(?P<column>.+?)\s*(?P<sign>{'|'.join(map(re.escape, OPERATORS))})\s*(?P<value>.+?)\s*")
EXPECTED = "comparisons such as 'price < 5' or 'colour = red', joined by 'and'"


def rows_where(sheet: Sheet, conditions: str | Sequence[str]) -> BoolArray:
    """Return which rows satisfy all conditions; a row with an empty cell in a condition does not.

    Parameters
    ----------
    sheet : Sheet
        The table.
    conditions : str or sequence of str
        Comparisons of a column with a number or a text, joined by "and".

    Returns
    -------
    bool array of shape (rows,)

    Raises
    ------
    ArgumentError
        If a condition cannot be read, or names an unknown column.
    """
    each = [conditions] if isinstance(conditions, str) else conditions
    parts = []
    for condition in each:
        if not isinstance(condition, str):
            raise ArgumentTypeError("where", EXPECTED, shown(condition))
        if re.search(r"\s+or\s+.*[=<>]", condition, flags=re.IGNORECASE):
            raise ArgumentValueError("where", f"{EXPECTED}; 'or' is not supported", shown(condition))
        parts += re.split(r"\s+and\s+", condition.strip(), flags=re.IGNORECASE)
    comparisons = [_comparison(sheet, part) for part in parts]  # all, before any column is read
    found = np.ones(len(sheet), dtype=bool)
    for part, (name, sign, value) in zip(parts, comparisons, strict=True):
        found &= _satisfied(sheet, name, OPERATORS[sign], value, part)
    return found


def _comparison(sheet: Sheet, part: str) -> tuple[str, str, str]:
    """Return column, sign and value of a comparison."""
    read = PARTS.fullmatch(part)
    if read is None:
        raise ArgumentValueError("where", EXPECTED, shown(part))
    if read["value"][0] in "<>=!~≤≥≠":
        raise ArgumentValueError("where", EXPECTED, shown(part))
    return sheet.known(_bare(read["column"])), read["sign"], _bare(read["value"])


def _satisfied(sheet: Sheet, name: str, compare: Any, value: str, part: str) -> BoolArray:
    numbers = numbers_of(sheet, name)
    if numbers is None:
        if compare not in (operator.eq, operator.ne):
            raise ArgumentValueError("where", f"= or != for the texts of column {name!r}", shown(part))
        cells = [cell.strip().lower() for cell in sheet.columns[name].cells]
        return np.array([bool(cell) and compare(cell, value.lower()) for cell in cells])
    number = _number(sheet, name, numbers, value)
    if number is None:
        kind = "a date" if numbers.kind == "date" else "a number"
        raise ArgumentValueError("where", f"{kind} to compare column {name!r} with", shown(value))
    with np.errstate(invalid="ignore"):
        return np.asarray(compare(numbers.values, number) & ~np.isnan(numbers.values))


def _number(sheet: Sheet, name: str, numbers: Numbers, value: str) -> float | None:
    """Return what a value is as a number of the column: a date, yes or no, or a number that may have a unit."""
    column = sheet.columns[name]
    given = np.flatnonzero(~np.isnan(numbers.values))
    if numbers.kind == "date" and len(given):
        both = dates([*raw_cells(column), value], sheet.decimal == ",", stated=True)
        if both is not None:
            return float(both.values[-1] - both.values[given[0]] + numbers.values[given[0]])
    truth = yes_or_no([value])
    if truth is not None:
        return float(truth.values[0])
    number = plain_number(value, sheet.decimal)
    if number is None and numbers.kind == "number" and column.numbers is None:  # its cells have a unit, too
        try:
            found = quantities([*column.cells, value], sheet.decimal)
        except MixedError:
            found = None
        number = None if found is None else float(found.values[-1])
    return number


def _bare(text: str) -> str:
    stripped = text.strip()
    return stripped[1:-1] if len(stripped) > 1 and stripped[0] == stripped[-1] and stripped[0] in "\"'`" else stripped
