"""An experiment file is run as it says, and errors in it are reported with their line."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsebandits as sb
from sparsebandits.experiments.plan import ExperimentFileError, Tuning, read_plan
from sparsebandits.experiments.toml_lines import key_lines
from sparsebandits.experiments.tuning import tune
from tests.results.results import files, quick_directory

SMOKE = Path(__file__).parent / "smoke.toml"
EXAMPLE = Path(__file__).parents[2] / "docs" / "experiments" / "small.toml"


def test_a_file_is_what_it_says() -> None:
    plan = read_plan(SMOKE)
    assert (plan.title, plan.horizon, plan.trials, plan.seed, plan.record, plan.points) == ("smoke", 12, 3, 5, True, 6)
    assert isinstance(plan.policies["LinUCB"], Tuning)
    with quick_directory() as directory:
        result = plan.run(directory)
        assert result.about is not None
        tuned = result.about["provenance"]["notes"]["tuned"]["LinUCB"]
        policies = result.about["configuration"]["policies"]
        again = replace(plan, trials=4).run(directory, workers=1)
        for name in plan.policies:
            np.testing.assert_array_equal(again.regret[name][:3], result.regret[name])
        assert len(files(directory / "tuning")) == 4
    width = tune(lambda w: sb.maker(sb.LinUCB, width=w), [0.5, 1.0], plan.environment, horizon=10, trials=2, seed=5)
    assert policies["LinUCB"] == {"kind": "LinUCB", "width": width.best}
    assert tuned == json.loads(json.dumps({"setting": "width", **width.record()}))
    prior = sb.SpikeSlab(sb.BetaInclusion(1.0, 2.0), [0.5] * 6)
    by_hand = sb.Experiment(
        sb.environments.ChangingActions(sb.environments.GaussianActions(6, 2, n_actions=8)),
        {
            "IDS, particles": sb.maker(sb.SparseIDS, n_draws=50, prior=prior, engine_options={}),
            "SparseTS": sb.maker(
                sb.SparseTS, engine="gibbs", n_draws=20, prior=sb.SpikeSlab.from_paper(0.1, 0.1, 0.5, 2.0)
            ),
            "LinTS": sb.LinTS,
            "LinUCB": sb.maker(sb.LinUCB, width=width.best),
            "theory's width": sb.maker(sb.LinUCB, width=sb.rules.ConfidenceRadius()),
        },
        horizon=12,
        trials=3,
        seed=5,
        record=True,
        points=6,
    ).run()
    assert list(result.regret) == list(by_hand.regret)
    for name in by_hand.regret:
        np.testing.assert_array_equal(result.regret[name], by_hand.regret[name])


DRIFT = """\
horizon = 30
trials = 2

[environment]
kind = "Drifting"
every = 10
change = "rotation"
environment = {kind = "LogisticActions", dimension = 6, sparsity = 2, n_actions = 8, base_rate = 0.3, link = "probit"}

[policies.linear]
kind = "LinTS"
rewards = {kind = "Gaussian", variance = 0.2}

[policies.LassoGreedy]
"""


@pytest.mark.filterwarnings("ignore:all rewards so far are 0 or 1")
def test_a_file_of_clicks_that_drift(tmp_path: Path) -> None:
    file = tmp_path / "drift.toml"
    file.write_text(DRIFT)
    plan = read_plan(file)
    clicks = sb.environments.LogisticActions(6, 2, n_actions=8, base_rate=0.3, link="probit")
    assert plan.environment == sb.environments.Drifting(clicks, every=10, change="rotation")
    result = plan.run(tmp_path / "out")
    policies = {"linear": sb.maker(sb.LinTS, rewards=sb.Gaussian(0.2)), "LassoGreedy": sb.rivals.LassoGreedy}
    by_hand = sb.Experiment(plan.environment, policies, horizon=30, trials=2).run()
    again = sb.Result.load(tmp_path / "out")
    for name in policies:
        np.testing.assert_array_equal(result.regret[name], by_hand.regret[name])
        np.testing.assert_array_equal(again.regret[name], by_hand.regret[name])
    assert again.about is not None
    described = again.about["configuration"]["environment"]
    assert (described["kind"], described["change"], described["environment"]["kind"]) == (
        "Drifting",
        "rotation",
        "LogisticActions",
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"rotation"', '"slow"', "line 7: environment.change: expected one of 'abrupt', 'rotation', got 'slow'"),
        ('"probit"', '"log"', "line 8: environment.environment.link: expected one of 'logit', 'probit', got 'log'"),
        ("base_rate = 0.3", "base_rate = 1", "environment.environment.base_rate: expected a number between 0 and 1"),
        ('"LogisticActions"', '"PoissonActions"', "line 8: environment.environment.link: unknown key"),
    ],
)
def test_errors_in_a_file_of_clicks_point_at_the_line(old: str, new: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "drift.toml"
    file.write_text(DRIFT.replace(old, new))
    with pytest.raises(ExperimentFileError) as error:
        read_plan(file)
    assert message in str(error.value)


CONTEXTS = """\
horizon = 25
trials = 2

