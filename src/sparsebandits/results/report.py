"""What a report says: tables, figures, configuration and provenance of a result, and how to read them.

:mod:`sparsebandits.results.html` makes the page, one file without a script or a reference to anything outside it.
"""

import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from sparsebandits.arguments import ArgumentTypeError, shown
from sparsebandits.files import write_atomically
from sparsebandits.results import html, plots
from sparsebandits.results.html import figure, nested, text
from sparsebandits.results.statistics import Estimate, estimate_mean, paired
from sparsebandits.tables import Table, formatted

Reported: TypeAlias = Any
"""A :class:`sparsebandits.Result`, which calls this module and so cannot be imported by it."""

HOW_TO_READ = """<h2>How to read this</h2>
<ul>
<li><strong>Regret</strong> is the expected reward of the best action minus that of the played actions, summed over
rounds; less is better. Noise does not enter.</li>
<li><strong>Bands and intervals</strong> are 95% bootstrap intervals over trials for the mean (bias-corrected and
accelerated, 2000 resamples). Bands hold at each round separately, not for the whole curve. A single trial has none;
with fewer than about 20 trials they are too narrow.</li>
<li><strong>Differences</strong> are paired: in each trial all policies meet the same instance and the same noise.
So two policies may differ clearly although their own intervals overlap; judge by the interval of the
difference.</li>
<li><strong>Wins</strong> are trials with less regret than the baseline. The p-value is that of the exact two-sided
sign test, without ties. It is not adjusted for the number of policies that are compared. A policy that loses rarely
but heavily may have many wins and still the larger mean.</li>
<li><strong>Ratio</strong> is the mean regret of a policy divided by that of the baseline.</li>
</ul>"""

SHARES = (0.1, 0.5, 1.0)
"""Shares of the run after which regret is shown if no rounds are given."""


def write_report(
    result: Reported,
    path: str | os.PathLike[str],
    title: str = "Policies compared",
    baseline: str | None = None,
    rounds: Sequence[int] | None = None,
    groups: Mapping[str, object] | None = None,
) -> None:
    """Write the report of ``result``; :meth:`Result.report` describes the arguments."""
    content = page(result, title, baseline, rounds, groups)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, content.encode("utf-8", "replace"))


def page(
    result: Reported,
    title: str = "Policies compared",
    baseline: str | None = None,
    rounds: Sequence[int] | None = None,
    groups: Mapping[str, object] | None = None,
) -> str:
    """Return the report as HTML."""
    if groups is not None and not isinstance(groups, Mapping):
        raise ArgumentTypeError("groups", "groups of actions by name", shown(groups))
    baseline = next(iter(result.regret)) if baseline is None else baseline
    sections = [
        _overview(result),
        *([_differences(result, baseline)] if len(result.regret) > 1 else []),
        _horizons(result, default_rounds(result) if rounds is None else rounds),
        _growth(result),
        *(_pulls(result, name, actions) for name, actions in (groups or {}).items()),
        *_recorded(result),
        _about(result),
        HOW_TO_READ,
    ]
    return html.page(title, sections)


def default_rounds(result: Reported) -> list[int]:
    """Return recorded rounds near a tenth, a half and all of the run."""
    recorded = np.arange(1, result.horizon + 1) if result.rounds is None else result.rounds
    places = {int(np.abs(recorded - share * result.horizon).argmin()) for share in SHARES}
    return [int(recorded[place]) for place in sorted(places)]


def summary(result: Reported) -> str:
    """Say in a few sentences what was compared and what came out, no more than the intervals allow."""
    counts = sorted({len(curves) for curves in result.regret.values()})
    trials = " to ".join(str(count) for count in dict.fromkeys((counts[0], counts[-1])))
    policies = "1 policy" if len(result.regret) == 1 else f"{len(result.regret)} policies"
    what = f"{policies}, {trials} trial{'' if counts[-1] == 1 else 's'} of {result.horizon} rounds."
    ranked = sorted(result.regret, key=lambda name: float(result.final(name).mean()))
    best = estimate_mean(result.final(ranked[0]))
    if len(ranked) == 1:
        kind = "Regret" if np.isnan(best.low) else "Mean regret"
        return f"{what} {kind} at the end: {_said(best)}."
    lead = f"{ranked[0]} has the smallest mean regret at the end: {_said(best)}."
    if counts[0] < 2:
        return f"{what} {lead} One trial does not show how much of this is chance."
    mine, other = paired(result.final(ranked[0]), result.final(ranked[1]))
    difference = estimate_mean(mine - other)
    verdict = (
        "the interval excludes zero"
        if difference.high < 0
        else "the interval contains zero, so the two are not significantly different"
    )
    return f"{what} {lead} Its paired difference to the next best, {ranked[1]}, is {_said(difference)}; {verdict}."


