"""Results of searches on file, one JSON file per pool, and statistics of them as arrays with one row per seed.

A search is stored as the numbers of measurements after which it found each of the top (``found``), those after which it
found a new best candidate and which (``best``), and its processor time per decision.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from sparsebandits.arguments import FloatArray, IntArray
from sparsebandits.files import write_atomically
from studies.real_data.pools import TOP, Pool
from studies.real_data.search import FIRST

RESULTS = Path(__file__).parent / "results"
DRAWS = 10_000

Results = dict[str, Any]


def load(name: str, folder: Path = RESULTS, n_draws: int = DRAWS) -> Results:
    """Return the results on file for a pool, or empty ones; results of other settings are refused."""
    settings = {"n_draws": n_draws, "first": FIRST, "top": TOP}
    file = folder / f"{name}.json"
    if not file.exists():
        return {"settings": settings, "searches": {}}
    found: Results = json.loads(file.read_text())
    if found["settings"] != settings:
        raise ValueError(
            f"{file}: expected results of {settings}, got {found['settings']}; move it away to start afresh"
        )
    return found


def write(results: Results, name: str, folder: Path) -> None:
    """Write the results of a pool atomically, one line per search."""
    folder.mkdir(parents=True, exist_ok=True)
    searches = ",\n".join(
        f'  "{who}": [\n' + ",\n".join(f"   {json.dumps(one)}" for one in each) + "\n  ]"
        for who, each in results["searches"].items()
    )
    others = {key: value for key, value in results.items() if key != "searches"}
    lines = [f' "{key}": {json.dumps(value)}' for key, value in others.items()]
    text = "{\n" + ",\n".join([*lines, f' "searches": {{\n{searches}\n }}']) + "\n}\n"
    write_atomically(folder / f"{name}.json", text.encode())


def rounds_to(searches: list[Results], count: int) -> FloatArray:
    """Return the number of measurements that each search needed to find ``count`` of the top."""
    return np.array([one["found"][count - 1] for one in searches], dtype=np.float64)


def found_curves(searches: list[Results], rounds: IntArray) -> FloatArray:
    """Return how many of the top each search had found after each number of measurements, (seeds, rounds)."""
    found = np.array([one["found"] for one in searches])
    return np.asarray((found[:, :, np.newaxis] <= rounds).sum(axis=1), dtype=np.float64)


def simple_regret(searches: list[Results], pool: Pool, rounds: int) -> FloatArray:
    """Return the largest reward of the pool minus the largest found after ``rounds`` measurements."""
    rows = [[row for at, row in one["best"] if at <= rounds][-1] for one in searches]
    return np.asarray(pool.reward.max() - pool.reward[rows])
