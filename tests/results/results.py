"""Shared by tests of results in a directory: a small experiment, and a directory in which writing is fast."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sparsebandits as sb

environment = sb.environments.GaussianActions(dimension=6, sparsity=2, n_actions=12)
SHM = Path("/dev/shm")


def experiment(trials: int = 4, width: float = 1.5, horizon: int = 40, **settings: Any) -> sb.Experiment:
    policies = {"LinTS": sb.LinTS, "LinUCB, 1.5/2": sb.maker(sb.LinUCB, width=width)}
    return sb.Experiment(environment, policies, horizon, trials, seed=3, **settings)


def files(directory: Path) -> dict[str, bytes]:
    """The results: Parquet files by name, without the files that differ between runs."""
    found = {path.relative_to(directory).as_posix(): path.read_bytes() for path in directory.rglob("*.parquet")}
    return {name: found[name] for name in sorted(found)}


def identities(directory: Path) -> dict[str, tuple[int, int]]:
    """Inode and modification time of each result; both change if a file is written again."""
    stats = {path.relative_to(directory).as_posix(): path.stat() for path in directory.rglob("*.parquet")}
    return {name: (stat.st_ino, stat.st_mtime_ns) for name, stat in stats.items()}


@contextmanager
def quick_directory() -> Iterator[Path]:
    """A directory in memory if the system has one, so that tests do not wait for a disk."""
    place = SHM if SHM.is_dir() and os.access(SHM, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place) as directory:
        yield Path(directory)
