"""Named policies with a spike-and-slab prior: sparse information-directed sampling and sparse Thompson sampling.

Hao, Lattimore and Deng (2021), Algorithms 2 and 3, on any engine for the spike-and-slab posterior.
``engine="langevin"``, a prior of ``SpikeSlab.from_paper`` and ``selection="deterministic"`` are the paper's algorithm,
with what it leaves open as in docs/paper.md; ``engine="particles"`` is asymptotically exact in the number of particles,
and cheaper.

A prior that is a table (:class:`~sparsebandits.Hypotheses`) has an exact engine of its own, which is chosen
automatically.

Without ``prior`` and ``noise_variance``, sparsity, effect size and noise are all learnt
(:func:`~sparsebandits.model.priors.default_prior`).
"""

from collections.abc import Mapping
from inspect import signature
from typing import Any, TypeAlias

import numpy as np

from sparsebandits.arguments import ArgumentTypeError, ArgumentValueError, FloatArray, check_choice, shown
from sparsebandits.model.families import Poisson
from sparsebandits.model.forgetting import Discount
from sparsebandits.model.hypotheses import Hypotheses
from sparsebandits.model.priors import SpikeSlab, default_prior
from sparsebandits.model.rewards import UNKNOWN_NOISE, Rewards
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.items import Features, with_contexts
from sparsebandits.policies.linear import with_rewards
from sparsebandits.policies.policy import Policy, Recorder
from sparsebandits.posteriors.enumeration import Enumeration
from sparsebandits.posteriors.gibbs import Gibbs
from sparsebandits.posteriors.langevin import Langevin
from sparsebandits.posteriors.particles import Particles
from sparsebandits.posteriors.table import Table
from sparsebandits.randomness import ENGINE_STREAM, Seed, child
from sparsebandits.rules.cost_to_go import CostToGo
from sparsebandits.rules.ids import InformationDirected
from sparsebandits.rules.rule import Rule
from sparsebandits.rules.thompson import Thompson

SparseEngine: TypeAlias = Particles | Gibbs | Langevin | Enumeration | Table
ENGINES: dict[str, type[SparseEngine]] = {
    "particles": Particles,
    "gibbs": Gibbs,
    "langevin": Langevin,
    "enumeration": Enumeration,
    "table": Table,
}

DRAWS = 1000
"""Default number of posterior draws. Regret with 10,000 is not significantly different (docs/rules.md), since the gain
is corrected for the noise of the draws."""

MOST_DRAWS = 10_000
"""Largest number of particles that a rule gets if it asks for more."""

RULES = ("cost-to-go", "information-ratio")

GIVEN_TO_ENGINES = ("prior", "dimension", "noise_variance", "rewards", "n_draws", "most_draws", "seed")


def engine_name(prior: object, engine: str) -> str:
    """Return the name of the engine: that of a table is taken where the default would be, which cannot serve it.

    Parameters
    ----------
    prior : SpikeSlab, Hypotheses or None
        Prior of θ.
    engine : str
        The argument ``engine``.

    Returns
    -------
    str
    """
    name = check_choice("engine", engine, tuple(ENGINES))
    return "table" if isinstance(prior, Hypotheses) and name == "particles" else name


