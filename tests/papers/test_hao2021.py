"""The reproduction of the paper: its README agrees with the committed results, and everything runs."""

import ast
import itertools
import json
import math
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks import sources
from papers.hao2021 import (
    algorithm1,
    claim1,
    claims,
    comparisons,
    current,
    figure1,
    figure2,
    figure3,
    renew,
    runner,
    runs,
    tuning,
    verdicts,
)
from papers.hao2021.algorithm1 import Constants

import sparsebandits as sb

ROOT = Path(__file__).parents[2]
README = ROOT / "papers" / "hao2021" / "README.md"
COMMAND = str(Path(sys.executable).parent / "sparsebandits")
MODULE = [sys.executable, "-m", "papers.hao2021"]
PLANS = {part: plan for setup in runner.setups(runs.SCALES["full"]) for part, (plan, _) in setup.plans().items()}
"""The plan of each file of results."""


def said() -> dict[str, str]:
    """Return the tables between the marks of the README."""
    found = re.findall(r"<!-- (.+?) -->\n\n(.+?)\n\n<!-- end -->", README.read_text(), re.DOTALL)
    return dict(found)


@pytest.mark.parametrize("section", list(verdicts.SECTIONS))
def test_the_readme_agrees_with_the_committed_results(section: str) -> None:
    assert said()[section] == verdicts.markdown(verdicts.SECTIONS[section](verdicts.RESULTS))


@pytest.mark.parametrize("part", PLANS)
def test_the_results_were_made_by_the_code_as_it_is(part: str) -> None:
    """Renew them with ``python -m papers.hao2021.renew``, or note that the code gives the same (``current.py``)."""
    result = sb.Result.load(verdicts.RESULTS / f"{part}.parquet")
    assert runs.is_finished(result, PLANS[part]), test_the_results_were_made_by_the_code_as_it_is.__doc__
    assert result.about is not None
    assert not any(run["commit"].endswith("-dirty") for run in result.about["provenance"]["runs"])


def test_the_results_are_of_the_size_of_the_paper() -> None:
    full = runs.SCALES["full"]
    assert (full.trials, full.horizon, runs.DRAWS) == (200, 1000, 10_000)
    assert (full.langevin_trials[20], full.langevin_trials[40]) == (200, 200)


@pytest.mark.parametrize(
    "other",
    [
        {"horizon": 999},
        {"trials": 201},
        {"seed": 2022},
        {"points": 111},
        {"environment": figure3.environment(40)},
        {"policies": {**PLANS["figure3-d20"].policies, "LinTS": sb.maker(sb.LinTS, prior=sb.GaussianPrior(0.1))}},
        {"policies": {"LinTS": sb.maker(sb.LinTS)}},
        {"policies": {**PLANS["figure3-d20"].policies, "LinUCB, tuned": sb.maker(sb.LinUCB, width=2.5)}},
    ],
    ids=["horizon", "trials", "seed", "points", "environment", "another policy", "fewer policies", "not tuned"],
)
def test_results_of_other_settings_are_not_finished(other: dict[str, Any]) -> None:
    result, plan = sb.Result.load(verdicts.RESULTS / "figure3-d20.parquet"), PLANS["figure3-d20"]
    assert runs.is_finished(result, plan)
    assert not runs.is_finished(result, replace(plan, **other))


@pytest.mark.parametrize("other", [{"candidates": (1.0, 2.0)}, {"trials": 19}, {"horizon": 999}], ids=str)
def test_results_of_another_tuning_are_not_finished(other: dict[str, Any]) -> None:
    result, plan = sb.Result.load(verdicts.RESULTS / "figure3-d20.parquet"), PLANS["figure3-d20"]
    tuned = replace(plan.policies["LinUCB, tuned"], **other)  # type: ignore[type-var]
    assert not runs.is_finished(result, replace(plan, policies={**plan.policies, "LinUCB, tuned": tuned}))


def test_figure_1_was_made_by_the_code_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    there = json.loads((verdicts.RESULTS / figure1.FILE).read_text())
    assert figure1.is_finished(there, runs.SCALES["full"].trials)
    first = figure1.found(0)
    assert {name: pytest.approx(row, abs=1e-6) for name, row in first.items()} == there["data sets"][0]
    assert not figure1.is_finished(there, 199)
    monkeypatch.setitem(figure1.SETTINGS, "beta", 0.9)
    assert not figure1.is_finished(there, runs.SCALES["full"].trials)


