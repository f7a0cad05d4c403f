"""The report is one valid, self-contained page, which shows the numbers of the tables and is reproducible."""

import base64
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsebandits as sb
from sparsebandits.results import report
from sparsebandits.results.html import nested
from sparsebandits.tables import formatted

VOID = {"meta", "img"}
ODD = "<script>alert('&amp;')</script> \"quoted\" & $x^2$ \x00"


class Page(HTMLParser):
    """Checks that tags are closed in order; keeps text, attributes and tags."""

    def __init__(self, content: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(content)
        self.close()
        assert not self.open, f"left open: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        assert len(dict(attrs)) == len(attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(self.words)


def result(names: list[str], trials: int = 4, rounds: int = 20, **changes: Any) -> sb.Result:
    rng = np.random.default_rng(0)
    regret = {name: rng.exponential(1.0 + i, (trials, rounds)).cumsum(axis=1) for i, name in enumerate(names)}
    return sb.Result(regret, {name: np.full(trials, 0.002) for name in names}, **changes)


def full(names: list[str], trials: int = 4) -> sb.Result:
    rng = np.random.default_rng(1)
    gain = rng.random((trials, 20))
    gain[:, 0] = np.nan
    return result(
        names,
        trials,
        pulls={name: rng.integers(0, 9, (trials, 6)) for name in names},
        recorded={names[0]: {"gain <bits>": gain, "never": np.full((trials, 20), np.nan)}},
        about={
            "configuration": {
                "policies": {ODD: {"width": 1.5}},
                "tags": ["a", "<b>"],
                "grid": [{"x": 1}, [2]],
                "e": {},
            },
            "provenance": {"commit": "abc123", "dirty": False, "note": None},
        },
    )


@pytest.mark.parametrize(("names", "trials"), [(["A", ODD], 4), (["one"], 1), ([f"policy {i}" for i in range(12)], 1)])
def test_a_page_that_stands_alone(names: list[str], trials: int, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "report.html"
    full(names, trials).report(path, title=ODD, groups={"<i>two</i> actions": [0, 1]})
    content = path.read_bytes()
    page = Page(content.decode("utf-8"))
    assert content.startswith(b"<!DOCTYPE html>")
    seen = {tag for tag, _ in page.tags}
    assert not seen & {"script", "link", "iframe", "object", "b", "i", "bits"}
    assert {"h1", "title", "table", "img", "caption", "style"} - seen <= ({"caption"} if len(names) == 1 else set())
    for tag, attributes in page.tags:
        for name, value in attributes.items():
            assert name not in {"href", "srcset", "style", "onclick"}
            if name == "src":
                assert tag == "img"
                kind, coded = str(value).split(",", 1)
                assert kind == "data:image/svg+xml;base64"
                svg = base64.b64decode(coded, validate=True).decode()
                assert svg.startswith("<svg")
                assert not re.search(r"href=\"(?!#)|url\((?!#)|<image|<script", svg)
        if tag == "img":
            assert attributes["alt"]
    style = content.decode("utf-8").split("<style>")[1].split("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style
    assert "http" not in style
    assert "\x00" not in page.text
    assert "<script>alert('&amp;')</script> \"quoted\" & $x^2$ \ufffd" in page.text
    for word in ("abc123", "width", "1.5", "gain <bits>", "<i>two</i> actions", "How to read this"):
        assert word in page.text
    assert not re.search(r"\bnan\b", page.text)


def test_records_that_are_alike_are_one_table() -> None:
    alike = nested([{"width": 1.0, "regret": 12.34567}, {"width": 2.0, "regret": None}])
    assert alike.count("<table>") == 1
    assert alike.count(">width<") == 1
    assert ">12.35<" in alike
    for unlike in ([{"a": 1}, {"b": 2}], [{"a": {"b": 1}}, {"a": {"b": 2}}], [{"a": 1}, 2]):
        assert nested(unlike).startswith("<ul>")


def test_the_same_result_gives_the_same_bytes(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.html", "b.html")]
    for file in files:
        full(["A"]).report(file, groups={"some": [1]})
    assert files[0].read_bytes() == files[1].read_bytes()


def test_the_page_says_what_the_tables_say() -> None:
    found = result(["A", "B"])
    page = Page(report.page(found, baseline="B", rounds=[5, 15]))
    for rows in (found.table(), found.at([5, 15]), found.wins("B"), found.growth()):
        for row in rows.printed.rows:
            assert all(formatted(cell) in page.text for cell in row)
    assert "Differences to B" in page.text
    assert "This result has none" in page.text
    assert page.tags.count(("th", {"scope": "col"})) >= 4


def test_the_summary_claims_no_more_than_the_interval() -> None:
    rounds = np.ones((1, 5))
    near = sb.Result({"A": np.outer([1.0, 5, 2, 4], rounds), "B": np.outer([2.0, 4, 3, 4], rounds)}, {})
    assert "the interval contains zero" in report.summary(near)
    apart = sb.Result({"A": np.outer([9.0, 8, 9, 8], rounds), "B": np.outer([2.0, 4, 3, 4], rounds)}, {})
    assert report.summary(apart).startswith("2 policies, 4 trials of 5 rounds. B has the smallest mean regret")
    assert report.summary(apart).endswith("the interval excludes zero.")
    assert "One trial does not show how much of this is chance" in report.summary(result(["A", "B"], trials=1))
    assert report.summary(result(["A"], trials=1, rounds=1)).startswith("1 policy, 1 trial of 1 rounds. Regret at the")


def test_rounds_that_are_shown() -> None:
    assert report.default_rounds(result(["A"], rounds=1000)) == [100, 500, 1000]
    assert report.default_rounds(result(["A"], rounds=1)) == [1]
    assert report.default_rounds(result(["A"], rounds=3)) == [1, 3]
    thinned = sb.Result({"A": np.ones((2, 3))}, {"A": np.ones(2)}, np.array([7, 60, 99]))
    assert report.default_rounds(thinned) == [7, 60, 99]


def test_bad_arguments_leave_no_file(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    with pytest.raises(ValueError, match="baseline: expected one of A, B, got 'C'"):
        result(["A", "B"]).report(path, baseline="C")
    with pytest.raises(ValueError, match="rounds: expected rounds up to the horizon, 20, got 21"):
        result(["A", "B"]).report(path, rounds=[21])
    with pytest.raises(ValueError, match="pulls: expected a result with counts"):
        result(["A"]).report(path, groups={"some": [0]})
    wrong: Any = [0, 1]
    with pytest.raises(TypeError, match="groups: expected groups of actions by name"):
        result(["A"]).report(path, groups=wrong)
    assert not path.exists()
