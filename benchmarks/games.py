"""Games that are kept one by one as lines of JSON, so that a run that was stopped continues."""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from sparsebandits.arguments import FloatArray


def stored(path: Path) -> list[dict[str, Any]]:
    """Return the games that are kept; a last line that was cut off is none."""
    return [json.loads(line) for line in _whole(path).splitlines()]


def _whole(path: Path) -> bytes:
    """Return the lines that were written to their ends."""
    content = path.read_bytes() if path.exists() else b""
    return content[: content.rfind(b"\n") + 1]


def played(
    path: Path, play: Callable[..., dict[str, Any]], jobs: Iterable[Sequence[Any]], keys: Sequence[str], workers: int
) -> list[dict[str, Any]]:
    """Play the games that are not kept yet, keep them, and return all.

    Parameters
    ----------
    path : path
        File that keeps the games.
    play : callable
        Plays one game, given a job, and returns it; what it returns has the job under ``keys``.
    jobs : iterable of sequences
        Arguments of ``play``.
    keys : sequence of str
        Names of these arguments in what is kept.
    workers : int
        Number of processes.
    """
    lines = stored(path)
    done = {tuple(line[key] for key in keys) for line in lines}
    parallel = Parallel(n_jobs=workers, return_as="generator_unordered", batch_size=1)
    with path.open("a", encoding="utf-8") as file:
        file.truncate(len(_whole(path)))  # else the next game would be part of a line that was cut off
        for outcome in parallel(delayed(play)(*job) for job in jobs if tuple(job) not in done):
            file.write(json.dumps(outcome, ensure_ascii=False) + "\n")
            file.flush()
            lines.append(outcome)
    return lines


def with_tables(text: str, command: str, tables: str) -> str:
    """Return a page with tables in their place, between marks that name the command that makes them."""
    begin, end = f"<!-- begin: {command} -->", "<!-- end -->"
    before, rest = text.split(begin)
    return f"{before}{begin}\n\n{tables}\n\n{end}{rest.split(end, 1)[1]}"


def write_tables(page: Path, command: str, tables: str) -> None:
    """Put tables in their place in a page."""
    text = page.read_text(encoding="utf-8")
    page.write_text(with_tables(text, command, tables), encoding="utf-8")


def ratio(values: FloatArray, base: FloatArray) -> tuple[float, float]:
    """Return the ratio of two means over the same trials, and its standard error."""
    found = float(values.mean() / base.mean())
    error = np.std(values - found * base, ddof=1) / base.mean() / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return found, float(error)
