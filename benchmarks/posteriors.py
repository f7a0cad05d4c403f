"""Cost of a posterior a round, as ratios in one run: ``python -m benchmarks.posteriors``.

A history of sparse information-directed sampling (K = 200, noise variance 2) is replayed: Particles take in all
rewards, Algorithm 1 is run afresh on some rounds of it, all with 10,000 draws on one thread. Times are of the
processor, and competitors take turns, so that a busy machine does not decide.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))  # before NumPy

import argparse
from collections.abc import Callable
from statistics import median
from time import process_time
from typing import Any

import numpy as np

import sparsebandits as sb
from benchmarks.algorithm1 import algorithm_1
from sparsebandits.checks import FloatArray
from sparsebandits.policies.ids import InformationDirected
from sparsebandits.tables import Table

NOISE = 2.0
ROUNDS = 5
"""Rounds in a row that Algorithm 1 is run on, from some points of the history."""


def history(dimension: int, rounds: int) -> tuple[FloatArray, FloatArray]:
    """Return the actions and rewards of sparse IDS on one instance."""
    instance = sb.GaussianActions(dimension, dimension // 10, noise_variance=NOISE).sample(0)

    def make(problem: sb.Problem) -> sb.Policy:
        posterior = sb.Particles(point_mass(dimension), dimension, NOISE, seed=0)
        return sb.Policy(problem.actions, InformationDirected(posterior, 2.0, "deterministic", "variance"), {}, 0)

    trace = sb.simulate(make, instance, rounds, seed=0)
    return instance.actions[trace.actions], trace.rewards


def point_mass(dimension: int) -> sb.SpikeSlab:
    return sb.SpikeSlab(0.1, 10 / dimension)


def laplace(dimension: int) -> sb.SpikeSlab:
    return sb.SpikeSlab(0.1, 10 / dimension, spike=sb.LaplaceSpike(0.03))


def seconds(action: Callable[[], object]) -> float:
    started = process_time()
    action()
    return process_time() - started


def measure(dimension: int, rounds: int, repeats: int) -> dict[str, float]:
    """Return milliseconds a round of each competitor."""
    x, y = history(dimension, rounds)
    rng = np.random.default_rng(0)
    some = np.linspace(rounds // 10, rounds - ROUNDS, 3).astype(int)
    times: dict[str, list[float]] = {}

    def run_particles() -> None:
        posterior = sb.Particles(point_mass(dimension), dimension, NOISE, seed=1)
        for row, reward in zip(x, y, strict=True):
            posterior.update(row, reward)
            posterior.draws()

    def reference(t: int, chains: int, burn_in: int, kind: Any) -> Callable[[], object]:
        def rounds_from_t() -> None:
            for now in range(t, t + ROUNDS):
                gram, moment = x[:now].T @ x[:now], x[:now].T @ y[:now]
                algorithm_1(gram, moment, laplace(dimension), NOISE, rng, chains, burn_in, dtype=kind)

        return rounds_from_t

    def ours(t: int, chains: int, burn_in: int) -> Callable[[], object]:
        posterior = sb.Langevin(laplace(dimension), dimension, NOISE, seed=0, chains=chains, burn_in=burn_in)
        posterior.update(x[:t], y[:t])

        def rounds_from_t() -> None:
            for now in range(t, t + ROUNDS):
                posterior.update(x[now], y[now])
                posterior.draws()

        return rounds_from_t

    ours(some[0], 1, 0)()  # compile
    for _ in range(repeats):
        times.setdefault("Particles", []).append(seconds(run_particles) / rounds)
        for t in some.tolist():
            competitors = {
                "Algorithm 1, NumPy float64, 100 chains": reference(t, 100, 50, np.float64),
                "Algorithm 1, NumPy float64, 1 chain": reference(t, 1, 0, np.float64),
                "Algorithm 1, NumPy float32, 1000 chains": reference(t, 1000, 0, np.float32),
                "Langevin, 100 chains": ours(t, 100, 50),
                "Langevin, 1 chain": ours(t, 1, 0),
                "Langevin, 1000 chains": ours(t, 1000, 0),
            }
            for name, action in competitors.items():
                times.setdefault(name, []).append(seconds(action) / ROUNDS)
    return {name: 1000 * median(values) for name, values in times.items()}


RATIOS: tuple[tuple[str, str, dict[int, float]], ...] = (
    ("Particles", "Algorithm 1, NumPy float64, 100 chains", {20: 20.0, 40: 20.0, 100: 10.0}),
    ("Particles", "Algorithm 1, NumPy float64, 1 chain", {}),
    ("Langevin, 1000 chains", "Algorithm 1, NumPy float32, 1000 chains", {20: 2.0, 40: 2.0, 100: 2.0}),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dimensions", type=int, nargs="+", default=[20, 40, 100])
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    found = {d: measure(d, given.rounds, given.repeats) for d in given.dimensions}
    names = list(found[given.dimensions[0]])
    print("Milliseconds of processor time a round, 10,000 draws\n")
    print(Table(("engine", *(f"d = {d}" for d in found)), [(n, *(found[d][n] for d in found)) for n in names]))
    print("\nTimes cheaper\n")
    rows = []
    for ours, theirs, wanted in RATIOS:
        for d in found:
            target = wanted.get(d)
            ratio = found[d][theirs] / found[d][ours]
            met = "" if target is None else ("yes" if ratio >= target else "no")
            rows.append((ours, theirs, d, ratio, target, met))
    print(Table(("engine", "than", "d", "ratio", "wanted", "met"), rows))


if __name__ == "__main__":
    main()
