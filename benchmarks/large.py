"""Large problems: ``python -m benchmarks.large`` (minutes).

SparseIDS with known hyperparameters, its default rule and its default number of draws, on one core: 10,000 actions of
1,000 features of which 10 matter, and 10,000 actions of 10,000 features. The page shows the milliseconds of processor
time per decision over stretches of rounds, how often the particles moved, the wall time and the peak of the memory. It
also shows the regret beside that of LinTS given the true support (it sees the 10 features that matter and no other) on
the same instance with the same noise, and of random play (its mean). Regret is measured on several instances, time and
memory on the first of them.

Each game is played in a process of its own, which does nothing else before its peak is read. The process hands the
actions over to the policy and keeps only the columns that matter. A process before the first one plays a few rounds, so
that compiled kernels are on disk; to load them counts.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))  # before NumPy

import argparse
import json
import resource
import subprocess
import sys
from pathlib import Path
from statistics import fmean
from time import perf_counter, process_time
from typing import NamedTuple

import numpy as np

import sparsebandits as sb
from benchmarks.rounds import rounds
from benchmarks.section import Figures, around, run, short, target, targets_table
from sparsebandits.policies.sparse import MOST_DRAWS
from sparsebandits.tables import Cell, Table

SPARSITY, NOISE, NOISE_SEED = 10, 2.0, 2
STRETCHES = 8
TOLD_SEEDS = range(10)
"""Of LinTS, which is cheap: its regret is an average."""
WARM_UP = 40
"""Rounds of the process that compiles."""


class Problem(NamedTuple):
    """Number of features, actions and rounds, and the seeds of the instances."""

    dimension: int
    actions: int
    rounds: int
    instances: tuple[int, ...]

    @property
    def title(self) -> str:
        """What its part of the page is called."""
        return f"d = {self.dimension}, s = {SPARSITY}, K = {self.actions}, n = {self.rounds}, noise variance {NOISE:g}"


WIDE = Problem(1000, 10_000, 2000, (0, 1, 2))
SQUARE = Problem(10_000, 10_000, 300, (0,))
QUICK = (Problem(100, 500, 40, (0, 1)), Problem(200, 200, 20, (0,)))


def restricted(instance: sb.environments.Instance) -> sb.environments.Instance:
    """Return the same problem with the features that matter alone."""
    support = np.flatnonzero(instance.theta)
    return sb.environments.Instance(instance.actions[:, support], instance.theta[support], instance.noise_variance)


def told_regret(small: sb.environments.Instance, count: int, seed: int) -> float:
    """Return the regret of LinTS that sees the true support alone, under the noise that SparseIDS had."""
    policy = sb.LinTS(small.actions, sb.GaussianPrior(variance=1.0 / SPARSITY), NOISE, seed=seed, intercept=False)
    return sum(r.regret for r in rounds(policy, small, count, NOISE_SEED))


def policy_of(problem: Problem, seed: int) -> tuple[sb.SparseIDS, sb.environments.Instance, float, float]:
    """Return the policy, its problem with the features that matter alone, and when it began to be made.

    The instance with all features is gone when this returns, so that the only copy of the actions is the policy's.
    """
    family = sb.environments.GaussianActions(problem.dimension, SPARSITY, problem.actions, noise_variance=NOISE)
    instance = family.sample(seed)
    small, prior = restricted(instance), sb.SpikeSlab(SPARSITY / problem.dimension, 1.0 / SPARSITY)
    begun, begun_cpu = perf_counter(), process_time()
    own = sb.policies.ActionSet(instance.actions)  # which is not copied
    return sb.SparseIDS(own, prior, NOISE, seed=1, intercept=False), small, begun, begun_cpu


def play(problem: Problem, seed: int, rivals: int) -> Figures:
    """Return milliseconds, regret and moves of SparseIDS by stretch, times, peak; then the others' regret."""
    policy, small, begun, begun_cpu = policy_of(problem, seed)
    count = problem.rounds
    ms, regret, moved = np.empty((count, 2)), np.empty(count), np.zeros(count, dtype=int)
    last = (0, 0.0)
    for t, r in enumerate(rounds(policy, small, count, NOISE_SEED)):
        move = policy.posterior.sweeps, policy.posterior.memory  # of the last move
        ms[t], regret[t], moved[t], last = (1000 * r.ask, 1000 * r.tell), r.regret, move != last, move
        if (t + 1) % 50 == 0:
            print(f"{problem.title}: round {t + 1}, {perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
    parts = np.array_split(np.arange(count), STRETCHES)
    return {
        "seed": seed,
        "wall": perf_counter() - begun,
        "cpu": process_time() - begun_cpu,
        "megabytes": peak(),
        "draws": policy.posterior.n_draws,
        "mean_ms": float(ms.sum(axis=1).mean()),
        "median_ms": float(np.median(ms.sum(axis=1))),
        "regret": float(regret.sum()),
        "stretches": [
            {
                "first": int(part[0]) + 1,
                "last": int(part[-1]) + 1,
                "ask": float(ms[part, 0].mean()),
                "tell": float(ms[part, 1].mean()),
                "moves": int(moved[part].sum()),
                "regret": float(regret[part].sum()),
            }
            for part in parts
        ],
        "told": [told_regret(small, count, rival) for rival in range(rivals)],
        "random": count * float(small.gaps.mean()),
    }


def peak() -> float:
    """Return the most memory that this process has had, in MB."""
    status = Path("/proc/self/status")
    if status.exists():  # ru_maxrss is at least that of the process that started this one
        return next(int(line.split()[1]) / 1024 for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def process(problem: Problem, seed: int, rivals: int) -> Figures:
    """Play in a new process."""
    told = json.dumps([problem, seed, rivals])
    command = [sys.executable, "-m", "benchmarks.large", "--play", told]
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=Path(__file__).parents[1])
    found: Figures = json.loads(answer.stdout)
    return found


def measure(quick: bool) -> Figures:
    wide, square = QUICK if quick else (WIDE, SQUARE)
    process(wide._replace(rounds=min(WARM_UP, wide.rounds)), 0, 0)  # compiles
    rivals = 2 if quick else len(TOLD_SEEDS)
    problems = [
        {**problem._asdict(), "title": problem.title, "games": [process(problem, s, rivals) for s in problem.instances]}
        for problem in (wide, square)
    ]
    first, second = (problem["games"][0] for problem in problems)
    return {
        "problems": problems,
        "targets": [
            target(f"d = {wide.dimension}: mean decision, ms", [first["mean_ms"]], 20.0, at_most=True),
            target(f"d = {wide.dimension}: peak of the memory, MB", [first["megabytes"]], 400.0, at_most=True),
            target(f"d = {square.dimension}: wall time, s", [second["wall"]], 600.0, at_most=True),
            target(f"d = {square.dimension}: peak of the memory, GB", [second["megabytes"] / 1024], 3.0, at_most=True),
        ],
    }


def page(figures: Figures) -> str:
    draws = figures["problems"][0]["games"][0]["draws"]
    parts = [
        f"Large problems: SparseIDS with known hyperparameters, one core, default rule and number of draws "
        f"({draws:,} at first, and up to {MOST_DRAWS:,} since many actions may be the best)",
        around(figures),
    ]
    for problem in figures["problems"]:
        first = problem["games"][0]
        rows: list[tuple[Cell, ...]] = [
            (f"{s['first']} to {s['last']}", short(s["ask"]), short(s["tell"]), s["moves"], round(s["regret"], 1))
            for s in first["stretches"]
        ]
        regrets: list[tuple[Cell, ...]] = [
            (
                game["seed"],
                round(game["regret"]),
                round(fmean(game["told"])),
                f"{min(game['told']):.0f} to {max(game['told']):.0f}",
                round(game["random"]),
                round(game["regret"] / fmean(game["told"]), 2),
            )
            for game in problem["games"]
        ]
        parts += [
            "",
            problem["title"],
            "",
            str(Table(("rounds", "ask (ms)", "tell (ms)", "rounds with a move", "regret"), rows)),
            f"{first['wall']:.0f} s of wall time, {first['cpu']:.0f} s of processor time, decisions of "
            f"{first['mean_ms']:.3g} ms (median {first['median_ms']:.3g} ms), peak {first['megabytes']:.0f} MB",
            "",
            str(Table(("instance", "SparseIDS", "LinTS given the support", "range", "random play", "ratio"), regrets)),
        ]
    rivals = len(figures["problems"][0]["games"][0]["told"])
    parts += [
        "",
        f"Regret by instance; that of LinTS is a mean over {rivals} seeds, and the ratio is that of SparseIDS to it.",
        "Times, moves and memory are of the first instance.",
        "",
        targets_table(figures["targets"]),
    ]
    return "\n".join(parts)


def main() -> None:
    """Measure, or play one game for a process that measures."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--play")
    told, others = parser.parse_known_args()
    if told.play is None:
        run("large", measure, page, arguments=others)
    else:
        problem, seed, rivals = json.loads(told.play)
        print(json.dumps(play(Problem(*problem), seed, rivals)))


if __name__ == "__main__":
    main()
