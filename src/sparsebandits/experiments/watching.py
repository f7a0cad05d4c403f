"""The information ratio along a run: of what a policy does, of Thompson sampling, of a mixture, and the least one.

Hao, Lattimore and Deng (2021), Section 5: with the expected regret Δ_t and the information gain I_t of each action,

    Ψ_{t,λ}(π) = (Δ_t'π)^λ / I_t'π,     Σ_t I_t(x*; (A_t, Y_t)) has the mean I(x*; history) = H_1(x*) − E H_{n+1}(x*).

An *observer*, a posterior of its own that learns from the same actions and rewards, measures both. So any policy can be
watched, those without a posterior among them, and what it plays does not change. The measurements go into the
diagnostics of its decisions, which ``simulate`` and ``Experiment`` record: workers, directories and intervals serve
them as they serve regret.

I_t is the mutual information in nats; v_t, the variance-based gain, is recorded beside it. All K actions are measured
in every ``every``-th round, which is what costs; the entropy H_t(x*), and Δ_t and I_t of what is played, in each.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    IntArray,
    check_choice,
    check_count,
    shown,
)
from sparsebandits.environments import Environment, Instance
from sparsebandits.experiments.experiment import Experiment
from sparsebandits.experiments.simulate import PolicyMaker, Problem, check_maker
from sparsebandits.model.priors import GaussianPrior, InverseGammaSlab, LaplaceSpike, SpikeSlab
from sparsebandits.policies import ActionSet, Choice, Policy, Rule
from sparsebandits.policies.decision import NO_ROW
from sparsebandits.policies.thompson import Thompson
from sparsebandits.posteriors.conjugate import Conjugate
from sparsebandits.posteriors.draws import Draws, Posterior
from sparsebandits.randomness import Seed, child, stream
from sparsebandits.rules.information import BLOCK, Information, OptimaMemory, information
from sparsebandits.rules.mutual_information import mutual_information
from sparsebandits.rules.ratio import minimise_over_distributions, ratios
from sparsebandits.theory import COVERING_CONSTANT, exploratory_design
from sparsebandits.theory.proof_mixture import nats_factor, proof_mixture, ratio_bounds

if TYPE_CHECKING:
    from sparsebandits.results.plots.style import Target

OBSERVER_STREAM = 3
"""Below the seed of a policy: what the observer draws from."""

ENUMERATED = 12
"""Features up to which the observer enumerates all models; beyond, it has particles."""

SAMPLED = 10_000
"""Draws from which the distribution of Thompson sampling is estimated where it is not exact."""

OWN, THOMPSON, MIXTURE, LEAST_2, LEAST_3 = "own choice", "Thompson sampling", "mixture", "least Ψ₂", "least Ψ₃"
CHOICES = (OWN, THOMPSON, MIXTURE, LEAST_2, LEAST_3)
"""Distributions over actions that are measured; the last two minimise the ratio in nats."""

REGRET, VARIANCE, NATS = "expected regret", "gain v", "information I"
ENTROPY, PLAYED, TOTAL, PAID = "H(x*)", "I(x*; reward)", "total I(x*; reward)", "total expected regret"
LARGEST_MEAN, LONGEST, C_MIN = "R_max", "L", "C_min"
GAINS = ("mutual-information", "variance")

Observer: TypeAlias = SpikeSlab | GaussianPrior | Callable[[Problem], Posterior]


class Watching:
    """A rule that chooses as another does, and notes what an observer thinks of the choice.

    What is saved is the other rule alone.
    """

    def __init__(self, rule: Rule, observer: Posterior, every: int, horizon: int, rng: Generator) -> None:
        self.rule, self.observer = rule, observer
        self._every, self._horizon, self._rng = every, horizon, rng
        self._optima = OptimaMemory()
        self._played: FloatArray | None = None
        self._round, self._total, self._paid = 0, 0.0, 0.0

    def choose(self, actions: ActionSet, rng: Generator) -> Choice:
        """Let the rule choose; measure."""
        choice = self.rule.choose(actions, rng)
        if choice.action == NO_ROW:
            raise ArgumentValueError("make_policy", "a policy that chooses rows", "one whose actions are no rows")
        self._played = actions.features[choice.action]
        notes = {**choice.reasons.notes, **self._notes(actions, choice)}
        return replace(choice, reasons=replace(choice.reasons, notes=notes))

    def learn(self, features: FloatArray, rewards: FloatArray) -> None:
        """Let both learn; a rule may learn from other rows than those that were played, the observer does not."""
        assert self._played is not None
        assert len(rewards) == 1  # as simulate tells them
        self.rule.learn(features, rewards)
        self.observer.absorb(self._played[np.newaxis], rewards)

    def state(self) -> dict[str, Any]:
        """Return the state of the rule."""
        return self.rule.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state of the rule."""
        self.rule.restore(state)

    def _notes(self, actions: ActionSet, choice: Choice) -> dict[str, float]:
        draws, features = self.observer.draws(), actions.features
        optima = self._optima.of(draws.theta, features)
        known = information(draws, features, optima)
        measured = self._round % self._every == 0 or self._round == self._horizon - 1
        rows = np.arange(len(features)) if measured else np.array([choice.action])
        nats = mutual_information(draws, features[rows], self.observer.noise_variance, optima)
        played = float(nats[choice.action if measured else 0])
        self._round, self._total = self._round + 1, self._total + played
        self._paid += float(known.expected_regret[choice.action])
        notes = {ENTROPY: known.entropy, PLAYED: played, TOTAL: self._total, PAID: self._paid}
        if measured:
            notes |= _of_choices(known, nats, draws, features, own_distribution(self.rule, choice, features, self._rng))
        return notes


