"""Simulate a policy on an instance: the only place that closes the loop between the two."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import Parameter, signature
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np
from numpy.random import SeedSequence

from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    BoolArray,
    FloatArray,
    IntArray,
    check_count,
    shown,
)
from sparsebandits.environments.instance import World
from sparsebandits.model.rewards import Gaussian, Rewards
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.decision import Decision
from sparsebandits.policies.items import Items
from sparsebandits.policies.policy import Policy
from sparsebandits.randomness import NOISE_STREAM, POLICY_STREAM, IndexedNormals, Seed, child

USERS = 500
"""Number of users that a policy may see beforehand: those of the rounds after the horizon."""


@dataclass(frozen=True)
class Problem:
    """What a policy may know of an instance.

    Attributes
    ----------
    actions : array of shape (K, d) or int
        One row per action, those of the first round where they change; the dimension d where actions are points
        of the cube or the unit ball.
    noise_variance : float
        Variance of a Gaussian reward given its mean; NaN for other families.
    horizon : int
        Number of rounds.
    seed : SeedSequence
        Seed of the policy.
    rewards : Gaussian, Bernoulli or Poisson
        The family of the rewards, and whether there is an intercept to be learnt; by default Gaussian rewards with
        ``noise_variance``.
    items, users : array of shape (K, q) and array of shape (m, p), or None
        Where actions come from both: the items, and the users of the 500 rounds after the last. These are other users
        than those of the rounds, except in a data set (``Classification``), whose rows come again after all have been
        seen. A policy that is made with items and contexts is asked with the user of each round, and all others with
        the features.
    feedback : bool array of shape (K, K), optional
        Whose rewards each action shows; by default its own.
    """

    actions: Any
    noise_variance: float
    horizon: int
    seed: SeedSequence
    rewards: Rewards = None  # type: ignore[assignment]  # filled in below
    items: FloatArray | None = None
    users: FloatArray | None = None
    feedback: BoolArray | None = None

    def __post_init__(self) -> None:
        if self.rewards is None:
            object.__setattr__(self, "rewards", Gaussian(self.noise_variance))

    @classmethod
    def of(cls, instance: World, horizon: int, seed: SeedSequence) -> "Problem":
        """Return what a policy may know of an instance.

        Parameters
        ----------
        instance : World
            The instance.
        horizon : int
            Number of rounds.
        seed : SeedSequence
            Seed of the policy.

        Returns
        -------
        Problem
        """
        contexts = getattr(instance, "contexts", None)
        items, users = (None, None) if contexts is None else (contexts.items, contexts.rows(USERS, first=horizon))
        graph = getattr(instance, "feedback", None)
        return cls(instance.actions, instance.noise_variance, horizon, seed, instance.rewards, items, users, graph)


PolicyMaker: TypeAlias = Callable[[Problem], Policy]


def maker(policy: Callable[..., Policy], **settings: Any) -> PolicyMaker:
    """Return a function that makes ``policy`` for a :class:`Problem`, with these settings.

    Parameters
    ----------
    policy : type or callable
        A policy class, or a function with the same arguments. It receives the actions, the noise variance and the seed
        of the problem, also the horizon if it has an argument ``horizon``, and whether there is an intercept to be
        learnt if it has an argument ``intercept``. If the problem has a feedback graph, it receives ``feedback`` if it
        has that argument, and otherwise an :class:`~sparsebandits.policies.ActionSet` with the graph, which a policy
        refuses if it cannot learn from it. Where rewards are not Gaussian, it receives ``rewards``, their family, if it
        has that argument, and no noise variance.
    **settings
        Further arguments of the policy; they take precedence over those of the problem. With ``rewards`` or
        ``noise_variance`` among them, the policy receives neither from the problem. With ``contexts=True``, the policy
        receives the items and the users of the problem in place of the products of both, and makes its own features.

    Returns
    -------
    callable
        Makes the policy from a problem.

    Examples
    --------
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
    """Return the policy and the settings that :func:`maker` was given, or None if it did not make ``value``."""
    if isinstance(value, partial) and value.func is _make:
        return value.args[0], value.args[1]
    return None


