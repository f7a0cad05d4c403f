"""The conjugate posterior against fresh solves, and its weighted draws against its exact moments."""

import numpy as np
import pytest
from scipy import stats

from sparsebandits import Conjugate, GaussianPrior
from sparsebandits.arguments import FloatArray
from sparsebandits.posteriors import conjugate
from sparsebandits.posteriors.cloud import Weights
from tests.statistical import assert_means_agree


def fresh_solve(
    x: FloatArray, y: FloatArray, mean: FloatArray, variance: FloatArray, noise_variance: float
) -> tuple[FloatArray, FloatArray]:
    """Posterior mean and covariance from all data at once, by QR, which never forms X'X."""
    rows = np.vstack((x / np.sqrt(noise_variance), np.diag(1 / np.sqrt(variance))))
    targets = np.concatenate((y / np.sqrt(noise_variance), mean / np.sqrt(variance)))
    q, r = np.linalg.qr(rows)
    inverse = np.linalg.inv(r)
    return inverse @ (q.T @ targets), inverse @ inverse.T


def random_design(rng: np.random.Generator, n: int, d: int) -> FloatArray:
    return rng.standard_normal((n, d))


def one_action_again_and_again(rng: np.random.Generator, n: int, d: int) -> FloatArray:
    x = np.tile(rng.standard_normal(d), (n, 1))
    x[::1000] = rng.standard_normal((len(x[::1000]), d))
    return x


def features_of_all_scales(rng: np.random.Generator, n: int, d: int) -> FloatArray:
    return rng.standard_normal((n, d)) * np.logspace(-3, 2, d)


@pytest.mark.parametrize("design", [random_design, one_action_again_and_again, features_of_all_scales])
def test_accurate_after_100_000_updates(design) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(1)
    n, d, noise = 100_000, 10, 0.7
    mean, variance = rng.standard_normal(d), rng.uniform(0.5, 2.0, d)
    x = design(rng, n, d)
    y = x @ rng.standard_normal(d) + rng.standard_normal(n) * np.sqrt(noise)
    posterior = Conjugate(GaussianPrior(variance, mean), d, noise)
    for row, reward in zip(x, y, strict=True):
        posterior.update(row, reward)
    exact_mean, exact_covariance = fresh_solve(x, y, mean, variance, noise)
    deviation = np.sqrt(np.diag(exact_covariance))
    np.testing.assert_allclose(posterior.mean(), exact_mean, atol=1e-8, rtol=0)
    scaled_error = (posterior.covariance() - exact_covariance) / np.outer(deviation, deviation)
    assert np.abs(scaled_error).max() < 1e-8
    _, log_det = np.linalg.slogdet(exact_covariance)
    assert posterior.log_det_ratio == pytest.approx(np.log(variance).sum() - log_det, abs=1e-8)


def test_a_batch_across_the_drift_check_counts_once() -> None:
    rng = np.random.default_rng(0)
    n, d = conjugate.CHECK_EVERY + 30, 50
    x = rng.standard_normal((n, d))
    y = x @ rng.standard_normal(d) + rng.standard_normal(n)
    posterior = Conjugate(GaussianPrior(1.0), d, 1.0)
    for k in range(n - 31):
        posterior.update(x[k], y[k])
    posterior.update(x[n - 31 :], y[n - 31 :])
    mean, covariance = fresh_solve(x, y, np.zeros(d), np.ones(d), 1.0)
    np.testing.assert_allclose(posterior.mean(), mean, atol=1e-10)
    np.testing.assert_allclose(posterior.covariance(), covariance, atol=1e-10)


