from itertools import product

import numpy as np
import pytest

import sparsebandits as sb
from sparsebandits.environments import CubeInstance
from tests.statistical import assert_means_agree


def test_outcomes_against_all_corners() -> None:
    instance = sb.environments.Hypercube(dimension=5, sparsity=3).sample(0)
    corners = np.array(list(product([-1.0, 1.0], repeat=5)))
    means = np.array([sum(a * t for a, t in zip(corner, instance.theta, strict=True)) for corner in corners])
    assert instance.best == pytest.approx(means.max())
    for corner, mean in zip(corners, means, strict=True):
        found = instance.outcome(3, -1, corner)
        assert found.mean == pytest.approx(mean)
        assert found.regret == pytest.approx(means.max() - mean, abs=1e-12)
    assert instance.outcome(0, -1, np.sign(instance.theta)).regret == 0.0, "exactly, so that it does not add up"
    inside = np.array([0.5, 0.0, -0.1, 1.0, -1.0])
    assert instance.outcome(0, 4, inside).regret == pytest.approx(means.max() - inside @ instance.theta)
    with pytest.raises(ValueError, match=r"features: expected numbers from -1 to 1, got 1\.5 in magnitude"):
        instance.outcome(0, -1, 1.5 * inside)
    with pytest.raises(ValueError, match=r"features: expected shape \(5,\), got \(3,\)"):
        instance.outcome(0, -1, np.ones(3))


def test_theta_is_sparse_within_the_assumption_and_uniform_over_supports() -> None:
    environment = sb.environments.Hypercube(dimension=6, sparsity=2)
    thetas = np.array([environment.sample(seed).theta for seed in range(3000)])
    assert (np.count_nonzero(thetas, axis=1) == 2).all()
    np.testing.assert_allclose(np.abs(thetas).sum(axis=1), 1.0)
    assert_means_agree((thetas != 0).mean(axis=0), np.full(6, 1 / 3), np.full(6, np.sqrt(2 / 9 / 3000)))
    error = thetas.std(axis=0) / np.sqrt(3000)
    assert_means_agree(thetas.mean(axis=0), np.zeros(6), error)
    with pytest.raises(AssertionError, match="z-score"):  # planted: only positive coordinates
        assert_means_agree(np.abs(thetas).mean(axis=0), np.zeros(6), error)


def test_effects_of_one_size() -> None:
    theta = sb.environments.Hypercube(dimension=50, sparsity=10, effect=0.1).sample(1).theta
    assert sorted(set(np.abs(theta).tolist())) == [0.0, 0.1]
    assert 0 < (theta > 0).sum() < 10, "of both signs"
    assert np.abs(theta).sum() <= 1.0 + 1e-12


def test_same_seed_same_instance() -> None:
    environment = sb.environments.Hypercube(dimension=6, sparsity=2)
    first, again, other = environment.sample(3), environment.sample(3), environment.sample(4)
    assert first.theta.tobytes() == again.theta.tobytes() != other.theta.tobytes()
    with pytest.raises(ValueError, match="read-only"):
        first.theta[0] = 0.0


def test_an_instance_of_ones_own() -> None:
    instance = CubeInstance(np.array([0.5, -0.25]), 0.3)
    assert (instance.actions, instance.best, instance.noise_variance) == (2, 0.75, 0.3)
    assert repr(instance) == "CubeInstance(the cube of 2 features of which 2 matter, noise variance 0.3)"
