"""The commands bounds and design as a user sees them: separate processes, their output and exit codes."""

import json
from pathlib import Path

import numpy as np
import pytest

from sparsebandits.theory import exploratory_design, regret_bound
from tests.cli.test_cli import run

PROBLEM = ("bounds", "--horizon", "1000", "--dimension", "100", "--sparsity", "10")


def test_bounds() -> None:
    answer = run(*PROBLEM, "--actions", "200", "--c-min", "1")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout == f"{regret_bound(1000, 100, 10, 200, 1.0)}\n"
    assert "Regime (Table 2, constants taken to be 1): exploratory action set, data-rich, small K" in answer.stdout


def test_bounds_for_programs_and_as_a_figure(tmp_path: Path) -> None:
    figure = tmp_path / "bounds.png"
    further = ("--c-min", "0.5", "--noise-variance", "2", "--bound", "1", "--constant", "4", "--plot", str(figure))
    answer = run(*PROBLEM, *further, "--json")
    assert answer.returncode == 0, answer.stderr
    said = json.loads(answer.stdout)
    expected = regret_bound(1000, 100, 10, None, 0.5, 2.0, 1.0, 4.0)
    assert [row["value"] for row in said["bounds"]] == [row.value for row in expected.rows]
    assert said["regime"]["in_words"] == str(expected.regime)
    assert said["figure"] == str(figure)
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_design(tmp_path: Path) -> None:
    actions = np.random.default_rng(0).standard_normal((30, 4)) / 2
    rows = "\n".join(",".join([f"arm {i}", *map(repr, row)]) for i, row in enumerate(actions.tolist()))
    file, weights = tmp_path / "actions.csv", tmp_path / "weights.csv"
    file.write_text(f"arm,a,b,c,d\n{rows}\n")
    design = exploratory_design(actions)
    answer = run("design", str(file), "--out", str(weights), "--show", "2")
    assert answer.returncode == 0, answer.stderr
    for part in (f"C_min = {design.c_min:.6g}, certified", "Not exploratory", f"arm {design.weights.argmax()}"):
        assert part in answer.stdout
    written = [line.split(",") for line in weights.read_text().splitlines()[1:]]
    np.testing.assert_allclose([float(line[2]) for line in written], design.weights, atol=1e-9)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_design_without_rank_is_an_answer(tmp_path: Path) -> None:
    file = tmp_path / "actions.csv"
    file.write_text("a,b,both\n1,2,3\n4,5,9\n1,1,2\n")
    answer = run("design", str(file), "--json")
    assert answer.returncode == 0, answer.stderr
    said = json.loads(answer.stdout)
    assert (said["c_min"], said["rank"], said["exploratory"]) == (0.0, 2, False)
    (unseen,) = said["unseen"]
    combination = {unseen["feature"]: -1.0, **unseen["combination"]}
    both = -combination["both"]
    assert {name: value / both for name, value in combination.items()} == pytest.approx({"a": 1, "b": 1, "both": -1})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bounds", "--horizon", "0", "--dimension", "5", "--sparsity", "2"], "horizon: expected a whole number of at"),
        (
            ["bounds", "--horizon", "9", "--dimension", "5", "--sparsity", "6"],
            "sparsity: expected at most dimension (5)",
        ),
        ([*PROBLEM, "--c-min", "0"], "c_min: expected a positive number"),
        ([*PROBLEM, "--plot", "bounds.doc"], "doc"),
        (
            ["design", "no-such-file.csv"],
            "file: expected a text, Excel or Parquet file, got no-such-file.csv: No such file",
        ),
    ],
)
def test_bad_input_is_a_message_and_exit_code_2(arguments: list[str], message: str) -> None:
    answer = run(*arguments)
    assert answer.returncode == 2
    assert message in " ".join(answer.stderr.replace("│", " ").split())
    assert "Traceback" not in answer.stderr
