"""The help of every command: its layout, and its examples, which are run."""

import os
import re
import shlex
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest
from typer.testing import CliRunner

from sparsebandits.cli import COMMANDS, app, main
from sparsebandits.cli.usage import EXAMPLES

EXPERIMENT = Path(__file__).parents[1] / "experiments" / "smoke.toml"

ADS = """\
ad,price,size,colour,reward
a,1.0,0.2,0.1,3.0
b,2.0,0.1,0.9,
c,0.5,0.8,0.3,2.0
d,0.1,0.5,0.7,
e,1.5,0.9,0.2,
"""

OWN = """\
horizon = 5
trials = 2
environment = {kind = "GaussianActions", dimension = 3, sparsity = 1, n_actions = 4}
policies.mine = {kind = "sparsebandits.policies.linear:LinTS"}
"""


@pytest.mark.parametrize("name", [command.__name__ for command in COMMANDS])
def test_help_has_names_examples_and_no_types(name: str) -> None:
    found = CliRunner().invoke(app, [name, "--help"])
    assert found.exit_code == 0
    assert re.match(rf"Usage: \S+ {name} \[OPTIONS\]( [A-Z]+)?\n", found.stdout)
    assert not re.search(r"[<{}]", found.stdout)
    assert not re.search(r"\b(TEXT|INTEGER|FLOAT|PATH|BOOLEAN)\b", found.stdout)
    assert 2 <= len(EXAMPLES[name]) <= 3
    for example in EXAMPLES[name]:
        assert f"    {example}\n" in found.stdout
        assert example.startswith(f"sparsebandits {name} ")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("example", [example for examples in EXAMPLES.values() for example in examples])
def test_examples_run(example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With small files of the names that they have; ``reproduce`` calls a runner that does nothing."""
    (tmp_path / "ads.csv").write_text(ADS)
    (tmp_path / "own.toml").write_text(OWN)
    shutil.copy(EXPERIMENT, tmp_path / "small.toml")
    called: list[tuple[object, ...]] = []
    runner = ModuleType("papers.hao2021.runner")
    monkeypatch.setattr(runner, "reproduce", lambda *arguments: called.append(arguments), raising=False)
    monkeypatch.setitem(sys.modules, "papers.hao2021", ModuleType("papers.hao2021"))
    monkeypatch.setitem(sys.modules, "papers.hao2021.runner", runner)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    program, *arguments = shlex.split(example)
    assert program == "sparsebandits"
    found = CliRunner().invoke(app, arguments)
    assert found.exit_code == 0, (found.output, found.exception)
    assert found.stdout or called


@pytest.mark.parametrize(
    "arguments",
    [
        ["run"],
        ["demo", "--no-such-option"],
        ["demo", "--trials", "many"],
        ["dance"],
        ["run", "missing.toml"],
        ["design", "missing.csv"],
        ["decide", "missing.csv"],
        ["bounds", "--horizon", "0", "--dimension", "2", "--sparsity", "1"],
        ["reproduce"],
    ],
)
def test_errors_are_one_line(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["sparsebandits", *arguments])
    with pytest.raises(SystemExit) as stopped:
        main()
    said = capsys.readouterr()
    assert stopped.value.code == 2
    assert said.out == ""
    assert re.fullmatch(r"sparsebandits: .+\n", said.err)


def test_without_a_command_the_help_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["sparsebandits"])
    with pytest.raises(SystemExit) as stopped:
        main()
    said = capsys.readouterr().err
    assert stopped.value.code == 2
    assert all(command.__name__ in said for command in COMMANDS)
