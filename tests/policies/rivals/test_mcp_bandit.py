"""MCPBandit: the weighted Lasso by its optimality conditions, the penalty by its integral, play from definitions."""

import math

import numpy as np
import pytest
from scipy import integrate, optimize

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.policies.rivals.lasso import lasso
from sparsebandits.policies.rivals.mcp_bandit import concave_estimate, weighted_lasso
from tests.policies.table import some_actions


@pytest.mark.parametrize(("count", "dimension", "free"), [(30, 5, 2), (4, 8, 3), (3, 6, 5), (20, 4, 0), (20, 4, 4)])
def test_weighted_lasso(count: int, dimension: int, free: int) -> None:
    """|x_j'(y − Xθ)| / n ≤ w_j, with equality and the sign of θ_j where θ_j ≠ 0."""
    rng = np.random.default_rng(count)
    x, y = rng.standard_normal((count, dimension)), rng.standard_normal(count)
    weights = rng.uniform(0.05, 0.3, dimension)
    weights[rng.permutation(dimension)[:free]] = 0.0
    theta = weighted_lasso(x, y, weights, np.zeros(dimension))
    gradient = x.T @ (y - x @ theta) / count
    assert (np.abs(gradient) <= weights + 1e-5).all()
    np.testing.assert_allclose(gradient[theta != 0], (weights * np.sign(theta))[theta != 0], atol=1e-5)
    if free == 0:
        assert np.any(theta == 0), "the penalty matters"


def penalty_at(size: float, penalty: float, concavity: float) -> float:
    """P(u), the integral of its derivative."""
    return float(integrate.quad(lambda u: max(penalty - u / concavity, 0.0), 0.0, size, limit=200)[0])


def test_the_estimate_improves_the_penalised_loss_and_does_not_shrink_large_coefficients() -> None:
    """One step of local linear approximation lowers the objective; at the fixed point of many it is stationary."""
    rng, truth = np.random.default_rng(0), np.array([2.0, 0.0, -1.5, 0.0, 0.0, 0.0])
    x = rng.standard_normal((60, 6))
    y = x @ truth + 0.3 * rng.standard_normal(60)
    start = np.zeros(6)

    def objective(theta: FloatArray) -> float:
        return float(((y - x @ theta) ** 2).sum() / 120) + sum(penalty_at(abs(t), 0.2, 3.0) for t in theta)

    estimate, first = concave_estimate(x, y, 0.2, 3.0, start)
    np.testing.assert_allclose(first, lasso(x, y, 0.2, start))
    assert objective(estimate) < objective(first)
    support = [0, 2]
    assert np.flatnonzero(estimate).tolist() == support
    np.testing.assert_allclose(estimate[support], np.linalg.lstsq(x[:, support], y)[0], atol=1e-6)  # the oracle's
    assert (np.abs(first[support]) < np.abs(estimate[support]) - 0.1).all(), "which the Lasso shrinks"
    slow = optimize.minimize(objective, estimate, method="Nelder-Mead", options={"maxfev": 4000})
    assert objective(estimate) < slow.fun + 1e-6
    large = concave_estimate(x, y, 0.2, 1e9, start)[0]
    np.testing.assert_allclose(large, first, atol=1e-5)  # a large a is the Lasso


def test_decision_by_decision() -> None:
    """Forced rounds q (2ⁿ − 1) + 1 … q 2ⁿ are uniform; others play the best candidate of two estimates."""
    policy = sb.rivals.MCPBandit(
        some_actions(5, 4),
        forced_samples=2,
        localisation=1.0,
        forced_penalty=0.1,
        all_penalty=0.3,
        concavity=2.0,
        seed=0,
    )
    rng, theta = np.random.default_rng(0), np.array([1.0, 0, -0.5, 0])
    rows: list[FloatArray] = []
    rewards: list[float] = []
    forced: list[int] = []
    times = {(2**n - 1) * 2 + j for n in range(8) for j in (1, 2)}
    for t in range(1, 61):
        actions = rng.standard_normal((5, 4))
        decision = policy.ask(actions)
        if t in times:
            assert decision.probability == pytest.approx(1 / 5)
            forced.append(t - 1)
        else:
            x, y = np.array(rows), np.array(rewards)
            penalty = 0.3 * math.sqrt((math.log(len(y)) + math.log(4)) / len(y))
            one = actions @ concave_estimate(x[forced], y[forced], 0.1, 2.0, np.zeros(4))[0]
            estimate = concave_estimate(x, y, penalty, 2.0, np.zeros(4))[0]
            np.testing.assert_allclose(policy.coefficients[0], estimate, atol=1e-4)
            values = np.where(one >= one.max() - 0.5, actions @ estimate, -np.inf)
            assert values[decision.action] == pytest.approx(values.max(), abs=1e-4)
        reward = float(decision.features @ theta + 0.2 * rng.standard_normal())
        rows.append(decision.features)
        rewards.append(reward)
        policy.tell(decision, reward)


def test_defaults() -> None:
    policy, other = sb.rivals.MCPBandit(np.eye(2), 4.0), sb.rivals.LassoBandit(np.eye(2), 4.0)
    assert policy.rule == other.rule
    for name in ("forced_penalty", "all_penalty"):
        assert getattr(policy.posterior, name) == getattr(other.posterior, name)
    assert (policy.posterior.concavity, policy.posterior.n_arms) == (3.0, None)


def test_tiny_penalties_are_least_squares() -> None:
    """Columns over tiny weights overflowed."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((20, 3)), rng.standard_normal(20)
    found = weighted_lasso(100.0 * x, 1e27 * y, np.full(3, 1e-300), np.zeros(3))
    np.testing.assert_allclose(found, 1e25 * np.linalg.lstsq(x, y)[0], rtol=1e-4)
