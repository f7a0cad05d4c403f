"""What an attack found, and how attempts are counted."""

import itertools
import os
import signal
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from sparsebandits.arguments import SaveFileError

Attempt = Callable[[], str]
"""An attempt returns "refused", "identical" or "silent"; any exception but SaveFileError, which refuses, is a crash."""


@dataclass(frozen=True)
class Outcome:
    """Counts of one attack; every attempt is counted in exactly one of the last four.

    Attributes
    ----------
    attack : str
        What was tried.
    tried : int
        Number of attempts.
    refused : int
        Attempts that ended with the documented error, and changed nothing.
    identical : int
        Attempts after which everything is as it should be.
    silent : int
        Attempts after which something is wrong, and nothing said so.
    crashed : int
        Attempts that ended with any other error, or killed the process.
    """

    attack: str
    tried: int
    refused: int
    identical: int
    silent: int
    crashed: int


def outcome(name: str, counts: Counter[str]) -> Outcome:
    """Return counts of "refused", "identical", "silent" and "crashed" as an outcome."""
    kinds = ("refused", "identical", "silent", "crashed")
    return Outcome(name, counts.total(), **{kind: counts[kind] for kind in kinds})


def counted(name: str, attempts: Iterable[Attempt]) -> Outcome:
    """Make attempts in forked processes, a thousand at a time; one that dies is counted, and the next goes on.

    Parameters
    ----------
    name : str
        What is tried.
    attempts : iterable of callable
        The attempts.
    """
    counts: Counter[str] = Counter()
    tried, rest = 0, iter(attempts)
    while batch := list(itertools.islice(rest, 1000)):
        tried += len(batch)
        while batch:
            results = _forked(partial(_results, batch))
            counts.update(results)
            batch = batch[len(results) :]
            if batch and len(results) == 0:
                counts["crashed"] += 1
                batch = batch[1:]
    assert tried == counts.total()
    return outcome(name, counts)


def _results(batch: Sequence[Attempt]) -> Iterator[str]:
    warnings.simplefilter("error")
    for attempt in batch:
        try:
            yield attempt()
        except SaveFileError:
            yield "refused"
        except Exception:
            yield "crashed"


def _forked(work: Callable[[], Iterator[str]]) -> list[str]:
    """Return what a forked process yields, up to its death; the attempt that it died of is not among it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            signal.alarm(600)
            with os.fdopen(writing, "wb", buffering=0) as pipe:
                for one in work():
                    pipe.write(one[0].encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        letters = pipe.read().decode()
    os.waitpid(child, 0)
    words = {word[0]: word for word in ("refused", "identical", "silent", "crashed")}
    return [words[letter] for letter in letters]
