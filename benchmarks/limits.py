"""How near SparseIDS and its kernels are to what this machine can do: ``python -m benchmarks.limits``.

The limit of a call is the largest of three times: of its multiply-adds at the sparsity present, of the bytes that it
must touch at the level of the memory where they live, and of its random numbers, each at the rate that
``benchmarks/machine.py`` measures in the same run. The work is counted from the data (θ before and after, actions,
groups), by what it takes at the least, not by what a kernel happens to do:

- a visit of a coordinate takes a byte of random bits and VISIT multiply-adds; one that changes, d more; an included one
  a normal;
- a sweep over models takes the factor, inverse and residuals of each distinct model once, O(k d) for each flip that
  leads to a distinct model, a normal a coefficient and a triangular solve a particle; refused proposals cost nothing;
- an exponential counts as EXPONENTIAL multiply-adds, a comparison as one; a coefficient in a sparse row has 10 bytes.

So a limit cannot be reached, but nothing can be below it. The rate of multiply-adds is that of dense products, whose
operands stay in registers; sparse rows pick rows of X'X or of the actions, which live in L2, an operand a multiply-add.
What the limit is if those have to be read is shown beside it, and is not what the goal is held against.

500 rounds of SparseIDS are played twice with each seed: once
untouched, which gives the processor time of ask + tell, and once with watchers around the kernels, which give the times
of the kernels and the counts.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))  # before NumPy

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import process_time
from typing import Any, NamedTuple, TypeAlias

import numpy as np

import sparsebandits as sb
from benchmarks import PAPERS
from benchmarks.machine import EXPONENTIAL, machine
from benchmarks.section import Figures, around, run, short, target, targets_table
from benchmarks.watching import Watcher, watched
from sparsebandits.arguments import FloatArray, IntArray
from sparsebandits.posteriors.kernels.rows import quadratic_forms
from sparsebandits.posteriors.rows import Rows
from sparsebandits.randomness import IndexedNormals
from sparsebandits.tables import Cell, Table

DIMENSION, SPARSITY, DRAWS = 100, 10, 10_000
PRIOR = sb.SpikeSlab(inclusion=SPARSITY / DIMENSION, slab_variance=1.0 / SPARSITY)
VISIT = 4
"""Multiply-adds of a visit: the pull on θ_j, the centre, the log odds."""

SPARSE_BYTES = 10
"""Bytes of a coefficient in a sparse row: its value, and its column in two."""

WANTED = 5.0
"""Times the sum of its limits that SparseIDS may take."""

LEVEL_HOLDS = {"L2": 1e6, "L3": 2e7, "memory": math.inf}
"""Bytes up to which what a call touches counts as living at a level."""


PICKED = "rows read from L2"


class Work(NamedTuple):
    """What a call needs at the least."""

    multiply_adds: float = 0.0
    bytes: float = 0.0
    normals: float = 0.0
    bits: float = 0.0  # random integers of 64 bits
    picked: float = 0.0  # multiply-adds with rows that sparsity picks
    single: bool = False  # precision


def limits(work: Work, rates: Figures) -> dict[str, float]:
    """Return the seconds of each kind of work at this machine's rates; the last is not part of the limit."""
    precision = "_single" if work.single else ""
    level = next(level for level, most in LEVEL_HOLDS.items() if work.bytes <= most)
    return {
        "multiply-adds": work.multiply_adds / rates["multiply_adds" + precision],
        "bytes": work.bytes / rates["bytes"][level],
        "random numbers": work.normals / rates["normals" + precision] + work.bits / rates["bits"],
        PICKED: (4 if work.single else 8) * work.picked / rates["bytes"]["L2"],
    }


@dataclass(frozen=True, eq=False)
class Facts:
    """What the work of a decision depends on, from draws and actions alone."""

    theta: FloatArray
    nonzero: int
    group_nonzero: IntArray  # (K,) coefficients that are not zero in some draw under which the action is best

    @classmethod
    def of(cls, theta: FloatArray, actions: FloatArray) -> "Facts":
        """Look at all draws."""
        best = (theta @ actions.T).argmax(axis=1)
        group_nonzero = np.zeros(len(actions), dtype=np.intp)
        for action in np.unique(best):
            group_nonzero[action] = np.count_nonzero((theta[best == action] != 0).any(axis=0))
        return cls(theta, int(np.count_nonzero(theta)), group_nonzero)


