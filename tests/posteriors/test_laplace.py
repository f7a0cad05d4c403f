"""Laplace's approximation: its mode, its Hessian and its evidence, each against numbers computed otherwise.

The smallest bugs that these tests catch: the Fisher information in place of the observed one, an intercept without its
prior, and a mode that is not searched for again (planted below).
"""

import itertools
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.attacks.interrupts import content, interrupted
from scipy import integrate, optimize, stats

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.files import pack, unpack
from sparsebandits.model.families import Linked
from sparsebandits.posteriors import laplace
from tests.statistical import assert_means_agree

D = 3
PRIOR = sb.GaussianPrior([0.5, 2.0, 1.0], [0.3, 0.0, -0.2])
FAMILIES: dict[str, Any] = {
    "logit": sb.Bernoulli(),
    "logit, intercept": sb.Bernoulli(intercept=True),
    "probit": sb.Bernoulli(link="probit"),
    "probit, intercept": sb.Bernoulli(link="probit", intercept=True),
    "counts": sb.Poisson(),
    "counts, intercept": sb.Poisson(intercept=True),
}
INTERCEPT_VARIANCE = {"logit": 9.0, "probit": 3.0, "counts": 25.0}
every_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


def data(family: Linked, n: int = 60, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Return features and rewards; half of the rows are of five actions."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, D))
    x[::2] = x[:5][rng.integers(5, size=len(x[::2]))]
    means = family.mean(x @ [0.8, -0.5, 0.0] - 0.5)
    return x, np.array([family.drawn(mean, rng.random()) for mean in means])


def engine(family: Any, **given: Any) -> sb.Laplace:
    return sb.Laplace(PRIOR, D, seed=1, rewards=family, **given)


def log_posterior(family: Any, x: FloatArray, y: FloatArray, weights: Any = 1.0) -> Any:
    """Return the log posterior of (α, θ), normalised but for the likelihood's constant, written row by row."""
    mean, variance = PRIOR.moments(D)
    spread = INTERCEPT_VARIANCE[getattr(family, "link", "counts")] ** 0.5

    def density(beta: FloatArray) -> float:
        alpha, theta = (beta[0], beta[1:]) if family.intercept else (0.0, beta)
        eta = alpha + x @ theta
        if isinstance(family, sb.Poisson):
            likelihood = stats.poisson.logpmf(y, np.exp(eta)) + np.log([float(np.prod(np.arange(1, k + 1))) for k in y])
        else:
            distribution = stats.logistic if family.link == "logit" else stats.norm
            likelihood = np.where(y == 1, distribution.logcdf(eta), distribution.logsf(eta))
        total = float(np.sum(weights * likelihood) + np.sum(stats.norm.logpdf(theta, mean, np.sqrt(variance))))
        return total + (float(stats.norm.logpdf(alpha, 0.0, spread)) if family.intercept else 0.0)

    return density


def hessian(density: Any, at: FloatArray, step: float = 1e-4) -> FloatArray:
    """Return second derivatives by central differences."""
    sides = step * np.eye(len(at))
    return np.array(
        [
            [
                density(at + one + two) - density(at + one - two) - density(at - one + two) + density(at - one - two)
                for two in sides
            ]
            for one in sides
        ]
    ) / (4 * step**2)


def parameters(posterior: sb.Laplace) -> tuple[FloatArray, FloatArray]:
    """Return mean and covariance of (α, θ)."""
    root = posterior._prior_deviation[:, np.newaxis] * posterior._fit.root
    return posterior._prior_mean + posterior._prior_deviation * posterior._fit.mode, root @ root.T


@every_family
def test_mode_hessian_and_evidence(family: Any) -> None:
    x, y = data(family)
    weights = np.random.default_rng(1).uniform(0.2, 3.0, len(y))
    posterior = engine(family)
    posterior.update(x, y, weights)
    density = log_posterior(family, x, y, weights)
    mode, covariance = parameters(posterior)

    def misfit(beta: FloatArray) -> float:
        return -float(density(beta))

    found = optimize.minimize(misfit, np.zeros(len(mode)), method="BFGS", tol=1e-8)
    np.testing.assert_allclose(mode, found.x, atol=1e-5)
    assert density(mode) >= density(found.x) - 1e-12
    precision = -hessian(density, mode)
    np.testing.assert_allclose(np.linalg.inv(covariance), precision, rtol=1e-5, atol=1e-4)
    evidence = density(mode) + 0.5 * len(mode) * np.log(2 * np.pi) - 0.5 * np.linalg.slogdet(precision)[1]
    assert posterior.log_evidence == pytest.approx(evidence, abs=1e-5)
    np.testing.assert_array_equal(posterior.mean(), mode[-D:])
    np.testing.assert_allclose(posterior.covariance(), covariance[-D:, -D:], rtol=1e-12)
    assert posterior.health().good
    assert "approximate" in str(posterior.health())
    np.testing.assert_array_equal(posterior.inclusion(), np.ones(D))


@pytest.mark.parametrize("planted", ["Fisher information", "flat intercept", "stale mode"])
def test_planted_bugs_are_caught(planted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if planted == "Fisher information":
        monkeypatch.setattr(sb.Bernoulli, "derivatives", Linked.derivatives)
    elif planted == "flat intercept":
        monkeypatch.setattr(sb.Bernoulli, "intercept_variance", 100.0)
    else:
        monkeypatch.setattr(laplace, "MOST_STEPS", 1)
    with pytest.raises(AssertionError):
        test_mode_hessian_and_evidence(FAMILIES["probit, intercept"])


@every_family
def test_neither_order_nor_batches_matter(family: Any) -> None:
    x, y = data(family)
    weights = np.random.default_rng(1).uniform(0.2, 3.0, len(y))
    whole, single, shuffled = engine(family), engine(family), engine(family)
    whole.update(x, y, weights)
    for row, reward, weight in zip(x, y, weights, strict=True):
        single.update(row, reward, weight)
    order = np.random.default_rng(2).permutation(len(y))
    for rows in (order[:1], order[1:20], order[20:]):
        shuffled.update(x[rows], y[rows], weights[rows])
    for other in (single, shuffled):
        np.testing.assert_allclose(other.mean(), whole.mean(), atol=1e-10)
        np.testing.assert_allclose(other.covariance(), whole.covariance(), atol=1e-10)
        assert other.log_evidence == pytest.approx(whole.log_evidence, abs=1e-9)
    assert len(whole.evidence.rows) < len(y)


@every_family
def test_discounted_rewards_have_smaller_powers(family: Any) -> None:
    x, y = data(family)
    half_life, weights = 7.0, np.random.default_rng(1).uniform(0.2, 3.0, len(y))
    discounted = engine(replace(family, forgetting=sb.Discount(half_life)))
    discounted.update(x[:20], y[:20], weights[:20])
    for row, reward, weight in zip(x[20:], y[20:], weights[20:], strict=True):
        discounted.update(row, reward, weight)
    plain, undiscounted = engine(family), engine(replace(family, forgetting=sb.Discount(np.inf)))
    plain.update(x, y, weights * 0.5 ** (np.arange(len(y))[::-1] / half_life))
    np.testing.assert_allclose(discounted.mean(), plain.mean(), atol=1e-10)
    np.testing.assert_allclose(discounted.covariance(), plain.covariance(), atol=1e-10)
    plain = engine(family)
    for one in (plain, undiscounted):
        one.update(x, y, weights)
    assert content(undiscounted.state()) == content(plain.state())


def test_a_count_with_an_exposure_is_several() -> None:
    one, several = engine(sb.Poisson()), engine(sb.Poisson())
    one.update([1.0, -0.5, 2.0], 3, exposure=4.0)
    several.update(np.tile([1.0, -0.5, 2.0], (4, 1)), [1, 0, 2, 0])
    np.testing.assert_allclose(one.mean(), several.mean(), atol=1e-10)
    np.testing.assert_allclose(one.covariance(), several.covariance(), atol=1e-10)


@every_family
def test_no_data_give_the_prior(family: Any) -> None:
    posterior = engine(family, n_draws=20_000)
    np.testing.assert_array_equal(posterior.mean(), PRIOR.mean)
    np.testing.assert_allclose(posterior.covariance(), np.diag(PRIOR.variance))
    assert posterior.log_evidence == 0.0
    draws = posterior.draws()
    assert (draws.intercepts is None) is not family.intercept
    if draws.intercepts is not None:
        assert stats.kstest(draws.intercepts, stats.norm(0, family.intercept_variance**0.5).cdf).pvalue > 1e-5


@pytest.mark.parametrize("family", [sb.Bernoulli(), sb.Bernoulli("probit"), sb.Poisson()], ids=str)
def test_the_error_vanishes_with_the_number_of_rewards(family: Any) -> None:
    """Against quadrature at d = 1: the relative errors of mean, variance and evidence are of order 1/n."""

    def errors(n: int) -> FloatArray:
        eta, weight = 0.7, n / 10  # ten rewards at η, which count n / 10 times each
        successes = round(10 * float(family.mean(np.array(eta))))
        y = np.zeros(10)
        y[:successes] = 1.0
        if isinstance(family, sb.Poisson):
            y[:] = np.where(np.arange(10) < successes - 10, 2.0, 1.0)
        posterior = sb.Laplace(sb.GaussianPrior(1.0), 1, rewards=family)
        posterior.update(np.ones((10, 1)), y, weight)
        mode, deviation = posterior.mean()[0], posterior.covariance()[0, 0] ** 0.5

        def mass(theta: float, power: int) -> float:
            eta = np.array(theta)
            log = family.log_likelihood(eta, weight * y.sum(), 10 * weight) + stats.norm.logpdf(theta)
            return float(np.exp(log - posterior.log_evidence) * ((theta - mode) / deviation) ** power)

        total, first, second = (
            integrate.quad(mass, mode - 12 * deviation, mode + 12 * deviation, args=(k,), epsabs=1e-12)[0]
            for k in range(3)
        )
        mean = first / total
        return np.array([np.log(total), mean**2, second / total - mean**2 - 1.0])

    few, many = np.abs(errors(200)), np.abs(errors(20_000))
    assert few.max() < 0.05
    assert (many < few / 50).all()


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_separable_data(link: str) -> None:
    """All successes on one side, all failures on the other: the prior alone keeps the mode finite."""
    posterior = sb.Laplace(sb.GaussianPrior(100.0), 1, rewards=sb.Bernoulli(link))
    x, y = np.repeat([[1.0], [-1.0]], 500, axis=0), np.repeat([1.0, 0.0], 500)
    posterior.update(x, y)
    theta = posterior.mean()[0]
    log = stats.logistic.logpdf(theta) if link == "logit" else stats.norm.logpdf(theta)
    cdf = stats.logistic.logcdf(theta) if link == "logit" else stats.norm.logcdf(theta)
    assert 1000 * np.exp(log - cdf) == pytest.approx(theta / 100.0, rel=1e-9)
    assert posterior.health().good


@pytest.mark.parametrize("scale", [1e-40, 1e-8, 1e8, 1e10])
@every_family
def test_extreme_scales(family: Any, scale: float) -> None:
    posterior = sb.Laplace(sb.GaussianPrior(1.0), 2, rewards=family, seed=0)
    for _ in range(20):
        posterior.update([scale, 0.0], 1.0)
    posterior.update([scale, scale], 0.0)
    assert posterior.health().good
    assert np.isfinite(posterior.draws().theta).all()
    assert posterior.mean()[1] < 0.0
    unseen = sb.Laplace(sb.GaussianPrior(1.0), 2, rewards=family)
    unseen.update([scale, 0.0], 1.0)
    assert unseen.covariance()[1, 1] == pytest.approx(1.0)


def test_copies_of_large_features_do_not_hide_the_prior() -> None:
    """X'WX is 10^18 times the prior's precision; what no reward tells anything about keeps its prior."""
    posterior = sb.Laplace(sb.GaussianPrior(1.0), 2, rewards=sb.Bernoulli())
    for reward in (1.0, 0.0, 1.0):
        posterior.update([1e9, 1e9], reward)
    assert posterior.variances(np.array([[1.0, -1.0]]) / np.sqrt(2.0)) == pytest.approx(1.0, rel=1e-6)


def test_a_search_that_fails_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laplace, "MOST_STEPS", 2)
    posterior = engine(sb.Bernoulli())
    posterior.update(*data(sb.Bernoulli()))
    assert not posterior.health().good
    assert "NOT found after 2 steps" in str(posterior.health())


@every_family
def test_the_mode_is_found_wherever_it_is(family: Any) -> None:
    """At the limits of what is accepted, one after the other and all together."""
    for mean, deviation, x, weight in itertools.product(
        (-19.0, 0.0, 19.0), (1e-25, 1.0, 1e9), (1e-9, 1.0), (1.0, 1e11)
    ):
        posterior = sb.Laplace(sb.GaussianPrior(deviation**2, mean), 2, rewards=family, n_draws=10, seed=0)
        far = [1e9 / deviation if mean == 0.0 else 1.0, 0.0]
        for row, reward, times in (([x, 0], 1, weight), ([x, -x / 3], 0, weight), ([0.5, -x], 1, 1), (far, 1, 1)):
            posterior.update(row, reward, times)
            assert posterior.health().good
        assert np.isfinite(posterior.draws().theta).all()
        assert np.isfinite(posterior.log_evidence)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            ([2e10], 1.0),
            r"^x: expected features times prior standard deviations of magnitude at most 1e\+10, got 2e\+10$",
        ),
        (([-100.0], 1.0), r"^x: expected features with η at the prior mean of magnitude at most 20, got 100$"),
        (([1.0], 2e12), r"^y: expected sums of rewards per row of magnitude at most 1e\+12, got 2e\+12$"),
        (([1.0], 0.0, 2e12), r"^weight: expected sums of weights per row of magnitude at most 1e\+12, got 2e\+12$"),
    ],
)
def test_what_is_out_of_reach_is_refused(given: Any, message: str) -> None:
    posterior = sb.Laplace(sb.GaussianPrior(1.0, 1.0), 1, rewards=sb.Poisson())
    posterior.update([1.0], 3.0)
    before = content(posterior.state())
    with pytest.raises(ValueError, match=message):
        posterior.update(*given)
    assert content(posterior.state()) == before


