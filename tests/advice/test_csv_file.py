"""CSV files in batches: the same columns and messages whatever the size of a batch, and bounds on what is read."""

import csv
import io
import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsebandits.advice import cells, csv_file
from sparsebandits.advice.cells import as_numbers, escaped, is_number, unescaped
from sparsebandits.advice.csv_file import CsvReader
from sparsebandits.advice.design import Exploration
from sparsebandits.advice.dialect import Dialect
from sparsebandits.advice.read import read_actions, read_history
from sparsebandits.advice.sheet import Sheet, read_sheet
from sparsebandits.arguments import ArgumentValueError
from sparsebandits.policies.actions import ActionSet

WRITTEN = (
    *("", " ", "1", "-2.5", " 3e4 ", "007", "nan", "inf", "+1", "1_0", ".5", "word", "a b", "١", "1e999", "nan(1)"),
    *("1,5", "-2,25", "1.234", "12", "34567", "00", "1234567890123456"),
)
CELLS = st.one_of(
    st.sampled_from(WRITTEN),
    st.floats().map(repr),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=4),
)
TABLES = st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n), max_size=12))


def written(rows: list[list[str]], end: str, delimiter: str, encoding: str) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator=end, quoting=csv.QUOTE_ALL, delimiter=delimiter).writerows(rows)
    return text.getvalue().encode(encoding)


def number(cell: str, decimal: str) -> float | None:
    if cell == "":
        return np.nan
    if decimal == ",":
        if "." in cell or cell.count(",") > 1:
            return None
        cell = cell.replace(",", ".")
    return float(cell) if is_number(cell) else None


def slowly(rows: list[list[str]], decimal: str) -> list[tuple[list[float] | None, list[str]]]:
    """Numbers, if all cells are, and text of each column: cell by cell, from the definition."""
    stripped = [row for row in ([cell.strip() for cell in row] for row in rows) if any(row)]
    found: list[tuple[list[float] | None, list[str]]] = []
    for column in zip(*stripped, strict=True):
        numbers = [value for cell in column if (value := number(cell, decimal)) is not None]
        given = [cell for cell in column if cell]
        codes = all(cell.isdecimal() for cell in given) and any(
            len(c) > 15 or (len(c) > 1 and c[0] == "0") for c in given
        )
        found.append((numbers if len(numbers) == len(column) and not codes else None, list(column)))
    return found


@pytest.mark.parametrize("batch", [1, 3, 1000])
@given(
    rows=TABLES,
    end=st.sampled_from(["\n", "\r\n"]),
    dialect=st.builds(
        Dialect, st.sampled_from(["utf-8-sig", "utf-16"]), st.sampled_from(",;\t|"), st.sampled_from(".,")
    ),
)
def test_columns_are_those_of_a_slow_reader(batch: int, rows: list[list[str]], end: str, dialect: Dialect) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_file, "LEAST_ROWS", batch)
        patch.setattr(csv_file, "BATCH", batch)
        patch.setattr(cells, "MANY", 2)
        patch.setattr(csv_file, "sniff", lambda *_: dialect)
        names = [f"c{j}" for j in range(len(rows[0]) if rows else 2)]
        content = written([names, *rows], end, dialect.delimiter, dialect.encoding)
        for kept in (names, []):
            columns, lines = CsvReader("file", "a.csv").read(io.BytesIO(content), kept)
            for (numbers, text), column in zip(slowly(rows, dialect.decimal), columns.values(), strict=False):
                np.testing.assert_array_equal(column.numbers if numbers is not None else [], numbers or [])
                assert (column.numbers is None) == (numbers is None)
                assert len(column.cells) == len(lines) == len(text)
                assert [cell == "" for cell in column.cells] == [cell == "" for cell in text]
                if kept or numbers is None:
                    digits = all(cell.isdecimal() and cell.isascii() for cell in text)
                    words = [(a, b) for a, b in zip(column.cells, text, strict=True) if kept or digits or not _any(b)]
                    assert all(a == unescaped(b) for a, b in words)


def _any(cell: str) -> bool:
    return is_number(cell) or is_number(cell.replace(",", "."))


def test_a_pipe_is_read_whole_and_once(tmp_path: Path) -> None:
    """Planted: a dialect that is found from the first bytes that happen to arrive."""
    reader, writer = os.pipe()
    text = "Größe;Preis\n" + "1,234;2\n" * 3000 + "1,5;3\n" * 5000
    thread = threading.Thread(target=_trickle, args=(writer, text.encode()))
    thread.start()
    csv_reader = CsvReader("file", "pipe")
    with open(reader, "rb") as file:
        columns, lines = csv_reader.read(file)
    thread.join()
    assert (csv_reader.dialect.decimal, len(lines)) == (",", 8000)
    np.testing.assert_array_equal(columns["Größe"].numbers, [1.234] * 3000 + [1.5] * 5000)


