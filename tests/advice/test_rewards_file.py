"""Rewards that are told on the command line: where they go, and that nothing is lost."""

import codecs
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import sparsebandits as sb
from sparsebandits import cli
from sparsebandits.advice import rewards_file
from sparsebandits.advice.decide import decide
from sparsebandits.advice.rewards_file import add_rewards, parse_told
from sparsebandits.arguments import ArgumentValueError

TABLE = "offer,price,size,reward\na,1,2,5.5\nb,2,1,\nc,3,5,6.5\nd,4,4,\n"
QUICK = ["--policy", "lin-ucb", "--seed", "0"]


def run(*arguments: object) -> str:
    result = CliRunner().invoke(cli.app, ["decide", *map(str, arguments), *QUICK])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", b"action,reward\nb,1.5\n"),
        (b"offer,reward\nb,1", b"offer,reward\nb,1\nb,1.5\n"),
        (b"offer;reward\r\nb;1,25\r\n", b"offer;reward\r\nb;1,25\r\nb;1,5\r\n"),
        ("offer\treward\nb\t1\n".encode("utf-16"), "offer\treward\nb\t1\nb\t1.5\n".encode("utf-16")),
    ],
)
def test_a_line_is_added_in_the_dialect_of_the_file(before: bytes, after: bytes, tmp_path: Path) -> None:
    file = tmp_path / "r.csv"
    if before:
        file.write_bytes(before)
    add_rewards(file, [("b", 1.5)])
    assert file.read_bytes() == after
    assert (tmp_path / "r.csv.bak").exists() == bool(before)
    if before:
        assert (tmp_path / "r.csv.bak").read_bytes() == before


@pytest.mark.parametrize("name", ["šunka 日本", "Ω"])
@pytest.mark.parametrize("other", ["Käse", "\x81a"])  # the second is no character of Windows-1252, so it is Latin-1
def test_a_name_that_the_encoding_of_the_file_does_not_have(name: str, other: str, tmp_path: Path) -> None:
    """A file that Excel wrote in Windows-1252, beside a table in UTF-8."""
    file, table = tmp_path / "offers.rewards.csv", tmp_path / "offers.csv"
    table.write_text(f"offer,price,size\n{other},1,2\n{name},2,1\nc,3,5\n", encoding="utf-8")
    before = f"offer;reward\r\n{other};1,5\r\n".encode("latin-1")
    file.write_bytes(before)
    out = run(table, "--tell", f"{name}=2.5")
    assert f"{file} is UTF-8 from now on, since Windows-1252 has no" in out
    assert file.read_bytes().decode("utf-8-sig") == f"offer;reward\r\n{other};1,5\r\n{name};2,5\r\n"
    assert file.read_bytes().startswith(codecs.BOM_UTF8), "by which Excel knows it"
    assert file.with_name(f"{file.name}.bak").read_bytes() == before
    assert "3 past rewards" in run(table, "--tell", f"{other}=3", "--correct", f"{name}=2")
    assert file.read_bytes().decode("utf-8-sig").endswith(f"{name};2,0\r\n{other};3,0\r\n")


def test_a_write_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "r.csv"
    file.write_text("offer,reward\nb,1\n")

    def fail(path: Path, content: bytes) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(rewards_file, "write_atomically", fail)
    with pytest.raises(OSError, match="disk full"):
        add_rewards(file, [("b", 2.0)])
    assert file.read_text() == "offer,reward\nb,1\n"


def test_other_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "r.csv"
    file.write_text(TABLE)
    with pytest.raises(ArgumentValueError, match="two columns, the action and its reward, got 4 columns"):
        add_rewards(file, [("b", 1.0)])
    assert file.read_text() == TABLE


def test_all_that_is_wrong_is_said() -> None:
    with pytest.raises(ArgumentValueError) as caught:
        parse_told(["b", "x=1", "b=two", "b=1", "a=inf"], ["a", "b"])
    assert all(
        part in str(caught.value) for part in ("'b', which does not", "'x', which is not in", "'b=two'", "'a=inf'")
    )
    assert parse_told(["a=b=3"], ["a=b"]) == [("a=b", 3.0)]


