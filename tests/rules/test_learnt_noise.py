"""The mutual information where each draw has a noise variance of its own, by quadrature, fine grids and sampling."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import logsumexp, rel_entr

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.posteriors import Draws
from sparsebandits.rules import Beliefs, learnt_noise
from sparsebandits.rules.best import Best
from sparsebandits.rules.information import information
from sparsebandits.rules.learnt_noise import mutual_information_of_learnt_noise
from sparsebandits.rules.mutual_information import mutual_information
from sparsebandits.rules.optima import best_actions
from tests.rules.test_information import random_problem


def by_quadrature(draws: Draws, actions: FloatArray, variances: FloatArray) -> FloatArray:
    """Σ_g P(g) KL(f_g ‖ f), each integral by adaptive quadrature between places that are near some draw or other."""
    best = (draws.theta @ actions.T).argmax(axis=1)
    deviations = np.sqrt(variances)
    result = []
    for action in actions:
        means = draws.theta @ action

        def integrand(y: float, means: FloatArray = means) -> float:
            density = (
                draws.weights * np.exp(-0.5 * ((y - means) / deviations) ** 2) / deviations / math.sqrt(2 * math.pi)
            )
            inside = np.bincount(best, density)
            share = np.bincount(best, draws.weights)
            return float(rel_entr(inside, share * inside.sum()).sum())

        cuts = np.unique(np.concatenate([means + z * deviations for z in (-12.0, -5.0, -2.0, 0.0, 2.0, 5.0, 12.0)]))
        result.append(
            math.fsum(
                integrate.quad(integrand, low, high, epsabs=1e-13, epsrel=1e-10, limit=200)[0]
                for low, high in pairwise(cuts.tolist())
            )
        )
    return np.array(result)


def few_variances(seed: int, ratio: float) -> tuple[Draws, FloatArray, FloatArray]:
    """Eight draws of three variances, the largest of which is ``ratio`` times the smallest."""
    draws, actions = random_problem(seed, 8, 4, 2)
    chosen = np.random.default_rng(seed).integers(0, 3, size=8)
    return draws, actions, 0.2 * np.array([1.0, math.sqrt(ratio), ratio])[chosen]


@pytest.mark.parametrize("ratio", [1.0, 2.0, 30.0, 1e4, 1e8])
@pytest.mark.parametrize("seed", [0, 1])
def test_equals_quadrature(seed: int, ratio: float) -> None:
    draws, actions, variances = few_variances(seed, ratio)
    found = mutual_information_of_learnt_noise(draws, actions, variances)
    np.testing.assert_allclose(found, by_quadrature(draws, actions, variances), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("planted", ["mean variance", "coarse", "short reach"])
def test_what_is_wrong_is_caught(planted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the mean variance for all draws, five nodes per interval, or densities that end at three deviations."""
    draws, actions, variances = few_variances(0, 30.0)
    if planted == "mean variance":
        found = mutual_information(draws, actions, float(draws.weights @ variances))
    else:
        monkeypatch.setattr(learnt_noise, *(("NODES", 5) if planted == "coarse" else ("REACH", 3)))
        learnt_noise._rule.cache_clear()
        found = mutual_information_of_learnt_noise(draws, actions, variances)
        learnt_noise._rule.cache_clear()
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(found, by_quadrature(draws, actions, variances), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("noise_variance", [0.05, 0.5, 3.0, 50.0])
def test_equal_variances_are_a_known_noise(noise_variance: float) -> None:
    draws, actions = random_problem(0, 300, 6, 3)
    known = mutual_information(draws, actions, noise_variance, nodes_per_deviation=8)
    found = mutual_information_of_learnt_noise(draws, actions, np.full(300, noise_variance))
    np.testing.assert_allclose(found, known, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("spread", [0.1, 1.0, 2.0])
def test_many_variances_equal_a_fine_grid(spread: float) -> None:
    """No variance occurs twice; a uniform grid of forty nodes per smallest deviation is the other way to do it."""
    draws, actions = random_problem(1, 150, 3, 2)
    variances = np.exp(spread * np.random.default_rng(0).standard_normal(150))
    deviations = np.sqrt(variances)
    best = (draws.theta @ actions.T).argmax(axis=1)
    share = np.bincount(best, draws.weights)
    expected = []
    for action in actions:
        means = draws.theta @ action
        grid = np.arange((means - 10 * deviations).min(), (means + 10 * deviations).max(), deviations.min() / 40)
        joint = np.zeros((len(share), len(grid)))
        for mean, deviation, weight, group in zip(means, deviations, draws.weights, best, strict=True):
            joint[group] += weight * stats.norm.pdf(grid, mean, deviation)
        expected.append(rel_entr(joint, share[:, np.newaxis] * joint.sum(axis=0)).sum() * (grid[1] - grid[0]))
    found = mutual_information_of_learnt_noise(draws, actions, variances)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


def test_equals_sampling_for_a_posterior() -> None:
    """E log f(Y | x*) / f(Y) over 20,000 rewards of the posterior of a policy, within four standard errors."""
    rng = np.random.default_rng(0)
    actions = rng.standard_normal((12, 8))
    rewards = sb.Gaussian(sb.InverseGammaNoise(0.5, 0.1))
    policy = sb.SparseIDS(actions, rewards=rewards, n_draws=2000, seed=0, intercept=False)
    x = actions[rng.integers(12, size=8)]
    policy.posterior.update(x, x[:, 0] + rng.standard_normal(8))
    draws, variances = policy.posterior.draws(), policy.posterior.learnt()["noise_variance"]
    _, weights, group = Best(best_actions(draws.theta, actions), draws.weights).draws()
    np.testing.assert_array_equal(weights, draws.weights)  # no draw is shared
    deviations, size = np.sqrt(variances), 20_000
    beliefs = Beliefs(policy.posterior, actions)
    for row in (int(beliefs.mutual_information.argmax()), int(beliefs.mutual_information.argmin())):
        means = draws.theta @ actions[row]
        chosen = rng.choice(len(draws), size=size, p=draws.weights)
        y = means[chosen] + deviations[chosen] * rng.standard_normal(size)
        tells = np.empty(size)
        for start in range(0, size, 1000):
            part = slice(start, start + 1000)
            z = (y[part, np.newaxis] - means) / deviations
            logs = np.log(draws.weights) - 0.5 * z * z - np.log(deviations)
            mine = group == group[chosen[part]][:, np.newaxis]
            share = (mine * draws.weights).sum(axis=1)
            own = logsumexp(np.where(mine, logs, -np.inf), axis=1) - np.log(share)
            tells[part] = own - logsumexp(logs, axis=1)
        error = tells.std() / math.sqrt(size)
        assert abs(tells.mean() - beliefs.mutual_information[row]) < 4 * error
    plugged = mutual_information(draws, actions, policy.posterior.noise_variance)
    row = int(beliefs.mutual_information.argmin())
    assert abs(tells.mean() - plugged[row]) > 4 * error, "planted: the mean variance in place of all would show"


def test_the_size_of_a_reward_tells() -> None:
    """Two draws of the same mean for one action, whose noise differs: the rewards differ in size alone."""
    draws, actions = (
        Draws(np.array([[0.0, 1.0], [0.0, -1.0]]), np.array([0.5, 0.5])),
        np.array([[1.0, 0.0], [0.5, 1.0]]),
    )
    actions = np.vstack((actions, [0.5, -1.0]))
    variances = np.array([1.0, 9.0])
    found = mutual_information_of_learnt_noise(draws, actions, variances)

    def integrand(y: float) -> float:
        inside = 0.5 * stats.norm.pdf(y, 0.0, np.sqrt(variances))
        return float(rel_entr(inside, 0.5 * inside.sum()).sum())

    assert found[0] == pytest.approx(2 * integrate.quad(integrand, 0.0, 40.0, epsabs=1e-12)[0], abs=1e-9)
    assert found[0] > 0.1
    assert mutual_information(draws, actions, 5.0)[0] == pytest.approx(0.0, abs=1e-12)


def test_variances_of_all_magnitudes() -> None:
    """A draw of the deviation 1e25 beside two of 0.01: each reward tells which draw it is of, at little cost."""
    draws = Draws(np.array([[1.0], [-1.0], [-2.0]]), np.array([0.45, 0.45, 0.1]))
    actions = np.array([[1.0], [-1.0]])
    found = mutual_information_of_learnt_noise(draws, actions, np.array([1e-4, 1e-4, 1e50]))
    expected = -0.45 * math.log(0.45) - 0.55 * math.log(0.55)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert information(draws, actions).entropy == pytest.approx(expected)


def test_units_weights_and_order_do_not_matter() -> None:
    draws, actions, variances = few_variances(1, 100.0)
    found = mutual_information_of_learnt_noise(draws, actions, variances)
    scaled = mutual_information_of_learnt_noise(
        Draws(draws.theta * 2.0**30, draws.weights), actions, variances * 2.0**60
    )
    np.testing.assert_allclose(scaled, found, rtol=1e-12)
    order = np.random.default_rng(0).permutation(8)
    permuted = Draws(draws.theta[order], draws.weights[order])
    np.testing.assert_allclose(
        mutual_information_of_learnt_noise(permuted, actions, variances[order]), found, rtol=1e-10
    )
    weights = np.concatenate((draws.weights, [0.0, 5e-324]))
    more = Draws(np.vstack((draws.theta, draws.theta[:2] + 5.0)), weights / weights.sum())
    found_more = mutual_information_of_learnt_noise(more, actions, np.append(variances, [1e-9, 1e9]))
    np.testing.assert_allclose(found_more, found, rtol=1e-10)


def test_one_action_best_everywhere_has_nothing_to_learn() -> None:
    draws = Draws(np.array([[1.0, 0.1], [2.0, 0.1]]), np.array([0.5, 0.5]))
    assert not mutual_information_of_learnt_noise(
        draws, np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, 4.0])
    ).any()


