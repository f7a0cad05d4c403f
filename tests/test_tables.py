"""Tables as text and as HTML."""

import re
from xml.etree import ElementTree

import pytest

from sparsebandits.tables import Cell, Table

ROWS: list[tuple[Cell, ...]] = [("LinTS", 12.5, None), ("<b>Lin & UCB</b>", 8.0, 3)]
TABLE = Table(("policy", "regret", 'wins "<"'), ROWS)


def test_as_text() -> None:
    assert str(TABLE).splitlines() == [
        'policy            regret  wins "<"',
        "LinTS               12.5         –",
        "<b>Lin & UCB</b>       8         3",
    ]


def test_as_html() -> None:
    page = ElementTree.fromstring(TABLE._repr_html_())  # which fails if anything is not escaped
    assert [cell.text for cell in page.findall("thead/tr/th")] == list(TABLE.columns)
    rows = [[cell.text for cell in row] for row in page.findall("tbody/tr")]
    assert rows == [["LinTS", "12.5", "–"], ["<b>Lin & UCB</b>", "8", "3"]]
    for row in (*page.findall("thead/tr"), *page.findall("tbody/tr")):
        assert [cell.get("style") for cell in row] == ["text-align: left", "text-align: right", "text-align: right"]
    assert not set(re.findall(r"<(\w+)", TABLE._repr_html_())) - {"table", "thead", "tbody", "tr", "th", "td"}


def test_without_rows() -> None:
    assert str(Table(("policy",), [])) == "policy"
    assert "<td" not in Table(("policy",), [])._repr_html_()


@pytest.mark.parametrize("cells", [("LinTS", 1.0), ("LinTS", 1.0, 2, 3)])
def test_rows_have_one_cell_per_column(cells: tuple[Cell, ...]) -> None:
    table = Table(TABLE.columns, [cells])
    for shown in (table.__str__, table._repr_html_):
        with pytest.raises((ValueError, IndexError)):
            shown()
