"""One large problem, 10,000 actions of 1,000 features of which 10 matter: ``python -m benchmarks.large`` (minutes).

Sparse IDS on 10,000 particles plays it from beginning to end, on one core. The page shows the milliseconds of processor
time of a decision over stretches of rounds, how often the particles moved, the whole time, the peak of the memory, and
the regret beside that of LinTS given the true support (it sees the 10 features that matter and no other) on the same
instance with the same noise, and of random play (its mean).
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))  # before NumPy

import resource
import sys
from statistics import fmean, median
from time import perf_counter, process_time

import numpy as np

import sparsebandits as sb
from benchmarks.rounds import rounds, sparse_ids
from benchmarks.section import Figures, around, run, short, target, targets_table
from sparsebandits.tables import Cell, Table

DIMENSION, SPARSITY, ACTIONS, NOISE, ROUNDS = 1000, 10, 10_000, 2.0, 2000
NOISE_SEED = 2
STRETCHES = 8
TOLD_SEEDS = range(10)
"""Of LinTS, which is cheap: its regret is an average."""


def restricted(instance: sb.environments.Instance) -> sb.environments.Instance:
    """Return the same problem with the features that matter alone."""
    support = np.flatnonzero(instance.theta)
    return sb.environments.Instance(instance.actions[:, support], instance.theta[support], instance.noise_variance)


def told_regret(instance: sb.environments.Instance, count: int, seed: int) -> float:
    """Return the regret of LinTS that sees the true support alone, under the noise that sparse IDS had."""
    small = restricted(instance)
    policy = sb.LinTS(small.actions, sb.GaussianPrior(variance=1.0 / SPARSITY), NOISE, seed=seed, intercept=False)
    return sum(r.regret for r in rounds(policy, small, count, NOISE_SEED))


def play(instance: sb.environments.Instance, count: int) -> Figures:
    """Return milliseconds, regret and moves of sparse IDS by stretch, the whole time and the peak of the memory."""
    begun, begun_cpu = perf_counter(), process_time()
    policy = sparse_ids(instance, SPARSITY, seed=1)
    ms, regret, moved = np.empty((count, 2)), np.empty(count), np.zeros(count, dtype=int)
    last = policy.posterior.draws().theta
    for t, r in enumerate(rounds(policy, instance, count, NOISE_SEED)):
        theta = policy.posterior.draws().theta
        ms[t], regret[t], moved[t], last = (1000 * r.ask, 1000 * r.tell), r.regret, theta is not last, theta
        if (t + 1) % 50 == 0:
            print(f"round {t + 1}: {perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
    parts = np.array_split(np.arange(count), STRETCHES)
    return {
        "wall": perf_counter() - begun,
        "cpu": process_time() - begun_cpu,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
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
    }


def measure(quick: bool) -> Figures:
    count, actions, dimension = (40, 500, 100) if quick else (ROUNDS, ACTIONS, DIMENSION)
    instance = sb.environments.GaussianActions(dimension, SPARSITY, actions, noise_variance=NOISE).sample(0)
    small = sb.environments.GaussianActions(100, SPARSITY, noise_variance=NOISE).sample(0)
    list(rounds(sparse_ids(small, SPARSITY, 0), small, 40, 0))  # compiles
    ids = play(instance, count)
    told = [told_regret(instance, count, seed) for seed in (TOLD_SEEDS[:2] if quick else TOLD_SEEDS)]
    return {
        "dimension": dimension,
        "actions": actions,
        "rounds": count,
        "ids": ids,
        "told": told,
        "random": count * float(instance.gaps.mean()),
        "targets": [target("peak of the memory, GB", [ids["megabytes"] / 1024], 2.0, at_most=True)],
    }


def page(figures: Figures) -> str:
    ids, told = figures["ids"], figures["told"]
    rows: list[tuple[Cell, ...]] = [
        (f"{s['first']} to {s['last']}", short(s["ask"]), short(s["tell"]), s["moves"], round(s["regret"], 1))
        for s in ids["stretches"]
    ]
    ratio = ids["regret"] / fmean(told)
    return "\n".join(
        (
            f"One large problem: d = {figures['dimension']}, s = {SPARSITY}, K = {figures['actions']}, "
            f"n = {figures['rounds']}, noise variance {NOISE:g}; sparse IDS, 10,000 particles, one core",
            around(figures),
            "",
            str(Table(("rounds", "ask (ms)", "tell (ms)", "rounds with a move", "regret"), rows)),
            f"{ids['wall']:.0f} s of wall time, {ids['cpu']:.0f} s of processor time, "
            f"median decision {ids['median_ms']:.3g} ms, peak {ids['megabytes']:.0f} MB",
            f"Regret: sparse IDS {ids['regret']:.0f}; LinTS given the true support {fmean(told):.0f} "
            f"({len(told)} seeds, {min(told):.0f} to {max(told):.0f}, median {median(told):.0f}); "
            f"random play {figures['random']:.0f}",
            f"Sparse IDS has {ratio:.2f} times the regret of LinTS given the support, "
            f"and {ids['regret'] / figures['random']:.1%} of random play's",
            "",
            targets_table(figures["targets"]),
        )
    )


if __name__ == "__main__":
    run("large", measure, page)