def sparse_engine(
    prior: SpikeSlab | Hypotheses,
    dimension: int,
    rewards: Rewards,
    engine: str,
    engine_options: Mapping[str, Any] | None,
    n_draws: int | None,
    seed: Seed,
) -> SparseEngine:
    """Return the engine with a name and options.

    Parameters
    ----------
    prior : SpikeSlab or Hypotheses
        Prior of θ.
    dimension : int
        Number of features d.
    rewards : Gaussian, Bernoulli or Poisson
        How a reward arises from θ.
    engine : {"particles", "gibbs", "langevin", "enumeration", "table"}
        Name of the engine; a table is served by "table" even if this is "particles".
    engine_options : mapping or None
        Further arguments of the engine.
    n_draws : int or None
        Number of posterior draws. By default 1,000, and of particles up to 10,000 if the rule asks for them. None for a
        table, each row of which is a draw.
    seed : int, SeedSequence or None
        Seed of the policy, from which the engine's is derived.

    Returns
    -------
    Particles, Gibbs, Langevin, Enumeration or Table
        The engine.

    Raises
    ------
    ArgumentError
        If the engine or one of its options is unknown, or if it cannot serve the prior or the rewards.
    """
    name = engine_name(prior, engine)
    if engine_options is not None and not isinstance(engine_options, Mapping):
        raise ArgumentTypeError("engine_options", "a mapping of names to values", shown(engine_options))
    options: dict[str, Any] = dict(engine_options or {})
    taken = [option for option in signature(ENGINES[name]).parameters if option not in GIVEN_TO_ENGINES]
    if not set(options) <= set(taken):
        expected = f"what {name} takes ({', '.join(taken) or 'none'})"
        raise ArgumentTypeError("engine_options", expected, shown(options))
    options["seed"] = child(seed, ENGINE_STREAM)
    if name != "table":
        options["n_draws"] = DRAWS if n_draws is None else n_draws
    elif n_draws is not None:
        raise ArgumentValueError("n_draws", "none for a table, each row of which is a draw", shown(n_draws))
    if n_draws is None and name == "particles":
        options["most_draws"] = MOST_DRAWS
    return ENGINES[name](prior, dimension, rewards=rewards, **options)  # type: ignore[arg-type]  # it checks the prior


class SparsePolicy(Policy):
    """Policy with any rule and a spike-and-slab prior, or a table of hypotheses.

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d)
        One row per action.
    rule : Rule
        The decision rule.
    prior : SpikeSlab or Hypotheses, optional
        Prior of θ; by default one that learns how many features matter, and how much.
    noise_variance : float, array of shape (K,) or InverseGammaNoise, optional
        Noise variance of a reward, or one per action (a Series is matched to the rows of a DataFrame by name), or a
        prior if it is to be learnt, which is the default. Short form of ``rewards``.
    engine : {"particles", "gibbs", "langevin", "enumeration", "table"}, default="particles"
        "particles" is asymptotically exact in their number; "langevin" is the paper's (it needs a Laplace spike and a
        known noise variance); "gibbs" runs chains again after each reward, so it is slow; "enumeration" is exact for
        small d and needs a known slab variance; "table" is exact for :class:`Hypotheses`, needs a known noise variance,
        and is the default for them.
    n_draws : int, optional
        Posterior draws from which regret and information are computed. By default 1,000, and of particles up to 10,000
        while there are too few for each action that may be the best.
    engine_options : mapping, optional
        Further arguments of the engine, such as ``{"chains": 100}`` for "langevin".
    seed : int, SeedSequence or None
        Seed of all random choices.
    rewards : Gaussian, Bernoulli or Poisson, optional
        How a reward arises from θ.
    journal : Recorder, optional
        Where decisions and rewards are recorded.
    intercept : bool, default=True
        Whether rewards have an unknown level, which is integrated out; False if the mean reward is ⟨a, θ⟩.
    forgetting : Discount, optional
        How old rewards are discounted, such as ``sb.Discount(half_life=500)``; by default they are not.
    contexts, features : optional
        Contexts that may come, and how features are made of a context and an action; see
        :meth:`sparsebandits.policies.Items.of`. Then ``ask`` takes a ``context``.
    feedback : array or DataFrame of shape (K, K), or mapping, optional
        Feedback graph: whose rewards are shown when an action is played; see
        :meth:`sparsebandits.policies.ActionSet.with_feedback`. Then ``tell`` takes all of these rewards.
    """

    def __init__(
        self,
        actions: object,
        rule: Rule,
        prior: SpikeSlab | Hypotheses | None = None,
        noise_variance: object = None,
        engine: str = "particles",
        n_draws: int | None = None,
        engine_options: Mapping[str, Any] | None = None,
        seed: Seed = None,
        rewards: Rewards | None = None,
        journal: Recorder | None = None,
        intercept: bool = True,
        forgetting: Discount | None = None,
        contexts: object = None,
        features: Features = None,
        feedback: object = None,
    ) -> None:
        available, noise = with_rewards(
            with_contexts(actions, contexts, features, feedback),
            rewards,
            noise_variance,
            UNKNOWN_NOISE,
            intercept,
            forgetting,
        )
        counts = isinstance(noise, Poisson)
        given = default_prior(_offered(available, intercept), counts) if prior is None else prior
        if isinstance(given, Hypotheses):
            given = given.matched(available.feature_names)
        try:
            posterior = sparse_engine(given, available.dimension, noise, engine, engine_options, n_draws, seed)
        except ArgumentTypeError as error:
            defaults = {"prior": prior is None, "rewards": rewards is None and noise_variance is None}
            if not defaults.get(error.name):
                raise
            named = engine_name(prior, engine)
            got = f"the policy's default, {error.got}: give one that {named} serves"  # the user did not write it
            raise ArgumentTypeError(error.name, error.expected, got) from None
        super().__init__(available, posterior, rule, seed, journal)


