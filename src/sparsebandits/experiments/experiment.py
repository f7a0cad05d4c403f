"""Many trials of several policies on the same worlds: in memory, or in a directory that a run can be resumed from."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable
from uuid import uuid4

from sparsebandits.arguments import ArgumentTypeError, ArgumentValueError, check_count, shown
from sparsebandits.environments.instance import Environment
from sparsebandits.experiments.description import describe, untracked
from sparsebandits.experiments.executors import on_a_cluster, on_this_machine
from sparsebandits.experiments.provenance import now, sources_digest, surroundings
from sparsebandits.experiments.simulate import PolicyMaker, check_maker
from sparsebandits.experiments.store import Store
from sparsebandits.experiments.trial import play
from sparsebandits.policies.policy import Policy
from sparsebandits.results.result import Result
from sparsebandits.results.trials import Trial, gather, recorded_rounds

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of finished trials and of all trials; a trial is one policy on one instance."""


@runtime_checkable
class Watcher(Protocol):
    """A :data:`Progress` that also receives what an earlier run has finished, and the final regret of each trial."""

    def __call__(self, done: int, total: int) -> None:
        """Receive the number of finished trials and of all trials."""

    def found(self, done: int) -> None:
        """Receive the number of trials that an earlier run has finished, before the first trial is run."""

    def ended(self, policy: str, regret: float) -> None:
        """Receive the final regret of a trial, including the trials of an earlier run."""


class Done(NamedTuple):
    """What a worker returns for a trial; ``played`` is None if it has written the trial to a directory."""

    policy: str
    trial: int
    regret: float  # at the horizon
    played: Trial | None


