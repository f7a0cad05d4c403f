"""Rules with a goal of their own against plain loops over draws, and what has to leave their choice alone."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import sparsebandits as sb
from sparsebandits.arguments import ArgumentError, FloatArray, frozen
from sparsebandits.model.features import Level
from sparsebandits.posteriors.draws import Draws
from sparsebandits.randomness import LEVEL_STREAM, stream
from sparsebandits.rules import Aimed, Beliefs, PerCost
from sparsebandits.rules import goal as module
from sparsebandits.rules.goal import Goal
from tests.rules.test_cost_to_go import slow_cost

ACTIONS, DRAWS, FEATURES, NOISE = 7, 40, 3, 0.8
COSTS = np.array([1.0, 4.0, 0.5, 2.0, 3.0, 0.7, 1.5])
GOALS = (Aimed(1.3, 60), PerCost(COSTS, 60))
every_goal = pytest.mark.parametrize("goal", GOALS, ids=lambda one: type(one).__name__)


class Fixed:
    """A posterior of given draws."""

    picks_from_draws = True
    noise_variance = NOISE

    def __init__(self, theta: Any, weights: Any, exact: bool, level: Level | None) -> None:
        self.level = level
        self._draws = Draws.trusted(frozen(theta), weights, exact=exact)

    def draws(self) -> Draws:
        """Return the draws."""
        return self._draws

    def mean(self) -> Any:
        """Return their mean."""
        return self._draws.mean()


def example(exact: bool, intercept: bool, zeros: bool, seed: int = 0) -> tuple[Beliefs, FloatArray, FloatArray]:
    """Return beliefs, mean rewards of each action under each draw of θ and level, and their weights."""
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((ACTIONS, FEATURES))
    features[4] = features[2]
    theta = rng.standard_normal((DRAWS, FEATURES))
    if zeros:
        theta *= rng.random((DRAWS, FEATURES)) < 0.5
        theta[:5] = 0.0
    weights = rng.dirichlet(np.ones(DRAWS))
    level = Level(rng.standard_normal(FEATURES), 1.7, 5.0) if intercept else None
    beliefs = Beliefs(Fixed(theta, weights, exact, level), frozen(features))
    normals = stream(0, LEVEL_STREAM).standard_normal(DRAWS)
    nodes = stats.norm.ppf((np.arange(16) + 0.5) / 16)
    nodes = nodes / math.sqrt(float(np.mean(nodes**2)))
    rewards, shares = [], []
    for m in range(DRAWS):
        for z in [0.0] if level is None else nodes if exact else [normals[m]]:
            alpha = 0.0
            if level is not None:
                alpha = level.reward - float(level.features @ theta[m]) + math.sqrt(NOISE / level.weight) * float(z)
            rewards.append([alpha + float(a @ theta[m]) for a in features])
            shares.append(weights[m] / (16 if level is not None and exact else 1))
    return beliefs, np.array(rewards), np.array(shares)


def utilities(goal: Goal, rewards: FloatArray) -> FloatArray:
    """Return the utility of each action under each draw; of doing nothing in a last column if costs count."""
    if isinstance(goal, Aimed):
        return np.array([[-abs(eta - goal.target) for eta in row] for row in rewards])
    assert isinstance(goal, PerCost)
    relative = COSTS / COSTS.mean()
    return np.array([[*(eta / c for eta, c in zip(row, relative, strict=True)), 0.0] for row in rewards])


def shares_of(u: FloatArray, weights: FloatArray, features: FloatArray, same: bool) -> FloatArray:
    """Return the weight of each draw in the group of each action, where ties go to the largest expected utility."""
    mean, shares = weights @ u, np.zeros_like(u)
    for m, row in enumerate(u):
        best = [a for a in range(len(row)) if row[a] >= row.max() - 1e-10]
        best = [a for a in best if mean[a] >= max(mean[b] for b in best) - 1e-10]
        if same and 4 in best and 2 in best:  # equal rows are one action
            best.remove(4)
        for a in best:
            shares[m, a] = weights[m] / len(best)
    return shares


@every_goal
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("zeros", [False, True])
def test_against_plain_loops(goal: Goal, intercept: bool, zeros: bool) -> None:
    """Planted: utilities at the mean of the draws, and a gain of utilities instead of rewards."""
    beliefs, rewards, weights = example(True, intercept, zeros)
    u = utilities(goal, rewards)
    shares = shares_of(u, weights, beliefs.features, same=isinstance(goal, Aimed))
    probability = shares.sum(axis=0)
    known = goal.known(beliefs)
    assert known.expected_regret == pytest.approx(weights @ u.max(axis=1) - weights @ u, abs=1e-9)
    split = probability.copy()
    if isinstance(goal, Aimed):
        split[[2, 4]] = probability[2] / 2
    assert known.optimal_probability == pytest.approx(split, abs=1e-9)
    mean = weights @ rewards
    between = sum(p * (one @ rewards / p - mean) ** 2 for one, p in zip(shares.T, probability, strict=True) if p > 0)
    total = weights @ (rewards - mean) ** 2
    assert known.gain[:ACTIONS] == pytest.approx(between, rel=1e-6, abs=1e-9)
    assert known.reward_variance[:ACTIONS] == pytest.approx(total, rel=1e-6)
    entropy = -sum(p * math.log(p) for p in probability if p > 0)
    assert known.entropy == pytest.approx(entropy)
    information = np.minimum(0.5 * np.log(1 + (between + 0.05 * total) / NOISE), entropy)
    regret, relative = known.expected_regret, np.ones(ACTIONS)
    if isinstance(goal, PerCost):
        relative = COSTS / COSTS.mean()
    slow = []
    for a in range(ACTIONS):  # of all numbers of plays, the cheapest one
        plays, until = 60 / relative[a], 0.5 * entropy / information[a]
        found = [
            slow_cost(m, regret[a], regret.min(), until, plays)
            for m in np.linspace(1.0, max(min(until, plays), 1.0), 4001)
        ]
        slow.append(relative[a] * min(found))
    choice = goal.choose(beliefs, np.random.default_rng(0))
    seen = dict(zip(choice.reasons.candidates.tolist(), choice.reasons.columns["cost to go"], strict=True))
    for a, cost in seen.items():  # a parabola and the straight lines between its points at whole numbers
        assert cost == pytest.approx(slow[a], rel=0.01, abs=0.6 * relative[a] * regret.min())
    cheap = min(seen.values())
    assert seen[choice.action] == pytest.approx(cheap)
    assert slow[choice.action] <= min(slow) + 0.6 * regret.min() * relative.max()


@every_goal
@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_draws_that_are_a_sample(goal: Goal, intercept: bool, zeros: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """One level per draw, in blocks of any size; gain and regret are those of plain loops over the same groups."""
    beliefs, rewards, weights = example(False, intercept, zeros, seed=3)
    u = utilities(goal, rewards)
    known = goal.known(beliefs)
    assert known.expected_regret == pytest.approx(weights @ u.max(axis=1) - weights @ u, abs=1e-9)
    best, mean = known.best, weights @ rewards
    group = np.zeros((len(best.support), DRAWS))
    for cell, one, share in zip(best.cell, best.group, best.share, strict=True):
        group[one, best.optima.cell == cell] += share
    group *= weights
    between = sum(p * (one @ rewards / p - mean) ** 2 for one, p in zip(group, group.sum(axis=1), strict=True))
    assert known.gain[:ACTIONS] == pytest.approx(between, rel=1e-5)
    monkeypatch.setattr(module, "AT_ONCE", 3 * ACTIONS)
    again = goal.known(example(False, intercept, zeros, seed=3)[0])
    assert again.expected_regret == pytest.approx(known.expected_regret, abs=1e-12)
    assert again.gain == pytest.approx(known.gain)


@every_goal
def test_draws_that_are_mostly_zero(goal: Goal, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are compressed, which changes nothing but rounding."""
    rng = np.random.default_rng(2)
    features, theta = rng.standard_normal((ACTIONS, 20)), rng.standard_normal((300, 20)) * (rng.random((300, 20)) < 0.1)
    posterior = Fixed(theta, rng.dirichlet(np.ones(300)), False, Level(np.zeros(20), 1.0, 4.0))
    sparse = goal.known(Beliefs(posterior, frozen(features)))
    assert sparse.best.optima.rows is not None
    monkeypatch.setattr(module, "mostly_zero", lambda theta: False)
    dense = goal.known(Beliefs(posterior, frozen(features)))
    for name in ("expected_regret", "gain", "reward_variance", "unbiased_gain", "optimal_probability"):
        assert getattr(sparse, name) == pytest.approx(getattr(dense, name), rel=1e-9)


