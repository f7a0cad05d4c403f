"""Enumeration against densities written out in full: every model's evidence as a normal density of the rewards."""

from itertools import combinations

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import betaln, gammaln, logsumexp

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.posteriors.enumeration import Mixture
from tests.statistical import assert_means_agree


def data(n: int, d: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d))
    theta = np.where(np.arange(d) < 2, 0.8, 0.0)
    return x, x @ theta + rng.standard_normal(n)


def by_hand(
    x: FloatArray, y: FloatArray, prior: sb.SpikeSlab, noise_variance: float
) -> tuple[float, FloatArray, FloatArray, FloatArray]:
    """Log evidence, inclusion, mean and second moment, each model from N(y; Xm, σ²I + XDX') and regression formulas."""
    d = x.shape[1]
    unit = noise_variance if prior.of_noise else 1.0
    mean_1, variance_1 = prior.slab(d)[0], unit * prior.slab(d)[1]
    spike = unit * prior.spike.variance if isinstance(prior.spike, sb.GaussianSpike) else 0.0
    logs, means, seconds, models = [], [], [], []
    for size in range(d + 1):
        for model in combinations(range(d), size):
            inside = np.isin(np.arange(d), model)
            m, v = np.where(inside, mean_1, 0.0), np.where(inside, variance_1, spike)
            covariance_y = noise_variance * np.eye(len(y)) + (x * v) @ x.T
            residual = y - x @ m
            log_det = np.linalg.slogdet(2 * np.pi * covariance_y)[1]
            log_likelihood = -0.5 * (log_det + residual @ np.linalg.solve(covariance_y, residual))
            if isinstance(prior.inclusion, sb.BetaInclusion):
                a, b = prior.inclusion.a, prior.inclusion.b
                log_prior = betaln(a + size, b + d - size) - betaln(a, b)
            else:
                beta = prior.inclusions(d)
                with np.errstate(divide="ignore"):
                    log_prior = np.where(inside, np.log(beta), np.log(1 - beta)).sum()
            gain = (v[:, np.newaxis] * x.T) @ np.linalg.inv(covariance_y)
            mean = m + gain @ residual
            covariance = np.diag(v) - gain @ (x * v)
            logs.append(log_prior + log_likelihood)
            means.append(mean)
            seconds.append(covariance + np.outer(mean, mean))
            models.append(inside)
    evidence = float(logsumexp(logs))
    weights = np.exp(np.array(logs) - evidence)
    return (
        evidence,
        weights @ np.array(models),
        weights @ np.array(means),
        np.einsum("m,mij->ij", weights, np.array(seconds)),
    )


PRIORS = {
    "point mass": sb.SpikeSlab(0.3, 0.7),
    "per coordinate": sb.SpikeSlab([0.1, 0.5, 0.9, 0.2], [0.5, 1.0, 2.0, 0.1], [0.0, 1.0, -1.0, 0.3]),
    "forced": sb.SpikeSlab([1.0, 0.0, 0.4, 0.4], 0.7, 0.2),
    "Beta": sb.SpikeSlab(sb.BetaInclusion(1.0, 3.0), 0.7),
    "Gaussian spike": sb.SpikeSlab(0.3, 0.7, 0.1, sb.GaussianSpike(0.01)),
    "of noise": sb.SpikeSlab(0.3, [0.5, 1.0, 2.0, 0.1], 0.3, of_noise=True),
    "Gaussian spike of noise": sb.SpikeSlab(0.3, 0.7, 0.1, sb.GaussianSpike(0.01), of_noise=True),
}


@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
@pytest.mark.parametrize("n", [0, 1, 3, 30])
def test_equals_densities_by_hand(prior: sb.SpikeSlab, n: int) -> None:
    x, y = data(n, 4)
    posterior = sb.Enumeration(prior, 4, 0.6)
    for row, reward in zip(x, y, strict=True):
        posterior.update(row, reward)
    evidence, inclusion, mean, second = by_hand(x, y, prior, 0.6)
    assert posterior.log_evidence == pytest.approx(evidence, abs=1e-10)
    np.testing.assert_allclose(posterior.inclusion(), inclusion, atol=1e-10)
    np.testing.assert_allclose(posterior.mean(), mean, atol=1e-10)
    np.testing.assert_allclose(posterior.second_moment(), second, atol=1e-10)
    assert posterior.left_out == 0.0


def test_a_diagonal_gram_factorises() -> None:
    """One-hot actions: each coordinate is on its own, its inclusion a ratio of two normal densities of its mean."""
    d, noise, variance, beta = 10, 0.5, 0.8, 0.2
    counts = np.arange(1, d + 1)
    means = np.linspace(-1.5, 1.5, d)
    posterior = sb.Enumeration(sb.SpikeSlab(beta, variance), d, noise)
    for j, (count, value) in enumerate(zip(counts, means, strict=True)):
        posterior.update(np.eye(d)[[j] * count], np.full(count, value))
    slab = stats.norm.pdf(means, 0, np.sqrt(variance + noise / counts))
    spike = stats.norm.pdf(means, 0, np.sqrt(noise / counts))
    inclusion = beta * slab / (beta * slab + (1 - beta) * spike)
    np.testing.assert_allclose(posterior.inclusion(), inclusion, atol=1e-10)
    shrunk = means * variance / (variance + noise / counts)
    np.testing.assert_allclose(posterior.mean(), inclusion * shrunk, atol=1e-10)


