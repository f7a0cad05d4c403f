"""What trials and workers cost: ``python -m benchmarks.workers`` (a quarter of an hour, two cores).

Whole experiments of sparse IDS: seconds a trial on one worker, and what a second worker gains. Wall time counts, and
workers are started anew each time, as a run from the command line does. Beside it stands what the machine itself gives:
the same trials in two processes that share nothing, against one process.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))  # before NumPy

import subprocess
import sys
from time import perf_counter

from joblib.externals.loky import get_reusable_executor

import sparsebandits as sb
from benchmarks import PAPERS
from benchmarks.section import Figures, around, run, short, target, targets_table

DIMENSION, NOISE = 100, 2.0
COUNTS, HORIZON = (1, 2, 4, 8, 80), 500


def told(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def experiment(trials: int, horizon: int) -> sb.Experiment:
    """Return the experiment that is timed."""
    sparsity = DIMENSION // 10
    prior = sb.SpikeSlab(inclusion=sparsity / DIMENSION, slab_variance=1.0 / sparsity)
    return sb.Experiment(
        environment=sb.environments.GaussianActions(DIMENSION, sparsity, noise_variance=NOISE),
        policies={"SparseIDS": sb.maker(sb.SparseIDS, prior=prior, **PAPERS)},
        horizon=horizon,
        trials=trials,
    )


def seconds(trials: int, workers: int, horizon: int) -> float:
    """Return the wall time of an experiment, workers' start included."""
    get_reusable_executor().shutdown(wait=True)
    begun = perf_counter()
    experiment(trials, horizon).run(workers=workers)
    taken = perf_counter() - begun
    told(f"{trials} trials on {workers} workers: {taken:.1f} s")
    return taken


def apart(trials: int, processes: int, horizon: int) -> float:
    """Return the wall time of as many processes that share nothing, each with its part of the trials."""
    command = [sys.executable, "-m", "benchmarks.workers", "--alone", str(trials // processes), str(horizon)]
    begun = perf_counter()
    started = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(processes)]
    if any(process.wait() for process in started):
        raise RuntimeError("a process that should play trials failed")
    taken = perf_counter() - begun
    told(f"{trials} trials in {processes} processes apart: {taken:.1f} s")
    return taken


def measure(quick: bool) -> Figures:
    horizon, counts = (20, (1, 2)) if quick else (HORIZON, COUNTS)
    most = counts[-1]
    seconds(1, 1, 30)  # compiles
    found: Figures = {"horizon": horizon, "counts": list(counts)}
    found["seconds"] = [seconds(count, 1, horizon) for count in counts]
    for name in ("one", "two", "start", "one_apart", "two_apart"):
        found[name] = []
    for _ in range(1 if quick else 2):
        found["one"].append(seconds(most, 1, horizon))
        found["two"].append(seconds(most, 2, horizon))
        found["start"].append(seconds(2, 2, 1))
        found["one_apart"].append(apart(most, 1, horizon))
        found["two_apart"].append(apart(most, 2, horizon))
    return {**found, "targets": goals(found)}


def goals(found: Figures) -> list[Figures]:
    """Return the goal on workers, and what the machine gives."""
    pairs = zip(found["one"], found["two"], strict=True), zip(found["one_apart"], found["two_apart"], strict=True)
    ours, machine = ([one / two for one, two in pair] for pair in pairs)
    return [
        target("two workers, times faster", ours, 1.8),
        target("two processes that share nothing, times faster", machine, 1.8),
    ]


def page(figures: Figures) -> str:
    alone = zip(figures["counts"], figures["seconds"], strict=True)
    each = ", ".join(f"{short(taken / count)} with {count}" for count, taken in alone)
    listed = {
        name: ", ".join(f"{taken:.1f}" for taken in figures[name])
        for name in ("one", "two", "start", "one_apart", "two_apart")
    }
    return "\n".join(
        (
            f"Experiments of {figures['horizon']} rounds, d = {DIMENSION}, K = 200; seconds of wall time",
            around(figures),
            "",
            f"a trial on one worker: {each}",
            f"{figures['counts'][-1]} trials on one worker: {listed['one']}; on two: {listed['two']}",
            f"of which to start two workers, import and load the kernels: {listed['start']}",
            f"the same in one process: {listed['one_apart']}; in two that share nothing: {listed['two_apart']}",
            "",
            targets_table(figures["targets"]),
        )
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--alone"]:
        experiment(int(sys.argv[2]), int(sys.argv[3])).run(workers=1)
    else:
        run("workers", measure, page, ["joblib"])