[environment]
KIND

[policies.linear]
kind = "LinTS"
rewards = {kind = "Gaussian", variance = 0.2}
"""
KINDS: dict[str, Any] = {
    'kind = "ContextualActions"\nuser_features = 3\nitem_features = 2\nn_items = 5\nsparsity = 2': (
        sb.environments.ContextualActions(3, 2, n_items=5, sparsity=2)
    ),
    'kind = "ContextualActions"\nrewards = "logistic"\nbase_rate = 0.3\nn_items = 4\nuser_features = 2': (
        sb.environments.ContextualActions(2, n_items=4, rewards="logistic", base_rate=0.3)
    ),
    'kind = "Classification"\ndata = "wine"': sb.environments.Classification("wine"),
    'kind = "Dosing"\nextra_features = 2\nthresholds = [20, 50]': (
        sb.environments.Dosing(extra_features=2, thresholds=(20.0, 50.0))
    ),
}


@pytest.mark.filterwarnings("ignore:all rewards so far are 0 or 1")
@pytest.mark.parametrize("kind", KINDS)
def test_files_with_contexts(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "contexts.toml"
    file.write_text(CONTEXTS.replace("KIND", kind))
    plan = read_plan(file)
    assert plan.environment == KINDS[kind]
    result = plan.run(tmp_path / "out")
    by_hand = sb.Experiment(KINDS[kind], {"linear": sb.maker(sb.LinTS, rewards=sb.Gaussian(0.2))}, 25, 2).run()
    np.testing.assert_array_equal(result.regret["linear"], by_hand.regret["linear"])
    again = sb.Result.load(tmp_path / "out")
    np.testing.assert_array_equal(again.regret["linear"], by_hand.regret["linear"])
    assert again.about is not None
    described = dict(again.about["configuration"]["environment"])
    assert type(KINDS[kind]).__name__ == described.pop("kind")
    assert type(KINDS[kind])(**described) == KINDS[kind]


def test_a_file_gives_a_policy_users_and_items(tmp_path: Path) -> None:
    file, kind = tmp_path / "contexts.toml", next(iter(KINDS))
    file.write_text(CONTEXTS.replace("KIND", kind) + "contexts = true\n")
    result = read_plan(file).run()
    made = sb.maker(sb.LinTS, rewards=sb.Gaussian(0.2), contexts=True)
    by_hand = sb.Experiment(KINDS[kind], {"linear": made}, 25, 2).run()
    np.testing.assert_array_equal(result.regret["linear"], by_hand.regret["linear"])
    file.write_text(CONTEXTS.replace("KIND", kind) + 'contexts = ["age"]\n')
    with pytest.raises(ExperimentFileError, match=r"line \d+: policies.linear.contexts: expected True"):
        read_plan(file)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ('kind = "Classification"\ndata = "wines"', "line 6: environment.data: expected one of 'digits', "),
        ('kind = "Classification"', "line 4: environment: data: missing, Classification needs it"),
        ('kind = "Dosing"\nthresholds = [50, 20]', "line 6: environment.thresholds: expected the lower one first"),
        (
            'kind = "ContextualActions"\nbase_rate = 0.1',
            "line 6: environment.base_rate: expected none, since rewards are gaussian, got 0.1",
        ),
        ('kind = "ContextualActions"\nitems = 3', "line 6: environment.items: unknown key; did you mean 'n_items'?"),
    ],
)
def test_errors_in_files_with_contexts_point_at_the_line(kind: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "contexts.toml"
    file.write_text(CONTEXTS.replace("KIND", kind))
    with pytest.raises(ExperimentFileError) as error:
        read_plan(file)
    assert message in str(error.value)


def test_the_documented_example_is_valid() -> None:
    plan = read_plan(EXAMPLE)
    assert len(plan.policies) == 4
    assert plan.baseline == "LinTS"


GOOD = """\
horizon = 20
trials = 2

[environment]
kind = "GaussianActions"
dimension = 6
sparsity = 2

[policies.LinTS]

