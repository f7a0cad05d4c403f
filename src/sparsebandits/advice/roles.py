"""Which column of a table names the actions, which ones hold past rewards, and which are numbers of rows.

Roles that are stated hold. Otherwise they follow from the names of columns and from their cells, and what was assumed
is said, with the option that states it.
"""

import re
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from sparsebandits.advice.assumed import Assumed, option
from sparsebandits.advice.cells import like_number
from sparsebandits.advice.columns import KINDS, numbers_of
from sparsebandits.advice.sheet import PANDAS_INDEX, Sheet
from sparsebandits.advice.values import is_code, is_missing
from sparsebandits.advice.words import OUTCOMES, REMARKS, REWARD, is_code_name, is_id, is_identifier, plain_name
from sparsebandits.arguments import (
    ArgumentError,
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    did_you_mean,
    shown,
)

ROLES = (*KINDS, "name", "reward", "cost", "ignore")
"""What a column may be stated to be."""

PROSE = 4
"""Number of words of a text from which it is a comment and not a name."""

MOST_FILLED = 0.7
"""Share of rows with a number up to which the last column may hold past rewards, whatever it is called."""


def stated_roles(sheet: Sheet, columns: object) -> dict[str, str]:
    """Return what columns are stated to be, by name.

    Parameters
    ----------
    sheet : Sheet
        The table.
    columns : mapping of str to str, or None
        Roles or kinds by column.

    Raises
    ------
    ArgumentError
        If a column is unknown, or its role.
    """
    if columns is None:
        return {}
    if not isinstance(columns, Mapping):
        raise ArgumentTypeError("columns", "a mapping from columns to what they are", shown(columns))
    for name, role in columns.items():
        sheet.known(str(name))
        if role not in ROLES:
            got = f"{shown(role)}{did_you_mean(role, ROLES)}"
            raise ArgumentValueError("columns", f"one of {', '.join(ROLES)} for {name!r}", got)
    return {str(name): str(role) for name, role in columns.items()}


def reward_columns(sheet: Sheet, besides: Collection[str]) -> tuple[list[str], list[Assumed]]:
    """Return the columns that hold past rewards, and what was assumed for it.

    Parameters
    ----------
    sheet : Sheet
        The table.
    besides : collection of str
        Columns whose role is stated.

    Raises
    ------
    ArgumentValueError
        If several columns might, and none more than others.
    """
    left = [name for name in sheet.columns if name not in besides]
    called = [name for name in left if REWARD.fullmatch(name)]
    if called:
        return called, []
    numeric = [name for name in left if _numbers(sheet, name) is not None]
    known = [
        name for name in numeric if plain_name(name) in OUTCOMES and (plain_name(name) != "y" or _gaps(sheet, name))
    ]
    if len({plain_name(name) for name in known}) > 1:
        gaps = [name for name in known if _gaps(sheet, name)]
        if len({plain_name(name) for name in gaps}) != 1:
            which = option(known[0], "reward")
            got = f"{' and '.join(map(repr, known))}{sheet.inside}; say which one with {which}"
            raise ArgumentValueError(sheet.argument, "one result per row, or to know which column holds it", got)
        known = gaps
    if known:
        return known, [Assumed(f"{one} holds the past rewards, larger is better", one, "reward") for one in known]
    shares = {name: float(np.mean(~np.isnan(_values(sheet, name)))) for name in numeric}
    last = numeric[-1] if numeric else ""
    others = [share for name, share in shares.items() if name != last]
    if others and shares[last] <= MOST_FILLED and shares[last] < min(others):
        text = f"{last} is the last column, has empty cells and holds the past rewards, larger is better"
        return [last], [Assumed(text, last, "reward")]
    return [], []


def name_column(sheet: Sheet, besides: Collection[str]) -> tuple[str | None, list[Assumed]]:
    """Return the column that names the rows, if there is one, and what was assumed for it.

    It is the first column if it has no name of its own and does not only count the rows, as pandas writes an index;
    else the first of words that are all different; else the first whose name says so; else the first of words that
    tell all other columns. There is none if an index of words names the rows.

    Parameters
    ----------
    sheet : Sheet
        The table.
    besides : collection of str
        Columns that have another role.
    """
    if sheet.index is not None and not all(_is_integer(one) for one in sheet.index):
        return None, []
    left = [name for name in sheet.columns if name not in besides]
    index = left[0] if left and left[0] in ("", PANDAS_INDEX) else None
    if index is not None and not _counts_rows(sheet, index, 1):
        return index, []
    first = next(iter(sheet.columns), None)
    words = [name for name in left if name != index and _may_name(sheet, name, name == first)]
    different = [
        name for name in words if _all_different(sheet, name) and (name == first or not _is_prose(sheet, name))
    ]
    named = min(different, key=lambda name: (name != first, not is_identifier(name)), default=None)
    if named is not None:
        return named, [] if named == first else [Assumed(f"{named} names the actions", named, "name")]
    if index is not None:
        return index, []
    for name in left:
        if is_identifier(name) and (name in words or _counts(sheet, name)):
            return name, [Assumed(f"{name} names the actions", name, "name")]
    for name in (one for one in left if one in words or (is_id(one) and _is_whole(sheet, one))):
        if _tells(sheet, name, [other for other in left if other != name]):
            return name, [Assumed(f"{name} names the actions", name, "name")]
    if sheet.index is None and len(left) > 1 and _counts_rows(sheet, left[0], 5):
        return left[0], [Assumed(f"{left[0]} counts the rows and names the actions", left[0], "name")]
    return None, []