def test_unknown_noise_equals_an_integral_over_known_noise() -> None:
    x, y = data(12, 3)
    prior, noise = sb.SpikeSlab(0.4, 0.7), sb.InverseGammaNoise(2.0, 1.5)
    posterior = sb.Enumeration(prior, 3, noise)
    posterior.update(x, y)

    def integrand(u: float, what: int) -> float:
        variance = np.exp(u)
        evidence, inclusion, mean, _ = by_hand(x, y, prior, variance)
        height = np.exp(evidence) * stats.invgamma.pdf(variance, 2.0, scale=1.5) * variance
        return float(height * (1.0, inclusion[0], mean[1], variance)[what])

    total, inclusion, mean, variance = (
        integrate.quad(integrand, -5, 6, args=(what,), epsabs=0, epsrel=1e-10)[0] for what in range(4)
    )
    assert posterior.log_evidence == pytest.approx(np.log(total), abs=1e-8)
    assert posterior.inclusion()[0] == pytest.approx(inclusion / total, abs=1e-8)
    assert posterior.mean()[1] == pytest.approx(mean / total, abs=1e-8)
    assert posterior.noise_variance == pytest.approx(variance / total, abs=1e-8)


@pytest.mark.parametrize("of_noise", [True, False])
@pytest.mark.parametrize("spike", [sb.PointMass(), sb.GaussianSpike(0.05)])
def test_noise_integrates_out_of_a_prior_in_its_units(spike: sb.PointMass | sb.GaussianSpike, of_noise: bool) -> None:
    """With slab N(m, σ²V) the rewards of a model have a multivariate t density, written out here."""
    x, y = data(12, 3)
    noise = sb.InverseGammaNoise(2.0, 1.5)
    posterior = sb.Enumeration(sb.SpikeSlab(0.4, 0.7, 0.3, spike, of_noise), 3, noise)
    posterior.update(x, y)
    logs, inclusion = [], []
    for model in range(8):
        inside = np.array([model >> j & 1 for j in range(3)], dtype=bool)
        narrow = spike.variance if isinstance(spike, sb.GaussianSpike) else 0.0
        shape = (np.eye(12) + (x * np.where(inside, 0.7, narrow)) @ x.T) * 1.5 / 2.0
        law = stats.multivariate_t(x @ np.where(inside, 0.3, 0.0), shape, df=4)
        logs.append(law.logpdf(y) + float(np.log(np.where(inside, 0.4, 0.6)).sum()))
        inclusion.append(inside)
    expected = np.exp(np.array(logs) - logsumexp(logs)) @ np.array(inclusion)
    if of_noise:
        assert posterior.log_evidence == pytest.approx(float(logsumexp(logs)), abs=1e-8)
        np.testing.assert_allclose(posterior.inclusion(), expected, atol=1e-8)
    else:
        assert np.abs(posterior.inclusion() - expected).max() > 0.01, "planted: another unit would show"


def test_the_certificate_holds_and_a_full_enumeration_leaves_nothing_out() -> None:
    x, y = data(60, 9)
    priors = sb.SpikeSlab(0.1, 0.7), sb.SpikeSlab(sb.BetaInclusion(1, 9), 0.7), sb.SpikeSlab(0.1, 0.7, of_noise=True)
    for prior in priors:
        whole = sb.Enumeration(prior, 9, 1.0)
        whole.update(x, y)
        certified = []
        for size in range(9):
            part = sb.Enumeration(prior, 9, 1.0, max_size=size)
            part.update(x, y)
            truly_left_out = 1 - np.exp(part.log_evidence - whole.log_evidence)
            # of all mass, the part beyond is left_out / (1 + left_out) at most
            assert truly_left_out <= part.left_out / (1 + part.left_out) + 1e-12 or part.left_out == 1.0
            certified.append(part.left_out)
        assert certified[-1] < 1e-3, "a bound that says nothing is no certificate"
        assert certified == sorted(certified, reverse=True)


def check_draws(theta: FloatArray, mean: FloatArray, second: FloatArray) -> None:
    """Means and all second moments of independent draws; coordinates that never move have to be exact."""
    products = theta[:, :, np.newaxis] * theta[:, np.newaxis]
    for values, expected in ((theta, mean), (products, second)):
        error = values.std(axis=0) / np.sqrt(len(theta))
        np.testing.assert_array_equal(values.mean(axis=0)[error == 0], expected[error == 0])
        assert_means_agree(values.mean(axis=0)[error > 0], expected[error > 0], error[error > 0])


