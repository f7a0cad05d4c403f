"""SquareCB and FALCON: probabilities, learning rates and epochs from their definitions, one action and one reward at a
time."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import stats

import sparsebandits as sb
from sparsebandits.arguments import LARGEST, ArgumentError, FloatArray
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.rivals.epochs import BatchGrid, Doubling
from sparsebandits.policies.rivals.lasso import Estimate
from sparsebandits.policies.rivals.oracles import offline_oracle
from sparsebandits.policies.rivals.square_cb import inverse_gap_weights, theorem_rate
from tests.policies.table import share_of_guessing, some_actions


def textbook(values: FloatArray, gamma: float) -> list[float]:
    """Inverse gap weighting, averaged over which of the best actions is taken for the best."""
    bests = [b for b in range(len(values)) if values[b] == max(values)]
    total = np.zeros(len(values))
    for b in bests:
        weights = [1 / (len(values) + gamma * (values[b] - value)) for value in values]
        weights[b] = 1 - sum(weights[:b] + weights[b + 1 :])
        total += np.array(weights) / len(bests)
    return list(total)


@pytest.mark.parametrize("gamma", [0.0, 1.0, 37.0, 1e12])
def test_weights(gamma: float) -> None:
    rng = np.random.default_rng(0)
    for values in (
        rng.standard_normal(7),
        np.array([1.0, 0.5, 1.0, 1.0]),
        np.zeros(3),
        np.ones(1),
        -1e30 * np.eye(3)[0],
    ):
        found = inverse_gap_weights(values, gamma)
        np.testing.assert_allclose(found, textbook(values, gamma), rtol=1e-9, atol=1e-15)
        assert found.sum() == pytest.approx(1.0)
    if gamma == 0.0:
        np.testing.assert_allclose(inverse_gap_weights(np.arange(5.0), 0.0), 0.2)


def excess(weights: Any, seed: int) -> float:
    """Return by how much the regret against the worst f exceeds 2 K / γ + γ/4 Σ p (f̂ − f)², at most."""
    rng, worst = np.random.default_rng(seed), -math.inf
    for _ in range(2000):
        k, gamma = int(rng.integers(2, 6)), float(rng.exponential(5.0)) + 0.01
        estimate = rng.standard_normal(k)
        p = weights(estimate, gamma)
        for star in range(k):  # the worst f: its derivative in each coordinate is zero
            truth = estimate - 2 / gamma + (np.arange(k) == star) * 2 / (gamma * p[star])
            regret = truth[star] - p @ truth
            worst = max(worst, regret - 2 * k / gamma - gamma / 4 * p @ (estimate - truth) ** 2)
    return worst


def test_the_weights_balance_regret_and_estimation() -> None:
    """Why these weights: as 1/p(a) ≤ K + γ gap(a), the regret is at most 2 K / γ + γ/4 Σ p (f̂ − f)², whatever f is."""
    assert excess(inverse_gap_weights, 1) < 1e-9
    assert excess(lambda values, gamma: inverse_gap_weights(values, 1.5 * gamma), 1) > 0.1, "planted"


def test_square_cb_decision_by_decision() -> None:
    """The ridge estimate and γ_t = 3 t^0.4 / σ, in sets that change in size; rewards come late."""
    policy, rng = (
        sb.rivals.SquareCB(some_actions(5, 4), 0.25, scale=3.0, exponent=0.4, seed=2),
        np.random.default_rng(0),
    )
    gram, moment = 4 * 0.25 * np.eye(4), np.zeros(4)
    waiting: list[tuple[sb.Decision, float]] = []
    for t in range(60):
        actions = rng.standard_normal((int(rng.integers(1, 7)), 4))
        decision = policy.ask(actions)
        values = actions @ np.linalg.solve(gram, moment)
        weights = textbook(values, 3 * t**0.4 / 0.5)
        assert decision.probability == pytest.approx(weights[decision.action], rel=1e-6)
        assert decision.probability_draws is None
        assert decision.reasons.notes["learning rate"] == pytest.approx(6 * t**0.4)
        waiting.append((decision, float(rng.standard_normal())))
        if t % 3 == 2:
            policy.tell([one for one, _ in waiting], [reward for _, reward in waiting])
            for one, reward in waiting:
                gram, moment = gram + np.outer(one.features, one.features), moment + reward * one.features
            waiting = []


def test_actions_are_drawn_with_their_probabilities() -> None:
    """4,000 decisions of each; a chi-squared test at 1 in 10,000."""
    for policy in (
        sb.rivals.SquareCB(some_actions(5, 3), scale=2.0, seed=0),
        sb.rivals.FALCON(some_actions(5, 3), scale=2.0, seed=0),
    ):
        rng = np.random.default_rng(3)
        for _ in range(8):
            decision = policy.ask()
            policy.tell(decision, float(decision.features[0] + rng.standard_normal()))
        counts, expected = np.zeros(5), np.zeros(5)
        if isinstance(policy.rule, sb.rivals.InverseGapWeighting):
            policy.rule = sb.rivals.InverseGapWeighting(3.0, 0.0)  # a constant γ: asking alone changes nothing
        for _ in range(4000):
            decision = policy.ask()
            counts[decision.action] += 1
            expected[decision.action] = decision.probability
        assert expected.sum() == pytest.approx(1.0)
        assert stats.chisquare(counts, 4000 * expected).pvalue > 1e-4


def test_theorem_rate() -> None:
    assert theorem_rate(8, 50, 4.0) == pytest.approx(math.sqrt(8 * 50 / 4))
    assert sb.rivals.SquareCB(np.eye(2)).rule == sb.rivals.InverseGapWeighting(10.0, 0.5), "those of the program"


# Epochs


def test_doubling_epochs() -> None:
    ends = [2**m for m in range(1, 12)]
    for count in range(2000):
        end = Doubling().end(count)
        assert end == max([0, *[e for e in ends if e <= count]])
        number = 1 + sum(e <= count for e in ends)  # the epoch m of the next round: τ_{m−1} ≤ count < τ_m
        assert Doubling().number(end) == number
        if end:
            start = 0 if number == 2 else 2 ** (number - 2)
            assert Doubling().rows(end).tolist() == list(range(start, end))
            assert Doubling("all").rows(end).tolist() == list(range(end))


@pytest.mark.parametrize("window", ["last", "all"])
def test_falcon_decision_by_decision(window: str) -> None:
    """Ridge on the last epoch's rewards or on all, and γ_m of the definition; rewards come in time."""
    rng = np.random.default_rng(0)
    history_x: list[FloatArray] = []
    history_y: list[float] = []
    policy = sb.rivals.FALCON(some_actions(5, 4), 0.5, sparsity=2, scale=0.7, delta=0.2, window=window, seed=2)
    for t in range(1, 70):
        m = next(m for m in range(1, 20) if t <= 2**m)
        before = [0, *[2**k for k in range(1, 20)]]  # τ_0, τ_1, …
        end, start = before[m - 1], before[m - 2] if m > 1 and window == "last" else 0
        actions = rng.standard_normal((int(rng.integers(1, 7)), 4))
        decision = policy.ask(actions)
        theta, gamma = np.zeros(4), 0.0
        if m > 1:
            x, y = np.array(history_x[start:end]), np.array(history_y[start:end])
            theta = np.linalg.inv(x.T @ x + 4 * 0.5 * np.eye(4)) @ x.T @ y
            error = 0.5 * (2 * math.log(4) + math.log(1 / (0.2 / (2 * m * m)))) / (end - start)
            gamma = 0.7 * math.sqrt(len(actions) / error)
        assert decision.probability == pytest.approx(textbook(actions @ theta, gamma)[decision.action], rel=1e-6)
        assert decision.reasons.notes["learning rate"] == pytest.approx(gamma)
        np.testing.assert_allclose(policy.coefficients, theta, atol=1e-10)
        reward = float(rng.standard_normal())
        history_x.append(decision.features)
        history_y.append(reward)
        policy.tell(decision, reward)


