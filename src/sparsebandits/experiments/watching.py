"""Watch a policy: run it as it is, and let an observer measure what its choices cost and tell.

An *observer*, a posterior of its own that learns from the same actions and rewards, measures regret and information
(``theory/information_path.py``). So any policy can be watched, including those without a posterior, and what it plays
does not change. The measurements go into the diagnostics of its decisions, which ``simulate`` and ``Experiment``
record: workers, directories and intervals serve them as they serve regret.

All K actions are measured in every ``every``-th round, which is what costs; the entropy H_t(x*), and Δ_t and I_t of
what is played, in each.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import MOST_DRAWS, ArgumentTypeError, ArgumentValueError, FloatArray, check_count, shown
from sparsebandits.environments.instance import Environment, Instance
from sparsebandits.experiments.experiment import Experiment
from sparsebandits.experiments.simulate import PolicyMaker, Problem, check_maker
from sparsebandits.model.priors import GaussianPrior, InverseGammaSlab, LaplaceSpike, SpikeSlab
from sparsebandits.model.rewards import Gaussian
from sparsebandits.policies.decision import Decision
from sparsebandits.policies.policy import Policy
from sparsebandits.posteriors.conjugate import Conjugate
from sparsebandits.posteriors.draws import Draws
from sparsebandits.randomness import OBSERVER_STREAM, Seed, child, stream
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import NO_ROW
from sparsebandits.rules.optima import OptimaMemory
from sparsebandits.rules.thompson import Thompson
from sparsebandits.theory.information_path import (
    C_MIN,
    CHOICES,
    LARGEST_MEAN,
    LONGEST,
    NATS,
    REGRET,
    VARIANCE,
    InformationPath,
    measured_choices,
    two_point,
)

ENUMERATED = 12
"""Features up to which the observer enumerates all models; beyond, it has particles."""

SAMPLED = 10_000
"""Draws from which the distribution of Thompson sampling is estimated where it is not exact."""

ENTROPY, PLAYED, TOTAL, PAID = "H(x*)", "I(x*; reward)", "total I(x*; reward)", "total expected regret"

Observer: TypeAlias = SpikeSlab | GaussianPrior | Callable[[Problem], Any]


class Watched:
    """A policy whose decisions carry what an observer thinks of them. Rewards are told one by one."""

    def __init__(self, policy: Policy, observer: Any, every: int, horizon: int, rng: Generator) -> None:
        self.policy, self.observer = policy, observer
        self._every, self._horizon, self._rng = every, horizon, rng
        self._optima = OptimaMemory()
        self._round, self._total, self._paid = 0, 0.0, 0.0

    def ask(self, actions: object = None) -> Decision:
        """Let the policy choose; measure."""
        decision = self.policy.ask(actions)
        if decision.action == NO_ROW:
            raise ArgumentValueError("make_policy", "a policy that chooses rows", "one whose actions are no rows")
        if decision.observed is not None:  # what is measured is the information of one reward
            raise ArgumentValueError("make_policy", "a policy without a feedback graph", "one with a graph")
        available = self.policy.actions if actions is None else self.policy.actions.matched(actions)
        beliefs = Beliefs(self.observer, available.features, available.noise_variances, self._round, self._optima)
        notes = {**decision.reasons.notes, **self._notes(beliefs, decision)}
        return replace(decision, reasons=replace(decision.reasons, notes=notes))

    def tell(self, decision: Decision, reward: float) -> None:
        """Let both learn; a learner may get other rows than those that were played, the observer does not."""
        self.policy.tell(decision, reward)
        x, y, noise = decision.features[np.newaxis], np.array([reward]), decision.noise_variance
        if noise is None:
            self.observer.absorb(x, y)
        else:  # the weight that gives this noise variance in the observer's own model
            self.observer.absorb(x, y, np.array([self.observer.noise_variance / noise]))

    def _notes(self, beliefs: Beliefs, decision: Decision) -> dict[str, float]:
        known = beliefs.information
        measured = self._round % self._every == 0 or self._round == self._horizon - 1
        rows = np.arange(len(beliefs)) if measured else np.array([decision.action])
        nats = beliefs.mutual_information_of(rows)
        played = float(nats[decision.action if measured else 0])
        self._round, self._total = self._round + 1, self._total + played
        self._paid += float(known.expected_regret[decision.action])
        notes = {ENTROPY: known.entropy, PLAYED: played, TOTAL: self._total, PAID: self._paid}
        if measured:
            own = own_distribution(self.policy, decision, beliefs.features, self._rng)
            notes |= measured_choices(known, nats, beliefs.draws, beliefs.features, own)
        return notes


def own_distribution(policy: Policy, decision: Decision, features: FloatArray, rng: Generator) -> FloatArray | None:
    """Return π_t of a policy that has just decided, shape ``(K,)``; None if it is not known.

    Known are deterministic choices, those between two actions, and Thompson sampling, whose distribution is that of the
    best action under draws from its own posterior.
    """
    mixture, rule, posterior = decision.reasons.mixture, policy.rule, policy.posterior
    if mixture is not None:
        return two_point(len(features), mixture.first, mixture.second, mixture.probability)
    if isinstance(rule, Thompson):
        beliefs = Beliefs(posterior, features)
        if posterior.picks_from_draws and rule.inflation == 1.0:
            return beliefs.optimal_probability
        mean = beliefs.coefficients
        theta = mean + np.sqrt(rule.inflation) * (posterior.sample(rng, SAMPLED) - mean)
        draws = Draws.trusted(theta, np.full(SAMPLED, 1.0 / SAMPLED))
        return beliefs.best_under(draws).row_probability()
    return two_point(len(features), decision.action, decision.action, 0.0) if decision.probability == 1.0 else None


def watched(
    make_policy: PolicyMaker | type[Policy], observer: Observer | None = None, every: int = 10, n_draws: int = 10_000
) -> PolicyMaker:
    """Return a maker of the same policy, whose decisions carry what an observer measured.

    For an :class:`Experiment` with ``record=True``; see :func:`information_path` for the parameters.
    """
    check_maker("make_policy", make_policy)
    if observer is not None and not isinstance(observer, SpikeSlab | GaussianPrior) and not callable(observer):
        expected = "a SpikeSlab, a GaussianPrior, or a function of a Problem"
        raise ArgumentTypeError("observer", expected, shown(observer))
    steps, draws = check_count("every", every), check_count("n_draws", n_draws, 2, MOST_DRAWS)
    return cast(PolicyMaker, partial(_make_watched, make_policy, observer, steps, draws))  # asks and tells as one


def _make_watched(
    make_policy: PolicyMaker | type[Policy], observer: Observer | None, every: int, n_draws: int, problem: Problem
) -> Watched:
    if not isinstance(problem.rewards, Gaussian):
        raise ArgumentTypeError("world", "Gaussian rewards", shown(problem.rewards))
    policy = check_maker("make_policy", make_policy)(problem)
    seed = child(problem.seed, OBSERVER_STREAM)
    if observer is None:
        observer = getattr(policy.posterior, "prior", None)
        if not isinstance(observer, SpikeSlab | GaussianPrior):
            raise ArgumentTypeError("observer", f"a prior, since {type(policy).__name__} has none", "None")
    if isinstance(observer, SpikeSlab | GaussianPrior):
        posterior = _engine(observer, policy.actions.dimension, problem.rewards, n_draws, child(seed, 0))
    else:
        posterior = observer(problem)
    return Watched(policy, posterior, every, problem.horizon, stream(seed, 1))


def _engine(prior: SpikeSlab | GaussianPrior, dimension: int, rewards: Gaussian, n_draws: int, seed: Seed) -> Any:
    """Return the most exact engine for a prior that takes milliseconds per round."""
    if isinstance(prior, GaussianPrior):
        return Conjugate(prior, dimension, n_draws=n_draws, seed=seed, rewards=rewards)
    from sparsebandits.posteriors.enumeration import Enumeration
    from sparsebandits.posteriors.particles import Particles  # brings compiled code

    learnt = isinstance(prior.slab_variance, InverseGammaSlab) or isinstance(prior.spike, LaplaceSpike)
    exact = dimension <= ENUMERATED and not learnt
    return (Enumeration if exact else Particles)(prior, dimension, n_draws=n_draws, seed=seed, rewards=rewards)


def information_path(
    make_policy: PolicyMaker | type[Policy],
    world: Instance | Environment,
    horizon: int,
    observer: Observer | None = None,
    every: int = 10,
    trials: int = 1,
    sparsity: int | None = None,
    n_draws: int = 10_000,
    seed: int = 0,
    workers: int = 1,
    name: str = "own choice",
) -> InformationPath:
    """Run a policy and measure what its choices cost and tell, beside those of others.

    Parameters
    ----------
    make_policy : policy class or callable
        A policy class, or a function that makes one; see :func:`maker`.
    world : Instance or Environment
        An instance, or an environment from which ``trials`` of them are drawn as :class:`Experiment` does.
    horizon : int
        Number of rounds.
    observer : SpikeSlab, GaussianPrior or callable, optional
        Prior of the observer, or a function of a :class:`Problem` that returns a posterior; by default the policy's own
        prior. A prior gets the exact posterior where that is cheap, otherwise particles. All numbers are what *this*
        posterior believes: for the quantities of the paper it is the prior that the instances come from.
    every : int, default=10
        Rounds from one measurement of all actions to the next; the cost of one grows with their number.
    trials : int, default=1
        Number of instances.
    sparsity : int, optional
        s of the printed bounds; by default that of the environment, if it has one.
    n_draws : int, default=10000
        M of the observer; v is too large by about G Var(⟨a, θ⟩) / M, where G actions are best under some draw.
    seed : int, default=0
        Root of all randomness; the policy plays as it does in an ``Experiment`` with this seed.
    workers : int, default=1
        Number of processes.
    name : str, default="own choice"
        Name of the policy, in figures.

    Examples
    --------
    >>> from sparsebandits import SparseIDS, SpikeSlab, maker
    >>> from sparsebandits.environments import HardInstance
    >>> world = HardInstance(dimension=4, sparsity=2, informative_set="hypercube")
    >>> ids = maker(SparseIDS, prior=SpikeSlab(0.5, 0.5), n_draws=500)
    >>> information_path(ids, world, horizon=12, every=5, n_draws=500)
    InformationPath(own choice: 1 trial(s) of 12 rounds, 4 of them measured)
    """
    environment: Environment = _Same(world) if isinstance(world, Instance) else world
    maker = watched(make_policy, observer, every, n_draws)
    experiment = Experiment(environment, {name: maker}, horizon, trials, seed, record=True)
    instance = environment.sample(0)
    if not isinstance(instance, Instance):
        raise ArgumentTypeError("world", "instances with one θ* and rows of actions that stay", shown(instance))
    maker(Problem.of(instance, horizon, child(seed)))  # to be refused here, if at all
    result = experiment.run(workers=workers)
    recorded = result.recorded[name]
    known = np.isfinite(recorded[LARGEST_MEAN]).all(axis=0)
    missing = np.full((trials, int(known.sum())), np.nan)
    parts = {
        part: {c: recorded[f"{c}: {part}"][:, known] if f"{c}: {part}" in recorded else missing for c in CHOICES}
        for part in (REGRET, NATS, VARIANCE)
    }
    return InformationPath(
        policy=name,
        rounds=np.arange(1, horizon + 1),
        measured=np.flatnonzero(known) + 1,
        cumulative_regret=result.regret[name],
        expected_regret=recorded[PAID],
        entropy=recorded[ENTROPY],
        information=recorded[TOTAL],
        regret=parts[REGRET],
        gain=parts[NATS],
        variance=parts[VARIANCE],
        largest_mean=recorded[LARGEST_MEAN][:, known],
        longest=recorded[LONGEST][:, known],
        c_min=recorded[C_MIN][:, known],
        dimension=instance.actions.shape[1],
        n_actions=len(instance.actions),
        noise_variance=instance.noise_variance,
        sparsity=getattr(world, "sparsity", None) if sparsity is None else check_count("sparsity", sparsity),
    )


@dataclass(frozen=True)
class _Same:
    """An environment with one instance."""

    instance: Instance

    def sample(self, seed: Seed) -> Instance:
        """Return it."""
        return self.instance
