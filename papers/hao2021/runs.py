"""What the experiments of the paper share: how large they are, and how they are run and kept."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from papers.hao2021.current import code, is_current
from sparsebandits import Result
from sparsebandits.environments import Environment
from sparsebandits.experiments import Plan, PolicyMaker, Tuning, shown_progress
from sparsebandits.results import Rows

SEED = 2021
DRAWS = 10_000
"""Posterior draws of the sparse policies; the paper does not state them."""

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
    "full": Scale(200, 20, 1000, {10: 60, 20: 200, 40: 200, 100: 60, 200: 30}, points=112),
    "smoke": Scale(2, 2, 40, {10: 2, 20: 2, 40: 2, 100: 1, 200: 1}, points=40),
}


@dataclass(frozen=True)
class Report:
    """What an experiment found, and the files that it wrote."""

    table: Rows
    files: list[Path]


def run(
    environment: Environment,
    policies: Mapping[str, PolicyMaker | Tuning],
    scale: Scale,
    out: Path,
    name: str,
    workers: int,
    later: Mapping[str, tuple[PolicyMaker, int]] | None = None,
) -> Result:
    """Run the experiment ``name``, keep its trials below ``out/trials``, and write ``out/name.parquet``.

    What is there, is complete and was made by this code is not run again; trials of other code are not continued.

    Parameters
    ----------
    environment : Environment
        What instances are drawn from.
    policies : mapping of str to policy maker or Tuning
        The policies by name.
    scale : Scale
        How large the run is.
    out : Path
        Directory of the results.
    name : str
        Name of the experiment.
    workers : int
        Processes on this machine.
    later : mapping of str to (policy maker, int), default=None
        Policies with their own number of trials, at most that of the others; they are run last.
    """
    wanted = {
        **dict.fromkeys(policies, scale.trials),
        **{policy: trials for policy, (_, trials) in (later or {}).items()},
    }
    file = out / f"{name}.parquet"
    there = Result.load(file) if file.exists() else None
    if there is not None and _is_finished(there, wanted):
        return there
    directory = out / "trials" / f"{name}-{code()}"
    plan = Plan(environment, policies, scale.horizon, scale.trials, SEED, points=scale.points, title=name)
    plan.run(directory, workers, lambda label: shown_progress(f"{name}, {label}"))
    for policy, (make, trials) in (later or {}).items():
        part = replace(plan, policies={policy: make}, trials=trials)
        part.run(directory, workers, lambda label: shown_progress(f"{name}, {label}"))
    result = _with_provenance(Result.load(directory), directory)
    result.write(file)
    return result


def final_regret(result: Result) -> list[dict[str, Any]]:
    """Return final regret with its interval and the number of trials, best policy first."""
    keys = {"policy": "policy", "final regret": "regret", "95% from": "95% from", "to": "to", "trials": "trials"}
    return [{key: row[source] for key, source in keys.items()} for row in result.at([result.horizon])]


def _is_finished(there: Result, wanted: Mapping[str, int]) -> bool:
    """Return whether a result has the wanted trials, made by this code."""
    found = {policy: len(curves) for policy, curves in there.regret.items()}
    return there.about is not None and is_current(there.about["provenance"]) and found == wanted


def _with_provenance(result: Result, directory: Path) -> Result:
    """Add the code, and the runs of tuning: what ran, where, and for how long."""
    runs: list[Any] = []
    for tuning in sorted((directory / "tuning").glob("*")):
        about = Result.load(tuning).about
        assert about is not None
        runs += about["provenance"]["runs"]
    assert result.about is not None
    provenance = {**result.about["provenance"], "code": code(), "runs of tuning": runs}
    return replace(result, about={**result.about, "provenance": provenance})
