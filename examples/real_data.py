"""Sequential search on real data: ``python -m examples.real_data``.

Runs every searcher of ``examples/search.py`` on every pool, over seeds, and fits what ``examples/selection.py`` compares.
It writes ``examples/results/NAME.json`` and the pictures of docs/real_data.md, and prints the tables of that page. The
results on file are kept: a run that was stopped goes on where it stopped, and more seeds are added to those there.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from examples.pools import POOLS, TOP, Pool
from examples.search import FIRST, Hindsight, best_rows, found_at, searchers
from examples.selection import entry_order, selection
from sparsebandits.checks import FloatArray
from sparsebandits.experiments.intervals import mean_interval
from sparsebandits.experiments.progress import shown_progress
from sparsebandits.storage import write_atomically

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "examples" / "results"
SEEDS = 40
DRAWS = 10_000

Results = dict[str, Any]


def load(name: str, folder: Path = RESULTS, n_draws: int = DRAWS) -> Results:
    """Return what is on file for a pool, or an empty result; one of other settings is refused."""
    settings = {"n_draws": n_draws, "first": FIRST, "top": TOP}
    file = folder / f"{name}.json"
    if not file.exists():
        return {"settings": settings, "searches": {}}
    found: Results = json.loads(file.read_text())
    if found["settings"] != settings:
        raise ValueError(f"{file}: expected results of {settings}, got {found['settings']}; move it away to run anew")
    return found


def run(pool: Pool, seeds: int, folder: Path = RESULTS, n_draws: int = DRAWS) -> Results:
    """Search the pool under each seed, and compare selections, leaving out what is on file; write as it goes."""
    results = load(pool.name, folder, n_draws)
    todo = [
        (seed, name, searcher)
        for seed in range(seeds)
        for name, searcher in searchers(pool, n_draws).items()
        if len(results["searches"].setdefault(name, [])) <= seed
    ]
    with threadpool_limits(1), shown_progress(f"searches of {pool.name}") as progress:
        for done, (seed, name, searcher) in enumerate(todo):
            progress(done, len(todo))
            started = time.process_time()
            order = searcher(pool, seed)
            seconds = time.process_time() - started
            results["searches"][name].append(
                {
                    "found": found_at(order, pool).tolist(),
                    "best": best_rows(order, pool),
                    "milliseconds": round(1e3 * seconds / len(order), 3),
                }
            )
            write(results, pool.name, folder)
        if "selection" not in results:
            results["selection"] = selection(pool, n_draws)
            write(results, pool.name, folder)
    return results


def write(results: Results, name: str, folder: Path) -> None:
    """Write the results of a pool in one step, a search a line."""
    folder.mkdir(parents=True, exist_ok=True)
    searches = ",\n".join(
        f'  "{who}": [\n' + ",\n".join(f"   {json.dumps(one)}" for one in each) + "\n  ]"
        for who, each in results["searches"].items()
    )
    others = {key: value for key, value in results.items() if key != "searches"}
    lines = [f' "{key}": {json.dumps(value)}' for key, value in others.items()]
    text = "{\n" + ",\n".join([*lines, f' "searches": {{\n{searches}\n }}']) + "\n}\n"
    write_atomically(folder / f"{name}.json", text.encode())


# What the results say, as arrays with one row a seed.


def rounds_to(searches: list[Results], count: int) -> FloatArray:
    """Return how many measurements each search took to find ``count`` of the top."""
    return np.array([one["found"][count - 1] for one in searches], dtype=np.float64)


def found_after(searches: list[Results], rounds: FloatArray | int) -> FloatArray:
    """Return how many of the top each search had found after so many measurements, (seeds,) or (seeds, rounds)."""
    found = np.array([one["found"] for one in searches])
    return np.asarray((found[:, :, np.newaxis] <= np.atleast_1d(rounds)).sum(axis=1), dtype=np.float64).squeeze()


def simple_regret(searches: list[Results], pool: Pool, rounds: int) -> FloatArray:
    """Return the largest reward of the pool minus the largest found after so many measurements."""
    rows = [[row for at, row in one["best"] if at <= rounds][-1] for one in searches]
    return np.asarray(pool.reward.max() - pool.reward[rows])


# Tables of docs/real_data.md.


def estimate(values: FloatArray, digits: int) -> str:
    """Return a mean with its 95% bootstrap interval; without one where all values are the same."""
    low, high = mean_interval(values)
    mean = f"{values.mean():.{digits}f}"
    shown = mean if low == high else f"{mean} ({low:.{digits}f} to {high:.{digits}f})"
    return shown.replace("-", "−")


def markdown(columns: list[str], rows: list[list[str]]) -> str:
    """Return a table."""
    return "\n".join("| " + " | ".join(row) + " |" for row in [columns, ["---"] * len(columns), *rows])


def search_table(results: Results, pool: Pool) -> str:
    """How soon each searcher finds the top, and the paired difference from sparse IDS."""
    early, late = checkpoints(pool)
    columns = [
        "searcher",
        f"found after {early}",
        f"found after {late}",
        "measurements until 5",
        "until all 10",
        "more than sparse IDS",
        f"simple regret after {early}",
    ]
    rows = []
    for name, searches in results["searches"].items():
        more = rounds_to(searches, TOP) - rounds_to(results["searches"]["sparse IDS"], TOP)
        rows.append(
            [
                name,
                estimate(found_after(searches, early), 1),
                estimate(found_after(searches, late), 1),
                estimate(rounds_to(searches, 5), 0),
                estimate(rounds_to(searches, TOP), 0),
                "" if name == "sparse IDS" else estimate(more, 0),
                estimate(simple_regret(searches, pool, early), 2),
            ]
        )
    return markdown(columns, rows)


def checkpoints(pool: Pool) -> tuple[int, int]:
    """Return the measurements after which the table counts."""
    return (25, 100) if len(pool) > 300 else (25, 50)


def told_table(results: Mapping[str, Results]) -> str:
    """What LinTS and LinUCB assume, and what those are told who know the whole pool."""
    rows = []
    for name in results:
        pool = POOLS[name]()
        known, features = Hindsight.of(pool), pool.features.shape[1]
        rows.append(
            [name, "1", f"1/{features} = {1 / features:.4f}", f"{known.noise_variance:.2f}", f"{known.prior_variance:.4f}"]
        )
    return markdown(["pool", "noise variance", "prior variance", "noise variance, told", "prior variance, told"], rows)


PAPER = {"bp": "map", "s1": "tc", "s2": "ldl", "s3": "hdl", "s4": "tch", "s5": "ltg", "s6": "glu"}
"""Names of the serum measurements in the LARS paper and the R packages, by scikit-learn's."""