NOISE = sb.InverseGammaNoise(2.0, 1.0)
POINT = sb.SpikeSlab(0.4, 0.5)


@pytest.mark.parametrize("engine", [sb.Particles, sb.Gibbs, sb.Enumeration])
def test_beliefs_integrate_over_what_is_learnt(engine: Any) -> None:
    rng = np.random.default_rng(0)
    actions, x = rng.standard_normal((6, 3)), rng.standard_normal((5, 3))
    y = x[:, 0] + rng.standard_normal(5)
    learnt, known = engine(POINT, 3, NOISE, n_draws=400, seed=0), engine(POINT, 3, 0.7, n_draws=400, seed=0)
    for posterior in (learnt, known):
        posterior.update(x, y)
    beliefs, variances = Beliefs(learnt, actions), learnt.learnt()["noise_variance"]
    expected = mutual_information_of_learnt_noise(learnt.draws(), actions, variances)
    np.testing.assert_array_equal(beliefs.mutual_information, expected)
    np.testing.assert_array_equal(Beliefs(learnt, actions).mutual_information_of(np.array([4, 1])), expected[[4, 1]])
    np.testing.assert_array_equal(
        Beliefs(known, actions).mutual_information, mutual_information(known.draws(), actions, known.noise_variance)
    )
    level = engine(POINT, 3, rewards=sb.Gaussian(NOISE, intercept=True), n_draws=400, seed=0)
    level.update(x, y)  # the level of rewards, of which there are five, adds σ²/5 to the noise of the next
    found, variances = Beliefs(level, actions), 1.2 * level.learnt()["noise_variance"]
    np.testing.assert_allclose(
        found.mutual_information,
        mutual_information_of_learnt_noise(level.draws(), actions - x.mean(axis=0), variances, found.best),
        rtol=1e-9,
    )
    differing = np.linspace(0.5, 2.0, 6)
    np.testing.assert_array_equal(
        Beliefs(known, actions, differing).mutual_information, mutual_information(known.draws(), actions, differing)
    )


