"""DLinUCB: its index from the definition, with sums over all rewards computed anew in every round."""

import math
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

import sparsebandits as sb
from sparsebandits.arguments import ArgumentError, FloatArray
from sparsebandits.policies.rivals.d_linucb import DiscountedOptimism
from tests.policies.table import share_of_guessing, some_actions

PENALTY, DELTA, BOUND, LENGTH, WIDTH, NOISE = 0.3, 0.05, 2.0, 3.0, 0.7, 0.4


def textbook(actions: FloatArray, x: FloatArray, y: FloatArray, ages: FloatArray, gamma: float) -> FloatArray:
    """Return the index of each action, with the paper's (1 − γ^2t) / (1 − γ²) where ages are 0 … t − 1."""
    v, v2, b = PENALTY * np.eye(actions.shape[1]), PENALTY * np.eye(actions.shape[1]), np.zeros(actions.shape[1])
    for row, reward, age in zip(x, y, ages, strict=True):
        v += gamma**age * np.outer(row, row)
        v2 += gamma ** (2 * age) * np.outer(row, row)
        b += gamma**age * reward * row
    d, t = actions.shape[1], len(y)
    total = (1 - gamma ** (2 * t)) / (1 - gamma**2)
    root = 2 * math.log(1 / DELTA) + d * math.log(1 + LENGTH**2 * total / (PENALTY * d))
    beta = math.sqrt(PENALTY) * BOUND + math.sqrt(NOISE) * math.sqrt(root)
    inverse = np.linalg.inv(v)
    return np.array([a @ inverse @ b + WIDTH * beta * math.sqrt(a @ inverse @ v2 @ inverse @ a) for a in actions])


def run(half_life: float, rounds: int = 60, every: int = 1) -> None:
    actions, gamma = some_actions(9, 4), 2 ** (-1 / half_life)
    policy = sb.rivals.DLinUCB(
        actions, sb.Discount(half_life), NOISE, PENALTY, DELTA, BOUND, length=LENGTH, width=WIDTH, seed=1
    )
    x, y, waiting = np.empty((0, 4)), np.empty(0), []
    for t, reward in enumerate(np.random.default_rng(0).standard_normal(rounds)):
        rows = np.arange(9) if t % 5 else np.array([t % 9, (t + 3) % 9, (t + 4) % 9])  # now and then, three of them
        decision = policy.ask(None if len(rows) == 9 else actions[rows])
        if t % every == 0:
            index = textbook(actions[rows], x, y, np.arange(float(len(y)))[::-1], gamma)
            upper, candidates = decision.reasons.columns["upper bound"], decision.reasons.candidates
            np.testing.assert_allclose(upper, index[candidates], rtol=1e-9)
            assert index[decision.action] == pytest.approx(index.max(), rel=1e-12)
        waiting.append((decision, float(reward)))
        x, y = np.vstack((x, decision.features)), np.append(y, reward)
        if len(waiting) == every:  # the newest first
            policy.tell([one for one, _ in waiting[::-1]], [value for _, value in waiting[::-1]])
            waiting = []


@pytest.mark.parametrize("half_life", [1.0, 8.0, 1e4])
@pytest.mark.parametrize("every", [1, 3], ids=["in time", "late, in batches"])
def test_index_decision_by_decision(half_life: float, every: int) -> None:
    run(half_life, every=every)


