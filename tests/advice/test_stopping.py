"""When to stop: against plain loops and against the closed form of the knowledge gradient."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

import sparsebandits as sb
from sparsebandits.advice.goal import Goal
from sparsebandits.advice.stopping import outcome_weights, stopping
from sparsebandits.arguments import FloatArray
from sparsebandits.rules.beliefs import Beliefs
from tests.statistical import FAMILY_WISE


def taught(rewards: list[float], noise: float = 0.25) -> sb.Policy:
    prior = sb.GaussianPrior(1.0)
    policy = sb.LinTS(np.eye(2), prior, noise_variance=noise, intercept=False, probability_draws=20_000, seed=0)
    policy.posterior.update(np.eye(2)[: len(rewards)], np.array(rewards))
    return policy


@pytest.mark.parametrize("next_row", [0, 1])
def test_the_knowledge_gradient_of_two_independent_actions(next_row: int) -> None:
    """Closed form: m_b + s E[max(Z, c)] with s² = v²/(v + σ²). A gain that forgot the noise would be 12% off."""
    policy = taught([0.4, 0.2])
    variance, means = 1.0 / (1.0 + 4.0), np.array([0.4, 0.2]) * 4.0 / 5.0
    scale = variance / np.sqrt(variance + 0.25)
    other = 1 - next_row
    z = (means[other] - means[next_row]) / scale
    expected = means[other] + scale * (norm.pdf(z) - z * norm.sf(z)) - means.max()
    found = stopping(policy, ("first", "second"), next_row)
    assert found.gain == pytest.approx(expected, rel=0.1)
    assert (found.best, found.name) == (0, "first")
    apart = np.sqrt(2 * variance)
    assert found.probability == pytest.approx(norm.cdf((means[0] - means[1]) / apart), abs=0.02)
    d = (means[1] - means[0]) / apart
    assert found.shortfall == pytest.approx(apart * norm.pdf(d) + (means[1] - means[0]) * norm.cdf(d), rel=0.06)


def test_weights_of_draws_given_simulated_rewards() -> None:
    means = np.array([0.0, 1.0])
    clicks = outcome_weights(np.array([0.2, 0.8]), 0.0, sb.Bernoulli())
    np.testing.assert_allclose(clicks, [[0.8, 0.2], [0.2, 0.8]])
    exact = outcome_weights(means, 1e-6, sb.Gaussian(1e-6))
    np.testing.assert_allclose(exact, np.eye(2), atol=1e-9)
    useless = outcome_weights(means, 1e6, sb.Gaussian(1e6))
    np.testing.assert_allclose(useless, 0.5, atol=1e-2)
    counts = outcome_weights(np.array([0.5, 50.0]), 0.0, sb.Poisson())
    np.testing.assert_allclose(counts, np.eye(2), atol=1e-6)


def test_actions_that_are_not_allowed_are_not_the_best() -> None:
    policy = taught([3.0, 0.1])
    found = stopping(policy, ("first", "second"), 1, allowed=np.array([False, True]))
    assert (found.name, found.probability, found.shortfall, found.gain) == ("second", 1.0, 0.0, 0.0)
    np.testing.assert_array_equal(found.chances, [0.0, 1.0])
    assert found.found
    assert "little left to gain" in str(found)


def test_a_goal_changes_what_is_the_best() -> None:
    found = stopping(taught([3.0, 0.1]), ("first", "second"), 1, goal=Goal(target=0.0))
    assert found.name == "second"
    assert "of the closeness to 0 on average" in str(found)
    assert 0.0 <= found.gain <= found.shortfall + 1e-12


def test_reading_a_policy_changes_nothing() -> None:
    one, other = taught([0.4, 0.2]), taught([0.4, 0.2])
    stopping(one, ("a", "b"), 0)
    assert [one.ask().action for _ in range(20)] == [other.ask().action for _ in range(20)]


def test_ties_go_to_the_leader_whatever_the_order_of_rows() -> None:
    """Under draws in which nothing matters all rows tie; giving these to the first row depends on the order."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(12, 3))
    frame = pd.DataFrame(features, columns=list("abc"), index=[f"r{i}" for i in range(12)])
    rewards = features @ [1.0, 0.0, -0.5] + 0.5 * rng.normal(size=12)
    frame["reward"] = np.where(np.arange(12) < 6, rewards, np.nan)
    frame["ok"] = [1.0] * 11 + [0.0]
    for options in ({"where": "ok = 1", "ignore": ["ok"]}, {"target": 0.5, "ignore": ["ok"]}):
        found = [sb.decide(part, seed=1, n_draws=4000, **options) for part in (frame, frame[::-1])]
        first, second = ({row["action"]: row["P(best)"] for row in one.candidates} for one in found)
        assert max(abs(first[name] - second[name]) for name in first) < 0.06


