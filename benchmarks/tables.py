"""How long a large CSV file takes to read, and how much memory: ``python -m benchmarks.tables`` (two minutes).

A file of names and standard normal features with all their digits is written to a temporary directory, then read in a
new process, once as ``sparsebandits design`` reads it and once as ``sparsebandits decide`` does. Memory is the largest
resident size of that process, of which about 0.1 GB are the imports.
"""

import argparse
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from sparsebandits.tables import Cell, Table

READ = """
import resource, sys
from time import perf_counter, process_time
from sparsebandits.advice.read import read_actions, read_history
begun = perf_counter()
if sys.argv[2] == "design":
    shape = read_actions(sys.argv[1]).features.shape
else:
    shape = read_history(sys.argv[1], None, None, None, ()).features.shape
print(*shape, perf_counter() - begun, process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def write(path: Path, rows: int, columns: int) -> None:
    """Write a table of actions, a thousand rows at a time."""
    rng = np.random.default_rng(0)
    with path.open("w") as file:
        print("name", *(f"x{j}" for j in range(columns)), sep=",", file=file)
        for start in range(0, rows, 1000):
            block = rng.standard_normal((min(1000, rows - start), columns)).tolist()
            file.writelines(f"a{start + i},{','.join(map(repr, row))}\n" for i, row in enumerate(block))


def measured(path: Path, command: str) -> tuple[float, float, float]:
    """Return the seconds, those of the processor and the gigabytes that a new process needs to read a table."""
    arguments = [sys.executable, "-c", READ, str(path), command]
    answer = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout.split()
    return float(answer[2]), float(answer[3]), int(answer[4]) / 1e6  # kilobytes on Linux


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--command", choices=("design", "decide"), action="append")
    options = parser.parse_args()
    rows: list[tuple[Cell, ...]] = []
    with TemporaryDirectory() as directory:
        path = Path(directory) / "actions.csv"
        write(path, options.rows, options.columns)
        size = path.stat().st_size / 1e9
        for command in options.command or ("design", "decide"):
            rows.append((command, options.rows, options.columns, size, *measured(path, command)))
    print(Table(("command", "rows", "columns", "file, GB", "seconds", "of a processor", "memory, GB"), rows))


if __name__ == "__main__":
    main()