def test_the_loop_of_a_command_line(tmp_path: Path) -> None:
    file = tmp_path / "offers.csv"
    file.write_text(TABLE)
    first = json.loads(run(file, "--json"))
    name = first["next"][0]["action"]
    again = run(file)
    assert f"Recommended before, without a reward yet: {name} (--pending log counts with them)" in again
    waiting = json.loads(run(file, "--json", "--pending", "log", "--untried"))
    assert waiting["next"][0]["action"] != name
    told = run(file, "--tell", f"{name}=7.25", "--pending", "log")
    assert f"Added {name} = 7.25 to {tmp_path / 'offers.rewards.csv'}" in told
    assert "3 past rewards" in told
    assert (tmp_path / "offers.rewards.csv").read_text() == f"action,reward\n{name},7.25\n"
    assert file.read_text() == TABLE
    records = sb.journal.JsonLines(tmp_path / "offers.decisions.jsonl").records()
    assert next(record.reward for record in records if record.label == name) == 7.25
    assert f"Past rewards are read from {tmp_path / 'offers.rewards.csv'} too" in run(file)


def test_a_wrong_reward_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "offers.csv"
    file.write_text(TABLE)
    result = CliRunner().invoke(cli.app, ["decide", str(file), "--tell", "z=1", "--tell", "a=2", *QUICK])
    assert result.exit_code != 0
    assert isinstance(result.exception, ArgumentValueError)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["offers.csv"]


def test_a_reward_in_the_table_ends_a_pending_trial(tmp_path: Path) -> None:
    file = tmp_path / "offers.csv"
    file.write_text(TABLE)
    name = json.loads(run(file, "--json"))["next"][0]["action"]
    features = {"a": "1,2", "b": "2,1", "c": "3,5", "d": "4,4"}[name]
    file.write_text(TABLE + f"{name},{features},4\n")
    assert "Recommended before" not in run(file, "--no-log")


def test_a_reward_is_corrected(tmp_path: Path) -> None:
    file = tmp_path / "offers.csv"
    file.write_text(TABLE)
    run(file, "--tell", "b=6.55", "--tell", "b=7")
    assert "Corrected b = 65.5 in " in run(file, "--correct", "b=65.5")
    assert (tmp_path / "offers.rewards.csv").read_text() == "action,reward\nb,6.55\nb,65.5\n"
    result = CliRunner().invoke(cli.app, ["decide", str(file), "--correct", "d=1", *QUICK])
    assert "an action with a reward in" in str(result.exception)


def test_an_error_leaves_nothing_told(tmp_path: Path) -> None:
    file = tmp_path / "offers.csv"
    file.write_text(TABLE)
    run(file, "--tell", "b=6.5")
    kept = (tmp_path / "offers.rewards.csv").read_bytes()
    for wrong in (["--batch", "99"], ["--where", "price > 100"], ["--policy", "none"]):
        result = CliRunner().invoke(cli.app, ["decide", str(file), "--tell", "d=1", "--seed", "0", *wrong])
        assert result.exit_code != 0
        assert (tmp_path / "offers.rewards.csv").read_bytes() == kept


