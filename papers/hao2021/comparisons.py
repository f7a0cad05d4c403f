"""Comparisons by which the paper's claims are judged: numbers with their intervals and verdicts, computed from results.

Each function returns the rows of one table of README.md.

The statement that a number is below a limit holds if its whole 95% interval is below the limit, fails if the whole
interval is above it, and is open if the limit is inside.
"""

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

import sparsebandits as sb
from papers.hao2021 import algorithm1, claim1, figure1, figure2, figure3, tuning
from papers.hao2021.runs import files_of, load
from sparsebandits import Result
from sparsebandits.arguments import FloatArray
from sparsebandits.experiments import duration
from sparsebandits.results import estimate_mean, paired, statistic_interval

HOLDS, FAILS, OPEN = "holds", "FAILS", "open"
NEAR = 0.2
"""Largest mean error of posterior means that counts as near; least squares on the true pattern has about 0.1."""

MOSTLY = 0.9
"""Share of data sets in which the pattern has to be found."""

NEAR_LINEAR = 0.9
"""Smallest growth exponent that counts as near linear; square-root regret has 0.5."""

EARLY = 100
"""The round of figure 3 that stands for "early" (in a short run, a tenth of it); the last round stands for "late"."""

LOWER, GROWS, FALLS, MORE, LESS, LINEAR = "is lower", "grows", "falls", "more pulls", "less regret", "near linear"
"""Columns with verdicts."""

OPPOSITE = {HOLDS: FAILS, FAILS: HOLDS, OPEN: OPEN}
EXACT = (figure3.SPARSE_IDS, figure3.SPARSE_TS)
IGNORE_SPARSITY = ("linear IDS", "LinTS", "LinUCB, tuned")
ON_PAPERS_SAMPLER = (algorithm1.IDS, algorithm1.TS)
CORES = 2
"""The processes among which times are divided."""

BEYOND = (figure3.COST_TO_GO, figure3.DEFAULT)
"""Policies of figure 3 that are not in the paper."""


Rows: TypeAlias = list[dict[str, Any]]


class Estimate(sb.results.Estimate):
    """A number with the ends of its 95% interval, as the README prints it."""

    def __str__(self) -> str:
        digits = 0 if abs(self.value) >= 100 else 1 if abs(self.value) >= 10 else 2
        while digits < 4 and any(number != 0 and float(f"{number:.{digits}f}") == 0 for number in self[1:]):
            digits += 1  # so that the reader sees on which side of zero an end is
        value, low, high = (f"{round(number, digits) + 0.0:.{digits}f}".replace("-", "−") for number in self)
        return f"{value} ({low} to {high})"

    def below(self, limit: float) -> str:
        """Return the verdict on the statement that this is below the limit."""
        return HOLDS if self.high < limit else FAILS if self.low > limit else OPEN


def mean_of(values: FloatArray) -> Estimate:
    """Return the mean over trials."""
    return Estimate(*estimate_mean(values))


def difference(one: FloatArray, other: FloatArray) -> Estimate:
    """Return the mean of the first minus the second, paired by trial."""
    mine, base = paired(one, other)
    return mean_of(mine - base)


def all_of(verdicts: Sequence[str]) -> str:
    """Return the verdict on several statements together."""
    return FAILS if FAILS in verdicts else OPEN if OPEN in verdicts else HOLDS


def posteriors_are_near(results: Path) -> Rows:
    """Figure 1: posterior means are near the truth, and the pattern is found."""
    rows = []
    for row in figure1.table(results / figure1.FILE):
        estimate = Estimate(row["mean"], row["95% from"], row["to"])
        if row["what"] == figure1.PATTERN:
            verdict = Estimate(*(-number for number in (estimate.value, estimate.high, estimate.low))).below(-MOSTLY)
            required = f"above {MOSTLY:g}"
        else:
            verdict, required = estimate.below(NEAR), f"below {NEAR:g}"
        about = {"posterior": row["posterior"], "quantity": row["what"], "mean": estimate}
        rows.append({**about, "data sets": row["data sets"], "required": required, "verdict": verdict})
    return rows


def lowest_regret(results: Path) -> Rows:
    """Figure 3: sparse IDS has the lowest regret of the paper's policies, all on exact posteriors."""
    return _compared(results, figure3.SPARSE_IDS, (*ON_PAPERS_SAMPLER, *BEYOND))


def on_papers_sampler(results: Path) -> Rows:
    """Figure 3: the same for sparse IDS on the paper's sampler, against sparse TS on it and against all others."""
    return _compared(results, algorithm1.IDS, BEYOND)


