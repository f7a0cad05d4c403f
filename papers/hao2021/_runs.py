"""What the experiments of the paper share: how large they are, and how they are run and kept."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sparsebandits.environments import Environment
from sparsebandits.experiments.plan import Plan, Tuning
from sparsebandits.experiments.progress import shown_progress
from sparsebandits.experiments.simulate import PolicyMaker
from sparsebandits.results.result import Result
from sparsebandits.tables import Table

SEED = 2021
NOISE_VARIANCE = 2.0
"""Of the paper's experiments."""


@dataclass(frozen=True)
class Scale:
    """How large a reproduction is."""

    trials: int
    tuning_trials: int
    horizon: int
    langevin_trials: Mapping[int, int]  # of figure 3, by dimension
    points: int  # of a curve that are kept

    def thinned(self, times: int) -> "Scale":
        """Return the scale with so many times fewer points a curve."""
        return replace(self, points=-(-self.points // times))


SCALES = {
    "full": Scale(200, 20, 1000, {20: 100, 40: 100, 100: 30}, points=112),  # every ninth round, 100 and 1000 among them
    "smoke": Scale(2, 2, 40, {20: 2, 40: 2, 100: 1}, points=40),
}


@dataclass(frozen=True)
class Report:
    """What an experiment found, and the files that it wrote."""

    table: Table
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
    """Run the experiment ``name`` below ``out``, trial by trial, and write it into one file beside.

    ``later`` are policies with a number of trials of their own, which is at most the others', and come last.
    """
    directory = out / "trials" / name
    plan = Plan(environment, policies, scale.horizon, scale.trials, SEED, points=scale.points, title=name)
    plan.run(directory, workers, lambda label: shown_progress(f"{name}, {label}"))
    for policy, (make, trials) in (later or {}).items():
        part = replace(plan, policies={policy: make}, trials=trials)
        part.run(directory, workers, lambda label: shown_progress(f"{name}, {label}"))
    result = _with_tuning(Result.load(directory), directory)
    result.write(out / f"{name}.parquet")
    return result


def _with_tuning(result: Result, directory: Path) -> Result:
    """Add to the provenance what tuning ran, where, and for how long."""
    runs: list[Any] = []
    for tuning in sorted((directory / "tuning").glob("*")):
        about = Result.load(tuning).about
        assert about is not None
        runs += about["provenance"]["runs"]
    assert result.about is not None
    provenance = {**result.about["provenance"], "runs of tuning": runs}
    return replace(result, about={**result.about, "provenance": provenance})
