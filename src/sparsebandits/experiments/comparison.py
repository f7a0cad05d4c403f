"""What may be concluded from paired trials: means with intervals, differences with intervals, wins.

Intervals are bootstrap intervals over trials (``intervals.py``). Differences are paired, trial by trial, because every
policy met the same instances and noise.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sparsebandits.checks import FloatArray
from sparsebandits.experiments import plots
from sparsebandits.experiments.intervals import mean_interval
from sparsebandits.tables import Table


@dataclass(frozen=True)
class Result:
    """Cumulative regret ``(trials, horizon)`` and seconds a decision ``(trials,)`` of each policy.

    Printed, it is its :meth:`table`.
    """

    regret: Mapping[str, FloatArray]
    seconds: Mapping[str, FloatArray]

    def __repr__(self) -> str:
        trials, horizon = next(iter(self.regret.values())).shape
        return f"Result({', '.join(self.regret)}; {trials} trials of {horizon} rounds)"

    def __str__(self) -> str:
        return str(self.table())

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