def test_the_level_is_integrated_out() -> None:
    """Distances under a normal level have a closed form; planted: the conditional mean alone, which is off by 0.2."""
    for exact in (True, False):
        rng = np.random.default_rng(1)
        theta, size = rng.standard_normal((1 if exact else 20_000, 2)) * (0.0 if exact else 0.1), 3.0
        weights = np.full(len(theta), 1.0 / len(theta))
        features = frozen(rng.standard_normal((4, 2)))
        beliefs = Beliefs(Fixed(theta, weights, exact, Level(np.zeros(2), 2.0, size)), features)
        choice = Aimed(2.3).choose(beliefs, rng)
        variance = NOISE / size + (0.0 if exact else 0.01 * (features**2).sum(axis=1))
        apart, scale = 2.0 - 2.3 + features @ theta.mean(axis=0), np.sqrt(variance) * np.ones(4)
        wanted = scale * math.sqrt(2 / math.pi) * np.exp(-(apart**2) / (2 * scale**2))
        wanted = wanted + apart * (1 - 2 * stats.norm.cdf(-apart / scale))
        found = choice.reasons.columns["expected distance"]
        # 16 levels miss by a hundredth; the mean of 20,000 by four standard errors of 0.4/√20000
        assert found == pytest.approx(wanted[choice.reasons.candidates], abs=0.012)


