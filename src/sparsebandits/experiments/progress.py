"""Progress on standard error.

A run shows a bar and the mean regret so far on a terminal, and about ten plain lines elsewhere. Other work that may
take long shows what it is and for how long on a terminal, and nothing elsewhere.
"""

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

LINES = 10
"""Number of plain lines per run, where there is no terminal."""

PAUSE = 300.0
"""Seconds after which a long run prints one more line."""

SILENT = 2.0
"""Seconds that work without a count may take before anything is shown."""


class Standing:
    """A :class:`Watcher` that counts trials, keeps time, and averages the final regret of each policy.

    Attributes
    ----------
    label : str
        What is running.
    done, total, before : int
        Trials that are finished, trials in all, and trials that an earlier run had finished.
    started : float
        When this run started, on the monotonic clock.
    """

    def __init__(self, label: str, remind: Callable[[], None], show: Callable[["Standing"], None]) -> None:
        self.label = label
        self.done = self.total = self.before = 0
        self.started = time.monotonic()
        self._sums: dict[str, tuple[float, int]] = {}
        self._remind, self._show = remind, show

    def __call__(self, done: int, total: int) -> None:
        """Receive the numbers of finished trials and of all trials, and show them."""
        self._remind()
        self.done, self.total = done, total
        self._show(self)

    def found(self, done: int) -> None:
        """Receive the number of trials of an earlier run, which do not count for the rate."""
        self.before, self.started = done, time.monotonic()

    def ended(self, policy: str, regret: float) -> None:
        """Receive the final regret of a trial."""
        total, count = self._sums.get(policy, (0.0, 0))
        self._sums[policy] = (total + regret, count + 1)

    @property
    def elapsed(self) -> float:
        """Seconds since this run started."""
        return time.monotonic() - self.started

    @property
    def rate(self) -> float:
        """Trials per second of this run."""
        return (self.done - self.before) / max(self.elapsed, 1e-9)

    @property
    def left(self) -> float:
        """Seconds until the end at this rate."""
        return (self.total - self.done) / self.rate if self.done > self.before else 0.0

    def means(self) -> list[tuple[str, float, int]]:
        """Return name, mean final regret and number of trials of each policy, best first."""
        rows = [(name, total / count, count) for name, (total, count) in self._sums.items()]
        return sorted(rows, key=lambda row: row[1])


@contextmanager
def shown_progress(label: str) -> Iterator[Standing]:
    """Show the progress of a run on standard error.

    Parameters
    ----------
    label : str
        What is running.

    Yields
    ------
    Standing
        The ``progress`` argument of :meth:`Experiment.run`; for other work, call it with (done, total).
    """
    with _remembered_interrupt() as remind:
        if not sys.stderr.isatty():
            yield Standing(label, remind, _Lines())
            return
        with _live() as show:
            yield Standing(label, remind, show)


@contextmanager
def waiting(label: str) -> Iterator[None]:
    """Show on a terminal that work without a count goes on, from two seconds after its start; then clear the line.

    Parameters
    ----------
    label : str
        What is being done, such as "designing".
    """
    if not sys.stderr.isatty():
        yield
        return
    ended = threading.Event()
    shown = threading.Thread(target=_spin, args=(label, ended), daemon=True)
    shown.start()
    try:
        yield
    finally:
        ended.set()
        shown.join()


def _spin(label: str, ended: threading.Event) -> None:
    """Show a label and the time until the work has ended."""
    started = time.monotonic()
    if ended.wait(SILENT):
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(label)) as status:
        while not ended.wait(0.5):
            status.update(Text(f"{label}, {duration(time.monotonic() - started)} elapsed"))


@contextmanager
def _remembered_interrupt() -> Iterator[Callable[[], None]]:
    """Yield a function that raises KeyboardInterrupt if Ctrl-C was pressed and the exception got lost.

    An exception that is raised while a kernel is compiled or loaded may be lost in a callback from foreign code, or
    come back as another error; such an error is turned into KeyboardInterrupt too.
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
    except Exception:
        if pressed.is_set():
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.signal(signal.SIGINT, before)


def duration(seconds: float) -> str:
    """Return a time in seconds, minutes or hours.

    Examples
    --------
    >>> duration(42.4), duration(754), duration(7500)
    ('42 s', '13 min', '2 h 5 min')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def rate(per_second: float) -> str:
    """Return a rate per second or per minute, whichever is easier to read.

    Examples
    --------
    >>> rate(12.34), rate(0.05)
    ('12.3 per second', '3 per minute')
    """
    return f"{per_second:.3g} per second" if per_second >= 1 else f"{60 * per_second:.3g} per minute"


class _Lines:
    """Prints about ``LINES`` lines from start to end."""

    def __init__(self) -> None:
        self.printed = 0
        self.at = time.monotonic()

    def __call__(self, standing: Standing) -> None:
        due = (standing.done - standing.before) * LINES // max(standing.total - standing.before, 1)
        if due > self.printed or time.monotonic() - self.at > PAUSE:
            self.printed, self.at = due, time.monotonic()
            means = "; ".join(f"{name} {mean:.4g}" for name, mean, _ in standing.means())
            print(
                f"{standing.label}: {standing.done} of {standing.total}, {rate(standing.rate)}, "
                f"{duration(standing.elapsed)} elapsed, {duration(standing.left)} left"
                + (f". Mean final regret so far: {means}" if means else ""),
                file=sys.stderr,
                flush=True,
            )


@contextmanager
def _live() -> Iterator[Callable[[Standing], None]]:
    """Yield a function that updates the display on a terminal."""
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), refresh_per_second=4) as live:
        yield lambda standing: live.update(_picture(standing))


def _picture(standing: Standing) -> Any:
    """Return a bar with rate and times, and below it the policies by mean final regret."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    line = Table.grid(padding=(0, 1))
    line.add_row(
        Text(standing.label),
        ProgressBar(total=standing.total, completed=standing.done, width=30),
        f"{standing.done}/{standing.total}",
        rate(standing.rate),
        f"{duration(standing.elapsed)} elapsed, {duration(standing.left)} left",
    )
    rows = standing.means()
    if not rows:
        return line
    table = Table(box=None, padding=(0, 2))
    table.add_column("mean final regret so far", header_style="dim")
    for title in ("", "trials"):
        table.add_column(title, justify="right", header_style="dim")
    for name, mean, count in rows:
        table.add_row(Text(name), f"{mean:.4g}", str(count))
    return Group(line, table)