def test_other_code_is_not_current(monkeypatch: pytest.MonkeyPatch) -> None:
    """A digest that is neither that of the code nor noted as the same is out of date."""
    noted = {"first": ["second", current.code(False)], "third": ["fourth"]}
    monkeypatch.setattr(current, "same", lambda: noted)
    assert current.is_current({"code": "first"})
    assert current.is_current({"code": "second"}), "the same as the first, which gives the same as the code"
    assert current.is_current({"code": current.code(papers_sampler=True)})
    assert not current.is_current({"code": "third"})
    assert not current.is_current({"code": "fourth"})
    assert not current.is_current({})


@pytest.mark.parametrize(
    ("module", "line", "other"),
    [
        ("experiments/tuning.py", "best = min(", "best = max("),
        ("experiments/experiment.py", "it.seed, trial", "it.seed + 1, trial"),
        ("experiments/trial.py", "SeedSequence(", "SeedSequence(1 + "),
        ("rules/ratio.py", "**exponent", "**2"),
        ("posteriors/moves.py", "EXCHANGES = 0.5", "EXCHANGES = 0.25"),
        ("environments/regression_data.py", "float = 0.6", "float = 0.7"),
    ],
)
def test_the_digest_changes_with_code_that_decides_results(module: str, line: str, other: str, tmp_path: Path) -> None:
    source = tmp_path / "src"
    shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
    before = sources.digest(current.MODULES, source, current.WITHOUT)
    assert before == current.code(papers_sampler=True)
    file = source / "sparsebandits" / module
    text = file.read_text()
    assert line in text
    file.write_text(text.replace(line, other, 1))
    assert sources.digest(current.MODULES, source, current.WITHOUT) != before


def numbers_in(text: str) -> set[float]:
    """Return the numbers in the text of a page, outside tables, code, links, and names such as Figure 1."""
    for pattern in (
        r"(?s)<!-- (?!end).+? -->.*?<!-- end -->",
        r"(?s)```.*?```",
        r"`[^`]*`",
        r"\]\([^)]*\)",
        r"(?i)(figure|algorithm|claim) \d",
    ):
        text = re.sub(pattern, "", text)
    return {float(found) for found in re.findall(r"\d+(?:\.\d+)?", text)}


def test_the_text_of_the_readme_quotes_settings_and_no_results() -> None:
    """Tables are compared with the results; other numbers have to be settings of the code."""
    scale, example = runs.SCALES["full"], (figure2.DIMENSION, figure2.SPARSITY, runs.NOISE_VARIANCE)
    settings = {
        *(*figure3.DIMENSIONS, figure3.ACTIONS, *example, scale.horizon, scale.trials, comparisons.EARLY),
        *(claim1.DIMENSION, claim1.SPARSITY, claim1.EPSILON, claim1.INFORMATIVE, comparisons.NEAR_LINEAR),
        *(figure1.ROWS, len(figure1.TRUTH), *figure1.TRUTH),
        *(tuning.ROUNDS, *figure2.EPSILONS),
        *(round(math.log(found), 1) for found in (figure3.ACTIONS, math.comb(100, 10))),  # nats that choices take
        *(1.0, figure2.DIMENSION - 1.0),  # ‖θ*‖, the last coefficient, and the inclusion 1/9
        *(95.0, 2021.0),  # intervals, and the year of the paper
    }
    assert numbers_in(README.read_text()) <= settings
    assert numbers_in("a ratio of 0.71 in 200 trials") - settings == {0.71}, "planted: a result"


