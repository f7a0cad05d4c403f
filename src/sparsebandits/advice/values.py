"""Cells as people write them: numbers with units, percent signs and thousands separators, and yes and no.

A whole column is read at once, so that one cell explains the others: the decimal mark, the unit, the kind. Each
function returns None if the cells are something else.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sparsebandits.advice.units import MixedError, factors, unit_of_all
from sparsebandits.arguments import FloatArray

MISSING = frozenset(
    ("", "na", "n/a", "n.a.", "#n/a", "nan", "null", "<na>", "nat", "?", "-", "--", "–", "—", ".", "k.a.", "missing")
)
"""Cells that say that a value is missing, in lower case."""

UNKNOWN = MISSING | frozenset(
    ("none", "nd", "n.d.", "n. d.", "n.b.", "tbd", "tba", "pending", "unknown", "#div/0!", "#value!", "#ref!", "#num!")
)
"""Cells that say so among numbers; among words they may be categories."""

PAIRS = (
    ("no", "yes"),
    ("n", "y"),
    ("false", "true"),
    ("f", "t"),
    ("off", "on"),
    ("nein", "ja"),
    ("n", "j"),
    ("non", "oui"),
    ("no", "sí"),
    ("no", "si"),
    ("falsch", "wahr"),
    ("faux", "vrai"),
    ("without", "with"),
    ("absent", "present"),
    ("✗", "✓"),
)
"""Words for 0 and 1, in lower case."""

TICKS = frozenset(("x", "✓", "✔", "•", "*"))
"""Marks of a list that has empty cells for no."""

LONGEST = 60
"""Largest number of characters of a number with its unit."""

SPACES = "'’ \u00a0\u202f"
NUMBER = rf"[+\-−]?(?:\d(?:[\d.,{SPACES}]*[\d.,])?|[.,]\d+)(?:[eE][+-]?\d+)?(?:(?<=[.,])[-–—]{{1,2}})?"
LETTER = r"[^\W\d_]"
UNIT = (
    rf"(?:{LETTER}|[°%‰€$£¥]|/{LETTER})[^\s\d.,;:+\-–—()]*(?:(?<={LETTER})\^?-?[1-3])?"
    rf"(?:\s(?:{LETTER}|\()[^\s\d]*){{0,2}}"
)
QUANTITY = re.compile(
    r"(?P<sign>[<>≤≥~≈]=?|ca\.?|approx\.?|about)?\s*(?P<minus>[-−](?=\s*[€$£¥]))?\s*(?P<money>[€$£¥]|EUR|USD|GBP|CHF)?\s*"
    rf"(?P<number>{NUMBER})(?P<space>\s*)(?P<unit>{UNIT})?",
    re.IGNORECASE,
)
RANGE = re.compile(
    rf"(?P<low>{NUMBER})(?P<mark>\s*(?:-|–|—|\.\.\.?|to|bis)\s*)(?P<high>\d[\d.,]*)(?P<space>\s*)(?P<unit>{UNIT})?",
    re.IGNORECASE,
)


def _written(decimal: str, other: str) -> re.Pattern[str]:
    """Return how a number is written with a decimal mark, perhaps with marks between thousands."""
    grouped = rf"[1-9]\d{{0,2}}(?P<mark>[{other}{SPACES}])\d{{3}}(?:(?P=mark)\d{{3}})*"
    return re.compile(
        rf"[+-]?(?:(?:{grouped}|\d+)(?:{re.escape(decimal)}\d*)?|{re.escape(decimal)}\d+)(?:[eE][+-]?\d+)?"
    )


WRITTEN = {".": _written(".", ","), ",": _written(",", ".")}
MARKS = {".": "points", ",": "commas"}


class Numbers(NamedTuple):
    """A column of numbers, NaN where a cell is missing, what was assumed to read it, if anything, and its kind."""

    values: FloatArray
    remark: str
    kind: str = "number"


def is_missing(cell: str) -> bool:
    """Return whether a cell says that there is no value."""
    return cell.strip().lower() in MISSING


def is_unknown(cell: str) -> bool:
    """Return whether a cell of a column of numbers says that there is no number."""
    return cell.strip().lower() in UNKNOWN


def yes_or_no(cells: Sequence[str]) -> Numbers | None:
    """Return a column of yes and no as 1 and 0.

    Examples
    --------
    >>> yes_or_no(["Yes", "no", ""])
    Numbers(values=array([ 1.,  0., nan]), remark='yes is 1, no is 0', kind='yes-no')
    """
    present = {cell.strip().lower() for cell in set(cells)} - {""}
    if len(present) > len(MISSING) + 2:
        return None
    words = [cell.strip().lower() for cell in cells]
    if len(present) == 1 and present <= TICKS and "" in words:
        (tick,) = present
        values = np.array([float(word == tick) for word in words])
        return Numbers(values, f"{tick} is 1, an empty cell is 0", "yes-no")
    for low, high in PAIRS:
        given = {word for word in present if word in (low, high) or not is_missing(word)}
        if given and given <= {low, high} and (len(given) == 2 or len(low) > 1):
            values = np.array([{low: 0.0, high: 1.0}.get(word, np.nan) for word in words])
            return Numbers(values, f"{high} is 1, {low} is 0", "yes-no")
    return None


def plain_number(text: str, decimal: str) -> float | None:
    """Return a number that may have marks between thousands, or the other decimal mark where only that fits.

    Examples
    --------
    >>> plain_number("1,234.5", "."), plain_number("1.234,5", ","), plain_number("12,5", ".")
    (1234.5, 1234.5, 12.5)
    """
    for mark in (decimal, "," if decimal == "." else "."):
        found = _number(text.strip(), mark)
        if found is not None:
            return found
    return None


def _number(text: str, decimal: str) -> float | None:
    """Return a number with this decimal mark."""
    bare = re.sub(r"[.,][-–—]+$", "", text).replace("−", "-")  # 1.299,-
    found = WRITTEN[decimal].fullmatch(bare)
    if found is None:
        return None
    if found["mark"]:
        bare = bare.replace(found["mark"], "")
    return float(bare.replace(",", "."))


class _Quantity(NamedTuple):
    numbers: tuple[str, ...]
    unit: str
    limit: bool
    apart: bool
    """Whether the unit, or the ends of a range, stand apart, so that it is not a code such as 3a or 3-12."""


def _quantity(cell: str) -> _Quantity | None:
    if len(cell) > LONGEST:
        return None
    found = QUANTITY.fullmatch(cell)
    if found is not None:
        unit = f"{found['money'] or ''}{found['unit'] or ''}".strip().replace("μ", "µ")
        number = f"-{found['number']}" if found["minus"] else found["number"]
        apart = bool(found["money"] or found["space"] or not unit[:1].isalpha())
        return _Quantity((number,), unit, found["sign"] is not None, apart)
    found = RANGE.fullmatch(cell)
    if found is None:
        return None
    unit = (found["unit"] or "").replace("μ", "µ")
    return _Quantity((found["low"], found["high"]), unit, False, bool(unit) or found["mark"] != "-")


def is_code(cells: Sequence[str]) -> bool:
    """Return whether cells are digits of which some begin with a zero, such as 01067, or too many for a number."""
    digits = all(cell.isdecimal() for cell in cells)
    return digits and any((cell[0] == "0" and len(cell) > 1) or len(cell) > 15 for cell in cells)


def quantities(cells: Sequence[str], decimal: str = ".", stated: bool = False) -> Numbers | None:
    """Return a column of numbers with separators, units or percent signs.

    Parameters
    ----------
    cells : sequence of str
        The cells.
    decimal : {".", ","}, default="."
        The decimal mark of the file. The column has the other one if it can only be read so.
    stated : bool, default=False
        Whether the column is stated to hold numbers, so that 007 and 3-12 are no codes.

    Returns
    -------
    Numbers or None
        None if some cell is neither such a number nor missing, or if the cells are codes.

    Raises
    ------
    MixedError
        If there are both decimal marks, or several units that do not convert into each other.

    Examples
    --------
    >>> quantities(["141 °C", "150 °C", "n/a"])
    Numbers(values=array([141., 150.,  nan]), remark='in °C', kind='number')
    >>> quantities(["1.2 kg", "800 g", "900 g"]).values
    array([1200.,  800.,  900.])
    """
    texts = [cell.strip() for cell in cells]
    given, found = [], []
    for text in texts:
        if not is_unknown(text):
            one = _quantity(text)
            if one is None:
                return None
            given.append(text)
            found.append(one)
    if not given or (not stated and (is_code(given) or _ranges_are_codes(found))):
        return None
    written = [number for one in found for number in one.numbers]
    mark = _decimal_mark(written, decimal)
    if mark is None:
        return None
    values = [_value(one, mark) for one in found]
    if None in values:
        return None
    units = [one.unit for one in found]
    if any(units) and not unit_of_all(units) and not any(one.apart for one in found if one.unit):
        return None  # codes such as 12a and 14b
    times, words = factors(units)
    numbers = iter(value * times[one.unit] for value, one in zip(values, found, strict=True) if value is not None)
    remark = "; ".join((*words, *_marks(written, mark, decimal), *_limits(found)))
    return Numbers(np.array([np.nan if is_unknown(text) else next(numbers) for text in texts]), remark)


def _ranges_are_codes(found: Sequence[_Quantity]) -> bool:
    """Return whether most cells are like 3-12, which may be a code or a date, and none is certainly a range."""
    ranges = [one for one in found if len(one.numbers) == 2]
    return 2 * len(ranges) > len(found) and not any(one.apart for one in ranges)


def _decimal_mark(written: Sequence[str], decimal: str) -> str | None:
    """Return the decimal mark by which all numbers can be read, that of the file if both fit; None if some is none."""
    other = "," if decimal == "." else "."
    misfits = {mark: [text for text in written if _number(text, mark) is None] for mark in (decimal, other)}
    for mark, texts in misfits.items():
        if not texts:
            return mark
    if any(text in misfits[other] for text in misfits[decimal]):
        return None
    first, second = sorted((misfits[decimal][0], misfits[other][0]))
    raise MixedError("one decimal mark per column", f"{first!r} and {second!r}")


def _value(one: _Quantity, decimal: str) -> float | None:
    numbers = [_number(text, decimal) for text in one.numbers]
    if len(numbers) == 1 or None in numbers:
        return numbers[0]
    low, high = numbers
    assert low is not None
    assert high is not None
    return (low + high) / 2.0 if low <= high else None


def _marks(written: Sequence[str], mark: str, decimal: str) -> list[str]:
    """Say which marks numbers were read by, if not by the decimal mark of the file alone."""
    found = [WRITTEN[mark].match(text.replace("−", "-")) for text in written]
    between = {one["mark"] for one in found if one is not None} - {None}
    words = [f"with decimal {MARKS[mark]}"] if mark != decimal and any(mark in text for text in written) else []
    other = "," if mark == "." else "."
    words += [f"{MARKS[other]} separate thousands"] if other in between else []
    return words + (["spaces separate thousands"] if between & set(SPACES) else [])


def _limits(found: Sequence[_Quantity]) -> list[str]:
    limits, ranges = sum(one.limit for one in found), sum(len(one.numbers) == 2 for one in found)
    words = []
    if limits:
        words.append(f"{limits} with a sign such as < {'is' if limits == 1 else 'are'} taken as plain numbers")
    if ranges:
        words.append("1 range is taken as its middle" if ranges == 1 else f"{ranges} ranges are taken as their middle")
    return words