class Scene:
    """What the watchers of one run know."""

    def __init__(self, actions: FloatArray) -> None:
        self.actions = actions
        self.before: FloatArray = np.empty(0)  # θ before the present sweep
        self._facts: Facts | None = None
        self._predicted: tuple[Rows | None, set[bytes]] = None, set()

    def facts(self, theta: FloatArray) -> Facts:
        """Return the facts of these draws."""
        if self._facts is None or self._facts.theta is not theta:
            self._facts = Facts.of(theta, self.actions)
        return self._facts

    @property
    def last(self) -> Facts:
        """The facts of the draws that were looked at last."""
        assert self._facts is not None
        return self._facts

    def is_new(self, rows: Rows, x: FloatArray) -> bool:
        """Return whether these draws meet this action for the first time."""
        if self._predicted[0] is not rows:
            self._predicted = rows, set()
        new = x.tobytes() not in self._predicted[1]
        self._predicted[1].add(x.tobytes())
        return new


Counter: TypeAlias = Callable[[Scene, tuple[Any, ...], Any], Work]
"""From what is known of the run, the arguments of a call and its result."""


def reweighting(scene: Scene, given: tuple[Any, ...], result: Any) -> Work:
    size = len(result[0])
    return Work((EXPONENTIAL + 3) * size, 16 * size)


def predictions(scene: Scene, given: tuple[Any, ...], result: Any) -> Work:
    rows, x = given[0].draws().source, given[1]
    nonzero = int(rows.counts.sum()) if scene.is_new(rows, x) else 0
    return Work(nonzero + 2 * len(result), SPARSE_BYTES * nonzero + 16 * len(result))


def resampling(scene: Scene, given: tuple[Any, ...], result: Any) -> Work:
    if len(result) < len(given[0]):  # some of them are watched
        return Work()
    scene.before = result.theta
    return Work(bytes=4 * result.rows.begins.nbytes)


def coordinates(scene: Scene, given: tuple[Any, ...], result: Any) -> Work:
    before, after = scene.before, given[1].theta
    scene.before = after
    changed, (size, d), nonzero = int(np.count_nonzero(before != after)), after.shape, int(np.count_nonzero(after))
    visits, touched = size * d * VISIT, 2 * SPARSE_BYTES * nonzero
    return Work(visits + changed * d, touched, nonzero, size * d / 8, changed * d, single=True)


def models(scene: Scene, given: tuple[Any, ...], result: Any) -> Work:
    before, after = scene.before != 0, given[1].theta != 0
    scene.before = given[1].theta
    d = after.shape[1]
    k = np.unique(before, axis=0).sum(axis=1).astype(np.float64)
    reached = np.unique(after, axis=0, return_index=True)[1]
    sizes, flips = after[reached].sum(axis=1), (before[reached] != after[reached]).sum(axis=1)
    distinct = len(k)
    picked = float((k * k * d / 2 + k * d).sum() + (2 * d * sizes * flips).sum())
    work = picked + float((k**3 / 6).sum() + 0.5 * (after.sum(axis=1) ** 2).sum())
    work += distinct * d * (VISIT + EXPONENTIAL)
    return Work(work, scene.before.nbytes + after.nbytes, int(after.sum()), distinct * d, picked)


def best(scene: Scene, given: tuple[Any, ...], result: Any) -> Work:
    facts = scene.facts(given[0].dense)
    size, count, nonzero = len(facts.theta), len(scene.actions), facts.nonzero
    touched = SPARSE_BYTES * nonzero + scene.actions.nbytes + 16 * size
    return Work((nonzero + size) * count, touched, picked=nonzero * count, single=True)


def weighted_mean(scene: Scene, given: tuple[Any, ...], result: Any) -> Work:
    size, nonzero = len(scene.last.theta), scene.last.nonzero
    return Work(nonzero + 2 * size, SPARSE_BYTES * nonzero + 16 * size)


def group_squares(scene: Scene, given: tuple[Any, ...], result: Any) -> Work:
    support = given[0].support
    nonzero, count = int(scene.last.group_nonzero[support].sum()), len(scene.actions)
    touched = SPARSE_BYTES * nonzero + scene.actions.nbytes
    return Work((nonzero + 2 * len(support)) * count, touched, picked=nonzero * count, single=True)


