"""How a text file writes a table: its encoding, what stands between cells, the decimal mark, and where it begins.

All are found from the beginning of the file. A file without a mark of its encoding is UTF-8 if it can be, UTF-16 if
every other byte is zero, and Windows-1252, which includes Latin-1, otherwise. What stands between cells is the mark by
which most lines have equally many cells; lines of a cell or two above them are a title. The decimal mark is the comma
if more numbers can only be read so, or if semicolons stand between cells and no number can only have a decimal point.
"""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "spaces"}
"""What may stand between cells, and what it is called."""

BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}

SAMPLE = 1 << 16
"""Number of bytes at the beginning of a file that its dialect is found from."""

MOST_LINES = 100
"""Number of lines that are compared."""

MOST_TITLE = 20
"""Largest number of lines above the column names."""

NUMBER = re.compile(r"[<>~≈€$£¥\s]*([+-]?\d[\d.,]*)")
DECIMAL_COMMA = re.compile(r"[+-]?\d+,(\d{1,2}|\d{4,})|[+-]?\d{4,},\d+|[+-]?\d{1,3}(\.\d{3})+,\d+|[+-]?0,\d+")
DECIMAL_POINT = re.compile(r"[+-]?\d+\.(\d{1,2}|\d{4,})|[+-]?\d{4,}\.\d+|[+-]?\d{1,3}(,\d{3})+\.\d+|[+-]?0\.\d+")
EITHER = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")


