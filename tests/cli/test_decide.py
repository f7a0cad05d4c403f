"""The command decide as users see it: what it prints, its exit codes, and a log that errors leave unchanged."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import sparsebandits as sb
from sparsebandits import cli
from tests.cli.test_cli import COMMAND, run

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
GOOD = "offer,price,size,reward\na,1,2,5.5\nb,2,1,\nc,3,5,6.5\nd,4,4,\n"
QUICK = ("--policy", "lin-ucb", "--seed", "1")


def told(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[int, str, str]:
    """Return exit code, output and errors of the command, run in this process, which is faster."""
    monkeypatch.setattr(sys, "argv", ["sparsebandits", *arguments])
    try:
        cli.main()
        code: object = 0
    except SystemExit as stop:
        code = stop.code or 0
    said = capsys.readouterr()
    assert isinstance(code, int)
    return code, said.out, said.err


def test_a_decision_its_reasons_and_its_log(tmp_path: Path) -> None:
    file, log = tmp_path / "offers.csv", tmp_path / "offers.decisions.jsonl"
    file.write_text(GOOD)
    answer = run("decide", str(file), "--draws", "200", "--seed", "1", "--show", "1")
    assert answer.returncode == 0, answer.stderr
    (entry,) = sb.journal.JsonLines(log).records()
    for part in (
        "4 actions, 2 features, 2 past rewards",
        f"Next: {entry.label} (expected reward",
        "SparseIDS chose action",
        "saves later",
        "P(included)",
        "... and 1 more",
        "past rewards are read from reward",
        f"Appended to {log}",
    ):
        assert part in answer.stdout
    about = entry.extra
    assert (about["seed"], about["observations"], about["n_draws"], entry.policy) == (1, 2, 200, "SparseIDS")


def test_the_family_of_rewards(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "ads.csv"
    file.write_text("ad,price,size,reward_1,reward_2\na,1,2,0,0\nb,2,1,1,0\nc,3,5,1,1\nd,4,4,,\n")
    given = ("decide", str(file), "--seed", "1", "--draws", "200", "--no-log", "--json")
    for options, family in (((), "bernoulli"), (("gaussian",), "gaussian"), (("poisson",), "poisson")):
        code, out, _ = told(capsys, monkeypatch, *given, *(("--family", *options) if options else ()))
        assert (code, json.loads(out)["family"]) == (0, family)
    code, _, errors = told(capsys, monkeypatch, *given, "--family", "click")
    assert code != 0
    assert "bernoulli" in errors


def test_json_is_json_and_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    actions, rewards, log = tmp_path / "a.parquet", tmp_path / "r.csv", tmp_path / "log"
    pd.DataFrame({"x": [1.0, 2.0, 5.0], "y": [2.0, 0.5, 1.0], "when": "May"}).to_parquet(actions)
    rewards.write_text("row,score\n1,10\n3,12.5\n1,9\n")
    options = ("--rewards", str(rewards), "--ignore", "when", "--log", str(log), "--batch", "2", "--json")
    code, out, errors = told(capsys, monkeypatch, "decide", str(actions), *options, *QUICK)
    assert (code, errors) == (0, "")
    said = json.loads(out)
    assert len({one["action"] for one in said["next"]} & {"1", "2", "3"}) == 2
    assert {row["feature"] for row in said["features"]} == {"x", "y"}
    assert (said["observations"], said["log"]) == (3, str(log))
    assert [record.label for record in sb.journal.JsonLines(log).records()] == [one["action"] for one in said["next"]]
    code, out, _ = told(capsys, monkeypatch, "decide", str(actions), *options[:4], "--no-log", "--batch", "3", *QUICK)
    assert code == 0
    assert "Next 3:" in out
    assert not actions.with_suffix(".decisions.jsonl").exists()


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (None, (), "file: expected a text, Excel or Parquet file, got FILE: No such file or directory"),
        ("", (), "file: expected a line of column names and lines of cells, got nothing in FILE"),
        ("offer,price\n", (), "file: expected one line per action after the column names, got none in FILE"),
        ("offer,price\na,1\n", (), "file: expected at least two actions to choose from, got one in FILE"),
        ("offer\na\nb\n", (), "file: expected at least one column of features, got none in FILE"),
        ("a,b\n1,2\n3,x\n", (), "file: expected numbers, got 'x' in line 3, column 'b' of FILE"),
        ("o,a,b\nu,1,3 kg\nv,3,4 ml\n", (), "file: expected one unit per column, got kg and ml in column 'b' in FILE"),
        ("a,b\n1,2\n3,1e99\n", (), "magnitude at most 1e+12, got 1e+99 in line 3, column 'b' of FILE"),
        ("a,b\n1,2\n1,2\n", (), "file: expected actions with different features, got the same numbers in all rows"),
        (
            "id,a\nu,1\nv,2\nu,3\n",
            (),
            "got 'u' in line 4, column 'id' of FILE and in line 2, which differ in column 'a'",
        ),
        (
            'o,a\nu,"1,5"\nv,2.5\n',
            (),
            "expected one decimal mark per column, got '1,5' and '2.5' in column 'a' in FILE",
        ),
        (
            "o,a\nu,1\n,2\nv,3\nw,4\n",
            (),
            "file: expected a name for each action, got an empty cell in line 3, column 'o' of FILE",
        ),
        (GOOD, ("--log", "FILE"), "log: expected a file of its own, got FILE, the file of the table"),
        (GOOD, ("--rewards", "REWARDS", "--log", "REWARDS"), "log: expected a file of its own, got "),
        (
            b"\x00\x01\xfe\xff\x00" * 40,
            (),
            "file: expected text, an Excel workbook or Parquet, got something else in FILE",
        ),
        (b"a,b\n\x00,1\n", (), "file: expected text, an Excel workbook or Parquet, got something else in FILE"),
        (b"PAR1 and no more", (), "file: expected a complete Parquet file, got FILE"),
        ("o,a,reward\nu,1,good\nv,2,3\n", (), "got 'good' in line 2, column 'reward' of FILE"),
        ("o,a,reward\nu,1,inf\nv,2,3\n", (), "got inf in line 2, column 'reward' of FILE"),
        (GOOD, ("--rewards", "no.csv"), "rewards: expected a text, Excel or Parquet file, got no.csv: No such file"),
        (GOOD, ("--rewards", "REWARDS"), "expected names of the actions in FILE, got 'z' in line 3, column 'offer' of"),
        (
            GOOD,
            ("--reward", "score"),
            "file: expected a column 'score', got 'offer', 'price', 'size', 'reward' in FILE",
        ),
        (GOOD, ("--name", "id"), "file: expected a column 'id', got 'offer'"),
        (GOOD, ("--batch", "5"), "batch: expected at most 4, the number of actions, got 5"),
        (GOOD, ("--batch", "0"), "batch: expected a whole number of at least 1, got 0"),
        (
            GOOD,
            ("--policy", "best"),
            "policy: expected one of 'sparse-ids', 'sparse-ts', 'linear-ids', 'lin-ts', 'lin-ucb'",
        ),
        (GOOD, ("--noise-variance", "0"), "noise_variance: expected a positive number"),
        (GOOD, ("--draws", "1"), "n_draws: expected a whole number of at least 10, got 1"),
        (GOOD, ("--no-log",), "log: expected none with --no-log, got"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    content: str | bytes | None,
    options: tuple[str, ...],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file, log, rewards = tmp_path / "offers.csv", tmp_path / "log.jsonl", tmp_path / "rewards.csv"
    log.write_text("{}\n")
    rewards.write_text("offer,reward\na,1\nz,2\n")
    if content is not None:
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    options = tuple(option.replace("REWARDS", str(rewards)).replace("FILE", str(file)) for option in options)
    code, out, errors = told(capsys, monkeypatch, "decide", str(file), "--log", str(log), *QUICK, *options)
    assert (code, out) == (2, "")
    assert errors.startswith("sparsebandits: ")
    assert errors.count("\n") == 1
    assert message.replace("FILE", str(file)) in errors
    assert log.read_text() == "{}\n"


def test_unusual_files_and_logs_that_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _, errors = told(capsys, monkeypatch, "decide", str(tmp_path))
    assert (code, errors.strip()[-14:]) == (2, "Is a directory")
    file = tmp_path / "offers.csv"
    file.write_text("\ufeff" + GOOD, encoding="utf-8")
    whole = told(capsys, monkeypatch, "decide", str(file), *QUICK, "--no-log")
    assert whole[0] == 0, "a byte order mark is not part of a name"
    file.write_text(GOOD + ",,,\n,,,\n\n", encoding="utf-8")
    assert told(capsys, monkeypatch, "decide", str(file), *QUICK, "--no-log") == whole, (
        "empty lines at the end, as spreadsheets write them"
    )
    read, write = os.pipe()
    with os.fdopen(write, "wb") as pipe:
        pipe.write(GOOD.encode())
    assert told(capsys, monkeypatch, "decide", f"/dev/fd/{read}", *QUICK, "--no-log") == whole, "a pipe is read once"
    os.close(read)
    elsewhere, full = "log: expected a file in an existing directory", "path: expected a file that can be appended to"
    for log, wrong in ((tmp_path, elsewhere), (tmp_path / "no" / "log", elsewhere), (Path("/dev/full"), full)):
        code, out, errors = told(capsys, monkeypatch, "decide", str(file), *QUICK, "--log", str(log))
        assert (code, out) == (2, "")
        assert f"{wrong}, got {log}" in errors
    other = tmp_path / "notes.txt"
    for content in ("do not forget the milk\n", '{"time": "2024", "place": 1}\n', "name,reward\na,1"):
        other.write_text(content)
        code, out, errors = told(capsys, monkeypatch, "decide", str(file), *QUICK, "--log", str(other))
        assert (code, out, errors.count("\n")) == (2, "", 1)
        assert f"path: expected a journal of decisions, got a file of which line 1 of {other} is no" in errors
        assert other.read_text() == content, "what is no log is left as it is"
    parquet = tmp_path / "a.parquet"
    pd.DataFrame({"x": [1.0, 2.0]}).to_parquet(parquet)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    code, _, errors = told(capsys, monkeypatch, "decide", str(parquet), *QUICK)
    assert (code, "needs pyarrow (pip install 'sparsebandits[results]')" in errors) == (2, True)


def test_ctrl_c(tmp_path: Path) -> None:
    """Interrupt while FILE is read, here a pipe without a writer."""
    pipe = tmp_path / "offers.csv"
    os.mkfifo(pipe)
    process = subprocess.Popen([*COMMAND, "decide", str(pipe)], stderr=subprocess.PIPE, text=True)
    with pipe.open("w"):  # waits until the command has opened it
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.splitlines()[-1] == "sparsebandits: interrupted before the end; no results were written."
    assert "Traceback" not in errors


def completed(words: str) -> str:
    environment = {"_SPARSEBANDITS_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    answer = subprocess.run(COMMAND, capture_output=True, text=True, check=True, env={**os.environ, **environment})
    assert answer.stderr == ""
    return answer.stdout


def test_shell_completion() -> None:
    assert completed("sparsebandits de").split() == ["demo", "design", "decide"]
    assert completed("sparsebandits decide --policy lin").split() == ["linear-ids", "lin-ts", "lin-ucb"]
    environment = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    answer = subprocess.run([*COMMAND, "--show-completion", "zsh"], capture_output=True, text=True, env=environment)
    assert answer.returncode == 0, answer.stderr
    assert "#compdef sparsebandits" in answer.stdout


def test_the_page_shows_what_the_commands_print(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """docs/decide.md, whose Python is run by tests/test_package.py."""
    for file in EXAMPLES.glob("*.csv"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```console\n(.*?)```", (ROOT / "docs" / "decide.md").read_text(), re.DOTALL)
    assert len(blocks) >= 3
    for block in blocks:
        command, expected = block.split("\n", 1)
        program, *arguments = command.removeprefix("$ ").split()
        assert program == "sparsebandits"
        code, out, _ = told(capsys, monkeypatch, *arguments)
        assert code == 0
        for part in expected.split("...\n"):
            assert part.split() == [] or " ".join(part.split()) in " ".join(out.split())
