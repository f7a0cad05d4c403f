"""Progress reports, and a Ctrl-C that foreign code has swallowed."""

import os
import signal
from contextlib import suppress

import pytest

from sparsebandits.experiments.progress import shown_progress


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
