"""Rewards per cost: whose costs they are, negative rewards, and the end of a budget."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sparsebandits as sb
from sparsebandits.arguments import ArgumentError, frozen
from sparsebandits.rules import Beliefs, PerCost
from sparsebandits.rules.per_cost import NOTHING
from tests.rules.test_goal import ROWS, Fixed


def certain(rewards: Any, costs: Any, horizon: int = 50) -> sb.rules.Choice:
    """Return the choice where mean rewards are known."""
    theta = np.array([rewards], dtype=float)
    beliefs = Beliefs(Fixed(theta, np.ones(1), True, None), frozen(np.eye(len(costs))))
    return PerCost(costs, horizon).choose(beliefs, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("rewards", "costs", "best"),
    [
        ([3.0, 4.0, 9.0], [1.0, 1.0, 4.0], 1),  # 3, 4 and 2.25 per cost
        ([-1.0, 0.5, -3.0], [0.01, 5.0, 100.0], 1),  # a cheap action that loses, and an expensive one
        ([-1.0, -2.0, -3.0], [1.0, 10.0, 100.0], 0),  # per cost, the last one would lose least
        ([-3.0, -2.0, -1.0], [0.01, 0.1, 10.0], 2),  # and here the same
    ],
)
@pytest.mark.parametrize("horizon", [1, 50])
def test_known_rewards(rewards: list[float], costs: list[float], best: int, horizon: int) -> None:
    choice = certain(rewards, costs, horizon)
    assert choice.action == best
    assert choice.reasons.columns["reward per cost"][0] == pytest.approx(rewards[best] / costs[best])
    assert choice.reasons.columns["cost"][0] == costs[best]
    assert choice.reasons.notes["P(doing nothing is best)"] == float(max(rewards) < 0.0)
    assert (NOTHING in choice.reasons.remarks) == (max(rewards) < 0.0)


def uncertain(costs: list[float], horizon: int, decisions: int = 0) -> int:
    """Return the choice between a known row and one whose reward is 0 or 4 per unit of the first row's cost."""
    theta = np.array([[3.0, 0.0], [3.0, 4.0 * costs[1] / costs[0]]])
    posterior = Fixed(theta, np.array([0.5, 0.5]), True, None)
    beliefs = Beliefs(posterior, frozen(np.eye(2)), np.full(2, 1e-4), decisions)
    return PerCost(costs, horizon).choose(beliefs, np.random.default_rng(0)).action


def test_information_is_worth_the_budget_that_is_left_after_it() -> None:
    """Looking costs 1 per unit of its cost; the gain is ½ per unit that is left. Planted: information not per cost."""
    assert uncertain([1.0, 1.0], 50) == 1
    assert uncertain([1.0, 1.0], 1) == 0, "no budget is left after it"
    assert uncertain([1.0, 0.01], 1) == 1, "half a mean cost is left, which is 50 times its cost"
    assert uncertain([1.0, 9.0], 2) == 0, "it uses up nearly all of it"
    assert uncertain([1.0, 0.01], 5, decisions=5) == 0, "the horizon is over"


def test_rows_of_the_policy_and_no_others() -> None:
    costs = np.linspace(1.0, 3.0, 12)
    policy = sb.policies.SparsePolicy(
        pd.DataFrame(ROWS, index=list("abcdefghijkl")), PerCost(costs), n_draws=200, seed=1
    )
    decision = policy.ask(available=["c", "h"])
    assert decision.reasons.columns["cost"].tolist() == costs[decision.reasons.candidates].tolist()
    moved = policy.ask(ROWS[::-1])
    assert moved.diagnostics["cost"] == costs[::-1][moved.action], "the same rows in another order"
    for others in (ROWS + 1.0, ROWS[:3] * 2.0, np.vstack((ROWS[:2], ROWS[:1]))):
        with pytest.raises(ArgumentError, match=r"^actions: expected rows of the policy's own actions, whose costs"):
            policy.ask(others)
    short = sb.policies.SparsePolicy(ROWS, PerCost(costs[:5]), n_draws=200)
    for available in (None, range(5)):
        with pytest.raises(ArgumentError, match=r"^costs: expected 12 costs, one per row of the actions, got 5"):
            short.ask(available=available)


