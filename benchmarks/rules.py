"""Decision rules on one posterior, and dense rivals: regret, Bayes regret and locked trials.

``python -m benchmarks.rules [SETTING ...]`` plays the games of ``benchmarks/rule_games.py`` that are missing in
``benchmarks/results/rules.jsonl``, trial by trial, so that it may be stopped at any time, and writes the tables and the
figure of docs/rules.md. ``--report`` plays none. A trial is locked if the mean gap of its last fifty rounds is above
0.3.
"""

import argparse
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.stats

from benchmarks import games
from benchmarks.rule_games import GROUPS, RATIO, SETTINGS, play
from sparsebandits.arguments import FloatArray
from sparsebandits.results.plots import dress, house_style, looks, new_figure, write
from sparsebandits.results.statistics import mean_interval

STORED = Path(__file__).parent / "results" / "rules.jsonl"
PAGE = Path(__file__).parent.parent / "docs" / "rules.md"
FIGURE = PAGE.with_name("rules.png")
COMMAND = "python -m benchmarks.rules"
SUMMARY = f"{COMMAND}, in short"
LOCKED = 0.3
FEWEST = 10
"""Trials below which a table is left out."""
DENSE = ("LinUCB, width 2", "LinearIDS")

Games = Iterable[Mapping[str, Any]]
Found = dict[str, FloatArray]
"""Regret, Bayes regret and last gap of the trials of each player."""


class Estimate(NamedTuple):
    """A ratio of means over the same trials, and half its 95% interval."""

    value: float
    reach: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ({max(self.value - self.reach, 0.0):.2f} to {self.value + self.reach:.2f})"


def found_at(lines: Games, setting: str, mark: int) -> Found:
    """Return regret, Bayes regret and last gap of each player after some rounds, up to the first trial that misses."""
    one = SETTINGS[setting]
    by: dict[str, dict[int, Any]] = {
        name: {} for name, who in one.players.items() if who.horizon is None or who.horizon == mark
    }
    for line in lines:
        if line["setting"] == setting and line["player"] in by and line["trial"] < one.trials:
            by[line["player"]][line["trial"]] = line["at"][str(mark)]
    common = set.intersection(*(set(kept) for kept in by.values()))
    trials = range(next(t for t in range(one.trials + 1) if t not in common))  # up to the first that is missing
    return {name: np.array([kept[t] for t in trials], dtype=float).reshape(-1, 3) for name, kept in by.items()}


def all_found(lines: Games) -> dict[tuple[str, int], Found]:
    """Return what was found by setting and number of rounds, where there are enough trials."""
    kept = list(lines)
    every = {(name, mark): found_at(kept, name, mark) for name, one in SETTINGS.items() for mark in one.marks}
    return {key: found for key, found in every.items() if len(found[RATIO]) >= FEWEST}


def ours(mark: int) -> tuple[str, str]:
    """Return the names of SparseIDS, told the number of rounds and not told."""
    return f"SparseIDS, horizon={mark}", "SparseIDS"


def ratio(values: FloatArray, base: FloatArray) -> Estimate:
    """Return the ratio of two means over the same trials."""
    value, error = games.ratio(values, base)
    return Estimate(value, _quantile(len(values)) * error)


def _quantile(trials: int) -> float:
    return float(scipy.stats.t.ppf(0.975, trials - 1))


def mean_ratio(pairs: Iterable[tuple[FloatArray, FloatArray]]) -> Estimate:
    """Return the geometric mean of ratios, whose trials have their noise in common."""
    logs, parts = [], []
    for values, base in pairs:
        value = float(values.mean() / base.mean())
        logs.append(np.log(value))
        parts.append((values - value * base) / (value * base.mean()))
    fewest = min(len(part) for part in parts)
    together = np.mean([part[:fewest] for part in parts], axis=0)
    mean = float(np.exp(np.mean(logs)))
    return Estimate(mean, _quantile(fewest) * mean * float(together.std(ddof=1)) / np.sqrt(fewest))


def between(values: FloatArray, base: FloatArray) -> str:
    """Return a difference of means over the same trials, and its 95% interval."""
    low, high = mean_interval(values - base)
    return f"{(values - base).mean():+.1f} ({low:+.1f} to {high:+.1f})".replace("-", "−")


