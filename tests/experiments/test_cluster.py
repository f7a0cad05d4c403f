"""Trials on a Dask cluster: the same bytes as in one process, even if a worker is killed during the run."""

import os
import signal
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import sparsebandits as sb
from sparsebandits.experiments import executors
from tests.results.results import environment, files, quick_directory

distributed = pytest.importorskip("distributed")
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


def test_addresses_without_a_scheduler_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "PATIENCE", 1.0)
    for address in ("tcp://127.0.0.1:1", "nonsense://"):
        with pytest.raises(OSError, match=f"scheduler: expected the address of a Dask scheduler, got '{address}'"):
            experiment(20).run(scheduler=address)