def test_rewards_that_come_at_once_give_the_estimate_of_those_that_come_one_by_one() -> None:
    """The fit after an epoch uses the rewards up to its end, however many more there are."""
    one, other = (sb.rivals.FALCON(some_actions(5, 3), seed=0) for _ in range(2))
    for policy in (one, other):
        decisions = [policy.ask() for _ in range(11)]
        if policy is one:
            for k, decision in enumerate(decisions):
                policy.tell(decision, float(k))
                assert policy.posterior.end == Doubling().end(k + 1)
        else:
            policy.tell(decisions, np.arange(11.0))
    np.testing.assert_array_equal(one.coefficients, other.coefficients)
    x = other.posterior.samples.x[4:8]
    expected = np.linalg.solve(x.T @ x + 3 * np.eye(3), x.T @ np.arange(4.0, 8.0))
    np.testing.assert_allclose(one.coefficients, expected)


# Oracles


def test_offline_oracles() -> None:
    """Ridge by its normal equations, on few and on many rows; the particles against the sum over all models."""
    rng = np.random.default_rng(0)
    for count in (2, 20):
        x, y = rng.standard_normal((count, 4)), rng.standard_normal(count)
        expected = np.linalg.inv(x.T @ x + 3.0 * np.eye(4)) @ x.T @ y
        np.testing.assert_allclose(sb.rivals.Ridge(3.0)(x, y, np.zeros(4)).coefficients, expected)
    prior = sb.SpikeSlab(0.3, 1.0)
    exact = sb.Enumeration(prior, 4, rewards=sb.Gaussian(0.5), seed=0)
    exact.absorb(x, y)
    found = sb.rivals.SpikeSlabMean(prior, 0.5, 4000)(x, y, np.zeros(4))
    np.testing.assert_allclose(found.coefficients, exact.mean(), atol=0.02)
    again = sb.rivals.SpikeSlabMean(prior, 0.5, 4000)(x, y, np.ones(4))
    np.testing.assert_array_equal(found.coefficients, again.coefficients)