def _of_choices(
    known: Information, nats: FloatArray, draws: Draws, features: FloatArray, own: FloatArray | None
) -> dict[str, float]:
    """Return regret and gains of each of ``CHOICES``, where it is known, and what their bounds depend on."""
    design = exploratory_design(features)
    blocks = (draws.theta[start : start + BLOCK] for start in range(0, len(draws), BLOCK))
    largest = float(max(np.abs(block @ features.T).max() for block in blocks))
    longest = float(np.linalg.norm(features[known.support], axis=1).max())
    chosen: dict[str, FloatArray | None] = {OWN: own, THOMPSON: known.optimal_probability}
    if design.spanning:
        chosen[MIXTURE] = proof_mixture(known, design.weights, largest, longest)
    for name, exponent in ((LEAST_2, 2.0), (LEAST_3, 3.0)):
        least = minimise_over_distributions(known.expected_regret, nats, exponent)
        chosen[name] = two_point(len(features), least.first, least.second, least.probability)
    notes = {LARGEST_MEAN: largest, LONGEST: longest, C_MIN: design.c_min}
    columns = {REGRET: known.expected_regret, VARIANCE: known.gain, NATS: nats}
    for (name, distribution), (column, values) in product(chosen.items(), columns.items()):
        if distribution is not None:
            notes[f"{name}: {column}"] = float(distribution @ values)
    return notes


def own_distribution(rule: Rule, choice: Choice, features: FloatArray, rng: Generator) -> FloatArray | None:
    """Return π_t of a rule that has just chosen, shape ``(K,)``; None if the rule does not say.

    Known are deterministic choices, those between two actions, and Thompson sampling, whose distribution is that of the
    best action under draws from its own posterior.
    """
    if choice.reasons.mixture is not None:
        mixture = choice.reasons.mixture
        return two_point(len(features), mixture.first, mixture.second, mixture.probability)
    if isinstance(rule, Thompson):
        posterior, inflation = rule.posterior, rule.inflation
        if posterior.picks_from_draws and inflation == 1.0:
            return information(posterior.draws(), features).optimal_probability
        mean = posterior.mean()
        theta = mean + np.sqrt(inflation) * (posterior.sample(rng, SAMPLED) - mean)
        return information(Draws.trusted(theta, np.full(SAMPLED, 1.0 / SAMPLED)), features).optimal_probability
    return two_point(len(features), choice.action, choice.action, 0.0) if choice.probability == 1.0 else None


def two_point(n_actions: int, first: int, second: int, probability: float) -> FloatArray:
    """Return the distribution that has ``second`` with ``probability`` and ``first`` otherwise."""
    distribution = np.zeros(n_actions)
    distribution[second] = probability
    distribution[first] += 1.0 - probability
    return distribution