def test_other_pages_quote_these_results() -> None:
    lowest, beyond = comparisons.lowest_regret(verdicts.RESULTS), comparisons.beyond_the_paper(verdicts.RESULTS)
    own = comparisons.on_papers_sampler(verdicts.RESULTS)
    growth = {row["policy"]: row for row in comparisons.optimism_is_linear(verdicts.RESULTS)}
    readme, choose = (" ".join((ROOT / page).read_text().split()) for page in ("README.md", "docs/choose.md"))
    nearest = {d: max(row["ratio"].value for row in lowest if row["d"] == d) for d in figure3.DIMENSIONS}
    assert f"{nearest[20]:.2f} and {nearest[40]:.2f} of the runner-up's" in readme
    open_at = {(row["d"], row["policy"]) for row in lowest if row[comparisons.LOWER] != comparisons.HOLDS}
    assert open_at == {(100, "linear IDS"), (100, "LinUCB, tuned")}
    first, second, third = (
        f"{row['ratio to sparse IDS']}" for row in beyond if row["policy"] == figure3.COST_TO_GO
    )  # by dimension
    for page in (readme, choose):
        assert f"{first}, {second} and {third} times" in page
    first, second, third = (f"{row['ratio'].value:.2f}" for row in own if row["policy"] == figure3.SPARSE_IDS)
    assert f"{first}, {second} and {third} times the regret of Particles at d = 20, 40 and 100" in choose
    assert f"stuck, in {growth[figure2.TS]['still growing']} trials" in choose
    of_claim = (growth[name]["regret"].value for name in (figure2.RANDOMISED, figure2.IDS, claim1.LINUCB, figure2.TS))
    randomised, deterministic, linucb, ts = (f"{regret:.0f}" for regret in of_claim)
    assert f"{randomised}, deterministic {deterministic}, LinUCB {linucb}, SparseTS {ts} " in choose


def test_what_is_committed_stays_small() -> None:
    size = sum(path.stat().st_size for path in (ROOT / "papers").rglob("*") if path.is_file())
    assert size < 15e6


def test_verdicts_turn_with_the_results(tmp_path: Path) -> None:
    """With the names of sparse IDS and LinTS exchanged, statements that held have to fail."""
    for dimension, result in comparisons.figure3_results(verdicts.RESULTS).items():
        other = {figure3.SPARSE_IDS: "LinTS", "LinTS": figure3.SPARSE_IDS}
        swapped = {name: result.regret[other.get(name, name)] for name in result.regret}
        replace(result, regret=swapped).write(tmp_path / f"figure3-d{dimension}.parquet")

    def found(results: Path) -> set[str]:
        rows = comparisons.lowest_regret(results)
        return {row[comparisons.LOWER] for row in rows if row["policy"] == "LinTS"}

    assert found(verdicts.RESULTS) == {comparisons.HOLDS}
    assert found(tmp_path) == {comparisons.FAILS}


def test_the_claims_say_what_the_comparisons_found() -> None:
    rows = [
        {"who": who, "verdict": verdict} for who, verdict in (("A, tuned", "holds"), ("B", "FAILS"), ("C", "holds"))
    ]
    assert claims._judged(rows, "against", "who", "verdict") == "**holds** against A (tuned) and C, **fails** against B"
    assert claims._judged(rows[:1] + rows[2:], "against", "who", "verdict") == "**holds** against all"
    assert claims._judged(rows[1:2], "against", "who", "verdict") == "**fails**"
    assert claims._judged([], "against", "who", "verdict") == claims.NOT_PLAYED


def test_a_verdict_needs_the_whole_interval() -> None:
    assert comparisons.Estimate(-2.0, -3.0, -1.0).below(0.0) == comparisons.HOLDS
    assert comparisons.Estimate(-2.0, -5.0, 1.0).below(0.0) == comparisons.OPEN
    assert comparisons.Estimate(2.0, 1.0, 3.0).below(0.0) == comparisons.FAILS
    assert str(comparisons.Estimate(-12.345, -20.0, 3.21)) == "−12.3 (−20.0 to 3.2)"
    assert str(comparisons.Estimate(0.07, 0.0017, 0.12)) == "0.070 (0.002 to 0.120)", "digits show the side of zero"
    assert str(comparisons.Estimate(-150.0, -300.0, -0.3)) == "−150.0 (−300.0 to −0.3)"
    assert str(comparisons.Estimate(0.0, 0.0, 0.0)) == "0.00 (0.00 to 0.00)"
    assert comparisons.all_of([comparisons.HOLDS, comparisons.OPEN]) == comparisons.OPEN
    assert comparisons.all_of([comparisons.OPEN, comparisons.FAILS]) == comparisons.FAILS
    assert comparisons._wins(np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 2.0])) == "1 of 3", "a tie is no win"