def _may_name(sheet: Sheet, name: str, first: bool) -> bool:
    """Return whether a column has words, or codes if it is the first or called so; few cells of the first are empty."""
    column = sheet.columns[name]
    if column.numbers is not None or column.kind != "text":
        return False
    empty = sum(map(is_missing, column.cells))
    if empty and not (first and 3 * empty < len(sheet)):
        return False
    likely = first or is_identifier(name)
    if likely and is_code(column.cells):
        return True
    numbers = sum(map(like_number, column.cells))
    if numbers and not (likely and 2 * numbers < len(column.cells)):
        return False
    try:
        return numbers_of(sheet, name) is None
    except ArgumentError:  # numbers, but for some cells
        return False


def _all_different(sheet: Sheet, name: str) -> bool:
    given = [cell for cell in sheet.columns[name].cells if not is_missing(cell)]
    return len(set(given)) == len(given)


def _is_prose(sheet: Sheet, name: str) -> bool:
    return plain_name(name) in REMARKS or sum(len(cell.split()) for cell in sheet.columns[name].cells) > PROSE * len(
        sheet
    )


def _tells(sheet: Sheet, name: str, others: Sequence[str]) -> bool:
    """Return whether rows with the same cell in a column agree in all others, which differ between some rows."""
    place: dict[str, int] = {}
    first = np.array([place.setdefault(cell, row) for row, cell in enumerate(sheet.columns[name].cells)])
    varies = False
    for other in others:
        column = sheet.columns[other]
        values = np.array(column.cells) if column.numbers is None else np.nan_to_num(column.numbers, nan=-np.inf)
        if (values != values[first]).any():
            return False
        varies |= bool((values != values[0]).any())
    return varies and len(place) < len(sheet)


def identifiers(sheet: Sheet, columns: Sequence[str]) -> list[str]:
    """Return the columns of whole numbers, all different, that only tell rows apart.

    They are called so, or have at least eight digits and are not rounded, or at least six and are close to each other.
    Those that are called id, EAN or so may repeat.
    """
    found = []
    for name in columns:
        numbers = sheet.columns[name].numbers
        if is_id(name) and _is_whole(sheet, name):
            found.append(name)
            continue
        if numbers is None or len(numbers) < 3 or not _counts(sheet, name):
            continue
        least, spread = float(numbers.min()), float(np.ptp(numbers))
        exact = bool(np.mean(numbers % 100.0 == 0.0) < 0.5)
        long = exact and (least >= 1e7 or (least >= 1e5 and spread < 10 * len(numbers)))
        if is_identifier(name) or is_code_name(name) or (long and _numbers(sheet, name) is not None):  # no dates
            found.append(name)
    return found


def _counts(sheet: Sheet, name: str) -> bool:
    """Return whether a column has different whole numbers."""
    return _is_whole(sheet, name) and len(np.unique(np.asarray(sheet.columns[name].numbers))) == len(sheet)


def _is_whole(sheet: Sheet, name: str) -> bool:
    """Return whether a column has whole numbers in all cells."""
    numbers = sheet.columns[name].numbers
    return numbers is not None and bool((np.isfinite(numbers) & (numbers == np.rint(numbers))).all())


def _counts_rows(sheet: Sheet, name: str, least: int) -> bool:
    """Return whether a column is 0, 1, 2, … or 1, 2, 3, …, and has at least so many rows."""
    numbers = sheet.columns[name].numbers
    if numbers is None or len(numbers) < least or numbers[0] not in (0.0, 1.0):
        return False
    return bool((np.diff(numbers) == 1.0).all())


def _numbers(sheet: Sheet, name: str) -> FloatArray | None:
    """Return a column as numbers, or as yes and no, if it reads as such."""
    try:
        found = numbers_of(sheet, name)
    except ArgumentError:
        return None
    return None if found is None or found.kind == "date" or np.isnan(found.values).all() else found.values


def _gaps(sheet: Sheet, name: str) -> bool:
    """Return whether a column of numbers has empty cells."""
    return bool(np.isnan(_values(sheet, name)).any())


def _values(sheet: Sheet, name: str) -> FloatArray:
    found = _numbers(sheet, name)
    return np.full(len(sheet), np.nan) if found is None else found


def _is_integer(text: str) -> bool:
    return re.fullmatch(r"[+-]?\d+(\.0*)?", text) is not None