def test_equal_features_of_unequal_costs() -> None:
    """They are two actions, of which the cheap one is played; one of them alone is known by its row."""
    rows = np.vstack((ROWS, ROWS[:2], ROWS[5]))
    costs = np.append(np.full(12, 2.0), [1.0, 3.0, 2.0])
    policy = sb.policies.SparsePolicy(rows, PerCost(costs), n_draws=200, seed=1)
    policy.tell(policy.ask(n=3), [4.0, 5.0, 6.0])
    together = policy.ask(available=[0, 12])
    assert together.action == 12
    assert together.reasons.columns["cost"].tolist() == [1.0, 2.0]
    assert policy.ask(available=[5, 6]).diagnostics["cost"] == 2.0, "costs are equal, whichever it is"
    with pytest.raises(ArgumentError, match=r"^actions: expected all rows, or none, .* got some of the rows \[0, 12\]"):
        policy.ask(rows[[0, 3]])
    alone = policy.ask(available=[0, 3])
    assert dict(zip(alone.reasons.candidates.tolist(), alone.reasons.columns["cost"], strict=True)) == {0: 2.0, 3: 2.0}
    assert policy.ask(available=[12]).diagnostics["cost"] == 1.0


@pytest.mark.parametrize("costs", [[], [1.0, 0.0], [1.0, -2.0], [1.0, np.nan], ["a"], 3.0, [[1.0]], None])
def test_costs_that_are_none(costs: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^costs: expected"):
        PerCost(costs)


def test_costs_are_a_value() -> None:
    rule = PerCost(np.arange(1.0, 4.0), 30)
    assert rule == PerCost([1.0, 2.0, 3.0], 30)
    assert hash(rule) == hash(PerCost((1.0, 2.0, 3.0), 30))
    assert repr(rule) == "PerCost(costs=(1.0, 2.0, 3.0), horizon=30, share=0.05)"
    assert len(repr(PerCost(np.ones(1000)))) < 120


def test_contexts_are_refused() -> None:
    users = pd.DataFrame({"age": [20.0, 30.0, 40.0]})
    items = pd.DataFrame({"size": [1.0, 2.0, 4.0]}, index=list("abc"))
    policy = sb.policies.SparsePolicy(items, PerCost([1.0, 2.0, 3.0]), contexts=users, n_draws=200, seed=0)
    with pytest.raises(ArgumentError, match=r"^actions: expected rows of the policy's own actions"):
        policy.ask(context={"age": 25.0})


def efficiency(per_cost: bool, seed: int) -> float:
    """Return the reward per cost of twelve decisions."""
    rng = np.random.default_rng(seed)
    rows, theta = rng.standard_normal((50, 4)), rng.standard_normal(4)
    means, costs = 5.0 + rows @ theta, np.exp(rng.standard_normal(50))
    rule = PerCost(costs, 12) if per_cost else sb.rules.CostToGo(12)
    policy = sb.policies.LinearPolicy(rows, rule, sb.GaussianPrior(1.0), 0.25, 300, seed=seed)
    reward = cost = 0.0
    for _ in range(12):
        decision = policy.ask()
        policy.tell(decision, float(means[decision.action] + 0.5 * rng.standard_normal()))
        reward, cost = reward + means[decision.action], cost + costs[decision.action]
    return reward / cost


def test_per_cost_buys_more_than_a_rule_that_ignores_costs() -> None:
    """In 20 worlds; if neither were better, the signed-rank test would say so in one of a thousand runs."""
    aware, blind = ([efficiency(one, seed) for seed in range(20)] for one in (True, False))
    assert stats.wilcoxon(aware, blind, alternative="greater").pvalue < 1e-3
