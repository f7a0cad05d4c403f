"""Sequential search on real data: ``python -m studies.real_data``.

Runs all searches, writes ``studies/real_data/results/NAME.json`` and the pictures of docs/real_data.md, and prints the
tables of that page. Results on file are kept: an interrupted run continues where it stopped, and further seeds are
added to those on file.
"""

import argparse
import sys
from pathlib import Path

from studies.real_data.pictures import inclusion_image, searches_image
from studies.real_data.pools import POOLS
from studies.real_data.runs import SEEDS, run
from studies.real_data.tables import sections

DOCS = Path(__file__).parents[2] / "docs"


def main(arguments: list[str] | None = None) -> None:
    """Run, draw and print."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.real_data", description="Search real data, one measurement at a time."
    )
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"searches by each searcher (default {SEEDS})")
    seeds = parser.parse_args(arguments).seeds
    if seeds < 1:
        parser.error(f"--seeds: expected at least 1, got {seeds}")
    try:
        results = {name: run(make(), seeds) for name, make in POOLS.items()}
    except KeyboardInterrupt:
        sys.exit("interrupted; the same command continues from here")
    searches_image(results).save(DOCS / "real_data_search.png", optimize=True)
    picture = inclusion_image(results["diabetes"], POOLS["diabetes"]())
    picture.save(DOCS / "real_data_inclusion.png", optimize=True)
    for name, table in sections().items():
        print(f"<!-- {name} -->\n\n{table}\n\n<!-- end -->\n")


if __name__ == "__main__":
    main()