@pytest.mark.parametrize("family", [sb.Bernoulli(), sb.Poisson(intercept=True)], ids=str)
def test_draws_have_the_moments(family: Any) -> None:
    posterior = engine(family, n_draws=20_000)
    before = posterior.draws()
    posterior.update(*data(family))
    draws = posterior.draws()
    assert draws.theta is not before.theta
    assert draws is posterior.draws()
    mean, covariance = parameters(posterior)
    found = draws.theta if draws.intercepts is None else np.column_stack((draws.intercepts, draws.theta))
    deviation = np.sqrt(np.diag(covariance))
    assert_means_agree(found.mean(axis=0), mean, deviation / np.sqrt(20_000))
    scaled, correlation = (found - mean) / deviation, covariance / np.outer(deviation, deviation)
    assert_means_agree(scaled.T @ scaled / 20_000, correlation, np.sqrt((1 + correlation**2) / 20_000))
    picked = posterior.sample(np.random.default_rng(0), 5)
    assert all((draws.theta == row).all(axis=1).any() for row in picked)
    assert posterior.picks_from_draws
    x = np.random.default_rng(0).standard_normal((4, D))
    np.testing.assert_allclose(posterior.variances(x), np.diag(x @ posterior.covariance() @ x.T), rtol=1e-12)
    np.testing.assert_allclose(posterior.covariance_times(x[0]), posterior.covariance() @ x[0], rtol=1e-12)


