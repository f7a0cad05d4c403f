"""How long a fresh process takes to its first decision: ``python -m benchmarks.start`` (two minutes).

Each figure is the wall time of a new Python process from its start to its end, so the interpreter's own time is in it
(and shown). The process imports the package, makes sparse IDS with 10,000 particles (K = 200, d = 100) and asks once,
or plays 20 rounds, in which the particles move and more kernels are needed. Warm: compiled kernels are on disk, from a
process that ran before. Cold: the directory of compiled kernels is empty. Standard error tells whether the line about
compiling was said. The import alone is timed inside of a process; packages that it brings are the installed ones that
are in ``sys.modules`` after it and were not before.
"""

import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from benchmarks.section import Figures, around, run, short, target, targets_table
from sparsebandits.posteriors.kernels.compiled import LINE
from sparsebandits.tables import Cell, Table

ROUNDS = 20
IMPORT = """
from time import perf_counter, process_time
wall, cpu = perf_counter(), process_time()
import sparsebandits
print(perf_counter() - wall, process_time() - cpu)
"""

PLAY = """
import sys
import numpy as np
import sparsebandits as sb

rng = np.random.default_rng(0)
policy = sb.SparseIDS(rng.standard_normal((200, 100)), sb.SpikeSlab(0.1, 0.1), 2.0, seed=0)
decision = policy.ask()
for _ in range(int(sys.argv[1]) - 1):
    policy.tell(decision, decision.features[:10].sum() / 10**0.5 + 2**0.5 * rng.standard_normal())
    decision = policy.ask()
print(policy.posterior.sweeps)
"""

BEFORE = "import sys; before = set(sys.modules)\n"
LOADED = """
loaded = {name.partition('.')[0] for name in set(sys.modules) - before}
from importlib.metadata import packages_distributions
print(*sorted(loaded & set(packages_distributions()) - {'sparsebandits'}))
"""


def process(program: str, *arguments: str, kernels: Path | None = None) -> tuple[float, str, str]:
    """Run a program in a new process; return its wall time, standard output and standard error."""
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    cache = {} if kernels is None else {"NUMBA_CACHE_DIR": str(kernels)}
    begun = perf_counter()
    answer = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, **threads, **cache},
        capture_output=True,
        text=True,
        check=True,
    )
    return perf_counter() - begun, answer.stdout, answer.stderr


def start(rounds: int, kernels: Path) -> Figures:
    """Return what a process that plays ``rounds`` rounds took, and what it left."""
    seconds, said, errors = process(PLAY, str(rounds), kernels=kernels)
    if rounds > 1 and int(said) == 0:
        raise RuntimeError(f"expected the particles to move within {rounds} rounds; the kernels of moves were not used")
    files = len(list(kernels.rglob("*.nbi")))
    return {"seconds": seconds, "lines": errors.count(LINE), "kernels": files}


def measure(quick: bool) -> Figures:
    bare, imports, starts = [], [], {}
    for _ in range(2 if quick else 5):
        bare.append(process("pass")[0])
        imports.append([float(number) for number in process(IMPORT)[1].split()])
    for rounds in (1, ROUNDS):
        found: dict[str, list[Figures]] = {"cold": [], "warm": []}
        for repeat in range(1 if quick else 3):
            with TemporaryDirectory() as kernels:
                found["cold"].append(start(rounds, Path(kernels)))
                found["warm"] += [start(rounds, Path(kernels)) for _ in range(2)]
            print(f"{rounds} rounds, repeat {repeat}: {found['cold'][-1]['seconds']:.1f} s cold", file=sys.stderr)
        starts[str(rounds)] = found
    wall, cpu = ([one[i] for one in imports] for i in range(2))
    return {
        "bare": bare,
        "import_wall": wall,
        "import_cpu": cpu,
        "imported": process(BEFORE + IMPORT + LOADED)[1].splitlines()[1].split(),
        "needed": process(BEFORE + PLAY + LOADED, "1")[1].splitlines()[1].split(),
        "starts": starts,
        "targets": goals(wall, starts),
    }


def goals(wall: list[float], starts: Figures) -> list[Figures]:
    """Return the goals: seconds, and a line on standard error in cold processes alone."""

    def each(which: str, kind: str, rounds: int = 1) -> list[float]:
        return [one[which] for one in starts[str(rounds)][kind]]

    return [
        target("import, s", wall, 0.5, at_most=True),
        target("first decision, warm, s", each("seconds", "warm"), 0.9, at_most=True),
        target("first decision, cold, s", each("seconds", "cold"), 3.0, at_most=True),
        target(f"first {ROUNDS} decisions, cold, s", each("seconds", "cold", ROUNDS), 5.0, at_most=True),
        target("line about compiling, cold", each("lines", "cold"), 1),
        target("line about compiling, warm", each("lines", "warm"), 0, at_most=True),
    ]


def page(figures: Figures) -> str:
    rows: list[tuple[Cell, ...]] = [
        ("import sparsebandits, inside a process", "", *spread(figures["import_wall"]), None, None)
    ]
    rows.append(("python -c pass", "", *spread(figures["bare"]), None, None))
    for rounds, found in figures["starts"].items():
        name = "first decision" if rounds == "1" else f"first {rounds} decisions"
        for kind in ("warm", "cold"):
            runs = found[kind]
            kernels, lines = (max(one[which] for one in runs) for which in ("kernels", "lines"))
            rows.append((name, kind, *spread([one["seconds"] for one in runs]), kernels, lines))
    return "\n".join(
        (
            "Fresh processes: seconds of wall time from start to end",
            around(figures),
            "",
            str(Table(("process", "kernels", "median", "min", "max", "compiled", "lines said"), rows)),
            f"The import takes {1000 * median(figures['import_cpu']):.0f} ms of processor time and brings "
            f"{', '.join(figures['imported']) or 'no other package'}; "
            f"a first decision loads {', '.join(figures['needed'])}.",
            "",
            targets_table(figures["targets"]),
        )
    )


def spread(seconds: list[float]) -> tuple[Cell, Cell, Cell]:
    """Return median, least and largest."""
    return short(median(seconds)), short(min(seconds)), short(max(seconds))


if __name__ == "__main__":
    run("start", measure, page)