def test_a_policy_with_fewer_trials_is_compared_on_those(tmp_path: Path) -> None:
    """Compared with means over all trials, the first thirty trials of the same policy would look different."""
    for dimension, result in comparisons.figure3_results(verdicts.RESULTS).items():
        few = {name: result.regret[name] for name in (figure3.SPARSE_IDS, "linear IDS")}
        few["the same, fewer"] = few["linear IDS"][:30]
        seconds = {name: np.ones(len(curves)) for name, curves in few.items()}
        sb.Result(few, seconds, result.rounds).write(tmp_path / f"figure3-d{dimension}.parquet")
    rows = comparisons.lowest_regret(tmp_path)
    for dimension in figure3.DIMENSIONS:
        result = sb.Result.load(tmp_path / f"figure3-d{dimension}.parquet")
        (row,) = [row for row in rows if (row["d"], row["policy"]) == (dimension, "the same, fewer")]
        assert row["wins"].endswith(" of 30")
        assert row[figure3.SPARSE_IDS] == comparisons.mean_of(result.final(figure3.SPARSE_IDS)[:30])


def test_a_posterior_that_is_off_either_way_is_not_near(tmp_path: Path) -> None:
    """Errors of both signs would cancel in a mean of posterior means."""
    file = tmp_path / figure1.FILE
    content = json.loads((verdicts.RESULTS / figure1.FILE).read_text())
    for row in content["data sets"]:
        for posterior in row.values():
            posterior[figure1.ERRORS[0]] = 0.6
    file.write_text(json.dumps(content))

    def failing(results: Path) -> int:
        return [row["verdict"] for row in comparisons.posteriors_are_near(results)].count(comparisons.FAILS)

    assert failing(tmp_path) == 3
    assert failing(verdicts.RESULTS) == 0


def test_the_difference_is_paired() -> None:
    """An unpaired interval would be as wide as the spread of the instances."""
    rng = np.random.default_rng(0)
    instance = 100.0 * rng.standard_normal(50)
    one, other = instance + rng.standard_normal(50), instance + 2.0 + rng.standard_normal(50)
    estimate = comparisons.difference(one, other)
    assert estimate.high - estimate.low < 2.0
    assert estimate.below(0.0) == comparisons.HOLDS


def test_reproduce_all_at_the_smallest_scale(tmp_path: Path) -> None:
    """A second run, as a module, repeats no trial and prints the same numbers."""
    options = ["--scale", "smoke", "--json", "--workers", "2", "--out", str(tmp_path)]
    command = [COMMAND, "reproduce", "all", *options]
    first = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False, cwd=ROOT)
    assert first.returncode == 0, first.stderr
    told = json.loads(first.stdout)
    assert list(told) == ["claim1", "figure1", "figure2", "figure3", "claims"]
    assert list(told["claims"]) == list(verdicts.SECTIONS)
    for name in list(told)[:-1]:
        assert told[name]["table"]
        assert all(Path(file).stat().st_size > 1000 for file in told[name]["files"])
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "trials").rglob("*.parquet")}
    again = subprocess.run([*MODULE, "figure3", *options], capture_output=True, text=True, check=True, cwd=ROOT)
    assert json.loads(again.stdout)["figure3"] == told["figure3"]
    assert times == {path: path.stat().st_mtime_ns for path in (tmp_path / "trials").rglob("*.parquet")}


