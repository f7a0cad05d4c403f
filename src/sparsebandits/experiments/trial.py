"""Run one policy in one trial."""

import threading
import traceback
from time import perf_counter

import numpy as np
from numpy.random import SeedSequence
from threadpoolctl import threadpool_limits

from sparsebandits.arguments import IntArray
from sparsebandits.environments.instance import Environment, World
from sparsebandits.experiments.simulate import PolicyMaker, simulate
from sparsebandits.policies.policy import Policy
from sparsebandits.randomness import INSTANCE_STREAM, child
from sparsebandits.results.trials import Trial

_ALONE = threading.Lock()
"""Held while a trial runs. The number of BLAS threads is set per process, and the last bits of results depend on it, so
the threads of a Dask worker take turns."""


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
    """Run one trial with one BLAS thread.

    Parameters
    ----------
    environment : Environment
        What the instance is drawn from.
    name : str
        Name of the policy, for errors.
    make_policy : callable or type
        A maker of the policy, or a policy class.
    horizon : int
        Number of rounds.
    seed : int
        Seed of the experiment.
    trial : int
        Number of the trial; with ``seed``, all that its randomness depends on.
    rounds : array of int, default=None
        Rounds to record, from 1; None for all rounds.
    record : bool, default=False
        Whether to record the diagnostics of decisions.

    Returns
    -------
    Trial

    Raises
    ------
    RuntimeError
        If the policy or the environment fails; it names policy and trial and holds the traceback as text.
    """
    below = SeedSequence(seed, spawn_key=(trial,))
    try:
        with _ALONE, threadpool_limits(limits=1, user_api="blas"):
            started = perf_counter()
            instance = environment.sample(child(below, INSTANCE_STREAM))
            trace = simulate(make_policy, instance, horizon, below, record)
            spent = perf_counter() - started
    except Exception as error:  # text passes between processes, whatever the class of the error
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
        seconds_per_decision=float(trace.seconds.mean()),
        seconds=spent,
    )


def _pulls(instance: World, actions: IntArray) -> IntArray | None:
    """Count the pulls of each row; None where rows are not the same in every round."""
    if np.ndim(instance.actions) != 2 or instance.offered(0) is not None:  # type: ignore[arg-type]
        return None
    return np.bincount(actions, minlength=len(instance.actions))  # type: ignore[arg-type]
