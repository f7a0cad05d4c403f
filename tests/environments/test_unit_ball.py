"""The unit ball: what points are worth, and the law of noise that is a vector."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

import sparsebandits as sb
from sparsebandits.environments import BallInstance
from sparsebandits.model.rewards import Gaussian
from sparsebandits.randomness import IndexedNormals, child
from tests.statistical import assert_means_agree


def test_outcomes_against_the_definition() -> None:
    instance = sb.environments.UnitBall(dimension=5, sparsity=3, norm=2.0, noise="support").sample(0)
    rng = np.random.default_rng(0)
    points = rng.standard_normal((50, 5))
    points *= rng.random((50, 1)) / np.linalg.norm(points, axis=1, keepdims=True)
    best = max(float(p @ instance.theta) / float(np.linalg.norm(p)) for p in np.vstack((points, instance.theta)))
    assert instance.best == pytest.approx(best)
    for point in points:
        found = instance.outcome(3, -1, point)
        assert found.mean == pytest.approx(sum(p * t for p, t in zip(point, instance.theta, strict=True)))
        assert found.regret == pytest.approx(best - found.mean, rel=1e-12)
        assert found.noise_scale <= 1.0
    assert instance.outcome(0, 4, np.zeros(5)).regret == pytest.approx(2.0)
    with pytest.raises(ValueError, match=r"features: expected a point of the unit ball, got one of norm 1\.1"):
        instance.outcome(0, -1, 1.1 * instance.theta / instance.best)
    with pytest.raises(ValueError, match=r"features: expected shape \(5,\), got \(3,\)"):
        instance.outcome(0, -1, np.ones(3))


def test_regret_is_never_negative() -> None:
    """Of many best actions, some exceed the best mean reward by rounding; planted: the plain difference."""
    plain = []
    for seed in range(200):
        instance = sb.environments.UnitBall(dimension=7, sparsity=4, norm=3.0).sample(seed)
        best = instance.outcome(0, -1, instance.theta / instance.best)
        plain.append(instance.best - best.mean)
        assert 0.0 <= best.regret < 1e-14
    assert min(plain) < 0.0


def rewards_of(instance: BallInstance, point: Any, rounds: int, scaled: bool = True) -> Any:
    noise, outcome = IndexedNormals(child(0, 1)), instance.outcome(0, -1, point)
    if not scaled:
        outcome = outcome._replace(noise_scale=1.0)
    return np.array([outcome.reward(t, instance.rewards, noise) for t in range(rounds)])


def test_rewards_have_the_law_of_a_noise_vector() -> None:
    """Against ⟨x, θ + η⟩ with η drawn as a vector; planted: noise that is added to the reward."""
    variances, point = np.array([0.1, 0.0, 1.5, 0.4]), np.array([0.5, -0.5, 0.5, 0.5])
    instance = BallInstance([1.0, 0.0, -1.0, 0.5], variances)
    vectors = np.sqrt(variances) * np.random.default_rng(0).standard_normal((20_000, 4))
    expected = (instance.theta + vectors) @ point
    assert stats.ks_2samp(rewards_of(instance, point, 4000), expected).pvalue > 1e-4
    assert stats.ks_2samp(rewards_of(instance, point, 4000, scaled=False), expected).pvalue < 1e-4
    assert set(rewards_of(instance, np.array([0.0, 1.0, 0.0, 0.0]), 5)) == {0.0}, "a coordinate without noise"


@pytest.mark.parametrize("noise", ["all", "support"])
def test_a_spread_direction_meets_little_noise(noise: str) -> None:
    """Its variance is σ²/d wherever the noise is; the best action has σ²/d or σ²/s."""
    instance = sb.environments.UnitBall(100, 4, noise_variance=2.0, noise=noise, equal=True).sample(1)
    assert instance.noise_variance == pytest.approx(2.0)
    assert instance.rewards == Gaussian(instance.noise_variance)
    spread = instance.outcome(0, -1, np.full(100, 0.1)).noise_scale
    assert 2.0 * spread**2 == pytest.approx(2.0 / 100)
    best = instance.outcome(0, -1, instance.theta / instance.best).noise_scale
    assert 2.0 * best**2 == pytest.approx(2.0 / (4 if noise == "support" else 100))


def test_theta_is_sparse_of_its_norm_and_uniform_over_supports() -> None:
    environment = sb.environments.UnitBall(dimension=6, sparsity=2, norm=3.0)
    thetas = np.array([environment.sample(seed).theta for seed in range(2000)])
    assert (np.count_nonzero(thetas, axis=1) == 2).all()
    np.testing.assert_allclose(np.linalg.norm(thetas, axis=1), 3.0)
    assert_means_agree((thetas != 0).mean(axis=0), np.full(6, 1 / 3), np.full(6, np.sqrt(2 / 9 / 2000)))
    error = thetas.std(axis=0) / np.sqrt(2000)
    assert_means_agree(thetas.mean(axis=0), np.zeros(6), error)
    with pytest.raises(AssertionError, match="z-score"):  # planted: only positive coordinates
        assert_means_agree(np.abs(thetas).mean(axis=0), np.zeros(6), error)
    equal = sb.environments.UnitBall(50, 25, norm=5.0, equal=True).sample(0).theta
    assert sorted(set(np.abs(equal).tolist())) == [0.0, 1.0]
    assert 0 < (equal > 0).sum() < 25, "of both signs"


def test_same_seed_same_instance() -> None:
    environment = sb.environments.UnitBall(dimension=6, sparsity=2)
    first, again, other = environment.sample(3), environment.sample(3), environment.sample(4)
    assert first.theta.tobytes() == again.theta.tobytes() != other.theta.tobytes()
    for array in (first.theta, first.noise_variances):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0


def test_an_instance_of_ones_own() -> None:
    instance = BallInstance([0.6, -0.8], [0.3, 0.0])
    assert (instance.actions, instance.best, instance.noise_variance) == (2, 1.0, 0.3)
    assert repr(instance) == "BallInstance(the unit ball of 2 features of which 2 matter, noise variance 0.3)"
    assert BallInstance(np.zeros(2), np.ones(2)).outcome(0, -1, np.array([1.0, 0.0])).regret == 0.0
    for theta, variances, message in (
        ([1.0, 0.0], [1.0], r"noise_variances: expected shape \(2,\), got \(1,\)"),
        ([1.0, 0.0], [1.0, -1.0], r"noise_variances: expected numbers of at least zero, got -1\.0"),
        ([1.0, 0.0], [0.0, 0.0], "noise_variances: expected a positive number"),
        ([], [], "theta: expected"),
        (1.0, 1.0, "theta: expected"),
    ):
        with pytest.raises(ValueError, match=message):
            BallInstance(theta, variances)
