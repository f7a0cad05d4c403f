"""Kill processes at random moments, and fill the disk under them: a file is the old one or the new one, and whole.

Kills come after some milliseconds, to a process that asks, tells and saves, or writes a journal. What is left has to
be what an undisturbed process has after some whole number of steps. A full disk is a limit on the size of files.
"""

import os
import resource
import signal
import tempfile
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
from tests.policies.table import POLICIES, Maker, fingerprint, some_actions

import sparsebandits as sb
from benchmarks.attacks.outcome import Attempt, Outcome, counted, outcome

KILLS, LIMITS, ROUNDS = 400, 1000, 60
SAVED = ("SparseIDS, all learnt", "SparseTS")
LONGEST = 0.04
"""Seconds before a kill, at most; a new process starts after each."""


def attack(scale: float) -> list[Outcome]:
    """Return the outcomes for saves and journals, of kills and of full disks.

    Parameters
    ----------
    scale : float
        Share of 400 kills for each policy, 400 for journals, and of 1,000 full disks.
    """
    found = []
    kills = max(round(KILLS * scale), 10)
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        for name in SAVED:
            counts = Counter(killed_saves(POLICIES[name], place, kills))
            found.append(outcome(f"kill -9 while it plays and saves: {name}", counts))
        found.append(outcome("kill -9 while it writes a journal", Counter(killed_journals(place, kills))))
        limits = max(round(LIMITS * scale), 10)
        found.append(counted("full disk while it saves", full_saves(place, limits)))
        found.append(counted("full disk while it writes a journal", full_journals(place, limits)))
    return found


def killed_saves(make: Maker, place: Path, kills: int) -> Iterator[str]:
    """Yield "identical" for each kill after which the file is that of an undisturbed policy after some whole round.

    A process is killed some time after its first round, so that there is at least one round between two kills.
    """
    path, undisturbed, rng = place / "policy", place / "undisturbed", np.random.default_rng(0)
    make(some_actions(), n_draws=60, seed=3).save(path)
    reference, asked = sb.load(path), 0

    def victim() -> Iterator[None]:
        policy = sb.load(path)
        while True:
            one_round(policy, path)
            yield

    for _ in range(kills):
        _kill(victim(), float(rng.uniform(0.0, LONGEST)))
        try:
            survivor = sb.load(path)
        except Exception:
            yield "crashed"
            return
        while asked < survivor.state()["asked"]:
            one_round(reference, undisturbed)
            asked += 1
        yield "identical" if fingerprint(survivor) == fingerprint(reference) else "silent"


def one_round(policy: sb.Policy, path: Path) -> None:
    """Ask, tell and save; now and then leave a decision pending. The reward depends on the decision's id alone."""
    decision = policy.ask()
    if decision.id % 3:
        rewards = [float(np.random.default_rng(d.id).standard_normal()) for d in policy.pending]
        policy.tell(list(policy.pending), rewards)
    policy.save(path)


def killed_journals(place: Path, kills: int) -> Iterator[str]:
    """Yield "identical" for each kill after which a journal has the beginning of what an undisturbed process writes."""
    rng, path = np.random.default_rng(1), place / "journal"
    _play(_journalled(place / "whole"))
    whole = _content(place / "whole")

    for _ in range(kills):
        path.unlink(missing_ok=True)
        _kill(_rounds(_journalled(path)), float(rng.uniform(0.0, LONGEST)))
        try:
            found = _content(path)
        except Exception:
            yield "crashed"
            continue
        expected = whole[: len(found)]
        if found and found[-1][-1] is None:  # the last decision has no reward yet
            expected[-1] = (*expected[-1][:-1], None)
        yield "identical" if found == expected else "silent"


def full_saves(place: Path, limits: int) -> Iterator[Attempt]:
    """Yield saves to a disk that is full after some bytes: done, or refused with the old file as it was."""
    policy, path = sb.SparseIDS(some_actions(), n_draws=60, seed=0), place / "full"
    policy.tell(policy.ask(), 1.0)
    policy.save(path)
    before = path.read_bytes()
    policy.tell(policy.ask(), 2.0)
    policy.save(place / "later")
    after = (place / "later").read_bytes()

    def save(limit: int) -> str:
        path.write_bytes(before)
        try:
            with _full_after(limit):
                policy.save(path)
        except OSError:
            return "refused" if path.read_bytes() == before else "silent"
        return "identical" if path.read_bytes() == after else "silent"

    for limit in np.random.default_rng(2).integers(0, round(1.1 * len(after)), limits):
        yield partial(save, int(limit))


def full_journals(place: Path, limits: int) -> Iterator[Attempt]:
    """Yield journals on a disk that is full after some bytes: refused, and with room again it continues to the end."""
    path = place / "full journal"
    _play(_journalled(path))
    whole, size = _content(path), path.stat().st_size

    def write(limit: int) -> str:
        path.unlink(missing_ok=True)
        policy = _journalled(path)
        try:
            with _full_after(limit):
                _play(policy)
        except OSError:
            _play(policy)
        return "identical" if _content(path) == whole else "silent"

    for limit in np.random.default_rng(3).integers(0, size, limits):
        yield partial(write, int(limit))


@contextmanager
def _full_after(limit: int) -> Iterator[None]:
    """Let no file become larger than a limit."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def _kill(work: Iterator[None], after: float) -> None:
    """Let a forked process work, and kill it some seconds after its first step."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover
        try:
            next(work)
            os.write(writing, b".")
            deque(work, maxlen=0)
            time.sleep(60)  # the work is done before the kill
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        begun = pipe.read(1) == b"."
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if not begun:
        raise RuntimeError("the process that was to be killed has failed before")


def _journalled(path: Path) -> sb.Policy:
    return sb.LinTS(some_actions(), seed=5, journal=sb.journal.JsonLines(path))


def _rounds(policy: sb.Policy) -> Iterator[None]:
    """Play up to round ROUNDS, and go on where an error came; the reward depends on the round alone."""
    number = -1
    while number + 1 < ROUNDS:
        decision = policy.pending[0] if policy.pending else policy.ask()
        policy.tell(decision, decision.id / 7)
        number = decision.id
        yield


def _play(policy: sb.Policy) -> None:
    deque(_rounds(policy), maxlen=0)


def _content(path: Path) -> list[tuple[object, ...]]:
    return [(one.id, one.action, one.probability, one.reward) for one in sb.journal.JsonLines(path).records()]
