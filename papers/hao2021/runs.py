"""What the experiments of the paper share: how large they are, and how they are run and kept."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from papers.hao2021.current import code, is_current
from sparsebandits import Result
from sparsebandits.environments import GaussianActions, HardInstance
from sparsebandits.experiments import Plan, PolicyMaker, Tuning, describe, shown_progress
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


@dataclass(frozen=True)
class Setup:
    """What an experiment compares: policies on exact posteriors with rivals, and policies on the paper's sampler.

    The policies on the paper's sampler have a file of their own, so that other constants or code of that sampler leave
    the results of all others as they are.

    Attributes
    ----------
    name : str
        Name of the experiment.
    environment : GaussianActions or HardInstance
        What instances are drawn from.
    policies : mapping of str to policy maker or Tuning
        The policies on exact posteriors, and the rivals, by name.
    on_papers_sampler : mapping of str to policy maker
        The policies on Algorithm 1, which have a number of trials of their own.
    scale : Scale
        How large the experiment is.
    """

    name: str
    environment: GaussianActions | HardInstance
    policies: Mapping[str, PolicyMaker | Tuning]
    on_papers_sampler: Mapping[str, PolicyMaker]
    scale: Scale

    def plans(self) -> dict[str, tuple[Plan, str]]:
        """Return the plan of each file of results by its name, with the digest of the code that it runs."""
        it, (exact, own) = self.scale, parts(self.name)
        plan = Plan(self.environment, self.policies, it.horizon, it.trials, SEED, points=it.points, title=self.name)
        trials = it.langevin_trials[self.environment.dimension]
        on_it = replace(plan, policies=self.on_papers_sampler, trials=trials)
        return {exact: (plan, code(papers_sampler=False)), own: (on_it, code(papers_sampler=True))}

    def run(self, out: Path, workers: int) -> Result:
        """Run the experiment, keep its trials below ``out/trials``, and write its files into ``out``.

        What is there, is complete, and was made by this code with these settings is not run again; trials of other code
        or settings are not continued.

        Parameters
        ----------
        out : Path
            Directory of the results.
        workers : int
            Processes on this machine.

        Returns
        -------
        Result
            All policies.
        """
        for part, (plan, made_by) in self.plans().items():  # digests are of the code before anything runs
            _run(plan, out, part, workers, made_by)
        return load(out, self.name)


def parts(name: str) -> tuple[str, str]:
    """Return the names of the results of an experiment: on exact posteriors, and on the paper's sampler."""
    return name, name + LANGEVIN


def files_of(out: Path, names: Iterable[str]) -> list[Path]:
    """Return the files of results of experiments."""
    return [out / f"{part}.parquet" for name in names for part in parts(name)]


def load(out: Path, name: str) -> Result:
    """Return the results of all policies that are there; configuration and provenance are those on exact posteriors."""
    first, second = files_of(out, [name])
    exact = Result.load(first)
    if not second.exists():
        return exact
    own = Result.load(second)
    pulls = None if exact.pulls is None or own.pulls is None else {**exact.pulls, **own.pulls}
    regret, seconds = {**exact.regret, **own.regret}, {**exact.seconds, **own.seconds}
    return replace(exact, regret=regret, seconds=seconds, pulls=pulls)


def _run(plan: Plan, out: Path, part: str, workers: int, made_by: str) -> None:
    """Run what is missing of one file of results, and write it."""
    file = out / f"{part}.parquet"
    if file.exists() and is_finished(Result.load(file), plan):
        return
    settings = json.dumps([_shared(plan), {name: _described(policy) for name, policy in plan.policies.items()}])
    directory = out / "trials" / f"{part}-{made_by}-{sha256(settings.encode()).hexdigest()[:8]}"
    plan.run(directory, workers, lambda label: shown_progress(f"{part}, {label}"))
    _with_provenance(Result.load(directory), directory, made_by).write(file)


def final_regret(result: Result) -> list[dict[str, Any]]:
    """Return final regret with its interval and the number of trials, best policy first."""
    keys = {"policy": "policy", "final regret": "regret", "95% from": "95% from", "to": "to", "trials": "trials"}
    return [{key: row[source] for key, source in keys.items()} for row in result.at([result.horizon])]


def is_finished(there: Result, plan: Plan) -> bool:
    """Return whether a result has all trials of a plan, with its settings, made by code that gives the same."""
    if there.about is None or not is_current(there.about["provenance"]):
        return False
    tuned, policies = there.about["provenance"]["notes"]["tuned"], {}
    for name, policy in plan.policies.items():
        policies[name] = described = _described(policy)
        if isinstance(policy, Tuning):
            record = tuned.get(name, {"candidates": ()})
            chosen = {"setting": policy.setting, "trials": policy.trials, "horizon": policy.horizon}
            tried = [one["candidate"] for one in record["candidates"]]
            if tried != list(described) or not chosen.items() <= record.items():
                return False
            policies[name] = described[record["best"]]
    trials = dict.fromkeys(policies, plan.trials)
    return bool(there.about["configuration"] == {**_shared(plan), "policies": policies, "trials": trials})


def _shared(plan: Plan) -> dict[str, Any]:
    """Return the settings that all policies of a plan share, as results keep them."""
    environment = describe("environment", plan.environment)
    settings = {"horizon": plan.horizon, "seed": plan.seed, "record": plan.record, "points": plan.points}
    return {"environment": environment, **settings}


def _described(policy: PolicyMaker | Tuning) -> dict[str, Any]:
    """Return the settings of a policy as results keep them; of one that is tuned, by candidate."""
    if isinstance(policy, Tuning):
        return {repr(one): describe(policy.setting, policy.make(one)) for one in policy.candidates}
    settings: dict[str, Any] = describe("policy", policy)
    return settings


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
