"""Damaged, crafted and oversized files: each is refused with the documented error, or gives exactly what was written.

Every attempt runs in a forked process, so that a crash of the interpreter is counted and not suffered.
"""

import itertools
import os
import pickle
import resource
import tempfile
import time
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tests.policies.table import ALL, fingerprint, play, some_actions

import sparsebandits as sb
from benchmarks.attacks.outcome import Attempt, Outcome, counted
from sparsebandits import npz
from sparsebandits.arguments import ArgumentError
from sparsebandits.files import pack
from sparsebandits.policies.policy import KIND, VERSION

SECONDS, MEMORY = 1.0, 100 * 2**20
"""Processor time and memory within which an oversized file has to be refused."""

Reader = Callable[[bytes, Any], str]
"""Reads the bytes of a file, and compares what it gives with what the whole file gives."""


def attack(scale: float) -> list[Outcome]:
    """Attack policies, archives, trials and journals.

    Parameters
    ----------
    scale : float
        Share of the attempts to make; 1 is every bit of every header of an array, and 100,000 random bits.
    """
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as directory:
        place = Path(directory)
        policies = _policies()
        damaged = {
            "policy files": (list(policies.values()), _policy_reader(place)),
            "archives": ([_archive(place)], _result_reader(place, "archive.parquet")),
            "trial files": ([_trial(place)], _result_reader(place, "run/trials/LinTS/000000.parquet", "run")),
            "journals": ([_journal(place)], _journal_reader(place)),
        }
        found = [_headers(policies, place, scale)]
        for name, (files, reader) in damaged.items():
            found.append(counted(f"random bits of {name}", _flips(files, reader, round(25_000 * scale) + 1)))
            found.append(counted(f"truncated {name}", _cuts(files, reader, round(2_000 * scale) + 1)))
        crafted = _crafted(place, scale)
        return [*found, counted("crafted policies with a right checksum", crafted), *_bombs(place, scale)]


def _policies() -> dict[str, tuple[bytes, bytes]]:
    """Return the file and the fingerprint of each policy after some rounds."""
    found = {}
    for name, make in ALL.items():
        policy = make(some_actions(4, 2), noise_variance=0.7, seed=1)
        play(policy, 3)
        policy.ask()
        state = fingerprint(policy)
        found[name] = state, state
    return found


def _policy_reader(place: Path) -> Reader:
    def read(content: bytes, whole: bytes) -> str:
        (place / "policy").write_bytes(content)
        return "identical" if fingerprint(sb.load(place / "policy")) == whole else "silent"

    return read


def _archive(place: Path) -> tuple[bytes, Any]:
    environment = sb.environments.GaussianActions(dimension=4, sparsity=1, n_actions=5)
    result = sb.Experiment(environment, {"LinTS": sb.LinTS, "LinUCB": sb.LinUCB}, 20, 2).run()
    result.write(place / "archive.parquet")
    return (place / "archive.parquet").read_bytes(), _plain(sb.Result.load(place / "archive.parquet"))


def _trial(place: Path) -> tuple[bytes, Any]:
    environment = sb.environments.GaussianActions(dimension=4, sparsity=1, n_actions=5)
    sb.Experiment(environment, {"LinTS": sb.LinTS}, 20, 1, record=True).run(place / "run")
    content = (place / "run/trials/LinTS/000000.parquet").read_bytes()
    return content, _plain(sb.Result.load(place / "run"))


def _plain(result: sb.Result) -> bytes:
    return pickle.dumps((result.regret, result.seconds, result.rounds, result.pulls, result.recorded, result.about))


def _result_reader(place: Path, name: str, of: str | None = None) -> Reader:
    def read(content: bytes, whole: bytes) -> str:
        (place / name).write_bytes(content)
        return "identical" if _plain(sb.Result.load(place / (of or name))) == whole else "silent"

    return read


def _journal(place: Path) -> tuple[bytes, Any]:
    journal = sb.journal.JsonLines(place / "whole.jsonl")
    policy = sb.LinTS(some_actions(), seed=0, journal=journal)
    for round_number in range(5):
        policy.tell(policy.ask(), float(round_number) / 3)
    policy.ask()
    return (place / "whole.jsonl").read_bytes(), _lines(journal)


