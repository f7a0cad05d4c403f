"""SOIDS: surrogate regret and gain, minimiser and learning rates from their definitions, in plain loops and grids."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.policies.rivals.optimistic_posterior import default_rate
from sparsebandits.policies.rivals.soids import surrogate_gain, surrogate_regret
from sparsebandits.rules.best import Best
from sparsebandits.rules.optima import best_actions
from tests.policies.rivals.test_feel_good import NO_TIES, NOISE, tilted_in_a_loop
from tests.policies.table import share_of_guessing, some_actions


def textbook(
    draws: sb.posteriors.Draws, weights: FloatArray, rows: FloatArray, noises: FloatArray, centre: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return surrogate regret and surrogate gain of each action."""
    mean = sum(w * theta for w, theta in zip(weights, draws.theta, strict=True))
    regret, gain = np.zeros(len(rows)), np.zeros(len(rows))
    for k, a in enumerate(rows):
        for w, theta in zip(weights, draws.theta, strict=True):
            regret[k] += w * (max(float(b @ theta) for b in rows) - float(a @ theta))
            gain[k] += 0.5 * w * float((a - centre) @ (theta - mean)) ** 2 / noises[k]
    return regret, gain


def best_mixture(regret: FloatArray, gain: FloatArray, exponent: float = 2.0) -> float:
    """Return the least ratio over pairs of actions and a fine grid of probabilities."""
    q = np.linspace(0, 1, 401)[:, np.newaxis, np.newaxis]
    top = ((1 - q) * regret[:, np.newaxis] + q * regret) ** exponent
    with np.errstate(divide="ignore"):  # with an intercept, an action at the mean of past ones tells nothing
        return float((top / ((1 - q) * gain[:, np.newaxis] + q * gain)).min())


@pytest.mark.parametrize("selection", ["randomised", "deterministic"])
@pytest.mark.parametrize("kind", ["plain", "intercept", "noise by action"])
def test_regret_gain_and_minimiser(selection: str, kind: str) -> None:
    actions, rate = some_actions(6, 3), 0.2
    differing = kind == "noise by action"
    noises = np.linspace(0.2, 0.8, 6) if differing else np.full(6, NOISE)  # whose median is NOISE too
    policy = sb.rivals.SOIDS(
        actions,
        NO_TIES,
        noises if differing else NOISE,
        n_draws=100,
        optimism=rate,
        selection=selection,
        seed=1,
        intercept=kind == "intercept",
    )
    x: list[FloatArray] = []
    y: list[float] = []
    for t, reward in enumerate(np.random.default_rng(0).standard_normal(12)):
        draws = policy.posterior.draws()
        level, centre = (np.zeros(3), 0.0), np.zeros(3)
        if kind == "intercept":
            centre = np.mean(x, axis=0) if t else actions.mean(axis=0)
            level = (centre, float(np.mean(y)) if t else 0.0)
        weights = np.array(tilted_in_a_loop(draws, actions, t, rate, math.inf, level))
        regret, gain = textbook(draws, weights, actions, noises if differing else np.ones(6), centre)
        decision = policy.ask()
        columns, notes = decision.reasons.columns, decision.reasons.notes
        for k, a in enumerate(decision.reasons.candidates.tolist()):
            assert columns["surrogate regret"][k] == pytest.approx(regret[a], rel=1e-9, abs=1e-12)
            assert columns["surrogate gain"][k] == pytest.approx(gain[a], rel=1e-9, abs=1e-12)
        if selection == "deterministic":
            with np.errstate(divide="ignore"):
                assert decision.action == int((regret**2 / gain).argmin())
        else:
            best = best_mixture(regret, gain)
            assert best * (1 - 1e-3) < notes["ratio minimised"] < best * (1 + 1e-9)
        assert notes["effective draws"] == pytest.approx(1 / (weights @ weights))
        assert notes["optimism"] == (rate if t else 0.0)
        if t == 8:
            plain, _ = textbook(draws, draws.weights, actions, noises, centre)
            assert np.abs(plain - regret).max() > 1e-3, "planted: the posterior before the tilt"
        x.append(decision.features)
        y.append(float(reward))
        policy.tell(decision, float(reward))