def check_maker(name: str, value: object) -> PolicyMaker:
    """Require a function of a :class:`Problem`, or a policy class, which :func:`maker` turns into one."""
    if isinstance(value, type) and issubclass(value, Policy):
        return maker(value)
    if not callable(value):
        raise ArgumentTypeError(name, "a policy class or a function of a Problem", shown(value))
    return value


def _make(policy: Callable[..., Policy], settings: Mapping[str, Any], problem: Problem) -> Policy:
    taken = signature(policy).parameters
    known: dict[str, Any] = {"seed": problem.seed}
    if not settings.keys() & {"rewards", "noise_variance"}:
        known |= _family(problem, "rewards" in taken)
    if "horizon" in taken:
        known["horizon"] = problem.horizon
    if "intercept" in taken:
        known["intercept"] = problem.rewards.intercept
    actions = problem.actions
    if "feedback" in taken and problem.feedback is not None:
        known["feedback"] = problem.feedback
    elif problem.feedback is not None:
        actions = ActionSet.of(actions).with_feedback(problem.feedback)
    arguments = {**known, **settings}
    wanted = arguments.get("contexts")
    if wanted is True and problem.items is not None:
        return policy(problem.items, **{**arguments, "contexts": problem.users})
    if wanted is True:
        raise ArgumentValueError("contexts", "True only where the environment has users and items", "True")
    if wanted is not None and problem.items is not None:  # its actions are products already
        expected = "True, for the users and items of the environment; or a function of the problem in place of maker"
        raise ArgumentValueError("contexts", expected, shown(wanted))
    return policy(actions, **arguments)


def _family(problem: Problem, takes_rewards: bool) -> dict[str, Any]:
    """Return the argument that tells a policy how rewards arise, if it has one."""
    if isinstance(problem.rewards, Gaussian):
        return {"noise_variance": problem.noise_variance}
    return {"rewards": problem.rewards} if takes_rewards else {}


@dataclass(frozen=True, eq=False)
class Trace:
    """What happened in a simulation; each array has one entry per round.

    Attributes
    ----------
    regret : array of shape (horizon,)
        Cumulative regret, from the true means: noise does not enter.
    actions : array of shape (horizon,)
        Row of the action that was played; −1 where actions have no rows.
    rewards, probabilities : array of shape (horizon,)
        The reward, and the probability with which the action was chosen.
    seconds : array of shape (horizon,)
        Time spent in ``ask`` and ``tell``.
    recorded : dict of str to array of shape (horizon,)
        Diagnostics of the decisions by name, if they were recorded.
    """

    regret: FloatArray
    actions: IntArray
    rewards: FloatArray
    probabilities: FloatArray
    seconds: FloatArray
    recorded: dict[str, FloatArray]

    def __repr__(self) -> str:
        recorded = f"; recorded: {', '.join(self.recorded)}" if self.recorded else ""
        return f"Trace({len(self.regret)} rounds, regret {self.regret[-1]:.4g}{recorded})"


