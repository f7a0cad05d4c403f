"""The command line as a user sees it: a separate process, its output and its exit code."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sparsebandits

ROOT = Path(__file__).parents[2]
COMMAND = [str(Path(sys.executable).parent / "sparsebandits")]


def run(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=120, check=False, cwd=cwd)


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
    for word in (
        "SparseIDS",
        "SparseTS",
        "LinTS",
        "LinUCB",
        "LinearIDS",
        "95% from",
        "seconds per decision",
        "regret.png",
    ):
        assert word in answer.stdout
    assert (tmp_path / "new" / "regret.png").read_bytes().startswith(b"\x89PNG")
    assert "15 of 15" in answer.stderr


def test_demo_as_json(tmp_path: Path) -> None:
    small = ["--dimension", "4", "--sparsity", "1", "--actions", "5", "--horizon", "10", "--trials", "2"]
    first = run("demo", "--json", *small, "--workers", "1", "--out", str(tmp_path))
    second = run("demo", "--json", *small, "--workers", "2", "--out", str(tmp_path))
    rows = [
        {row["policy"]: row["final regret"] for row in json.loads(answer.stdout)["table"]} for answer in (first, second)
    ]
    assert rows[0] == rows[1]
    assert len(rows[0]) == 5


def test_reproduce_calls_the_runner_of_the_checkout(tmp_path: Path) -> None:
    """The checkout is the one around the current directory; tests/papers runs the real experiments."""
    paper = tmp_path / "papers" / "hao2021"
    paper.mkdir(parents=True)
    (paper / "runner.py").write_text("def reproduce(*arguments):\n    print(*arguments)\n")
    answer = run("reproduce", "table9", "--out", "new", "--workers", "3", cwd=paper)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout == "table9 full new 3 False\n"
    answer = run("reproduce", "table9", "--json", "--scale", "smoke", "--workers", "1", cwd=tmp_path)
    assert answer.stdout == "table9 smoke out/reproduce/smoke 1 True\n"


def test_reproduce_outside_a_checkout(tmp_path: Path) -> None:
    answer = run("reproduce", "figure1", cwd=tmp_path)
    assert answer.returncode == 2
    assert answer.stderr == (
        "sparsebandits: reproduce needs a checkout of the repository, since the paper's experiments are not part of "
        f"the installed package; {tmp_path} is not inside one\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["demo", "--sparsity", "50"], "sparsity: expected at most dimension (40), got 50"),
        (["demo", "--trials", "0"], "trials: expected a whole number of at least 1, got 0"),
        (["demo", "--workers", "-1"], "Invalid value for '--workers'"),
        (["demo", "--trials", "many"], "Invalid value for '--trials'"),
        (["demo", "--out", os.devnull], "null"),
        (["dance"], "No such command 'dance'"),
        (["reproduce", "figure99"], "what: expected one of 'claim1', 'figure1'"),
        (["reproduce", "figure99"], "got 'figure99'"),
        (["reproduce", "../hao2021/figure1"], "what: expected one of 'claim1', 'figure1'"),
        (["reproduce", "figure1", "--scale", "huge"], "scale: expected one of 'full', 'smoke', got 'huge'"),
        (["reproduce", "figure1", "--out", os.devnull], "null"),
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
    try:
        _, errors = process.communicate(timeout=30)
    except subprocess.TimeoutExpired:  # Python may drop the exception; then a person presses Ctrl-C again
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=90)
    assert process.returncode == 130, errors
    assert "sparsebandits: interrupted before the end; no results were written." in errors
    assert "Traceback" not in errors
    assert not (tmp_path / "regret.png").exists()