@pytest.mark.parametrize("planted", ["γ for γ²", "no discount of Σ γ^2s", "V for Ṽ"])
def test_planted_bugs_are_caught(planted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    learner = sb.rivals.DiscountedLeastSquares
    right = learner.absorb

    def wrong(self: Any, x: FloatArray, y: FloatArray, weights: Any = None, times: Any = None) -> None:
        before, seen = self.squared, self.squared.seen
        right(self, x, y, weights, times)
        if planted == "γ for γ²":
            self.squared = before.scaled(2 ** (-1 / 8.0))
            self.squared.absorb(x, y, None, np.ones(len(y)))
        elif planted == "no discount of Σ γ^2s":
            self.squared._discounted = float(seen + len(y))
        else:  # as in the line of the authors' program
            self.squared = self.evidence.scaled(2 ** (-2 / 8.0))
            self.squared.absorb(x, y, None, np.ones(len(y)))

    monkeypatch.setattr(learner, "absorb", wrong)
    with pytest.raises(AssertionError):
        run(8.0)


def test_without_forgetting_it_is_least_squares() -> None:
    policy = sb.rivals.DLinUCB(some_actions(), sb.Discount(math.inf), seed=0)
    plain = sb.Conjugate(sb.GaussianPrior(10.0), 3, 1.0)
    for t in range(20):
        decision = policy.ask()
        policy.tell(decision, float(t % 3))
        plain.update(decision.features, float(t % 3))
    np.testing.assert_allclose(policy.posterior.coefficients(), plain.mean(), rtol=1e-9)
    assert policy.posterior.squared.count == 20.0


def test_ages_in_seconds() -> None:
    policy = sb.rivals.DLinUCB(np.eye(2), sb.Discount(60.0, "seconds"), penalty=1.0, seed=0)
    noon = datetime(2026, 5, 1, 12, tzinfo=UTC).timestamp()
    for seconds in (0.0, 120.0):
        policy.tell(policy.ask(np.array([[1.0, 0.0]]), time=noon + seconds), 8.0)
    assert policy.posterior.coefficients()[0] == pytest.approx(8.0 * 1.25 / 2.25)
    assert policy.posterior.squared.count == 1.0625


def test_the_default_length_is_that_of_the_longest_action() -> None:
    rule = sb.rivals.DLinUCB(np.array([[3.0, 4.0], [1.0, 0.0]]), sb.Discount(5)).rule
    assert rule == DiscountedOptimism(length=5.0)
    assert sb.rivals.DLinUCB(np.zeros((2, 2)), sb.Discount(5)).ask().probability == 0.5


def test_what_does_not_fit_is_refused() -> None:
    wrong: list[dict[str, Any]] = [
        {"forgetting": 250},
        {"forgetting": None},
        *({"forgetting": sb.Discount(5), name: -1.0} for name in ("penalty", "delta", "bound", "length", "width")),
        {"forgetting": sb.Discount(5), "noise_variance": [1.0, 2.0]},
    ]
    for settings in wrong:
        with pytest.raises(ArgumentError, match=rf"^{list(settings)[-1]}: expected"):
            sb.rivals.DLinUCB(np.eye(2), **settings)
    with pytest.raises(ArgumentError, match=r"^posterior: expected DiscountedLeastSquares"):
        sb.Policy(np.eye(2), sb.Conjugate(sb.GaussianPrior(1.0), 2), DiscountedOptimism())


def test_regret_on_an_easy_instance() -> None:
    """With 99% confidence its mean regret is below a quarter of guessing's; planted: rewards of the wrong sign."""
    environment = sb.environments.GaussianActions(5, 2, n_actions=10, noise_variance=0.1)

    def make(instance: sb.environments.Instance, seed: int) -> sb.Policy:
        return sb.rivals.DLinUCB(instance.actions, sb.Discount(200), noise_variance=0.1, width=0.5, seed=seed)

    assert share_of_guessing(make, environment) < 1 / 4
    assert share_of_guessing(make, environment, sign=-1.0) > 1 / 4


@pytest.mark.parametrize("actions", [1e10 * np.ones((4, 3)), 1e30 * np.eye(3), 1e10 * np.outer([1, 2], [1, 1e-9])])
def test_a_penalty_below_rounding_errors(actions: FloatArray) -> None:
    """The normal equations were singular, or had negative lengths."""
    policy = sb.rivals.DLinUCB(actions, sb.Discount(half_life=10), seed=0)
    for number in range(10):
        decision = policy.ask()
        assert np.isfinite(decision.reasons.columns["upper bound"]).all()
        policy.tell(decision, np.sin(number))