@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
def test_draws_match_the_moments(prior: sb.SpikeSlab) -> None:
    posterior = sb.Enumeration(prior, 4, 0.6, n_draws=40_000, seed=1)
    posterior.update(*data(6, 4))
    check_draws(posterior.draws().theta, posterior.mean(), posterior.second_moment())


def test_draws_with_models_in_wrong_proportion_are_caught() -> None:
    posterior = sb.Enumeration(PRIORS["point mass"], 4, 0.6, seed=1)
    posterior.update(*data(6, 4))
    mean, second = posterior.mean(), posterior.second_moment()
    mixture = posterior._solve()
    assert isinstance(mixture, Mixture)
    object.__setattr__(mixture.parts[1], "weight", mixture.parts[1].weight * 1.2)  # planted: one size 20% too likely
    theta = posterior.sample(np.random.default_rng(0), 40_000)
    with pytest.raises(AssertionError, match="z-score"):
        check_draws(theta, mean, second)


def test_degenerate_designs() -> None:
    prior = sb.SpikeSlab(0.3, 0.7)
    again = sb.Enumeration(prior, 4, 0.6)
    x = np.tile([1.0, -0.5, 0.2, 2.0], (300, 1))
    y = np.linspace(0.5, 1.5, 300)
    again.update(x, y)
    evidence, inclusion, mean, second = by_hand(x, y, prior, 0.6)
    assert again.log_evidence == pytest.approx(evidence, abs=1e-8)
    np.testing.assert_allclose(again.mean(), mean, atol=1e-9)
    np.testing.assert_allclose(again.second_moment(), second, atol=1e-9)
    twins = sb.Enumeration(prior, 2, 0.6)
    twins.update(np.ones((20, 2)), np.ones(20))
    assert twins.inclusion()[0] == pytest.approx(twins.inclusion()[1], abs=1e-12)
    for scale in (1e-20, 1e20):
        scaled = sb.Enumeration(sb.SpikeSlab(0.3, 0.7 / scale**2), 4, 0.6)
        scaled.update(x * scale, y)
        np.testing.assert_allclose(scaled.inclusion(), inclusion, atol=1e-9)


def test_state_continues_bit_for_bit() -> None:
    first, second = (sb.Enumeration(PRIORS["Beta"], 4, 0.6, n_draws=100, seed=s) for s in (0, 1))
    first.update(*data(6, 4))
    first.draws()
    second.restore(first.state())
    assert first.draws().theta.tobytes() == second.draws().theta.tobytes()


def test_what_it_does_not_serve() -> None:
    laplace = sb.SpikeSlab(0.1, 1.0, spike=sb.LaplaceSpike(0.1))
    for prior in (laplace, sb.GaussianPrior(1.0)):
        with pytest.raises(
            TypeError, match="prior: expected a SpikeSlab with a point-mass or Gaussian spike for Enumeration"
        ):
            sb.Enumeration(prior, 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"max_size: expected .*, since a Gaussian spike needs every model"):
        sb.Enumeration(PRIORS["Gaussian spike"], 4, max_size=2)


@pytest.mark.parametrize(("rows", "deviation"), [(20, 1.0), (4000, 1e-3), (10_000, 1e-2)])
def test_noise_far_from_its_prior(rows: int, deviation: float) -> None:
    """Without features the evidence of an inverse-gamma noise is closed form."""
    y = deviation * np.random.default_rng(0).standard_normal(rows)
    posterior = sb.Enumeration(sb.SpikeSlab(0.0, 1.0), 1, sb.InverseGammaNoise(0.5, 0.5))
    posterior.update(np.ones((rows, 1)), y)
    shape, scale = 0.5 + rows / 2, 0.5 + float(y @ y) / 2
    expected = 0.5 * np.log(0.5) - gammaln(0.5) + gammaln(shape) - shape * np.log(scale) - rows / 2 * np.log(2 * np.pi)
    assert posterior.log_evidence == pytest.approx(expected, abs=1e-4)
    assert posterior.noise_variance == pytest.approx(scale / (shape - 1), rel=1e-4)


def test_columns_that_are_copies_and_huge() -> None:
    """The quadrature has noise variances far below that of the prior, at which rounding hides the slab."""
    posterior = sb.Enumeration(sb.SpikeSlab(0.5, 1.0), 3, sb.InverseGammaNoise(0.5, 0.5))
    posterior.update(5e5 * np.repeat(np.random.default_rng(0).standard_normal((50, 1)), 3, axis=1), np.ones(50))
    with pytest.raises(ArithmeticError, match="x: features so large"):
        posterior.mean()


def test_health_does_not_call_exact_what_is_not_certified() -> None:
    posterior = sb.Enumeration(sb.SpikeSlab(0.3, 1.0), 12, 1.0, max_size=2)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((60, 12))
    posterior.update(x, x[:, :4].sum(axis=1))
    assert str(posterior.health()).startswith("NOT certified")
