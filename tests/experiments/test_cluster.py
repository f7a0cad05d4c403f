"""Trials on a Dask cluster: the same bytes as in one process, even if a worker is killed during the run."""

import os
import signal
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import sparsebandits as sb
from tests.results.results import environment, files, quick_directory

distributed = pytest.importorskip("distributed")
BOUND = 15.0
"""Seconds within which a dead scheduler is reported on a busy machine; on a quiet one it takes less than 5."""

SCHEDULER = """
import time, warnings
warnings.simplefilter("ignore")
from distributed import LocalCluster
with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None, protocol="tcp",
                  host="127.0.0.1", silence_logs=50) as cluster:
    print(cluster.scheduler_address, flush=True)
    time.sleep(600)
"""

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two workers, each in its own process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        started = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        )
        with started:
            yield started


def experiment(horizon: int) -> sb.Experiment:
    policies = {"LinTS": sb.LinTS, "LinUCB": sb.maker(sb.LinUCB, width=2.0)}
    return sb.Experiment(environment, policies, horizon, trials=10, seed=1)


def test_a_worker_that_is_killed_changes_nothing(cluster: Any) -> None:
    killed: list[int] = []

    def kill_one(done: int, total: int) -> None:
        if done == 5:
            with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
                pids = client.run(os.getpid)
            killed.append(next(iter(pids.values())))
            os.kill(killed[0], signal.SIGKILL)

    with quick_directory() as alone, quick_directory() as together:
        expected = experiment(60).run(alone)
        result = experiment(60).run(together, scheduler=cluster.scheduler_address, progress=kill_one)
        assert len(killed) == 1
        assert files(together) == files(alone)
        assert len(files(together)) == 20
    for name in expected.regret:
        assert result.regret[name].tobytes() == expected.regret[name].tobytes()
    assert result.about is not None
    assert result.about["provenance"]["runs"][0]["engine"] == "Dask"


def test_a_client_in_memory_and_errors(cluster: Any) -> None:
    def broken(problem: sb.experiments.Problem) -> sb.Policy:
        raise ValueError("no policy today")

    with distributed.Client(cluster, set_as_default=False) as client:
        result = experiment(20).run(scheduler=client)
        with pytest.raises(RuntimeError, match=r"policy 'bad' failed in trial \d of seed 0: .*no policy today"):
            sb.Experiment(environment, {"bad": broken}, 5, 2).run(scheduler=client)
    expected = experiment(20).run()
    for name in expected.regret:
        assert result.regret[name].tobytes() == expected.regret[name].tobytes()


def test_addresses_without_a_scheduler_are_refused_soon() -> None:
    with socket.socket() as taken:  # a port of this machine that is free, and that nothing listens on
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    for address in (f"tcp://127.0.0.1:{port}", "nonsense://"):
        started = time.monotonic()
        with pytest.raises(OSError, match=f"scheduler: expected the address of a Dask scheduler, got '{address}'") as e:
            experiment(20).run(scheduler=address)
        assert time.monotonic() - started < BOUND
        assert "\n" not in str(e.value)


def test_a_scheduler_that_dies_during_a_run_loses_no_finished_trial(capfd: pytest.CaptureFixture[str]) -> None:
    command = [sys.executable, "-c", SCHEDULER]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert started.stdout is not None
        address, killed = started.stdout.readline().strip(), []

        def kill(done: int, total: int) -> None:
            if done == 3:
                started.kill()
                killed.append(time.monotonic())

        with quick_directory() as directory, quick_directory() as alone:
            with pytest.raises(ConnectionError, match=f"^scheduler: lost the connection to .* {address}; .*$") as error:
                experiment(40).run(directory, scheduler=address, progress=kill)
            assert time.monotonic() - killed[0] < BOUND
            assert "\n" not in str(error.value)
            assert "Traceback" not in capfd.readouterr().err
            assert 3 <= len(files(directory)) < 20
            experiment(40).run(directory)
            experiment(40).run(alone)
            assert files(directory) == files(alone)
    finally:
        started.kill()
        started.communicate()
