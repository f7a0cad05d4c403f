"""BestSubset: the subset against a fit of every subset, the bound from its definition."""

from itertools import combinations

import numpy as np
import pytest

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from tests.policies.table import some_actions


def slow_subset(x: FloatArray, y: FloatArray, size: int) -> tuple[float, tuple[int, ...]]:
    """Return the smallest sum of squares over all subsets, and the subset."""
    losses = {}
    for subset in combinations(range(x.shape[1]), size):
        columns = x[:, subset]
        losses[subset] = float(((y - columns @ (np.linalg.pinv(columns) @ y)) ** 2).sum())
    best = min(losses, key=lambda subset: losses[subset])
    return losses[best], best


def data(seed: int, count: int = 30, dimension: int = 8) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((count, dimension)) + 0.7 * rng.standard_normal((count, 1))
    return x, x[:, :3] @ np.array([1.0, -0.8, 0.6]) + rng.standard_normal(count)


@pytest.mark.parametrize("size", [1, 3, 8])
def test_enumeration_finds_the_best_subset(size: int) -> None:
    for seed in range(5):
        x, y = data(seed)
        estimate = sb.rivals.SubsetFit(size)(x, y, np.zeros(8))
        loss, subset = slow_subset(x, y, size)
        assert tuple(np.flatnonzero(estimate.lasso)) == subset
        assert ((y - x @ estimate.coefficients) ** 2).sum() == pytest.approx(loss)


def test_splicing_finds_it_nearly_always_and_never_a_worse_one_than_it_starts_from() -> None:
    found = 0
    for seed in range(40):
        x, y = data(seed)
        estimate = sb.rivals.SubsetFit(3, most_subsets=1)(x, y, np.zeros(8))
        assert np.count_nonzero(estimate.lasso) == 3
        loss = float(((y - x @ estimate.coefficients) ** 2).sum())
        best, _ = slow_subset(x, y, 3)
        start = np.argsort(-((x.T @ y) ** 2) / (x**2).sum(axis=0))[:3]
        first = float(((y - x[:, start] @ (np.linalg.pinv(x[:, start]) @ y)) ** 2).sum())
        assert best - 1e-9 <= loss <= first + 1e-9
        found += loss < best + 1e-6
    assert found >= 34  # 38 with these seeds; without exchanges of several features, fewer


def test_degenerate_data() -> None:
    for x in (np.zeros((3, 4)), np.ones((3, 4)), np.eye(4)[:1], 1e30 * np.eye(4)):
        for most in (1, 1000):
            estimate = sb.rivals.SubsetFit(2, most)(x, np.ones(len(x)), np.zeros(4))
            assert np.isfinite(estimate.coefficients).all()
            assert np.count_nonzero(estimate.lasso) == 2


def test_decision_by_decision() -> None:
    """Epochs of doubling length, the best subset of all rewards before, and LinUCB's bonus on its features."""
    policy = sb.rivals.BestSubset(some_actions(5, 6), 2, 0.25, width=1.5, penalty=0.7, seed=0)
    rng, theta = np.random.default_rng(0), np.array([1.0, 0, -0.5, 0, 0, 0])
    rows: list[FloatArray] = []
    rewards: list[float] = []
    for t in range(70):
        actions = rng.standard_normal((5, 6))
        decision = policy.ask(actions)
        end = max([0, *[2**m for m in range(1, 8) if 2**m <= t]])
        if end == 0:
            assert decision.probability == pytest.approx(1 / 5)
        elif end >= 4:  # of two rewards, every pair of features gives a perfect fit
            x, y = np.array(rows), np.array(rewards)
            _, subset = slow_subset(x[:end], y[:end], 2)
            coefficients = np.linalg.pinv(x[:end][:, subset]) @ y[:end]
            matrix = 0.7 * np.eye(2) + sum(np.outer(row[list(subset)], row[list(subset)]) for row in rows)
            index = [
                float(a[list(subset)] @ coefficients)
                + 1.5 * 0.5 * np.sqrt(a[list(subset)] @ np.linalg.inv(matrix) @ a[list(subset)])
                for a in actions
            ]
            assert decision.action == int(np.argmax(index))
            assert decision.reasons.columns["upper bound"][0] == pytest.approx(max(index))
        reward = float(decision.features @ theta + 0.3 * rng.standard_normal())
        rows.append(decision.features)
        rewards.append(reward)
        policy.tell(decision, reward)
    np.testing.assert_allclose(policy.coefficients, theta, atol=0.2)


@pytest.mark.parametrize("most_subsets", [1000, 1])
@pytest.mark.parametrize("units", [(1e-6, 1.0), (1e-12, 1e3), (1e40, 1e-40)])
def test_units_of_features_do_not_matter(units: tuple[float, float], most_subsets: int) -> None:
    """Planted: a jitter of 1e-10 of the mean square of all features hides one in a unit of a million."""
    rng = np.random.default_rng(0)
    x, scale = rng.standard_normal((40, 6)), np.ones(6)
    scale[0], scale[3] = units
    y = x @ np.array([1.0, 0.0, 0.0, -0.8, 0.0, 0.0]) + 0.1 * rng.standard_normal(40)
    plain = sb.rivals.SubsetFit(2, most_subsets)(x, y, np.zeros(6))
    scaled = sb.rivals.SubsetFit(2, most_subsets)(x * scale, y, np.zeros(6))
    assert np.flatnonzero(plain.lasso).tolist() == [0, 3] == np.flatnonzero(scaled.lasso).tolist()
    np.testing.assert_allclose(scaled.coefficients * scale, plain.coefficients, rtol=1e-9)


def test_a_penalty_below_rounding_errors() -> None:
    """The matrix of the bonus was singular."""
    policy = sb.rivals.BestSubset(1e10 * np.ones((4, 3)), sparsity=2, most_subsets=1, seed=0)
    for number in range(12):
        decision = policy.ask()
        assert np.isfinite(decision.reasons.columns["upper bound"]).all()
        policy.tell(decision, np.sin(number))
