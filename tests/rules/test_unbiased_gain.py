"""The gain v from few draws, without the noise of the draws, against many draws of the exact posterior."""

import numpy as np
import pytest

import sparsebandits as sb
from sparsebandits.posteriors.draws import Draws
from sparsebandits.rules.information import information, unbiased
from sparsebandits.rules.mutual_information import mutual_information


@pytest.fixture(scope="module")
def problem() -> tuple[sb.Enumeration, np.ndarray]:
    """An exact posterior at d = 10 after a few rewards, and forty actions."""
    rng = np.random.default_rng(0)
    actions = rng.standard_normal((40, 10))
    posterior = sb.Enumeration(sb.SpikeSlab(0.3, 1.0), 10, 1.0, n_draws=100, seed=0)
    theta = np.where(np.arange(10) < 3, 1.0, 0.0)
    x = actions[rng.integers(40, size=8)]
    posterior.update(x, x @ theta + rng.standard_normal(8))
    return posterior, actions


def average(problem: tuple[sb.Enumeration, np.ndarray], draws: int, uneven: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean over 150 samples of v as it is and corrected; with uneven weights, by importance sampling."""
    posterior, actions = problem
    rng, plain, corrected = np.random.default_rng(1), [], []
    for _ in range(150):
        theta = posterior.sample(rng, draws)
        weights = np.full(draws, 1.0 / draws)
        if uneven:  # of draws that are repeated at random, and weighted by the inverse of how often
            weights = rng.gamma(1.0, size=draws)
            weights /= weights.sum()
        found = information(Draws(theta, weights), actions)
        plain.append(found.gain)
        corrected.append(found.unbiased_gain)
    return np.mean(plain, axis=0), np.mean(corrected, axis=0)


@pytest.mark.parametrize("uneven", [False, True])
def test_few_draws_give_the_gain_of_many(problem: tuple[sb.Enumeration, np.ndarray], uneven: bool) -> None:
    posterior, actions = problem
    many = Draws(posterior.sample(np.random.default_rng(2), 200_000), np.full(200_000, 5e-6))
    truth = information(many, actions).gain
    plain, corrected = average(problem, 400, uneven)
    too_large = plain / truth - 1.0
    left = corrected / truth - 1.0
    assert np.median(too_large) > 0.10  # the test can fail: as it is, the gain is too large
    assert abs(np.median(left)) < (0.5 if uneven else 0.2) * np.median(too_large)
    assert abs(np.median(left)) < (0.08 if uneven else 0.03)


def test_one_group_and_single_draws() -> None:
    gain, variances = np.array([0.0]), np.array([2.0])
    assert unbiased(gain, variances, 0.01, 0.01)[0] == 0.0
    assert unbiased(np.array([0.7]), variances, 1.0, 0.1)[0] == 0.7


@pytest.mark.parametrize(("noise_share", "square"), [(0.3, 0.0), (0.3, 0.02), (0.05, 0.04)])
def test_the_correction_undoes_the_expectation(noise_share: float, square: float) -> None:
    """E v̂ = v + c (T − v) − q T and E T̂ = (1 − q) T, by the derivation in docs/mathematics.md."""
    gain, variances = np.array([0.0, 0.3, 2.0]), np.array([1.0, 1.0, 2.0])
    drawn = gain + noise_share * (variances - gain) - square * variances
    np.testing.assert_allclose(unbiased(drawn, (1.0 - square) * variances, noise_share, square), gain, atol=1e-12)


def test_variances_of_rewards(problem: tuple[sb.Enumeration, np.ndarray]) -> None:
    """By the compiled kernel for sparse draws, and by the product for dense ones, against a plain loop."""
    posterior, actions = problem
    rng = np.random.default_rng(3)
    for theta in (posterior.sample(rng, 60), rng.standard_normal((60, 10))):
        for sparse in (theta, np.where(rng.random(theta.shape) < 0.15, theta, 0.0)):
            weights = rng.dirichlet(np.ones(60))
            found = information(Draws(sparse, weights), actions).best
            for centre in (None, rng.standard_normal(10)):
                rewards = sparse @ (actions if centre is None else actions - centre).T
                slow = [float(np.sum(weights * (r - np.sum(weights * r)) ** 2)) for r in rewards.T]
                np.testing.assert_allclose(found.reward_variances(centre), slow, atol=1e-10)


@pytest.mark.parametrize("heavy", [False, True])
def test_variances_from_some_of_the_draws(heavy: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """As for many actions with many features: right on average, and within some per cent, heavy tails or not."""
    rng = np.random.default_rng(5)
    actions, centre, ratios = rng.standard_normal((200, 60)), rng.standard_normal(60), []
    for _ in range(5):
        theta = np.where(rng.random((3000, 60)) < 0.1, rng.standard_normal((3000, 60)), 0.0)
        if heavy:
            theta *= 1.0 / np.sqrt(rng.gamma(0.5, size=(3000, 1)))  # Cauchy
        best = information(Draws(theta, rng.dirichlet(np.ones(3000))), actions).best
        exact = best.reward_variances(centre)
        with monkeypatch.context() as patch:
            patch.setattr("sparsebandits.rules.best.MOST_PRODUCTS", 0)
            ratios.append(best.reward_variances(centre) / exact)
            assert (ratios[-1] != 1.0).any(), "another way"
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.03)
    assert np.std(ratios) < 0.1
    flat = information(Draws(np.zeros((4, 60)), np.full(4, 0.25)), actions).best
    monkeypatch.setattr("sparsebandits.rules.best.MOST_PRODUCTS", 0)
    assert not flat.reward_variances().any()


def test_the_share_of_noise() -> None:
    theta = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    weights = np.array([0.5, 0.2, 0.3])
    best = information(Draws(theta, weights), np.eye(2)).best
    assert best.noise_share == pytest.approx((0.25 + 0.04) / 0.7 + 0.09 / 0.3)


def test_the_share_of_noise_where_actions_tie() -> None:
    """A draw of zeros is shared by all actions that the draws cannot tell apart, and counts by the share squared."""
    theta = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    weights = np.array([0.4, 0.4, 0.2])
    best = information(Draws(theta, weights), np.eye(2)).best
    assert best.probability.tolist() == pytest.approx([0.5, 0.5])
    assert best.noise_share == pytest.approx(2 * (0.4**2 + 0.1**2) / 0.5)


def test_the_entropy_of_few_draws_of_two_actions() -> None:
    """By simulation: as it is, too small by 1/2n; corrected, right."""
    rng, found = np.random.default_rng(0), []
    for _ in range(2000):
        first = rng.random(50) < 0.2
        known = information(Draws(np.column_stack((first, ~first)).astype(float), np.full(50, 0.02)), np.eye(2))
        found.append((known.entropy, known.unbiased_entropy))
    plain, corrected = np.mean(found, axis=0) - (0.2 * np.log(5.0) + 0.8 * np.log(1.25))
    assert plain == pytest.approx(-0.01, abs=0.003)
    assert abs(corrected) < 0.003
    even = information(Draws(np.eye(2), np.full(2, 0.5)), np.eye(2))
    assert even.unbiased_entropy == pytest.approx(np.log(2.0)), "it is at most log K"


def test_mutual_information_and_entropy_of_few_draws(problem: tuple[sb.Enumeration, np.ndarray]) -> None:
    posterior, actions = problem
    draws = Draws(posterior.sample(np.random.default_rng(2), 50_000), np.full(50_000, 2e-5))
    many = information(draws, actions[:8])
    truth = mutual_information(draws, actions[:8], 1.0, many.best)
    rng, plain, corrected, entropies = np.random.default_rng(1), [], [], []
    for _ in range(40):
        few = sb.Enumeration(posterior.prior, 10, 1.0, n_draws=100, seed=int(rng.integers(10**6)))
        few.restore({**posterior.state(), "rng": few.state()["rng"], "drawn": None})
        beliefs = sb.rules.Beliefs(few, actions[:8])
        corrected.append(beliefs.unbiased_mutual_information)
        plain.append(beliefs.mutual_information)
        entropies.append((beliefs.information.entropy, beliefs.information.unbiased_entropy))
    too_large, left = np.mean(plain, axis=0) / truth - 1.0, np.mean(corrected, axis=0) / truth - 1.0
    assert np.median(too_large) > 0.08
    assert abs(np.median(left)) < 0.4 * np.median(too_large)
    before, after = np.mean(entropies, axis=0) - many.entropy
    assert before < -0.005
    assert abs(after) < 0.6 * abs(before)


def test_heavy_tails_do_not_hide_in_some_of_the_draws() -> None:
    """Before the first rewards a few draws of the default prior have nearly all of the variance; v is a part of it."""
    actions = np.random.default_rng(1).standard_normal((100, 20))
    for seed in range(3):
        policy = sb.SparseIDS(actions, seed=seed)
        known = sb.rules.Beliefs(policy.posterior, actions - actions.mean(axis=0)).information
        assert (known.gain <= known.reward_variance * (1.0 + 1e-9)).all()
