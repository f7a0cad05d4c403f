"""The log of ``decide``: which recommended trials have not brought a reward yet, and their rewards when they come."""

import os
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sparsebandits.advice.read import History
from sparsebandits.journal.jsonlines import JsonLines
from sparsebandits.journal.record import Record


def log_path(table: str | os.PathLike[str]) -> Path:
    """Return the log that belongs to a table: ``coatings.decisions.jsonl`` to ``coatings.csv``."""
    return Path(table).with_suffix(".decisions.jsonl")


def _open_decisions(path: str | os.PathLike[str]) -> dict[str, list[Record]]:
    """Return decisions without a reward in the log, by the name of the action."""
    found: dict[str, list[Record]] = defaultdict(list)
    for record in JsonLines(path).records():
        if record.reward is None and record.label is not None:
            found[record.label].append(record)
    return found


def pending_in(path: str | os.PathLike[str], past: History) -> list[str]:
    """Return the names of actions that were recommended and have not brought a reward since.

    A reward may have been told (``record_rewards``), or written into the table: then the action has more past rewards
    now than it had when it was recommended.

    Parameters
    ----------
    path : str or path
        The log.
    past : History
        The table as it is now.

    Returns
    -------
    list of str
        Each name once: the same recommendation again, before its reward has come, is the same trial.
    """
    tried = Counter(past.names[row] for row in past.tried.tolist())
    names = set(past.names)
    found: list[str] = []
    for name, records in _open_decisions(path).items():
        latest = max(int(record.extra.get("tried", 0)) for record in records)
        if name in names and tried[name] <= latest:
            found.append(name)
    return found


def record_rewards(path: str | os.PathLike[str], told: Sequence[tuple[str, float]]) -> int:
    """Add rewards to the log, each to the earliest decision of its action that has none; return how many found one.

    Parameters
    ----------
    path : str or path
        The log.
    told : sequence of (str, float)
        Names and rewards.
    """
    if not Path(path).exists():
        return 0
    waiting, journal, count = _open_decisions(path), JsonLines(path), 0
    for name, reward in told:
        if np.isfinite(reward) and waiting[name]:
            journal.rewarded(waiting[name].pop(0).id, reward)
            count += 1
    return count
