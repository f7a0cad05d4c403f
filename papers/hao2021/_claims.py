"""The paper's claims, checked against results: every number, interval and verdict of README.md.

``python -m papers.hao2021._claims`` prints the tables from the committed results, and ``sparsebandits reproduce all``
from its own; a test compares the former with the README.

A statement that a number is below a limit holds if its whole 95% interval is, fails if the interval is above it, and is
open if the limit is inside.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from papers.hao2021 import claim1, figure1, figure2, figure3
from sparsebandits.arguments import FloatArray
from sparsebandits.experiments.progress import duration
from sparsebandits.results.intervals import mean_interval, statistic_interval
from sparsebandits.results.pairing import paired
from sparsebandits.results.result import Result

RESULTS = Path(__file__).parent / "results"
HOLDS, FAILS, OPEN = "holds", "FAILS", "open"
NEAR = 0.2
"""How near posterior means have to be to the truth, on average; least squares that knows the pattern has about 0.1."""

MOSTLY = 0.9
"""The share of data sets in which the pattern has to be found."""

NEAR_LINEAR = 0.9
"""A growth exponent that counts as near linear; square-root regret has 0.5."""

EARLY = 100
"""The round that stands for "data-poor" in figure 3, or a tenth of a short run; its last round for "data-rich"."""

IGNORE_SPARSITY = ("linear IDS", "LinTS", "LinUCB, tuned")


class Estimate(NamedTuple):
    """A number with the ends of its 95% interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        digits = 0 if abs(self.value) >= 100 else 1 if abs(self.value) >= 10 else 2
        while digits < 4 and any(number != 0 and float(f"{number:.{digits}f}") == 0 for number in self[1:]):
            digits += 1  # so that it is seen on which side of zero an end is
        value, low, high = (f"{round(number, digits) + 0.0:.{digits}f}".replace("-", "−") for number in self)
        return f"{value} ({low} to {high})"

    def below(self, limit: float) -> str:
        """Return the verdict on the statement that this is below the limit."""
        return HOLDS if self.high < limit else FAILS if self.low > limit else OPEN


def mean_of(values: FloatArray) -> Estimate:
    """Return the mean over trials."""
    low, high = mean_interval(values)
    return Estimate(float(values.mean()), float(low), float(high))


def difference(one: FloatArray, other: FloatArray) -> Estimate:
    """Return how much less the first has, paired by trial."""
    mine, base = paired(one, other)
    return mean_of(mine - base)


