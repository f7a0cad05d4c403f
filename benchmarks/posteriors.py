"""Cost of a posterior a round, as ratios in one run: ``python -m benchmarks.posteriors``.

A history of sparse information-directed sampling (K = 200, noise variance 2) is replayed with 10,000 draws on one
thread. Particles take in all rewards, and so does a straightforward version of them in NumPy, which sweeps over
coordinates as often a move as they sweep on average (sweeps over models, which cost several times as much, count as
one). Algorithm 1 of the paper is run afresh on some rounds, ours and in NumPy. Times are of the processor; competitors
take turns, and ratios are taken within a repeat.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))  # before NumPy

import sys
from collections.abc import Callable
from statistics import fmean, median
from time import process_time
from typing import Any

import numpy as np

import sparsebandits as sb
from benchmarks import PAPERS
from benchmarks.algorithm1 import algorithm_1
from benchmarks.plain_particles import PlainParticles
from benchmarks.section import Figures, around, run, short, target, targets_table
from benchmarks.watching import watched
from sparsebandits.arguments import FloatArray
from sparsebandits.tables import Cell, Table

NOISE = 2.0
DRAWS = 10_000
ROUNDS = 5
"""Rounds in a row that Algorithm 1 is run on, from some points of the history: in a row, as in use."""

RATIOS: tuple[tuple[str, str, dict[int, float]], ...] = (
    ("Particles", "particles in NumPy", {20: 3.0, 40: 3.0, 100: 3.0}),
    ("Particles", "Algorithm 1, NumPy float64, 100 chains", {20: 20.0, 40: 20.0, 100: 10.0}),
    ("Langevin, 100 chains", "Algorithm 1, NumPy float64, 100 chains", {20: 2.0, 40: 2.0, 100: 2.0}),
    ("Langevin, 1000 chains", "Algorithm 1, NumPy float32, 1000 chains", {20: 2.0, 40: 2.0, 100: 2.0}),
)
"""Ours, what it is measured against, and how many times cheaper it should be, by d."""


def point_mass(dimension: int) -> sb.SpikeSlab:
    return sb.SpikeSlab(0.1, 10 / dimension)


def laplace(dimension: int) -> sb.SpikeSlab:
    return sb.SpikeSlab(0.1, 10 / dimension, spike=sb.LaplaceSpike(0.03))


def history(dimension: int, rounds: int) -> tuple[FloatArray, FloatArray]:
    """Return the actions and rewards of sparse IDS on one instance."""
    instance = sb.environments.GaussianActions(dimension, max(dimension // 10, 1), noise_variance=NOISE).sample(0)

    def make(problem: sb.experiments.Problem) -> sb.Policy:
        return sb.SparseIDS(problem.actions, point_mass(dimension), NOISE, seed=0, intercept=False, **PAPERS)

    trace = sb.simulate(make, instance, rounds, seed=0)
    return instance.actions[trace.actions], trace.rewards


def replay_particles(x: FloatArray, y: FloatArray) -> None:
    posterior = sb.Particles(point_mass(x.shape[1]), x.shape[1], NOISE, DRAWS, seed=1)
    for row, reward in zip(x, y, strict=True):
        posterior.update(row, reward)
        posterior.draws()


def replay_plain(x: FloatArray, y: FloatArray, sweeps: int) -> int:
    """Return how often the particles moved."""
    rng = np.random.default_rng(1)
    posterior = PlainParticles(point_mass(x.shape[1]), x.shape[1], NOISE, DRAWS, rng, sweeps)
    for row, reward in zip(x, y.tolist(), strict=True):
        posterior.update(row, reward)
    return posterior.moves


def moves_and_sweeps(x: FloatArray, y: FloatArray) -> tuple[int, int]:
    """Return how often Particles move along the history, and how often they sweep for that."""
    calls = {"take": 0, "coordinates": 0, "models": 0}

    def count(name: str) -> Callable[..., None]:
        def note(*_: Any) -> None:
            calls[name] += 1

        return note

    places = {"Ensemble.take": "take", "Moves.coordinates": "coordinates", "Moves.models": "models"}
    with watched({f"sparsebandits.posteriors.moves:{place}": count(name) for place, name in places.items()}):
        replay_particles(x, y)
    return calls["take"], calls["coordinates"] + calls["models"]


def algorithm(x: FloatArray, y: FloatArray, t: int, chains: int, burn_in: int, kind: Any) -> None:
    """Run Algorithm 1 in NumPy on some rounds from t on."""
    rng = np.random.default_rng(0)
    for now in range(t, t + ROUNDS):
        gram, moment = x[:now].T @ x[:now], x[:now].T @ y[:now]
        algorithm_1(gram, moment, laplace(x.shape[1]), NOISE, rng, chains, burn_in, DRAWS, kind)


def langevin(x: FloatArray, y: FloatArray, t: int, chains: int, burn_in: int) -> Callable[[], None]:
    """Return what runs our Algorithm 1 on some rounds from t on."""
    d = x.shape[1]
    posterior = sb.Langevin(laplace(d), d, NOISE, DRAWS, seed=0, chains=chains, burn_in=burn_in)
    posterior.update(x[:t], y[:t])

    def rounds() -> None:
        for now in range(t, t + ROUNDS):
            posterior.update(x[now], y[now])
            posterior.draws()

    return rounds


def milliseconds(action: Callable[[], object], rounds: int) -> float:
    """Return milliseconds of processor time a round."""
    started = process_time()
    action()
    return 1000.0 * (process_time() - started) / rounds


def one_repeat(x: FloatArray, y: FloatArray, sweeps: int, points: int) -> dict[str, float]:
    """Return milliseconds a round of each competitor; those of Algorithm 1 are means over points of the history."""
    times = {
        "Particles": milliseconds(lambda: replay_particles(x, y), len(y)),
        "particles in NumPy": milliseconds(lambda: replay_plain(x, y, sweeps), len(y)),
    }
    several: dict[str, list[float]] = {}
    for t in np.linspace(len(y) // 10, len(y) - ROUNDS, points).astype(int).tolist():
        for kind, chains, burn_in in ((np.float64, 100, 50), (np.float64, 1, 0), (np.float32, 1000, 0)):
            many = f"{chains} chain{'s' if chains > 1 else ''}"
            theirs, ours = f"Algorithm 1, NumPy {np.dtype(kind).name}, {many}", f"Langevin, {many}"
            action = langevin(x, y, t, chains, burn_in)
            several.setdefault(ours, []).append(milliseconds(action, ROUNDS))
            spent = milliseconds(lambda: algorithm(x, y, t, chains, burn_in, kind), ROUNDS)  # noqa: B023 (run at once)
            several.setdefault(theirs, []).append(spent)
    return times | {name: fmean(values) for name, values in several.items()}


def measure(quick: bool) -> Figures:
    """Replay a history of each dimension, some times."""
    dimensions, rounds, repeats, points = ([20], 20, 1, 1) if quick else ([20, 40, 100], 500, 3, 3)
    engines: dict[str, dict[str, list[float]]] = {}
    moves: dict[str, Figures] = {}
    for d in dimensions:
        x, y = history(d, rounds)
        for chains in (1, 1000):
            langevin(x, y, rounds - ROUNDS, chains, 0)()  # compile
        ours, swept = moves_and_sweeps(x, y)
        sweeps = max(round(swept / max(ours, 1)), 1)
        moves[str(d)] = {"ours": ours, "sweeps": swept, "plain": replay_plain(x, y, sweeps), "plain_sweeps": sweeps}
        for repeat in range(repeats):
            print(f"posteriors: d = {d}, repeat {repeat + 1} of {repeats}", file=sys.stderr, flush=True)
            for name, spent in one_repeat(x, y, sweeps, points).items():
                engines.setdefault(name, {}).setdefault(str(d), []).append(spent)
    return {
        "rounds": rounds,
        "repeats": repeats,
        "moves": moves,
        "engines": engines,
        "targets": [goal for ours, theirs, wanted in RATIOS for goal in goals(engines, ours, theirs, wanted)],
    }


def goals(
    engines: dict[str, dict[str, list[float]]], ours: str, theirs: str, wanted: dict[int, float]
) -> list[Figures]:
    """Return how many times cheaper one is than the other, by d."""
    reached = []
    for d, mine in engines[ours].items():
        ratios = [other / own for own, other in zip(mine, engines[theirs][d], strict=True)]
        reached.append(target(f"{ours} / {theirs}, d = {d}", ratios, wanted[int(d)]))
    return reached


def page(figures: Figures) -> str:
    """Return the section as text."""
    dimensions = list(figures["moves"])
    rows: list[tuple[Cell, ...]] = [
        (name, *(short(median(by_dimension[d])) for d in dimensions))
        for name, by_dimension in figures["engines"].items()
    ]
    moves = [
        f"d = {d}: Particles moved {m['ours']} times, with {m['sweeps']} sweeps in all; "
        f"those in NumPy {m['plain']} times, with {m['plain_sweeps']} each."
        for d, m in figures["moves"].items()
    ]
    return "\n".join(
        (
            f"Milliseconds of processor time a round, {DRAWS:,} draws, a history of {figures['rounds']} rounds, median "
            f"of {figures['repeats']} repeats in turns",
            around(figures),
            "",
            str(Table(("engine", *(f"d = {d}" for d in dimensions)), rows)),
            *moves,
            "",
            "Times cheaper",
            "",
            targets_table(figures["targets"]),
        )
    )


if __name__ == "__main__":
    run("posteriors", measure, page)