class SparseIDS(SparsePolicy):
    """Information-directed sampling when few features matter.

    Features and rewards may be in any units, and rewards at any level: the default prior takes its scales from the
    actions and from the first rewards. A prior that is given is in the units of features and rewards.

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d)
        One row per action.
    prior : SpikeSlab or Hypotheses, optional
        Prior of θ; by default one that learns how many features matter, and how much.
    noise_variance : float, array of shape (K,) or InverseGammaNoise, optional
        Noise variance of a reward, or one per action (a Series is matched to the rows of a DataFrame by name), or a
        prior if it is to be learnt, which is the default. Short form of ``rewards``.
    engine : {"particles", "gibbs", "langevin", "enumeration", "table"}, default="particles"
        See :class:`SparsePolicy`.
    n_draws : int, optional
        Posterior draws from which regret and information are computed. By default 1,000, and of particles up to 10,000
        while there are too few for each action that may be the best.
    exponent, selection, gain : optional
        Settings of the information ratio (:class:`~sparsebandits.rules.InformationDirected`), which is the rule if one
        of them is given.
    engine_options : mapping, optional
        Further arguments of the engine, such as ``{"chains": 100}`` for "langevin".
    seed : int, SeedSequence or None
        Seed of all random choices.
    rewards : Gaussian, Bernoulli or Poisson, optional
        How a reward arises from θ.
    journal : Recorder, optional
        Where decisions and rewards are recorded.
    intercept : bool, default=True
        Whether rewards have an unknown level, which is integrated out; False if the mean reward is ⟨a, θ⟩.
    rule : {"cost-to-go", "information-ratio"}, default="cost-to-go"
        What is minimised: the cost to go (:class:`~sparsebandits.rules.CostToGo`), which weighs what an action costs
        now against what its information saves in the rounds to come; or the paper's ratio. docs/rules.md has the
        measurements behind the default.
    horizon : int or float, optional
        For the cost to go (the ratio does not use it): the number of rounds in all, or a number below one by which
        every round counts less than the one before. By default the end is not known, and 200 + t rounds are expected to
        come after t, more where clicks or counts are rare (docs/clicks.md).
    forgetting : Discount, optional
        How old rewards are discounted, such as ``sb.Discount(half_life=500)``; by default they are not.
    contexts, features : optional
        Contexts that may come, and how features are made of a context and an action; see
        :meth:`sparsebandits.policies.Items.of`. Then ``ask`` takes a ``context``.
    feedback : array or DataFrame of shape (K, K), or mapping, optional
        Feedback graph: whose rewards are shown when an action is played; see
        :meth:`sparsebandits.policies.ActionSet.with_feedback`. Then ``tell`` takes all of these rewards.

    Raises
    ------
    ArgumentError
        If ``exponent``, ``selection`` or ``gain`` is given with the other rule, or if the engine cannot serve the prior
        or the rewards.

    Examples
    --------
    >>> import numpy as np
    >>> policy = SparseIDS(np.eye(3), seed=1)
    >>> policy.tell(policy.ask(), 1.0)
    """

    def __init__(
        self,
        actions: object,
        prior: SpikeSlab | Hypotheses | None = None,
        noise_variance: object = None,
        engine: str = "particles",
        n_draws: int | None = None,
        exponent: float | None = None,
        selection: str | None = None,
        gain: str | None = None,
        engine_options: Mapping[str, Any] | None = None,
        seed: Seed = None,
        rewards: Rewards | None = None,
        journal: Recorder | None = None,
        intercept: bool = True,
        rule: str | None = None,
        horizon: float | None = None,
        forgetting: Discount | None = None,
        contexts: object = None,
        features: Features = None,
        feedback: object = None,
    ) -> None:
        given = {"exponent": exponent, "selection": selection, "gain": gain}
        settings: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        named = "information-ratio" if settings else "cost-to-go"
        if rule is not None and check_choice("rule", rule, RULES) != named and settings:
            raise ArgumentValueError("rule", '"information-ratio" with exponent, selection or gain', shown(rule))
        to_go = CostToGo(horizon)
        chosen: Rule = to_go if (rule or named) == "cost-to-go" else InformationDirected(**settings)
        super().__init__(
            actions,
            chosen,
            prior,
            noise_variance,
            engine,
            n_draws,
            engine_options,
            seed,
            rewards,
            journal,
            intercept,
            forgetting,
            contexts,
            features,
            feedback,
        )


