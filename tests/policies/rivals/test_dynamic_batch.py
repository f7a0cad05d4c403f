"""DynamicBatch: grid, parts, penalty and play from their definitions."""

import math

import numpy as np
import pytest

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.policies.rivals.dynamic_batch import batch_ends
from tests.policies.rivals.test_lasso_policies import textbook_lasso
from tests.policies.table import some_actions


def slow_grid(horizon: int, sparsity: int, batches: int) -> list[float]:
    """t_m = b √t_{m−1} from t_0 = s: log t_m is known in closed form, and t_M is T."""
    b = math.sqrt(horizon) * (horizon / sparsity) ** (0.5 / (2**batches - 1))
    logs = [math.log(sparsity) * 0.5**m + math.log(b) * (2 - 2 * 0.5**m) for m in range(1, batches + 1)]
    return [math.exp(one) for one in logs]


@pytest.mark.parametrize(("horizon", "sparsity", "batches"), [(6000, 50, 3), (400, 1, 4), (1000, 7, 1), (10_000, 5, 6)])
def test_grid(horizon: int, sparsity: int, batches: int) -> None:
    ends, slow = batch_ends(horizon, sparsity, batches), slow_grid(horizon, sparsity, batches)
    assert slow[-1] == pytest.approx(horizon)
    assert ends[-1] == horizon
    assert len(ends) == batches
    ratios = [one / other - 1 for one, other in zip(ends[:-1], slow[:-1], strict=True)]
    assert all(-1e-9 <= ratio < 2 / ends[0] for ratio in ratios), "rounded up at each step"


def test_more_batches_than_rounds() -> None:
    assert batch_ends(3, 1, 40) == (2, 3)
    assert batch_ends(1, 1, 1000) == (1,)


@pytest.mark.parametrize("split", [True, False])
def test_decision_by_decision(split: bool) -> None:
    """The first batch is uniform; then the Lasso of the definition decides, which changes at the ends of batches."""
    ends = (21, 68, 120)
    policy = sb.rivals.DynamicBatch(some_actions(5, 6), 120, 2, 0.04, penalty=0.02, split=split, seed=0)
    assert policy.posterior.schedule.ends == ends == batch_ends(120, 2, 3)
    rng, theta = np.random.default_rng(0), np.array([1.0, 0, -0.5, 0, 0, 0])
    rows: list[FloatArray] = []
    rewards: list[float] = []
    for t in range(1, 131):
        actions = rng.standard_normal((5, 6))
        decision = policy.ask(actions)
        done = sum(end < t for end in ends)
        if done == 0:
            assert decision.probability == pytest.approx(1 / 5)
        else:
            used: list[int] = []
            for start, end in zip((0, *ends), ends[:done], strict=False):
                part = (end - start) // 3
                used += range(start + (done - 1) * part, start + done * part) if split else range(start, end)
            x, y = np.array(rows)[used], np.array(rewards)[used]
            penalty = 0.02 * math.sqrt(2 * math.log(5) * (math.log(6) + 2 * math.log(120)) / len(used))
            estimate = textbook_lasso(x, y, penalty)
            assert decision.reasons.notes["penalty"] == pytest.approx(penalty)
            np.testing.assert_allclose(policy.coefficients, estimate, atol=1e-3)
            assert decision.action == int((actions @ estimate).argmax())
        reward = float(decision.features @ theta + 0.2 * rng.standard_normal())
        rows.append(decision.features)
        rewards.append(reward)
        policy.tell(decision, reward)


def test_defaults_are_those_of_the_program() -> None:
    policy = sb.rivals.DynamicBatch(np.eye(4), 100, 1, noise_variance=4.0)
    assert policy.posterior.estimator == sb.rivals.BatchLasso(0.1, 4, 100)
    assert policy.posterior.schedule == sb.rivals.BatchGrid(batch_ends(100, 1, 3), split=True)
