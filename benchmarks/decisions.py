"""Decisions a second, against other packages: ``python -m benchmarks.decisions``.

One linear bandit with K = 200 actions of d = 100 features; each competitor decides and is told the reward,
one decision at a time, on one thread. Only the time inside ``ask`` and ``tell`` counts. In each repeat all
competitors run once, in turns, and ratios are taken within a repeat, so that a machine that is busy for a
while slows both sides. The regret beside the speed shows whether a competitor learns; the runs are too few to
rank by.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))  # before NumPy

import argparse
import gc
import json
import math
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import fmean, median
from time import perf_counter
from typing import Any

from threadpoolctl import threadpool_info, threadpool_limits

import sparsebandits as sb
from benchmarks.peers import IDS_SAMPLES, PEERS, Competitor, Entry, Problem
from sparsebandits.randomness import IndexedNormals
from sparsebandits.storage import write_atomically
from sparsebandits.tables import Table

INSTANCE_SEED, NOISE_SEED = 0, 1
DIMENSION, SPARSITY = 100, 10
PRIOR_VARIANCE, WIDTH = 0.01, 2.0
WARM_UP = 20
"""Rounds that each competitor plays untimed before the first repeat."""

LEARNT = 0.75
"""A competitor counts as learning if its regret is below this share of the regret of playing at random."""


class Ours:
    """A policy of this package; the decision is kept between ``ask`` and ``tell``."""

    def __init__(self, policy: sb.Policy) -> None:
        self._policy = policy
        self._decision: sb.Decision

    def ask(self) -> int:
        """Ask the policy."""
        self._decision = self._policy.ask()
        return self._decision.action

    def tell(self, action: int, reward: float) -> None:
        """Tell the policy."""
        self._policy.tell(self._decision, reward)


def our(name: str, kind: str, policy: Callable[..., sb.Policy], note: str = "", **settings: Any) -> Entry:
    def make(problem: Problem) -> Competitor:
        prior = sb.GaussianPrior(variance=problem.prior_variance)
        known = {"prior": prior, "noise_variance": problem.noise_variance, "seed": problem.seed}
        return Ours(policy(problem.actions, **{**known, **settings}))

    return Entry(name, "sparsebandits", kind, make, note)


LIN_TS = our("LinTS", "TS", sb.LinTS, "also estimates the probability of each decision, from 100 standing draws")
LIN_UCB = our(
    "LinUCB",
    "UCB",
    sb.LinUCB,
    "keeps the variances of fixed actions up to date; other actions in each round would cost more",
    width=WIDTH,
)
LINEAR_IDS = our(
    "LinearIDS, 1,000 draws",
    "IDS",
    sb.LinearIDS,
    "reweights its draws and makes them anew when their effective number has halved",
    n_draws=1000,
)
LARGE_IDS = our("LinearIDS, 10,000 draws", "IDS", sb.LinearIDS, "the same", n_draws=10_000)
SPARSE = sb.SpikeSlab(inclusion=SPARSITY / DIMENSION, slab_variance=1.0 / SPARSITY)
SPARSE_IDS = our(
    "SparseIDS, 10,000 draws", "IDS", sb.SparseIDS, "knows that a tenth of the features matters", prior=SPARSE
)
SPARSE_TS = our("SparseTS, 10,000 draws", "TS", sb.SparseTS, "the same", prior=SPARSE)
UNTOLD_IDS = our(
    "SparseIDS, told nothing",
    "IDS",
    sb.SparseIDS,
    "learns sparsity, sizes and noise; 10,000 draws",
    prior=None,
    noise_variance=None,
)
OURS = (LIN_TS, LIN_UCB, LINEAR_IDS, LARGE_IDS, SPARSE_IDS, SPARSE_TS, UNTOLD_IDS)


@dataclass
class Measurement:
    """Decisions a second and final regret of one competitor, one number a repeat, or why there are none."""

    entry: Entry
    rates: list[float] = field(default_factory=list)
    regrets: list[float] = field(default_factory=list)
    problem: str = ""

    @property
    def measured(self) -> bool:
        """Whether every run went through."""
        return not self.problem


@dataclass(frozen=True)
class Target:
    """A figure and what it should reach; the range is over repeats."""

    name: str
    against: str
    figure: float | None
    low: float | None
    high: float | None
    wanted: float
    met: str


def play(competitor: Competitor, instance: sb.Instance, rounds: int) -> tuple[float, float]:
    """Return decisions a second and the regret, from true means, after ``rounds`` rounds."""
    noise, deviation = IndexedNormals(NOISE_SEED), math.sqrt(instance.noise_variance)
    seconds = regret = 0.0
    for t in range(rounds):
        asked = perf_counter()
        action = competitor.ask()
        seconds += perf_counter() - asked
        reward = float(instance.means[action]) + deviation * noise(t, action)
        regret += float(instance.gaps[action])
        told = perf_counter()
        competitor.tell(action, reward)
        seconds += perf_counter() - told
    return rounds / seconds, regret


def measure(entries: Sequence[Entry], instance: sb.Instance, rounds: int, repeats: int) -> list[Measurement]:
    """Run all entries in turns. A peer that fails is dropped and its reason kept; our own have to run."""
    measurements = [Measurement(entry) for entry in entries]
    for repeat in range(-1, repeats):  # −1 is the warm-up
        for measurement in measurements if repeat % 2 == 0 else reversed(measurements):
            if not measurement.measured:
                continue
            seed = max(repeat, 0)  # another seed a repeat: speed should not hang on one lucky or unlucky run
            problem = Problem(instance.actions, instance.noise_variance, PRIOR_VARIANCE, WIDTH, seed)
            gc.collect()  # nobody pays for what another left behind
            try:
                competitor = measurement.entry.make(problem)
                rate, regret = play(competitor, instance, min(rounds, WARM_UP) if repeat < 0 else rounds)
            except Exception as error:
                if measurement.entry.library == "sparsebandits":
                    raise
                kind = "not installed" if isinstance(error, ImportError) else "failed"
                measurement.problem = f"{kind} ({type(error).__name__}: {error})"
                continue
            if repeat >= 0:
                measurement.rates.append(rate)
                measurement.regrets.append(regret)
    return measurements


def ratio(name: str, mine: Measurement, rivals: Sequence[Measurement], wanted: float) -> Target:
    """Compare with the fastest rival. While one of them is missing, the target cannot be known to be met."""
    present = [rival for rival in rivals if rival.measured]
    if not present:
        return Target(name, "–", None, None, None, wanted, "not measured")
    best = max(present, key=lambda rival: median(rival.rates))
    ratios = [own / other for own, other in zip(mine.rates, best.rates, strict=True)]
    figure = median(ratios)
    met = "no" if figure < wanted else "yes" if len(present) == len(rivals) else "open: a peer is missing"
    return Target(name, best.entry.name, figure, min(ratios), max(ratios), wanted, met)


def absolute(mine: Measurement, wanted: float) -> Target:
    figure = median(mine.rates)
    met = "no" if figure < wanted else "yes"
    return Target(f"{mine.entry.name}, a second", "–", figure, min(mine.rates), max(mine.rates), wanted, met)


def targets(measurements: Sequence[Measurement], random_regret: float) -> list[Target]:
    """Return what this package should reach, from one run."""
    of = {measurement.entry: measurement for measurement in measurements}
    peers = [of[entry] for entry in PEERS]

    def rivals(kind: str) -> list[Measurement]:
        return [peer for peer in peers if peer.entry.kind == kind]

    learning = [p for p in rivals("TS") if not p.measured or fmean(p.regrets) < LEARNT * random_regret]
    return [
        ratio("LinTS / best peer TS that learns", of[LIN_TS], learning, 1.0),
        ratio("LinTS / fastest peer TS", of[LIN_TS], rivals("TS"), 1.0),
        ratio("LinUCB / fastest peer UCB", of[LIN_UCB], rivals("UCB"), 1.0),
        ratio("LinUCB / fastest peer of all", of[LIN_UCB], peers, 1.0),
        ratio(f"LinearIDS 1,000 / peer IDS {IDS_SAMPLES:,}", of[LINEAR_IDS], rivals("IDS"), 5.0),
        ratio(f"LinearIDS 10,000 / peer IDS {IDS_SAMPLES:,}", of[LARGE_IDS], rivals("IDS"), 1.5),
        ratio(f"SparseIDS 10,000 / peer IDS {IDS_SAMPLES:,}", of[SPARSE_IDS], rivals("IDS"), 3.0),
        absolute(of[LIN_TS], 4000.0),
        absolute(of[LIN_UCB], 4000.0),
    ]


def cpu_model() -> str:
    """Return the processor's name, as far as the system tells it."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def release(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "source tree" if package == "sparsebandits" else "not installed"


