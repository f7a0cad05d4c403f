"""A report of an experiment in one HTML file: figures, tables, configuration, provenance, and how to read them.

The file holds all that it shows: figures are SVG inside it, there is no script, and a policy in its head forbids the
browser to fetch anything. Nothing in it depends on when it was written: the same result gives the same bytes.
"""

import base64
import io
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from sparsebandits.arguments import ArgumentTypeError, shown
from sparsebandits.files import write_atomically
from sparsebandits.results import plots
from sparsebandits.results.intervals import mean_interval
from sparsebandits.results.pairing import paired
from sparsebandits.results.result import Result
from sparsebandits.tables import Table, formatted

STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 56rem; padding: 1rem; background: #fff; color: #1a1a1a;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0.5rem 0; }
h2 { font-size: 1.25rem; margin: 2.2rem 0 0.6rem; border-bottom: 1px solid #bbb; padding-bottom: 0.2rem; }
h3 { font-size: 1.05rem; margin: 1.2rem 0 0.4rem; }
p, ul { max-width: 44rem; }
figure { margin: 1rem 0; }
figure img { display: block; max-width: 100%; height: auto; margin: 0 auto; }
.wide { overflow-x: auto; margin: 0.8rem 0; }
table { border-collapse: collapse; font-size: 0.92rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding: 0.2rem 0; color: #444; }
th, td { padding: 0.25rem 0.7rem; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top; }
thead th { border-bottom: 2px solid #888; }
.number { text-align: right; white-space: nowrap; }
td table { margin: 0; }
td table td, td table th { padding: 0.1rem 0.5rem; }
.lead { font-size: 1.08rem; }
@media (max-width: 34rem) {
  body { padding: 0.6rem; }
  th, td { padding: 0.2rem 0.4rem; }
}
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; }
  h2, h3 { break-after: avoid; }
  figure, tr { break-inside: avoid; }
  figure img { max-height: 16cm; }
  .wide { overflow-x: visible; }
  table { font-size: 8.5pt; }
}
"""

HOW_TO_READ = """<h2>How to read this</h2>
<ul>
<li><strong>Regret</strong> is what the best action would have earned in expectation, minus what the played actions
would have: summed over rounds, less is better. Noise does not enter.</li>
<li><strong>Bands and intervals</strong> are 95% bootstrap intervals over trials (bias-corrected and accelerated,
2000 resamples), for the mean; bands hold at each round by itself, not for the whole curve. A single trial has none.
With fewer than about 20 trials they are too narrow.</li>
<li><strong>Differences</strong> are paired: in each trial all policies meet the same instance and the same noise.
So two policies may differ clearly although their own intervals overlap; judge by the interval of the
difference.</li>
<li><strong>Wins</strong> count trials with less regret than the baseline. The p-value is that of the exact two-
sided sign test, ties left out. It is not adjusted for the number of policies that are compared. Many wins and a
larger mean go together where a policy loses seldom but heavily.</li>
<li><strong>Ratio</strong> is the mean regret of a policy over that of the baseline.</li>
</ul>"""

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
"""What the browser may load: nothing but what is in the file."""

SHARES = (0.1, 0.5, 1.0)
"""Parts of the run at whose end regret is shown, unless rounds are given."""


def write_report(
    result: Result,
    path: str | os.PathLike[str],
    title: str = "Policies compared",
    baseline: str | None = None,
    rounds: Sequence[int] | None = None,
    groups: Mapping[str, object] | None = None,
) -> None:
    """Write the report of ``result``; :meth:`Result.report` says what the arguments are."""
    page = html(result, title, baseline, rounds, groups)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, page.encode("utf-8", "replace"))


def html(
    result: Result,
    title: str = "Policies compared",
    baseline: str | None = None,
    rounds: Sequence[int] | None = None,
    groups: Mapping[str, object] | None = None,
) -> str:
    """Return the report as text."""
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
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{text(title)}</h1>\n"
        + "\n".join(sections)
        + "\n</main>\n</body>\n</html>\n"
    )


def text(value: object) -> str:
    """Return ``value`` as HTML text, also fit for an attribute; characters that HTML forbids become U+FFFD."""
    kept = "".join(c if c.isprintable() or c in "\n\t" or ord(c) > 0x9F else "\ufffd" for c in str(value))
    return escape(kept, quote=True)


def default_rounds(result: Result) -> list[int]:
    """Return recorded rounds near a tenth, a half and all of the run."""
    recorded = np.arange(1, result.horizon + 1) if result.rounds is None else result.rounds
    places = {int(np.abs(recorded - share * result.horizon).argmin()) for share in SHARES}
    return [int(recorded[place]) for place in sorted(places)]


def figure(draw: Callable[[io.BytesIO], None], alternative: str) -> str:
    """Return a figure as an image inside the page; ``draw`` is given the file to draw into."""
    content = io.BytesIO()
    draw(content)
    svg = content.getvalue()
    coded = base64.b64encode(svg[svg.index(b"<svg") :]).decode("ascii")
    return f'<figure><img alt="{text(alternative)}" src="data:image/svg+xml;base64,{coded}"></figure>'


def table(content: Table, caption: str = "") -> str:
    """Return a table; numbers stand to the right, and a wide one scrolls by itself."""
    numeric = [not all(isinstance(row[j], str) for row in content.rows) for j in range(len(content.columns))]
    numeric = [right or bool(j) for j, right in enumerate(numeric)]
    kind = [' class="number"' if right else "" for right in numeric]
    head = "".join(
        f'<th scope="col"{which}>{text(name)}</th>' for name, which in zip(content.columns, kind, strict=True)
    )
    rows = "\n".join(
        "<tr>"
        + "".join(
            f'<th scope="row">{text(formatted(cell))}</th>' if j == 0 else f"<td{kind[j]}>{text(formatted(cell))}</td>"
            for j, cell in enumerate(row)
        )
        + "</tr>"
        for row in content.rows
    )
    named = f"<caption>{text(caption)}</caption>\n" if caption else ""
    body = f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>"
    return f'<div class="wide">\n<table>\n{named}{body}\n</table>\n</div>'


def nested(value: Any) -> str:
    """Return plain data as HTML: mappings as tables, lists of like ones as one table, all else as text."""
    if isinstance(value, Mapping):
        if not value:
            return "none"
        rows = "".join(
            f'<tr><th scope="row">{text(key)}</th><td>{nested(item)}</td></tr>' for key, item in value.items()
        )
        return f"<table><tbody>{rows}</tbody></table>"
    if isinstance(value, list | tuple):
        if len(value) > 1 and _alike(value):
            return table(Table(tuple(value[0]), [tuple(item.values()) for item in value]))
        if any(isinstance(item, Mapping | list | tuple) for item in value):
            return "<ul>" + "".join(f"<li>{nested(item)}</li>" for item in value) + "</ul>"
        return ", ".join(nested(item) for item in value) or "none"
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return text(value)


def _alike(items: Sequence[Any]) -> bool:
    """Return whether all are mappings of the same names to numbers and words."""
    if not all(isinstance(item, Mapping) and list(item) == list(items[0]) for item in items):
        return False
    return all(isinstance(cell, str | int | float | None) for item in items for cell in item.values())


def summary(result: Result) -> str:
    """Say in a few sentences what was compared and what came out, no more than the intervals allow."""
    counts = sorted({len(curves) for curves in result.regret.values()})
    trials = " to ".join(str(count) for count in dict.fromkeys((counts[0], counts[-1])))
    who = "1 policy" if len(result.regret) == 1 else f"{len(result.regret)} policies"
    what = f"{who}, {trials} trial{'' if counts[-1] == 1 else 's'} of {result.horizon} rounds."
    standing = sorted(result.regret, key=lambda name: float(result.final(name).mean()))
    best = standing[0]
    low, high = mean_interval(result.final(best))
    interval = "" if np.isnan(low) else f" (95% interval {formatted(float(low))} to {formatted(float(high))})"
    lead = f"{best} has the smallest mean regret at the end: {formatted(float(result.final(best).mean()))}{interval}."
    if len(standing) == 1:
        kind = "Regret" if np.isnan(low) else "Mean regret"
        return f"{what} {kind} at the end: {formatted(float(result.final(best).mean()))}{interval}."
    if counts[0] < 2:
        return f"{what} {lead} With one trial nothing can be said about chance."
    mine, other = paired(result.final(best), result.final(standing[1]))
    low, high = mean_interval(mine - other)
    apart = (
        f"{formatted(float((mine - other).mean()))} (95% interval {formatted(float(low))} to {formatted(float(high))})"
    )
    verdict = (
        "the interval excludes zero" if high < 0 else "the interval contains zero: these trials do not tell them apart"
    )
    return f"{what} {lead} Its paired difference to the next, {standing[1]}, is {apart}; {verdict}."


def _overview(result: Result) -> str:
    drawn = figure(
        partial(plots.regret_curves, result.regret, rounds=result.rounds),
        "Mean cumulative regret over rounds, one line a policy; the numbers at the end are in the table below.",
    )
    return f'<p class="lead">{text(summary(result))}</p>\n<h2>Regret over rounds</h2>\n{drawn}\n{table(result.table())}'


def _differences(result: Result, baseline: str) -> str:
    compared, won = result.compare(baseline), result.wins(baseline)
    tests = {row[0]: row for row in won.rows}
    rows = [(*row[:-1], *tests[row[0]][1:]) for row in compared.rows]
    drawn = figure(
        partial(plots.difference_curves, result.regret, baseline, rounds=result.rounds),
        f"Paired difference of cumulative regret to {baseline} over rounds, one line a policy.",
    )
    return f"<h2>Differences to {text(baseline)}</h2>\n{drawn}\n" + table(
        Table((*compared.columns[:-1], *won.columns[1:]), rows), "At the last round, paired by trial"
    )


def _horizons(result: Result, rounds: Sequence[int]) -> str:
    content = result.at(rounds)
    at = sorted({int(str(row[1])) for row in content.rows})
    drawn = figure(
        partial(plots.horizon_bars, {t: {n: result.regret_at(n, t) for n in result.regret} for t in at}),
        "Bars of mean cumulative regret at chosen rounds; the numbers are in the table below.",
    )
    return f"<h2>Regret at chosen rounds</h2>\n{drawn}\n{table(content)}"


def _growth(result: Result) -> str:
    return (
        "<h2>How fast regret grows</h2>\n"
        "<p>The exponent of mean regret over the second half of the run: 1 is linear, 0.5 is a square root, near 0 has "
        "all but stopped. “Still growing” counts the trials whose regret grows in the last fifth of the run by at "
        "least half of what it grew by in the first fifth. An exponent between 0 and 1 beside many such trials is a "
        "mixture of trials that are stuck and trials that are done, not a power of the round.</p>\n"
        + table(result.growth())
    )


def _pulls(result: Result, group: str, actions: object) -> str:
    counts = result.pulls_of(actions)
    drawn = figure(
        partial(plots.pull_histograms, counts, x_label=f"pulls of {group} in a trial"),
        f"Histograms over trials of how often {group} were played, a panel a policy.",
    )
    return f"<h2>Pulls: {text(group)}</h2>\n{drawn}\n{table(result.pull_table(actions))}"


def _recorded(result: Result) -> list[str]:
    """Return a figure for each diagnostic that was recorded: its mean over rounds, for the policies that have it.

    Rounds at which some decision had none are left out.
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
                f"Mean of {name} over rounds, one line a policy.",
            )
            sections.append(f"<h3>{text(name)}</h3>\n{drawn}")
    return ["\n".join(("<h2>What the policies recorded</h2>", *sections))] if sections else []


def _about(result: Result) -> str:
    if not result.about:
        return "<h2>Configuration and provenance</h2>\n<p>This result carries none.</p>"
    parts = []
    for name, value in result.about.items():
        parts.append(f'<h3>{text(name)}</h3>\n<div class="wide">{nested(value)}</div>')
    return "<h2>Configuration and provenance</h2>\n" + "\n".join(parts)