def simulate(
    make_policy: PolicyMaker | type[Policy], instance: World, horizon: int, seed: Seed = 0, record: bool = False
) -> Trace:
    """Simulate a policy on an instance for ``horizon`` rounds.

    Parameters
    ----------
    make_policy : type or callable
        A policy class, or a function that makes a policy from a :class:`Problem`, which holds everything that the
        policy may know; see :func:`maker`.
    instance : Instance
        The true problem: what the ``sample`` of an environment returns. If it has a feedback graph, a policy that was
        made with it is told the rewards of all actions that a decision shows. One that was made without it is told that
        of its action, if every action shows its own. If its actions are a :class:`~sparsebandits.model.Game`, the
        policy is told the observation of its action in place of the reward.
    horizon : int
        Number of rounds.
    seed : int, SeedSequence or None, default=0
        Seed of the trial. Noise depends only on seed, round and action (on seed and round, where actions have no rows),
        so policies that are simulated with the same seed face the same world.
    record : bool, default=False
        Whether to keep the diagnostics of each decision (such as expected regret, information gain, ratio and entropy,
        depending on the policy); NaN in rounds that have none.

    Returns
    -------
    Trace
        Regret, actions, rewards and diagnostics, round by round.

    Raises
    ------
    ArgumentError
        If the policy has to be told rewards that the instance does not show.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebandits import LinTS
    >>> from sparsebandits.environments import GaussianActions
    >>> instance = GaussianActions(dimension=5, sparsity=2, n_actions=10).sample(seed=0)
    >>> trace = simulate(LinTS, instance, horizon=20, seed=0)
    >>> trace.regret.shape, bool((np.diff(trace.regret) >= 0).all())
    ((20,), True)
    """
    if not isinstance(instance, World):
        hint = "; pass what its sample(seed) returns" if hasattr(instance, "sample") else ""
        raise ArgumentTypeError("instance", "an Instance", f"{shown(instance)}{hint}")
    make_policy = check_maker("make_policy", make_policy)
    rounds = check_count("horizon", horizon)
    policy = make_policy(Problem.of(instance, rounds, child(seed, POLICY_STREAM)))
    if not hasattr(policy, "ask"):
        raise ArgumentTypeError("make_policy", "a function that returns a policy", f"{shown(policy)} from it")
    forgetting = getattr(getattr(policy, "posterior", None), "forgetting", None)
    if getattr(forgetting, "unit", "decisions") != "decisions":
        got = f"{shown(forgetting)}; a simulation has no clock, and would not repeat"
        raise ArgumentValueError("make_policy", "a policy that forgets in decisions", got)
    _check_shown(instance, policy)
    by_context = hasattr(instance, "contexts") and isinstance(getattr(policy, "actions", None), Items)
    noise = IndexedNormals(child(seed, NOISE_STREAM))
    actions = np.empty(rounds, dtype=np.intp)
    regret, rewards, probabilities, seconds = np.empty((4, rounds))
    recorded: dict[str, FloatArray] = {}
    for t in range(rounds):
        offered = instance.offered(t)
        context = instance.contexts.row(t) if by_context else None  # type: ignore[attr-defined]
        asked = perf_counter()
        if by_context:
            decision = policy.ask(context=context)
        else:
            decision = policy.ask() if offered is None else policy.ask(offered)
        answered = perf_counter()
        outcome = instance.outcome(t, decision.action, decision.features)
        reward = outcome.reward(t, instance.rewards, noise)
        news: object = reward if outcome.observation is None else outcome.told.reward(t, instance.rewards, noise)
        if getattr(decision, "observed", None) is not None:
            news = _shown(instance, t, decision, noise)
        told = perf_counter()
        policy.tell(decision, news)
        seconds[t] = (answered - asked) + (perf_counter() - told)
        actions[t], rewards[t], probabilities[t] = decision.action, reward, decision.probability
        regret[t] = outcome.regret
        if record:
            for name, value in decision.diagnostics.items():
                recorded.setdefault(name, np.full(rounds, np.nan))[t] = value
    return Trace(np.cumsum(regret), actions, rewards, probabilities, seconds, recorded)


def _check_shown(instance: World, policy: object) -> None:
    """Refuse a policy that has to be told more than the feedback graph of an instance shows."""
    graph: BoolArray | None = getattr(instance, "feedback", None)
    own: BoolArray | None = getattr(getattr(policy, "actions", None), "feedback", None)
    known = own if graph is None else graph
    if known is None:
        return
    alone: BoolArray = np.eye(len(known), dtype=np.bool_)  # each action shows its own reward
    hidden = np.logical_and(alone if own is None else own, np.logical_not(alone if graph is None else graph))
    if hidden.any():
        row, other = (int(one) for one in np.argwhere(hidden)[0])
        got = f"one that has to be told the reward of action {other} when {row} is played, which is hidden"
        raise ArgumentValueError("make_policy", "a policy with the feedback graph of the instance", got)


def _shown(instance: World, t: int, decision: Decision, noise: IndexedNormals) -> list[float]:
    """Return the rewards of ``decision.observed``, in that order, as playing these actions would have brought them."""
    each = zip(decision.observed or (), decision.observation, strict=True)  # type: ignore[arg-type]
    return [instance.outcome(t, row, features).reward(t, instance.rewards, noise) for row, features in each]