def test_without_optimism_it_is_information_directed_sampling_for_the_whole_variance() -> None:
    """Regret as SparseIDS has it; the gain is ½ Var, which is at least half of what x* explains."""
    actions = some_actions(8, 4)
    given: Any = {"prior": NO_TIES, "noise_variance": 1.0, "n_draws": 2000, "seed": 0}
    policy = sb.rivals.SOIDS(actions, optimism=0.0, selection="deterministic", **given)
    for reward in (1.0, -0.5, 0.3, 2.0, 0.1):
        beliefs = sb.rules.Beliefs(policy.posterior, actions)
        predictions = beliefs.predictions
        centred = predictions - (predictions @ beliefs.draws.weights)[:, np.newaxis]
        half = 0.5 * (centred**2 @ beliefs.draws.weights)
        assert (half >= 0.5 * beliefs.variance_gain - 1e-12).all()
        decision = policy.ask()
        candidates, columns = decision.reasons.candidates, decision.reasons.columns
        np.testing.assert_allclose(columns["surrogate regret"], beliefs.expected_regret[candidates], atol=1e-12)
        np.testing.assert_allclose(columns["surrogate gain"], half[candidates], rtol=1e-9)
        assert decision.action == int((beliefs.expected_regret**2 / half).argmin())
        policy.tell(decision, reward)


@pytest.mark.parametrize(("s", "d", "rho2", "rho3"), [(4, 40, 80.0, 4e4), (5, 1000, 400.0, 2e4), (2.5, 6, 12.0, 300.0)])
@pytest.mark.parametrize("t", [1, 30, 1000])
def test_learning_rates_minimise_the_bounds(s: float, d: int, rho2: float, rho3: float, t: int) -> None:
    """Each bound from its definition, max_x of Δ − x/8λ on a grid; planted: λ twice as large.

    A grid of 2% resolves λ to that; the bound is flat, so it is the place of the minimum that is compared.
    """
    c = s * math.log(math.e * d / s) + s / 2 * math.log(1 + t)
    gains = np.geomspace(1e-12, 1e12, 20_001)

    def least(regret_of: Any) -> tuple[float, float]:
        def bound(log_rate: float) -> float:
            rate = math.exp(log_rate)
            return c / rate + t * float((regret_of(gains) - gains / (8 * rate)).max())

        found = optimize.minimize_scalar(bound, bounds=(-14, 6), method="bounded", options={"xatol": 1e-4})
        return math.exp(found.x), float(found.fun)

    second, bound2 = least(lambda x: np.sqrt(rho2 * x))
    third, bound3 = least(lambda x: np.cbrt(rho3 * x))
    rate = sb.rivals.LearningRate(s, d, rho2, rho3)
    assert rate.complexity(t) == pytest.approx(c)
    assert sb.rivals.LearningRate(s, d, rho2).at(t) == pytest.approx(second, rel=0.02)
    assert rate.at(t) == pytest.approx(max(second, third), rel=0.02)
    assert rate.at(t) != pytest.approx(2 * max(second, third), rel=0.02)
    assert sb.rivals.LearningRate(s, d, rho2, rho3, scale=0.5).at(t) == pytest.approx(rate.at(t) / 2)
    # Both bounds are of the order C/λ at their minimum: 2 and 3 times as large.
    assert bound2 == pytest.approx(2 * c / second, rel=0.02)
    assert bound3 == pytest.approx(3 * c / third, rel=0.02)


