"""Decisions per second, against other packages: ``python -m benchmarks.decisions``.

Linear bandits with K = 200 and K = 2000 fixed actions of d = 100 features; each competitor decides and is told the
reward, one decision at a time, on one thread. Only the time inside ``ask`` and ``tell`` counts. In each repeat all
competitors run once, in turns, every other repeat in reverse, and ratios are taken within a repeat, so that a machine
that is busy for a while slows both sides. What the decisions are worth is in ``regret.py``.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))  # before NumPy

import gc
import sys
from collections.abc import Sequence
from statistics import median

import sparsebandits as sb
from benchmarks.competitors import (
    LARGE_IDS,
    LARGE_SPARSE_IDS,
    LIBRARIES,
    LIBRARY,
    LIN_TS,
    LIN_UCB,
    LINEAR_IDS,
    OURS,
    SPARSE_IDS,
    listed,
    play,
    reason,
)
from benchmarks.peers import IDS_SAMPLES, PEERS, Entry, Problem
from benchmarks.section import Figures, around, run, target, targets_table
from sparsebandits.tables import Table

INSTANCE_SEED, NOISE_SEED = 0, 1
DIMENSION, SPARSITY = 100, 10
ROUNDS = {200: 500, 2000: 120}
"""Rounds of a run, by the number of actions."""

REPEATS = 5
SHORTER = 10
"""Slow competitors play so many times fewer rounds; the warm-up is so many times shorter than a run."""


def measure(quick: bool) -> Figures:
    """Return the rates of all competitors, and what ours should reach, on both problems."""
    rounds, repeats = ({200: 10, 2000: 4}, 1) if quick else (ROUNDS, REPEATS)
    problems = []
    for actions, length in rounds.items():
        competitors = rates((*OURS, *PEERS), actions, length, repeats)
        problems.append(
            {"actions": actions, "rounds": length, "competitors": competitors, "targets": targets(competitors, actions)}
        )
    return {"repeats": repeats, "problems": problems}


def rates(entries: Sequence[Entry], actions: int, rounds: int, repeats: int) -> list[Figures]:
    """Run all entries in turns. A peer that fails is dropped and its reason kept."""
    instance = sb.environments.GaussianActions(DIMENSION, SPARSITY, actions).sample(INSTANCE_SEED)
    found: dict[str, list[float]] = {entry.name: [] for entry in entries}
    problems: dict[str, str] = {}
    lengths = {entry.name: max(1, rounds // SHORTER) if entry.slow else rounds for entry in entries}
    for repeat in range(-1, repeats):  # −1 is the warm-up
        print(f"K = {actions}: {f'repeat {repeat + 1} of {repeats}' if repeat >= 0 else 'warm-up'}", file=sys.stderr)
        for entry in entries if repeat % 2 == 0 else reversed(entries):
            if entry.name in problems:
                continue
            length = lengths[entry.name] if repeat >= 0 else max(1, lengths[entry.name] // SHORTER)
            # Another seed per repeat: speed should not hang on one lucky or unlucky run.
            problem = Problem(instance.actions, instance.noise_variance, SPARSITY, seed=max(repeat, 0))
            gc.collect()  # nobody pays for what another left behind
            try:
                rate, _ = play(entry.make(problem), instance, length, NOISE_SEED)
            except Exception as error:
                problems[entry.name] = reason(entry, error)
                continue
            if repeat >= 0:
                found[entry.name].append(rate)
    return [
        {
            "name": entry.name,
            "library": entry.library,
            "kind": entry.kind,
            "learns": entry.learns,
            "note": entry.note,
            "rounds": lengths[entry.name],
            "problem": problems.get(entry.name),
            "rates": [] if entry.name in problems else found[entry.name],
        }
        for entry in entries
    ]


def targets(competitors: Sequence[Figures], actions: int) -> list[Figures]:
    """Return what this package should reach; a ratio is left out while one of its rivals is missing."""
    rates = {c["name"]: c["rates"] for c in competitors}
    peers = [c for c in competitors if c["library"] != LIBRARY]
    samples = f"{IDS_SAMPLES:,}"

    def of_kind(kind: str) -> list[Figures]:
        return [peer for peer in peers if peer["kind"] == kind]

    goals = [
        ("LinTS / fastest peer TS that learns", LIN_TS, [c for c in of_kind("TS") if c["learns"]], 1.0),
        ("LinTS / fastest peer TS", LIN_TS, of_kind("TS"), 1.0),
        ("LinUCB / fastest peer UCB", LIN_UCB, of_kind("UCB"), 1.0),
        ("LinUCB / fastest peer of all", LIN_UCB, peers, 1.0),
        (f"LinearIDS 1,000 / peer IDS {samples}", LINEAR_IDS, of_kind("IDS"), 5.0),
        (f"LinearIDS 10,000 / peer IDS {samples}", LARGE_IDS, of_kind("IDS"), 1.5),
        (f"SparseIDS / peer IDS {samples}", SPARSE_IDS, of_kind("IDS"), 15.0),
        (f"SparseIDS 10,000 / peer IDS {samples}", LARGE_SPARSE_IDS, of_kind("IDS"), 5.0),
    ]
    reached = []
    for name, mine, rivals, wanted in goals:
        if all(rival["rates"] for rival in rivals):
            best = max(rivals, key=lambda rival: median(rival["rates"]))
            ratios = [own / other for own, other in zip(rates[mine.name], best["rates"], strict=True)]
            reached.append(target(f"{name} ({best['name']})", ratios, wanted if actions == 200 else 1.0))
    if actions == 200:
        reached += [target(f"{mine.name}, per second", rates[mine.name], 4000.0) for mine in (LIN_TS, LIN_UCB)]
    return reached


def ahead(competitors: Sequence[Figures]) -> list[str]:
    """Return for each of our policies a line with the peers whose median rate is higher, fastest first."""
    measured = sorted((c for c in competitors if c["rates"]), key=lambda c: -median(c["rates"]))
    return [
        listed(
            f"Ahead of {mine['name']}",
            [
                peer["name"]
                for peer in measured
                if peer["library"] != LIBRARY and median(peer["rates"]) > median(mine["rates"])
            ],
        )
        for mine in competitors
        if mine["library"] == LIBRARY
    ]


def page(figures: Figures) -> str:
    """Return the text of this section."""
    parts = [f"Decisions per second, ask + tell one at a time, {figures['repeats']} repeats in turns", around(figures)]
    for problem in figures["problems"]:
        competitors = problem["competitors"]
        rows = [
            (c["name"], c["rounds"], round(median(c["rates"])), round(min(c["rates"])), round(max(c["rates"])))
            if c["rates"]
            else (c["name"], c["rounds"], None, None, None)
            for c in competitors
        ]
        missing = [f"{c['name']}, {c['problem']}" for c in competitors if c["problem"]]
        parts += [
            "",
            f"K = {problem['actions']}, d = {DIMENSION}",
            "",
            str(Table(("competitor", "rounds", "median", "min", "max"), rows)),
            "",
            *ahead(competitors),
            "",
            targets_table(problem["targets"]),
            *([listed("Not measured", missing)] if missing else []),
        ]
    # A peer that fails on one problem may run on the other.
    missing = [
        f"{c['name']}, K = {p['actions']}" for p in figures["problems"] for c in p["competitors"] if c["problem"]
    ]
    notes = [f"{c['name']}: {c['note']}." for c in figures["problems"][0]["competitors"] if c["note"]]
    parts += [
        "",
        "Ratios are medians of ratios within a repeat, to the fastest by its median; none while a rival is missing.",
        "",
        "Notes",
        *notes,
    ]
    return "\n".join(parts)


if __name__ == "__main__":
    run("decisions", measure, page, LIBRARIES)
