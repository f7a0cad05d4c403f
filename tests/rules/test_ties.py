"""Ties at the border between exact means and draws, and between the level of rewards and their differences."""

from itertools import product

import numpy as np
import pytest

import sparsebandits as sb
from sparsebandits.rules.optima import Prepared, sums_of_bits

CUBE = np.array(list(product((0.0, 1.0), repeat=3)))


@pytest.mark.parametrize("told", [False, True])
def test_propensities_with_an_exact_mean(told: bool) -> None:
    """The probability of a decision resolves ties as the decision itself does: by the engine's mean, which is exact."""
    prior = sb.SpikeSlab(0.1, 1.0)
    policy = sb.SparseTS(CUBE, prior, noise_variance=1.0, engine="enumeration", n_draws=2000, seed=0)
    if told:
        policy.posterior.update(CUBE[[0, 4]], [0.0, 1.0])
    count, stated = np.zeros(8), np.zeros(8)
    for _ in range(800):
        decision = policy.ask()
        count[decision.action] += 1
        stated[decision.action] = decision.probability
    assert np.abs(count / 800 - stated).max() < 0.06  # four standard errors
    assert policy.predict().optimal_probability.max() < 0.3


@pytest.mark.parametrize("rule", [sb.rules.Greedy(), sb.rules.Optimism(0.1)])
def test_the_level_of_rewards_makes_no_ties(rule: sb.rules.Rule) -> None:
    actions = np.random.default_rng(0).normal(size=(20, 3))
    rewards = sb.Gaussian(1.0, intercept=True)
    policy = sb.Policy(actions, sb.Conjugate(sb.GaussianPrior(1.0), 3, rewards=rewards), rule, seed=0)
    policy.posterior.update(actions, 1e12 + actions[:, 0])
    decision = policy.ask()
    assert decision.action == int(actions[:, 0].argmax())
    assert decision.probability == 1.0


def test_means_that_the_draws_cannot_tell_apart_share_the_draws_that_tie() -> None:
    """Before the first reward all actions of a one-hot table are alike; Monte Carlo error must not choose one."""
    for seed in range(3):
        found = sb.SparseIDS(np.eye(8), seed=seed, n_draws=4000).predict().optimal_probability
        np.testing.assert_allclose(found, 1 / 8, atol=0.03)
    policy = sb.SparseIDS(np.eye(8), seed=0, n_draws=4000)
    policy.posterior.update(
        np.eye(8)[[0, 1, 2, 3] * 5], [1.0, 0.0, 0.0, 0.0] * 5 + 0.3 * np.random.default_rng(0).standard_normal(20)
    )
    assert policy.predict().optimal_probability.argmax() == 0


def test_rows_that_are_the_same_are_one_action() -> None:
    """Sums of bits say at once that all rows differ; small integers have few bits, and −0 is 0."""
    rng = np.random.default_rng(0)
    for features in (rng.standard_normal((50, 7)), rng.integers(-1, 2, (50, 7)).astype(float), np.eye(40)):
        for rows in (features, np.vstack([features, -0.0 * features[:3], features[::-2]])):
            made = Prepared(rows)
            _, first, number, copies = np.unique(rows + 0.0, True, True, True, axis=0)
            assert sorted(made.first.tolist()) == sorted(first.tolist())
            np.testing.assert_array_equal(made.distinct[made.number], rows)
            np.testing.assert_array_equal(made.copies[made.number], copies[number.reshape(-1)])
    assert len(np.unique(sums_of_bits(np.eye(300)))) == 300
    assert len(np.unique(sums_of_bits(np.array([[0.0, 1.0], [-0.0, 1.0]])))) == 1
