"""``python -m papers.hao2022 --workers 2``: play what is missing, and write the tables of README.md.

Games are kept in ``results/games.jsonl`` as they end, so a run that was stopped continues where it was.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))  # before NumPy

import argparse
from pathlib import Path

from benchmarks import games as kept

from papers.hao2022.games import CONDITIONAL, CONTEXTUAL, INFORMED, PLAYERS, SETTINGS, TRIALS, play
from papers.hao2022.tables import tables

HERE = Path(__file__).parent
STORED, PAGE, COMMAND = HERE / "results" / "games.jsonl", HERE / "README.md", "python -m papers.hao2022"
KEYS = ("setting", "player", "trial")


def players_of(name: str) -> tuple[str, ...]:
    """Return who plays in a setting: the mutual information of hundreds of actions takes too long."""
    slow = name.startswith("theorem 6.3")
    return tuple(one for one in PLAYERS if not (slow and one in (CONTEXTUAL + INFORMED, CONDITIONAL + INFORMED)))


def main() -> None:
    """Play and write."""
    parser = argparse.ArgumentParser(prog=COMMAND)
    parser.add_argument("--trials", type=int, default=TRIALS, help=f"at most so many of each player, up to {TRIALS}")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--settings", nargs="+", help="those whose names contain one of these words")
    parser.add_argument("--report", action="store_true", help="play nothing")
    told = parser.parse_args()
    names = [name for name in SETTINGS if told.settings is None or any(word in name for word in told.settings)]
    if not told.report:
        jobs = [
            (name, player, trial)
            for trial in range(min(told.trials, TRIALS))
            for name in names
            for player in players_of(name)
        ]
        kept.played(STORED, play, jobs, KEYS, told.workers)
    kept.write_tables(PAGE, COMMAND, tables(kept.stored(STORED)))


if __name__ == "__main__":
    main()