[policies."a.b"]
kind = "SparseIDS"
n_draws = 20
prior = {kind = "SpikeSlab", inclusion = 0.1, slab_variance = 0.5}
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("horizon = 20", "horizont = 20", "line 1: horizont: unknown key; did you mean 'horizon'?"),
        ("horizon = 20\n", "", "file.toml: horizon: missing"),
        ("trials = 2", "trials = 0", "line 2: trials: expected a whole number of at least 1, got 0"),
        ("trials = 2", "trials = 2.5", "line 2: trials: expected a whole number, got 2.5"),
        ("trials = 2", "trials = 2\nrecord = 1", "line 3: record: expected true or false, got 1"),
        ("trials = 2", "trials = 2\npoints = 0", "line 3: points: expected a whole number of at least 1"),
        ("trials = 2", "trials = 2\nbaseline = 'TS'", "line 3: baseline: expected one of 'LinTS', 'a.b', got 'TS'"),
        ("trials = 2", "trials = 2\nxyz = 1", "line 3: xyz: unknown key, expected one of 'title', 'environment'"),
        ("trials = 2", "trials = ", "file.toml: expected valid TOML: Invalid value (at line 2"),
        ("trials = 2", "trials = 2\ntrials = 3", "expected valid TOML: Cannot overwrite a value (at line 3"),
        ('"GaussianActions"', '"GaussianAction"', "line 5: environment.kind: expected one of 'GaussianActions'"),
        ('"GaussianActions"', '"GaussianAction"', "did you mean 'GaussianActions'?"),
        ("sparsity = 2", "sparsity = 9", "line 7: environment.sparsity: expected at most dimension (6), got 9"),
        ("sparsity = 2", "sparsty = 2", "line 7: environment.sparsty: unknown key; did you mean 'sparsity'?"),
        ("sparsity = 2", "", "line 4: environment: sparsity: missing, GaussianActions needs it"),
        ("[policies.LinTS]", "[policies.TS]", "line 9: policies.TS: expected a table with a kind, one of 'Lin"),
        ("[policies.LinTS]", "[policies.LinTS]\ninflation = 0", "line 10: policies.LinTS.inflation: expected a pos"),
        ("[policies.LinTS]", "[policies.LinTS]\nwidth = 1", "line 10: policies.LinTS.width: unknown key"),
        ("[policies.LinTS]", "[policies.LinTS]\nseed = 1", "line 10: policies.LinTS.seed: unknown key"),
        (
            "[policies.LinTS]",
            "[policies.ESTC]",
            "line 9: policies.ESTC: sparsity: expected a whole number, as exploration is not given either",
        ),
        ('"SparseIDS"', '"HypercubeElimination"', "line 13: policies.a.b.n_draws: unknown key"),
        ("[policies.LinTS]", "[policies.HypercubeElimination]", "line 9: policies.HypercubeElimination: actions: exp"),
        ("n_draws = 20", "n_draw = 20", "line 13: policies.a.b.n_draw: unknown key; did you mean 'n_draws'?"),
        ("inclusion = 0.1", "inclusion = 1.1", "line 14: policies.a.b.prior.inclusion: expected numbers from 0 to 1"),
        ("inclusion = 0.1", "inclusio = 0.1", "line 14: policies.a.b.prior.inclusio: unknown key; did you mean 'incl"),
        ('"SpikeSlab"', '"SpikeSlap"', "line 14: policies.a.b.prior.kind: expected one of"),
        ("prior = {kind", "engine = 'x'\nprior = {kind", "line 14: policies.a.b.engine: expected one of 'particles'"),
        ("prior = {", "prior = 3\n#", "line 14: policies.a.b.prior: "),
        ("n_draws = 20", "n_draws = {tune = []}", "line 13: policies.a.b.n_draws.tune: expected a list of values"),
        ("n_draws = 20", "n_draws = {tune = [5, 0]}", "line 13: policies.a.b.n_draws: expected a whole number of at"),
        ("n_draws = 20", "n_draws = {tune = [5], trial = 3}", "n_draws.trial: unknown key; did you mean 'trials'?"),
        ("n_draws = 20", "n_draws = {tune = [5], trials = 0}", "n_draws.trials: expected a whole number of at least 1"),
        (
            "n_draws = 20",
            "n_draws = {tune = [5]}\nexponent = {tune = [2]}",
            "line 14: policies.a.b.exponent: expected at most one tuned setting per policy, got a second",
        ),
        ("[policies.LinTS]", f"[policies.{'x' * 300}]\nkind = 'LinTS'", "expected names of 1 to 200 characters"),
    ],
)
def test_errors_point_at_the_line(old: str, new: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "file.toml"
    file.write_text(GOOD)
    read_plan(file)
    assert GOOD.count(old) == 1
    file.write_text(GOOD.replace(old, new))
    with pytest.raises(ExperimentFileError) as error:
        read_plan(file)
    assert message in str(error.value)
    assert str(error.value).startswith(str(file))


def test_files_that_are_not_toml(tmp_path: Path) -> None:
    (tmp_path / "file.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ExperimentFileError, match="expected text in UTF-8"):
        read_plan(tmp_path / "file.toml")
    (tmp_path / "file.toml").write_text('horizon = "')
    with pytest.raises(ExperimentFileError, match=r"file\.toml: expected valid TOML: .* \(at end of document\)"):
        read_plan(tmp_path / "file.toml")


def test_lines_of_all_ways_to_write_a_key() -> None:
    text = '''# comment = 1
a = "x # = [b]"  # c = 2
b.c = """
d = 3
\\""" x
"""
'e f' = [1, [2, # g = 1
  "]"], {h = 1,
  i = {j = 2}}]

[ k . "l.m" ]
n = \'\'\'
o\'\'\'
p = 1979-05-27T07:32:00Z
[[q]]
r = -1e3
'''
    lines = key_lines(text)
    expected = {
        ("a",): 2,
        ("b",): 3,
        ("b", "c"): 3,
        ("e f",): 7,
        ("e f", "h"): 8,
        ("e f", "i"): 9,
        ("e f", "i", "j"): 9,
        ("k",): 11,
        ("k", "l.m"): 11,
        ("k", "l.m", "n"): 12,
        ("k", "l.m", "p"): 14,
        ("q",): 15,
        ("q", "r"): 16,
    }
    assert lines == expected
    assert key_lines(text.replace("\n", "\r\n")) == expected


COMMAND = str(Path(sys.executable).parent / "sparsebandits")


def test_the_command() -> None:
    with quick_directory() as directory:
        answer = subprocess.run(
            [COMMAND, "run", SMOKE, "--out", directory / "out", "--workers", "1", "--json"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert answer.returncode == 0, answer.stderr
        said = json.loads(answer.stdout)
        assert {row["policy"] for row in said["table"]} == set(read_plan(SMOKE).policies)
        assert len(said["compared"]) == 4
        assert said["tuned"]["LinUCB"]["setting"] == "width"
        assert (directory / "out" / "regret.png").exists()
        assert said["report"] == str(directory / "out" / "report.html")
        assert said["untracked"] == []
        report = (directory / "out" / "report.html").read_text()
        assert "<title>smoke</title>" in report
        assert all(name.replace("'", "&#x27;") in report for name in read_plan(SMOKE).policies)
        again = [COMMAND, "run", str(SMOKE), "--out", str(directory / "out"), "--workers", "1", "--no-report"]
        (directory / "out" / "report.html").unlink()
        without = subprocess.run(again, capture_output=True, text=True, check=True)
        assert "report" not in without.stdout
        assert not (directory / "out" / "report.html").exists()
        assert "3 trials of 5 policies: 15 of 15" in answer.stderr
        refused = directory / "refused.toml"
        refused.write_text(SMOKE.read_text().replace("horizon = 12", "horizont = 12"))
        answer = subprocess.run([COMMAND, "run", refused], capture_output=True, text=True, check=False, cwd=directory)
        assert answer.returncode == 2
        assert answer.stderr == f"sparsebandits: {refused}, line 3: horizont: unknown key; did you mean 'horizon'?\n"
        assert not (directory / "out" / "refused").exists()


@pytest.mark.parametrize(
    "text",
    [
        "horizon = " + "[" * 100_000,
        "horizon = " + "[" * 100_000 + "]" * 100_000,
        "horizon = " + "{a = " * 100_000,
        ".".join(["a"] * 50_000) + " = 1",
        " . ".join(["'a'"] * 50_000) + " = 1",
        "[" + ".".join(["a"] * 50_000) + "]",
    ],
    ids=["brackets", "closed brackets", "braces", "a key", "a key of strings", "a table"],
)
def test_what_would_exhaust_a_parser_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "deep.toml"
    file.write_text(f"seed = 1\n{text}\n")
    with pytest.raises(ExperimentFileError, match=r"deep.toml, line 2: expected at most 32 levels of brackets"):
        read_plan(file)


def test_brackets_in_strings_and_comments_are_no_levels(tmp_path: Path) -> None:
    file, deep = tmp_path / "a.toml", "[" * 99 + "." * 99
    file.write_text(f'title = "{deep}" # {deep}\nnotes = """\n{deep}\n"""\n')
    with pytest.raises(ExperimentFileError, match=r"line 2: notes: unknown key"):
        read_plan(file)


def test_files_that_are_too_large_and_numbers_too_long_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_bytes(b"#" * 1_000_001)
    with pytest.raises(ExperimentFileError, match="expected at most 1000000 bytes, got more"):
        read_plan(file)
    file.write_text(f"trials = {'9' * 5000}\n")
    with pytest.raises(ExperimentFileError, match="expected valid TOML"):
        read_plan(file)
    with pytest.raises(ExperimentFileError, match="expected the name of a file"):
        read_plan("a\0b")
    with pytest.raises(TypeError, match=r"^path: expected the name of a file, got None"):
        read_plan(None)  # type: ignore[arg-type]