class SparseTS(SparsePolicy):
    """Thompson sampling when few features matter: the best action under one draw from the spike-and-slab posterior.

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d)
        One row per action.
    prior : SpikeSlab or Hypotheses, optional
        Prior of θ; by default one that learns how many features matter, and how much.
    noise_variance : float, array of shape (K,) or InverseGammaNoise, optional
        As for :class:`SparseIDS`.
    engine : {"particles", "gibbs", "langevin", "enumeration", "table"}, default="particles"
        See :class:`SparsePolicy`.
    n_draws : int, default=1000
        Posterior draws from which one is picked.
    engine_options : mapping, optional
        Further arguments of the engine, such as ``{"chains": 100}`` for "langevin".
    seed : int, SeedSequence or None
        Seed of all random choices.
    rewards : Gaussian, Bernoulli or Poisson, optional
        How a reward arises from θ.
    journal : Recorder, optional
        Where decisions and rewards are recorded.
    intercept : bool, default=True
        Whether rewards have an unknown level, which is integrated out; False if the mean reward is ⟨a, θ⟩.
    forgetting : Discount, optional
        How old rewards are discounted, such as ``sb.Discount(half_life=500)``; by default they are not.
    contexts, features : optional
        Contexts that may come, and how features are made of a context and an action; see
        :meth:`sparsebandits.policies.Items.of`. Then ``ask`` takes a ``context``.
    feedback : array or DataFrame of shape (K, K), or mapping, optional
        Feedback graph: whose rewards are shown when an action is played; see
        :meth:`sparsebandits.policies.ActionSet.with_feedback`. Then ``tell`` takes all of these rewards.

    Examples
    --------
    >>> import numpy as np
    >>> policy = SparseTS(np.eye(3), seed=1)
    >>> policy.tell(policy.ask(), 1.0)
    """

    def __init__(
        self,
        actions: object,
        prior: SpikeSlab | Hypotheses | None = None,
        noise_variance: object = None,
        engine: str = "particles",
        n_draws: int | None = None,
        engine_options: Mapping[str, Any] | None = None,
        seed: Seed = None,
        rewards: Rewards | None = None,
        journal: Recorder | None = None,
        intercept: bool = True,
        forgetting: Discount | None = None,
        contexts: object = None,
        features: Features = None,
        feedback: object = None,
    ) -> None:
        rule = Thompson()
        super().__init__(
            actions,
            rule,
            prior,
            noise_variance,
            engine,
            n_draws,
            engine_options,
            seed,
            rewards,
            journal,
            intercept,
            forgetting,
            contexts,
            features,
            feedback,
        )


def _offered(actions: ActionSet, intercept: bool) -> FloatArray:
    """Return features as they may be offered, relative to the average action if there is an intercept.

    A feature that does not vary among them says nothing about its unit, and is zero: a category that a sample of
    contexts misses would else have the square of its mean as its mean square, and a prior that is far too wide.
    """
    features = actions.sample()
    if not intercept:
        return features
    return np.where(np.ptp(features, axis=0) > 0.0, features - actions.features.mean(axis=0), 0.0)