def test_far_from_the_target_is_maximising() -> None:
    """If all rewards are below the target, regret, groups and gain are those of the largest reward."""
    beliefs, _, _ = example(False, False, False)
    known, usual = Aimed(1e6).known(beliefs), beliefs.information
    assert known.expected_regret == pytest.approx(usual.expected_regret, abs=1e-8)
    assert known.gain == pytest.approx(usual.gain)
    assert known.optimal_probability == pytest.approx(usual.optimal_probability)
    assert Aimed(-1e6).known(beliefs).optimal_probability[known.optimal_probability.argmax()] < 0.5


ROWS = np.random.default_rng(5).standard_normal((12, 4))
TRUTH = np.array([1.5, 0.0, -1.0, 0.0])


def played(
    rule: Goal, scale: float = 1.0, order: Any = None, engine: str = "particles", rounds: int = 8, **settings: Any
) -> list[int]:
    """Return the rows that are played where rewards are in another unit and rows in another order."""
    order = np.arange(len(ROWS)) if order is None else order
    policy = sb.policies.SparsePolicy(ROWS[order], rule, engine=engine, n_draws=300, seed=4, **settings)
    noise, rows = np.random.default_rng(6).standard_normal((rounds, len(ROWS))), []
    for t in range(rounds):
        decision = policy.ask()
        rows.append(int(order[decision.action]))
        policy.tell(decision, scale * float(5.0 + ROWS[rows[-1]] @ TRUTH + 0.3 * noise[t, rows[-1]]))
    return rows


@pytest.mark.parametrize("scale", [2.0**-20, 2.0**30])
def test_units_change_nothing(scale: float) -> None:
    """Rewards and target in another unit; planted: an offset that is not scaled while the unit is not known."""
    assert played(Aimed(6.0 * scale, 20), scale) == played(Aimed(6.0, 20))
    costs = np.random.default_rng(7).uniform(1.0, 5.0, 12)
    usual = played(PerCost(costs, 20))
    assert played(PerCost(costs, 20), scale) == usual
    assert played(PerCost(costs * scale, 20)) == usual
    assert played(PerCost(costs * 3.0, 20)) == usual


def test_the_order_of_rows_changes_nothing() -> None:
    order = np.random.default_rng(8).permutation(12)
    given: dict[str, Any] = {"prior": sb.SpikeSlab(0.5, 1.0), "noise_variance": 0.1, "engine": "enumeration"}
    assert played(Aimed(6.0, 20), order=order, **given) == played(Aimed(6.0, 20), **given)
    costs = np.random.default_rng(7).uniform(1.0, 5.0, 12)
    assert played(PerCost(costs[order], 20), order=order, **given) == played(PerCost(costs, 20), **given)


@every_goal
def test_rows_that_tie_are_equally_likely(goal: Goal) -> None:
    """Before the first reward, one-hot rows of equal cost are alike under exact draws."""
    rule = goal if isinstance(goal, Aimed) else PerCost([3.0, 3.0, 3.0], 20)
    table = sb.Hypotheses(np.vstack((np.eye(3), -np.eye(3))))
    decision = sb.policies.SparsePolicy(np.eye(3), rule, table, 1.0, seed=0).ask()
    assert decision.probability == pytest.approx(1 / 3)


