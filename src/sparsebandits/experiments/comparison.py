"""What may be concluded from paired trials: means with intervals, differences with intervals, wins.

Intervals are bootstrap intervals over trials (bias-corrected and accelerated; Efron 1987), with a fixed seed.
Differences are paired, trial by trial, because every policy met the same instances and noise.
"""

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import stats

from sparsebandits.checks import FloatArray
from sparsebandits.experiments import plots
from sparsebandits.tables import Table

RESAMPLES = 9999


def mean_interval(values: FloatArray, confidence: float = 0.95) -> tuple[float, float]:
    """Return an interval for the mean of independent ``values``; without at least two, no interval (NaN)."""
    if len(values) < 2:
        return float("nan"), float("nan")
    if np.ptp(values) == 0:
        return float(values[0]), float(values[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        interval = stats.bootstrap(
            (values,),
            np.mean,
            n_resamples=RESAMPLES,
            confidence_level=confidence,
            vectorized=True,
            rng=np.random.default_rng(0),
        ).confidence_interval
    return float(interval.low), float(interval.high)


@dataclass(frozen=True)
class Result:
    """Cumulative regret ``(trials, horizon)`` and seconds a decision ``(trials,)`` of each policy."""

    regret: Mapping[str, FloatArray]
    seconds: Mapping[str, FloatArray]

    def final(self, name: str) -> FloatArray:
        """Return the regret at the horizon, one number a trial."""
        if name not in self.regret:
            raise ValueError(f"name: expected one of {', '.join(self.regret)}, got {name!r}")
        return self.regret[name][:, -1]

    def table(self) -> Table:
        """Return final regret with its 95% interval and seconds a decision, best policy first."""
        rows = []
        for name in sorted(self.regret, key=lambda name: float(self.final(name).mean())):
            low, high = mean_interval(self.final(name))
            rows.append((name, float(self.final(name).mean()), low, high, float(self.seconds[name].mean())))
        return Table(("policy", "final regret", "95% from", "to", "seconds a decision"), rows)

    def compare(self, baseline: str) -> Table:
        """Return each policy's final regret minus the baseline's, paired, with its 95% interval and wins."""
        base = self.final(baseline)
        rows = []
        for name in self.regret:
            if name == baseline:
                continue
            difference = self.final(name) - base
            low, high = mean_interval(difference)
            wins = int(np.count_nonzero(difference < 0))
            ratio = float(self.final(name).mean() / base.mean()) if base.mean() > 0 else float("nan")
            rows.append((name, float(difference.mean()), low, high, ratio, f"{wins} of {len(base)}"))
        rows.sort(key=lambda row: float(row[1]))
        return Table((f"against {baseline}", "difference", "95% from", "to", "ratio", "wins"), rows)

    def plot(self, path: str | os.PathLike[str], title: str = "") -> None:
        """Draw mean cumulative regret with 95% bands into a PNG, SVG or PDF file."""
        plots.regret_curves(self.regret, path, title)