def test_what_other_code_or_settings_made_is_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Complete results of this code are kept; those of other code or settings, or with too few trials, are not."""
    scale = runs.Scale(2, 1, 10, {3: 1}, points=5)
    environment = sb.environments.GaussianActions(3, 1, n_actions=4)
    first = runs.Setup("one", environment, {"LinTS": sb.maker(sb.LinTS)}, {"LinUCB": sb.maker(sb.LinUCB)}, scale)

    def made(setup: runs.Setup) -> tuple[int, int]:
        result = setup.run(tmp_path, 1)
        assert {name: len(curves) for name, curves in result.regret.items()} == {
            "LinTS": setup.scale.trials,
            "LinUCB": setup.scale.langevin_trials[3],
        }
        exact, own = ((tmp_path / f"{part}.parquet").stat().st_mtime_ns for part in runs.parts("one"))
        return exact, own

    start = made(first)
    assert made(first) == start
    three = replace(first, scale=replace(scale, trials=3))
    more = made(three)
    assert more[0] > start[0]
    assert more[1] == start[1]
    wide = replace(three, on_papers_sampler={"LinUCB": sb.maker(sb.LinUCB, width=7.0)})
    wider = made(wide)
    assert wider[0] == more[0]
    assert wider[1] > more[1], "of other settings"
    assert made(replace(wide, scale=replace(wide.scale, horizon=12))) > wider
    digests = {False: "exact", True: "own"}
    for module in (runs, current):
        monkeypatch.setattr(module, "code", lambda papers_sampler: digests[papers_sampler])
    before = made(wide)
    assert any(path.name.startswith("one-exact") for path in (tmp_path / "trials").iterdir()), "none are continued"
    digests[True] = "other sampler"
    after = made(wide)
    assert after[0] == before[0], "only the policies on the paper's sampler"
    assert after[1] > before[1]
    digests[False] = "newest"
    monkeypatch.setattr(current, "same", lambda: {"exact": ["newest"]})
    assert made(wide) == after, "code that gives the same is as good"


def test_the_digest_is_of_the_code_before_anything_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: code that changes while it runs, whose digest would go with results of the former code."""
    now, run_part = ["before"], runs._run

    def changing(*arguments: Any) -> None:
        run_part(*arguments)
        now[0] = "after"

    monkeypatch.setattr(runs, "code", lambda papers_sampler: now[0])
    monkeypatch.setattr(runs, "_run", changing)
    makers = {"LinTS": sb.maker(sb.LinTS)}, {"LinUCB": sb.maker(sb.LinUCB)}
    environment = sb.environments.GaussianActions(3, 1, n_actions=4)
    runs.Setup("one", environment, *makers, runs.Scale(1, 1, 5, {3: 1}, points=5)).run(tmp_path, 1)
    for part in runs.parts("one"):
        about = sb.Result.load(tmp_path / f"{part}.parquet").about
        assert about is not None
        assert about["provenance"]["code"] == "before"