def test_what_it_tells_a_person() -> None:
    posterior = engine(sb.Bernoulli(intercept=True), n_draws=20_000)
    posterior.update(*data(sb.Bernoulli()))
    table = posterior.summary(names=["price", "size", "age"]).to_pandas().set_index("feature")
    np.testing.assert_allclose(table["mean"], posterior.mean(), atol=0.02)
    np.testing.assert_allclose(table["sd"], np.sqrt(np.diag(posterior.covariance())), rtol=0.05)
    np.testing.assert_allclose(table["odds ratio"], np.exp(table["mean"]))
    assert (table["P(included)"] == 1.0).all()
    assert posterior.to_xarray()["theta"].shape == (1, 20_000, D)
    assert "60 observations" in repr(posterior)


@every_family
@pytest.mark.parametrize("drawn", [False, True])
def test_continues_bit_for_bit(family: Any, drawn: bool, tmp_path: Path) -> None:
    x, y = data(family)
    posterior, loaded = engine(family), engine(family)
    posterior.draws()
    posterior.update(x[:30], y[:30])
    if drawn:
        posterior.draws()
    (tmp_path / "engine").write_bytes(pack("engine", 1, posterior.state()))
    loaded.restore(unpack(tmp_path / "engine", "engine", 1))
    assert content(loaded.state()) == content(posterior.state())
    for one in (posterior, loaded):
        one.draws()
        one.update(x[30:], y[30:])
        one.draws()
    assert content(loaded.state()) == content(posterior.state())