@dataclass(frozen=True)
class Experiment:
    """Policies compared on ``trials`` instances of ``environment``, over ``horizon`` rounds each.

    Trial i depends only on ``(seed, i)``: its instance, its noise, and the coin flips of each policy. So every policy
    meets the same worlds, and any number of workers gives the same numbers.

    Parameters
    ----------
    environment : Environment
        What instances are drawn from.
    policies : mapping of str to policy maker or policy class
        The policies by name; see :func:`maker`.
    horizon : int
        Rounds per trial.
    trials : int
        Number of instances that every policy is tried on.
    seed : int, default=0
        Root of all randomness.
    record : bool, default=False
        Whether to keep the diagnostics of decisions too, as :func:`simulate` does.
    points : int, default=None
        Keep about this many evenly spaced rounds of each curve, including the last one; None keeps all rounds.
    notes : mapping, optional
        Plain data to keep with the provenance of a directory; not part of the configuration.

    Examples
    --------
    >>> from sparsebandits import LinUCB, maker
    >>> from sparsebandits.environments import GaussianActions
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
    record: bool = False
    points: int | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_count("horizon", self.horizon)
        check_count("trials", self.trials)
        check_count("seed", self.seed, least=0, most=None)
        if self.points is not None:
            check_count("points", self.points)
        if not isinstance(self.record, bool):
            raise ArgumentTypeError("record", "True or False", shown(self.record))
        if not hasattr(self.environment, "sample") or isinstance(self.environment, type):
            raise ArgumentTypeError("environment", "one with sample(seed)", shown(self.environment))
        if not isinstance(self.policies, Mapping) or not self.policies:
            raise ArgumentValueError("policies", "at least one policy by name, in a dict", shown(self.policies))
        for name, make_policy in self.policies.items():
            if not isinstance(name, str):
                raise ArgumentTypeError("policies", "text for names", shown(name))
            check_maker(f"policies[{name!r}]", make_policy)

    def run(
        self,
        directory: str | os.PathLike[str] | None = None,
        workers: int = 1,
        progress: Progress | Watcher | None = None,
        scheduler: Any = None,
    ) -> Result:
        """Run all trials, with one BLAS thread each.

        Parameters
        ----------
        directory : str or path, default=None
            Where each trial is written as soon as it is finished. Trials that are in the directory already are not run
            again, so an interrupted run continues, and more trials or policies can be added. None keeps the results in
            memory.
        workers : int, default=1
            Number of processes on this machine.
        progress : callable, default=None
            Called with the number of finished trials and of all trials; a :class:`Watcher` receives more.
        scheduler : str or distributed.Client, default=None
            Address or client of a Dask scheduler, whose workers are used instead of processes on this machine.

        Returns
        -------
        Result
            The trials of this experiment's policies.

        Raises
        ------
        ValueError
            If the directory holds trials of another configuration; it is not changed.
        OSError
            If the directory cannot be written to, or if a worker process was killed; finished trials are kept.
        """
        check_count("workers", workers)
        if progress is not None and not callable(progress):
            raise ArgumentTypeError("progress", "a function of the finished and all trials", shown(progress))
        if directory is None:
            return _in_memory(self, self._finished(None, set(), workers, progress, scheduler))
        policies = {name: describe(f"policies[{name!r}]", made) for name, made in self.policies.items()}
        store = Store.at(directory, self._shared(), policies)
        found = store.finished(self.trials)
        records = _Records(store, self, found, f"{workers} local" if scheduler is None else "Dask")
        ran = sum(1 for _ in self._finished(store, found, workers, progress, scheduler))
        records.close(ran)
        return store.result(self.trials)

    def _shared(self) -> dict[str, Any]:
        """Return the part of the configuration that all policies share."""
        return {
            "environment": describe("environment", self.environment),
            "horizon": self.horizon,
            "seed": self.seed,
            "record": self.record,
            "points": self.points,
        }

    def _finished(
        self,
        store: Store | None,
        found: set[tuple[str, int]],
        workers: int,
        progress: Progress | Watcher | None,
        scheduler: Any,
    ) -> Iterable[Done]:
        """Run the trials that are not in ``found``, and report to ``progress``."""
        jobs = [(name, trial) for trial in range(self.trials) for name in self.policies if (name, trial) not in found]
        total, watcher = len(jobs) + len(found), progress if isinstance(progress, Watcher) else None
        if watcher is not None and store is not None:
            for name, trial in sorted(found):
                watcher.ended(name, store.final_regret(name, trial))
            watcher.found(len(found))
        work = _Work(self, store, sources_digest())
        outcomes = on_this_machine(work, jobs, workers) if scheduler is None else on_a_cluster(work, jobs, scheduler)
        for done, outcome in enumerate(outcomes, len(found) + 1):
            yield outcome
            if watcher is not None:
                watcher.ended(outcome.policy, outcome.regret)
            if progress is not None:
                progress(done, total)


@dataclass(frozen=True)
class _Work:
    """Runs one trial in a worker, which also writes it if there is a store."""

    experiment: Experiment
    store: Store | None
    sources: str

    def __call__(self, name: str, trial: int) -> Done:
        if sources_digest() != self.sources:
            raise RuntimeError("scheduler: expected workers with the same sources of sparsebandits, got different ones")
        if self.store is not None and self.store.has(name, trial):  # a cluster may run a job again after a worker died
            return Done(name, trial, self.store.final_regret(name, trial), None)
        it = self.experiment
        rounds = recorded_rounds(it.horizon, it.points)
        played = play(it.environment, name, it.policies[name], it.horizon, it.seed, trial, rounds, it.record)
        if self.store is None:
            return Done(name, trial, float(played.regret[-1]), played)
        self.store.write(name, trial, played)
        return Done(name, trial, float(played.regret[-1]), None)


class _Records:
    """The entry of a run in ``provenance.json``: created when the run starts, completed when it ends."""

    def __init__(self, store: Store, experiment: Experiment, found: set[tuple[str, int]], engine: str) -> None:
        self.store, self.notes, self.started = store, experiment.notes, perf_counter()
        self.run: dict[str, Any] = {
            "id": uuid4().hex,
            "started": now(),
            "seconds": None,
            "engine": engine,
            "trials": experiment.trials,
            "found": len(found),
            "ran": None,
            **surroundings(),
            "untracked": untracked({"shared": dict(store.shared), "policies": dict(store.policies)}),
        }
        if experiment.trials * len(store.policies) > len(found):
            store.note(self.run, self.notes)

    def close(self, ran: int) -> None:
        """Add how long the run took. A run that found all trials finished leaves no entry."""
        if ran:
            self.run |= {"seconds": perf_counter() - self.started, "ran": ran}
            self.store.note(self.run, self.notes)


def _in_memory(experiment: Experiment, outcomes: Iterable[Done]) -> Result:
    """Return the result of trials that were not written."""
    trials: dict[str, dict[int, Trial]] = {name: {} for name in experiment.policies}
    for outcome in outcomes:
        assert outcome.played is not None
        trials[outcome.policy][outcome.trial] = outcome.played
    ordered = {name: [played[trial] for trial in range(experiment.trials)] for name, played in trials.items()}
    return Result(**gather(ordered, recorded_rounds(experiment.horizon, experiment.points)))
