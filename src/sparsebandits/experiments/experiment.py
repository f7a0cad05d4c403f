"""Many trials of several policies on the same worlds, in parallel processes."""

import signal
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from joblib import Parallel, delayed, parallel_config
from numpy.random import SeedSequence
from threadpoolctl import threadpool_limits

from sparsebandits.checks import FloatArray, check_count, shown
from sparsebandits.environments import Environment
from sparsebandits.experiments.comparison import Result
from sparsebandits.experiments.simulate import INSTANCE_STREAM, PolicyMaker, check_maker, simulate
from sparsebandits.policies import Policy
from sparsebandits.randomness import child

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the trials done and the trials in all, a trial being one policy on one instance."""


@dataclass(frozen=True)
class Experiment:
    """Policies compared on ``trials`` instances of ``environment``, over ``horizon`` rounds each.

    Trial i depends on ``(seed, i)`` alone: its instance, its noise, and each policy's coin flips. So every policy
    meets the same worlds, and any number of workers gives the same numbers.

    >>> from sparsebandits import GaussianActions, LinUCB, maker
    >>> result = Experiment(
    ...     environment=GaussianActions(dimension=5, sparsity=2, n_actions=10),
    ...     policies={f"LinUCB {width}": maker(LinUCB, width=width) for width in (0.5, 1.0)},
    ...     horizon=30, trials=4, seed=0,
    ... ).run()
    >>> result.regret["LinUCB 0.5"].shape
    (4, 30)
    """

    environment: Environment
    policies: Mapping[str, PolicyMaker | type[Policy]]
    horizon: int
    trials: int
    seed: int = 0

    def __post_init__(self) -> None:
        check_count("horizon", self.horizon)
        check_count("trials", self.trials)
        check_count("seed", self.seed, least=0)
        if not hasattr(self.environment, "sample"):
            raise TypeError(f"environment: expected one with sample(seed), got {shown(self.environment)}")
        if not isinstance(self.policies, Mapping) or not self.policies:
            raise ValueError(f"policies: expected at least one policy by name, in a dict, got {shown(self.policies)}")
        for name, make_policy in self.policies.items():
            check_maker(f"policies[{name!r}]", make_policy)

    def run(self, workers: int = 1, progress: Progress | None = None) -> Result:
        """Run all trials on ``workers`` processes, with one BLAS thread each.

        ``progress(done, total)`` is called after each trial, a trial being one policy on one instance.
        """
        jobs = [(name, trial) for trial in range(self.trials) for name in self.policies]
        total = len(jobs)
        regret = {name: np.empty((self.trials, self.horizon)) for name in self.policies}
        seconds = {name: np.empty(self.trials) for name in self.policies}
        for done, (name, trial, curve, spent) in enumerate(self._outcomes(jobs, check_count("workers", workers)), 1):
            regret[name][trial], seconds[name][trial] = curve, spent
            if progress is not None:
                progress(done, total)
        return Result(regret, seconds)

    def _outcomes(self, jobs: list[tuple[str, int]], workers: int) -> Iterable[tuple[str, int, FloatArray, float]]:
        if workers == 1:
            return (self._trial(name, trial) for name, trial in jobs)
        with parallel_config("loky", n_jobs=workers, inner_max_num_threads=1), _children_that_leave_interrupts_to_us():
            parallel = Parallel(return_as="generator_unordered", batch_size=1)
            outcomes: Iterable[tuple[str, int, FloatArray, float]] = parallel(
                delayed(self._trial)(name, trial) for name, trial in jobs
            )
            return outcomes

    def _trial(self, name: str, trial: int) -> tuple[str, int, FloatArray, float]:
        seed = SeedSequence(self.seed, spawn_key=(trial,))
        try:
            with threadpool_limits(limits=1, user_api="blas"):
                instance = self.environment.sample(child(seed, INSTANCE_STREAM))
                trace = simulate(self.policies[name], instance, self.horizon, seed)
        except Exception as error:  # plain text crosses the border between processes, whatever the error was
            raise RuntimeError(
                f"policy {name!r} failed in trial {trial} of seed {self.seed}: {error!r}\n{traceback.format_exc()}"
            ) from None
        return name, trial, trace.regret, float(trace.seconds.mean())


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
