"""Gains where they can matter: against exact numbers of all actions."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.cost_to_go import CostToGo, costs
from sparsebandits.rules.information import Information
from sparsebandits.rules.optima import predictions_of
from sparsebandits.rules.screen import Screen, Whole


def cost_of(beliefs: Beliefs, rounds: float) -> Callable[[Information | Screen], FloatArray]:
    known = beliefs.information
    entropy = known.unbiased_entropy

    def cost(of: Information | Screen) -> FloatArray:
        variance = of.unbiased_gain + 0.05 * of.reward_variance
        gain = np.minimum(0.5 * np.log1p(variance / beliefs.noise_variances), entropy)
        return costs(known.expected_regret, gain, entropy, rounds).total

    return cost


def excesses(intercept: bool, rounds: int, monkeypatch: pytest.MonkeyPatch) -> FloatArray:
    """Return by how much the cost of what is chosen is above the least, in each round of a game."""
    monkeypatch.setattr("sparsebandits.rules.optima.MOST_KEPT", 0)
    monkeypatch.setattr("sparsebandits.rules.screen.SHORT", 100)  # of 2,000
    instance = sb.environments.GaussianActions(60, 6, 2000, noise_variance=2.0).sample(3)
    prior = sb.SpikeSlab(0.1, 1 / 6)
    policy = sb.SparseIDS(instance.actions, prior, 2.0, n_draws=2000, seed=0, intercept=intercept)
    rng, found = np.random.default_rng(1), []
    for _ in range(rounds):
        beliefs = policy._beliefs(policy.actions, policy.posterior, policy._optima, policy._asked)
        assert beliefs.information.is_large
        cost = cost_of(beliefs, CostToGo().rounds_left(policy._asked))
        exact, decision = cost(beliefs.information), policy.ask()
        found.append(exact[decision.action] / exact.min() - 1.0)
        policy.tell(decision, float(instance.means[decision.action] + math.sqrt(2.0) * rng.standard_normal()))
    return np.array(found)


@pytest.mark.parametrize("intercept", [False, True])
def test_what_is_chosen_costs_hardly_more_than_the_least(intercept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    found = excesses(intercept, 120, monkeypatch)
    assert np.mean(found <= 0.01) >= 0.95
    assert found.mean() < 0.01


def test_a_shortlist_of_others_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the actions of most regret are exact, and no others are asked for."""
    monkeypatch.setattr("sparsebandits.rules.screen.REFINED", 0)
    monkeypatch.setattr("sparsebandits.rules.screen.OFTEN", 0)
    whole = Whole.of

    def worst(optima: object) -> Whole:
        found = whole(optima)  # type: ignore[arg-type]
        some = np.argsort(found.between)[:100]
        kept = predictions_of(optima, some)  # type: ignore[arg-type]
        return Whole(found.mean, found.groups, found.probability, found.between, found.total, some, kept)

    monkeypatch.setattr(Whole, "of", worst)
    found = excesses(False, 40, monkeypatch)
    assert np.mean(found <= 0.01) < 0.5


def beliefs_of(intercept: bool) -> Beliefs:
    instance = sb.environments.GaussianActions(30, 4, 500).sample(0)
    prior = sb.SpikeSlab(0.15, 0.25)
    policy = sb.SparseIDS(instance.actions, prior, 2.0, n_draws=1000, seed=0, intercept=intercept)
    rng = np.random.default_rng(0)
    for row in rng.integers(500, size=12).tolist():
        decision = policy.ask(instance.actions[row : row + 1])
        policy.tell(decision, float(instance.means[row] + rng.standard_normal()))
    return policy._beliefs(policy.actions, policy.posterior, policy._optima, policy._asked)


@pytest.mark.parametrize("intercept", [False, True])
def test_exact_numbers_are_those_of_all_actions(intercept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = beliefs_of(intercept).information
    monkeypatch.setattr("sparsebandits.rules.optima.MOST_KEPT", 0)
    monkeypatch.setattr("sparsebandits.rules.screen.SHORT", 40)
    known = beliefs_of(intercept).information
    found = Screen.of(known.best, known.centre)
    assert 20 <= found.exact.sum() <= 40
    others = np.flatnonzero(~found.exact)[:7]
    refined = found.refined(others)
    assert refined.exact.sum() == found.exact.sum() + 7
    for name in ("gain", "reward_variance", "unbiased_gain"):
        for one in (found, refined):
            exact = one.exact_rows
            np.testing.assert_allclose(getattr(one, name)[exact], getattr(expected, name)[exact], rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("intercept", [False, True])
def test_estimates_are_exact_with_equal_weights(intercept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then nothing has changed since the move, whatever the centre is."""
    monkeypatch.setattr("sparsebandits.rules.optima.MOST_KEPT", 0)
    monkeypatch.setattr("sparsebandits.rules.screen.SHORT", 40)
    beliefs = beliefs_of(intercept)
    draws = sb.posteriors.Draws.trusted(beliefs.draws.source, np.full(1000, 1 / 1000))
    best = beliefs.best_under(draws)
    found = Screen.of(best, beliefs.centre)
    np.testing.assert_allclose(found.between, best.variances(beliefs.centre), rtol=2e-3)
    np.testing.assert_allclose(found.total, best.reward_variances(beliefs.centre), rtol=2e-3)


def test_a_loaded_policy_chooses_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sparsebandits.rules.optima.MOST_KEPT", 0)
    monkeypatch.setattr("sparsebandits.rules.screen.SHORT", 20)
    rng = np.random.default_rng(0)
    actions = rng.standard_normal((300, 20))
    policy = sb.SparseIDS(actions, n_draws=500, seed=0)
    for t in range(20):
        if t % 5 == 4:
            policy.save(tmp_path / "policy")
            again = sb.load(tmp_path / "policy")
            assert again.ask().diagnostics == policy.ask().diagnostics
        decision = policy.ask()
        policy.tell(decision, float(actions[decision.action, 0] + rng.standard_normal()))