@pytest.mark.parametrize("noise", [1e-6, 1e-10])
def test_the_drift_check_does_no_harm_where_statistics_are_ill_conditioned(noise: float) -> None:
    rng = np.random.default_rng(0)
    actions = rng.standard_normal((2, 4))
    n = conjugate.CHECK_EVERY
    x = actions[np.arange(n) % 2]
    y = x @ rng.standard_normal(4)
    posterior = Conjugate(GaussianPrior(1.0), 4, noise)
    for row, reward in zip(x, y, strict=True):
        posterior.update(row, reward)
    q, _ = np.linalg.qr(actions.T, mode="complete")
    unseen = q[:, 2:]  # what no action tells anything about keeps its prior
    np.testing.assert_allclose(unseen.T @ posterior.covariance() @ unseen, np.eye(2), atol=1e-9)
    batch = Conjugate(GaussianPrior(1.0), 4, noise)
    batch.update(x[:8], y[:8])
    np.testing.assert_allclose(unseen.T @ batch.covariance() @ unseen, np.eye(2), atol=1e-9)


def test_a_large_batch_replaces_the_draws() -> None:
    posterior = Conjugate(GaussianPrior(0.5), 5, 1.0, n_draws=20_000, seed=3)
    posterior.draws()
    rng = np.random.default_rng(0)
    posterior.update(rng.standard_normal((30, 5)), rng.standard_normal(30))
    check_draws_against_moments(posterior)


def test_actions_that_share_a_feature_are_told_apart() -> None:
    posterior = Conjugate(GaussianPrior(0.5), 2, 1.0, n_draws=20_000, seed=3)
    posterior.draws()
    posterior.update([0.5, 0.1], 0.3)
    posterior.update([0.5, -0.4], -0.2)
    check_draws_against_moments(posterior)


def test_a_huge_reward_for_a_tiny_action_is_not_lost() -> None:
    posterior = Conjugate(GaussianPrior(1.0), 1, 1.0, n_draws=20_000, seed=0)
    posterior.draws()
    posterior.update([1e-9], 0.5e9)  # the likelihood is that of a mean shifted by a half
    assert posterior.draws().mean()[0] == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("n", [1, 3, 5, 6, 40])
def test_batch_equals_one_at_a_time(n: int) -> None:
    rng = np.random.default_rng(n)
    x, y = rng.standard_normal((n, 5)), rng.standard_normal(n)
    one, batch = (Conjugate(GaussianPrior(0.5, 0.2), 5, 2.0) for _ in range(2))
    batch.update(x, y)
    for row, reward in zip(x, y, strict=True):
        one.update(row, reward)
    np.testing.assert_allclose(batch.mean(), one.mean(), atol=1e-12)
    np.testing.assert_allclose(batch.covariance(), one.covariance(), atol=1e-12)
    assert batch.log_det_ratio == pytest.approx(one.log_det_ratio, abs=1e-12)


def test_no_data_gives_the_prior_back() -> None:
    posterior = Conjugate(GaussianPrior([1.0, 4.0], [3.0, -1.0]), 2, seed=0)
    np.testing.assert_array_equal(posterior.mean(), [3.0, -1.0])
    np.testing.assert_allclose(posterior.covariance(), np.diag([1.0, 4.0]))
    assert posterior.log_det_ratio == 0.0


def test_drift_is_seen_and_mended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conjugate, "CHECK_EVERY", 10)
    rng = np.random.default_rng(0)
    posterior = Conjugate(GaussianPrior(1.0), 4)
    for _ in range(9):
        posterior.update(rng.standard_normal(4), 1.0)
    assert posterior.drift() < 1e-12
    posterior._root[1, 2] += 1e-6  # planted: more than a million years of rounding
    assert posterior.drift() > conjugate.DRIFT
    posterior.update(rng.standard_normal(4), 1.0)
    assert posterior.drift() < 1e-12


@pytest.mark.parametrize("scale", [1e-40, 1e-8, 1e8, 1e40])
def test_extreme_scales_stay_finite_and_right(scale: float) -> None:
    posterior = Conjugate(GaussianPrior(1.0), 2, 1.0)
    for _ in range(50):
        posterior.update([scale, 0.0], 3.0 * scale)
    shrink = 50 * scale**2 / (1 + 50 * scale**2)
    np.testing.assert_allclose(posterior.mean(), [3.0 * shrink, 0.0], rtol=1e-9)
    np.testing.assert_allclose(posterior.covariance()[1, 1], 1.0, rtol=1e-9)


