"""FeelGoodTS: tilted weights, tempering and probabilities from their definitions, in plain loops."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import sparsebandits as sb
from sparsebandits.arguments import ArgumentError, FloatArray
from sparsebandits.policies.rivals.optimistic_posterior import optimistic_posterior
from tests.policies.table import share_of_guessing, some_actions
from tests.statistical import assert_means_agree

NO_TIES = sb.SpikeSlab(0.4, 0.5, spike=sb.GaussianSpike(0.01))
NOISE = 0.5


def tilted_in_a_loop(
    draws: sb.posteriors.Draws, rows: FloatArray, rounds: int, rate: float, cap: float, level: tuple[FloatArray, float]
) -> list[float]:
    """Return the weights of the optimistic posterior; ``level`` is what the features are relative to, and a reward."""
    weights = []
    for theta, weight in zip(draws.theta.tolist(), draws.weights.tolist(), strict=True):
        best = max(
            level[1] + sum((a - c) * t for a, c, t in zip(row, level[0].tolist(), theta, strict=True))
            for row in rows.tolist()
        )
        weights.append(weight * math.exp(rate * rounds * min(cap, best) / math.sqrt(NOISE)))
    return [weight / sum(weights) for weight in weights]


@pytest.mark.parametrize("cap", [math.inf, 0.8], ids=["no cap", "cap"])
@pytest.mark.parametrize("intercept", [False, True], ids=["no intercept", "intercept"])
def test_weights_probabilities_and_effective_draws(intercept: bool, cap: float) -> None:
    actions, rate = some_actions(7, 3), 0.15
    given: Any = {"n_draws": 200, "optimism": rate, "cap": None if np.isinf(cap) else cap}
    policy = sb.rivals.FeelGoodTS(actions, NO_TIES, NOISE, seed=1, intercept=intercept, **given)
    x: list[FloatArray] = []
    y: list[float] = []
    for t, reward in enumerate(np.random.default_rng(0).standard_normal(25)):
        rows = actions if t % 4 else actions[:3]  # now and then three of them: then the sum is over their maximum
        draws = policy.posterior.draws()
        level = (np.mean(x, axis=0), float(np.mean(y))) if intercept and t else (np.zeros(3), 0.0)
        expected = np.array(tilted_in_a_loop(draws, rows, t, rate, cap, level))
        decision = policy.ask(rows)
        notes = decision.reasons.notes
        assert notes["effective draws"] == pytest.approx(1 / sum(w * w for w in expected), rel=1e-9)
        assert notes["effective draws before the tilt"] == pytest.approx(draws.effective_sample_size)
        best = np.array([int(np.argmax([a @ theta for a in rows])) for theta in draws.theta])
        assert decision.probability == pytest.approx(expected[best == decision.action].sum(), rel=1e-9)
        if t == 20:
            for planted in (t + 1, 2 * t):
                wrong = tilted_in_a_loop(draws, rows, planted, rate, cap, level)
                assert abs(notes["effective draws"] * float(np.square(wrong).sum()) - 1) > 1e-6, "planted: rounds"
        x.append(decision.features)
        y.append(float(reward))
        policy.tell(decision, float(reward))


def test_the_mean_of_the_optimistic_posterior_equals_an_integral() -> None:
    """Actions 1 and −1: θ ~ N(m, v) tilted by exp(c |θ|). Planted: one round more, and no unit of the noise."""
    noise, rate, n, eta = 2.0, 0.4, 12, 0.5
    policy = sb.rivals.FeelGoodTS(
        np.array([[1.0], [-1.0]]), sb.SpikeSlab(1.0, 1.5), noise, n_draws=40_000, optimism=rate, likelihood=eta, seed=3
    )
    rewards = np.random.default_rng(5).standard_normal(n)
    total = 0.0
    for reward in rewards:
        decision = policy.ask()
        total += float(decision.features[0]) * float(reward)
        policy.tell(decision, float(reward))
    precision = 1 / 1.5 + eta * n / noise
    mean, deviation = eta * total / noise / precision, 1 / math.sqrt(precision)

    def exact(strength: float) -> float:
        def density(theta: float) -> float:
            return math.exp(strength * abs(theta)) * float(stats.norm.pdf(theta, mean, deviation))

        top, bottom = (integrate.quad(f, -15, 15, points=[0.0])[0] for f in (lambda x: abs(x) * density(x), density))
        return float(top / bottom)

    rule = policy.rule
    assert isinstance(rule, sb.rivals.FeelGood)
    draws, _ = optimistic_posterior(sb.rules.Beliefs(policy.posterior, policy.actions.features), rate, None, eta)
    sizes = np.abs(draws.theta[:, 0])
    found = float(draws.weights @ sizes)
    error = math.sqrt(float(np.square(draws.weights * (sizes - found)).sum()))
    strength = rate * n / math.sqrt(noise)
    assert_means_agree(np.array([found]), np.array([exact(strength)]), np.array([error]))
    for planted in (rate * (n + 3) / math.sqrt(noise), rate * n, strength / math.sqrt(eta)):
        with pytest.raises(AssertionError, match="z-score"):
            assert_means_agree(np.array([found]), np.array([exact(planted)]), np.array([error]))


def test_without_optimism_it_is_sparse_thompson_sampling() -> None:
    """Planted: some optimism, which plays something else within 60 rounds."""

    def history(policy: sb.Policy) -> list[tuple[int, float]]:
        rng, found = np.random.default_rng(2), []
        for _ in range(60):
            decision = policy.ask()
            found.append((decision.action, decision.probability))
            policy.tell(decision, float(decision.features[0] + rng.standard_normal()))
        return found

    given: Any = {"prior": sb.SpikeSlab(0.4, 0.5), "noise_variance": 1.0, "n_draws": 300, "seed": 4}
    plain = history(sb.SparseTS(some_actions(8, 4), intercept=False, **given))
    assert history(sb.rivals.FeelGoodTS(some_actions(8, 4), optimism=0.0, **given)) == plain
    assert history(sb.rivals.FeelGoodTS(some_actions(8, 4), optimism=0.3, **given)) != plain


def test_it_plays_as_often_as_it_says() -> None:
    """Decisions that await their reward count for nothing, so asking again is another draw from the same weights."""
    policy = sb.rivals.FeelGoodTS(some_actions(8, 4), sb.SpikeSlab(0.4, 0.5), 1.0, n_draws=500, optimism=1.0, seed=0)
    for reward in (0.5, -0.2, 1.0, 0.3, 0.8):
        policy.tell(policy.ask(), reward)
    decisions = [policy.ask() for _ in range(2000)]
    said = {d.action: d.probability for d in decisions}
    assert all(d.probability == said[d.action] for d in decisions)
    action = max(said, key=lambda a: said[a])
    assert 0.1 < said[action] < 0.9
    count = sum(d.action == action for d in decisions)
    assert stats.binomtest(count, 2000, said[action]).pvalue > 1e-5
    plain = policy.predict().optimal_probability[action]
    assert stats.binomtest(count, 2000, plain).pvalue < 1e-5, "planted: the weights before the tilt"


def test_the_power_of_the_likelihood() -> None:
    """A prior in units of the noise stays in those of σ. Planted: η = 1, and a prior in units of σ/√η."""
    actions, eta = some_actions(6, 3), 0.25
    prior = sb.SpikeSlab(1.0, 0.7, of_noise=True)
    policy = sb.rivals.FeelGoodTS(actions, prior, NOISE, engine="enumeration", n_draws=50, likelihood=eta, seed=0)
    x, y = [], []
    for reward in np.random.default_rng(1).standard_normal(10):
        decision = policy.ask()
        policy.tell(decision, float(reward))
        x.append(decision.features)
        y.append(float(reward))

    def ridge(power: float, slab: float) -> FloatArray:
        precision = np.eye(3) / slab + power * np.array(x).T @ np.array(x) / NOISE
        return np.asarray(np.linalg.solve(precision, power * np.array(x).T @ np.array(y) / NOISE))

    np.testing.assert_allclose(policy.posterior.mean(), ridge(eta, 0.7 * NOISE), atol=1e-10)
    for planted in (ridge(1.0, 0.7 * NOISE), ridge(eta, 0.7 * NOISE / eta)):
        assert np.abs(policy.posterior.mean() - planted).max() > 1e-3


@pytest.mark.parametrize("noise", [None, sb.InverseGammaNoise(2.0, 2.0), np.ones(3)])
def test_tempering_needs_one_known_noise_variance(noise: Any) -> None:
    for policy in (sb.rivals.FeelGoodTS, sb.rivals.SOIDS):
        with pytest.raises(ArgumentError, match="likelihood"):
            policy(np.eye(3), noise_variance=noise, likelihood=0.5)
        policy(np.eye(3), noise_variance=2.0, likelihood=0.5)  # with the default prior, in units of the noise


def test_a_degenerate_tilt_shows() -> None:
    policy = sb.rivals.FeelGoodTS(some_actions(), sb.SpikeSlab(0.4, 0.5), 1.0, n_draws=500, optimism=1e3, seed=0)
    policy.tell(policy.ask(), 1.0)
    notes = policy.ask().reasons.notes
    assert notes["effective draws"] < 2 < 50 < notes["effective draws before the tilt"]


def test_the_unit_of_rewards_does_not_matter() -> None:
    played = []
    for unit in (1.0, 1024.0):
        prior, noise = sb.SpikeSlab(0.4, 0.5 * unit**2), NOISE * unit**2
        policy = sb.rivals.FeelGoodTS(some_actions(), prior, noise, n_draws=300, optimism=0.3, seed=0)
        rng = np.random.default_rng(0)
        for _ in range(15):
            decision = policy.ask()
            policy.tell(decision, unit * float(rng.standard_normal()))
            played.append((decision.action, round(decision.probability, 9)))
    assert played[:15] == played[15:]


def test_regret_on_an_easy_instance() -> None:
    """With 99% confidence its mean regret is below 0.3 of guessing's; planted: rewards of the wrong sign."""
    environment = sb.environments.GaussianActions(5, 2, n_actions=10, noise_variance=0.1)

    def make(instance: sb.environments.Instance, seed: int) -> sb.Policy:
        prior = sb.SpikeSlab(0.4, 0.5)
        return sb.rivals.FeelGoodTS(instance.actions, prior, 0.1, n_draws=500, seed=seed)

    assert share_of_guessing(make, environment) < 0.3
    assert share_of_guessing(make, environment, sign=-1.0) > 0.3