def _trickle(writer: int, content: bytes) -> None:
    with open(writer, "wb", buffering=0) as file:
        file.write(content[:5])
        time.sleep(0.05)
        file.write(content[5:])


@given(st.lists(st.one_of(CELLS, st.text("0123456789.eE+-_infa()x ", max_size=8)), min_size=1, max_size=5))
def test_numbers_by_arrow_are_those_of_python(some: list[str]) -> None:
    pytest.importorskip("pyarrow")
    many = as_numbers(some * cells.MANY)
    few = as_numbers(some)
    assert (many is None) == (few is None)
    if few is not None and many is not None:
        assert few.tobytes() == many[: len(some)].tobytes()


def test_errors_in_late_batches_name_their_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_file, "BATCH", 1)
    monkeypatch.setattr(csv_file, "LEAST_ROWS", 2)
    start = "name,x,y\n" + "".join(f"a{i},{i},{-i}\n" for i in range(9))
    for line, message in {
        "b,1,two\n": r"got 'two' in line 11, column 'y'",
        "b,nan,2\n": r"got nan in line 11, column 'x'",
        "b,,2\n": r"got an empty cell in line 11, column 'x'",
        "b,1\n": r"expected 3 cells, one per column, got 2 in line 11",
        '\n\nb,1,"2\n': r"expected CSV, got something else",
        ",,\nb,1,2,3\n": r"expected 3 cells, one per column, got 4 in line 12",
        "b,1\nc,1,2,3\n": r"expected 3 cells, one per column, got 2 in line 11, 4 in line 12",
    }.items():
        (tmp_path / "a.csv").write_text(start + line)
        with pytest.raises(ArgumentValueError, match=message):
            read_actions(tmp_path / "a.csv")


def test_names_keep_their_digits(tmp_path: Path) -> None:
    table, rewards = tmp_path / "a.csv", tmp_path / "r.csv"
    table.write_text("x,id,y\n1,007,2\n2,08.0,5\n4,9,1\n")
    assert read_history(table, None, "id", None, ()).names == ("007", "08.0", "9")
    rewards.write_text("id,reward\n08.0,3\n007,4\n")
    past = read_history(table, rewards, None, None, ())
    assert (past.names, past.tried.tolist()) == (("007", "08.0", "9"), [1, 0])


def test_the_first_of_two_equal_names_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("name,x\na,1\nb,2\n\nc,3\nb,4\na,5\n")
    with pytest.raises(
        ArgumentValueError,
        match=r"got 'b' in line 6, column 'name' of .* and in line 3, which differ in column 'x', and 1 more$",
    ):
        read_history(tmp_path / "a.csv", None, None, None, ())


def read(content: bytes) -> Sheet:
    columns, lines = CsvReader("file", "a.csv").read(io.BytesIO(content))
    return Sheet("file", "a.csv", columns, lines, "line")


def test_what_has_no_end_is_refused() -> None:
    if Path("/dev/zero").exists():
        with pytest.raises(ArgumentValueError, match="expected text, an Excel workbook or Parquet, got something"):
            read_sheet("file", "/dev/zero")
    with pytest.raises(ArgumentValueError, match=r"expected lines of fewer than 16777216 characters, got more"):
        read(b"a,b\n" + b"1" * csv_file.LONGEST_LINE)
    with pytest.raises(ArgumentValueError, match=r"expected CSV, got something else in a.csv: field larger than"):
        read(b'a,b\n1,"' + b"2\n" * 100_000)


def test_the_number_of_cells_has_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_file, "MOST_CELLS", 6)
    assert len(read(b"a,b\n1,2\n3,4\n")) == 2
    with pytest.raises(ArgumentValueError, match=r"expected at most 6 cells, got more in a\.csv"):
        read(b"a,b\n1,2\n3,4\n5,6\n")


FORMULAS = ("=1+1", "+SUM(A1)", "-2+3", "@cmd", "\t=1", "\r=1", "'=1", "''+a", "'plain", "-5", "plain", '=a,b"c')


@given(st.one_of(st.sampled_from(FORMULAS), st.text(st.sampled_from("'=+-@\t\r\n1a"), max_size=5)))
def test_text_that_is_escaped_comes_back(cell: str) -> None:
    assert unescaped(escaped(cell)) == cell
    assert is_number(cell) or not escaped(cell).startswith(cells.FORMULA)


def test_exported_names_are_no_formulas_and_are_read_back(tmp_path: Path) -> None:
    actions = ActionSet(np.eye(len(FORMULAS)), FORMULAS)
    file = tmp_path / "weights.csv"
    file.write_text(Exploration.of(actions).to_csv(), newline="")
    with file.open(newline="") as text:
        names = [row[1] for row in csv.reader(text)][1:]
    assert all(is_number(name) or not name.startswith(cells.FORMULA) for name in names)
    assert read_sheet("file", file).columns["action"].cells == list(FORMULAS)