def test_code_is_noted_that_gives_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only where no game differs, and beside the code that made the results."""
    monkeypatch.setattr(current, "SAME", tmp_path / "same.json")
    first: dict[str, Any] = {"a": [1.0]}
    before: dict[str, Any] = {
        "exact": {"code": "A", "games": first},
        "own": {"code": "B", "games": {**first, "b": [2.0]}},
    }
    now: dict[str, Any] = {
        "exact": {"code": "C", "games": first},
        "own": {"code": "D", "games": {**first, "b": [2.5]}},
    }
    monkeypatch.setattr("benchmarks.sources.printed_by", lambda checkout, program: before)
    monkeypatch.setattr(renew, "first_games", lambda: now)
    for _ in range(2):
        with pytest.raises(SystemExit, match="these differ, so run them again: b"):
            renew.note_same(tmp_path)
        assert current.same() == {"A": ["C"]}
    before["exact"]["code"], now["exact"]["code"] = "C", "E"
    now["own"]["games"]["b"] = [2.0]
    renew.note_same(tmp_path)
    assert current.same() == {"A": ["C", "E"], "B": ["D"]}


def bowl(best: Constants, weights: Mapping[str, float]) -> Callable[[Constants, Constants], float]:
    """Return a regret that grows with the steps from the best constants, alone and in pairs of neighbours."""

    def regret(constants: Constants, _: Constants) -> float:
        apart = [
            weights[name] * (grid.index(getattr(constants, name)) - grid.index(getattr(best, name)))
            for name, grid in tuning.GRIDS.items()
        ]
        return sum(x * x for x in apart) + 0.5 * sum(x * y for x, y in itertools.pairwise(apart))

    return regret


@pytest.mark.parametrize("seed", range(20))
def test_the_search_ends_where_no_single_step_is_better(seed: int) -> None:
    rng = np.random.default_rng(seed)
    best = Constants(**{name: grid[rng.integers(len(grid))] for name, grid in tuning.GRIDS.items()})
    regret = bowl(best, {name: float(rng.uniform(0.5, 2.0)) for name in tuning.GRIDS})
    found = tuning.climb(regret, Constants())
    for name, grid in tuning.GRIDS.items():
        place = grid.index(getattr(found.best, name))
        for other in (place - 1, place + 1):
            if 0 <= other < len(grid):
                neighbour = replace(found.best, **{name: grid[other]})
                assert neighbour in [one.constants for one in found.seen], "it was looked at"
                assert regret(neighbour, found.best) >= regret(found.best, found.best)


@pytest.mark.parametrize("dimension", tuning.SEARCHED)
def test_the_constants_of_algorithm_1_are_those_that_the_search_found(dimension: int) -> None:
    """None of them is at an end of its grid, other than one by nature."""
    found = tuning.search(dimension, workers=None)
    assert algorithm1.TUNED[dimension] == found.best
    assert tuning.at_edge(found.best) == []


def test_all_numbers_of_chains_can_be_played() -> None:
    """Claim 1 has fewer draws than the engine takes of 1000 chains."""
    world = figure2.environment(figure2.SHOWN).sample(0)
    for chains in tuning.GRIDS["chains"]:
        for maker in algorithm1.policies(Constants(chains=chains), 0.2, 0.5, claim1.LANGEVIN_DRAWS).values():
            sb.simulate(maker, world, 2, 0)


def test_the_search_names_what_is_at_the_edge() -> None:
    assert tuning.at_edge(Constants()) == []
    assert tuning.at_edge(Constants(burn_in=100, decay=0.3)) == ["burn_in", "decay"]


def test_the_search_plays_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = tmp_path / "games.jsonl"
    with pytest.raises(LookupError, match="has not played"):
        tuning.search(20, stored, workers=None)
    monkeypatch.setattr(tuning, "TRIALS", 2)
    monkeypatch.setattr(tuning, "FIRST", 1)
    monkeypatch.setattr(tuning, "DROPPED", 1e9)
    monkeypatch.setattr(tuning, "GRIDS", {"spike": (0.1, 0.2)})
    monkeypatch.setattr(tuning, "ROUNDS", 10)
    found = tuning.search(20, stored, workers=1)
    lines = stored.read_text().splitlines()
    assert len(lines) == 4, "two candidates, two trials each"
    assert tuning.search(20, stored, workers=None) == found
    assert stored.read_text().splitlines() == lines
    monkeypatch.setattr(tuning, "ROUNDS", 11)
    with pytest.raises(LookupError, match="has not played"):  # games of another length
        tuning.search(20, stored, workers=None)


def test_the_search_drops_what_is_far_worse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step that doubles the regret plays the first trials only, and is not taken though it is better on the rest."""
    played = []

    def game(dimension: int, constants: Constants, trial: int) -> dict[str, Any]:
        played.append((constants.spike, trial))
        regret = 2.0 if constants.spike == 0.2 and trial < 4 else 1.0 if constants.spike == 0.1 else 0.0
        return {**tuning._settings(dimension, constants), "trial": trial, "regret": regret}

    monkeypatch.setattr(tuning, "GRIDS", {"spike": (0.1, 0.2)})
    monkeypatch.setattr(tuning, "play", game)
    found = tuning.search(20, tmp_path / "games.jsonl", workers=1)
    assert found.best.spike == 0.1
    assert [one.regret for one in found.seen] == [1.0, np.inf]
    assert len([spike for spike, _ in played if spike == 0.2]) == tuning.FIRST
    assert "dropped" in tuning.report(20, found)


def test_the_module_refuses_like_the_command() -> None:
    answer = subprocess.run([*MODULE, "figure99"], capture_output=True, text=True, check=False, cwd=ROOT)
    assert answer.returncode == 2
    assert answer.stderr.startswith("sparsebandits: what: expected one of 'claim1', 'figure1'")
    assert (
        "Usage: python -m papers.hao2021"
        in subprocess.run([*MODULE, "--help"], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    )


def test_the_experiments_use_public_names_only() -> None:
    """Namespaces such as sb.results, not the modules below them, so that the package can be rearranged."""
    for file in sorted((ROOT / "papers").rglob("*.py")):
        imports = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.ImportFrom)]
        for module in (node.module or "" for node in imports):
            below = re.fullmatch(r"sparsebandits\.(experiments|results|environments|policies|posteriors)\..+", module)
            assert below is None, f"{file.name}: {module}"