@pytest.mark.parametrize("seed", range(40))
def test_bounds_on_both_ratios_and_one_minimiser_for_both(seed: int) -> None:
    """ρ₂ and ρ₃ bound the least ratios of any weighted sparse draws; planted: a thousandth of ρ₂ does not."""
    rng = np.random.default_rng(seed)
    d, n_actions, s = int(rng.integers(2, 9)), int(rng.integers(9, 30)), 2
    actions = rng.standard_normal((n_actions, d))
    theta = np.zeros((200, d))
    for one in theta:
        one[rng.choice(d, s, replace=False)] = rng.standard_normal(s) * rng.gamma(1.0)
    draws = sb.posteriors.Draws(theta, rng.dirichlet(np.full(200, 0.3)))
    regret = surrogate_regret(Best(best_actions(draws.theta, actions), draws.weights))
    gain = surrogate_gain(draws, actions)
    bound = float(np.abs(actions @ theta.T).max())
    rate = default_rate(sb.policies.ActionSet.of(actions), None, False, s, bound)
    assert rate.ratio3 is not None
    least2, least3 = best_mixture(regret, gain), best_mixture(regret, gain, 3.0)
    assert rate.ratio2 / 1000 < least2 <= rate.ratio2 * 1.01
    assert least3 <= rate.ratio3 * 1.01
    found = sb.rules.minimise_over_distributions(regret, gain)
    mixed = [(1 - found.probability) * v[found.first] + found.probability * v[found.second] for v in (regret, gain)]
    assert mixed[0] ** 3 / mixed[1] <= 2 * least3 * 1.01


def test_the_default_learning_rate() -> None:
    """s from the prior, ρ₂ from d and K, ρ₃ from the best design: of the corners of a cube, C_min is 1."""
    cube = np.array([[a, b, c] for a in (-1.0, 1.0) for b in (-1.0, 1.0) for c in (-1.0, 1.0)])
    rate: Any = vars(sb.rivals.SOIDS(cube, sb.SpikeSlab(0.5, 1.0), 1.0, n_draws=50, bound=2.0).rule)["optimism"]
    assert rate == sb.rivals.LearningRate(1.5, 3, 6.0, rate.ratio3)
    assert rate.ratio3 == pytest.approx(108 * 2.0 * 1.5 / 1.0, rel=1e-3)
    flat = sb.rivals.SOIDS(np.array([[1.0, 0.0], [2.0, 0.0]]), sparsity=1, n_draws=50).rule
    assert vars(flat)["optimism"] == sb.rivals.LearningRate(1, 2, 4.0), "no design explores all features, so no ρ₃"
    assert vars(sb.rivals.FeelGoodTS(cube, n_draws=50).rule)["optimism"] == sb.rivals.LearningRate(1.0, 3, 6.0)


def test_it_plays_as_often_as_it_says() -> None:
    policy = sb.rivals.SOIDS(some_actions(9, 4), sb.SpikeSlab(0.4, 0.5), 1.0, n_draws=500, seed=0)
    for _ in range(30):
        decision = policy.ask()
        if 0.55 < max(decision.probability, 1 - decision.probability) < 0.95:  # of two actions, not as likely
            break
        policy.tell(decision, float(decision.features[0]))
    decisions = [policy.ask() for _ in range(2000)]
    first = decisions[0]
    assert 0.05 < first.probability < 0.95
    count = sum(d.action == first.action for d in decisions)
    assert stats.binomtest(count, 2000, first.probability).pvalue > 1e-5
    assert stats.binomtest(count, 2000, 1 - first.probability).pvalue < 1e-5, "planted: the other one's probability"


def test_regret_on_an_easy_instance() -> None:
    """With 99% confidence its mean regret is below a quarter of guessing's; planted: rewards of the wrong sign."""
    environment = sb.environments.GaussianActions(5, 2, n_actions=10, noise_variance=0.1)

    def make(instance: sb.environments.Instance, seed: int) -> sb.Policy:
        return sb.rivals.SOIDS(instance.actions, sb.SpikeSlab(0.4, 0.5), 0.1, n_draws=500, seed=seed)

    assert share_of_guessing(make, environment) < 1 / 4
    assert share_of_guessing(make, environment, sign=-1.0) > 1 / 4