def watched(
    make_policy: PolicyMaker | type[Policy], observer: Observer | None = None, every: int = 10, n_draws: int = 10_000
) -> PolicyMaker:
    """Return a maker of the same policy, whose decisions carry what an observer measured; see :func:`information_path`.

    For an :class:`Experiment` with ``record=True``. Rewards must come one by one, as in ``simulate``.
    """
    check_maker("make_policy", make_policy)
    if observer is not None and not isinstance(observer, SpikeSlab | GaussianPrior) and not callable(observer):
        raise ArgumentTypeError("observer", "a SpikeSlab, a GaussianPrior, or a function of a Problem", shown(observer))
    return partial(
        _make_watched, make_policy, observer, check_count("every", every), check_count("n_draws", n_draws, least=2)
    )


def _make_watched(
    make_policy: PolicyMaker | type[Policy], observer: Observer | None, every: int, n_draws: int, problem: Problem
) -> Policy:
    policy = check_maker("make_policy", make_policy)(problem)
    seed = child(problem.seed, OBSERVER_STREAM)
    if observer is None:
        observer = policy.arguments.get("prior")
        if not isinstance(observer, SpikeSlab | GaussianPrior):
            raise ArgumentTypeError("observer", f"a prior, since {type(policy).__name__} has none", "None")
    if isinstance(observer, SpikeSlab | GaussianPrior):
        posterior = _engine(observer, policy.actions.dimension, problem.noise_variance, n_draws, child(seed, 0))
    else:
        posterior = observer(problem)
    policy.rule = Watching(policy.rule, posterior, every, problem.horizon, stream(seed, 1))
    return policy


def _engine(
    prior: SpikeSlab | GaussianPrior, dimension: int, noise_variance: float, n_draws: int, seed: Seed
) -> Posterior:
    """Return the most exact engine for a prior that takes milliseconds a round."""
    if isinstance(prior, GaussianPrior):
        return Conjugate(prior, dimension, noise_variance, n_draws, seed)
    from sparsebandits.posteriors.enumeration import Enumeration
    from sparsebandits.posteriors.particles import Particles  # brings compiled code

    learnt = isinstance(prior.slab_variance, InverseGammaSlab) or isinstance(prior.spike, LaplaceSpike)
    exact = dimension <= ENUMERATED and not learnt
    return (Enumeration if exact else Particles)(prior, dimension, noise_variance, n_draws, seed)


