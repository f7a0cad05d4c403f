"""Numbers, dates and yes and no as people write them: never a wrong number without a word, and no other errors."""

import csv
import io
import random
from collections.abc import Callable
from contextlib import suppress
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sparsebandits.advice.dates import dates
from sparsebandits.advice.dialect import sniff
from sparsebandits.advice.read import read_history
from sparsebandits.advice.units import MixedError, factors
from sparsebandits.advice.values import Numbers, plain_number, quantities, yes_or_no
from sparsebandits.arguments import ArgumentError

PARTS = (
    *("1", "0", "12", "345", "007", ".", ",", " ", "-", "–", "/", ":", "%", "kg", "g", "mg", "ml", "°C", "€", "$", "k"),
    *("K", "M", "<", "~", "e5", "E", "+", "'", "a", "x", "to", "Jan", "2025", "T", "Z", "am", "(", ")", "NA", "n.d."),
    *("\u00a0", "μ", "²", "٣"),
)
PIECES = st.lists(st.sampled_from(PARTS), max_size=6).map("".join)
COLUMNS = st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=6)
FLOATS = st.floats(-1e9, 1e9, allow_nan=False).map(lambda x: round(x, 4))


def outcome(read: Callable[..., Numbers | None], *arguments: Any) -> tuple[Numbers | None, str]:
    """Return what is read, and what is said: the remark, or the complaint."""
    try:
        found = read(*arguments)
    except MixedError as error:
        return None, f"{error.expected}: {error.got}"
    return found, "" if found is None else found.remark


@given(COLUMNS, st.sampled_from(".,"), st.booleans())
def test_any_text_is_read_or_not_but_never_fails(cells: list[str], decimal: str, flag: bool) -> None:
    for read, *options in ((quantities, decimal, flag), (dates, flag, not flag), (yes_or_no,)):
        found, words = outcome(read, cells, *options)
        again, others = outcome(read, cells[::-1], *options)
        assert words == others, "the order of rows does not matter"
        assert (found is None) == (again is None)
        if found is not None and again is not None:
            np.testing.assert_array_equal(found.values, again.values[::-1])


@given(st.binary(max_size=300), st.sampled_from(["utf-8", "utf-16", "cp1252"]), COLUMNS)
def test_sniffing_never_fails(content: bytes, encoding: str, cells: list[str]) -> None:
    assert sniff(content).decimal in ".,"
    assert sniff(";".join(cells).encode(encoding, errors="ignore")).decimal in ".,"


