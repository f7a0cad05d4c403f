"""Constraints on rows: ``price < 5``, ``colour = red``, ``price >= 2 and colour != blue``.

A name or a text that has a sign, "and" or "or" in it stands in quotation marks: ``"price < EUR" < 5``.
"""

import operator
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

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
SIGNS = "|".join(map(re.escape, OPERATORS))
QUOTED = "|".join(f"{mark}[^{mark}]+{mark}" for mark in "\"'`")
COMPARISON = re.compile(
    rf"\s*(?P<column>{QUOTED}|.+?)\s*(?P<sign>{SIGNS})\s*(?P<value>{QUOTED}|.+?)\s*(?:(?<=\s)and\s+(?P<rest>.+)|$)",
    re.IGNORECASE | re.DOTALL,
)
EXPECTED = "comparisons such as 'price < 5' or 'colour = red', joined by 'and'"
OR = re.compile(rf"\s+or\s+.*(?:{SIGNS})", re.IGNORECASE)
SPECIAL = re.compile(rf"{SIGNS}|[\"'`]|\b(?:and|or)\b", re.IGNORECASE)
"""What makes quotation marks necessary around a name."""


class _Comparison(NamedTuple):
    """Part of a condition: column, sign and value, and its text for messages."""

    column: str
    sign: str
    value: str
    text: str


def rows_where(sheet: Sheet, conditions: str | Sequence[str]) -> BoolArray:
    """Return which rows satisfy all conditions; a row with an empty cell in a condition does not.

    Parameters
    ----------
    sheet : Sheet
        The table.
    conditions : str or sequence of str
        Comparisons of a column with a number or a text, joined by "and". Names and texts may stand in quotation marks
        (double or single ones, or backticks).

    Returns
    -------
    bool array of shape (rows,)

    Raises
    ------
    ArgumentError
        If a condition cannot be read, or names an unknown column.
    """
    if not isinstance(conditions, Sequence):
        raise ArgumentTypeError("where", EXPECTED, shown(conditions))
    each = [conditions] if isinstance(conditions, str) else conditions
    found = np.ones(len(sheet), dtype=bool)
    try:
        comparisons = [one for condition in each for one in _comparisons(sheet, condition)]  # before any column is read
        for one in comparisons:
            found &= _satisfied(sheet, one.column, OPERATORS[one.sign], one.value, one.text)
    except ArgumentValueError as error:
        raise ArgumentValueError(error.name, error.expected, f"{error.got}{_hint(sheet, each)}") from None
    return found


def _comparisons(sheet: Sheet, condition: object) -> Iterator[_Comparison]:
    """Yield the comparisons of a condition."""
    if not isinstance(condition, str):
        raise ArgumentTypeError("where", EXPECTED, shown(condition))
    if OR.search(re.sub(QUOTED, "", condition)):
        raise ArgumentValueError("where", f"{EXPECTED}; 'or' is not supported", shown(condition))
    rest: str | None = condition
    while rest is not None:
        read = COMPARISON.match(rest)
        if read is None or read["value"][0] in "<>=!~≤≥≠":
            raise ArgumentValueError("where", EXPECTED, shown(rest.strip()))
        text = rest if read["rest"] is None else rest[: read.end("value")]
        yield _Comparison(sheet.known(_bare(read["column"])), read["sign"], _bare(read["value"]), text.strip())
        rest = read["rest"]


def _hint(sheet: Sheet, conditions: Sequence[str]) -> str:
    """Return what to say about a name in the conditions that should stand in quotation marks."""
    bare = re.sub(QUOTED, "", " and ".join(conditions))
    found = next((column for column in sheet.columns if SPECIAL.search(column) and column in bare), None)
    if found is None:
        return ""
    mark = next((mark for mark in "\"`'" if mark not in found), "`")
    return f"; put the name in quotation marks: {mark}{found}{mark}"


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