KERNELS: dict[str, tuple[Counter, tuple[str, ...]]] = {
    "reweighting": (reweighting, ("sparsebandits.posteriors.kernels.weighing:reweighted",)),
    "predictions of an action": (predictions, ("sparsebandits.posteriors.cloud:Cloud._predicted",)),
    "resampling": (resampling, ("sparsebandits.posteriors.ensemble:Ensemble.take",)),
    "sweep over coordinates": (coordinates, ("sparsebandits.posteriors.moves:Moves.coordinates",)),
    "sweep over models": (models, ("sparsebandits.posteriors.moves:Moves.models",)),
    "best action of each draw": (best, ("sparsebandits.rules.optima:best_actions",)),
    "mean of the draws": (weighted_mean, ("sparsebandits.rules.best:Best.__init__",)),
    "gain of each action": (group_squares, ("sparsebandits.rules.best:Best.moments",)),
}
"""Each kernel: how its work is counted, and where its calls go through."""


@dataclass(frozen=True)
class Call:
    """One call of a kernel."""

    kernel: str
    seconds: float
    work: Work


def play(policy: sb.Policy, instance: sb.environments.Instance, rounds: int) -> float:
    """Return the processor seconds of ask + tell."""
    noise, deviation, seconds = IndexedNormals(1), math.sqrt(instance.noise_variance), 0.0
    for t in range(rounds):
        begun = process_time()
        decision = policy.ask()
        seconds += process_time() - begun
        reward = float(instance.means[decision.action]) + deviation * noise(t, decision.action)
        begun = process_time()
        policy.tell(decision, reward)
        seconds += process_time() - begun
    return seconds


def calls_of(policy: sb.Policy, instance: sb.environments.Instance, rounds: int) -> list[Call]:
    """Return the calls of all kernels in a run."""
    scene, calls = Scene(instance.actions), list[Call]()

    def watcher(kernel: str, count: Counter) -> Watcher:
        return lambda seconds, given, result: calls.append(Call(kernel, seconds, count(scene, given, result)))

    places = {place: watcher(name, count) for name, (count, several) in KERNELS.items() for place in several}
    with watched(places):
        play(policy, instance, rounds)
    return calls


def breakdown(calls: Sequence[Call], rates: Figures) -> list[Figures]:
    """Return calls, milliseconds, limit and what it is made of, a row a kernel."""
    rows = []
    for kernel in dict.fromkeys(call.kernel for call in calls):
        own = [call for call in calls if call.kernel == kernel]
        parts = [limits(call.work, rates) for call in own]
        read = 1e3 * sum(max(part.values()) for part in parts)
        for part in parts:
            del part[PICKED]
        binding = {kind: sum(part[kind] for part in parts) for kind in parts[0]}
        rows.append(
            {
                "kernel": kernel,
                "calls": len(own),
                "ms": 1e3 * sum(call.seconds for call in own),
                "limit_ms": 1e3 * sum(max(part.values()) for part in parts),
                "binding": max(binding, key=lambda kind: binding[kind]),
                "limit_ms_read": read,
            }
        )
    return rows


def outside(policy: sb.SparseIDS, draws: int) -> list[Call]:
    """Return calls of kernels that this run does without, on its draws: quadratic forms, and Langevin steps."""
    evidence, rows = policy.posterior.evidence, policy.posterior.draws().source
    sizes, gram = rows.counts, evidence.gram
    squares = Work(float((sizes * (sizes + 1)).sum()) / 2, SPARSE_BYTES * int(sizes.sum()) + gram.nbytes)
    prior = sb.SpikeSlab(PRIOR.inclusion, PRIOR.slab_variance, spike=sb.LaplaceSpike(0.03))
    chains, d = draws // 10, rows.dimension
    langevin = sb.Langevin(prior, d, 1.0, draws, seed=0, chains=chains)
    steps = Work(float(draws * d * (d + EXPONENTIAL + 12)), 8 * draws * d, draws * d, single=True)

    def one(kernel: str, action: Callable[[], object], work: Work) -> list[Call]:
        action()  # compiles
        found = []
        for _ in range(5):
            begun = process_time()
            action()
            found.append(Call(kernel, process_time() - begun, work))
        return found

    def step() -> None:
        langevin.update(np.ones(d), 0.0)
        langevin.draws()

    return [
        *one("quadratic forms", lambda: quadratic_forms(rows.arrays, gram), squares),
        *one(f"Langevin, ten steps of {chains} chains", step, steps),
    ]


