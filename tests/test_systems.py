"""The pages list what the code has: its sources, what the paper cites, and a judgement of each rival."""

import re
import sys
from types import ModuleType

import pytest
from benchmarks import systems
from benchmarks.games import with_tables
from benchmarks.systems import CITED, COMMAND, PAPER, RIVALS, Cited, MissingSourceError

import sparsebandits as sb

ELSEWHERE = {"LinUCB", "LinTS", "LinearIDS"}
"""Rivals of the sparse policies that are not in ``sb.rivals``."""


def judged(text: str) -> set[str]:
    """Return the policies in the table of docs/rivals.md that is written by hand."""
    table = text.split("## Where each works well")[1].split("\n## ")[0]
    names = {
        name for line in table.splitlines() if line.startswith("| `") for name in re.findall(r"`(\w+)`", first(line))
    }
    return {name for name in names if name in ELSEWHERE or issubclass(getattr(sb.rivals, name), sb.Policy)}


def first(line: str) -> str:
    return line.split(" | ")[0]


def a_class(monkeypatch: pytest.MonkeyPatch, doc: str, module_doc: str) -> type:
    """Return a class with these docstrings, in a module of its own."""
    module = ModuleType("planted", module_doc)
    monkeypatch.setitem(sys.modules, "planted", module)
    return type("Planted", (), {"__doc__": doc, "__module__": "planted"})


def test_the_pages_are_what_the_code_says() -> None:
    """Whoever adds a public class or changes its first line runs ``python -m benchmarks.systems``."""
    text, tables = RIVALS.read_text(encoding="utf-8"), systems.table(systems.policies())
    assert with_tables(text, f"{COMMAND} policies", tables) == text
    assert with_tables(text, f"{COMMAND} others", systems.others()) == text
    paper = PAPER.read_text(encoding="utf-8")
    assert with_tables(paper, COMMAND, systems.cited()) == paper

    without = "\n".join(line for line in text.splitlines() if not line.startswith("| `ESTC` | Hao"))
    assert len(without) < len(text) - 100
    assert with_tables(without, f"{COMMAND} policies", tables) != without, "a rival that is not listed is found"


def test_every_public_class_of_the_rivals_is_listed() -> None:
    tables = systems.table(systems.policies()) + systems.others()
    assert [name for name in vars(sb.rivals)["__all__"] if f"`{name}`" not in tables] == []


def test_every_rival_is_judged_and_nothing_else() -> None:
    text = RIVALS.read_text(encoding="utf-8")
    assert judged(text) == systems.rivals() | ELSEWHERE
    assert judged(text.replace("| `SquareCB` | draws", "| | draws")) == (systems.rivals() | ELSEWHERE) - {"SquareCB"}
    with pytest.raises(AttributeError, match="Nobody"):
        judged(text.replace("| `SquareCB` | draws", "| `Nobody` | draws"))


def test_what_the_paper_cites_is_complete() -> None:
    """Its bibliography has 48 entries."""
    publications = [one.what for one in CITED] + list(systems.ANALYSES)
    assert len(publications) == len(set(publications)) == 48
    assert all(one.here or one.missing for one in CITED)


@pytest.mark.parametrize(
    ("doc", "module_doc", "expected"),
    [
        ("Of Kim and Paik (2019).", "After Zhang (2021).", "Kim and Paik 2019"),
        ("Play.", "Play.\n\nDel Moral, Doucet\nand Jasra (2006, §3) did it first.", "Del Moral, Doucet and Jasra 2006"),
        ("Play (Russo and Van Roy 2018).", "", "Russo and Van Roy 2018"),
        ("Ročková and George (2014), in short.", "", "Ročková and George 2014"),
        ("Agarwal et al. (2014); arXiv 1205.4094.", "", "Agarwal et al. 2014"),
        ("No published source; the penalty is that of Bickel, Ritov and Tsybakov (2009).", "", "this package"),
        ("Play.", "Greedy play. No published\nsource.", "this package"),
    ],
)
def test_the_source_is_the_first_citation(
    monkeypatch: pytest.MonkeyPatch, doc: str, module_doc: str, expected: str
) -> None:
    assert systems.source(a_class(monkeypatch, doc, module_doc)) == expected


@pytest.mark.parametrize("doc", ["Play the best action.", "arXiv 1205.4094, read in 2019.", ""])
def test_a_class_without_a_source_is_an_error(monkeypatch: pytest.MonkeyPatch, doc: str) -> None:
    with pytest.raises(MissingSourceError, match=r"planted\.Planted has no source: cite one"):
        systems.source(a_class(monkeypatch, doc, "What it does."))


def test_a_name_that_disappears_or_cites_something_else_is_an_error() -> None:
    systems.checked(Cited("ESTC", "", ("rivals.ESTC",)), "Hao, Lattimore and Wang 2020")
    with pytest.raises(AttributeError, match="ESTD"):
        systems.checked(Cited("ESTC", "", ("rivals.ESTD",)), "Hao, Lattimore and Wang 2020")
    with pytest.raises(MissingSourceError, match=r"sb\.rivals\.ESTC does not cite Kim and Paik 2019"):
        systems.checked(Cited("ESTC", "", ("rivals.ESTC",)), "Kim and Paik 2019")
    with pytest.raises(MissingSourceError, match="say what is missing"):
        systems.checked(Cited("ESTC", "", ()), "Hao, Lattimore and Wang 2020")
