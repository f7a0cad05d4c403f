"""One policy in one trial, what is kept of it, and the result that many of them make."""

import threading
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.random import SeedSequence
from threadpoolctl import threadpool_limits

from sparsebandits.arguments import FloatArray, IntArray
from sparsebandits.environments import Environment, World
from sparsebandits.experiments.simulate import PolicyMaker, simulate
from sparsebandits.policies.policy import Policy
from sparsebandits.randomness import INSTANCE_STREAM, child
from sparsebandits.results.result import Result

_ALONE = threading.Lock()
"""Held while a trial runs. The number of BLAS threads belongs to the process, and bits depend on it, so the threads of
a Dask worker take turns."""


@dataclass(frozen=True, eq=False)
class Trial:
    """The curves of a policy in a trial; each array has one entry a recorded round."""

    regret: FloatArray  # cumulative
    actions: IntArray  # rows; −1 where actions have none
    rewards: FloatArray
    probabilities: FloatArray
    recorded: dict[str, FloatArray]  # diagnostics of the decisions, by name, if they were asked for
    pulls: IntArray | None  # how often each action was played in all rounds; None where rows mean nothing
    seconds_a_decision: float
    seconds: float  # in all


def recorded_rounds(horizon: int, points: int | None) -> IntArray | None:
    """Return about ``points`` evenly spaced rounds that end with the horizon, counted from 1; None for all.

    >>> recorded_rounds(1000, 5)
    array([   1,  251,  500,  750, 1000])
    """
    if points is None or points >= horizon:
        return None
    return np.unique(np.linspace(horizon, 1, points).round().astype(np.intp))


def play(
    environment: Environment,
    name: str,
    make_policy: PolicyMaker | type[Policy],
    horizon: int,
    seed: int,
    trial: int,
    rounds: IntArray | None = None,
    record: bool = False,
) -> Trial:
    """Run one trial, with one BLAS thread, and keep what is asked for. An error says whose trial it was."""
    below = SeedSequence(seed, spawn_key=(trial,))
    try:
        with _ALONE, threadpool_limits(limits=1, user_api="blas"):
            started = perf_counter()
            instance = environment.sample(child(below, INSTANCE_STREAM))
            trace = simulate(make_policy, instance, horizon, below, record)
            spent = perf_counter() - started
    except Exception as error:  # plain text crosses the border between processes, whatever the error was
        raise RuntimeError(
            f"policy {name!r} failed in trial {trial} of seed {seed}: {error!r}\n{traceback.format_exc()}"
        ) from None
    kept = slice(None) if rounds is None else rounds - 1
    return Trial(
        regret=trace.regret[kept],
        actions=trace.actions[kept],
        rewards=trace.rewards[kept],
        probabilities=trace.probabilities[kept],
        recorded={column: values[kept] for column, values in trace.recorded.items()},
        pulls=_pulls(instance, trace.actions),
        seconds_a_decision=float(trace.seconds.mean()),
        seconds=spent,
    )


def _pulls(instance: World, actions: IntArray) -> IntArray | None:
    """Count the pulls of each row, where rows stay what they are."""
    if np.ndim(instance.actions) != 2 or instance.offered(0) is not None:  # type: ignore[arg-type]
        return None
    return np.bincount(actions, minlength=len(instance.actions))  # type: ignore[arg-type]


def gathered(
    trials: Mapping[str, Sequence[Trial]], rounds: IntArray | None, about: Mapping[str, Any] | None = None
) -> Result:
    """Return the result that the trials of each policy make, in their order."""
    pulls = {name: _stacked_pulls(played) for name, played in trials.items()}
    return Result(
        regret={name: np.stack([one.regret for one in played]) for name, played in trials.items()},
        seconds={name: np.array([one.seconds_a_decision for one in played]) for name, played in trials.items()},
        rounds=rounds,
        pulls={name: counts for name, counts in pulls.items() if counts is not None} or None,
        recorded={name: _stacked_diagnostics(played) for name, played in trials.items()},
        about=about,
    )


def _stacked_pulls(played: Sequence[Trial]) -> IntArray | None:
    counts = [one.pulls for one in played if one.pulls is not None]
    same = len(counts) == len(played) and len({len(pulls) for pulls in counts}) == 1
    return np.stack(counts) if same else None


def _stacked_diagnostics(played: Sequence[Trial]) -> dict[str, FloatArray]:
    """Return each diagnostic as (trials, rounds), NaN in trials that had none of it."""
    nothing = np.full(len(played[0].regret), np.nan)
    return {
        column: np.stack([one.recorded.get(column, nothing) for one in played])
        for column in sorted({column for one in played for column in one.recorded})
    }