def _lines(journal: sb.journal.JsonLines) -> list[bytes]:
    fields = ("id", "action", "probability", "probability_draws", "label", "reward", "policy", "time")
    return [pickle.dumps([*(getattr(r, f) for f in fields), r.features.tobytes()]) for r in journal.records()]


def _journal_reader(place: Path) -> Reader:
    """Return the reader of journals; a cut one is what a crash leaves, so that the whole lines before the cut count."""
    whole = (place / "whole.jsonl").read_bytes()

    def read(content: bytes, records: list[bytes]) -> str:
        (place / "journal").write_bytes(content)
        found = _lines(sb.journal.JsonLines(place / "journal"))
        if whole.startswith(content) and content != whole:
            (place / "prefix").write_bytes(whole[: content.rfind(b"\n") + 1])
            records = _lines(sb.journal.JsonLines(place / "prefix"))
        return "identical" if found == records else "silent"

    return read


def _flips(files: Sequence[Any], read: Reader, count: int) -> Iterator[Attempt]:
    rng = np.random.default_rng(0)
    for number in range(count):
        content, whole = files[number % len(files)]
        yield partial(_read_flipped, read, content, int(rng.integers(8 * len(content))), whole)


def _read_flipped(read: Reader, content: bytes, bit: int, whole: Any) -> str:
    return read(_flipped(content, bit), whole)