@dataclass(frozen=True)
class Dialect:
    """How a file writes a table.

    Attributes
    ----------
    encoding : str
        Name of the encoding, as Python has it.
    delimiter : str
        What stands between cells.
    decimal : str
        "." or ",".
    preamble : int
        Number of rows before the column names, such as Excel's "sep=;" or a title.
    row_names : bool
        Whether lines begin with a cell that has no column name, as R writes them.
    unclear : str
        A number whose point is taken for a decimal one although it could separate thousands, if there are only such.
    """

    encoding: str = "utf-8-sig"
    delimiter: str = ","
    decimal: str = "."
    preamble: int = 0
    row_names: bool = False
    unclear: str = ""

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is unusual about the file, in words."""
        found = []
        if self.delimiter != ",":
            found.append(f"cells are separated by {DELIMITERS[self.delimiter]}")
        if self.decimal == ",":
            found.append("numbers have decimal commas")
        if self.unclear:
            found.append(f"numbers such as {self.unclear} have decimal points")
        if self.row_names:
            found.append("the first cell of each line has no column name and names the row")
        if self.encoding in ("cp1252", "latin-1"):
            found.append("the file is read as Windows-1252 text, since it is not UTF-8")
        return tuple(found)


def sniff(sample: bytes, decimal: str | None = None) -> Dialect:
    r"""Return how a file writes a table.

    Parameters
    ----------
    sample : bytes
        The beginning of the file, or all of it.
    decimal : {".", ","}, optional
        The decimal mark, if it is known.

    Returns
    -------
    Dialect

    Examples
    --------
    >>> dialect = sniff("Preis;Größe\n1,5;3\n2,25;4\n".encode())
    >>> dialect.encoding, dialect.delimiter, dialect.decimal
    ('utf-8-sig', ';', ',')
    """
    encoding = _encoding(sample)
    text = codecs.getincrementaldecoder(encoding)(errors="replace").decode(sample)
    cut = len(sample) >= SAMPLE
    said = re.match(r'\ufeff?"?sep=(.)"?[\r\n]', text, re.IGNORECASE)
    marks = [said[1]] if said is not None and said[1] in DELIMITERS else list(DELIMITERS)
    layouts = {mark: _layout(_rows(text, mark, cut), said is not None) for mark in marks}
    delimiter = max(marks, key=lambda mark: layouts[mark].score)
    if delimiter == " " and not _spaced(layouts):
        delimiter = ","
    layout = layouts[delimiter]
    cells = [cell.strip() for row in layout.rows[layout.preamble + 1 :] for cell in row]
    found, unclear = _decimal(cells, delimiter)
    return Dialect(
        encoding,
        delimiter,
        decimal or found,
        layout.preamble,
        layout.row_names,
        "" if decimal or delimiter == "," else unclear,
    )


def _encoding(sample: bytes) -> str:
    for mark, name in BYTE_ORDER_MARKS.items():
        if sample.startswith(mark):
            return name
    even, odd = sample[0:2000:2], sample[1:2000:2]
    if len(odd) > 1 and b"\0" in sample:
        if odd.count(0) > 0.7 * len(odd) and even.count(0) < 0.3 * len(even):
            return "utf-16-le"
        if even.count(0) > 0.7 * len(even) and odd.count(0) < 0.3 * len(odd):
            return "utf-16-be"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)  # the last character may be cut off
    except UnicodeDecodeError:
        return latin(sample)
    return "utf-8-sig"


def latin(sample: bytes) -> str:
    """Return the encoding of text that is not UTF-8: Windows-1252, or Latin-1 where that has no such characters."""
    try:
        sample.decode("cp1252")
    except UnicodeDecodeError:
        return "latin-1"
    return "cp1252"


class _Layout(NamedTuple):
    """Rows by one mark: how many come before the column names, and how well the mark explains the file."""

    rows: list[list[str]]
    preamble: int = 0
    row_names: bool = False
    score: tuple[bool, float, int] = (False, 0.0, 0)


def _rows(text: str, delimiter: str, cut: bool) -> list[list[str]]:
    """Return the first rows that are not empty lines; the last one of a sample may be cut off."""
    try:
        rows = list(islice(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), MOST_LINES + 1))
    except csv.Error:
        return []
    if len(rows) > MOST_LINES or (cut and len(rows) > 1):
        rows.pop()
    return [row for row in rows if row]


def _layout(rows: list[list[str]], said: bool) -> _Layout:
    """Return where the column names are; ``said`` is whether the first row only says what separates cells."""
    table = [row for row in rows[said:] if any(cell.strip() for cell in row)]
    if not table:
        return _Layout(rows, int(said))
    counts = Counter(len(row) for row in table)
    width = max(counts, key=lambda one: (counts[one], one == len(table[0]), one))
    first = next(place for place, row in enumerate(table) if len(row) == width)
    above = table[first - 1] if first else []
    row_names = len(above) == width - 1 > 1 and all(cell.strip() for cell in above) and _has_number(table[first])
    header = 0
    if row_names and _is_title(table[: first - 1], width):
        header = first - 1
    elif first and not _has_number(table[first]) and _is_title(table[:first], width):
        header = first
    names = table[header]
    score = (False, 0.0, 0)
    if len(names) > 1:
        score = (not all(_is_number(cell) for cell in names[1:]), counts[width] / len(table), width)
    preamble = next(place for place, row in enumerate(rows) if row is names)
    return _Layout(rows, preamble, row_names and header == first - 1, score)


def _is_title(rows: Sequence[Sequence[str]], width: int) -> bool:
    """Return whether rows above the column names are a title, remarks, or names with a value."""
    return len(rows) <= MOST_TITLE and all(
        len(row) < width and (sum(bool(cell.strip()) for cell in row) <= 2 or row[0].startswith("#")) for row in rows
    )


def _has_number(row: Iterable[str]) -> bool:
    return any(_is_number(cell) for cell in row)


def _is_number(cell: str) -> bool:
    return NUMBER.fullmatch(cell.strip()) is not None


def _spaced(layouts: dict[str, _Layout]) -> bool:
    """Return whether spaces stand between cells: every row has numbers and equally many cells, and no mark does it."""
    layout = layouts[" "]
    body = layout.rows[layout.preamble + 1 :]
    others = any(one.score[2] > 1 for mark, one in layouts.items() if mark != " ")
    widths = {len(row) for row in body}
    return not others and widths == {layout.score[2]} and layout.score[2] > 2 and all(_has_number(row) for row in body)


def _decimal(cells: Iterable[str], delimiter: str) -> tuple[str, str]:
    """Return the decimal mark, and a number whose point may separate thousands if there is nothing else to go by."""
    commas = points = 0
    unclear = set()
    for cell in cells:
        found = NUMBER.match(cell)
        if found is None:
            continue
        number = found[1]
        commas += DECIMAL_COMMA.fullmatch(number) is not None
        points += DECIMAL_POINT.fullmatch(number) is not None
        if EITHER.fullmatch(number):
            unclear.add(number)
    if commas != points:
        return ("," if commas > points else "."), ""
    if points or not unclear:
        return ".", ""
    if delimiter == ";":
        return ",", ""
    return ".", min((number for number in unclear if "." in number), default="")
