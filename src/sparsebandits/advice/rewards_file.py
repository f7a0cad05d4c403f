"""The file of rewards beside a table: two columns, the action and its reward, and one line per trial.

A reward is added by writing the whole file anew in one step; what was there before stays beside it as a backup. So a
crash leaves the old file or the new one. The table itself is never written to.
"""

import codecs
import csv
import io
import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sparsebandits.advice.cells import escaped, unescaped
from sparsebandits.advice.columns import LARGEST_CELL
from sparsebandits.advice.dialect import Dialect, sniff
from sparsebandits.advice.values import plain_number, quantities
from sparsebandits.arguments import ArgumentValueError, shown
from sparsebandits.files import exclusively, write_atomically

HEADER = ("action", "reward")
SUFFIX = ".rewards.csv"
BACKUP = ".bak"
EXPECTED = "'ACTION=REWARD', such as 'C15=69.3'"

BOTH_WAYS = re.compile(r"^[^\d.,]*[1-9]\d{0,2}([.,])\d{3}(?![\d.,])")
"""Numbers such as 1,234, whose mark may be that of thousands or of decimals."""


def rewards_path(table: str | os.PathLike[str]) -> Path:
    """Return the file of rewards that belongs to a table: ``coatings.rewards.csv`` to ``coatings.csv``."""
    return Path(table).with_suffix(SUFFIX)


def parse_told(told: Sequence[str], names: Sequence[str], decimal: str = ".") -> list[tuple[str, float]]:
    """Return names and rewards from texts such as "C15=69.3".

    Parameters
    ----------
    told : sequence of str
        The texts; an action may occur several times.
    names : sequence of str
        Names of the actions.
    decimal : {".", ","}, default="."
        Decimal mark of the table.

    Raises
    ------
    ArgumentValueError
        With everything that is wrong, if anything is.

    Examples
    --------
    >>> parse_told(["C15 = 69.3", "C1=7,5"], ["C1", "C15"])
    [('C15', 69.3), ('C1', 7.5)]
    """
    found, wrong, known = list[tuple[str, float]](), list[str](), set(names)
    for one in told:
        name, mark, value = one.rpartition("=")
        number = _reward(value, decimal) if mark else None
        unclear = BOTH_WAYS.search(value)
        if unclear is not None and unclear[1] != decimal:
            wrong.append(f"{shown(one)}, which reads as thousands or as a fraction: leave out {shown(unclear[1])}")
        elif number is None:
            wrong.append(f"{shown(one)}, which does not read {EXPECTED}")
        elif not abs(number) <= LARGEST_CELL:
            wrong.append(f"{shown(one)}, whose reward is not of magnitude at most {LARGEST_CELL:g}")
        elif name.strip() not in known:
            wrong.append(f"{shown(name.strip())}, which is not in the table")
        else:
            found.append((name.strip(), number))
    if wrong:
        raise ArgumentValueError("tell", "rewards of actions in the table", "; ".join(wrong))
    return found


def _reward(text: str, decimal: str) -> float | None:
    """Return a reward, which may have a unit."""
    found = quantities([text.strip()], decimal) if text.strip() else None
    return plain_number(text, decimal) if found is None or np.isnan(found.values[0]) else float(found.values[0])


def add_rewards(path: str | os.PathLike[str], told: Sequence[tuple[str, float]]) -> str:
    """Add rewards to a file: all of them, or none. The file before is kept with the suffix ``.bak``.

    If the encoding of the file does not have all characters of the names, the file is UTF-8 from then on, with the mark
    by which Excel knows it.

    Parameters
    ----------
    path : str or path
        A text file with two columns; it is made if it does not exist.
    told : sequence of (str, float)
        Names and rewards.

    Returns
    -------
    str
        What a person should know about the file; usually nothing.

    Raises
    ------
    ArgumentValueError
        If it is something else than such a file.
    OSError
        If it cannot be written.
    """
    file = Path(path)
    with exclusively(file.parent):
        before = file.read_bytes() if file.exists() else b""
        dialect = sniff(before) if before.strip() else Dialect("utf-8")
        text = before.decode(dialect.encoding) if before else ""
        if before.strip():
            header = next(csv.reader(text.splitlines()[dialect.preamble :], delimiter=dialect.delimiter), [])
            if len(header) != len(HEADER):
                got = f"{len(header)} columns in {file.name}"
                raise ArgumentValueError("rewards", "a text file with two columns, the action and its reward", got)
        end = "\r\n" if "\r\n" in text else "\n"
        out = io.StringIO(newline="")
        writer = csv.writer(out, delimiter=dialect.delimiter, lineterminator=end)
        if not text.strip():
            writer.writerow(HEADER)
        elif not text.endswith("\n"):
            out.write(end)
        for name, reward in told:
            writer.writerow([escaped(name), repr(reward).replace(".", dialect.decimal)])
        encoding, said = dialect.encoding.removesuffix("-sig") if text else "utf-8", ""
        try:
            content = before + out.getvalue().encode(_continued(encoding, before))
        except UnicodeEncodeError as error:
            content = (text + out.getvalue()).encode("utf-8-sig")
            said = f"{path} is UTF-8 from now on, since Windows-1252 has no {error.object[error.start]}"
        if before:
            write_atomically(file.with_name(file.name + BACKUP), before)
        write_atomically(file, content)
        return said


def correct_rewards(path: str | os.PathLike[str], told: Sequence[tuple[str, float]]) -> None:
    """Replace the last reward of each action in a file: all of them, or none. The file before is kept as a backup.

    Parameters
    ----------
    path : str or path
        A text file with two columns.
    told : sequence of (str, float)
        Names and right rewards.

    Raises
    ------
    ArgumentValueError
        If the file has no reward of an action.
    OSError
        If it cannot be written.
    """
    file = Path(path)
    with exclusively(file.parent):
        before = file.read_bytes() if file.exists() else b""
        dialect = sniff(before) if before.strip() else Dialect("utf-8")
        text = before.decode(dialect.encoding)
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=dialect.delimiter))
        for name, reward in told:
            places = [place for place, row in enumerate(rows) if len(row) == 2 and unescaped(row[0].strip()) == name]
            if not places:
                raise ArgumentValueError("correct", f"an action with a reward in {file.name}", shown(name))
            rows[places[-1]][1] = repr(reward).replace(".", dialect.decimal)
        out = io.StringIO(newline="")
        end = "\r\n" if "\r\n" in text else "\n"
        csv.writer(out, delimiter=dialect.delimiter, lineterminator=end).writerows(rows)
        write_atomically(file.with_name(file.name + BACKUP), before)
        marked = before.startswith(codecs.BOM_UTF8)
        encoding = dialect.encoding if marked else dialect.encoding.removesuffix("-sig")
        write_atomically(file, out.getvalue().encode(encoding))


def _continued(encoding: str, before: bytes) -> str:
    """Return the encoding of text that is added, which has no mark of the byte order of its own."""
    if encoding != "utf-16":
        return encoding
    return "utf-16-be" if before.startswith(b"\xfe\xff") else "utf-16-le"