def circumstances(rounds: int, repeats: int) -> dict[str, Any]:
    """Return what a figure depends on besides the code."""
    packages = ("sparsebandits", "numpy", "scipy", *dict.fromkeys(entry.library for entry in PEERS))
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "rounds": rounds,
        "repeats": repeats,
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "load_average": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "versions": {package: release(package) for package in packages},
    }


def short(figure: float | None) -> float | int | None:
    """Return speeds as whole numbers and ratios with two decimals."""
    return figure if figure is None else round(figure) if figure >= 100 else round(figure, 2)


def page(
    around: dict[str, Any],
    measurements: Sequence[Measurement],
    reached: Sequence[Target],
    random_regret: float,
) -> str:
    """Return everything on one page."""
    lines = [
        (
            m.entry.name,
            round(median(m.rates)),
            round(min(m.rates)),
            round(max(m.rates)),
            round(fmean(m.regrets)),
        )
        if m.measured
        else (m.entry.name, None, None, None, None)
        for m in measurements
    ]
    goals = [(t.name, t.against, *(short(x) for x in (t.figure, t.low, t.high, t.wanted)), t.met) for t in reached]
    versions = ", ".join(f"{package} {number}" for package, number in around["versions"].items())
    notes = [f"{m.entry.name}: {m.entry.note}." for m in measurements if m.entry.note and m.measured]
    missing = [f"{m.entry.name}: {m.problem}." for m in measurements if not m.measured]
    parts = [
        f"Decisions a second, ask + tell one at a time: K = 200, d = 100, {around['rounds']} rounds, "
        f"{around['repeats']} repeats in turns",
        f"{around['cpu']}, {around['cores']} cores, load {around['load_average']} at the start, "
        f"at most {around['blas_threads']} BLAS thread; {around['date']}",
        f"Python {around['python']}; {versions}",
        "",
        str(Table(("competitor", "median", "min", "max", "regret"), lines)),
        f"Regret is the mean over repeats (a seed each); playing at random: {random_regret:.0f}.",
        "",
        str(Table(("target", "against", "figure", "min", "max", "wanted", "met"), goals)),
        f"Ratios are medians of ratios within a repeat. To learn: regret below {LEARNT:g} of random play's.",
        *(["", "Not measured", *missing] if missing else []),
        *(["", "Notes", *notes] if notes else []),
    ]
    return "\n".join(parts)


