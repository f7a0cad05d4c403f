import numpy as np
import pytest

import sparsebandits as sb
from tests.statistical import assert_means_agree


def test_actions_have_the_stated_covariance() -> None:
    environment = sb.environments.GaussianActions(dimension=5, sparsity=2, n_actions=40_000, correlation=0.6)
    actions = environment.sample(0).actions
    expected = 0.6 ** np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    error = np.sqrt((1 + expected**2) / len(actions))
    assert_means_agree(actions.T @ actions / len(actions), expected, error)
    assert_means_agree(actions.mean(axis=0), np.zeros(5), np.full(5, 1 / np.sqrt(len(actions))))
    with pytest.raises(AssertionError, match="z-score"):  # planted: a correlation off by 0.05
        assert_means_agree(actions.T @ actions / len(actions), expected + 0.05 * (expected < 1), error)


def test_theta_is_sparse_of_unit_norm_and_uniform_over_supports() -> None:
    environment = sb.environments.GaussianActions(dimension=6, sparsity=2, n_actions=3)
    thetas = np.array([environment.sample(seed).theta for seed in range(3000)])
    assert (np.count_nonzero(thetas, axis=1) == 2).all()
    np.testing.assert_allclose(np.linalg.norm(thetas, axis=1), 1.0)
    assert_means_agree((thetas != 0).mean(axis=0), np.full(6, 1 / 3), np.full(6, np.sqrt(2 / 9 / 3000)))
    assert_means_agree(thetas.mean(axis=0), np.zeros(6), np.full(6, np.sqrt(1 / 6 / 3000)))
    with pytest.raises(AssertionError, match="z-score"):  # planted: only positive coordinates
        assert_means_agree(np.abs(thetas).mean(axis=0), np.zeros(6), np.full(6, np.sqrt(1 / 6 / 3000)))


def test_same_seed_same_instance() -> None:
    environment = sb.environments.GaussianActions(dimension=6, sparsity=2)
    first, again, other = environment.sample(3), environment.sample(3), environment.sample(4)
    assert first.actions.tobytes() == again.actions.tobytes()
    assert first.theta.tobytes() == again.theta.tobytes()
    assert first.theta.tobytes() != other.theta.tobytes()


@pytest.mark.parametrize("correlation", [-1.0, 0.0, 1.0])
def test_extreme_correlations(correlation: float) -> None:
    actions = sb.environments.GaussianActions(dimension=3, sparsity=1, correlation=correlation).sample(0).actions
    if correlation:
        np.testing.assert_allclose(actions[:, 1], correlation * actions[:, 0])
    assert np.isfinite(actions).all()


def test_an_instance_cannot_be_changed() -> None:
    instance = sb.environments.GaussianActions(dimension=3, sparsity=1).sample(0)
    for array in (instance.actions, instance.theta, instance.means, instance.gaps):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0
