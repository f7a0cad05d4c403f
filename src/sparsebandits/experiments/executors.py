"""Where trials run: in this process, in worker processes, or on a Dask cluster. All give the same results."""

import logging
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeVar

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky.process_executor import TerminatedWorkerError

Done = TypeVar("Done")
Job = tuple[str, int]
"""A policy's name and the number of a trial."""

PATIENCE = 4.0
"""Seconds to wait for a scheduler that does not answer, at the start of a run and after a connection was lost."""


def on_this_machine(work: Callable[[str, int], Done], jobs: Sequence[Job], workers: int) -> Iterable[Done]:
    """Run ``work`` on each job in ``workers`` processes; yield outcomes as they arrive."""
    if workers == 1:
        return (work(*job) for job in jobs)
    with parallel_config("loky", n_jobs=workers, inner_max_num_threads=1), _children_that_leave_interrupts_to_us():
        parallel = Parallel(return_as="generator_unordered", batch_size=1)
        sent = _Sent(_Places(tuple(sys.path)), work)
        return _outlived(parallel(delayed(sent)(*job) for job in jobs))


@dataclass(frozen=True)
class _Places:
    """Where modules are found; a process that receives it looks there, too."""

    path: tuple[str, ...]

    def __reduce__(self) -> tuple[Any, ...]:
        return _added, (self.path,)


def _added(path: tuple[str, ...]) -> _Places:
    sys.path.extend(place for place in path if place not in sys.path)
    return _Places(path)


@dataclass(frozen=True)
class _Sent:
    """Work for a process that may have been started before ``sys.path`` led to the modules of the work."""

    places: _Places  # received before the work, which names modules
    work: Callable[[str, int], Any]

    def __call__(self, name: str, trial: int) -> Any:
        return self.work(name, trial)


def _outlived(outcomes: Iterable[Done]) -> Iterator[Done]:
    """Explain the death of a worker process."""
    try:
        yield from outcomes
    except TerminatedWorkerError:
        raise ChildProcessError(
            "workers: a worker process was killed, most often because memory ran out; finished trials in a directory "
            "are kept, and the same run continues from them (fewer workers need less memory)"
        ) from None


def on_a_cluster(work: Callable[[str, int], Done], jobs: Sequence[Job], scheduler: Any) -> Iterator[Done]:
    """Run ``work`` on each job on a Dask cluster; yield outcomes as they arrive.

    Jobs of a worker that dies are run again on another worker; a job on which several workers have died ends the run.

    Parameters
    ----------
    work : callable
        Runs the trial of a policy.
    jobs : sequence of (str, int)
        Policy and trial of each job.
    scheduler : str or distributed.Client
        Address of the scheduler, or a client of it.

    Raises
    ------
    OSError
        If Dask is not installed, if no scheduler answers at the address, or if it or several workers die.
    """
    try:
        dask: Any = import_module("distributed")
    except ImportError as error:
        raise OSError("scheduler: needs Dask (pip install 'sparsebandits[cluster]')") from error
    own = None if isinstance(scheduler, dask.Client) else _connected(dask.Client, scheduler)
    client = scheduler if own is None else own
    try:
        names, trials = zip(*jobs, strict=True) if jobs else ((), ())
        futures = client.map(work, names, trials, pure=False)
        for future in dask.as_completed(futures, loop=client.loop):
            yield future.result()
    except CancelledError:  # which is what becomes of all jobs when the connection is lost
        raise ConnectionError(
            f"scheduler: lost the connection to the Dask scheduler {_address(scheduler)}; finished trials in a "
            "directory are kept, and the same run continues from them"
        ) from None
    except dask.KilledWorker as error:
        raise ChildProcessError(f"scheduler: several workers died while running the same trial: {error}") from None
    finally:
        if own is not None:
            with _silence():
                own.close()


def _connected(client: Any, scheduler: object) -> Any:
    """Return a client of the scheduler at an address."""
    try:
        return client(scheduler, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise OSError(f"scheduler: expected the address of a Dask scheduler, got {scheduler!r}: {error}") from None


@contextmanager
def _silence() -> Iterator[None]:
    """Keep a client that closes after its connection was lost from printing the traceback of its last attempt."""
    logger = logging.getLogger("distributed.client")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


def _address(scheduler: Any) -> str:
    """Return the address of a scheduler, or of that of a client."""
    return scheduler if isinstance(scheduler, str) else str(getattr(scheduler.scheduler, "addr", ""))


@contextmanager
def _children_that_leave_interrupts_to_us() -> Iterator[None]:
    """Start processes that ignore Ctrl-C, which a terminal sends to all: each of them would print a traceback."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread may set this
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # inherited by the processes started now
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