@given(st.binary(max_size=200))
def test_any_bytes_are_a_table_or_a_complaint(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(content)
    with suppress(ArgumentError, OSError):
        read_history(path)


@given(st.lists(COLUMNS, min_size=1, max_size=4), st.sampled_from(",;\t|"))
def test_any_cells_are_a_table_or_a_complaint(
    tmp_path_factory: pytest.TempPathFactory, columns: list[list[str]], delimiter: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "cells"
    rows = [[f"c{place}" for place in range(len(columns))], *zip(*columns, strict=False)]
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows(rows)
    path.write_text(text.getvalue().replace("\0", ""), encoding="utf-8", errors="ignore", newline="")
    try:
        past = read_history(path)
    except ArgumentError:
        return
    assert np.isfinite(past.features).all()
    assert past.features.shape == (len(past.names), len(past.feature_names))


@given(st.lists(FLOATS, min_size=1), st.sampled_from(["{} kg", "€ {}", "{}%", "<{}", " {} ", "{} m/s2", "ca. {}"]))
def test_decorations_do_not_change_numbers(numbers: list[float], form: str) -> None:
    """Planted: a mark that is dropped, a unit that scales."""
    plain = [f"{number:.4f}" for number in numbers]
    for decimal in ".,":
        cells = [form.format(text.replace(".", decimal)) for text in plain]
        found = quantities(cells, decimal)
        assert found is not None
        np.testing.assert_array_equal(found.values, numbers)
        other = quantities(cells, "," if decimal == "." else ".")
        assert other is not None
        np.testing.assert_array_equal(other.values, numbers)
        assert "with decimal" in other.remark, "the other decimal mark is said"


@given(
    st.lists(FLOATS.filter(lambda x: abs(x) >= 1000), min_size=1), st.sampled_from([",.", ".,", " .", "\u00a0,", "'."])
)
def test_thousands_are_read_and_said(numbers: list[float], marks: str) -> None:
    mark, decimal = marks[0], marks[1]
    cells = [f"{number:,.2f}".translate({ord(","): mark, ord("."): decimal}) for number in numbers]
    found = quantities(cells, decimal)
    assert found is not None
    np.testing.assert_array_equal(found.values, [round(float(f"{number:.2f}"), 2) for number in numbers])
    assert "separate thousands" in found.remark


@pytest.mark.parametrize(
    ("cells", "decimal", "values", "remark"),
    [
        (["1.234", "2.5"], ".", [1.234, 2.5], ""),
        (["1,234", "2.5"], ".", [1234, 2.5], "commas separate thousands"),
        (["1,234", "2,345"], ".", [1234, 2345], "commas separate thousands"),
        (["1,234", "2,345"], ",", [1.234, 2.345], ""),
        (["1.234", "2.345"], ",", [1234, 2345], "points separate thousands"),
        (["1.234", "2.5"], ",", [1.234, 2.5], "with decimal points"),
        (["1,234", "12,5"], ".", [1.234, 12.5], "with decimal commas"),
        (["1.234.567", "8"], ".", [1234567, 8], "points separate thousands"),
        (["0,123", "5"], ".", [0.123, 5], "with decimal commas"),
        (["-€5", "$ 3"], ".", None, "one unit per column: $ and €"),
        (["1.5", "12,5"], ".", None, "one decimal mark per column: '1.5' and '12,5'"),
        (["45 %", "0.45"], ".", None, "one unit per column: % and numbers without a unit"),
        (["5 kg", "7"], ".", [5, 7], "in kg; 1 without a unit is taken to be in kg"),
        (["900", "1.2k", "3k"], ".", [900, 1200, 3000], "k is 1000"),
        (["300 K", "310"], ".", None, "one unit per column: K and numbers without a unit"),
        (["5 mW", "3 MW"], ".", None, "one unit per column: MW and mW"),
        (["5 mg", "3 MG"], ".", [5, 3], "in MG"),
        (["2 h", "30 min", "45 min"], ".", [120, 30, 45], "in min, converted from h"),
        (["20 °C", "68 °F"], ".", None, "one unit per column: °C and °F"),
        (["12a", "14b", "12b"], ".", None, ""),
        (["3-12", "4-15"], ".", None, ""),
        (["10 - 20", "20 - 30"], ".", [15, 25], "2 ranges are taken as their middle"),
        (["5", "6", "6-8"], ".", [5, 6, 7], "1 range is taken as its middle"),
        (["01067", "99084"], ".", None, ""),
        (["007", "12"], ".", None, ""),
        (["12345678901234567", "12345678901234568"], ".", None, ""),
        (["030 123 456", "089 456 789"], ".", None, ""),
        (["+49 30 1234", "+49 89 5678"], ".", None, ""),
        (["1/2", "3/4"], ".", None, ""),
        (["2 x 5", "3 x 5"], ".", None, ""),
        (["1_000", "2"], ".", None, ""),
        (["1 234 567", "12"], ".", [1234567, 12], "spaces separate thousands"),
        (["12 34", "5"], ".", None, ""),
        (["5,-", "12,90"], ",", [5, 12.9], ""),
        (["1e5", "2E+3"], ".", [1e5, 2e3], ""),
        (["<0.5", "0.7"], ".", [0.5, 0.7], "1 with a sign such as < is taken as plain numbers"),
        (["−5", "3"], ".", [-5, 3], ""),
    ],
)
def test_what_is_unclear_is_said_or_refused(
    cells: list[str], decimal: str, values: list[float] | None, remark: str
) -> None:
    found, said = outcome(quantities, cells, decimal)
    assert said == remark
    np.testing.assert_allclose([] if found is None else found.values, values or [], rtol=1e-14)


FORMS = (
    "%Y-%m-%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d %B %Y",
    "%b %d, %Y",
    "%Y%m%d",
    "%d-%b-%y",
    "%Y-%m-%dT%H:%M:%SZ",
)


@given(st.lists(st.dates(date(1971, 1, 1), date(2068, 1, 1)), min_size=1), st.sampled_from(FORMS))
def test_dates_are_read_in_every_form(days: list[date], form: str) -> None:
    unclear = "/" in form and all(day.day <= 12 for day in days)
    found = dates([day.strftime(form) for day in days], day_first=form.startswith("%d"))
    assert found is not None
    np.testing.assert_array_equal(found.values, [(day - min(days)) / timedelta(days=1) for day in days])
    assert ("taking" in found.remark) == unclear, "what is unclear is said"


@pytest.mark.parametrize(
    ("cells", "values", "remark"),
    [
        (["3/4/2025", "13/4/2025"], [0, 10], "days since 2025-04-03"),
        (["3/4/2025", "3/14/2025"], [0, 10], "days since 2025-03-04"),
        (
            ["13/4/2025", "4/13/2025"],
            None,
            "dates with the day first, or all with the month first: '13/4/2025' and '4/13/2025'",
        ),
        (["1.2.25", "3.2.25"], [0, 2], "days since 2025-02-01, taking 1.2.25 as day, month, year"),
        (["2025-01-03T00:30:00+01:00", "2025-01-03T00:00:00Z"], [23.5 / 24, 1], "days since 2025-01-02"),
        (["1/3/2025 3:30 PM", "1/15/2025 12:00 am"], [15.5 / 24, 12], "days since 2025-01-03"),
        (["12:30", "8:15", ""], [12.5, 8.25, np.nan], "hours of the day"),
        (["1:10", "1:20"], None, ""),
        (["25:10", "1:20"], None, ""),
        (["10-20-30", "12-12-17"], None, ""),
        (["3-12", "4-01"], None, ""),
        (["2025-02-30", "2025-02-01"], None, ""),
        (["1000-10-10", "1000-10-11"], None, ""),
    ],
)
def test_dates_that_are_unclear(cells: list[str], values: list[float] | None, remark: str) -> None:
    found, said = outcome(dates, cells)
    assert said == remark
    np.testing.assert_allclose([] if found is None else found.values, values or [], rtol=1e-12)


def test_yes_and_no() -> None:
    assert yes_or_no(["N", "n"]) is None, "one letter is no answer"
    assert yes_or_no(["f", "m"]) is None
    assert yes_or_no(["x", "y", ""]) is None
    for cells in (["Ja", "NEIN"], ["on", "off"], ["True", "False"], ["oui", "non"]):
        found = yes_or_no(cells)
        assert found is not None
        assert found.values.tolist() == [1.0, 0.0]


def test_plain_numbers_and_factors() -> None:
    assert plain_number("1.299,-", ",") == 1299.0
    assert plain_number("1.2.3", ".") is None
    assert factors(["", ""]) == ({"": 1.0}, [])


@given(st.integers(0, 10_000))
def test_the_order_of_rows_does_not_matter(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    rng = random.Random(seed)
    choices = (
        ("1,5", "2", "3,25"),
        ("1 kg", "500 g"),
        ("red", "Red", "blue", ""),
        ("3/4/2025", "13/4/2025", "5/6/2025"),
        ("ja", "nein"),
        ("", "4,5", "7"),
    )
    rows = [[f"n{k}", *map(rng.choice, choices)] for k in range(8)]
    folder = tmp_path_factory.getbasetemp()
    found = []
    for name in ("one", "other"):
        lines = [";".join(row) for row in (["offer", "a", "b", "c", "d", "e", "reward"], *rows)]
        (folder / name).write_text("\n".join(lines), encoding="utf-8")
        rng.shuffle(rows)
        try:
            past = read_history(folder / name)
        except ArgumentError:
            assume(False)
        order = np.argsort(past.names)
        found.append((past.feature_names, past.features[order].tolist(), sorted(past.rewards.tolist())))
    assert found[0] == found[1]


WRONG = """sample;temp;mass;when;colour;cost;reward
a;20;5 kg;3/4/2025;red;2;4,5
b;hot;3 ml;13/4/2025;blue;-1;great
c;25;4 kg;4/13/2025;red;3;6
;22;1 kg;3/4/2025;red;2;
d;21
e;23;2 kg;5/4/2025;red;2;1e99
a;24;5 kg;3/4/2025;blue;2;5
"""


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    path = tmp_path / "wrong.csv"
    path.write_text(WRONG)
    with pytest.raises(ArgumentError) as caught:
        read_history(path, cost="cost", where="temp < 30 and size > 3")
    said = str(caught.value).replace(str(path), "FILE")
    assert said.splitlines()[0] == "file: expected a table that can be read, got 8 problems:"
    for problem in (
        "7 cells, one per column, got 2 in line 6 of FILE",
        "numbers, got 'hot' in line 3, column 'temp' of FILE; leave a cell empty if its number is unknown, or say --as "
        "temp=category",
        "one unit per column, got kg and ml in column 'mass' in FILE",
        "dates with the day first, or all with the month first, got '13/4/2025' and '4/13/2025' in column 'when' in",
        "numbers, got 'great' in line 3, column 'reward' of FILE",
        "a positive cost of each action, got '-1' in line 3, an empty cell in line 6, column 'cost' of FILE",
        "a name for each action, got an empty cell in line 5, column 'sample' of FILE",
        "a column 'size', got 'sample', 'temp'",
    ):
        assert f"expected {problem}" in said
