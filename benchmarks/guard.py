"""A guard against losing speed that does not depend on the machine: ``python -m benchmarks.guard``.

Ratios: the time of each kernel, on the draws of a short SparseIDS run, against that of a plain loop of the same kind,
measured in turns in the same process, median of REPEATS by processor time. A faster or busier machine moves both: five
runs on a machine that others used too, at loads of 2 to 4, lay up to 18% apart, so growth of 30% is let pass.
Counts: how often SparseIDS moves its particles, sweeps, reweights and finds best actions anew along a given history of
500 rounds. They hardly hang on chance: seven seeds gave 48 or 49 moves, and 1014 to 1039 reweightings.

``guard.json`` beside this file holds what they were. The command ends with code 1 if one has grown by more than is let
pass; ``--record`` writes the file anew, which is what a change that is meant to cost more does.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))  # before NumPy

import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, TypeAlias

import numpy as np
from numba import njit

import sparsebandits as sb
from benchmarks import PAPERS
from benchmarks.limits import DIMENSION, PRIOR, SPARSITY, play
from benchmarks.section import Figures, around, run, short
from benchmarks.watching import Watcher, watched
from sparsebandits.arguments import FloatArray
from sparsebandits.files import write_atomically
from sparsebandits.posteriors.cloud import Cloud, Weights
from sparsebandits.posteriors.ensemble import Ensemble, Sums
from sparsebandits.posteriors.kernels.inline_random import normal
from sparsebandits.posteriors.kernels.rows import quadratic_forms
from sparsebandits.posteriors.moves import Moves
from sparsebandits.rules.best import Best
from sparsebandits.rules.information import information
from sparsebandits.rules.optima import Prepared, best_actions
from sparsebandits.tables import Cell, Table

RECORD = Path(__file__).parent / "guard.json"
REPEATS = 21
ROUNDS = 60
"""Rounds of the run whose draws the kernels get: late enough for the draws to be sparse, early enough to differ."""

TOLERANCES = {"ratios": (0.3, 0.0), "counts": (0.1, 2.0)}
"""Growth that is let pass: a share, and a number on top of it, for counts that are small."""

COUNTED = {
    "moves": "sparsebandits.posteriors.particles:systematic",
    "sweeps over coordinates": "sparsebandits.posteriors.moves:Moves.coordinates",
    "sweeps over models": "sparsebandits.posteriors.moves:Moves.models",
    "reweightings": "sparsebandits.posteriors.kernels.weighing:reweighted",
    "searches of best actions": "sparsebandits.rules.optima:best_actions",
}
Action: TypeAlias = Callable[[], object]


@njit(error_model="numpy")
def plain_products(theta: Any, matrix: Any) -> Any:
    """Return Θ G from the coefficients that are not zero: the reference of kernels that meet rows of a matrix."""
    result = np.zeros((theta.shape[0], matrix.shape[1]))
    for m in range(theta.shape[0]):
        for j in range(theta.shape[1]):
            if theta[m, j] != 0.0:
                for i in range(matrix.shape[1]):
                    result[m, i] += theta[m, j] * matrix[j, i]
    return result


@njit(error_model="numpy")
def plain_normals(out: Any, state: Any) -> None:
    """Fill with normals: the reference of kernels that draw many."""
    for i in range(len(out)):
        out[i] = normal(state)


def pairs() -> dict[str, tuple[Action, Action]]:
    """Return each kernel with its reference, on the draws of a short run."""
    instance = sb.environments.GaussianActions(DIMENSION, SPARSITY).sample(0)
    policy = sb.SparseIDS(instance.actions, PRIOR, instance.noise_variance, seed=0, intercept=False, **PAPERS)
    play(policy, instance, ROUNDS)
    posterior = policy.posterior
    draws, evidence = posterior.draws(), posterior.evidence
    theta, actions, gram = draws.theta, Prepared(instance.actions), evidence.gram
    sums, rows = Sums(evidence), draws.source
    moves, rng = Moves(PRIOR, DIMENSION, sb.Gaussian(instance.noise_variance)), np.random.default_rng(0)
    optima, logs, x = best_actions(rows, actions), np.log(draws.weights), instance.actions[0]
    some = instance.actions[:50]  # long enough for the clock
    normals, state, columns = np.empty(200_000), np.zeros(1, np.uint64), np.ascontiguousarray(instance.actions.T)
    prior = sb.SpikeSlab(PRIOR.inclusion, PRIOR.slab_variance, spike=sb.LaplaceSpike(0.03))
    langevin = sb.Langevin(prior, DIMENSION, instance.noise_variance, len(theta), seed=0, chains=1000)

    def members() -> Ensemble:
        return Ensemble(rows, None, None, None, None)

    def langevin_steps() -> None:
        langevin.absorb(x[np.newaxis], np.zeros(1))
        langevin.draws()

    def of_gram() -> object:
        return plain_products(theta, gram)

    def of_actions() -> object:
        return plain_products(theta, columns)

    def exponentials() -> object:
        return [np.exp(logs) for _ in range(10)]

    return {
        "sweep over coordinates": (lambda: moves.coordinates(members(), sums, rng), of_gram),
        "sweep over models": (lambda: moves.models(members(), sums, rng), of_gram),
        "quadratic forms": (lambda: quadratic_forms(rows.arrays, gram), of_gram),
        "best actions": (lambda: best_actions(rows, actions), of_actions),
        "regret and gain": (
            lambda: [
                information(draws, instance.actions, Best(optima, draws.weights, sampled=True)) for _ in range(10)
            ],
            of_actions,
        ),
        "reweighting": (lambda: [Weights.of(logs) for _ in range(10)], exponentials),
        "predictions of actions": (
            lambda: [cloud.misfit(a, 0.0) for cloud in (Cloud(rows, logs),) for a in some],
            lambda: [theta @ a for a in some],
        ),
        "Langevin steps": (langevin_steps, lambda: plain_normals(normals, state)),
    }


def ratios(
    kernels: Mapping[str, tuple[Action, Action]], repeats: int, clock: Callable[[], float] = process_time
) -> dict[str, list[float]]:
    """Return the time of each kernel as a multiple of its reference's, measured in turns."""

    def seconds(action: Action) -> float:
        begun = clock()
        action()
        return clock() - begun

    for pair in kernels.values():
        for action in pair:
            action()  # compiles
    found: dict[str, list[float]] = {name: [] for name in kernels}
    for _ in range(repeats):
        for name, (kernel, reference) in kernels.items():
            before, own, after = (seconds(action) for action in (reference, kernel, reference))
            found[name].append(2.0 * own / (before + after))
    return found


