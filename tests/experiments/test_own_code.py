"""Policies of one's own in experiment files: refused unless code is allowed, and then like any other."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sparsebandits as sb
from sparsebandits.experiments.plan import ExperimentFileError, Tuning, read_plan
from tests.results.results import files

COMMAND = str(Path(sys.executable).parent / "sparsebandits")

MODULE = """\
import sparsebandits as sb


class Wide(sb.LinUCB):
    def __init__(self, actions, noise_variance, seed, width=5.0):
        super().__init__(actions, noise_variance=noise_variance, seed=seed, width=width, intercept=False)


def loose(actions, **settings):
    return sb.LinTS(actions, **settings)


def broken(actions, seed, noise_variance):
    raise KeyError("no policy today")


def nothing(actions, seed, noise_variance):
    return 3


number = 3
"""

PLAN = """\
horizon = 8
trials = 3

[environment]
kind = "GaussianActions"
dimension = 4
sparsity = 1
n_actions = 5

[policies.mine]
kind = "NAME:Wide"
width = 2.0

[policies.LinTS]
"""


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> tuple[Path, str]:
    """An experiment file beside a module, whose name no other test has."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    name = f"own_{abs(hash(request.node.nodeid)):x}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    (tmp_path / "own.toml").write_text(PLAN.replace("NAME", name))
    return tmp_path / "own.toml", name


def test_code_is_refused_unless_it_is_allowed(written: tuple[Path, str]) -> None:
    file, name = written
    with pytest.raises(
        ExperimentFileError, match=f"line 11: policies.mine.kind: '{name}:Wide' is code, .*--allow-code"
    ):
        read_plan(file)
    assert name not in sys.modules
    assert str(file.parent) not in sys.path


def test_a_policy_of_ones_own_runs_in_workers_and_is_resumed(written: tuple[Path, str]) -> None:
    file, name = written
    environment = sb.environments.GaussianActions(4, 1, n_actions=5)
    sb.Experiment(environment, {"LinTS": sb.LinTS}, horizon=2, trials=2).run(workers=2)  # processes without the module
    plan = read_plan(file, allow_code=True)
    assert plan.untracked == [f"{name}.Wide"]
    directory = file.parent / "out"
    result = plan.run(directory, workers=2)
    by_hand = sb.Experiment(plan.environment, {"mine": sb.maker(sb.LinUCB, width=2.0)}, horizon=8, trials=3).run()
    np.testing.assert_array_equal(result.regret["mine"], by_hand.regret["mine"])
    about = sb.Result.load(directory).about
    assert about is not None
    assert about["configuration"]["policies"]["mine"] == {"kind": f"{name}.Wide", "width": 2.0}
    assert about["provenance"]["runs"][0]["untracked"] == [f"{name}.Wide"]
    before = files(directory)
    file.write_text(file.read_text().replace("trials = 3", "trials = 4"))
    assert read_plan(file, allow_code=True).run(directory).regret["mine"].shape == (4, 8)
    assert before.items() <= files(directory).items()
    file.write_text(file.read_text().replace("width = 2.0", "width = 3.0"))
    with pytest.raises(ValueError, match="holds trials of another configuration"):
        read_plan(file, allow_code=True).run(directory)


def test_a_run_of_this_package_alone_is_tracked(tmp_path: Path) -> None:
    environment = sb.environments.GaussianActions(4, 1, n_actions=5)
    policies = {"a": sb.maker(sb.SparseTS, prior=sb.SpikeSlab(0.5, 1.0), n_draws=20)}
    about = sb.Experiment(environment, policies, horizon=3, trials=1).run(tmp_path).about
    assert about is not None
    assert about["provenance"]["runs"][0]["untracked"] == []


def test_functions_with_any_settings_and_tuning(written: tuple[Path, str]) -> None:
    file, name = written
    text = PLAN.replace('NAME:Wide"\nwidth = 2.0', f'{name}:loose"\nn_draws = {{tune = [10, 20], trials = 2}}')
    text = text.replace("n_draws", "probability_draws")
    file.write_text(text)
    plan = read_plan(file, allow_code=True)
    assert isinstance(plan.policies["mine"], Tuning)
    assert plan.untracked == [f"{name}.loose"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (":Wide", ":Wild", "line 11: policies.mine.kind: cannot import '{}:Wild': AttributeError"),
        ("{}:Wide", "{}_:Wide", "line 11: policies.mine.kind: cannot import '{}_:Wide': ModuleNotFoundError"),
        ("{}:Wide", ":Wide", "line 11: policies.mine.kind: cannot import ':Wide': ValueError"),
        (":Wide", ":number", "line 11: policies.mine.kind: expected a policy class"),
        ("width = 2.0", "widht = 2.0", "line 12: policies.mine.widht: unknown key; did you mean 'width'?"),
        ('Wide"\nwidth = 2.0', 'broken"', "policies.mine: the policy cannot be made: KeyError: 'no policy today'"),
        ('Wide"\nwidth = 2.0', 'nothing"', "policies.mine: expected a policy, with ask and tell, got"),
        ("width = 2.0", "width = -1", "line 12: policies.mine.width: expected"),
    ],
)
def test_errors_name_the_line(old: str, new: str, message: str, written: tuple[Path, str]) -> None:
    file, name = written
    file.write_text(file.read_text().replace(old.replace("{}", name), new.replace("{}", name)))
    with pytest.raises(ExperimentFileError) as error:
        read_plan(file, allow_code=True)
    assert message.replace("{}", name) in str(error.value)


def test_the_command(written: tuple[Path, str]) -> None:
    """In a process of its own, whose workers have to find the module beside the file."""
    file, name = written
    refused = subprocess.run([COMMAND, "run", file], capture_output=True, text=True, check=False, cwd=file.parent)
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
    assert "--allow-code" in refused.stderr
    command = [COMMAND, "run", str(file), "--allow-code", "--workers", "2", "--out", str(file.parent / "out")]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    assert answer.returncode == 0, answer.stderr
    assert f"Code outside this package, which results do not identify: {name}.Wide\n" in answer.stdout
    assert f"The report is in {file.parent / 'out' / 'report.html'}\n" in answer.stdout
