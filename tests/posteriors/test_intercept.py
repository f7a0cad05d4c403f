"""An intercept with a flat prior is integrated out: against a coordinate of its own with a very wide prior.

The smallest bugs that these tests catch: contrasts that are not scaled, and a mean that forgets the weights (planted
below).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.model.features import Level
from sparsebandits.rules.beliefs import Beliefs
from tests.statistical import assert_means_agree

D, ROWS, LEVEL = 4, 12, 50.0
PRIOR = sb.SpikeSlab(0.4, 1.0)
LEARNT = sb.InverseGammaNoise(2.0, 1.0)


def engines(variance: Any) -> dict[str, Callable[[int], Any]]:
    rewards = sb.Gaussian(variance, intercept=True)
    return {
        "Conjugate": lambda seed: sb.Conjugate(sb.GaussianPrior(1.0), D, seed=seed, rewards=rewards),
        "Enumeration": lambda seed: sb.Enumeration(PRIOR, D, seed=seed, rewards=rewards),
        "Particles": lambda seed: sb.Particles(PRIOR, D, n_draws=2000, seed=seed, rewards=rewards),
        "Gibbs": lambda seed: sb.Gibbs(PRIOR, D, n_draws=4000, seed=seed, rewards=rewards),
    }


def data() -> tuple[FloatArray, FloatArray, FloatArray]:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((ROWS, D)) + np.array([5.0, 0.0, -20.0, 1.0])
    return x, LEVEL + x @ [1.0, 0.0, -0.8, 0.0] + rng.standard_normal(ROWS), rng.uniform(0.1, 5.0, ROWS)


def with_ones(x: FloatArray) -> FloatArray:
    return np.column_stack((np.ones(len(x)), x))


def test_conjugate_has_the_posterior_of_a_wide_column_of_ones() -> None:
    x, y, weights = data()
    flat = engines(0.5)["Conjugate"](0)
    flat.update(x[:5], y[:5], weights[:5])
    flat.update(x[5:], y[5:], weights[5:])
    wide = sb.Conjugate(sb.GaussianPrior(np.array([1e10, *np.ones(D)])), D + 1, 0.5)
    wide.update(with_ones(x), y, weights)
    np.testing.assert_allclose(flat.mean(), wide.mean()[1:], rtol=1e-5)
    np.testing.assert_allclose(flat.covariance(), wide.covariance()[1:, 1:], rtol=1e-5, atol=1e-9)
    new = np.random.default_rng(1).standard_normal((6, D))
    beliefs = Beliefs(flat, new)
    np.testing.assert_allclose(beliefs.means, with_ones(new) @ wide.mean(), rtol=1e-5)
    np.testing.assert_allclose(beliefs.variances + beliefs.level_variance, wide.variances(with_ones(new)), rtol=1e-5)


@pytest.mark.parametrize("variance", [0.5, LEARNT], ids=["known noise", "learnt noise"])
def test_enumeration_has_the_posterior_of_a_wide_column_of_ones(variance: Any) -> None:
    x, y, weights = data()
    flat = engines(variance)["Enumeration"](0)
    flat.update(x, y, weights)
    prior = sb.SpikeSlab(np.array([1.0, *np.full(D, 0.4)]), np.array([1e8, *np.ones(D)]))
    wide = sb.Enumeration(prior, D + 1, variance)
    wide.update(with_ones(x), y, weights)
    np.testing.assert_allclose(flat.inclusion(), wide.inclusion()[1:], rtol=1e-4)
    np.testing.assert_allclose(flat.mean(), wide.mean()[1:], rtol=1e-4)
    assert flat.noise_variance == pytest.approx(wide.noise_variance, rel=1e-4)


@pytest.mark.parametrize("variance", [0.5, LEARNT], ids=["known noise", "learnt noise"])
@pytest.mark.parametrize("name", ["Particles", "Gibbs"])
def test_sampling_engines_have_it_too(name: str, variance: Any) -> None:
    x, y, weights = data()
    exact = engines(variance)["Enumeration"](0)
    exact.update(x, y, weights)
    found = []
    for seed in range(24):
        engine = engines(variance)[name](seed)
        engine.update(x, y, weights)
        found.append(np.concatenate((engine.inclusion(), engine.mean())))
    expected = np.concatenate((exact.inclusion(), exact.mean()))
    error = np.std(found, axis=0, ddof=1) / np.sqrt(24) + 2e-3
    assert_means_agree(np.mean(found, axis=0), expected, error)


@pytest.mark.parametrize("name", engines(0.5))
def test_the_level_of_rewards_does_not_matter(name: str) -> None:
    x, y, _ = data()
    one, other = engines(0.5)[name](1), engines(0.5)[name](1)
    one.update(x, y)
    other.update(x, y + 1e6)
    np.testing.assert_allclose(one.mean(), other.mean(), atol=1e-6)
    assert other.level.reward - one.level.reward == pytest.approx(1e6)


@pytest.mark.parametrize("name", ["Conjugate", "Enumeration"])
def test_neither_order_nor_batches_matter(name: str) -> None:
    """Rewards come late, in another order, singly and in batches, from any actions."""
    x, y, weights = data()
    one, other = engines(0.5)[name](1), engines(0.5)[name](1)
    one.update(x, y, weights)
    order = np.random.default_rng(2).permutation(ROWS)
    for rows in (order[:1], order[1:2], order[2:7], order[7:]):
        other.update(x[rows], y[rows], weights[rows])
    np.testing.assert_allclose(one.mean(), other.mean(), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(one.variances(x), other.variances(x), rtol=1e-9)
    np.testing.assert_allclose(one.level.features, other.level.features)


def test_the_first_reward_says_nothing_about_the_features() -> None:
    for name, make in engines(0.5).items():
        engine, untouched = make(0), make(0)
        engine.update(np.ones(D), 1e9)
        np.testing.assert_array_equal(engine.inclusion(), untouched.inclusion(), err_msg=name)
        assert engine.level.reward == 1e9


@pytest.mark.parametrize("planted", ["not scaled", "mean without weights"])
def test_planted_bugs_are_caught(planted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = Level.contrasts

    def wrong(self: Level, x: FloatArray, y: FloatArray, weights: FloatArray | None = None) -> Any:
        if planted == "mean without weights":
            return right(self, x, y, None)
        rows, rewards, level = right(self, x, y, weights)
        k = np.arange(1.0, len(rewards) + 1)
        return rows * np.sqrt((k + 1) / k)[:, np.newaxis], rewards * np.sqrt((k + 1) / k), level

    monkeypatch.setattr(Level, "contrasts", wrong)
    with pytest.raises(AssertionError):
        test_conjugate_has_the_posterior_of_a_wide_column_of_ones()
