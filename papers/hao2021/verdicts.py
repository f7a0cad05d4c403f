"""Verdicts on the paper's claims: every number, interval and verdict of README.md, computed from results.

``python -m papers.hao2021.verdicts`` prints the tables from the committed results, and ``python -m papers.hao2021 all``
those from its own results. A test compares the former with the README.

The statement that a number is below a limit holds if its whole 95% interval is below the limit, fails if the whole
interval is above it, and is open if the limit is inside.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import sparsebandits as sb
from papers.hao2021 import claim1, figure1, figure2, figure3
from sparsebandits import Result
from sparsebandits.arguments import FloatArray
from sparsebandits.experiments import duration
from sparsebandits.results import estimate_mean, paired, statistic_interval

RESULTS = Path(__file__).parent / "results"
HOLDS, FAILS, OPEN = "holds", "FAILS", "open"
NEAR = 0.2
"""Largest mean error of posterior means that counts as near; least squares on the true pattern has about 0.1."""

MOSTLY = 0.9
"""Share of data sets in which the pattern has to be found."""

NEAR_LINEAR = 0.9
"""Smallest growth exponent that counts as near linear; square-root regret has 0.5."""

EARLY = 100
"""The round of figure 3 that stands for "early" (in a short run, a tenth of it); the last round stands for "late"."""

IGNORE_SPARSITY = ("linear IDS", "LinTS", "LinUCB, tuned")


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


def markdown(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def all_of(verdicts: Sequence[str]) -> str:
    """Return the verdict on several statements together."""
    return FAILS if FAILS in verdicts else OPEN if OPEN in verdicts else HOLDS


def posteriors_are_near(results: Path) -> str:
    """Figure 1: posterior means are near the truth, and the pattern is found."""
    rows = []
    for row in figure1.table(results / figure1.FILE):
        estimate = Estimate(row["mean"], row["95% from"], row["to"])
        if row["what"] == figure1.PATTERN:
            verdict = Estimate(*(-number for number in (estimate.value, estimate.high, estimate.low))).below(-MOSTLY)
            claimed = f"above {MOSTLY:g}"
        else:
            verdict, claimed = estimate.below(NEAR), f"below {NEAR:g}"
        rows.append((row["posterior"], row["what"], estimate, row["data sets"], claimed, verdict))
    return markdown(("posterior", "quantity", "mean", "data sets", "required", "verdict"), rows)


def lowest_regret(results: Path) -> str:
    """Figure 3: sparse IDS has the lowest regret; each policy is compared on the trials that both have played."""
    rows = []
    for d, result in figure3_results(results).items():
        mine = result.final(figure3.SPARSE_IDS)
        others = {name: result.final(name) for name in result.regret if name != figure3.SPARSE_IDS}
        for name, regret in sorted(others.items(), key=lambda other: -ratio(mine, other[1]).value):
            less = difference(mine, regret)
            shared = mine[: len(regret)]
            rows.append(
                (d, name, len(regret), mean_of(regret), mean_of(shared), less, ratio(mine, regret), less.below(0.0))
            )
    columns = ("d", "policy", "trials", "its regret", "sparse IDS", "difference", "ratio", "sparse IDS is lower")
    return markdown(columns, rows)


def advantage_grows(results: Path) -> str:
    """Figure 3: the advantage of sparse IDS grows with d, as a difference and as a ratio."""
    every = figure3_results(results)
    small, large = every[min(every)], every[max(every)]
    rows = []
    for name in (name for name in large.regret if name != figure3.SPARSE_IDS):
        regrets = [part.final(policy) for part in (large, small) for policy in (figure3.SPARSE_IDS, name)]
        columns = np.stack([regret[: min(map(len, regrets))] for regret in regrets], axis=1)
        growth = mean_of((columns[:, 0] - columns[:, 1]) - (columns[:, 2] - columns[:, 3]))
        ratios = Estimate(float(_change_of_ratio(columns)), *statistic_interval(columns, _change_of_ratio))
        rows.append((name, len(columns), growth, growth.below(0.0), ratios, ratios.below(0.0)))
    d = f"d = {min(every)} to {max(every)}"
    columns_shown = ("against", "trials", f"change of difference, {d}", "grows", f"change of ratio, {d}", "falls")
    return markdown(columns_shown, rows)


def early_and_late(results: Path) -> str:
    """Figure 3: ESTC beats the policies that ignore sparsity early, and loses to them late."""
    rows = []
    for d, result in figure3_results(results).items():
        for name in figure3.ESTC:
            early = EARLY if result.horizon > EARLY else max(result.horizon // 10, 1)
            for at in (early, result.horizon):
                differences = [
                    difference(result.regret_at(name, at), result.regret_at(other, at)) for other in IGNORE_SPARSITY
                ]
                verdicts = [one.below(0.0) for one in differences]
                if at != early:  # late, the claim is that it has more regret
                    verdicts = [{HOLDS: FAILS, FAILS: HOLDS, OPEN: OPEN}[verdict] for verdict in verdicts]
                claimed = "less" if at == early else "more"
                rows.append((d, name, at, *differences, claimed, all_of(verdicts)))
    columns = ("d", "policy", "round", *(f"minus {name}" for name in IGNORE_SPARSITY), "claimed", "verdict")
    return markdown(columns, rows)


def invests_in_information(results: Path) -> str:
    """Figure 2: sparse IDS pulls informative actions more often than sparse TS, and has less regret."""
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
    columns = ("policy", "ε", "its pulls", "pulls of TS", "more pulls", "its regret", "regret of TS", "less regret")
    return markdown(columns, rows)


def optimism_is_linear(results: Path) -> str:
    """Claim 1 of the paper: the regret of optimism is nearly linear where data are poor, that of IDS is not."""
    result = Result.load(results / "claim1.parquet")
    pulls = result.pulls_of(claim1.environment().informative)
    rows = []
    for row in result.growth():
        policy, fitted = row["policy"], Estimate(row["exponent"], row["95% from"], row["to"])
        growing = f"{row['still growing']} of {row['trials']}"
        linear = {HOLDS: "no", FAILS: "yes", OPEN: OPEN}[fitted.below(NEAR_LINEAR)]
        rows.append((policy, mean_of(result.final(policy)), fitted, growing, mean_of(pulls[policy]), linear))
    return markdown(("policy", "regret", "exponent", "still growing", "informative pulls", "near linear"), rows)


def times(results: Path) -> str:
    """Return how long each experiment took, and the tuned settings."""
    names = [*(f"figure2-e{e:g}" for e in figure2.EPSILONS), *(f"figure3-d{d}" for d in figure3.DIMENSIONS), "claim1"]
    rows, totals = [], [0.0, 0.0]
    for name in names:
        about = Result.load(results / f"{name}.parquet").about
        assert about is not None
        provenance = about["provenance"]
        most = max(run["trials"] for run in provenance["runs"])
        # The policy on the paper's sampler has fewer trials than the others, so its runs can be told from theirs.
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
    return markdown(("experiment", "time on two cores, with tuning", "Langevin, in addition", "tuned"), rows)


def _tuned(who: str, choice: Mapping[str, Any]) -> str:
    edge = ", at the edge" if choice["at_edge"] else ""
    return f"{who.removesuffix(', tuned')}: {choice['setting']} {choice['best']}{edge}"


def ratio(one: FloatArray, other: FloatArray) -> Estimate:
    """Return the mean regret of the first divided by that of the second, paired by trial."""
    columns = np.stack(paired(one, other), axis=1)
    return Estimate(float(_ratio(columns)), *statistic_interval(columns, _ratio))


def figure3_results(results: Path) -> dict[int, Result]:
    """Return the results of figure 3 by dimension."""
    return {d: Result.load(results / f"figure3-d{d}.parquet") for d in figure3.DIMENSIONS}


def _ratio(columns: FloatArray) -> FloatArray:
    means = columns.mean(axis=-2)
    return np.asarray(means[..., 0] / means[..., 1])


def _change_of_ratio(columns: FloatArray) -> FloatArray:
    return _ratio(columns[..., :2]) - _ratio(columns[..., 2:])


SECTIONS = {
    "figure 1": posteriors_are_near,
    "figure 3: the lowest regret": lowest_regret,
    "figure 3: the advantage over d": advantage_grows,
    "figure 3: ESTC": early_and_late,
    "figure 2": invests_in_information,
    "claim 1": optimism_is_linear,
    "times": times,
}


def verdicts(results: Path = RESULTS) -> dict[str, str]:
    """Return the table of each section, in Markdown."""
    return {name: section(results) for name, section in SECTIONS.items()}


if __name__ == "__main__":
    for name, text in verdicts(Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS).items():
        print(f"## {name}\n\n{text}\n")
