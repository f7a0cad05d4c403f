"""Dates and times of the day as people write them, as numbers.

A whole column is read at once, so that one cell tells the order of day and month of all.
"""

import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta

import numpy as np

from sparsebandits.advice.units import MixedError
from sparsebandits.advice.values import Numbers, is_missing

MONTHS = {
    **{"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11},
    **{"dec": 12, "mär": 3, "mrz": 3, "mai": 5, "okt": 10, "dez": 12, "fév": 2, "avr": 4, "aoû": 8, "déc": 12},
}
"""Months by the first three letters of their names in English, German and French."""

YEARS = range(1500, 2200)
"""Years of dates; other numbers are something else."""

CENTURY = 70
"""Two digits are a year of this century below it, and of the last one from it on, as in the POSIX standard."""

CLOCK = (
    r"(?:[T ,]+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,]\d+)?)?\s*(?P<half>[ap]\.?m\.?)?"
    r"\s*(?P<zone>Z|[+-]\d{2}:?\d{2})?)?"
)
YEAR_FIRST = re.compile(r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})" + CLOCK, re.I)
COMPACT = re.compile(r"(?P<year>(?:19|20)\d{2})(?P<month>\d{2})(?P<day>\d{2})" + CLOCK, re.I)
YEAR_LAST = re.compile(
    r"(?P<first>\d{1,2})(?P<mark>[-/.])(?P<next>\d{1,2})(?P=mark)(?P<year>\d{4}|\d{2})" + CLOCK, re.I
)
NAMED_DAY = re.compile(
    r"(?P<day>\d{1,2})[. -]+(?P<name>[^\W\d_]{3,})\.?[ ,-]+(?P<year>\d{4}|(?<=-)\d{2})" + CLOCK, re.I
)
NAMED_MONTH = re.compile(
    r"(?P<name>[^\W\d_]{3,})\.?[ -]+(?P<day>\d{1,2})(?:st|nd|rd|th)?,?[ -]+(?P<year>\d{4})" + CLOCK, re.I
)
PATTERNS = (YEAR_FIRST, COMPACT, YEAR_LAST, NAMED_DAY, NAMED_MONTH)
TIME = re.compile(r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}))?")


def dates(cells: Sequence[object], day_first: bool = False, stated: bool = False) -> Numbers | None:
    """Return a column of dates as days since the earliest, or one of times of the day as hours.

    Parameters
    ----------
    cells : sequence of str, date or datetime
        The cells.
    day_first : bool, default=False
        Whether 3/4/2025 is the third of April if no cell tells.
    stated : bool, default=False
        Whether the column is stated to hold dates, so that 10-10-20 is no code.

    Returns
    -------
    Numbers or None
        None if some cell is neither a date nor missing.

    Raises
    ------
    MixedError
        If some cells can only have the day first, and others only the month.

    Examples
    --------
    >>> dates(["2025-01-03", "2025-01-05", ""])
    Numbers(values=array([ 0.,  2., nan]), remark='days since 2025-01-03', kind='date')
    """
    first = next((cell for cell in cells if not _empty(cell)), None)
    if not any(_moment(first, order) for order in (True, False)) and not _is_time(first):
        return None
    given = [cell.strip() if isinstance(cell, str) else cell for cell in cells if not _empty(cell)]
    texts = [cell for cell in given if isinstance(cell, str)]
    if all(map(_is_time, given)):
        return _times(cells)
    last = [found for found in map(YEAR_LAST.fullmatch, texts) if found]
    if not stated and any(one["mark"] == "-" and len(one["year"]) == 2 for one in last):
        return None
    days = sorted(one.group() for one in last if int(one["first"]) > 12)
    months = sorted(one.group() for one in last if int(one["next"]) > 12)
    order = bool(days) or (not months and (day_first or any(one["mark"] == "." for one in last)))
    moments = [_moment(cell, order) or (_moment(cell, not order) if days and months else None) for cell in given]
    known = [one for one in moments if one is not None]
    if not known or len(known) < len(given):
        return None
    if days and months:
        raise MixedError("dates with the day first, or all with the month first", f"{days[0]!r} and {months[0]!r}")
    start = datetime.combine(min(known).date(), datetime.min.time())
    since = iter((one - start) / timedelta(days=1) for one in known)
    values = np.array([np.nan if _empty(cell) else next(since) for cell in cells])
    return Numbers(values, f"days since {start:%Y-%m-%d}{_taking(last, order)}", "date")


def _empty(cell: object) -> bool:
    return cell is None or cell != cell or (isinstance(cell, str) and is_missing(cell))


def _is_time(cell: object) -> bool:
    return isinstance(cell, str) and TIME.fullmatch(cell.strip()) is not None


def _times(cells: Sequence[object]) -> Numbers | None:
    """Return times of the day as hours; None if they may be ratios such as 1:10, or durations."""
    found = [None if _empty(cell) else TIME.fullmatch(str(cell).strip()) for cell in cells]
    given = [one for one in found if one is not None]
    if any(int(one["hour"]) > 23 or max(int(one["minute"]), int(one["second"] or 0)) > 59 for one in given):
        return None
    if all(one["hour"] == "1" for one in given):
        return None
    hours = [
        np.nan if one is None else int(one["hour"]) + int(one["minute"]) / 60 + int(one["second"] or 0) / 3600
        for one in found
    ]
    return Numbers(np.array(hours), "hours of the day", "date")


def _taking(last: Sequence[re.Match[str]], day_first: bool) -> str:
    """Say how dates are read that could be read in another way."""
    unclear = all(int(one["first"]) <= 12 and int(one["next"]) <= 12 and one["mark"] != "." for one in last)
    short = [one.group() for one in last if len(one["year"]) == 2]
    if not last or not (unclear or short):
        return ""
    example = min(short or [one.group() for one in last])
    return f", taking {example} as {'day, month' if day_first else 'month, day'}, year"


def _moment(cell: object, day_first: bool) -> datetime | None:
    if isinstance(cell, datetime):
        return _without_zone(cell)
    if isinstance(cell, date):
        return datetime(cell.year, cell.month, cell.day)
    if not isinstance(cell, str):
        return None
    for pattern in PATTERNS:
        found = pattern.fullmatch(cell.strip())
        if found is not None:
            return _made(found, pattern, day_first)
    return None


def _made(found: re.Match[str], pattern: re.Pattern[str], day_first: bool) -> datetime | None:
    year = int(found["year"])
    year += (2000 if year < CENTURY else 1900) if len(found["year"]) == 2 else 0
    if pattern is YEAR_LAST:
        first, second = int(found["first"]), int(found["next"])
        day, month = (first, second) if day_first else (second, first)
    elif pattern in (YEAR_FIRST, COMPACT):
        month, day = int(found["month"]), int(found["day"])
    else:
        month, day = MONTHS.get(found["name"][:3].lower(), 0), int(found["day"])
    hour = int(found["hour"] or 0)
    if found["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if found["half"][0] in "pP" else 0)
    zone = (found["zone"] or "").upper().replace("Z", "+00:00")
    try:
        moment = datetime(year, month, day, hour, int(found["minute"] or 0), int(found["second"] or 0))
        zoned = datetime.fromisoformat(moment.isoformat() + zone) if zone else moment
    except ValueError:
        return None
    return _without_zone(zoned) if year in YEARS else None


def _without_zone(moment: datetime) -> datetime:
    """Return a moment in universal time if it has a zone."""
    offset = moment.utcoffset()
    return moment.replace(tzinfo=None) - (offset or timedelta())
