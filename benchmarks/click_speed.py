"""What a decision about clicks costs, against one with Gaussian rewards: ``python -m benchmarks.click_speed``.

SparseIDS with Bernoulli and with Gaussian rewards, each in worlds of its own kind with 40 features and 200 actions, the
default prior, and the default number of draws or 10,000. For each seed all of them play, one after the other. Processor
time in ``ask`` and ``tell`` counts; ratios are taken within a seed. The cost of a decision is averaged over the first
quarter of a run, which has 500 rounds; its growth is that between stretches of 100 rounds.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))  # before NumPy

import sys
from collections.abc import Sequence
from statistics import median
from typing import Any

import numpy as np

import sparsebandits as sb
from benchmarks.rounds import rounds
from benchmarks.section import Figures, around, run, short, target, targets_table
from sparsebandits.tables import Cell, Table

ROUNDS, SEEDS = 2000, 3
WARM_UP = 60
"""Rounds that compile."""

GAUSSIAN = "Gaussian"
FAMILIES: dict[str, Any] = {
    GAUSSIAN: sb.environments.GaussianActions(40, 4),
    "clicks, 10%": sb.environments.LogisticActions(40, 4, base_rate=0.1),
    "clicks, 3%": sb.environments.LogisticActions(40, 4, base_rate=0.03),
}
DRAWS = {"default": None, "10,000": 10_000}
CASES = [("fixed", draws) for draws in DRAWS] + [("changing", "default")]
"""Whether actions change, and the number of draws."""

WANTED = 5.0
"""Times a Gaussian decision that one about clicks may cost, on fixed actions."""

LEVEL, LINEAR = 1.1, 2.0
"""What counts as no growth (as in ``scaling.py``), and what linear growth is over twice as many rounds."""


def told(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def milliseconds(family: str, actions: str, draws: str, count: int, seed: int) -> list[float]:
    """Return the processor time of each round."""
    environment = FAMILIES[family]
    world = (sb.environments.ChangingActions(environment) if actions == "changing" else environment).sample(seed)
    rewards = None if family == GAUSSIAN else sb.Bernoulli()
    policy = sb.SparseIDS(world.actions, n_draws=DRAWS[draws], seed=seed, rewards=rewards)
    return [1000 * (one.ask + one.tell) for one in rounds(policy, world, count, seed)]


def stretches(count: int) -> list[tuple[int, int]]:
    """Return the stretches that are compared: twentieths of a run that end after 1/20, 1/4, 1/2 and all of it.

    >>> stretches(2000)
    [(0, 100), (400, 500), (900, 1000), (1900, 2000)]
    """
    return [(end - count // 20, end) for end in (count // 20, count // 4, count // 2, count)]


def measure(quick: bool) -> Figures:
    count, seeds = (40, 1) if quick else (ROUNDS, SEEDS)
    for actions, draws in CASES:
        for family in FAMILIES:
            milliseconds(family, actions, draws, 5 if quick else WARM_UP, 0)
    runs: dict[tuple[str, str, str], Figures] = {}
    for seed in range(seeds):
        for actions, draws in CASES:
            for family in FAMILIES:
                ms = np.array(milliseconds(family, actions, draws, count, seed))
                told(f"seed {seed}, {actions} actions, {draws} draws, {family}: {ms.mean():.3g} ms per round")
                found = runs.setdefault(
                    (actions, draws, family),
                    {"actions": actions, "draws": draws, "family": family, "mean": [], "stretches": []},
                )
                found["mean"].append(float(ms[: count // 4].mean()))
                found["stretches"].append([float(ms[start:end].mean()) for start, end in stretches(count)])
    every = list(runs.values())
    return {"rounds": count, "seeds": seeds, "runs": every, "targets": goals(every)}


def goals(runs: Sequence[Figures]) -> list[Figures]:
    """Return the goals on the cost of a decision and on its growth."""
    gaussian = {(one["actions"], one["draws"]): one["mean"] for one in runs if one["family"] == GAUSSIAN}
    clicks = [one for one in runs if one["family"] != GAUSSIAN]
    reached = [
        target(
            f"{one['family']} / Gaussian, {one['draws']} draws",
            [mine / other for mine, other in zip(one["mean"], gaussian["fixed", one["draws"]], strict=True)],
            WANTED,
            at_most=True,
        )
        for one in clicks
        if one["actions"] == "fixed"
    ]
    for one in clicks:
        fixed = one["actions"] == "fixed"
        since = 0 if fixed else 2  # the first stretch, or the one in the middle of the run
        name = (
            f"{one['actions']}, {one['draws']} draws, {one['family']}: last / {'first' if fixed else 'middle'} stretch"
        )
        growth = [stretch[-1] / stretch[since] for stretch in one["stretches"]]
        reached.append(target(name, growth, LEVEL if fixed else LINEAR, at_most=True))
    return reached


def page(figures: Figures) -> str:
    """Return the text of this section."""
    count = figures["rounds"]
    rows: list[tuple[Cell, ...]] = [
        (
            one["actions"],
            one["draws"],
            one["family"],
            short(median(one["mean"])),
            *(short(median(column)) for column in zip(*one["stretches"], strict=True)),
        )
        for one in figures["runs"]
    ]
    spans = [f"{start + 1} to {end}" for start, end in stretches(count)]
    columns = ("actions", "draws", "rewards", f"1 to {count // 4}", *spans)
    head = f"SparseIDS on clicks, d = 40, K = 200; milliseconds per round, medians over {figures['seeds']} seeds"
    return "\n".join((head, around(figures), "", str(Table(columns, rows)), "", targets_table(figures["targets"])))


if __name__ == "__main__":
    run("click_speed", measure, page)