@dataclass(frozen=True, eq=False)
class InformationPath:
    """What an observer measured along runs of one policy; arrays are (trials, rounds).

    Attributes
    ----------
    policy : its name
    rounds : all rounds, from 1
    measured : those in which all actions were measured
    cumulative_regret : up to each round, from the true means
    expected_regret : Σ Δ_u(A_u) of the actions played in rounds u ≤ t: what the observer thinks the regret is
    entropy : H_t(x*) before each round, in nats
    information : Σ I_u(x*; Y_u) of the actions played in rounds u ≤ t, in nats
    regret, gain, variance : Δ_t'π, I_t'π and v_t'π in the measured rounds, for each distribution π of ``CHOICES``: the
        policy's own (NaN where it does not say), π^TS, π^mix (NaN if the actions do not span the space), and the
        minimisers of Ψ_{t,2} and Ψ_{t,3} in nats
    largest_mean, longest, c_min : R_max, the largest |⟨a, θ⟩| under any of the observer's draws; L, the largest ‖a‖₂ of
        an action that may be best; and C_min of the actions
    dimension, n_actions, noise_variance : of the instances
    sparsity : s of the printed bounds, if it is known
    """

    policy: str
    rounds: IntArray
    measured: IntArray
    cumulative_regret: FloatArray
    expected_regret: FloatArray
    entropy: FloatArray
    information: FloatArray
    regret: Mapping[str, FloatArray]
    gain: Mapping[str, FloatArray]
    variance: Mapping[str, FloatArray]
    largest_mean: FloatArray
    longest: FloatArray
    c_min: FloatArray
    dimension: int
    n_actions: int
    noise_variance: float
    sparsity: int | None = None

    def __repr__(self) -> str:
        return (
            f"InformationPath({self.policy}: {len(self.entropy)} trial(s) of {len(self.rounds)} rounds, "
            f"{len(self.measured)} of them measured)"
        )

    def ratio(self, choice: str = OWN, exponent: float = 2.0, gain: str = "mutual-information") -> FloatArray:
        """Return Ψ_{t,λ} of one of ``CHOICES`` in the measured rounds, (trials, measured rounds)."""
        check_choice("choice", choice, CHOICES)
        gains = self.gain if check_choice("gain", gain, GAINS) == GAINS[0] else self.variance
        found = ratios(self.regret[choice], gains[choice], exponent)
        return np.where(np.isnan(self.regret[choice]), np.nan, found)

    def bounds(self, gain: str = "mutual-information") -> tuple[FloatArray, FloatArray]:
        """Return what Ψ_{t,2}(π^TS) and Ψ_{t,3}(π^mix), and so the least ratios, are at most in the measured rounds.

        These are ``proof_mixture.ratio_bounds``: they hold for the distribution that the observer's draws make.
        """
        check_choice("gain", gain, GAINS)
        found = np.empty((2, *self.c_min.shape))
        for place in np.ndindex(*self.c_min.shape):
            largest = float(self.largest_mean[place])
            factor = nats_factor(largest, self.noise_variance) if gain == GAINS[0] else 1.0
            limits = ratio_bounds(self.dimension, float(self.c_min[place]), largest, float(self.longest[place]))
            found[(slice(None), *place)] = factor * np.array(limits)
        return found[0], found[1]

    def plot(self, path: "Target", title: str = "") -> None:
        """Draw Ψ_{t,2}, Ψ_{t,3} and the cumulative information gain beside their bounds; the suffix says the format."""
        from sparsebandits.results.plots import RatioPanel, TotalPanel, information_panels

        second, third = self.bounds()
        s, d, n = self.sparsity, self.dimension, len(self.rounds)
        budget = {"log K": float(np.log(self.n_actions))}
        printed: tuple[dict[str, FloatArray], dict[str, FloatArray]] = {"$d / 2$": np.full_like(self.c_min, d / 2)}, {}
        if s is not None:
            budget["2 s log(C d √n / s)"] = 2 * s * float(np.log(COVERING_CONSTANT * d * np.sqrt(n) / s))
            with np.errstate(divide="ignore"):
                printed[1]["$s^2 / (4\\, C_{min})$"] = s**2 / (4 * self.c_min)
        smallest = min(budget, key=lambda name: budget[name])
        panels = [
            RatioPanel(
                exponent=exponent,
                curves={
                    self.policy: self.ratio(OWN, exponent),
                    THOMPSON: self.ratio(THOMPSON, exponent),
                    "mixture of the proof": self.ratio(MIXTURE, exponent),
                    "least possible": self.ratio(least, exponent),
                },
                printed=printed[exponent - 2],
                bound=bound,
            )
            for exponent, least, bound in ((2, LEAST_2, second), (3, LEAST_3, third))
        ]
        total = TotalPanel(
            gained=self.information,
            entropy=self.entropy,
            budget=(smallest, budget[smallest]),
        )
        information_panels(panels, self.measured, total, self.rounds, path, title)


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
    make_policy : a policy class, or a function that makes one; see :func:`maker`
    world : an :class:`Instance`, or an environment, from which ``trials`` of them are drawn as :class:`Experiment` does
    horizon : rounds
    observer : the prior of who measures; or a function of a :class:`Problem` that returns a posterior; by default the
        policy's own prior. A prior gets the exact posterior where that is cheap, else particles. All numbers are what
        *this* posterior believes: for the quantities of the paper it is the prior that the instances come from
    every : rounds from one measurement of all actions to the next; the cost of a measurement goes with their number
    trials : instances
    sparsity : s of the printed bounds; by default that of the environment, if it has one
    n_draws : M of the observer; v is too large by about G Var(⟨a, θ⟩) / M, where G actions are best under some draw
    seed : root of all randomness; the policy plays as it does in an ``Experiment`` with this seed
    workers : processes
    name : of the policy, in figures

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
        raise ArgumentTypeError("world", "instances whose actions stay as they are", shown(instance))
    maker(Problem(instance.actions, instance.noise_variance, horizon, child(seed)))  # to be refused here, if at all
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
