"""Policies with a Gaussian prior on clicks and counts: the arguments they take, and what they learn."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsebandits as sb
from sparsebandits.arguments import ArgumentError, FloatArray
from tests.policies.table import fingerprint, some_actions

Maker = Callable[..., sb.Policy]
DENSE: dict[str, Maker] = {"LinTS": sb.LinTS, "LinUCB": sb.LinUCB, "LinearIDS": sb.LinearIDS}
FAMILIES: dict[str, Any] = {"logit": sb.Bernoulli(), "probit": sb.Bernoulli("probit"), "counts": sb.Poisson()}
every_policy = pytest.mark.parametrize("policy", DENSE.values(), ids=DENSE)
every_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
THETA, ALPHA = np.array([1.5, -1.0, 0.0]), -0.5


def means(family: Any, actions: FloatArray) -> FloatArray:
    return np.asarray(family.mean(ALPHA + actions @ THETA))


def play(policy: sb.Policy, family: Any, rounds: int, seed: int = 0, inverted: bool = False) -> list[tuple[int, float]]:
    """Ask and tell; return actions and probabilities. The planted bug: successes are told as failures."""
    rng = np.random.default_rng(seed)
    played = []
    for _ in range(rounds):
        decision = policy.ask()
        mean = float(means(family, decision.features[np.newaxis])[0])
        reward = family.drawn(mean, rng.random())
        policy.tell(decision, 1.0 - reward if inverted else reward)
        played.append((decision.action, decision.probability))
    return played


def share_of_guessing(policy: Maker, family: Any, inverted: bool = False) -> float:
    """Return the regret of the second half of two games, as a share of that of guessing."""
    actions = some_actions(12)
    expected = means(family, actions)
    games = [play(policy(actions, rewards=family, seed=k), family, 100, k, inverted)[50:] for k in range(2)]
    regret = expected.max() - np.mean([expected[action] for game in games for action, _ in game])
    return float(regret / (expected.max() - expected.mean()))


@every_family
@every_policy
def test_they_learn(policy: Maker, family: Any) -> None:
    assert share_of_guessing(policy, family) < 1 / 3


def test_it_is_seen_if_they_do_not() -> None:
    assert share_of_guessing(sb.LinTS, sb.Bernoulli(), inverted=True) > 1.0


@pytest.mark.parametrize("intercept", [False, True])
@every_policy
def test_the_engine_is_laplace(policy: Maker, intercept: bool) -> None:
    for given in (sb.Bernoulli(), sb.Bernoulli(intercept=True)):  # the policy's argument decides
        posterior: Any = policy(some_actions(), rewards=given, intercept=intercept, seed=0).posterior
        assert isinstance(posterior, sb.Laplace)
        assert posterior.rewards == sb.Bernoulli(intercept=intercept)
        assert posterior.n_draws == (100 if policy is sb.LinTS else 1000)
    gaussian: Any = policy(some_actions(), intercept=intercept, seed=0).posterior
    assert isinstance(gaussian, sb.Conjugate)
    assert gaussian.n_draws == (100 if policy is sb.LinTS else 10_000)


@pytest.mark.parametrize("forgetting", [None, sb.Discount(20)], ids=["remembers", "forgets"])
@every_family
@every_policy
def test_saved_policies_continue_bit_for_bit(policy: Maker, family: Any, forgetting: Any, tmp_path: Path) -> None:
    one = policy(some_actions(), rewards=family, seed=3, forgetting=forgetting)
    play(one, family, 15)
    decision = one.ask()
    one.save(tmp_path / "policy")
    other = sb.load(tmp_path / "policy")
    assert repr(other) == repr(one)
    for either in (one, other):
        either.tell(decision.id, 1.0)
    assert play(one, family, 10, seed=1) == play(other, family, 10, seed=1)
    assert fingerprint(one) == fingerprint(other)


@every_policy
def test_expected_rewards_lie_on_the_scale_of_rewards(policy: Maker) -> None:
    actions = some_actions()
    one = policy(actions, rewards=sb.Bernoulli(), seed=0)
    play(one, sb.Bernoulli(), 30)
    predicted = one.predict(actions)
    assert ((predicted.mean > 0.0) & (predicted.mean < 1.0)).all()
    assert len(one.ask(n=3)) == 3
    with pytest.raises(ValueError, match=r"reward: expected 0 or 1 for Bernoulli rewards, got 0\.5"):
        one.tell(one.ask(), 0.5)


def test_thompson_sampling_plays_as_often_as_it_says() -> None:
    """Each draw is one of the standing ones, so the share of the draws is the probability."""
    policy = sb.LinTS(some_actions(), rewards=sb.Bernoulli(), seed=0)
    play(policy, sb.Bernoulli(), 20)
    decisions = [policy.ask() for _ in range(2000)]
    for action in {decision.action for decision in decisions}:
        (probability,) = {decision.probability for decision in decisions if decision.action == action}
        share = np.mean([decision.action == action for decision in decisions])
        assert abs(share - probability) < 5.0 * np.sqrt(probability * (1 - probability) / 2000) + 1e-9


@pytest.mark.parametrize("policy", [*DENSE.values(), sb.SparseIDS, sb.SparseTS], ids=lambda policy: policy.__name__)
def test_clicks_have_no_noise_variance(policy: Maker) -> None:
    actions = some_actions()
    for noise in (1.0, [1.0] * 6, sb.InverseGammaNoise(2.0, 1.0)):
        with pytest.raises(ArgumentError, match=r"^noise_variance: expected none beside rewards, which have none, got"):
            policy(actions, rewards=sb.Bernoulli(), noise_variance=noise)
    noisy = sb.policies.ActionSet.of(actions).with_noise(np.ones(6))
    with pytest.raises(ArgumentError, match=r"^actions: expected none with noise variances beside Poisson"):
        policy(noisy, rewards=sb.Poisson())
    with pytest.raises(ArgumentError, match=r"^actions: expected none with noise variances beside Bernoulli"):
        sb.Policy(noisy, sb.Laplace(sb.GaussianPrior(1.0), noisy.dimension), sb.rules.Thompson())


def test_what_is_about_gaussian_rewards_is_refused() -> None:
    actions = some_actions()
    with pytest.raises(TypeError, match="width: expected a number, or a Conjugate posterior for a ConfidenceRadius"):
        sb.LinUCB(actions, rewards=sb.Bernoulli(), width=sb.rules.ConfidenceRadius())
    with pytest.raises(TypeError, match="rewards: expected Gaussian ones for FrequentistInformationDirected"):
        sb.rivals.FrequentistIDS(actions, rewards=sb.Bernoulli())
    for family in (sb.Bernoulli(), sb.Poisson()):
        with pytest.raises(TypeError, match="rewards: expected Gaussian ones for FeelGood, got"):
            sb.rivals.FeelGoodTS(actions, rewards=family)
        with pytest.raises(TypeError, match="rewards: expected Gaussian ones for OptimisticInformationDirected, got"):
            sb.rivals.SOIDS(actions, rewards=family)
        engine = sb.Laplace(sb.GaussianPrior(1.0), actions.shape[1], rewards=family)
        with pytest.raises(TypeError, match="rewards: expected Gaussian ones for FeelGood, got"):
            sb.Policy(actions, engine, sb.rivals.FeelGood())
