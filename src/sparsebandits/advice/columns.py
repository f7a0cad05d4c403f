"""How one column of a table becomes features: numbers, yes and no, dates, or categories.

What a column is follows from its cells, unless it is stated. Numbers with empty cells get their mean there, and a
column of 0 and 1 that marks these cells. A category becomes one column of 0 and 1 per level, one for two levels;
levels that hardly occur are pooled. Whatever was assumed is said in words.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from sparsebandits.advice.assumed import option
from sparsebandits.advice.cells import Column
from sparsebandits.advice.dates import dates
from sparsebandits.advice.sheet import Sheet
from sparsebandits.advice.units import MixedError
from sparsebandits.advice.values import Numbers, is_missing, is_unknown, quantities, yes_or_no
from sparsebandits.arguments import ArgumentValueError, BoolArray, FloatArray, shown

KINDS = ("number", "yes-no", "category", "date")
"""What a column of features may be."""

LARGEST_CELL = 1e12
"""Largest feature or reward, and 1 over the smallest spread of a feature; beyond it, the unit has to be changed."""

FEW_ROWS = 12
"""Number of rows below which any text that occurs twice makes a column a category."""

RARE = 0.02
"""Share of the rows, or one row, up to which a level is pooled with others."""

MOST_LEVELS = 200
"""Largest number of levels of a category, and of levels that a remark lists."""

OTHER, ABSENT = "other", "missing"
"""Levels of what is pooled and of empty cells."""


@dataclass(frozen=True, eq=False)
class Reading:
    """What a column became.

    Attributes
    ----------
    kind : str
        One of ``KINDS``; "text" if it is none of them, "empty" if it has no cells.
    features : tuple of (str, array of shape (rows,))
        Names and values of the features.
    continuous : bool
        Whether the first of them is a number that may have squares and products.
    remark : str
        What was assumed, in words; empty if nothing was.
    """

    kind: str
    features: tuple[tuple[str, FloatArray], ...] = ()
    continuous: bool = False
    remark: str = ""


def numbers_of(sheet: Sheet, name: str, kind: str | None = None) -> Numbers | None:
    """Return a column as numbers, NaN where cells are empty, or None if it is a column of words.

    Parameters
    ----------
    sheet : Sheet
        The table.
    name : str
        Name of the column.
    kind : str, optional
        One of ``KINDS``, if that is stated.

    Raises
    ------
    ArgumentValueError
        If most cells are numbers and some are not, or if units or decimal marks are mixed.
    """
    if kind is None and name in sheet.found:
        return sheet.found[name]
    found = _numbers_of(sheet, name, kind)
    if kind is None:
        sheet.found[name] = found
    return found


def _numbers_of(sheet: Sheet, name: str, kind: str | None) -> Numbers | None:
    column = sheet.columns[name]
    if column.numbers is not None:
        if kind == "number" or (kind is None and not _like_dates(column.numbers)):
            return Numbers(column.numbers, "")
        if kind == "yes-no" and np.isin(column.numbers, (0.0, 1.0, np.nan)).all():
            return Numbers(column.numbers, "", kind)
    try:
        found = _found(sheet, column, kind)
    except MixedError as error:
        hint = f"; or say {option(name, 'category')} or {option(name, 'ignore')}"
        raise ArgumentValueError(sheet.argument, error.expected, f"{error.got} in {_of(sheet, name)}{hint}") from None
    if found is None and column.numbers is not None and kind is None:
        return Numbers(column.numbers, "")
    if found is None and kind in (None, "number"):
        _refuse_mixed(sheet, name, stated=kind is not None)
    elif found is None:
        words = {"yes-no": "yes or no, or two such words", "date": "dates"}[str(kind)]
        row = next((row for row, cell in enumerate(column.cells) if not is_missing(cell)), 0)
        raise ArgumentValueError(sheet.argument, words, f"{shown(column.cells[row])} in {sheet.where(row, name)}")
    return found


def _found(sheet: Sheet, column: Column, kind: str | None) -> Numbers | None:
    """Return the cells as yes and no, as dates or as numbers, whatever they are."""
    found = yes_or_no(column.cells) if kind in (None, "yes-no") else None
    if found is None and kind in (None, "date"):
        found = dates(raw_cells(column), sheet.decimal == ",", stated=kind is not None)
    if found is None and kind in (None, "number"):
        found = quantities(column.cells, sheet.decimal, stated=kind is not None)
    return found


def _like_dates(numbers: FloatArray) -> bool:
    """Return whether numbers may be dates such as 20250131."""
    with np.errstate(invalid="ignore"):
        return bool(((numbers >= 19000101) & (numbers <= 20991231) & (numbers == np.rint(numbers))).all())


def read_column(sheet: Sheet, name: str, kind: str | None = None) -> Reading:
    """Return what a column becomes.

    Parameters
    ----------
    sheet : Sheet
        The table.
    name : str
        Name of the column.
    kind : str, optional
        One of ``KINDS``, if that is stated, or "code" if its numbers are read as words.

    Raises
    ------
    ArgumentValueError
        If it cannot be read; the error says where.
    """
    column = sheet.columns[name]
    if np.isnan(column.numbers).all() if column.numbers is not None else all(map(is_missing, column.cells)):
        return Reading("empty", remark="has no values and is not used")
    numbers = None if kind in ("category", "code") else numbers_of(sheet, name, kind)
    if numbers is not None:
        return _of_numbers(sheet, name, numbers)
    return _of_words(sheet, name, stated=kind == "category")


def _of_numbers(sheet: Sheet, name: str, numbers: Numbers) -> Reading:
    values, remarks = numbers.values, [numbers.remark] if numbers.remark else []
    refuse_extreme(sheet, name, values)
    gaps = np.isnan(values)
    features = [(name, np.where(gaps, values[~gaps].mean(), values) if gaps.any() else values)]
    if gaps.any():
        count, words = int(gaps.sum()), ", ".join(missing_words(sheet.columns[name], gaps))
        cells = f"{'missing' if words else 'empty'} cell{'' if count == 1 else 's'}{f' ({words})' if words else ''}"
        remark = f"{count} {cells} {'is' if count == 1 else 'are'} taken as the mean"
        if count > 1:
            features.append((f"{name} {ABSENT}", gaps.astype(np.float64)))
            remark += f" and marked by “{name} {ABSENT}”"
        remarks.append(remark)
    return Reading(numbers.kind, tuple(features), len(np.unique(features[0][1])) > 2, "; ".join(remarks))


def missing_words(column: Column, gaps: BoolArray) -> list[str]:
    """Return what is written in cells without a number, other than nothing."""
    if column.values is None:
        return ["nan"] if any(True for _ in column.nans) else []
    return sorted({column.cells[row] for row in np.flatnonzero(gaps).tolist()} - {""})


def _of_words(sheet: Sheet, name: str, stated: bool) -> Reading:
    cells = [ABSENT if is_missing(cell) else cell.strip() for cell in sheet.columns[name].cells]
    spelt = _spellings(cells)
    cells = [spelt.get(cell, cell) for cell in cells]
    given = Counter(cell for cell in cells if cell != ABSENT)
    total = sum(given.values())
    repeated = len(given) <= total / 2 or (len(cells) < FEW_ROWS and len(given) < total)
    if not stated and not repeated:
        return Reading("text", remark=f"has {len(given)} different texts in {total} rows and is not used")
    rare = sorted(level for level, count in given.items() if count <= max(1, RARE * len(cells)))
    pooled = rare if len(rare) > 1 and len(given) > 3 and len(rare) < len(given) else []
    cells = [OTHER if cell in pooled else cell for cell in cells]
    levels = sorted(set(cells))
    if len(levels) > MOST_LEVELS:
        got = f"{len(levels)} in {_of(sheet, name)}"
        raise ArgumentValueError(sheet.argument, f"at most {MOST_LEVELS} levels of a category", got)
    if len(levels) == 1:
        return Reading("category", ((name, np.ones(len(cells))),))
    coded = levels[1:] if len(levels) == 2 else levels
    features = [(f"{name}={level}", np.array([float(cell == level) for cell in cells])) for level in coded]
    remark = f"is a category: {_few(levels, 8)}"
    remark += "".join(f"; {other} counts as {level}" for other, level in sorted(spelt.items())[:3])
    if pooled:
        remark += f"; {len(pooled)} rare levels ({_few(pooled, 5)}) are pooled as {OTHER}"
    return Reading("category", tuple(features), False, remark)


def _spellings(cells: Sequence[str]) -> dict[str, str]:
    """Return the most common spelling of levels that differ only in case."""
    counts = Counter(cells)
    common: dict[str, str] = {}
    for level in sorted(counts, key=lambda one: (-counts[one], one)):
        common.setdefault(level.casefold(), level)
    return {level: common[level.casefold()] for level in counts if common[level.casefold()] != level}


def _few(words: Sequence[str], most: int) -> str:
    return ", ".join(words[:most]) + (", ..." if len(words) > most else "")


def raw_cells(column: Column) -> Sequence[object]:
    """Return the cells as they came if some are dates, otherwise as text."""
    values = column.values
    return values if values is not None and any(isinstance(one, date) for one in values) else column.cells


def _refuse_mixed(sheet: Sheet, name: str, stated: bool) -> None:
    """Refuse a column of which most cells are numbers, or all should be."""
    cells = sheet.columns[name].cells
    given = [row for row, cell in enumerate(cells) if not is_unknown(cell)]
    odd = []
    for row in given:
        if not _is_quantity(cells[row], sheet.decimal):
            odd.append(row)
            if not stated and len(odd) > len(given) / 2:
                return
    if not odd:
        return
    hint = f"; leave a cell empty if its number is unknown, or say {option(name, 'category')}"
    got = sheet.listed(name, [(row, shown(cells[row])) for row in odd])
    raise ArgumentValueError(sheet.argument, "numbers", f"{got}{hint}")


def _is_quantity(cell: str, decimal: str) -> bool:
    try:
        return quantities([cell], decimal) is not None
    except MixedError:
        return False


def refuse_extreme(sheet: Sheet, name: str, values: FloatArray) -> None:
    """Refuse numbers that are infinite or too large to be computed with."""
    wrong = np.flatnonzero(~(np.abs(values) <= LARGEST_CELL) & ~np.isnan(values))
    if len(wrong):
        got = sheet.listed(name, [(row, f"{values[row]:g}") for row in wrong.tolist()])
        raise ArgumentValueError(sheet.argument, f"finite numbers of magnitude at most {LARGEST_CELL:g}", got)


def _of(sheet: Sheet, name: str) -> str:
    return f"column {shown(name)}{sheet.inside}"