@every_goal
def test_batches_of_distinct_rows(goal: Goal) -> None:
    rule = goal if isinstance(goal, Aimed) else PerCost(np.linspace(1.0, 3.0, 12), 40)
    policy = sb.policies.SparsePolicy(ROWS, rule, n_draws=200, seed=1)
    policy.tell(policy.ask(n=3, distinct=True), [1.0, 2.0, 4.0])
    assert len({one.action for one in policy.ask(n=12, distinct=True)}) == 12
    some = policy.ask(n=3, available=[2, 5, 7], distinct=True)
    assert {one.action for one in some} == {2, 5, 7}
    assert policy.health().text.count("Information about the best action") == 1


@every_goal
@pytest.mark.parametrize("rewards", [sb.Bernoulli(), sb.Poisson()])
def test_clicks_and_counts_are_refused_at_construction(goal: Goal, rewards: Any) -> None:
    with pytest.raises(ArgumentError, match=rf"^rewards: expected Gaussian rewards for {type(goal).__name__}, got "):
        sb.policies.SparsePolicy(ROWS, goal, rewards=rewards)


@every_goal
def test_a_graph_and_noise_of_each_action(goal: Goal) -> None:
    """Information is that of all rewards that are shown, per noise variance of each."""
    beliefs, _, _ = example(True, True, False)
    noise, graph = np.linspace(0.5, 2.0, ACTIONS), np.eye(ACTIONS, dtype=bool)
    graph[3] = True
    alone = Beliefs(beliefs.posterior, beliefs.features, noise)
    shown = Beliefs(beliefs.posterior, beliefs.features, noise, feedback=graph)
    rng, name = np.random.default_rng(0), "information (nats)"

    def gains(some: Beliefs) -> dict[int, float]:
        reasons = goal.choose(some, rng).reasons
        return dict(zip(reasons.candidates.tolist(), reasons.columns[name], strict=True))

    own, all_of_them, known = gains(alone), gains(shown), goal.known(alone)
    for a, value in own.items():
        wanted = 0.5 * math.log1p((known.gain[a] + 0.05 * known.reward_variance[a]) / noise[a])
        assert value == pytest.approx(min(wanted, known.entropy))
        if a != 3:
            assert all_of_them[a] == pytest.approx(value)
    if 3 in own:
        assert all_of_them[3] > own[3]


@pytest.mark.parametrize("target", [math.nan, math.inf, "seven", None])
def test_targets_that_are_none(target: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^target: expected"):
        Aimed(target)


@pytest.mark.parametrize("horizon", [0, 2.5, "ten"])
def test_horizons_that_are_none(horizon: Any) -> None:
    for make in (lambda: Aimed(1.0, horizon), lambda: PerCost([1.0], horizon)):
        with pytest.raises(ArgumentError, match=r"^horizon: expected"):
            make()


def nearest_is_played(rule: sb.rules.Rule, seed: int) -> tuple[bool, float]:
    """Return whether the row nearest to 4 is among those that are played in twelve rounds, and their mean distance."""
    rng = np.random.default_rng(seed)
    rows, theta = rng.standard_normal((50, 4)), rng.standard_normal(4)
    means = 3.0 + rows @ theta
    policy = sb.policies.LinearPolicy(rows, rule, sb.GaussianPrior(1.0), 0.05**2, 300, seed=seed)
    apart, found = np.abs(means - 4.0), list[int]()
    for _ in range(12):
        decision = policy.ask()
        found.append(decision.action)
        policy.tell(decision, float(means[decision.action] + 0.05 * rng.standard_normal()))
    return int(apart.argmin()) in found, float(apart[found].mean())


def test_aimed_finds_the_nearest_row_more_often_than_maximising() -> None:
    """In 30 worlds; if neither were better, either test would say so in one of a thousand runs."""
    aimed, near = zip(*(nearest_is_played(Aimed(4.0, 12), seed) for seed in range(30)), strict=True)
    largest, far = zip(*(nearest_is_played(sb.rules.CostToGo(12), seed) for seed in range(30)), strict=True)
    better = sum(a and not b for a, b in zip(aimed, largest, strict=True))
    worse = sum(b and not a for a, b in zip(aimed, largest, strict=True))
    assert stats.binomtest(better, better + worse, alternative="greater").pvalue < 1e-3
    assert stats.wilcoxon(near, far, alternative="less").pvalue < 1e-3