@pytest.mark.parametrize("next_row", [0, 1])
def test_costs_and_the_choice_of_doing_nothing(next_row: int) -> None:
    """Rewards per cost of two independent actions, with closed forms where there are, else a million draws.

    Without doing nothing, which is worth zero, the chances would sum to one; here they sum to 0.87. The tolerance of
    the gain is about five standard errors of 2,000 draws.
    """
    costs = np.array([2.0, 1.0])
    variance, means = 1.0 / (1.0 + 4.0), np.array([0.3, 0.1]) * 4.0 / 5.0
    found = stopping(taught([0.3, 0.1]), ("first", "second"), next_row, Goal(costs=costs))
    drawn = np.random.default_rng(1).normal(means, np.sqrt(variance), (10**6, 2)) / costs
    top = np.maximum(drawn.max(axis=1), 0.0)
    wins = np.array([np.mean((drawn[:, row] == drawn.max(axis=1)) & (drawn[:, row] > 0.0)) for row in (0, 1)])
    np.testing.assert_allclose(found.chances, wins, atol=0.02)
    best = int(np.argmax(means / costs))
    assert (found.best, found.probability) == (best, found.chances[best])
    assert found.shortfall == pytest.approx(top.mean() - (means / costs)[best], rel=0.06)
    scale = variance / np.sqrt(variance + 0.25)  # of the expected reward after one more
    after = (means[next_row] + scale * np.random.default_rng(2).normal(size=10**6)) / costs[next_row]
    other = means[1 - next_row] / costs[1 - next_row]
    assert found.gain == pytest.approx(np.maximum(after, other).mean() - (means / costs).max(), abs=0.025)
    assert "of the mean reward per unit of cost on average" in str(found)


def z_scores(minimize: bool, tables: int = 250) -> FloatArray:
    """Play tables whose truth is drawn from the prior, and compare what was said with what was so.

    The level has a flat prior. So the target is the mean of the past rewards, whatever their level is: probabilities
    given the data hold for a target that depends on them.

    Returns
    -------
    array of shape (2,)
        Of the number of times in which the named action was the best, and of how far it fell short.
    """
    rng = np.random.default_rng(7)
    common: dict[str, Any] = {"noise_variance": 1.0, "intercept": True, "probability_draws": 2000}
    chance, apart, variance = [], [], []
    for _ in range(tables):
        features, theta = rng.normal(size=(6, 2)), rng.normal(size=2)
        mean_rewards = 3.0 + features @ theta
        rewards = mean_rewards[:4] + rng.normal(size=4)
        target = float(rewards.mean())
        goal = Goal(minimize=True) if minimize else Goal(target=target)
        policy = sb.LinTS(features, sb.GaussianPrior(1.0), seed=0, **common)
        policy.posterior.absorb(features[:4], goal.told(rewards, "gaussian"))
        found = stopping(policy, tuple("abcdef"), 0, goal)
        worth = -mean_rewards if minimize else -np.abs(mean_rewards - target)
        chance.append((worth.argmax() == found.best) - found.probability)
        variance.append(found.probability * (1.0 - found.probability))
        apart.append(worth.max() - worth[found.best] - found.shortfall)
    return np.array([np.sum(chance) / np.sqrt(np.sum(variance)), np.sum(apart) / np.linalg.norm(apart)])


LIMIT = norm.isf(FAMILY_WISE / 8)


@pytest.mark.parametrize("minimize", [True, False])
def test_what_it_says_is_so_as_often_as_it_says(minimize: bool) -> None:
    """The next test has bugs that this one finds."""
    assert np.abs(z_scores(minimize)).max() < LIMIT


@pytest.mark.parametrize(
    ("minimize", "owner", "name", "bug"),
    [
        (True, Goal, "told", lambda self, rewards, family: rewards),  # rewards are not turned
        (False, Beliefs, "level_variance", 0.0),  # the level is taken to be known
        (False, Goal, "utility", None),  # large rewards are looked for
    ],
)
def test_that_finds_bugs(minimize: bool, owner: type, name: str, bug: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owner, name, bug)
    assert np.abs(z_scores(minimize)).max() > LIMIT
