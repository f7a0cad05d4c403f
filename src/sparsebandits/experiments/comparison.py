"""What may be concluded from paired trials: means with intervals, differences with intervals, wins.

Intervals are bootstrap intervals over trials (``intervals.py``). Differences are paired, trial by trial, because every
policy met the same instances and noise.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sparsebandits.checks import FloatArray, IntArray
from sparsebandits.experiments import plots
from sparsebandits.experiments.intervals import mean_interval
from sparsebandits.tables import Table


@dataclass(frozen=True)
class Result:
    """What policies did in ``trials`` trials each, at P recorded rounds; row i of every policy is of the same world.

    Attributes
    ----------
    regret : of each policy, cumulative, ``(trials, P)``; its last column is at the horizon
    seconds : a decision, of each policy, ``(trials,)``
    rounds : the recorded rounds ``(P,)``, counted from 1; None for all, and then P is the horizon
    pulls : how often each action was played, of each policy, ``(trials, K)``; None where actions have no rows that stay
    recorded : diagnostics of the decisions, of each policy by name, ``(trials, P)``
    about : configuration and provenance as plain data; None for what was never in a directory
    """

    regret: Mapping[str, FloatArray]
    seconds: Mapping[str, FloatArray]
    rounds: IntArray | None = None
    pulls: Mapping[str, IntArray] | None = None
    recorded: Mapping[str, Mapping[str, FloatArray]] = field(default_factory=dict)
    about: Mapping[str, Any] | None = None

    @classmethod
    def load(cls, directory: str | os.PathLike[str]) -> "Result":
        """Return what ``Experiment.run(directory)`` has written, also of a run that goes on or was interrupted.

        Of each policy those are the trials from the first up to the first that is missing, so policies may differ in
        their number of trials.
        """
        from sparsebandits.experiments.store import load

        return load(directory)

    def final(self, name: str) -> FloatArray:
        """Return the regret at the horizon, one number a trial."""
        if not isinstance(name, str) or name not in self.regret:
            raise ValueError(f"name: expected one of {', '.join(self.regret)}, got {name!r}")
        return self.regret[name][:, -1]

    def table(self) -> Table:
        """Return final regret with its 95% interval and seconds a decision, best policy first."""
        rows = []
        for name in sorted(self.regret, key=lambda name: float(self.final(name).mean())):
            low, high = mean_interval(self.final(name))
            rows.append(
                (name, float(self.final(name).mean()), float(low), float(high), float(self.seconds[name].mean()))
            )
        return Table(("policy", "final regret", "95% from", "to", "seconds a decision"), rows)

    def compare(self, baseline: str) -> Table:
        """Return each policy's final regret minus the baseline's, paired, with its 95% interval and wins."""
        if not isinstance(baseline, str) or baseline not in self.regret:
            raise ValueError(f"baseline: expected one of {', '.join(self.regret)}, got {baseline!r}")
        base = self.final(baseline)
        rows = []
        for name in self.regret:
            if name == baseline:
                continue
            difference = self.final(name) - base
            low, high = mean_interval(difference)
            wins = int(np.count_nonzero(difference < 0))
            ratio = float(self.final(name).mean() / base.mean()) if base.mean() > 0 else float("nan")
            rows.append((name, float(difference.mean()), float(low), float(high), ratio, f"{wins} of {len(base)}"))
        rows.sort(key=lambda row: float(row[1]))
        return Table((f"against {baseline}", "difference", "95% from", "to", "ratio", "wins"), rows)

    def plot(self, path: str | os.PathLike[str], title: str = "") -> None:
        """Draw mean cumulative regret with 95% bands into a PNG, SVG or PDF file."""
        plots.regret_curves(self.regret, path, title)
