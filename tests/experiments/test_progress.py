"""Progress reports, and a Ctrl-C that was lost in foreign code."""

import io
import os
import signal
import sys
import threading
import time
from contextlib import suppress

import pytest

import sparsebandits as sb
from sparsebandits.experiments import progress as progress_module
from sparsebandits.experiments.experiment import Watcher
from sparsebandits.experiments.progress import Standing, shown_progress, waiting
from tests.results.results import environment, quick_directory


def test_lines_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with shown_progress("work") as progress:
        for done in range(1, 201):
            progress(done, 200)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 10
    assert lines[-1].startswith("work: 200 of 200")


def test_an_interrupt_that_was_swallowed_comes_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), shown_progress("work") as progress:  # noqa: PT012
        progress(1, 1000)
        with suppress(KeyboardInterrupt):  # as a callback from compiled code would
            os.kill(os.getpid(), signal.SIGINT)
        progress(2, 1000)
        pytest.fail("the interrupt was lost")
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_that_came_back_as_another_error_is_one() -> None:
    def load() -> None:  # as loading a compiled kernel does
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt as error:
            raise SystemError("returned a result with an exception set") from error

    with pytest.raises(KeyboardInterrupt), shown_progress("work"):
        load()
    with pytest.raises(SystemError, match="of its own"), shown_progress("work"):
        raise SystemError("of its own")


def test_the_standing_of_the_policies(capsys: pytest.CaptureFixture[str]) -> None:
    policies = {"LinTS": sb.LinTS, "LinUCB": sb.LinUCB}
    with quick_directory() as directory:
        sb.Experiment(environment, policies, 20, trials=3).run(directory)
        with shown_progress("work") as progress:
            assert isinstance(progress, Watcher)
            result = sb.Experiment(environment, policies, 20, trials=5).run(directory, progress=progress)
    for name, mean, count in progress.means():
        assert mean == pytest.approx(result.final(name).mean())
        assert count == 5
    assert (progress.done, progress.total, progress.before) == (10, 10, 6)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 4, "six trials were finished before"
    assert lines[0].startswith("work: 7 of 10, ")
    best = min(policies, key=lambda name: float(result.final(name).mean()))
    assert f"s left. Mean final regret so far: {best} {result.final(best).mean():.4g}; " in lines[-1]


def test_rate_and_time_left_are_of_this_run(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    standing = Standing("work", lambda: None, lambda standing: None)
    clock[0] = 130.0  # listing the finished trials takes time too
    standing.found(500)
    clock[0] = 140.0
    standing(520, 1000)
    assert standing.rate == 2.0
    assert standing.left == 240.0


def test_long_runs_print_additional_lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    with shown_progress("work") as progress:
        for done in range(1, 6):
            clock[0] += 200.0
            progress(done, 10_000)
    assert capsys.readouterr().err.splitlines() == [
        "work: 2 of 10000, 0.3 per minute, 7 min elapsed, 555 h 27 min left",
        "work: 4 of 10000, 0.3 per minute, 13 min elapsed, 555 h 20 min left",
    ]


def test_a_bar_and_a_table_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")
    with shown_progress("work") as progress:
        progress.ended("sparse [IDS]", 12.5)
        progress.ended("LinTS", 3.25)
        progress(2, 4)
    shown = terminal.getvalue()
    for word in ("work", "━", "2/4", "left", "mean final regret so far", "sparse [IDS]", "12.5", "trials"):
        assert word in shown, word
    assert shown.rindex("LinTS") < shown.rindex("sparse [IDS]"), "the best comes first"


class Terminal(io.StringIO):
    """Standard error that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_work_without_a_count_is_shown_on_a_terminal_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress_module, "SILENT", 0.01)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with waiting("Thinking [of you]"):
        for _ in range(200):  # until it is shown, on a busy machine too
            time.sleep(0.05)
            if "elapsed" in terminal.getvalue():
                break
    assert "Thinking [of you], " in terminal.getvalue()
    monkeypatch.setattr(progress_module, "SILENT", 60.0)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with waiting("Thinking"):
        pass
    assert terminal.getvalue() == ""


def test_work_without_a_count_shows_nothing_in_a_pipe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress_module, "SILENT", 0.0)
    with waiting("Thinking"):
        time.sleep(0.1)
    assert capsys.readouterr().err == ""


def test_errors_pass_through_and_end_the_display(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt), waiting("Thinking"):
        raise KeyboardInterrupt
    assert threading.active_count() == before
