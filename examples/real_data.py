"""Sequential search on real data: ``python -m examples.real_data``.

Runs every searcher of ``examples/search.py`` on every pool, over seeds, and what ``examples/selection.py`` compares. It
writes ``examples/results/NAME.json`` and the pictures of docs/real_data.md, and prints the tables of that page. The
results on file are kept: a run that was stopped goes on where it stopped, and more seeds are added to those there.
"""

import argparse
import sys
import time
from pathlib import Path

from threadpoolctl import threadpool_limits

from examples.pictures import inclusion_image, searches_image
from examples.pools import POOLS, Pool
from examples.record import DRAWS, RESULTS, Results, load, write
from examples.search import best_rows, found_at, searchers
from examples.selection import selection
from examples.tables import sections
from sparsebandits.experiments.progress import shown_progress

DOCS = Path(__file__).parents[1] / "docs"
SEEDS = 20


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


def main(arguments: list[str] | None = None) -> None:
    """Run, draw and print."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.real_data", description="Search real data, one at a time."
    )
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"searches by each (default {SEEDS})")
    seeds = parser.parse_args(arguments).seeds
    if seeds < 1:
        parser.error(f"--seeds: expected at least 1, got {seeds}")
    try:
        results = {name: run(make(), seeds) for name, make in POOLS.items()}
    except KeyboardInterrupt:
        sys.exit("stopped; the same command goes on from here")
    searches_image(results).save(DOCS / "real_data_search.png", optimize=True)
    picture = inclusion_image(results["diabetes"], POOLS["diabetes"]())
    picture.save(DOCS / "real_data_inclusion.png", optimize=True)
    for name, table in sections().items():
        print(f"<!-- {name} -->\n\n{table}\n\n<!-- end -->\n")


if __name__ == "__main__":
    main()
