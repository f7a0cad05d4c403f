"""The benchmarks start and print their page; their figures are not judged here."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def run(*arguments: str) -> str:
    answer = subprocess.run(
        [sys.executable, "-m", *arguments], capture_output=True, text=True, check=True, cwd=ROOT, timeout=120
    )
    return answer.stdout


def test_decisions(tmp_path: Path) -> None:
    page = run("benchmarks.decisions", "--rounds", "5", "--repeats", "1", "--json", str(tmp_path / "page.json"))
    assert "LinearIDS, 10,000 draws" in page
    assert "not installed" in page, "peers belong into the benchmark environment alone"
    assert json.loads((tmp_path / "page.json").read_text())


def test_posteriors() -> None:
    page = run("benchmarks.posteriors", "--dimensions", "10", "--rounds", "20", "--repeats", "1")
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
