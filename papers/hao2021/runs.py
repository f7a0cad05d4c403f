"""What the experiments of the paper share: how large they are, and how they are run and kept."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from papers.hao2021.current import code, is_current
from sparsebandits import Result
from sparsebandits.environments import GaussianActions, HardInstance
from sparsebandits.experiments import Plan, PolicyMaker, Tuning, shown_progress
from sparsebandits.results import Rows

SEED = 2021
DRAWS = 10_000
"""Posterior draws of the sparse policies, as the paper has them."""

LANGEVIN = "-langevin"
"""End of the names of results on the paper's sampler."""

NOISE_VARIANCE = 2.0
"""Noise variance of the paper's experiments."""


@dataclass(frozen=True)
class Scale:
    """How large a reproduction is.

    Attributes
    ----------
    trials, tuning_trials : int
        Trials of each policy, and of each candidate in tuning.
    horizon : int
        Rounds per trial.
    langevin_trials : mapping of int to int
        Trials of the policies on the paper's sampler, by dimension: 10 is that of figure 2, 200 that of Claim 1.
    points : int
        Recorded rounds per curve.
    """

    trials: int
    tuning_trials: int
    horizon: int
    langevin_trials: Mapping[int, int]
    points: int

    def thinned(self, times: int) -> "Scale":
        """Return the scale with ``times`` fewer points per curve."""
        return replace(self, points=-(-self.points // times))


SCALES = {
    # Every ninth round is recorded, rounds 100 and 1000 among them.
    "full": Scale(200, 20, 1000, {10: 100, 20: 200, 40: 200, 100: 100, 200: 60}, points=112),
    "smoke": Scale(2, 2, 40, {10: 2, 20: 2, 40: 2, 100: 1, 200: 1}, points=40),
}


@dataclass(frozen=True)
class Report:
    """What an experiment found, and the files that it wrote."""

    table: Rows
    files: list[Path]


def run(
    environment: GaussianActions | HardInstance,
    policies: Mapping[str, PolicyMaker | Tuning],
    on_papers_sampler: Mapping[str, PolicyMaker],
    scale: Scale,
    out: Path,
    name: str,
    workers: int,
) -> Result:
    """Run the experiment ``name``, keep its trials below ``out/trials``, and write its files into ``out``.

    What is there, is complete and was made by this code is not run again; trials of other code are not continued. The
    policies on the paper's sampler have a file of their own, so that other constants or code of that sampler leave the
    results of all others as they are.

    Parameters
    ----------
    environment : GaussianActions or HardInstance
        What instances are drawn from.
    policies : mapping of str to policy maker or Tuning
        The policies on exact posteriors, and the rivals, by name.
    on_papers_sampler : mapping of str to policy maker
        The policies on Algorithm 1, which have a number of trials of their own.
    scale : Scale
        How large the run is.
    out : Path
        Directory of the results.
    name : str
        Name of the experiment.
    workers : int
        Processes on this machine.

    Returns
    -------
    Result
        All policies.
    """
    plan = Plan(environment, policies, scale.horizon, scale.trials, SEED, points=scale.points, title=name)
    _run(plan, out, name, workers, code(papers_sampler=False))
    fewer = replace(plan, policies=on_papers_sampler, trials=scale.langevin_trials[environment.dimension])
    _run(fewer, out, name + LANGEVIN, workers, code(papers_sampler=True))
    return load(out, name)


def parts(name: str) -> tuple[str, str]:
    """Return the names of the results of an experiment: on exact posteriors, and on the paper's sampler."""
    return name, name + LANGEVIN


def files_of(out: Path, names: Iterable[str]) -> list[Path]:
    """Return the files of results of experiments."""
    return [out / f"{part}.parquet" for name in names for part in parts(name)]


def load(out: Path, name: str) -> Result:
    """Return the results of all policies that are there; configuration and provenance are those on exact posteriors."""
    exact, *others = (Result.load(file) for file in files_of(out, [name]) if file.exists())
    for own in others:
        pulls = None if exact.pulls is None or own.pulls is None else {**exact.pulls, **own.pulls}
        regret, seconds = {**exact.regret, **own.regret}, {**exact.seconds, **own.seconds}
        exact = replace(exact, regret=regret, seconds=seconds, pulls=pulls)
    return exact


def _run(plan: Plan, out: Path, name: str, workers: int, made_by: str) -> None:
    """Run what is missing of one file of results, and write it."""
    file = out / f"{name}.parquet"
    if file.exists() and _is_finished(Result.load(file), plan):
        return
    directory = out / "trials" / f"{name}-{made_by}"
    plan.run(directory, workers, lambda label: shown_progress(f"{name}, {label}"))
    _with_provenance(Result.load(directory), directory, made_by).write(file)


def final_regret(result: Result) -> list[dict[str, Any]]:
    """Return final regret with its interval and the number of trials, best policy first."""
    keys = {"policy": "policy", "final regret": "regret", "95% from": "95% from", "to": "to", "trials": "trials"}
    return [{key: row[source] for key, source in keys.items()} for row in result.at([result.horizon])]


def _is_finished(there: Result, plan: Plan) -> bool:
    """Return whether a result has all trials of a plan, made by this code."""
    found = {policy: len(curves) for policy, curves in there.regret.items()}
    wanted = dict.fromkeys(plan.policies, plan.trials)
    return there.about is not None and is_current(there.about["provenance"]) and found == wanted


def _with_provenance(result: Result, directory: Path, made_by: str) -> Result:
    """Add the digest of the code, and the runs of tuning: what ran, where, and for how long."""
    runs: list[Any] = []
    for tuning in sorted((directory / "tuning").glob("*")):
        about = Result.load(tuning).about
        assert about is not None
        runs += about["provenance"]["runs"]
    assert result.about is not None
    provenance = {**result.about["provenance"], "code": made_by, "runs of tuning": runs}
    return replace(result, about={**result.about, "provenance": provenance})
