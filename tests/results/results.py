"""What the tests of results in a directory have in common: a small experiment, and a place where writing is quick."""

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
    """The results: Parquet files by name, without what differs from run to run."""
    found = {path.relative_to(directory).as_posix(): path.read_bytes() for path in directory.rglob("*.parquet")}
    return {name: found[name] for name in sorted(found)}


def identities(directory: Path) -> dict[str, tuple[int, int]]:
    """Inode and time of each result: a file that was written again has others."""
    stats = {path.relative_to(directory).as_posix(): path.stat() for path in directory.rglob("*.parquet")}
    return {name: (stat.st_ino, stat.st_mtime_ns) for name, stat in stats.items()}


@contextmanager
def quick_directory() -> Iterator[Path]:
    """A directory in memory where there is one: waiting for a disk is not what is tested."""
    place = SHM if SHM.is_dir() and os.access(SHM, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place) as directory:
        yield Path(directory)
