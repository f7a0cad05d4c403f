"""The command line as a person meets it: a separate process, its output and its exit code."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sparsebandits

ROOT = Path(__file__).parents[1]
COMMAND = [str(Path(sys.executable).parent / "sparsebandits")]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=120, check=False, cwd=ROOT)


def test_help_and_version() -> None:
    for arguments in (["--help"], ["demo", "--help"]):
        answer = run(*arguments)
        assert answer.returncode == 0
        assert "demo" in answer.stdout
    assert run("--version").stdout.strip() == f"sparsebandits {sparsebandits.__version__}"


def test_demo(tmp_path: Path) -> None:
    answer = run(
        "demo", "--dimension", "6", "--sparsity", "2", "--actions", "10", "--horizon", "30", "--trials", "3",
        "--workers", "2", "--out", str(tmp_path / "new"),
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    for word in ("LinTS", "LinUCB", "LinearIDS", "95% from", "seconds a decision", "regret.png"):
        assert word in answer.stdout
    assert (tmp_path / "new" / "regret.png").read_bytes().startswith(b"\x89PNG")
    assert "9 of 9" in answer.stderr


def test_demo_as_json(tmp_path: Path) -> None:
    small = ["--dimension", "4", "--sparsity", "1", "--actions", "5", "--horizon", "10", "--trials", "2"]
    first = run("demo", "--json", *small, "--workers", "1", "--out", str(tmp_path))
    second = run("demo", "--json", *small, "--workers", "2", "--out", str(tmp_path))
    rows = [
        {row["policy"]: row["final regret"] for row in json.loads(answer.stdout)["table"]} for answer in (first, second)
    ]
    assert rows[0] == rows[1]
    assert len(rows[0]) == 3


def test_reproduce_figure_1(tmp_path: Path) -> None:
    answer = run("reproduce", "figure1", "--json", "--out", str(tmp_path))
    assert answer.returncode == 0, answer.stderr
    rows = {(row["posterior"], row["coordinate"]): row for row in json.loads(answer.stdout)["table"]}
    for posterior in ("Algorithm 1", "exact"):
        for coordinate, truth in ((1, 3.0), (2, 2.0), (3, 0.0)):
            assert rows[posterior, coordinate]["mean"] == pytest.approx(truth, abs=0.4)
    assert all(rows["exact", j]["P(included)"] < 0.5 for j in range(3, 11))
    assert (tmp_path / "figure1.png").exists()
    assert (tmp_path / "figure1.svg").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["demo", "--sparsity", "50"], "sparsity: expected at most dimension (40), got 50"),
        (["demo", "--trials", "0"], "trials: expected a whole number of at least 1, got 0"),
        (["demo", "--workers", "-1"], "Invalid value for '--workers'"),
        (["demo", "--trials", "many"], "Invalid value for '--trials'"),
        (["demo", "--out", os.devnull], "null"),
        (["dance"], "No such command 'dance'"),
        (["reproduce", "figure99"], "what: expected one of papers/hao2021/"),
    ],
)
def test_bad_input_is_a_message_and_exit_code_2(arguments: list[str], message: str) -> None:
    answer = run(*arguments)
    assert answer.returncode == 2
    assert message in " ".join(answer.stderr.split())
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_leaves_a_message_and_no_traceback(workers: str, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [
            *COMMAND,
            "demo",
            "--trials",
            "4000",
            "--horizon",
            "50",
            "--workers",
            workers,
            "--out",
            str(tmp_path),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    time.sleep(6)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the command and its workers
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "sparsebandits: interrupted before the end; no results were written." in errors
    assert "Traceback" not in errors
    assert not (tmp_path / "regret.png").exists()
