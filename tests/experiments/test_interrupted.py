"""Runs that are killed at any moment and started again give the same bytes, and no trial is run twice."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from sparsebandits.experiments.plan import read_plan
from sparsebandits.experiments.provenance import surroundings
from tests.results.results import experiment, files, identities, quick_directory

surroundings()  # cached in the process that the runs are forked from
KILLS = 20
TRIALS = 60


def run(directory: str, started: Callable[[], None] = lambda: None) -> None:
    started()
    experiment(TRIALS, horizon=25, points=10).run(directory)


def child(directory: Path) -> ForkServerProcess:
    """Start a run, and return when it begins. Processes are forked from one that has imported everything."""
    context = get_context("forkserver")
    context.set_forkserver_preload([__name__, "pyarrow.parquet"])
    begun = context.Event()
    process = context.Process(target=run, args=(str(directory), begun.set))
    process.start()
    assert begun.wait(120)
    return process


def test_killed_at_twenty_random_moments() -> None:
    """Fails if files are written in place (a kill leaves half a file) or if finished trials are run again.

    Every other kill comes after the run has begun, among its preparations or its first trials; the others come after it
    has finished a trial, while it is at one of the next few.
    """
    moments = random.Random(0)
    with quick_directory() as undisturbed, quick_directory() as directory:
        started = time.monotonic()
        run(str(undisturbed))
        trial = (time.monotonic() - started) / (2 * TRIALS)
        seen: dict[str, tuple[int, int]] = {}
        counts = []
        for number in range(KILLS):
            process = child(directory)
            while number % 2 and process.is_alive() and len(identities(directory)) == len(seen):
                time.sleep(trial / 10)
            time.sleep(moments.uniform(0.0, 2 * trial if number % 2 else 8 * trial))
            os.kill(process.pid or 0, signal.SIGKILL)
            process.join()
            assert process.exitcode == -signal.SIGKILL, "the run ended before it was killed"
            now = identities(directory)
            assert seen.items() <= now.items(), "a finished trial was run again"
            seen = now
            counts.append(len(now))
        assert len(set(counts)) >= KILLS // 2
        run(str(directory))
        assert seen.items() <= identities(directory).items()
        assert files(directory) == files(undisturbed)
        assert len(files(directory)) == 2 * TRIALS


FILE = """
horizon = 50
trials = 40
[environment]
kind = "GaussianActions"
dimension = 6
sparsity = 2
n_actions = 12
[policies.LinTS]
[policies.LinUCB]
width = {tune = [1.0, 2.0], trials = 4}
"""


def test_the_command_is_killed_and_given_again() -> None:
    """With two worker processes, which outlive the command for a moment, and a parameter that is tuned first."""
    command = [str(Path(sys.executable).parent / "sparsebandits"), "run", "file.toml", "--out"]
    with quick_directory() as directory:
        (directory / "file.toml").write_text(FILE)
        process = subprocess.Popen(
            [*command, "killed", "--workers", "2"], cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 120
        while len(files(directory / "killed" / "trials")) < 5 and time.monotonic() < deadline:
            time.sleep(0.01)
        process.kill()
        process.wait()
        before = identities(directory / "killed")
        assert 5 <= len(files(directory / "killed" / "trials")) < 80
        answer = subprocess.run([*command, "killed", "--workers", "1"], cwd=directory, capture_output=True, text=True)
        assert answer.returncode == 0, answer.stderr
        assert "LinUCB: width = " in answer.stdout
        read_plan(directory / "file.toml").run(directory / "undisturbed")
        after = identities(directory / "killed")
        # A worker that outlived the command may have finished its trial and replaced the file with the same bytes.
        assert sum(after[name] != identity for name, identity in before.items()) <= 2
        assert files(directory / "killed") == files(directory / "undisturbed")
        assert len(files(directory / "killed")) == 88


def test_ctrl_c_keeps_what_is_finished() -> None:
    command = [str(Path(sys.executable).parent / "sparsebandits"), "run", "file.toml", "--workers", "1"]
    with quick_directory() as directory:
        (directory / "file.toml").write_text(FILE.replace("trials = 40", "trials = 4000"))
        process = subprocess.Popen(
            command, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        deadline = time.monotonic() + 120
        while not files(directory / "out" / "file" / "trials") and time.monotonic() < deadline:
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 130
        assert "sparsebandits: interrupted before the end; finished work is in out/file, and the same" in errors
        assert "Traceback" not in errors
        assert files(directory / "out" / "file" / "trials")