def markdown(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table."""
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def all_of(verdicts: Sequence[str]) -> str:
    """Return the verdict on all of the statements together."""
    return FAILS if FAILS in verdicts else OPEN if OPEN in verdicts else HOLDS


def posteriors_are_near(results: Path) -> str:
    """Claim 1: figure 1's posterior means are near the truth, and the pattern is found."""
    rows = []
    for posterior, what, *numbers, count in figure1.table(results / figure1.FILE).rows:
        estimate = Estimate(*(float(number) for number in numbers))  # type: ignore[arg-type]
        if what == figure1.PATTERN:
            verdict = Estimate(*(-number for number in (estimate.value, estimate.high, estimate.low))).below(-MOSTLY)
            claimed = f"above {MOSTLY:g}"
        else:
            verdict, claimed = estimate.below(NEAR), f"below {NEAR:g}"
        rows.append((posterior, what, estimate, count, claimed, verdict))
    return markdown(("posterior", "what", "found", "data sets", "asked", "verdict"), rows)


def lowest_regret(results: Path) -> str:
    """Claim 2: sparse IDS has the lowest regret of all, each compared on the trials that both have played."""
    rows = []
    for d, result in figure3_results(results).items():
        mine = result.final(figure3.SPARSE_IDS)
        others = {name: result.final(name) for name in result.regret if name != figure3.SPARSE_IDS}
        for name, regret in sorted(others.items(), key=lambda other: -share(mine, other[1]).value):
            less = difference(mine, regret)
            shared = mine[: len(regret)]
            rows.append(
                (d, name, len(regret), mean_of(regret), mean_of(shared), less, share(mine, regret), less.below(0.0))
            )
    columns = ("d", "policy", "trials", "its regret", "sparse IDS", "difference", "share", "sparse IDS is lower")
    return markdown(columns, rows)


def advantage_grows(results: Path) -> str:
    """Claim 2: the advantage of sparse IDS grows with d, as a difference and as a share."""
    every = figure3_results(results)
    small, large = every[min(every)], every[max(every)]
    rows = []
    for name in (name for name in large.regret if name != figure3.SPARSE_IDS):
        regrets = [part.final(policy) for part in (large, small) for policy in (figure3.SPARSE_IDS, name)]
        columns = np.stack([regret[: min(map(len, regrets))] for regret in regrets], axis=1)
        growth = mean_of((columns[:, 0] - columns[:, 1]) - (columns[:, 2] - columns[:, 3]))
        shares = Estimate(float(_change_of_share(columns)), *statistic_interval(columns, _change_of_share))
        rows.append((name, len(columns), growth, growth.below(0.0), shares, shares.below(0.0)))
    d = f"d = {min(every)} to {max(every)}"
    return markdown(("against", "trials", f"difference, {d}", "grows", f"share, {d}", "falls"), rows)


def early_and_late(results: Path) -> str:
    """Claim 3: ESTC beats the policies that ignore sparsity early, and loses late."""
    rows = []
    for d, result in figure3_results(results).items():
        for name in figure3.ESTC:
            early = EARLY if result.horizon > EARLY else max(result.horizon // 10, 1)
            for at in (early, result.horizon):
                differences = [
                    difference(result.regret_at(name, at), result.regret_at(other, at)) for other in IGNORE_SPARSITY
                ]
                verdicts = [one.below(0.0) for one in differences]
                if at != early:  # late, it is to lose
                    verdicts = [{HOLDS: FAILS, FAILS: HOLDS, OPEN: OPEN}[verdict] for verdict in verdicts]
                claimed = "less" if at == early else "more"
                rows.append((d, name, at, *differences, claimed, all_of(verdicts)))
    columns = ("d", "policy", "round", *(f"minus {name}" for name in IGNORE_SPARSITY), "claimed", "verdict")
    return markdown(columns, rows)


def invests_in_information(results: Path) -> str:
    """Claim 4: on figure 2's instance sparse IDS pulls informative actions more often than TS, and has less regret."""
    rows = []
    pairs = (
        (figure2.IDS, figure2.TS),
        (figure2.RANDOMISED, figure2.TS),
        (figure2.IDS + figure2.SYMMETRIC, figure2.TS + figure2.SYMMETRIC),
    )
    every = {epsilon: Result.load(results / f"{figure2.name_of(epsilon)}.parquet") for epsilon in figure2.EPSILONS}
    for ids, ts in pairs:
        for epsilon, result in every.items():
            pulls = figure2.informative_pulls(result, epsilon)
            more, less = difference(pulls[ts], pulls[ids]), difference(result.final(ids), result.final(ts))
            rows.append(
                (
                    ids,
                    f"{epsilon:g}",
                    mean_of(pulls[ids]),
                    mean_of(pulls[ts]),
                    more.below(0.0),
                    mean_of(result.final(ids)),
                    mean_of(result.final(ts)),
                    less.below(0.0),
                )
            )
    columns = ("IDS", "ε", "its pulls", "pulls of TS", "more", "its regret", "regret of TS", "less")
    return markdown(columns, rows)


def optimism_is_linear(results: Path) -> str:
    """Claim 5, the paper's Claim 1: optimism grows nearly linearly where data are poor, IDS does not."""
    result = Result.load(results / "claim1.parquet")
    pulls = result.pulls_of(claim1.environment().informative)
    rows = []
    for name, *exponent, growing in result.growth().rows:
        policy, fitted = str(name), Estimate(*(float(number) for number in exponent))  # type: ignore[arg-type]
        linear = {HOLDS: "no", FAILS: "yes", OPEN: OPEN}[fitted.below(NEAR_LINEAR)]
        rows.append((policy, mean_of(result.final(policy)), fitted, growing, mean_of(pulls[policy]), linear))
    return markdown(("policy", "regret", "exponent", "still growing", "informative pulls", "near linear"), rows)


def times(results: Path) -> str:
    """Return how long each experiment took, and what was tuned."""
    names = [*(f"figure2-e{e:g}" for e in figure2.EPSILONS), *(f"figure3-d{d}" for d in figure3.DIMENSIONS), "claim1"]
    rows, totals = [], [0.0, 0.0]
    for name in names:
        about = Result.load(results / f"{name}.parquet").about
        assert about is not None
        provenance = about["provenance"]
        most = max(run["trials"] for run in provenance["runs"])
        # Policies with fewer trials than the others are run apart: those are the paper's sampler.
        parts = [
            sum(run["seconds"] or 0.0 for run in runs)
            for runs in (
                [run for run in provenance["runs"] if run["trials"] == most] + provenance["runs of tuning"],
                [run for run in provenance["runs"] if run["trials"] < most],
            )
        ]
        totals = [total + part for total, part in zip(totals, parts, strict=True)]
        tuned = ", ".join(_tuned(who, one) for who, one in provenance["notes"]["tuned"].items())
        rows.append((name, duration(parts[0]), duration(parts[1]) if parts[1] else "", tuned))
    rows.append(("**all**", f"**{duration(totals[0])}**", f"**{duration(totals[1])}**", ""))
    return markdown(("experiment", "time on two cores, tuning included", "and of Langevin", "tuned"), rows)


def _tuned(who: str, choice: Mapping[str, Any]) -> str:
    edge = ", at the edge" if choice["at_edge"] else ""
    return f"{who.removesuffix(', tuned')}: {choice['setting']} {choice['best']}{edge}"


def share(one: FloatArray, other: FloatArray) -> Estimate:
    """Return the regret of the first as a share of the other's."""
    columns = np.stack(paired(one, other), axis=1)
    return Estimate(float(_share(columns)), *statistic_interval(columns, _share))


def figure3_results(results: Path) -> dict[int, Result]:
    """Return the results of figure 3 by dimension."""
    return {d: Result.load(results / f"figure3-d{d}.parquet") for d in figure3.DIMENSIONS}


def _share(columns: FloatArray) -> FloatArray:
    means = columns.mean(axis=-2)
    return np.asarray(means[..., 0] / means[..., 1])


def _change_of_share(columns: FloatArray) -> FloatArray:
    return _share(columns[..., :2]) - _share(columns[..., 2:])


SECTIONS = {
    "figure 1": posteriors_are_near,
    "figure 3: the lowest regret": lowest_regret,
    "figure 3: the advantage over d": advantage_grows,
    "figure 3: ESTC": early_and_late,
    "figure 2": invests_in_information,
    "claim 1": optimism_is_linear,
    "times": times,
}


def claims(results: Path = RESULTS) -> dict[str, str]:
    """Return each section's table, in Markdown."""
    return {name: section(results) for name, section in SECTIONS.items()}


if __name__ == "__main__":
    for name, text in claims(Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS).items():
        print(f"## {name}\n\n{text}\n")
