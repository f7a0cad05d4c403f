"""Run every searcher of ``search.py`` on a pool over seeds, and the comparison of ``selection.py``, file by file."""

import time
from pathlib import Path

from threadpoolctl import threadpool_limits

from sparsebandits.experiments import shown_progress
from studies.real_data.pools import Pool
from studies.real_data.record import DRAWS, RESULTS, Results, load, write
from studies.real_data.search import best_rows, found_at, searchers
from studies.real_data.selection import selection

SEEDS = 20
"""Searches by each searcher in the results on file."""


def run(pool: Pool, seeds: int, folder: Path = RESULTS, n_draws: int = DRAWS) -> Results:
    """Search the pool under each seed and compare selections; skip what is on file, and write after each search.

    Parameters
    ----------
    pool : Pool
        What to search.
    seeds : int
        Number of searches by each searcher.
    folder : Path, default=RESULTS
        Directory of the results on file.
    n_draws : int, default=10_000
        Posterior draws of the sparse policies.

    Returns
    -------
    dict
        The results, as in the file.
    """
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