def measure(quick: bool) -> Figures:
    """Play runs with several seeds, each between a measurement of the machine and its own counts."""
    rounds, draws, repeats = (20, 1000, 1) if quick else (500, DRAWS, 3)
    instance = sb.environments.GaussianActions(DIMENSION, SPARSITY).sample(0)

    def policy(seed: int) -> sb.SparseIDS:
        given = {**PAPERS, "n_draws": draws}
        return sb.SparseIDS(instance.actions, PRIOR, instance.noise_variance, seed=seed, intercept=False, **given)

    play(policy(0), instance, min(rounds, 60))  # compiles
    runs: list[Figures] = []
    for seed in range(repeats):
        print(f"limits: run {seed + 1} of {repeats}", file=sys.stderr, flush=True)
        rates = machine(quick)
        own = policy(seed)
        spent = 1e3 * play(own, instance, rounds)
        rows = breakdown(calls_of(policy(seed), instance, rounds), rates)
        others = breakdown(outside(own, draws), rates)
        runs.append({"rates": rates, "ms": spent, "kernels": rows, "outside": others})
    ratios = [one["ms"] / sum(row["limit_ms"] for row in one["kernels"]) for one in runs]
    goal = target("SparseIDS / the sum of its limits", ratios, WANTED, at_most=True)
    return {"rounds": rounds, "draws": draws, "runs": runs, "targets": [goal]}


def page(figures: Figures) -> str:
    """Return the section as text."""
    runs = figures["runs"]
    rest = [one["ms"] - sum(row["ms"] for row in one["kernels"]) for one in runs]
    sums, read = (
        median(sum(row[key] for row in one["kernels"]) for one in runs) for key in ("limit_ms", "limit_ms_read")
    )
    total = median(one["ms"] for one in runs)
    inside = kernel_rows([one["kernels"] for one in runs])
    inside.append(("Python and the rest", None, short(median(rest)), None, None, "", None))
    ratio = figures["targets"][0]["figure"]
    inside.append(("ask + tell", None, short(total), short(sums), short(ratio), "", short(read)))
    titles = ("kernel", "calls", "ms", "limit ms", "ratio", "what binds", f"limit ms, {PICKED}")
    return "\n".join(
        (
            f"SparseIDS against the limits of this machine: d = {DIMENSION}, K = 200, {figures['draws']:,} particles, "
            f"{figures['rounds']} rounds, median of {len(runs)} seeds",
            around(figures),
            "",
            str(Table(("rate of one thread", "billions a second"), rates_rows([one["rates"] for one in runs]))),
            "",
            str(Table(titles, inside)),
            "",
            "Kernels that this run does without, on its draws",
            "",
            str(Table(titles, kernel_rows([one["outside"] for one in runs]))),
            "",
            targets_table(figures["targets"]),
        )
    )


def kernel_rows(runs: Sequence[Sequence[Figures]]) -> list[tuple[Cell, ...]]:
    """Return a row a kernel, medians over runs; calls, milliseconds and limits are those of a run in all."""
    rows: list[tuple[Cell, ...]] = []
    for kernel in dict.fromkeys(row["kernel"] for one in runs for row in one):
        own = [row for one in runs for row in one if row["kernel"] == kernel]
        spent, limit, read = (median(row[key] for row in own) for key in ("ms", "limit_ms", "limit_ms_read"))
        ratio = median(row["ms"] / row["limit_ms"] for row in own)
        calls = round(median(row["calls"] for row in own))
        rows.append((kernel, calls, short(spent), short(limit), short(ratio), own[0]["binding"], short(read)))
    return rows


def rates_rows(runs: Sequence[Figures]) -> list[tuple[Cell, ...]]:
    """Return the machine's rates, medians over runs."""

    def billions(values: Sequence[float]) -> float | int | None:
        return short(median(values) / 1e9)

    return [
        ("multiply-adds, double precision", billions([one["multiply_adds"] for one in runs])),
        ("multiply-adds, single precision", billions([one["multiply_adds_single"] for one in runs])),
        *((f"bytes read, {level}", billions([one["bytes"][level] for one in runs])) for level in runs[0]["bytes"]),
        ("random integers of 64 bits", billions([one["bits"] for one in runs])),
        ("normals, double precision", billions([one["normals"] for one in runs])),
        ("normals, single precision", billions([one["normals_single"] for one in runs])),
    ]


if __name__ == "__main__":
    run("limits", measure, page)
