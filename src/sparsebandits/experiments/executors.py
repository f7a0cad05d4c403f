"""Where trials run: in this process, in worker processes, or on a Dask cluster. All give the same results."""

import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeVar

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky.process_executor import TerminatedWorkerError

Done = TypeVar("Done")
Job = tuple[str, int]
"""A policy's name and the number of a trial."""

PATIENCE = 30.0
"""Seconds to wait for a scheduler."""


def on_this_machine(work: Callable[[str, int], Done], jobs: Sequence[Job], workers: int) -> Iterable[Done]:
    """Run ``work`` on each job in ``workers`` processes; yield outcomes as they arrive."""
    if workers == 1:
        return (work(*job) for job in jobs)
    with parallel_config("loky", n_jobs=workers, inner_max_num_threads=1), _children_that_leave_interrupts_to_us():
        parallel = Parallel(return_as="generator_unordered", batch_size=1)
        return _outlived(parallel(delayed(work)(*job) for job in jobs))


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
    except dask.KilledWorker as error:
        raise ChildProcessError(f"scheduler: several workers died while running the same trial: {error}") from None
    finally:
        if own is not None:
            own.close()


def _connected(client: Any, scheduler: object) -> Any:
    """Return a client of the scheduler at an address."""
    try:
        return client(scheduler, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise OSError(f"scheduler: expected the address of a Dask scheduler, got {scheduler!r}: {error}") from None


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