def history(posterior: Conjugate, rounds: int, seed: int) -> None:
    """Observe as a policy would: draws are asked for in every round, few actions are played often."""
    rng = np.random.default_rng(seed)
    actions = rng.standard_normal((6, posterior.dimension))
    for _ in range(rounds):
        posterior.draws()
        posterior.update(actions[rng.integers(6)], rng.standard_normal())


def check_draws_against_moments(posterior: Conjugate) -> None:
    """Mean and all second moments of the weighted draws, within what their effective number allows."""
    draws, mean, covariance = posterior.draws(), posterior.mean(), posterior.covariance()
    deviation = np.sqrt(np.diag(covariance))
    size = draws.effective_sample_size
    assert_means_agree(draws.mean(), mean, deviation / np.sqrt(size))
    scaled = (draws.theta - mean) / deviation
    second = (draws.weights[:, np.newaxis] * scaled).T @ scaled
    correlation = covariance / np.outer(deviation, deviation)
    assert_means_agree(second, correlation, np.sqrt((1 + correlation**2) / size))


def test_draws_match_the_exact_moments_while_reweighted_and_after_redrawing() -> None:
    posterior = Conjugate(GaussianPrior(0.5), 5, 1.0, n_draws=20_000, seed=3)
    kept = set()
    for k in range(12):
        history(posterior, rounds=1 + k, seed=k)
        check_draws_against_moments(posterior)
        kept.add(id(posterior.draws().theta))
    assert len(kept) < 12, "draws were never reused"


def test_a_wrong_likelihood_in_the_weights_is_caught() -> None:
    posterior = Conjugate(GaussianPrior(0.5), 5, 1.0, n_draws=20_000, seed=3)
    posterior.draws()
    assert posterior._cloud is not None
    posterior.update([0.5, 0.5, 0.5, 0.5, 0.5], 1.5)
    posterior._cloud.reweight(Weights.of(1.2 * posterior._cloud.weights.logs))  # planted: noise variance off by 20%
    with pytest.raises(AssertionError, match="z-score"):
        check_draws_against_moments(posterior)


def test_sample_has_the_posterior_distribution() -> None:
    posterior = Conjugate(GaussianPrior(0.5), 3, 1.0)
    history(posterior, rounds=10, seed=0)
    theta = posterior.sample(np.random.default_rng(0), 20_000)
    direction = np.array([1.0, -2.0, 0.5])
    deviation = np.sqrt(posterior.variances(direction[np.newaxis])[0])
    standard = (theta - posterior.mean()) @ direction / deviation
    assert stats.kstest(standard, "norm").pvalue > 1e-5
    assert stats.kstest(1.1 * standard, "norm").pvalue < 1e-5, "a deviation off by 10% has to be caught"


def test_same_theta_array_means_only_weights_changed() -> None:
    posterior = Conjugate(GaussianPrior(1.0), 2, noise_variance=100.0, n_draws=100, seed=0)
    before = posterior.draws()
    posterior.update([1.0, 0.0], 0.5)
    after = posterior.draws()
    assert after.theta is before.theta
    assert not np.array_equal(after.weights, before.weights)
    with pytest.raises(ValueError, match="read-only"):
        after.theta[0, 0] = 0.0


def test_projections_agree_with_the_covariance() -> None:
    posterior = Conjugate(GaussianPrior(0.5), 3, 1.0)
    history(posterior, rounds=10, seed=1)
    x = np.random.default_rng(0).standard_normal((4, 3))
    np.testing.assert_allclose(posterior.variances(x), np.diag(x @ posterior.covariance() @ x.T), rtol=1e-12)
    np.testing.assert_allclose(posterior.covariance_times(x[0]), posterior.covariance() @ x[0], rtol=1e-12)
    np.testing.assert_allclose(posterior.precision(), np.linalg.inv(posterior.covariance()), rtol=1e-9, atol=1e-9)


def test_other_priors_are_refused() -> None:
    with pytest.raises(TypeError, match=r"prior: expected a GaussianPrior, got 1\.0"):
        Conjugate(1.0, 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"prior\.variance: expected shape \(3,\), got \(2,\)"):
        Conjugate(GaussianPrior([1.0, 2.0]), 3)
