"""Verdicts on the paper's claims: every number, interval and verdict of README.md, computed from results.

``python -m papers.hao2021.verdicts`` prints the tables from the committed results, and ``python -m papers.hao2021 all``
those from its own results. ``python -m papers.hao2021.renew`` writes the former into the README, and a test compares.

The statement that a number is below a limit holds if its whole 95% interval is below the limit, fails if the whole
interval is above it, and is open if the limit is inside.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import sparsebandits as sb
from papers.hao2021 import algorithm1, claim1, figure1, figure2, figure3
from papers.hao2021.runs import files_of, load
from sparsebandits import Result
from sparsebandits.arguments import FloatArray
from sparsebandits.experiments import duration
from sparsebandits.results import estimate_mean, paired, statistic_interval

RESULTS = Path(__file__).parent / "results"
README = RESULTS.parent / "README.md"
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
ON_PAPERS_SAMPLER = (algorithm1.IDS, algorithm1.TS)
BEYOND = (figure3.COST_TO_GO, figure3.DEFAULT)
"""Policies of figure 3 that are not in the paper."""


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
    """Figure 3: sparse IDS has the lowest regret of the paper's policies, all on exact posteriors."""
    rows = []
    for d, result in figure3_results(results).items():
        others = [name for name in result.regret if name not in (figure3.SPARSE_IDS, *ON_PAPERS_SAMPLER, *BEYOND)]
        rows += _compared(d, result, figure3.SPARSE_IDS, others)
    return markdown(_comparison(figure3.SPARSE_IDS), rows)


def on_papers_sampler(results: Path) -> str:
    """Figure 3: the same for sparse IDS on the paper's sampler, against sparse TS on it and against all others."""
    rows = []
    for d, result in figure3_results(results).items():
        others = [name for name in result.regret if name not in (algorithm1.IDS, *BEYOND)]
        rows += _compared(d, result, algorithm1.IDS, others)
    return markdown(_comparison("it"), rows)


def beyond_the_paper(results: Path) -> str:
    """Figure 3: policies of this package that are not in the paper, against the paper's rule and the best rival."""
    rows = []
    for d, result in figure3_results(results).items():
        rivals = [name for name in result.regret if name not in (figure3.SPARSE_IDS, *ON_PAPERS_SAMPLER, *BEYOND)]
        best = min(rivals, key=lambda name: float(result.final(name).mean()))
        for name in (name for name in BEYOND if name in result.regret):
            regret = result.final(name)
            against = [ratio(regret, result.final(other)) for other in (figure3.SPARSE_IDS, best)]
            rows.append((d, name, mean_of(regret), _median(regret), *against, best))
    columns = (
        "d",
        "policy",
        "its regret",
        "median",
        "ratio to sparse IDS",
        "ratio to the best rival",
        "the best rival",
    )
    return markdown(columns, rows)


def _compared(d: int, result: Result, mine: str, others: Sequence[str]) -> list[Sequence[object]]:
    """Return a row for each of the others, those with the least regret first, on the trials that both have played."""
    if mine not in result.regret:
        return []
    own = result.final(mine)
    rows: list[Sequence[object]] = []
    for name in sorted(others, key=lambda other: -ratio(own, result.final(other)).value):
        one, other = paired(own, result.final(name))
        less = difference(one, other)
        wins = f"{int((one < other).sum())} of {len(one)}"
        numbers = (mean_of(other), _median(other), mean_of(one), _median(one), less, ratio(one, other))
        rows.append((d, name, *numbers, wins, less.below(0.0)))
    return rows


def _comparison(mine: str) -> tuple[str, ...]:
    """Return the columns of a comparison."""
    return ("d", "policy", "its regret", "median", mine, "median", "difference", "ratio", "wins", f"{mine} is lower")


def _median(regret: FloatArray) -> str:
    return f"{np.median(regret):.3g}"


def advantage_grows(results: Path) -> str:
    """Figure 3: the advantage of sparse IDS grows with d, as a difference and as a ratio."""
    every = figure3_results(results)
    small, large = every[min(every)], every[max(every)]
    exact = [name for name in large.regret if name not in (figure3.SPARSE_IDS, *ON_PAPERS_SAMPLER, *BEYOND)]
    pairs = [(figure3.SPARSE_IDS, name) for name in exact]
    pairs += [ON_PAPERS_SAMPLER] if set(ON_PAPERS_SAMPLER) <= set(large.regret) else []
    rows = []
    for mine, name in pairs:
        regrets = [part.final(policy) for part in (large, small) for policy in (mine, name)]
        columns = np.stack([regret[: min(map(len, regrets))] for regret in regrets], axis=1)
        growth = mean_of((columns[:, 0] - columns[:, 1]) - (columns[:, 2] - columns[:, 3]))
        ratios = Estimate(float(_change_of_ratio(columns)), *statistic_interval(columns, _change_of_ratio))
        rows.append((mine, name, len(columns), growth, growth.below(0.0), ratios, ratios.below(0.0)))
    d = f"d = {min(every)} to {max(every)}"
    change = (f"change of difference, {d}", "grows", f"change of ratio, {d}", "falls")
    return markdown(("policy", "against", "trials", *change), rows)


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
        ON_PAPERS_SAMPLER,
    )
    every = {epsilon: load(results, figure2.name_of(epsilon)) for epsilon in figure2.EPSILONS}
    for ids, ts in pairs:
        for epsilon, result in every.items():
            if ids not in result.regret:
                continue
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
    result = load(results, claim1.NAME)
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
    names = [*map(figure2.name_of, figure2.EPSILONS), *map(figure3.name_of, figure3.DIMENSIONS), claim1.NAME]
    totals = np.zeros(2)
    rows: list[Sequence[object]] = []
    for name in names:
        found = []
        for file in files_of(results, [name]):
            about = Result.load(file).about
            assert about is not None
            found.append(about["provenance"])
        seconds = [sum(run["seconds"] or 0.0 for run in one["runs"] + one["runs of tuning"]) for one in found]
        totals += seconds
        tuned = ", ".join(_tuned(who, one) for who, one in found[0]["notes"]["tuned"].items())
        rows.append((name, *map(duration, seconds), tuned))
    rows.append(("**all**", *(f"**{duration(total)}**" for total in totals.tolist()), ""))
    return markdown(("experiment", "time on two cores, with tuning", "on the paper's sampler", "tuned"), rows)


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


SECTIONS = {
    "figure 1": posteriors_are_near,
    "figure 3: the lowest regret": lowest_regret,
    "figure 3: on the paper's sampler": on_papers_sampler,
    "figure 3: beyond the paper": beyond_the_paper,
    "figure 3: the advantage over d": advantage_grows,
    "figure 3: ESTC": early_and_late,
    "figure 2": invests_in_information,
    "claim 1": optimism_is_linear,
    "times": times,
}


def verdicts(results: Path = RESULTS) -> dict[str, str]:
    """Return the table of each section, in Markdown."""
    return {name: section(results) for name, section in SECTIONS.items()}


def write_readme() -> None:
    """Write the tables of the committed results into the README, between marks that name their sections."""
    text = README.read_text(encoding="utf-8")
    for name, table in verdicts().items():
        begin, end = f"<!-- {name} -->", "<!-- end -->"
        before, rest = text.split(begin)
        text = f"{before}{begin}\n\n{table}\n\n{end}{rest.split(end, 1)[1]}"
    README.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for name, text in verdicts(Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS).items():
        print(f"## {name}\n\n{text}\n")
