"""Progress of long work: a bar on a terminal, a plain line now and then elsewhere."""

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from sparsebandits.experiments.experiment import Progress

LINES = 10
"""Plain lines in all, where there is no terminal."""


@contextmanager
def shown_progress(label: str) -> Iterator[Progress]:
    """Yield a function of (done, total) that shows progress on standard error."""
    with _remembered_interrupt() as remind, _bar(label) if sys.stderr.isatty() else nullcontext(_Lines(label)) as show:

        def report(done: int, total: int) -> None:
            remind()
            show(done, total)

        yield report


@contextmanager
def _remembered_interrupt() -> Iterator[Callable[[], None]]:
    """Yield a function that raises KeyboardInterrupt if Ctrl-C has been pressed and nobody heard of it.

    An exception that is raised while a kernel is being compiled may be lost in a callback from foreign code.
    """
    if threading.current_thread() is not threading.main_thread():  # only the main thread may set handlers
        yield lambda: None
        return
    pressed = threading.Event()

    def heard(number: int, frame: object) -> None:
        pressed.set()
        raise KeyboardInterrupt

    def remind() -> None:
        if pressed.is_set():
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, heard)
    try:
        yield remind
    finally:
        signal.signal(signal.SIGINT, before)


class _Lines:
    """About ``LINES`` lines from start to end, with the time left."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.started = time.monotonic()
        self.printed = 0

    def __call__(self, done: int, total: int) -> None:
        due = done * LINES // total
        if due > self.printed:
            self.printed = due
            elapsed = time.monotonic() - self.started
            left = elapsed * (total - done) / done
            print(
                f"{self.label}: {done} of {total}, {elapsed:.0f} s gone, {left:.0f} s left",
                file=sys.stderr,
                flush=True,
            )


@contextmanager
def _bar(label: str) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(label, total=None)

        def report(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield report