def test_an_interrupt_leaves_what_others_have_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file was put back as it had been at the start, without what another command had added meanwhile."""
    file, rewards = tmp_path / "offers.csv", tmp_path / "offers.rewards.csv"
    file.write_text(TABLE)
    run(file, "--tell", "b=6.5")

    def interrupted(*_: object, **__: object) -> None:
        add_rewards(rewards, [("d", 3.0)])
        raise KeyboardInterrupt

    monkeypatch.setattr("sparsebandits.advice.decide.decide", interrupted)
    CliRunner().invoke(cli.app, ["decide", str(file), "--tell", "d=1", *QUICK])
    assert rewards.read_text() == "action,reward\nb,6.5\nd,3.0\n"


def test_what_others_tell_meanwhile_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, rewards = tmp_path / "offers.csv", tmp_path / "offers.rewards.csv"
    file.write_text(TABLE)
    learn = decide

    def slow(*arguments: Any, **named: Any) -> Any:
        add_rewards(rewards, [("d", 3.0)])
        return learn(*arguments, **named)

    monkeypatch.setattr("sparsebandits.advice.decide.decide", slow)
    run(file, "--tell", "b=1")
    assert rewards.read_text() == "action,reward\nd,3.0\nb,1.0\n"


@pytest.mark.parametrize("options", [["--log", "notes.txt"], ["--html", "/dev/null"]])
def test_a_log_or_a_page_that_cannot_be_written_leaves_nothing_told(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("offers.csv").write_text(TABLE)
    Path("notes.txt").write_text("not a log\n")
    result = CliRunner().invoke(cli.app, ["decide", "offers.csv", "--tell", "b=1", *options, *QUICK])
    assert result.exit_code != 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.txt", "offers.csv"]


def test_an_error_after_rewards_were_written_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError("No space left on device")

    file = tmp_path / "offers.csv"
    file.write_text(TABLE)
    monkeypatch.setattr("sparsebandits.advice.advice.Advice.append_to", full)
    result = CliRunner().invoke(cli.app, ["decide", str(file), "--tell", "b=1", *QUICK])
    assert result.exit_code != 0
    assert "the rewards are in " in result.output
    assert "do not tell them again" in result.output
    assert (tmp_path / "offers.rewards.csv").read_text() == "action,reward\nb,1.0\n"


@pytest.mark.parametrize(("told", "decimal"), [("1,234", "."), ("1.234", ","), ("-12,500 kg", "."), ("€ 1.234", ",")])
def test_numbers_that_read_both_ways_are_refused(told: str, decimal: str) -> None:
    with pytest.raises(ArgumentValueError, match="reads as thousands or as a fraction"):
        parse_told([f"b={told}"], ["b"], decimal)


@pytest.mark.parametrize(
    ("told", "decimal", "found"),
    [
        ("1.234", ".", 1.234),
        ("5,125", ",", 5.125),
        ("0,125", ".", 0.125),
        ("70,2", ".", 70.2),
        ("1,234.5", ".", 1234.5),
    ],
)
def test_numbers_that_read_one_way(told: str, decimal: str, found: float) -> None:
    assert parse_told([f"b={told}"], ["b"], decimal) == [("b", found)]


def test_an_error_in_a_correction_leaves_nothing_told(tmp_path: Path) -> None:
    """The rewards that are told are written before the corrections are looked at."""
    file = tmp_path / "offers.csv"
    file.write_text(TABLE)
    result = CliRunner().invoke(cli.app, ["decide", str(file), "--tell", "b=1", "--correct", "d=2", *QUICK])
    assert "an action with a reward in" in str(result.exception)
    assert not (tmp_path / "offers.rewards.csv").exists()


@pytest.mark.parametrize("number", ["1e13", "-1e40", "1e400"])
def test_numbers_that_are_too_large_for_a_cell_are_refused(number: str, tmp_path: Path) -> None:
    file = tmp_path / "offers.csv"
    file.write_text(TABLE)
    for options in (["--tell", f"b={number}"], [f"--target={number}"]):
        result = CliRunner().invoke(cli.app, ["decide", str(file), *options, "--seed", "0"])
        assert "of magnitude at most 1e+12" in str(result.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["offers.csv"]


def test_a_column_that_was_taken_for_rewards_stays_one(tmp_path: Path) -> None:
    """A second source of rewards once made the first one a feature."""
    file = tmp_path / "trials.csv"
    file.write_text("name,price,size,yield\na,1,2,5.5\nb,2,1,\nc,3,5,6.5\nd,4,4,\ne,5,1,4.5\n")
    told = run(file, "--tell", "b=7")
    assert "5 actions, 2 features, 4 past rewards" in told


def test_a_page_after_one_reward(tmp_path: Path) -> None:
    file = tmp_path / "trials.csv"
    file.write_text("name,price,size\na,1,2\nb,2,1\nc,3,5\n")
    run(file, "--tell", "b=7", "--html", tmp_path / "report.html")
    assert "What to try next" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    "options",
    [
        ["--html", "offers.rewards.csv"],
        ["--html", "offers.rewards.csv.bak"],
        ["--html", "offers.decisions.jsonl"],
        ["--html", "missing/report.html"],
        ["--log", "missing/log.jsonl"],
        ["--rewards", "offers.csv"],
        ["--tell", "b=1e200"],
    ],
)
def test_files_are_not_written_over_each_other(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("offers.csv").write_text(TABLE)
    result = CliRunner().invoke(cli.app, ["decide", "offers.csv", "--tell", "b=1", *options, *QUICK])
    assert isinstance(result.exception, ArgumentValueError)
    assert [path.name for path in tmp_path.iterdir()] == ["offers.csv"]
    assert Path("offers.csv").read_text() == TABLE


def test_the_decimal_mark_is_that_of_the_table(tmp_path: Path) -> None:
    file = tmp_path / "offers.csv"
    file.write_text("offer;price;reward\na;1,5;5,5\nb;2,25;\nc;3,5;4,5\n")
    run(file, "--tell", "b=1,250")
    assert "b,1.25\n" in (tmp_path / "offers.rewards.csv").read_text()