def history(instance: sb.environments.Instance, rounds: int) -> tuple[FloatArray, FloatArray]:
    """Return actions and rewards that depend on no policy: in round t the best of 1 + t // 10 actions met at random.

    Along a history of its own, a policy that rounding has led to another action would count other things.
    """
    rng = np.random.default_rng(0)
    met = [rng.integers(len(instance.actions), size=1 + t // 10) for t in range(rounds)]
    chosen = [int(some[instance.means[some].argmax()]) for some in met]
    rewards = instance.means[chosen] + np.sqrt(instance.noise_variance) * rng.standard_normal(rounds)
    return instance.actions[chosen], rewards


def counts(rounds: int = 500) -> dict[str, int]:
    """Return how often SparseIDS does what costs time, asked in each round of a given history."""
    instance = sb.environments.GaussianActions(DIMENSION, SPARSITY).sample(0)
    x, y = history(instance, rounds)
    calls: Counter[str] = Counter(dict.fromkeys(COUNTED, 0))

    def watcher(name: str) -> Watcher:
        return lambda *_: calls.update((name,))

    with watched({place: watcher(name) for name, place in COUNTED.items()}):
        policy = sb.SparseIDS(instance.actions, PRIOR, instance.noise_variance, seed=0, intercept=False, **PAPERS)
        for row, reward in zip(x, y, strict=True):
            policy.ask()
            policy.posterior.update(row, reward)
    return dict(calls)


def measure(quick: bool) -> Figures:
    """Measure, beside what is on record."""
    found = ratios(pairs(), 3 if quick else REPEATS)
    summary = {name: {"now": median(all_), "min": min(all_), "max": max(all_)} for name, all_ in found.items()}
    recorded = json.loads(RECORD.read_text()) if RECORD.exists() else {kind: {} for kind in TOLERANCES}
    return {"ratios": summary, "counts": {n: {"now": count} for n, count in counts().items()}, "recorded": recorded}


def grown(figures: Figures) -> list[str]:
    """Return a sentence for each figure that has grown beyond its tolerance, or that is not on record."""
    said = []
    for kind, (share, number) in TOLERANCES.items():
        recorded = figures["recorded"][kind]
        for name, found in figures[kind].items():
            if name not in recorded:
                said.append(f"{name}: not on record")
            elif found["now"] > recorded[name] * (1.0 + share) + number:
                said.append(f"{name}: grown from {short(recorded[name]):g} to {short(found['now']):g}")
        said += [f"{name}: on record, not measured" for name in recorded if name not in figures[kind]]
    return said


def page(figures: Figures) -> str:
    """Return the section as text."""
    rows: dict[str, list[tuple[Cell, ...]]] = {}
    for kind in TOLERANCES:
        rows[kind] = []
        for name, found in figures[kind].items():
            was = figures["recorded"][kind].get(name)
            spread = (short(found["min"]), short(found["max"])) if kind == "ratios" else ()
            change = None if not was else f"{found['now'] / was - 1.0:+.0%}"
            rows[kind].append((name, short(found["now"]), *spread, short(was), change))
    said = grown(figures)
    return "\n".join(
        (
            "Speed, whatever the machine: kernels as multiples of a plain loop of their kind; counts of a fixed run",
            around(figures),
            "",
            str(Table(("kernel", "ratio", "min", "max", "recorded", "change"), rows["ratios"])),
            "",
            str(Table(("SparseIDS, 500 rounds", "now", "recorded", "change"), rows["counts"])),
            "",
            "Let pass: "
            f"{TOLERANCES['ratios'][0]:.0%} of a ratio; {TOLERANCES['counts'][0]:.0%} of a count, and "
            f"{TOLERANCES['counts'][1]:.0f} more.",
            *(said or ("Nothing has grown beyond that.",)),
        )
    )


def record() -> None:
    """Write what is measured now as what it should be."""
    figures = measure(quick=False)
    content = {kind: {name: found["now"] for name, found in figures[kind].items()} for kind in TOLERANCES}
    write_atomically(RECORD, (json.dumps(content, indent=1) + "\n").encode())


def main(arguments: Sequence[str]) -> None:
    """Compare, or write the record."""
    if "--record" in arguments:
        record()
        return
    measured: Figures = {}

    def measure_and_keep(quick: bool) -> Figures:
        measured.update(measure(quick))
        return measured

    run("guard", measure_and_keep, page, arguments=arguments)
    if said := grown(measured):
        sys.exit("The guard of speed fails:\n" + "\n".join(said))


if __name__ == "__main__":
    main(sys.argv[1:])