def _said(estimate: Estimate) -> str:
    """Return an estimate in words, without an interval if there is none."""
    if np.isnan(estimate.low):
        return formatted(estimate.value)
    return f"{formatted(estimate.value)} (95% interval {formatted(estimate.low)} to {formatted(estimate.high)})"


def _overview(result: Reported) -> str:
    drawn = figure(
        partial(plots.regret_curves, result.regret, rounds=result.rounds),
        "Mean cumulative regret over rounds, one line per policy; the final numbers are in the table below.",
    )
    lead = f'<p class="lead">{text(summary(result))}</p>'
    return f"{lead}\n<h2>Regret over rounds</h2>\n{drawn}\n{html.table(result.table().printed)}"


def _differences(result: Reported, baseline: str) -> str:
    tests = {row["policy"]: row for row in result.wins(baseline)}
    compared, counted = ("difference", "95% from", "to", "ratio"), ("wins", "losses", "ties", "sign test p")
    rows = [
        (row["policy"], *(row[key] for key in compared), *(tests[row["policy"]][key] for key in counted))
        for row in result.compare(baseline)
    ]
    drawn = figure(
        partial(plots.difference_curves, result.regret, baseline, rounds=result.rounds),
        f"Paired difference of cumulative regret to {baseline} over rounds, one line per policy.",
    )
    return f"<h2>Differences to {text(baseline)}</h2>\n{drawn}\n" + html.table(
        Table((f"against {baseline}", *compared, *counted), rows), "At the last round, paired by trial"
    )


def _horizons(result: Reported, rounds: Sequence[int]) -> str:
    rows = result.at(rounds)
    at = sorted({row["round"] for row in rows})
    drawn = figure(
        partial(plots.horizon_bars, {t: {n: result.regret_at(n, t) for n in result.regret} for t in at}),
        "Bars of mean cumulative regret at chosen rounds; the numbers are in the table below.",
    )
    return f"<h2>Regret at chosen rounds</h2>\n{drawn}\n{html.table(rows.printed)}"


def _growth(result: Reported) -> str:
    return (
        "<h2>How fast regret grows</h2>\n"
        "<p>The exponent of mean regret over the second half of the run: 1 is linear, 0.5 is a square root, and near 0 "
        "regret has almost stopped growing. “Still growing” counts the trials whose regret grows in the last fifth of "
        "the run by at least half of what it grew by in the first fifth. An exponent between 0 and 1 together with "
        "many such trials is a mixture of trials that are stuck and trials that have stopped growing, not a power of "
        "the round.</p>\n" + html.table(result.growth().printed)
    )


def _pulls(result: Reported, group: str, actions: object) -> str:
    counts = result.pulls_of(actions)
    drawn = figure(
        partial(plots.pull_histograms, counts, x_label=f"pulls of {group} in a trial"),
        f"Histograms over trials of how often {group} were played, one panel per policy.",
    )
    return f"<h2>Pulls: {text(group)}</h2>\n{drawn}\n{html.table(result.pull_table(actions).printed)}"


def _recorded(result: Reported) -> list[str]:
    """Return a figure for each recorded diagnostic: its mean over rounds, for the policies that have it.

    Rounds in which some decision did not have it are left out.
    """
    names = list(dict.fromkeys(name for values in result.recorded.values() for name in values))
    rounds = np.arange(1, result.horizon + 1) if result.rounds is None else result.rounds
    sections = []
    for name in names:
        values = {policy: found[name] for policy, found in result.recorded.items() if name in found}
        known = np.all([np.isfinite(found).all(axis=0) for found in values.values()], axis=0)
        if known.any():
            kept = {policy: found[:, known] for policy, found in values.items()}
            drawn = figure(
                partial(plots.regret_curves, kept, rounds=rounds[known], y_label=name),
                f"Mean of {name} over rounds, one line per policy.",
            )
            sections.append(f"<h3>{text(name)}</h3>\n{drawn}")
    return ["\n".join(("<h2>Recorded diagnostics of decisions</h2>", *sections))] if sections else []


def _about(result: Reported) -> str:
    if not result.about:
        return "<h2>Configuration and provenance</h2>\n<p>This result has none.</p>"
    parts = []
    for name, value in result.about.items():
        parts.append(f'<h3>{text(name)}</h3>\n<div class="wide">{nested(value)}</div>')
    return "<h2>Configuration and provenance</h2>\n" + "\n".join(parts)
