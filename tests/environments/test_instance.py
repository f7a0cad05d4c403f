"""Mean rewards through a link, and the one place where simulated rewards are made."""

import math
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.environments import Instance, Outcome
from sparsebandits.environments.gym import BanditEnv
from sparsebandits.model.rewards import Rewards
from sparsebandits.randomness import IndexedNormals
from tests.statistical import assert_means_agree

ACTIONS = np.random.default_rng(0).standard_normal((6, 3))
THETA = np.array([0.7, 0.0, -1.1])

FAMILIES: dict[str, Rewards] = {
    "Gaussian": sb.Gaussian(0.7),
    "logit": sb.Bernoulli(),
    "probit": sb.Bernoulli("probit"),
    "Poisson": sb.Poisson(),
}
MEANS = {
    "Gaussian": lambda eta: eta,
    "logit": lambda eta: 1.0 / (1.0 + math.exp(-eta)),
    "probit": NormalDist().cdf,
    "Poisson": math.exp,
}
every_family = pytest.mark.parametrize("name", FAMILIES)


def test_a_gaussian_reward_is_its_mean_plus_the_noise_at_its_address() -> None:
    noise, rewards = IndexedNormals(0), sb.Gaussian(4.0)
    assert Outcome(2.0, 0.5, 3).reward(7, rewards, noise) == 2.0 + 2.0 * noise(7, 3)
    one, other = (Outcome(mean, 0.0, 3).reward(7, rewards, noise) for mean in (2.0, 5.0))
    assert math.isclose(other - one, 3.0), "decisions with the same noise index get the same noise"


def test_a_click_or_count_is_the_quantile_at_the_noise_of_its_address() -> None:
    noise = IndexedNormals(0)
    for t in range(40):
        uniform = NormalDist().cdf(noise(t, 3))
        count, total = 0, math.exp(-2.5)  # P(Y ≤ 0), and so on
        while total < uniform:
            count += 1
            total += math.exp(-2.5) * 2.5**count / math.factorial(count)
        assert Outcome(2.5, 0.0, 3).reward(t, sb.Poisson(), noise) == count
        assert Outcome(0.3, 0.0, 3).reward(t, sb.Bernoulli(), noise) == (uniform < 0.3)


@every_family
def test_means_and_gaps_against_a_slow_loop(name: str) -> None:
    instance = Instance(ACTIONS, THETA, rewards=FAMILIES[name], intercept=-0.4)
    etas = [-0.4 + sum(a * b for a, b in zip(row, THETA, strict=True)) for row in ACTIONS]
    means = [MEANS[name](eta) for eta in etas]
    np.testing.assert_allclose(instance.means, means, rtol=1e-13)
    np.testing.assert_allclose(instance.gaps, [max(means) - mean for mean in means], rtol=1e-12, atol=1e-15)
    found = instance.outcome(5, 2, ACTIONS[2])
    assert (found.mean, found.regret, found.noise_index) == (instance.means[2], instance.gaps[2], 2)


@every_family
def test_rewards_have_the_mean_and_the_variance_of_their_family(name: str) -> None:
    """Catches a mean that is off by 5%: rewards of Φ(−noise), for instance, or without the intercept."""
    instance = Instance(ACTIONS, THETA, rewards=FAMILIES[name], intercept=-0.4)
    noise, rounds = IndexedNormals(1), 8000
    outcomes = [instance.outcome(0, row, ACTIONS[row]) for row in range(len(ACTIONS))]
    told = np.array([[one.reward(t, instance.rewards, noise) for one in outcomes] for t in range(rounds)])
    variances = {"Gaussian": np.full(6, 0.7), "Poisson": instance.means}
    expected: FloatArray = variances.get(name, instance.means * (1.0 - instance.means))
    errors = np.sqrt(expected / rounds)
    assert_means_agree(told.mean(axis=0), instance.means, errors)
    squares = (told - instance.means) ** 2
    assert_means_agree(squares.mean(axis=0), expected, squares.std(axis=0) / np.sqrt(rounds))
    with pytest.raises(AssertionError, match="z-score"):  # planted: another intercept
        assert_means_agree(told.mean(axis=0), replace(instance, intercept=-0.2).means, errors)


def test_the_noise_variance_is_a_short_form_of_gaussian_rewards() -> None:
    short, long = Instance(ACTIONS, THETA, 0.7), Instance(ACTIONS, THETA, rewards=sb.Gaussian(0.7))
    for instance in (short, long):
        assert (instance.noise_variance, instance.intercept) == (0.7, 0.0)
        assert instance.rewards == sb.Gaussian(0.7, intercept=False)
        assert instance.means.tobytes() == (ACTIONS @ THETA).tobytes()
        assert repr(instance) == "Instance(6 actions of 3 features of which 2 matter, noise variance 0.7)"
    clicks = Instance(ACTIONS, THETA, rewards=sb.Bernoulli())
    assert math.isnan(clicks.noise_variance)
    assert repr(clicks) == "Instance(6 actions of 3 features of which 2 matter, Bernoulli rewards)"


def test_whether_there_is_an_intercept_to_be_learnt() -> None:
    for family in (sb.Gaussian(1.0), sb.Bernoulli(), sb.Poisson()):
        assert Instance(ACTIONS, THETA, rewards=family).rewards.intercept is False
        assert Instance(ACTIONS, THETA, rewards=family, intercept=1.0).rewards.intercept is True
        assert Instance(ACTIONS, THETA, rewards=replace(family, intercept=True)).rewards.intercept is True


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, r"^noise_variance: expected a"),
        ({"noise_variance": 1.0, "rewards": sb.Bernoulli()}, r"^noise_variance: expected none beside rewards"),
        ({"noise_variance": sb.InverseGammaNoise(1.0, 1.0)}, r"^noise_variance: expected a known noise variance"),
        ({"rewards": sb.Gaussian()}, r"^rewards: expected a known noise variance, got InverseGammaNoise"),
        ({"rewards": "Bernoulli"}, r"^rewards: expected a family of rewards"),
        ({"rewards": sb.Bernoulli(), "intercept": math.inf}, r"^intercept: expected"),
    ],
)
def test_what_an_instance_cannot_be_made_of(given: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        Instance(ACTIONS, THETA, **given)


@pytest.mark.filterwarnings("ignore:all rewards so far are 0 or 1")
@every_family
def test_simulate_and_gymnasium_make_the_same_rewards(name: str) -> None:
    instance, seed = Instance(np.eye(3), np.array([0.1, 0.2, 0.3]), rewards=FAMILIES[name]), 4
    trace = sb.simulate(sb.maker(sb.LinTS, noise_variance=0.7), instance, 20, seed)
    env = BanditEnv(instance, 20)
    env.reset(seed=seed)
    assert [env.step(row)[1] for row in trace.actions.tolist()] == trace.rewards.tolist()