def test_states_of_other_engines_are_refused() -> None:
    with_intercept, without = engine(sb.Bernoulli(intercept=True)), engine(sb.Bernoulli())
    with pytest.raises(sb.SaveFileError, match="expected mode to have 4 numbers, got 3"):
        with_intercept.restore(without.state())
    with_intercept.draws()
    without.draws()
    state = {**with_intercept.state(), "drawn": without.state()["drawn"]}
    with pytest.raises(sb.SaveFileError, match="expected drawn to have intercepts if, and only if"):
        with_intercept.restore(state)


@every_family
def test_an_update_is_all_or_nothing(family: Any) -> None:
    x, y = data(family)
    before = engine(family)
    before.update(x[:5], y[:5])
    before.draws()
    after = deepcopy(before)
    after.update(x[5:8], y[5:8])
    number, fired = 1, True
    while fired:
        posterior = deepcopy(before)
        fired = interrupted(lambda: posterior.update(x[5:8], y[5:8]), number)  # noqa: B023
        assert content(posterior.state()) in (content(before.state()), content(after.state()))
        number += 5
    with pytest.raises(ValueError, match="reward: expected"):
        before.update(x[5:8], [1.0, 0.5, 1.0])
    assert before.evidence.count == 5


def test_what_it_does_not_serve_is_refused() -> None:
    with pytest.raises(TypeError, match=r"prior: expected a GaussianPrior, got 1\.0"):
        sb.Laplace(1.0, 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="rewards: expected Bernoulli or Poisson rewards for Laplace, got Gaussian"):
        sb.Laplace(PRIOR, D, rewards=sb.Gaussian(1.0))  # type: ignore[arg-type]
