"""How the cost of sparse IDS grows: ``python -m benchmarks.scaling`` (some eight minutes).

Sparse IDS on 10,000 particles is told prior and noise. Its processor time in ask and tell, summed over the first rounds
of a run so that moves of the particles are in it, is measured at sizes of one kind, all else fixed: features d (5 of
which matter, or a tenth of them), actions K, draws. Each seed is an instance at every size, measured one size after the
other, and gives an exponent: the slope of the least-squares line through logarithms of size and cost. The page shows
the median and range over seeds, of all sizes and of the three largest, where fixed costs no longer flatten the line.

One long run shows whether a round costs more as rounds go by, and whether memory grows; the median round of a stretch
is shown beside the mean because moves get rare. Trials and workers are in ``benchmarks/workers.py``.

``python -m benchmarks.scaling_plot`` draws ``benchmarks/scaling.png`` from the figures.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))  # before NumPy

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

import numpy as np

import sparsebandits as sb
from benchmarks.rounds import rounds, sparse_ids
from benchmarks.section import Figures, around, run, short, target, targets_table
from sparsebandits.tables import Cell, Table

NOISE = 2.0
LARGEST = 3
"""Sizes at the upper end that have an exponent of their own."""

LONG, LONG_DIMENSION, STRETCHES = 20_000, 40, 10
SETTLED = 1
"""Stretches of a long run that do not count: the particles still move often."""


class Size(NamedTuple):
    """What a run costs depends on."""

    dimension: int
    sparsity: int
    actions: int = 200
    draws: int = 10_000


class Series(NamedTuple):
    """Sizes of one kind, all else fixed; each seed is one run of ``length`` rounds at each size."""

    name: str
    unit: str
    sizes: dict[int, Size]
    length: int
    seeds: int


SERIES = (
    Series("d, 5 matter", "features d", {d: Size(d, 5) for d in (20, 50, 100, 200, 500, 1000)}, 200, 5),
    Series("d, a tenth matters", "features d", {d: Size(d, d // 10) for d in (20, 50, 100, 200, 500, 1000)}, 200, 3),
    Series("K", "actions K", {k: Size(100, 10, k) for k in (200, 600, 2000, 6000, 20_000)}, 100, 3),
    Series("draws", "draws", {m: Size(100, 10, draws=m) for m in (1000, 3000, 10_000, 30_000, 100_000)}, 200, 5),
)


def told(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def exponent(sizes: Iterable[float], costs: Iterable[float]) -> float:
    """Return the slope of the least-squares line through the logarithms.

    >>> round(exponent([1, 10, 100], [3, 30, 300]), 6)
    1.0
    """
    x, y = np.log(list(sizes)), np.log(list(costs))
    x -= x.mean()
    return float(x @ y / (x @ x))


def cost(size: Size, length: int, seed: int) -> float:
    """Return milliseconds of processor time a round."""
    instance = sb.environments.GaussianActions(
        size.dimension, size.sparsity, size.actions, noise_variance=NOISE
    ).sample(seed)
    policy = sparse_ids(instance, size.sparsity, seed, size.draws)
    return 1000 * fmean(r.ask + r.tell for r in rounds(policy, instance, length, seed))


def grown(series: Series) -> Figures:
    """Measure a series: milliseconds by seed and size, and the exponents of each seed."""
    ms: list[list[float]] = []
    for seed in range(series.seeds):
        ms.append([cost(size, series.length, seed) for size in series.sizes.values()])
        told(f"{series.name}, seed {seed}: " + ", ".join(f"{m:.3g} ms" for m in ms[-1]))
    sizes = list(series.sizes)
    return {
        "name": series.name,
        "unit": series.unit,
        "rounds": series.length,
        "sizes": sizes,
        "ms": ms,
        "exponents": [exponent(sizes, row) for row in ms],
        "largest": [exponent(sizes[-LARGEST:], row[-LARGEST:]) for row in ms],
    }


def resident() -> float:
    """Return the megabytes that this process has in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def long_run(length: int, seed: int) -> Figures:
    """Play one long run; milliseconds and the most memory by stretch (arrays come and go from round to round)."""
    instance = sb.environments.GaussianActions(LONG_DIMENSION, LONG_DIMENSION // 10, noise_variance=NOISE).sample(seed)
    policy = sparse_ids(instance, LONG_DIMENSION // 10, seed)
    stretch = length // STRETCHES
    ms, megabytes = np.empty((2, length))
    for t, r in enumerate(rounds(policy, instance, length, seed)):
        ms[t], megabytes[t] = 1000 * (r.ask + r.tell), resident()
    by_stretch, memory = ms.reshape(STRETCHES, stretch), megabytes.reshape(STRETCHES, stretch)
    found: Figures = {
        "ends": [stretch * (i + 1) for i in range(STRETCHES)],
        "mean": by_stretch.mean(axis=1).tolist(),
        "median": np.median(by_stretch, axis=1).tolist(),
        "megabytes": memory.max(axis=1).tolist(),
    }
    told(f"long run, seed {seed}: {found['mean'][-1]:.3g} ms a round at the end")
    return found


def measure(quick: bool) -> Figures:
    cost(Size(20, 2), 30, 0)  # compiles
    long = [long_run(500 if quick else LONG, seed) for seed in range(1 if quick else 3)]
    series = [grown(reduced(s) if quick else s) for s in SERIES]
    return {"series": series, "long": long, "targets": goals(series, long)}


def reduced(series: Series) -> Series:
    """Return the smallest sizes, few rounds and two seeds, for a trial."""
    return series._replace(sizes=dict(list(series.sizes.items())[:3]), length=20, seeds=2)


def goals(series: Sequence[Figures], long: Sequence[Figures]) -> list[Figures]:
    """Return the goals on growth."""
    return [
        target("exponent of cost in d, 5 matter", series[0]["exponents"], 1.0, at_most=True),
        target("the same, three largest d", series[0]["largest"], 1.0, at_most=True),
        target("mean round, last / first settled stretch", [ratio(run["mean"]) for run in long], 1.1, at_most=True),
        target("median round, the same", [ratio(run["median"]) for run in long], 1.1, at_most=True),
        target(
            "most memory, last less first settled, MB", [gained(run["megabytes"]) for run in long], 5.0, at_most=True
        ),
    ]


def ratio(stretches: Sequence[float]) -> float:
    """Return the last of the stretches over the first one that counts."""
    return stretches[-1] / stretches[SETTLED]


def gained(stretches: Sequence[float]) -> float:
    """Return the last of the stretches less the first one that counts."""
    return stretches[-1] - stretches[SETTLED]


def page(figures: Figures) -> str:
    parts = ["How the cost of sparse IDS grows; milliseconds of processor time a round", around(figures)]
    parts += ["", str(exponents_table(figures["series"])), ""]
    parts += [costs_line(s) for s in figures["series"]]
    parts += ["", long_text(figures["long"]), "", targets_table(figures["targets"])]
    return "\n".join(parts)


def exponents_table(series: Sequence[Figures]) -> Table:
    """Return the exponents with their ranges over seeds."""
    rows: list[tuple[Cell, ...]] = [
        (
            s["name"],
            f"{s['sizes'][0]} to {s['sizes'][-1]}",
            s["rounds"],
            len(s["ms"]),
            *(cell for which in ("exponents", "largest") for cell in spread(s[which])),
        )
        for s in series
    ]
    columns = ("growth in", "sizes", "rounds", "seeds", "exponent", "range", "three largest", "range")
    return Table(columns, rows)


def spread(values: Sequence[float]) -> tuple[float, str]:
    """Return the median, and the range as words."""
    return round(median(values), 2), f"{min(values):.2f} to {max(values):.2f}"


def costs_line(series: Figures) -> str:
    """Return the median cost at each size, in words."""
    medians = (median(column) for column in zip(*series["ms"], strict=True))
    costs = ", ".join(f"{short(m)} at {size}" for size, m in zip(series["sizes"], medians, strict=True))
    return f"{series['name']}: {costs} ms"


def long_text(long: Sequence[Figures]) -> str:
    """Return the stretches of the long runs: medians over runs."""
    rows: list[tuple[Cell, ...]] = []
    begin = 1
    for i, end in enumerate(long[0]["ends"]):
        mean, middle, megabytes = (median(run[which][i] for run in long) for which in ("mean", "median", "megabytes"))
        rows.append((f"{begin} to {end}", short(mean), short(middle), round(megabytes, 1)))
        begin = end + 1
    head = f"One long run, d = {LONG_DIMENSION}, K = 200; medians over {len(long)} seeds"
    return f"{head}\n{Table(('rounds', 'mean (ms)', 'median (ms)', 'most memory (MB)'), rows)}"


if __name__ == "__main__":
    run("scaling", measure, page)