@dataclass(frozen=True)
class Ones:
    """An estimator of a user's."""

    size: float = 1.0

    def __call__(self, x: FloatArray, y: FloatArray, start: FloatArray) -> Estimate:
        return Estimate(np.full(x.shape[1], self.size), start, 0.0)


@pytest.mark.parametrize("make", [sb.rivals.SquareCB, sb.rivals.FALCON])
def test_an_estimator_of_ones_own(make: Any, tmp_path: Any) -> None:
    policy = make(some_actions(), regressor=Ones(2.0), seed=0)
    for _ in range(3):
        policy.tell(policy.ask(), 1.0)
    np.testing.assert_array_equal(policy.coefficients, np.full(3, 2.0))
    policy.save(tmp_path / "policy")
    assert sb.load(tmp_path / "policy", Ones).posterior.estimator == Ones(2.0)


def test_wrong_oracles() -> None:
    for make in (sb.rivals.SquareCB, sb.rivals.FALCON):
        for wrong in ("forest", 3, None):
            with pytest.raises((TypeError, ValueError)) as refused:
                make(np.eye(2), regressor=wrong)  # type: ignore[arg-type]
            assert isinstance(refused.value, ArgumentError)
            assert refused.value.name == "regressor"
    with pytest.raises(TypeError, match="posterior: expected a learner with coefficients"):
        sb.Policy(np.eye(3), sb.rivals.HypercubeElimination(3, horizon=2).posterior, sb.rivals.InverseGapWeighting())
    with pytest.raises(TypeError, match="posterior: expected an EpochEstimator"):
        sb.Policy(np.eye(3), sb.rivals.SquareCB(np.eye(3)).posterior, sb.rivals.EpochInverseGaps(1.0, 3.0, 1.0))
    for wrong_ends in ((), (3, 3), (4, 2), [1, 2], (0, 1)):
        with pytest.raises((TypeError, ValueError), match=r"^ends: expected"):
            BatchGrid(wrong_ends)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="schedule: expected Doubling"):
        sb.rivals.EpochEstimator(3, Ones(), None)
    assert isinstance(offline_oracle("lasso", ActionSet.of(np.eye(2)), 4.0), sb.rivals.PlainLasso)


@pytest.mark.parametrize("regressor", ["ridge", "lasso", "spike-and-slab"])
def test_regret_is_a_fraction_of_that_of_guessing(regressor: str) -> None:
    """Greedier than the sources' constants; told the opposite of each reward, they do worse than guessing."""
    world = sb.environments.GaussianActions(5, 2, n_actions=8, noise_variance=0.1)
    for policy, scale in ((sb.rivals.SquareCB, 10.0), (sb.rivals.FALCON, 3.0)):

        def make(instance: sb.environments.Instance, seed: int, policy: Any = policy, scale: float = scale) -> Any:
            return policy(instance.actions, instance.noise_variance, regressor=regressor, scale=scale, seed=seed)

        assert share_of_guessing(make, world) < 0.45
    assert share_of_guessing(make, world, sign=-1.0) > 0.9


def test_a_large_exponent_is_greedy() -> None:
    policy = sb.rivals.SquareCB(np.eye(2), exponent=400, seed=0)
    for _ in range(12):
        decision = policy.ask()
        assert 0.0 < decision.probability <= 1.0
        policy.tell(decision, float(decision.action))
    assert (decision.action, decision.probability) == (1, 1.0)
    rule = sb.rivals.InverseGapWeighting(exponent=400)
    assert rule.rate(0) == 0.0
    assert rule.rate(1) == 10.0
    assert rule.rate(2) == rule.rate(10**6) == 10.0 * LARGEST
