"""What squares, products and splines cost, and what they bring: ``python -m benchmarks.effects``.

Tables of 60 to 200 rows with 6 to 10 columns, of which two are binary and the others uniform. The mean reward of a row
depends on three of the numeric columns: linearly; with two squares; with two products; or by a wave, a step and a line.
It has standard deviation 1 over the rows, and the noise 0.5. Five rows are measured first, at random; then SparseIDS
with 2,000 particles chooses one row at a time, which it may choose again. After 20, 40 and 80 measurements the row with
the largest expected reward is what a user would take: its regret is how far it is below the best row. The effects
"auto" are those with the largest evidence at each measurement, "linear" before the tenth.

Seconds are those of one ``decide`` with so many measurements: all of them learnt from, and one choice.

Games are kept as lines of JSON in ``benchmarks/results/effects.jsonl``, so a run that was stopped continues where it
was. The number of trials and the seed were fixed before any game was played; the factors of the hierarchy were chosen
on other tables.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))  # before NumPy

import argparse
from collections.abc import Iterable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np
from numpy.random import Generator

import sparsebandits as sb
from benchmarks import games
from sparsebandits.advice.comparison import FEWEST_REWARDS
from sparsebandits.advice.expansion import EFFECTS, expand
from sparsebandits.arguments import FloatArray
from sparsebandits.results.statistics import mean_interval

STORED = Path(__file__).parent / "results" / "effects.jsonl"
PAGE = Path(__file__).parent.parent / "docs" / "decide.md"
COMMAND = "python -m benchmarks.effects"
SEED, TRIALS = 20261207, 30
KEYS = ("truth", "effects", "trial")
TRUTHS = {
    "linear": "three linear effects",
    "squares": "and two squares",
    "products": "and two products",
    "curves": "a wave, a step and a line",
}
PLAYERS = (*EFFECTS, "auto")
MARKS, FIRST, PARTICLES, NOISE = (20, 40, 80), 5, 2000, 0.5

Lines: TypeAlias = Iterable[Mapping[str, Any]]


def table(truth: str, rng: Generator) -> tuple[FloatArray, FloatArray]:
    """Return the features of a table, and the mean reward of each row."""
    rows, columns = int(rng.integers(60, 201)), int(rng.integers(6, 11))
    numbers, binary = rng.uniform(0.0, 1.0, (rows, columns - 2)), rng.integers(0, 2, (rows, 2)).astype(float)
    some = numbers[:, rng.permutation(columns - 2)[:3]]
    z, signs = (some - 0.5) * np.sqrt(12.0), rng.choice([-1.0, 1.0], 5)
    sizes = rng.uniform([0.5, 0.5, 0.5, 0.7, 0.7], 1.5) * signs
    means = z @ sizes[:3]
    if truth == "squares":
        means = means + (z[:, :2] ** 2 - 1.0) @ sizes[3:]
    elif truth == "products":
        means = means + (z[:, :2] * z[:, 1:]) @ sizes[3:]
    elif truth == "curves":
        wave = np.sin(2.0 * np.pi * (rng.uniform(0.5, 1.0) * some[:, 0] + rng.uniform()))
        step = 1.0 / (1.0 + np.exp(-12.0 * (some[:, 1] - rng.uniform(0.3, 0.7))))
        means = 1.5 * wave + 2.0 * signs[3] * step + 0.5 * signs[4] * z[:, 2]
    return np.column_stack([numbers, binary]), (means - means.mean()) / means.std()


def play(truth: str, effects: str, trial: int, marks: tuple[int, ...] = MARKS, particles: int = PARTICLES) -> Any:
    """Play one game; ``marks`` and ``particles`` are for tests."""
    rng = np.random.default_rng([SEED, list(TRUTHS).index(truth), trial])
    base, means = table(truth, rng)
    noise, order = rng.normal(0.0, NOISE, max(marks)), rng.permutation(len(base))[:FIRST]
    names = [f"column {j}" for j in range(base.shape[1])]
    hows = EFFECTS if effects == "auto" else (effects,)
    expansions = {how: expand(base, names, how=how) for how in hows}
    policies = {
        how: sb.SparseIDS(one.features, one.prior(), n_draws=particles, seed=trial) for how, one in expansions.items()
    }
    spent, regret, seconds, chosen = 0.0, [], [], []
    for count in range(1, max(marks) + 1):
        best, begin = _best(policies, count - 1), perf_counter()
        row = int(order[count - 1]) if count <= FIRST else policies[best].ask().action
        asked = perf_counter() - begin
        for how, policy in policies.items():
            begin = perf_counter()
            policy.posterior.absorb(expansions[how].features[[row]], means[[row]] + noise[count - 1])
            spent += perf_counter() - begin
        if count in marks:
            best = _best(policies, count)
            regret.append(round(float(means.max() - means[policies[best].predict().mean.argmax()]), 4))
            seconds.append(round(spent + asked, 3))
            chosen.append(best)
    return {"truth": truth, "effects": effects, "trial": trial, "regret": regret, "seconds": seconds, "chosen": chosen}


def _best(policies: Mapping[str, sb.Policy], count: int) -> str:
    """Return the effects with the largest evidence after so many measurements."""
    if count < FEWEST_REWARDS:
        return next(iter(policies))
    evidence = {how: policy.posterior.log_evidence for how, policy in policies.items()}
    return max(evidence, key=lambda how: -np.inf if np.isnan(evidence[how]) else evidence[how])


def page(lines: Lines) -> str:
    """Return the tables: regret, seconds, and what the evidence chose."""
    kept = {(line["truth"], line["effects"], line["trial"]): line for line in lines}
    trials = next(
        t for t in range(TRIALS + 1) if t == TRIALS or any((a, b, t) not in kept for a in TRUTHS for b in PLAYERS)
    )
    if trials < 2:
        return "Not played yet."
    parts = [
        f"Regret in standard deviations of the mean rewards, {trials} tables of each kind, with 95% intervals:",
        "",
    ]
    parts += [f"| truth | measurements | {' | '.join(PLAYERS)} |", f"|---|---|{'---|' * len(PLAYERS)}"]
    for truth, words in TRUTHS.items():
        for place, mark in enumerate(MARKS):
            cells = [_regret([kept[truth, one, t]["regret"][place] for t in range(trials)]) for one in PLAYERS]
            parts.append(f"| {words} | {mark} | {' | '.join(cells)} |")
    every = [*TRUTHS]
    parts += ["", "Median seconds of one `decide` with 2,000 particles, on two busy cores:", ""]
    parts += [f"| measurements | {' | '.join(PLAYERS)} |", f"|---|{'---|' * len(PLAYERS)}"]
    for place, mark in enumerate(MARKS):
        spent = [[kept[a, one, t]["seconds"][place] for a in every for t in range(trials)] for one in PLAYERS]
        parts.append(f"| {mark} | {' | '.join(f'{np.median(one):.2f}' for one in spent)} |")
    parts += ["", "How often `auto` has taken which effects:", ""]
    parts += [f"| truth | measurements | {' | '.join(EFFECTS)} |", f"|---|---|{'---|' * len(EFFECTS)}"]
    for truth, words in TRUTHS.items():
        for place, mark in enumerate(MARKS):
            taken = [kept[truth, "auto", t]["chosen"][place] for t in range(trials)]
            parts.append(f"| {words} | {mark} | {' | '.join(str(taken.count(how)) for how in EFFECTS)} |")
    return "\n".join(parts)


def _regret(values: list[float]) -> str:
    low, high = mean_interval(np.array(values))
    return f"{np.mean(values):.2f} ({max(low, 0.0):.2f} to {high:.2f})"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog=COMMAND)
    parser.add_argument("--trials", type=int, default=TRIALS, help=f"at most so many of each kind, up to {TRIALS}")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--report", action="store_true", help="play nothing")
    told = parser.parse_args()
    if not told.report:
        jobs = [(a, b, t) for t in range(min(told.trials, TRIALS)) for a in TRUTHS for b in PLAYERS]
        games.played(STORED, play, jobs, KEYS, told.workers)
    text = page(games.stored(STORED))
    print(text)
    games.write_tables(PAGE, COMMAND, text)
