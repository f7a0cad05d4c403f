"""The data of Figure 1: to the bit those that the stored results were computed from."""

import json
from typing import Any

import numpy as np
import pytest
from papers.hao2021 import figure1
from papers.hao2021.verdicts import RESULTS

import sparsebandits as sb
from sparsebandits.environments import sparse_regression
from tests.statistical import assert_means_agree


def inline(seed: int, noise_first: bool = False) -> tuple[Any, Any]:
    """Figure 1's data by spawned seeds and the rows of GaussianActions, as the stored results were made."""
    seeds = np.random.SeedSequence(seed).spawn(2)
    of_rows, of_noise = reversed(seeds) if noise_first else seeds
    x = sb.environments.GaussianActions(10, 1, n_actions=100, correlation=0.6).sample(of_rows).actions
    theta = np.array([3.0, 2.0, 0, 0, 0, 0, 0, 0, 0, 0])
    return x, x @ theta + np.random.default_rng(of_noise).standard_normal(100)


@pytest.mark.parametrize("seed", [0, 1, 7, 199])
def test_the_data_are_those_of_the_stored_results_to_the_bit(seed: int) -> None:
    data, (x, y) = sparse_regression(seed), inline(seed)
    assert data.x.tobytes() == x.tobytes()
    assert data.y.tobytes() == y.tobytes()
    assert data.theta.tolist() == figure1.TRUTH.tolist()
    assert data.y.tobytes() != inline(seed, noise_first=True)[1].tobytes(), "planted: the seeds exchanged"


def test_the_exact_posterior_of_the_data_is_the_stored_one() -> None:
    """Errors of posterior means, by enumeration, against those of 10,000 particles in the stored file.

    Posterior deviations are at most 0.2, so means of particles that are worth 1000 draws are off by 0.0063 (one
    standard error); 5 of these is an error rate below 10⁻⁴ for the 15 numbers. Planted: the data of another seed.
    """
    stored = json.loads((RESULTS / figure1.FILE).read_text())["data sets"]
    prior = sb.SpikeSlab(figure1.BETA, figure1.NOISE_VARIANCE * figure1.LAMBDA1)
    apart: list[Any] = []
    planted: list[Any] = []
    for seed in range(5):
        data = sparse_regression(seed)
        posterior = sb.Enumeration(prior, 10, data.noise_variance)
        posterior.update(data.x, data.y)
        errors = np.abs(posterior.mean() - data.theta)[: figure1.SHOWN]
        for found, of in ((apart, seed), (planted, seed + 5)):
            kept = stored[of]["Particles (exact), point-mass spike"]
            found.append(np.abs(errors - [kept[name] for name in figure1.ERRORS]))
    assert np.max(apart) < 5 * 0.0063
    assert np.max(planted) > 5 * 0.0063


def test_rows_and_noise_have_the_law_that_is_asked_for() -> None:
    theta = np.array([1.0, 0.0, -2.0, 0.5])
    data = sparse_regression(3, theta, n_rows=40_000, correlation=-0.3, noise_variance=0.5)
    assert (data.x.shape, data.y.shape, data.noise_variance) == ((40_000, 4), (40_000,), 0.5)
    covariance = data.x.T @ data.x / 40_000
    expected = (-0.3) ** np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    diagonal = np.outer(np.diag(expected), np.diag(expected))
    assert_means_agree(covariance.ravel(), expected.ravel(), np.sqrt((diagonal + expected**2) / 40_000).ravel())
    noise = data.y - data.x @ theta
    found, error = np.array([noise.mean(), (noise**2).mean()]), np.full(2, np.sqrt(0.5 / 40_000))  # Var(ε²) = 2 · 0.5²
    assert_means_agree(found, np.array([0.0, 0.5]), error)
    with pytest.raises(AssertionError, match="z-score"):  # planted: 0.5 is the deviation
        assert_means_agree(found, np.array([0.0, 0.25]), error)


def test_the_same_rows_whatever_the_truth() -> None:
    one, other = sparse_regression(4, [1.0, 0.0]), sparse_regression(4, [0.0, 5.0], noise_variance=9.0)
    assert one.x.tobytes() == other.x.tobytes()
    np.testing.assert_allclose((other.y - 5.0 * other.x[:, 1]) / 3.0, one.y - one.x[:, 0], atol=1e-12)
    assert sparse_regression(5, [1.0, 0.0]).x.tobytes() != one.x.tobytes()
    assert sparse_regression(None).y.tobytes() != sparse_regression(None).y.tobytes()
    assert sparse_regression(np.random.SeedSequence(4), [1.0, 0.0]).y.tobytes() == one.y.tobytes()


def test_a_data_set_reads_well_and_cannot_be_changed() -> None:
    theta = np.array([0.0, 2.0])
    data = sparse_regression(0, theta, n_rows=3)
    theta[0] = 1.0
    assert repr(data) == "RegressionData(3 rows of 2 features of which 1 matter, noise variance 1)"
    for array in (data.x, data.y, data.theta):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0
    with pytest.raises(AttributeError):
        data.y = data.x  # type: ignore[misc]
