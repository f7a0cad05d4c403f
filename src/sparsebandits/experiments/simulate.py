"""Play a policy against an instance: the only place that closes the loop."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import Parameter, signature
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np
from numpy.random import SeedSequence

from sparsebandits.arguments import ArgumentTypeError, FloatArray, IntArray, check_count, shown
from sparsebandits.environments import World
from sparsebandits.policies.policy import Policy
from sparsebandits.randomness import NOISE_STREAM, POLICY_STREAM, IndexedNormals, Seed, child


@dataclass(frozen=True)
class Problem:
    """What a policy may know of an instance.

    ``actions`` are rows; those of the first round, where they change; the dimension d, where they are [−1, 1]^d.
    """

    actions: Any
    noise_variance: float
    horizon: int
    seed: SeedSequence


PolicyMaker: TypeAlias = Callable[[Problem], Policy]


def maker(policy: Callable[..., Policy], **settings: Any) -> PolicyMaker:
    """Return a maker that gives ``policy`` the problem's actions, noise variance and seed, and these settings.

    A policy that has an argument ``horizon`` is given the horizon too.

    >>> from sparsebandits import LinUCB
    >>> make_policy = maker(LinUCB, width=1.5)
    """
    if not callable(policy):
        raise ArgumentTypeError("policy", "a policy class, or a function that makes one", shown(policy))
    taken = signature(policy).parameters
    unknown = [name for name in settings if name not in taken]
    if unknown and not any(parameter.kind is Parameter.VAR_KEYWORD for parameter in taken.values()):
        name = getattr(policy, "__name__", shown(policy))
        raise ArgumentTypeError("settings", f"those that {name} takes ({', '.join(taken)})", repr(unknown[0]))
    return partial(_make, policy, settings)


def maker_parts(value: object) -> tuple[Callable[..., Policy], Mapping[str, Any]] | None:
    """Return what :func:`maker` was given, if it made ``value``."""
    if isinstance(value, partial) and value.func is _make:
        return value.args[0], value.args[1]
    return None


def check_maker(name: str, value: object) -> PolicyMaker:
    """Require a function of a :class:`Problem`, or a policy class, which :func:`maker` makes into one."""
    if isinstance(value, type) and issubclass(value, Policy):
        return maker(value)
    if not callable(value):
        raise ArgumentTypeError(name, "a policy class or a function of a Problem", shown(value))
    return value


def _make(policy: Callable[..., Policy], settings: Mapping[str, Any], problem: Problem) -> Policy:
    known: dict[str, Any] = {"noise_variance": problem.noise_variance, "seed": problem.seed}
    if "horizon" in signature(policy).parameters:
        known["horizon"] = problem.horizon
    return policy(problem.actions, **{**known, **settings})


@dataclass(frozen=True, eq=False)
class Trace:
    """What happened, round by round; each array has one entry a round."""

    regret: FloatArray  # cumulative, from the true means: noise does not enter
    actions: IntArray  # rows; −1 where actions have none
    rewards: FloatArray
    probabilities: FloatArray
    seconds: FloatArray  # spent in ask and tell
    recorded: dict[str, FloatArray]  # diagnostics of the decisions, by name, if they were asked for

    def __repr__(self) -> str:
        recorded = f"; recorded: {', '.join(self.recorded)}" if self.recorded else ""
        return f"Trace({len(self.regret)} rounds, regret {self.regret[-1]:.4g}{recorded})"


def simulate(
    make_policy: PolicyMaker | type[Policy], instance: World, horizon: int, seed: Seed = 0, record: bool = False
) -> Trace:
    """Play ``horizon`` rounds.

    Parameters
    ----------
    make_policy : a policy class, or a function that makes a policy from the :class:`Problem`, which holds all that
        it may know; see :func:`maker`
    instance : the truth: an :class:`Instance`, or what else an environment's ``sample`` returns
    horizon : number of rounds
    seed : of the trial; noise depends on seed, round and action alone (on seed and round, where actions have no
        rows), so policies that are simulated with the same seed face the same world
    record : keep the diagnostics of each decision (expected regret, information gain, ratio, entropy and so on,
        whatever the policy has), NaN where it had none

    >>> import numpy as np
    >>> from sparsebandits import LinTS
    >>> from sparsebandits.environments import GaussianActions
    >>> instance = GaussianActions(dimension=5, sparsity=2, n_actions=10).sample(seed=0)
    >>> trace = simulate(LinTS, instance, horizon=20, seed=0)
    >>> trace.regret.shape, bool((np.diff(trace.regret) >= 0).all())
    ((20,), True)
    """
    if not isinstance(instance, World):
        hint = "; its sample(seed) would do" if hasattr(instance, "sample") else ""
        raise ArgumentTypeError("instance", "an Instance", f"{shown(instance)}{hint}")
    make_policy = check_maker("make_policy", make_policy)
    rounds = check_count("horizon", horizon)
    policy = make_policy(Problem(instance.actions, instance.noise_variance, rounds, child(seed, POLICY_STREAM)))
    if not hasattr(policy, "ask"):
        raise ArgumentTypeError("make_policy", "a function that returns a policy", f"{shown(policy)} from it")
    noise = IndexedNormals(child(seed, NOISE_STREAM))
    actions = np.empty(rounds, dtype=np.intp)
    regret, rewards, probabilities, seconds = np.empty((4, rounds))
    recorded: dict[str, FloatArray] = {}
    for t in range(rounds):
        offered = instance.offered(t)
        asked = perf_counter()
        decision = policy.ask() if offered is None else policy.ask(offered)
        answered = perf_counter()
        outcome = instance.outcome(t, decision.action, decision.features)
        reward = outcome.reward(t, instance.noise_variance, noise)
        told = perf_counter()
        policy.tell(decision, reward)
        seconds[t] = (answered - asked) + (perf_counter() - told)
        actions[t], rewards[t], probabilities[t] = decision.action, reward, decision.probability
        regret[t] = outcome.regret
        if record:
            for name, value in decision.diagnostics.items():
                recorded.setdefault(name, np.full(rounds, np.nan))[t] = value
    return Trace(np.cumsum(regret), actions, rewards, probabilities, seconds, recorded)
