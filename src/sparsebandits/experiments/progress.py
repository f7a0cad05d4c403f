"""Progress of long work, and how the policies stand: a bar and a table on a terminal, plain lines elsewhere."""

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

LINES = 10
"""Plain lines in all, where there is no terminal."""

PAUSE = 300.0
"""Seconds after which there is one more, in work that is long."""


class Standing:
    """A ``Watcher``: counts trials, keeps time, and knows each policy's mean final regret so far."""

    def __init__(self, label: str, remind: Callable[[], None], show: Callable[["Standing"], None]) -> None:
        self.label = label
        self.done = self.total = self.before = 0
        self.started = time.monotonic()
        self._sums: dict[str, tuple[float, int]] = {}
        self._remind, self._show = remind, show

    def __call__(self, done: int, total: int) -> None:
        """Hear of the trials done and the trials in all, and show them."""
        self._remind()
        self.done, self.total = done, total
        self._show(self)

    def found(self, done: int) -> None:
        """Leave out of the rate what an earlier run has done."""
        self.before, self.started = done, time.monotonic()

    def ended(self, policy: str, regret: float) -> None:
        """Take the final regret of a trial into the mean."""
        total, count = self._sums.get(policy, (0.0, 0))
        self._sums[policy] = (total + regret, count + 1)

    @property
    def elapsed(self) -> float:
        """Seconds of this run."""
        return time.monotonic() - self.started

    @property
    def rate(self) -> float:
        """Trials a second of this run."""
        return (self.done - self.before) / max(self.elapsed, 1e-9)

    @property
    def left(self) -> float:
        """Seconds until the end, at this rate."""
        return (self.total - self.done) / self.rate if self.done > self.before else 0.0

    def means(self) -> list[tuple[str, float, int]]:
        """Return policy, mean final regret and trials of each, best first."""
        rows = [(name, total / count, count) for name, (total, count) in self._sums.items()]
        return sorted(rows, key=lambda row: row[1])


@contextmanager
def shown_progress(label: str) -> Iterator[Standing]:
    """Yield a ``Watcher`` that shows progress on standard error; to be called with (done, total)."""
    with _remembered_interrupt() as remind:
        if not sys.stderr.isatty():
            yield Standing(label, remind, _Lines())
            return
        with _live() as show:
            yield Standing(label, remind, show)


@contextmanager
def _remembered_interrupt() -> Iterator[Callable[[], None]]:
    """Yield a function that raises KeyboardInterrupt if Ctrl-C has been pressed and nobody heard of it.

    An exception that is raised while a kernel is being compiled or loaded may be lost in a callback from foreign code,
    or come back as another error; that error is Ctrl-C too.
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
    """Return a time as people say it.

    >>> duration(42.4), duration(754), duration(7500)
    ('42 s', '13 min', '2 h 5 min')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def rate(a_second: float) -> str:
    """Return a rate in the unit that gives readable numbers.

    >>> rate(12.34), rate(0.05)
    ('12.3 a second', '3 a minute')
    """
    return f"{a_second:.3g} a second" if a_second >= 1 else f"{60 * a_second:.3g} a minute"


class _Lines:
    """About ``LINES`` lines from start to end."""

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
                f"{duration(standing.elapsed)} gone, {duration(standing.left)} left"
                + (f". Mean final regret so far: {means}" if means else ""),
                file=sys.stderr,
                flush=True,
            )


@contextmanager
def _live() -> Iterator[Callable[[Standing], None]]:
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), refresh_per_second=4) as live:
        yield lambda standing: live.update(_picture(standing))


def _picture(standing: Standing) -> Any:
    """Return a bar with a line of figures, and below it the policies by their mean final regret."""
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
        f"{duration(standing.elapsed)} gone, {duration(standing.left)} left",
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