def _flipped(content: bytes, bit: int) -> bytes:
    return content[: bit // 8] + bytes([content[bit // 8] ^ 1 << bit % 8]) + content[bit // 8 + 1 :]


def _cuts(files: Sequence[Any], read: Reader, count: int) -> Iterator[Attempt]:
    rng = np.random.default_rng(1)
    for number in range(count):
        content, whole = files[number % len(files)]
        yield partial(read, content[: int(rng.integers(len(content)))], whole)


def _headers(policies: dict[str, tuple[bytes, bytes]], place: Path, scale: float) -> Outcome:
    """Flip every bit of the header of every array of every policy."""
    read, step = _policy_reader(place), max(round(1 / scale), 1)
    bits = (
        (content, bit)
        for content, _ in policies.values()
        for start in _headers_in(content)
        for bit in range(8 * start, 8 * (start + 128))
    )
    chosen = itertools.islice(bits, 0, None, step)
    attempts = (partial(_read_flipped, read, content, bit, content) for content, bit in chosen)
    return counted("every bit of the headers of arrays", attempts)


def _headers_in(content: bytes) -> Iterator[int]:
    place = content.find(b"\x93NUMPY")
    while place >= 0:
        yield place
        place = content.find(b"\x93NUMPY", place + 1)


def _crafted(place: Path, scale: float) -> Iterator[Attempt]:
    """Change one thing in the state of a policy, and give it a checksum; what loads has to play on."""
    step, number = max(round(0.2 / scale), 1), 0
    for make in ALL.values():
        policy = make(some_actions(4, 2), noise_variance=0.7, seed=1)
        play(policy, 3)
        policy.ask()
        state = policy.state()
        for path, leaf in _leaves(state):
            with np.errstate(all="ignore"):
                values = list(_wrong(leaf))
            for wrong in values:
                number += 1
                if number % step == 0:
                    yield partial(_plays_on, place, state, path, wrong)


def _leaves(node: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(node, dict):
        for key, value in node.items():
            yield from _leaves(value, (*path, key))
    if path:
        yield path, node


def _replaced(node: Any, path: tuple[str, ...], value: Any) -> Any:
    if not path:
        return value
    return {**node, path[0]: _replaced(node[path[0]], path[1:], value)}


def _wrong(leaf: Any) -> Iterator[Any]:
    """Yield what does not belong in the place of a value."""
    yield from (None, "text", -1, 10**30, float("nan"), [], {}, np.zeros(3), np.zeros((2, 2, 2)))
    if isinstance(leaf, np.ndarray):
        yield from (leaf[:-1], leaf.T.copy() if leaf.ndim > 1 else leaf[np.newaxis], leaf.ravel()[:0])
        yield from (np.concatenate((leaf, leaf)), leaf.astype(np.float32), leaf.astype(np.int16), leaf != 0)
        if leaf.dtype.kind == "f":
            yield from (np.full_like(leaf, value) for value in (np.nan, np.inf, -np.inf, -1e308, 1e308))
            yield np.asfortranarray(leaf) if leaf.flags.c_contiguous else np.ascontiguousarray(leaf)
        if leaf.dtype.kind == "b":
            yield np.full(leaf.shape, 255, dtype=np.uint8).view(bool)
        if leaf.dtype.kind == "i":
            yield from (np.full_like(leaf, value) for value in (-1, np.iinfo(leaf.dtype).max // 2))
    elif isinstance(leaf, dict):
        yield from ({key: one for key, one in leaf.items() if key != left_out} for left_out in leaf)
    elif isinstance(leaf, int | float) and not isinstance(leaf, bool):
        yield from (-leaf - 1, leaf + 1, 0, 1e308, float("inf"), str(leaf))


def _plays_on(place: Path, state: dict[str, Any], path: tuple[str, ...], wrong: Any) -> str:
    try:
        (place / "crafted").write_bytes(pack(KIND, VERSION, _replaced(state, path, wrong)))
    except (TypeError, ValueError):  # it cannot even be written
        return "refused"
    policy = sb.load(place / "crafted")
    try:
        return _played(policy)
    except (ArgumentError, ArithmeticError, sb.posteriors.DivergenceError):  # as with these settings by hand
        return "refused"


def _played(policy: sb.Policy) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for decision in (*policy.pending, policy.ask(), policy.ask()):
            policy.tell(decision.id, 0.5)
        assert 0.0 <= policy.ask().probability <= 1.0
    return "identical"


def _bombs(place: Path, scale: float) -> list[Outcome]:
    """Files that would take more memory or time than they are worth, and files without an end."""
    size = max(int(1e9 * min(scale * 10, 1.0)), 10**7)
    os.mkfifo(place / "pipe")
    policy = sb.SparseIDS(some_actions(), n_draws=20, seed=0)
    settings = policy.state()
    settings["posterior"]["fields"]["n_draws"] = 10**7  # which fit into memory, but not into this file
    (place / "promises").write_bytes(pack(KIND, VERSION, settings))
    for name, member in (("header bomb", npz.HEADER), ("array bomb", "state/rewards.npy")):
        _deflated(place / name, member, size)
    _stored(place / "large header", min(size, 2 * npz.LARGEST_INDEX))
    zeros = pa.table({"policy": pa.array(["A"]).take(pa.array(np.zeros(size // 8, dtype=np.int64)))})
    pq.write_table(zeros, place / "column bomb", compression="zstd")
    attempts: dict[str, Callable[[], Any]] = {
        **{name: partial(sb.load, place / name) for name in ("header bomb", "array bomb", "large header")},
        "promised draws": lambda: sb.load(place / "promises"),
        "endless device as a policy": lambda: sb.load("/dev/zero"),
        "pipe as a policy": lambda: sb.load(place / "pipe"),
        "endless device as a log": lambda: sb.journal.DecisionLog.load("/dev/zero"),
        "pipe as a log": lambda: sb.journal.DecisionLog.load(place / "pipe"),
        "endless device as a result": lambda: sb.Result.load("/dev/zero"),
        "column bomb": lambda: sb.Result.load(place / "column bomb"),
    }
    return [counted(f"{name}, within 1 s and 100 MB", [partial(_bounded, one)]) for name, one in attempts.items()]


def _bounded(work: Callable[[], Any]) -> str:
    """Return whether something is refused soon and in little memory; its process may take no more than 4 GB."""
    resource.setrlimit(resource.RLIMIT_AS, (_memory("VmSize") + 2**32,) * 2)
    before, started = _memory("VmRSS"), time.process_time()
    try:
        work()
    except sb.SaveFileError:
        within = time.process_time() - started < SECONDS and _memory("VmHWM") - before < MEMORY
        return "refused" if within else "crashed"
    return "silent"


def _memory(name: str) -> int:
    """Return a figure of this process in bytes, as Linux counts it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def _deflated(path: Path, member: str, size: int) -> None:
    """Write an archive of one compressed member."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open(member, "w") as file:
        for _ in range(0, size, 2**20):
            file.write(b" " * 2**20)


def _stored(path: Path, size: int) -> None:
    """Write a save file with a right checksum and a header of so many bytes."""
    plain, npz.LARGEST_INDEX = npz.LARGEST_INDEX, 2**62
    try:
        path.write_bytes(npz.write(" " * size, {}))
    finally:
        npz.LARGEST_INDEX = plain
