"""The catalogue as a whole: its table is the stored one, and every topic has an attack."""

import json
from pathlib import Path

import pytest
from benchmarks.attacks import __main__ as catalogue
from benchmarks.attacks.outcome import Outcome


def test_the_table_of_the_page_is_what_is_stored() -> None:
    stored = json.loads(catalogue.STORED.read_text(encoding="utf-8"))
    assert tuple(stored) == catalogue.TOPICS
    page = catalogue.PAGE.read_text(encoding="utf-8")
    assert catalogue.filled(page, stored) == page
    stored["files"]["outcomes"][0]["tried"] += 1  # planted
    assert catalogue.filled(page, stored) != page


def test_the_stored_run_found_nothing_silent_and_nothing_that_crashes() -> None:
    for topic in json.loads(catalogue.STORED.read_text(encoding="utf-8")).values():
        for one in topic["outcomes"]:
            assert one["silent"] == one["crashed"] == 0, one
            assert one["tried"] == one["refused"] + one["identical"] > 0, one


def test_every_module_is_a_topic() -> None:
    others = {"__init__", "__main__", "outcome", "extended"}
    assert {path.stem for path in Path(catalogue.__file__).parent.glob("*.py")} == {*others, *catalogue.TOPICS}


def test_what_is_found_is_the_exit_code(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    found = [Outcome("none", 3, 1, 2, 0, 0)]
    monkeypatch.setattr("benchmarks.attacks.threads.attack", lambda scale: found)
    assert catalogue.main(["threads", "--scale", "0.5"]) == 0
    assert "| none | 3 | 1 | 2 | 0 | 0 |" in capsys.readouterr().out
    found.append(Outcome("one", 1, 0, 0, 1, 0))
    assert catalogue.main(["threads", "--scale", "0.5"]) == 1
    with pytest.raises(SystemExit):
        catalogue.main(["nothing"])