def _compared(results: Path, mine: str, without: Sequence[str]) -> Rows:
    """Return a row for each other policy, those with the least regret first, on the trials that both have played."""
    rows = []
    for d, result in figure3_results(results).items():
        if mine not in result.regret:
            continue
        own = result.final(mine)
        others = [name for name in result.regret if name not in (mine, *without)]
        for name in sorted(others, key=lambda other: -ratio(own, result.final(other)).value):
            one, other = paired(own, result.final(name))
            less = difference(one, other)
            rows.append(
                {
                    "d": d,
                    "policy": name,
                    "its regret": mean_of(other),
                    "its median": _median(other),
                    mine: mean_of(one),
                    "median": _median(one),
                    "difference": less,
                    "ratio": ratio(one, other),
                    "wins": _wins(one, other),
                    LOWER: less.below(0.0),
                }
            )
    return rows


def constants_of_algorithm_1(_: Path) -> Rows:
    """Return where the search for constants ended, and the regret of each step from there minus the regret there.

    The committed games of the search are read, not the results of experiments.
    """
    rows = []
    for d, searched in tuning.SEARCHED.items():
        chosen, beside = asdict(algorithm1.TUNED[d]), tuning.neighbours(d)
        for name, grid in tuning.GRIDS.items():
            row = {"experiment": searched.name, "d": d, "constant": name, "chosen": chosen[name]}
            for side, before in (("lower", True), ("higher", False)):
                steps = [one for one in beside if one.name == name]
                found = [one for one in steps if (grid.index(one.value) < grid.index(chosen[name])) is before]
                row[f"with the next {side} value"] = _step(found[0]) if found else ""
            rows.append(row)
    return rows


def _step(one: tuning.Neighbour) -> str:
    """Return the mean difference in regret, with its interval unless the value was dropped after a few trials."""
    if len(one.more) == tuning.TRIALS:
        return f"{one.value}: {mean_of(one.more)}"
    return f"{one.value}: {one.more.mean():.0f}, dropped"


def beyond_the_paper(results: Path) -> Rows:
    """Figure 3: policies of this package that are not in the paper, against the paper's rule and the best rival."""
    rows = []
    for d, result in figure3_results(results).items():
        rivals = [name for name in result.regret if name not in (figure3.SPARSE_IDS, *ON_PAPERS_SAMPLER, *BEYOND)]
        best = min(rivals, key=lambda name: float(result.final(name).mean()))
        for name in (name for name in BEYOND if name in result.regret):
            regret = result.final(name)
            rows.append(
                {
                    "d": d,
                    "policy": name,
                    "its regret": mean_of(regret),
                    "its median": _median(regret),
                    "ratio to sparse IDS": ratio(regret, result.final(figure3.SPARSE_IDS)),
                    "ratio to the best rival": ratio(regret, result.final(best)),
                    "wins": _wins(regret, result.final(best)),
                    "the best rival": best,
                }
            )
    return rows


def _wins(one: FloatArray, other: FloatArray) -> str:
    """Return in how many trials the first has less regret."""
    return f"{int((one < other).sum())} of {len(one)}"


def _median(regret: FloatArray) -> str:
    return f"{round(float(np.median(regret))):d}" if np.median(regret) >= 100 else f"{np.median(regret):.3g}"


def advantage_grows(results: Path) -> Rows:
    """Figure 3: the advantage of sparse IDS grows with d, as a difference and as a ratio."""
    every = figure3_results(results)
    small, large = every[min(every)], every[max(every)]
    rows = []
    for mine, without in ((figure3.SPARSE_IDS, ON_PAPERS_SAMPLER), (algorithm1.IDS, EXACT)):
        if mine not in small.regret or mine not in large.regret:
            continue
        for name in [one for one in large.regret if one not in (mine, *without, *BEYOND)]:
            regrets = [part.final(policy) for part in (large, small) for policy in (mine, name)]
            columns = np.stack([regret[: min(map(len, regrets))] for regret in regrets], axis=1)
            growth = mean_of((columns[:, 0] - columns[:, 1]) - (columns[:, 2] - columns[:, 3]))
            ratios = Estimate(float(_change_of_ratio(columns)), *statistic_interval(columns, _change_of_ratio))
            rows.append(
                {
                    "policy": mine,
                    "against": name,
                    "trials": len(columns),
                    f"change of difference, d = {min(every)} to {max(every)}": growth,
                    GROWS: growth.below(0.0),
                    "change of ratio": ratios,
                    FALLS: ratios.below(0.0),
                }
            )
    return rows


