"""The benchmarks start and print their page; their figures are not judged here."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
from benchmarks import decisions, out_of_the_box, priors, regret
from benchmarks.competitors import OURS
from benchmarks.games import stored
from benchmarks.page import BLOCK, PAGE, filled
from benchmarks.regret import ENTRIES
from benchmarks.section import Figures, target

ROOT = Path(__file__).parents[1]


def run(*arguments: str) -> str:
    answer = subprocess.run(
        [sys.executable, "-m", *arguments], capture_output=True, text=True, check=True, cwd=ROOT, timeout=300
    )
    return answer.stdout


CIRCUMSTANCES = {"date": "today", "cpu": "a cpu", "cores": 2, "load": 0.0, "python": "3", "versions": {"numpy": "2"}}


def test_decisions() -> None:
    page = run("benchmarks.decisions", "--quick")
    assert "LinearIDS, 10,000 draws" in page
    assert "not installed" in page, "peers belong into the benchmark environment alone"


def competitor(name: str, rates: list[float], regrets: list[float], library: str = "peer") -> Figures:
    problem = None if rates else "not installed"
    same = {"library": library, "kind": "TS", "learns": True, "note": "", "rounds": 3, "problem": problem}
    return {"name": name, "rates": rates, "regrets": regrets, **same}


COMPETITORS = [
    competitor("LinTS", [10.0, 30.0, 20.0], [5.0, 5.0, 5.0], "sparsebandits"),
    competitor("LinUCB", [40.0, 40.0, 40.0], [2.0, 2.0, 2.0], "sparsebandits"),
    competitor("slow", [25.0, 1.0, 1.0], [6.0, 1.0, 1.0]),
    competitor("fast", [21.0, 21.0, 100.0], [4.0, 4.0, 4.0]),
    competitor("faster", [22.0, 22.0, 22.0], [5.5, 5.5]),
    competitor("absent", [], []),
]


def test_decisions_names_who_is_ahead() -> None:
    problem = {"actions": 200, "rounds": 3, "competitors": COMPETITORS, "targets": [target("a goal", [1.0, 3.0], 2.5)]}
    page = decisions.page({"circumstances": CIRCUMSTANCES, "repeats": 3, "problems": [problem]})
    assert "Ahead of LinTS: faster; fast\nAhead of LinUCB: none\n" in page
    assert "Not measured: absent, not installed" in page
    assert re.search(r"^a goal +2 +1 +3  at least 2.5  no$", page, re.MULTILINE)


def test_a_ratio_waits_for_all_its_rivals() -> None:
    missing = [t["target"] for t in decisions.targets(decisions_of(COMPETITORS), 200)]
    assert missing == ["LinTS, a second", "LinUCB, a second"]
    reached = {t["target"]: t for t in decisions.targets(decisions_of(COMPETITORS[:-1]), 200)}
    ratio = reached["LinTS / fastest peer TS (faster)"]
    assert (ratio["figure"], ratio["max"], ratio["met"]) == (20 / 22, 30 / 22, False)


def decisions_of(competitors: list[Figures]) -> list[Figures]:
    """Return competitors with all of ours and a peer of each kind, that of the last one where it is missing."""
    ours = [competitor(entry.name, [20.0, 30.0, 10.0], [], "sparsebandits") for entry in OURS]
    peers = [c for c in competitors if c["library"] == "peer"]
    return [*ours, *peers, *({**peers[-1], "kind": kind, "name": kind} for kind in ("UCB", "IDS"))]


def test_regret_names_who_has_less() -> None:
    setting = {"dimension": 40, "sparsity": 4, "competitors": COMPETITORS, "random": [9.0, 9.0]}
    page = regret.page({"circumstances": CIRCUMSTANCES, "rounds": 3, "settings": [setting]})
    assert "Less regret than LinTS: slow; fast*\nLess regret than LinUCB: none\n" in page
    assert re.search(r"^slow +3 +2.7 +1.7 +1$", page, re.MULTILINE)
    assert re.search(r"^playing at random +2 +9 +0 +–$", page, re.MULTILINE)


def test_games_that_were_kept_are_not_played_again(tmp_path: Path) -> None:
    games = tmp_path / "games.jsonl"
    every = [{"name": n, "dimension": d, "trial": 0, "rate": 1.0, "regret": 2.0} for n in ENTRIES for d in (40, 100)]
    games.write_text('{"name": "cut sho' + "".join("\n" + json.dumps(game) for game in every))
    assert regret.play_all(trials=1, rounds=1, path=games) == every


def test_posteriors() -> None:
    page = run("benchmarks.posteriors", "--quick")
    assert "Langevin, 1000 chains" in page


def test_accuracy() -> None:
    page = run("benchmarks.accuracy", "--dimension", "6", "--histories", "1", "--rounds", "20")
    assert "inclusion, worst" in page


def test_hypercube() -> None:
    small = ("--trials", "2", "--horizon", "30", "--dimensions", "3", "4", "--sparsities", "1", "2")
    assert run("benchmarks.hypercube", *small).count("regret grows with") == 2


def test_defaults() -> None:
    page = run("benchmarks.defaults", "--trials", "2", "--horizon", "5", "--dimensions", "10")
    assert "LinUCB confidence radius" in page


def test_trace() -> None:
    page = run("benchmarks.trace", "--show", "30")
    assert re.findall(r"^(\w+): \d+ files, \d+ switches, \d+ calls$", page, re.MULTILINE) == ["ask", "decide"]
    assert "policies/policy.py" in page
    assert "advice/read.py" in page


def test_the_page_is_what_the_stored_figures_say() -> None:
    """Every section of ``make bench`` has a block, and each block is what its figures give."""
    text = PAGE.read_text()
    sections = re.search(r"^SECTIONS \?= (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert sections is not None
    assert sorted(BLOCK.findall(text)) == sorted(sections.group(1).split())
    assert filled(text) == text
    some = re.search(r"\d\.\d\d", text)
    assert some is not None
    assert filled(text.replace(some.group(), "9.99", 1)) == text, "a figure changed by hand is put right"


README_ROWS = {
    "sparsebandits, SparseIDS": "SparseIDS, noise known",
    "sparsebandits, LinUCB": "LinUCB",
    "contextualbandits, UCB": "contextualbandits UCB",
    "MABWiser, UCB": "mabwiser UCB, one arm",
    "coba, UCB (10 instances)": "coba UCB",
    "bayesianbandits, UCB": "bayesianbandits UCB",
    "Vowpal Wabbit, bag": "vowpalwabbit bag",
    "SparseIDS, sparsity known too": "SparseIDS, 10,000 draws",
    "SparseIDS, nothing known (`sb.SparseIDS(actions)`)": "SparseIDS, default prior",
}


def test_the_comparison_in_the_readme_is_the_stored_one() -> None:
    """One setting has one number: README and benchmark page quote the same result."""
    root = Path(__file__).parents[1]
    stored = json.loads((root / "benchmarks/results/regret.json").read_text())
    row = r"^\| \*?([^|*]+?)\*? \| \*?(\d+ ± \d+)\*? \| \*?(\d+ ± \d+)\*? \|$"
    cells = re.findall(row, (root / "README.md").read_text(), re.MULTILINE)
    assert {name for name, *_ in cells} == set(README_ROWS)
    for name, *numbers in cells:
        for number, setting in zip(numbers, stored["settings"], strict=True):
            (entry,) = (one for one in setting["competitors"] if one["name"] == README_ROWS[name])
            regrets = np.array(entry["regrets"])
            assert number == f"{regrets.mean():.0f} ± {regrets.std(ddof=1) / np.sqrt(len(regrets)):.0f}", name


def test_the_tables_of_the_measurements_are_what_the_stored_games_say() -> None:
    """docs/measurements.md; a changed game, and a changed table, would show."""
    text, games = out_of_the_box.PAGE.read_text(encoding="utf-8"), stored(out_of_the_box.STORED)
    assert games
    assert out_of_the_box.with_tables(text, out_of_the_box.page(games)) == text
    changed = [{**games[0], "found": games[0]["found"] + 100.0}, *games[1:]]
    assert out_of_the_box.with_tables(text, out_of_the_box.page(changed)) != text


def test_the_screening_of_priors_in_the_measurements_is_the_stored_one() -> None:
    text, found = out_of_the_box.PAGE.read_text(encoding="utf-8"), priors.table(stored(priors.STORED))
    assert found in text.replace(" (**default**)", "")
    one = priors.play("spectra", "total IG(1/2, 1/8)", 0)
    assert one == priors.play("spectra", "total IG(1/2, 1/8)", 0)
    assert one in stored(priors.STORED), "the default prior plays as it is stored"


def test_settings_out_of_the_box_can_be_played() -> None:
    """The cheapest game of each kind, and none that is not deterministic."""
    for setting, player in (("pure noise", "SparseIDS(table)"), ("first decisions", "SparseTS, version 0.1")):
        one = out_of_the_box.play(setting, player, 0)
        assert one == out_of_the_box.play(setting, player, 0)
        assert 0.0 <= one["found"] <= 1.0
