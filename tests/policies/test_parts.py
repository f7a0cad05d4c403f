"""Policies as parts: posterior × rule, saved by one codec, refused early where something does not fit."""

import copy
import pickle
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.random import Generator

import sparsebandits as sb
from sparsebandits.arguments import ArgumentError, FloatArray
from sparsebandits.experiments.watching import watched
from sparsebandits.files import pack, unpack
from sparsebandits.policies.policy import KIND, VERSION
from sparsebandits.rules import Beliefs, Choice, Reasons, Rule
from tests.policies.table import ALL, play, some_actions


@dataclass(frozen=True)
class UpperQuantile(Rule):
    """The rule of docs/design.md."""

    level: float = 0.9

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        weights = np.broadcast_to(beliefs.draws.weights, beliefs.predictions.shape)
        upper = np.quantile(beliefs.predictions, self.level, axis=1, weights=weights, method="inverted_cdf")
        action = int(upper.argmax())
        columns = {"upper quantile": upper, "posterior mean": beliefs.means}
        contributions = beliefs.features[action] * beliefs.coefficients
        return Choice(action, 1.0, Reasons.top(action, upper, columns, contributions))


POINT, LAPLACE = sb.SpikeSlab(0.4, 0.5), sb.SpikeSlab(0.4, 0.5, spike=sb.LaplaceSpike(0.1))
ENGINES: dict[str, Any] = {
    "Conjugate": lambda: sb.Conjugate(sb.GaussianPrior(1.0), 3, n_draws=200, seed=1),
    "Particles": lambda: sb.Particles(POINT, 3, n_draws=200, seed=1),
    "Gibbs": lambda: sb.Gibbs(POINT, 3, n_draws=40, seed=1, chains=2, burn_in=5),
    "Enumeration": lambda: sb.Enumeration(POINT, 3, n_draws=200, seed=1),
    "Langevin": lambda: sb.Langevin(LAPLACE, 3, n_draws=200, seed=1),
    "Table": lambda: sb.Table(sb.Hypotheses(some_actions(50, seed=3)), seed=1),
}
RULES: list[Rule] = [
    UpperQuantile(0.8),
    sb.rules.Greedy(),
    sb.rules.InformationDirected(selection="randomized"),
    sb.rules.Thompson(),
    sb.rules.Optimism(1.5),
    sb.rules.Uniform(),
    sb.rules.Aimed(0.4, horizon=20),
    sb.rules.PerCost((1.0, 2.0, 0.5, 1.5, 3.0, 1.0), horizon=20),
    sb.rivals.FrequentistInformationDirected(gain="full"),
    sb.rivals.FeelGood(0.3, cap=1.0),
    sb.rivals.OptimisticInformationDirected(sb.rivals.LearningRate(1.5, 3, 6.0, 50.0)),
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
@pytest.mark.parametrize("engine", ENGINES)
def test_every_rule_works_on_every_engine(engine: str, rule: Rule, tmp_path: Path) -> None:
    """Ask, tell, explain, save and load: the loaded policy goes on as the saved one does."""
    table = pd.DataFrame(some_actions(), columns=["price", "size", "age"], index=list("abcdef"))
    policy = sb.Policy(table, ENGINES[engine](), rule, seed=2)
    play(policy, 6)
    decision = policy.ask()
    assert 0.0 < decision.probability <= 1.0
    assert decision.label in str(policy.explain(decision))
    policy.save(tmp_path / "policy")
    loaded = sb.load(tmp_path / "policy", UpperQuantile)
    assert loaded.rule == rule
    assert play(loaded, 4, seed=1) == play(policy, 4, seed=1)


def test_a_rule_in_experiments_and_files(tmp_path: Path) -> None:
    world = sb.environments.GaussianActions(4, 2, n_actions=8)
    maker = sb.maker(sb.policies.SparsePolicy, rule=UpperQuantile(0.7), n_draws=100)
    result = sb.Experiment(world, {"quantile": maker, "IDS": sb.maker(sb.SparseIDS, n_draws=100)}, 10, 2).run(tmp_path)
    assert result.about is not None
    assert result.about["configuration"]["policies"]["quantile"]["rule"]["level"] == 0.7
    file = tmp_path / "greedy.toml"
    file.write_text(
        'horizon = 5\ntrials = 1\n[environment]\nkind = "GaussianActions"\ndimension = 4\nsparsity = 2\nn_actions = 8\n'
        '[policies.greedy]\nkind = "SparsePolicy"\nn_draws = 100\nrule = {kind = "Greedy"}\n'
    )
    from sparsebandits.experiments.plan import read_plan

    assert read_plan(file).run().regret["greedy"].shape == (1, 5)


@pytest.mark.parametrize("name", ALL)
def test_every_setting_of_every_policy_is_saved(name: str, tmp_path: Path) -> None:
    """The class of defect: a setting that is not written down is loaded as its default, without a word."""
    policy = ALL[name](some_actions(), seed=0)
    policy.save(tmp_path / "policy")
    assert repr(sb.load(tmp_path / "policy")) == repr(policy)
    assert sb.load(tmp_path / "policy")._parts().keys() == policy._parts().keys()


class Forgetful:
    """A learner that does not keep an argument of its constructor."""

    def __init__(self, dimension: int, penalty: float) -> None:
        self.dimension = dimension

    def absorb(self, x: FloatArray, y: FloatArray, weights: FloatArray | None = None) -> None: ...

    def state(self) -> dict[str, Any]:
        return {}

    def restore(self, state: Any) -> None: ...


@dataclass(frozen=True)
class Scaled(Rule):
    """A rule with a setting that cannot be saved."""

    scale: Any = None

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        raise NotImplementedError


def test_what_cannot_be_saved_is_refused_when_the_policy_is_made() -> None:
    actions = some_actions()
    with pytest.raises(TypeError, match=r"^posterior: expected Forgetful to keep each argument.*none called 'penalty'"):
        sb.Policy(actions, Forgetful(3, 0.1), sb.rules.Uniform())
    with pytest.raises(TypeError, match=r"^rule.scale: expected a number, .* so that it can be saved, got <function"):
        sb.Policy(actions, ENGINES["Conjugate"](), Scaled(lambda k: k))
    schedule = {"learning_rate": lambda k: 0.5 / k}
    with pytest.raises(TypeError, match=r"^posterior.learning_rate: expected .* so that it can be saved"):
        sb.SparseIDS(actions, LAPLACE, 1.0, engine="langevin", engine_options=schedule, n_draws=100)
    decaying = {"learning_rate": sb.posteriors.PowerDecay(0.4)}
    sb.SparseIDS(actions, LAPLACE, 1.0, engine="langevin", engine_options=decaying, n_draws=100)


def test_parts_that_do_not_fit_are_refused() -> None:
    actions = some_actions()
    for posterior, rule, name in (
        (sb.Conjugate(sb.GaussianPrior(1.0), 4), sb.rules.Greedy(), "posterior"),
        (ENGINES["Particles"](), sb.rules.Optimism(sb.rules.ConfidenceRadius()), "width"),
        (ENGINES["Particles"](), sb.rivals.ExploreThenCommit(), "posterior"),
        (ENGINES["Particles"](), "greedy", "rule"),
        (sb.Particles, sb.rules.Greedy(), "posterior"),
        (None, sb.rules.Greedy(), "posterior"),
    ):
        with pytest.raises((TypeError, ValueError)) as refused:
            sb.Policy(actions, posterior, rule)  # type: ignore[arg-type]
        assert isinstance(refused.value, ArgumentError)
        assert refused.value.name == name
    with pytest.raises(ValueError, match="noise_variance: expected none beside rewards"):
        sb.SparseIDS(actions, rewards=sb.Gaussian(1.0), noise_variance=2.0)
    with pytest.raises(TypeError, match="rewards: expected Gaussian rewards of known variance for Conjugate"):
        sb.LinUCB(actions, rewards=sb.Gaussian())


def test_rewards_and_its_short_form_are_the_same() -> None:
    actions = some_actions()
    for policy in (sb.SparseIDS, sb.LinTS):
        one = policy(actions, noise_variance=0.5, seed=1)
        other = policy(actions, rewards=sb.Gaussian(variance=0.5), seed=1)
        assert play(one, 5) == play(other, 5)


def test_names_of_features_reach_the_posterior_of_any_policy() -> None:
    """They were lost in policies that a user composed."""
    table = pd.DataFrame(some_actions(), columns=["price", "size", "age"])
    policy = sb.Policy(table, ENGINES["Particles"](), UpperQuantile(), seed=0)
    assert [row["feature"] for row in policy.posterior.summary()] == ["price", "size", "age"]


@pytest.mark.parametrize("noise", [4.0, [4.0, 4.0, 4.0], np.full(3, 4.0)])
def test_an_observer_sees_the_same_data_whatever_form_the_noise_has(noise: Any) -> None:
    """It saw rewards that had been divided by their deviation, and features that had not."""
    actions = np.eye(3)
    problem = sb.experiments.Problem(actions, 4.0, 10, np.random.SeedSequence(0))
    make = watched(sb.maker(sb.LinUCB, noise_variance=noise), sb.GaussianPrior(4.0), n_draws=10)
    policy: Any = make(problem)
    for reward in (5.0, 6.0, 7.0):
        policy.tell(policy.ask(), reward)
    played = [d for d in range(3) if policy.observer.evidence.gram[d, d] > 0]
    expected = policy.observer.evidence.moment[played] / (policy.observer.evidence.gram[played, played] + 1.0)
    np.testing.assert_allclose(policy.observer.mean()[played], expected, rtol=1e-12)
    assert policy.observer.evidence.moment.sum() == pytest.approx(18.0)


def test_equal_noise_of_all_actions_is_that_noise() -> None:
    actions = some_actions()
    for policy in (sb.SparseIDS, sb.SparseTS, sb.LinearIDS, sb.LinTS, sb.LinUCB, sb.rivals.OnlineToConfidence):
        one = policy(actions, noise_variance=2.5, seed=1)
        each = policy(actions, noise_variance=[2.5] * 6, seed=1)
        assert play(one, 8) == play(each, 8), policy


def test_files_of_an_earlier_version_are_refused_in_one_sentence(tmp_path: Path) -> None:
    policy = sb.LinUCB(some_actions())
    path = tmp_path / "old.policy"
    path.write_bytes(pack(KIND, 2, policy.state()))
    with pytest.raises(
        sb.SaveFileError, match=r"written by release 0\.1 .* tell its rewards to a new policy"
    ) as refused:
        sb.load(path)
    assert "\n" not in str(refused.value)
    policy.save(path)
    assert unpack(path, KIND, VERSION)["policy"] == "LinUCB"


@dataclass(frozen=True)
class Halved(Rule):
    """A rule whose fields do not make it again."""

    level: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", self.level / 2)

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        raise NotImplementedError


@dataclass
class Thawed(Rule):
    """A rule that is not frozen."""

    level: float = 0.5

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        raise NotImplementedError


class Number(IntEnum):
    ONE = 1


@pytest.mark.parametrize(
    "rule",
    [
        Halved(),
        Thawed(),
        Scaled({1: 2}),
        Scaled({"a/b": 1}),
        Scaled(np.array([None])),
        Scaled(np.ma.masked_array([1.0, 2.0], [True, False])),
        Scaled(np.complex128(1)),
        Scaled(Number.ONE),
    ],
    ids=lambda rule: f"{type(rule).__name__} {getattr(rule, 'scale', '')!r}",
)
def test_what_would_be_another_rule_after_loading_is_refused(rule: Rule) -> None:
    with pytest.raises(TypeError, match=r"so that it can be saved"):
        sb.Policy(some_actions(), ENGINES["Conjugate"](), rule)


@dataclass(frozen=True)
class Uniform(Rule):
    """A rule of a user's that has the name of one of the package, and is greedy."""

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        return sb.rules.Greedy().choose(beliefs, rng)


def test_a_class_of_ones_own_is_never_taken_for_one_of_the_package(tmp_path: Path) -> None:
    sb.Policy(some_actions(), ENGINES["Conjugate"](), Uniform()).save(tmp_path / "policy")
    with pytest.raises(sb.SaveFileError, match="got 'Uniform'; pass its class to load"):
        sb.load(tmp_path / "policy")
    assert type(sb.load(tmp_path / "policy", Uniform).rule) is Uniform
    sb.Policy(some_actions(), ENGINES["Conjugate"](), sb.rules.Uniform()).save(tmp_path / "policy")
    assert type(sb.load(tmp_path / "policy", Uniform).rule) is sb.rules.Uniform


def test_a_posterior_of_other_features_is_refused() -> None:
    table = pd.DataFrame(some_actions(), columns=list("abc"))
    posterior = ENGINES["Conjugate"]()
    posterior.update(table, np.arange(6.0))
    with pytest.raises(ValueError, match=r"posterior: expected one of the features \('c', 'b', 'a'\)"):
        sb.Policy(table[["c", "b", "a"]], posterior, sb.rules.Greedy())
    sb.Policy(table, posterior, sb.rules.Greedy())


def test_rules_and_learners_that_do_not_go_together() -> None:
    learner = sb.rivals.ESTC(some_actions(), exploration=3).posterior
    for rule in (sb.rules.Greedy(), sb.rules.Thompson(), sb.rules.Optimism(), sb.rules.InformationDirected()):
        with pytest.raises(
            TypeError, match=f"posterior: expected an engine, such as Particles, for {type(rule).__name__}"
        ):
            sb.Policy(some_actions(), learner, rule)
    sb.Policy(some_actions(), learner, sb.rules.Uniform()).ask()


def test_enumeration_is_exact_and_repeats_itself() -> None:
    posterior = sb.Enumeration(POINT, 3, 1.0, n_draws=100, seed=0)
    actions = some_actions()
    policy = sb.Policy(actions, posterior, sb.rules.Optimism())
    policy.tell(policy.ask(), 0.3)
    assert len({policy.ask().action for _ in range(12)}) == 1
    covariance = posterior.second_moment() - np.outer(posterior.mean(), posterior.mean())
    np.testing.assert_allclose(posterior.variances(actions), np.einsum("kj,jl,kl->k", actions, covariance, actions))
    assert posterior.draws().theta is posterior.draws().theta


def test_noise_of_an_action_set_and_rewards_in_experiments() -> None:
    noisy = sb.policies.ActionSet.of(some_actions()).with_noise(np.arange(1.0, 7.0))
    policy = sb.SparseIDS(noisy, n_draws=50, seed=0)
    assert policy.posterior.rewards == sb.Gaussian(3.5, intercept=True)
    assert sb.SparseIDS(noisy, n_draws=50, intercept=False).posterior.rewards == sb.Gaussian(3.5)
    policy.tell(policy.ask(), 1.0)
    with pytest.raises(TypeError, match="posterior: expected a known noise variance"):
        sb.SparseIDS(noisy, rewards=sb.Gaussian(), n_draws=50)
    problem = sb.experiments.Problem(some_actions(), 2.0, 10, np.random.SeedSequence(0))
    for given in (False, True):  # environments have no intercept, whatever the rewards say
        made = sb.maker(sb.LinUCB, rewards=sb.Gaussian(1.0, intercept=given))(problem)
        assert made.posterior.rewards == sb.Gaussian(1.0, intercept=False)


class Broken:
    """A journal that fails at first."""

    def __init__(self) -> None:
        self.failures = 3

    def decided(self, decision: sb.Decision, offered: Any) -> None:
        self.failures -= 1
        if self.failures >= 0:
            raise OSError("no space left")

    def rewarded(self, decision: sb.Decision, reward: float) -> None: ...


def test_a_journal_that_fails_leaves_the_policy_as_it_was() -> None:
    policy = sb.SparseTS(some_actions(), n_draws=100, seed=3, journal=Broken())
    undisturbed = sb.SparseTS(some_actions(), n_draws=100, seed=3)
    for _ in range(3):
        with pytest.raises(OSError, match="no space"):
            policy.ask()
    assert policy.pending == ()
    assert [policy.ask().action for _ in range(5)] == [undisturbed.ask().action for _ in range(5)]
    with pytest.raises(TypeError, match="journal: expected a journal"):
        sb.SparseTS(some_actions(), journal="log.jsonl")  # type: ignore[arg-type]


@dataclass(frozen=True)
class Wild(Rule):
    """A rule that answers what is no choice."""

    action: int
    probability: float

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        return Choice(self.action, self.probability, Reasons.top(0, beliefs.means, {}, beliefs.features[0]))


@pytest.mark.parametrize(("action", "probability"), [(6, 1.0), (-1, 1.0), (0, 2.0), (0, float("nan")), (0, -0.1)])
def test_choices_are_checked(action: int, probability: float) -> None:
    policy = sb.Policy(some_actions(), ENGINES["Conjugate"](), Wild(action, probability))
    with pytest.raises(ValueError, match="rule: expected one that"):
        policy.ask()
    assert policy.pending == ()


def test_copies_stay_read_only() -> None:
    policy = sb.LinUCB(some_actions(), seed=0)
    policy.ask()
    for copied in (copy.deepcopy(policy), pickle.loads(pickle.dumps(policy))):
        assert not copied.actions.features.flags.writeable
        assert not copied.pending[0].features.flags.writeable
        assert play(copied, 10) == play(copy.deepcopy(policy), 10)