def paper_name(name: str) -> str:
    """Return what the papers call a feature of the diabetes data.

    >>> paper_name("bmi:bp"), paper_name("s6^2")
    ('bmi:map', 'glu^2')
    """
    base, *square = name.split("^")
    return "^".join([":".join(PAPER.get(part, part) for part in base.split(":")), *square])


LIKELY = 0.1
"""Least inclusion probability of features that the table shows."""


def inclusion_table(results: Results, pool: Pool, rename: Callable[[str], str] = str) -> str:
    """The features that either prior takes for likely, most likely first, and what the Lasso does with each."""
    found = results["selection"]
    inclusion, other = np.array(found["inclusion"]), np.array(found["inclusion, regressor"])
    place = {j: f"{rank}" for rank, j in enumerate(found["Lasso order"], 1)}
    rows = [
        [
            rename(pool.feature_names[j]),
            f"{inclusion[j]:.2f}",
            f"{other[j]:.2f}",
            f"{found['mean'][j]:+.3f}".replace("-", "−"),
            place.get(j, "never"),
            "yes" if j in found["least angle by Cp"] else "",
            "yes" if j in found["Lasso by cross-validation"] else "",
        ]
        for j in np.argsort(-inclusion, kind="stable").tolist()
        if max(inclusion[j], other[j]) >= LIKELY
    ]
    columns = ["feature", "P(included)", "stricter prior", "coefficient", "enters the Lasso as", "LARS by Cp", "Lasso by CV"]
    return markdown(columns, rows)


def main_effects_table(pool: Pool) -> str:
    """The ten columns of the diabetes data themselves, in the order in which the Lasso takes them."""
    count = 10
    order = entry_order(pool.features[:, :count], pool.reward)
    names = [pool.feature_names[j] for j in order]
    return markdown(
        ["place", *map(str, range(1, count + 1))],
        [["scikit-learn", *names], ["papers", *map(paper_name, names)]],
    )


def speed_table(results: Mapping[str, Results]) -> str:
    """Milliseconds of processor time a decision, asking and telling: the median over searches."""
    names = list(next(iter(results.values()))["searches"])
    learners = [name for name in names if name not in ("random", "fit to all")]
    rows = [
        [name, *(f"{np.median([s['milliseconds'] for s in r['searches'][name]]):.2g}" for r in results.values())]
        for name in learners
    ]
    return markdown(["policy", *results], rows)


def sections(folder: Path = RESULTS) -> dict[str, str]:
    """Return the tables of docs/real_data.md by name, from the results on file."""
    results = {name: load(name, folder) for name in POOLS}
    pools = {name: make() for name, make in POOLS.items()}
    return {
        "search of diabetes": search_table(results["diabetes"], pools["diabetes"]),
        "search of wine": search_table(results["wine"], pools["wine"]),
        "told": told_table(results),
        "main effects": main_effects_table(pools["diabetes"]),
        "inclusion of diabetes": inclusion_table(results["diabetes"], pools["diabetes"], paper_name),
        "inclusion of wine": inclusion_table(results["wine"], pools["wine"]),
        "speed": speed_table(results),
    }


def main(arguments: list[str] | None = None) -> None:
    """Run, draw and print."""
    from examples.pictures import draw_inclusion, draw_searches

    parser = argparse.ArgumentParser(prog="python -m examples.real_data", description="Search real data, one at a time.")
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"searches by each (default {SEEDS})")
    seeds = parser.parse_args(arguments).seeds
    if seeds < 1:
        parser.error(f"--seeds: expected at least 1, got {seeds}")
    try:
        results = {name: run(make(), seeds) for name, make in POOLS.items()}
    except KeyboardInterrupt:
        sys.exit("stopped; the same command goes on from here")
    draw_searches(results, ROOT / "docs" / "real_data_search.png")
    draw_inclusion(results["diabetes"], POOLS["diabetes"](), ROOT / "docs" / "real_data_inclusion.png")
    for name, table in sections().items():
        print(f"<!-- {name} -->\n\n{table}\n\n<!-- end -->\n")


if __name__ == "__main__":
    main()