def table(found: Found, setting: str, mark: int) -> str:
    """Return the table of a setting at a number of rounds."""
    first = found[RATIO]
    rows = [
        f"| {SETTINGS[setting].title}, {mark} rounds ({len(first)} trials) "
        "| regret | ratio | difference | Bayes regret | ratio | locked |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, one in found.items():
        cells = [_mean(one[:, 0])]
        cells += ["", ""] if one is first else [str(ratio(one[:, 0], first[:, 0])), between(one[:, 0], first[:, 0])]
        judged = not np.isnan(one[:, 1]).any()
        cells += [_mean(one[:, 1]) if judged else "", str(ratio(one[:, 1], first[:, 1])) if judged else ""]
        cells[-1] = "" if one is first else cells[-1]
        rows.append(f"| {name} | {' | '.join(cells)} | {np.mean(one[:, 2] > LOCKED):.0%} |")
    return "\n".join(rows)


def _mean(values: FloatArray) -> str:
    low, high = mean_interval(values)
    return f"{values.mean():.1f} ({low:.1f} to {high:.1f})"


def tables(lines: Games) -> str:
    """Return the tables of all settings of which there are games."""
    return "\n\n".join(table(found, *key) for key, found in all_found(lines).items())


def summary(lines: Games) -> str:
    """Return how SparseIDS compares with the paper's rule, with dense policies, and in other worlds with the best."""
    every = all_found(lines)
    blocks = []
    for place, title in enumerate(("`SparseIDS(horizon=n)`", "`SparseIDS`, end unknown")):
        rows = [
            f"| {title} | trials | Bayes regret, ratio to the paper's rule | regret, ratio to the paper's rule "
            "| regret minus LinUCB's | regret minus LinearIDS's |",
            "|---|---|---|---|---|---|",
        ]
        for (setting, mark), found in every.items():
            if setting in GROUPS["others"]:
                continue
            one, first = found[ours(mark)[place]], found[RATIO]
            cells = [str(ratio(one[:, 1], first[:, 1])), str(ratio(one[:, 0], first[:, 0]))]
            cells += [between(one[:, 0], found[name][:, 0]) if name in found else "" for name in DENSE]
            rows.append(f"| {SETTINGS[setting].title}, {mark} rounds | {len(first)} | {' | '.join(cells)} |")
        unknown = [
            (found[ours(mark)[place]], found[RATIO]) for (s, mark), found in every.items() if s in GROUPS["unknown"]
        ]
        if unknown:
            means = [str(mean_ratio((one[:, i], first[:, i]) for one, first in unknown)) for i in (1, 0)]
            rows.append(f"| Unknown hyperparameters, geometric mean | | {' | '.join(means)} | | |")
        blocks.append("\n".join(rows))
    rows = [
        "| Other worlds: ratio to the least regret of the others | trials | who has it "
        "| `SparseIDS(horizon=500)` | `SparseIDS`, end unknown |",
        "|---|---|---|---|---|",
    ]
    for (setting, mark), found in every.items():
        if setting in GROUPS["others"]:
            others = {name: one[:, 0] for name, one in found.items() if name not in ours(mark)}
            name = min(others, key=lambda one: float(others[one].mean()))
            cells = [str(ratio(found[one][:, 0], others[name])) for one in ours(mark)]
            best = f"{name}, {others[name].mean():.1f}"
            rows.append(f"| {SETTINGS[setting].title} | {len(others[name])} | {best} | {' | '.join(cells)} |")
    return "\n\n".join([*blocks, "\n".join(rows)] if len(rows) > 2 else blocks)


DRAWN = ("horizon given", "horizon unknown", *DENSE)


def points(found: Found, mark: int, column: int) -> dict[str, Estimate]:
    """Return the ratios of one setting to the paper's rule, of regret (column 0) or Bayes regret (1)."""
    named = dict(zip(DRAWN, (*ours(mark), *DENSE), strict=True))
    known = {name: found[player][:, column] for name, player in named.items() if player in found}
    return {name: ratio(one, found[RATIO][:, column]) for name, one in known.items() if not np.isnan(one).any()}


@house_style()
def plot(lines: Games, path: Path) -> None:
    """Draw ratios to the paper's rule with their intervals, one line per setting."""
    every = all_found(lines)
    drawn = new_figure(7.2, 0.8 + 0.28 * len(every))
    panels = drawn.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    look = looks(DRAWN)
    for axes, column, title in zip(panels, (0, 1), ("regret", "Bayes regret"), strict=True):
        axes.axvline(1.0, color="0.6", linewidth=0.8)
        for y, ((_, mark), found) in enumerate(every.items()):
            for name, one in points(found, mark, column).items():
                axes.errorbar(
                    one.value,
                    y + 0.17 * (DRAWN.index(name) - 1.5),
                    xerr=one.reach,
                    color=look[name].colour,
                    marker=look[name].point,
                    markersize=3,
                    linewidth=1,
                    linestyle="",
                    label=name if y == 0 else None,
                )
        axes.set_xscale("log")
        axes.set_xlabel(f"{title}, to the paper's rule", fontsize=8)
        ticks = (0.5, 0.7, 1.0, 1.5, 2.0, 3.0) if column == 0 else (0.7, 0.8, 0.9, 1.0, 1.1, 1.2)
        ends = [
            one.value + sign * one.reach
            for (_, mark), found in every.items()
            for one in points(found, mark, column).values()
            for sign in (-1.0, 1.0)
        ]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.set_xlim(0.97 * min(ends), 1.03 * max(ends))
        axes.minorticks_off()
        dress(axes)
    labels = [f"{SETTINGS[s].title.split(' (')[0]}, n = {mark}" for s, mark in every]
    panels[0].set_yticks(range(len(every)), [label.replace(" hyperparameters", "") for label in labels], fontsize=7)
    panels[0].set_ylim(len(every) - 0.4, -0.6)
    drawn.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=4, frameon=False, fontsize=7)
    write(drawn, path)


def main() -> None:
    """Play what is missing, and write tables and figure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rules")
    choices = ", ".join((*GROUPS, *SETTINGS))
    parser.add_argument("settings", nargs="*", metavar="SETTING", help=f"some of {choices}")
    parser.add_argument("--trials", type=int, default=1000, help="at most so many of each setting")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--report", action="store_true", help="play nothing")
    told = parser.parse_args()
    chosen = [name for one in told.settings or list(SETTINGS) for name in GROUPS.get(one, [one])]
    jobs = [
        (name, player, trial)
        for trial in range(told.trials)
        for name in chosen
        for player in SETTINGS[name].players
        if trial < SETTINGS[name].trials
    ]
    lines = games.played(STORED, play, [] if told.report else jobs, ("setting", "player", "trial"), told.workers)
    games.write_tables(PAGE, COMMAND, tables(lines))
    games.write_tables(PAGE, SUMMARY, summary(lines))
    plot(lines, FIGURE)


if __name__ == "__main__":
    main()