def test_draws_of_the_noise_by_enumeration() -> None:
    """Their mean is the exact one, they go with θ, and they are saved."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((8, 3))
    posterior = sb.Enumeration(POINT, 3, NOISE, n_draws=40_000, seed=0)
    posterior.update(x, 2.0 * x[:, 0] + rng.standard_normal(8))
    noise = posterior.learnt()["noise_variance"]
    error = noise.std() / math.sqrt(len(noise))
    assert abs(noise.mean() - posterior.noise_variance) < 4.5 * error
    other = sb.Enumeration(POINT, 3, NOISE, n_draws=40_000, seed=1)
    other.restore(posterior.state())
    np.testing.assert_array_equal(other.learnt()["noise_variance"], noise)
    theta = posterior.draws().theta
    gibbs = sb.Gibbs(POINT, 3, NOISE, n_draws=40_000, seed=0)
    gibbs.evidence.restore(posterior.evidence.state())
    product = gibbs.draws().theta[:, 0] * gibbs.learnt()["noise_variance"]
    together = (theta[:, 0] * noise).mean()
    assert together == pytest.approx(product.mean(), abs=0.03)
    apart = (theta[:, 0] * np.roll(noise, 1)).mean()
    assert abs(apart - product.mean()) > 0.03, "planted: variances of other draws would show"
    assert sb.Enumeration(POINT, 3, 1.0).learnt() == {}