def record(
    around: dict[str, Any],
    measurements: Sequence[Measurement],
    reached: Sequence[Target],
    random_regret: float,
) -> bytes:
    """Return all figures as JSON."""
    competitors = [
        {
            "name": m.entry.name,
            "library": m.entry.library,
            "kind": m.entry.kind,
            "note": m.entry.note,
            "problem": m.problem or None,
            "median_rate": median(m.rates) if m.measured else None,
            "rates": m.rates if m.measured else [],
            "regrets": m.regrets if m.measured else [],
        }
        for m in measurements
    ]
    content = {
        **around,
        "random_regret": random_regret,
        "competitors": competitors,
        "targets": [vars(target) for target in reached],
    }
    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()


def at_least_one(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, got {text}")
    return number


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.decisions", description="Decisions a second.")
    parser.add_argument("--rounds", type=at_least_one, default=500, help="decisions in each run (500)")
    parser.add_argument("--repeats", type=at_least_one, default=5, help="runs of each competitor (5)")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write all figures to this file too")
    options = parser.parse_args(arguments)

    instance = sb.GaussianActions(DIMENSION, SPARSITY).sample(INSTANCE_SEED)
    random_regret = options.rounds * float(instance.gaps.mean())
    around = circumstances(options.rounds, options.repeats)
    with threadpool_limits(limits=1):  # for a NumPy that was imported before this module
        measurements = measure((*OURS, *PEERS), instance, options.rounds, options.repeats)
        around["blas_threads"] = max(pool["num_threads"] for pool in threadpool_info())
    reached = targets(measurements, random_regret)
    print(page(around, measurements, reached, random_regret))
    if options.json is not None:
        write_atomically(options.json, record(around, measurements, reached, random_regret))


if __name__ == "__main__":
    main()
