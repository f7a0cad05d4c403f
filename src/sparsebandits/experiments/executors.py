"""Where trials run: in this process, in processes of this machine, or on a Dask cluster. All give the same results."""

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
"""Policy and trial."""

PATIENCE = 30.0
"""Seconds to wait for a scheduler to answer."""


def on_this_machine(work: Callable[[str, int], Done], jobs: Sequence[Job], workers: int) -> Iterable[Done]:
    """Run ``work`` on each job in ``workers`` processes; give what it returns as it comes."""
    if workers == 1:
        return (work(*job) for job in jobs)
    with parallel_config("loky", n_jobs=workers, inner_max_num_threads=1), _children_that_leave_interrupts_to_us():
        parallel = Parallel(return_as="generator_unordered", batch_size=1)
        return _outlived(parallel(delayed(work)(*job) for job in jobs))


def _outlived(outcomes: Iterable[Done]) -> Iterator[Done]:
    try:
        yield from outcomes
    except TerminatedWorkerError:
        raise ChildProcessError(
            "workers: a worker process was killed, most often because memory ran out; trials that have been written "
            "to a directory are kept, and the same run continues from them (fewer workers need less memory)"
        ) from None


def on_a_cluster(work: Callable[[str, int], Done], jobs: Sequence[Job], scheduler: Any) -> Iterator[Done]:
    """Run ``work`` on each job on the cluster of a Dask scheduler, an address or a ``distributed.Client``.

    Jobs of a worker that dies are run again on another; one that has seen several workers die ends the run.
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
        raise ChildProcessError(f"scheduler: several workers died of the same trial: {error}") from None
    finally:
        if own is not None:
            own.close()


def _connected(client: Any, scheduler: object) -> Any:
    try:
        return client(scheduler, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise OSError(f"scheduler: expected the address of a Dask scheduler, got {scheduler!r}: {error}") from None


@contextmanager
def _children_that_leave_interrupts_to_us() -> Iterator[None]:
    """Start processes that ignore Ctrl-C, which a terminal sends to all; each would answer with a traceback."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread may set this
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # inherited by what is started now
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
