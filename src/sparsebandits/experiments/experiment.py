"""Many trials of several policies on the same worlds, in parallel processes."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from joblib import Parallel, delayed, parallel_config
from numpy.random import SeedSequence
from threadpoolctl import threadpool_limits

from sparsebandits.checks import FloatArray, check_count
from sparsebandits.environments import Environment
from sparsebandits.experiments.comparison import Result
from sparsebandits.experiments.simulate import INSTANCE_STREAM, PolicyMaker, simulate
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
    policies: Mapping[str, PolicyMaker]
    horizon: int
    trials: int
    seed: int = 0

    def __post_init__(self) -> None:
        check_count("horizon", self.horizon)
        check_count("trials", self.trials)
        check_count("seed", self.seed, least=0)
        if not self.policies:
            raise ValueError("policies: expected at least one policy, got none")

    def run(self, workers: int = 1, progress: Progress | None = None) -> Result:
        """Run all trials on ``workers`` processes, with one BLAS thread each."""
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
        with parallel_config("loky", n_jobs=workers, inner_max_num_threads=1):
            parallel = Parallel(return_as="generator_unordered", batch_size=1)
            outcomes: Iterable[tuple[str, int, FloatArray, float]] = parallel(
                delayed(self._trial)(name, trial) for name, trial in jobs
            )
            return outcomes

    def _trial(self, name: str, trial: int) -> tuple[str, int, FloatArray, float]:
        seed = SeedSequence(self.seed, spawn_key=(trial,))
        with threadpool_limits(limits=1, user_api="blas"):
            instance = self.environment.sample(child(seed, INSTANCE_STREAM))
            trace = simulate(self.policies[name], instance, self.horizon, seed)
        return name, trial, trace.regret, float(trace.seconds.mean())