def early_and_late(results: Path) -> Rows:
    """Figure 3: ESTC beats the policies that ignore sparsity early, and loses to them late."""
    rows = []
    for d, result in figure3_results(results).items():
        early = EARLY if result.horizon > EARLY else max(result.horizon // 10, 1)
        for name, at in itertools.product(figure3.ESTC, (early, result.horizon)):
            differences = {
                f"minus {other}": difference(result.regret_at(name, at), result.regret_at(other, at))
                for other in IGNORE_SPARSITY
            }
            verdicts = [one.below(0.0) for one in differences.values()]
            if at != early:  # late, the claim is that it has more regret
                verdicts = [OPPOSITE[verdict] for verdict in verdicts]
            about = {"d": d, "policy": name, "round": at, **differences}
            rows.append({**about, "claimed": "less" if at == early else "more", "verdict": all_of(verdicts)})
    return rows


def invests_in_information(results: Path) -> Rows:
    """Figure 2: sparse IDS pulls informative actions more often than sparse TS, and has less regret."""
    rows = []
    pairs = (
        (figure2.IDS, figure2.TS),
        (figure2.RANDOMISED, figure2.TS),
        (figure2.IDS + figure2.SYMMETRIC, figure2.TS + figure2.SYMMETRIC),
        ON_PAPERS_SAMPLER,
    )
    every = {epsilon: load(results, figure2.name_of(epsilon)) for epsilon in figure2.EPSILONS}
    for (ids, ts), (epsilon, result) in itertools.product(pairs, every.items()):
        if ids not in result.regret:
            continue
        pulls = figure2.informative_pulls(result, epsilon)
        rows.append(
            {
                "policy": ids,
                "ε": f"{epsilon:g}",
                "trials": len(pulls[ids]),
                "its pulls": mean_of(pulls[ids]),
                "pulls of TS": mean_of(pulls[ts]),
                MORE: difference(pulls[ts], pulls[ids]).below(0.0),
                "its regret": mean_of(result.final(ids)),
                "regret of TS": mean_of(result.final(ts)),
                "medians": f"{_median(result.final(ids))} and {_median(result.final(ts))}",
                "wins": _wins(result.final(ids), result.final(ts)),
                LESS: difference(result.final(ids), result.final(ts)).below(0.0),
            }
        )
    return rows


def optimism_is_linear(results: Path) -> Rows:
    """Claim 1 of the paper: the regret of optimism is nearly linear where data are poor, that of IDS is not."""
    result = load(results, claim1.NAME)
    pulls = result.pulls_of(claim1.environment().informative)
    rows = []
    for row in result.growth():
        policy, fitted = row["policy"], Estimate(row["exponent"], row["95% from"], row["to"])
        rows.append(
            {
                "policy": policy,
                "regret": mean_of(result.final(policy)),
                "median": _median(result.final(policy)),
                "exponent": fitted,
                "still growing": f"{row['still growing']} of {row['trials']}",
                "informative pulls": mean_of(pulls[policy]),
                LINEAR: {HOLDS: "no", FAILS: "yes", OPEN: OPEN}[fitted.below(NEAR_LINEAR)],
            }
        )
    return rows


def times(results: Path) -> Rows:
    """Return how long each experiment takes, and the settings that were tuned.

    The time of its decisions is summed over all games, so that it does not matter how often a run was interrupted.
    """
    provenance = json.loads((results / figure1.FILE).read_text())["provenance"]
    first = provenance["seconds"] * provenance["workers"] / CORES
    totals, rows = [first, 0.0], [_time("figure1", (first, 0.0), "")]
    names = [*map(figure2.name_of, figure2.EPSILONS), *map(figure3.name_of, figure3.DIMENSIONS), claim1.NAME]
    for name in names:
        seconds, tuned = [0.0, 0.0], ""
        for part, file in enumerate(files_of(results, [name])):
            result = Result.load(file) if file.exists() else None
            if result is None or result.about is None:
                continue
            provenance = result.about["provenance"]
            games = result.horizon * sum(float(each.sum()) for each in result.seconds.values())
            seconds[part] = games / CORES + sum(run["seconds"] or 0.0 for run in provenance["runs of tuning"])
            tuned += ", ".join(_tuned(who, one) for who, one in provenance["notes"]["tuned"].items())
        totals = [total + more for total, more in zip(totals, seconds, strict=True)]
        rows.append(_time(name, seconds, tuned))
    return [*rows, _time("all", totals, "")]


def _time(name: str, seconds: Sequence[float], tuned: str) -> dict[str, Any]:
    exact, own = (duration(part) if part else "" for part in seconds)  # figure 1 times its samplers together
    times = {"time on two cores, with tuning": exact, "on the paper's sampler": own}
    return {"experiment": name, **times, "tuned": tuned}


def _tuned(who: str, choice: Mapping[str, Any]) -> str:
    edge = ", at the edge" if choice["at_edge"] else ""
    return f"{who.removesuffix(', tuned')}: {choice['setting']} {choice['best']}{edge}"


def ratio(one: FloatArray, other: FloatArray) -> Estimate:
    """Return the mean regret of the first divided by that of the second, paired by trial."""
    columns = np.stack(paired(one, other), axis=1)
    return Estimate(float(_ratio(columns)), *statistic_interval(columns, _ratio))


def figure3_results(results: Path) -> dict[int, Result]:
    """Return the results of figure 3 by dimension."""
    return {d: load(results, figure3.name_of(d)) for d in figure3.DIMENSIONS}


def _ratio(columns: FloatArray) -> FloatArray:
    means = columns.mean(axis=-2)
    return np.asarray(means[..., 0] / means[..., 1])


def _change_of_ratio(columns: FloatArray) -> FloatArray:
    return _ratio(columns[..., :2]) - _ratio(columns[..., 2:])
