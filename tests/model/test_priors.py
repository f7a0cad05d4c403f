"""Priors: what they accept, their draws, and the conditional inclusion ν of the paper."""

import numpy as np
import pytest
from scipy import stats

import sparsebandits as sb
from tests.statistical import assert_means_agree

SPIKES = {"point mass": sb.PointMass(), "Laplace": sb.LaplaceSpike(0.05), "Gaussian": sb.GaussianSpike(0.01)}


@pytest.mark.parametrize("spike", SPIKES.values(), ids=SPIKES)
def test_prior_draws_have_the_prior_distribution(spike: sb.PointMass) -> None:
    prior = sb.SpikeSlab([0.2, 0.7, 1.0, 0.0], [0.5, 1.0, 2.0, 1.0], [0.0, 1.0, -1.0, 5.0], spike)
    size = 40_000
    drawn = prior.sample(np.random.default_rng(0), size, 4)
    theta, included = drawn.theta, drawn.included
    assert theta.shape == included.shape == (size, 4)
    assert drawn.beta is None
    assert drawn.slab_variances is None
    probability = np.array([0.2, 0.7])
    assert_means_agree(included[:, :2].mean(axis=0), probability, np.sqrt(probability * (1 - probability) / size))
    assert included[:, 2].all()
    assert not included[:, 3].any()
    assert stats.kstest(theta[included[:, 1], 1], "norm", (1.0, 1.0)).pvalue > 1e-5
    assert stats.kstest(theta[included[:, 1], 1], "norm", (1.0, 1.1)).pvalue < 1e-5, "planted: 10% too wide"
    outside = theta[~included[:, 0], 0]
    if isinstance(spike, sb.LaplaceSpike):
        assert stats.kstest(outside, "laplace", (0.0, 0.05)).pvalue > 1e-5
    elif isinstance(spike, sb.GaussianSpike):
        assert stats.kstest(outside, "norm", (0.0, 0.1)).pvalue > 1e-5
    else:
        assert not outside.any()


def test_a_beta_prior_on_the_inclusion_is_shared_by_the_coordinates() -> None:
    drawn = sb.SpikeSlab(sb.BetaInclusion(2.0, 6.0), 1.0).sample(np.random.default_rng(0), 40_000, 3)
    included = drawn.included
    assert drawn.beta is not None
    assert stats.kstest(drawn.beta, "beta", (2.0, 6.0)).pvalue > 1e-5
    both = (included[:, 0] & included[:, 1]).mean()
    expected = stats.beta(2.0, 6.0).moment(2)
    assert_means_agree(np.array([both]), np.array([expected]), np.array([np.sqrt(expected / 40_000)]))
    assert abs(both - 0.25**2) > 10 * np.sqrt(expected / 40_000), "planted: independent coordinates would show"


def test_a_prior_on_the_slab_variance_is_shared_by_the_coordinates() -> None:
    prior = sb.SpikeSlab(1.0, sb.InverseGammaSlab(3.0, 2.0), 0.5)
    drawn = prior.sample(np.random.default_rng(0), 40_000, 2)
    assert drawn.slab_variances is not None
    assert stats.kstest(drawn.slab_variances, "invgamma", (3.0, 0.0, 2.0)).pvalue > 1e-5
    standard = (drawn.theta - 0.5) / np.sqrt(drawn.slab_variances)[:, np.newaxis]
    for j in range(2):
        assert stats.kstest(standard[:, j], "norm").pvalue > 1e-5
    assert stats.kstest(drawn.theta[:, 0] - 0.5, "norm").pvalue < 1e-5, "planted: a fixed variance of 1 would show"
    for engine in (sb.Enumeration, sb.Langevin):
        spike = sb.LaplaceSpike(0.1) if engine is sb.Langevin else sb.PointMass()
        with pytest.raises(TypeError, match=r"prior: expected a known slab_variance for \w+, got InverseGammaSlab"):
            engine(sb.SpikeSlab(0.5, sb.InverseGammaSlab(), spike=spike), 2)


def test_inverse_gamma_noise() -> None:
    draws = sb.InverseGammaNoise(3.0, 2.0).sample(np.random.default_rng(0), 40_000)
    assert stats.kstest(draws, "invgamma", (3.0, 0.0, 2.0)).pvalue > 1e-5
    assert stats.kstest(draws, "invgamma", (3.0, 0.0, 2.2)).pvalue < 1e-5, "planted: 10% off"


@pytest.mark.parametrize("spike", [sb.LaplaceSpike(0.2), sb.GaussianSpike(0.04)])
def test_conditional_inclusion_is_bayes_rule(spike: sb.LaplaceSpike | sb.GaussianSpike) -> None:
    prior = sb.SpikeSlab(0.3, 1.5, 0.2, spike)
    theta = np.array([[-2.0, -0.1, 0.0], [0.05, 0.5, 30.0]])
    slab = 0.3 * stats.norm.pdf(theta, 0.2, np.sqrt(1.5))
    inside = stats.laplace.pdf(theta, 0, 0.2) if isinstance(spike, sb.LaplaceSpike) else stats.norm.pdf(theta, 0, 0.2)
    found = prior.inclusion_given(theta)
    np.testing.assert_allclose(found, slab / (slab + 0.7 * inside), rtol=1e-10)
    learnt = sb.SpikeSlab(0.3, sb.InverseGammaSlab(), 0.2, spike).inclusion_given(theta, None, np.full(2, 1.5))
    np.testing.assert_allclose(learnt, found)
    np.testing.assert_array_equal(prior.inclusion_given(theta, np.ones(2)), 1.0)
    np.testing.assert_array_equal(prior.inclusion_given(theta, np.zeros(2)), 0.0)


def test_conditional_inclusion_of_a_point_mass() -> None:
    found = sb.SpikeSlab(0.3, 1.0).inclusion_given(np.array([[0.0, 0.1]]))
    np.testing.assert_array_equal(found, [[0.0, 1.0]])


def test_the_papers_symbols() -> None:
    prior = sb.SpikeSlab.from_paper(beta=0.2, lambda0=0.1, lambda1=3.0, noise_variance=4.0)
    assert prior.inclusion == 0.2
    assert prior.spike == sb.LaplaceSpike(0.2)  # σ λ₀
    assert prior.slab_variance == 12.0  # σ² λ₁


def test_the_papers_symbols_in_units_of_the_noise() -> None:
    prior = sb.SpikeSlab.from_paper(beta=0.2, lambda0=0.1, lambda1=3.0)
    assert prior.of_noise
    assert (prior.spike, prior.slab_variance) == (sb.LaplaceSpike(0.1), 3.0)
    known = prior.given_noise(4.0)
    assert not known.of_noise
    assert (known.spike, known.slab_variance) == (sb.LaplaceSpike(0.2), 12.0)
    assert known.given_noise(4.0) is known


def test_units_of_the_noise() -> None:
    learnt = sb.SpikeSlab(0.3, sb.InverseGammaSlab(3.0, 2.0, of_noise=True, relative=2.0), spike=sb.GaussianSpike(0.1))
    assert learnt.of_noise, "a learnt slab in units of the noise makes the prior one"
    known = learnt.given_noise(4.0)
    assert not known.of_noise
    assert known.slab_variance == sb.InverseGammaSlab(3.0, 8.0, relative=2.0)
    assert known.spike == sb.GaussianSpike(0.4)
    arrays = sb.SpikeSlab([0.1, 0.2], [1.0, 2.0], of_noise=True).given_noise(3.0)
    np.testing.assert_array_equal(arrays.slab_variance, [3.0, 6.0])
    theta, noise = np.array([[-2.0, 0.1], [0.5, 3.0]]), np.array([0.5, 4.0])
    for spike in (sb.LaplaceSpike(0.2), sb.GaussianSpike(0.04)):
        prior = sb.SpikeSlab(0.3, 1.5, 0.2, spike, of_noise=True)
        found = prior.inclusion_given(theta, noise_variance=noise)
        expected = [prior.given_noise(v).inclusion_given(t[np.newaxis])[0] for v, t in zip(noise, theta, strict=True)]
        np.testing.assert_allclose(found, expected)
        np.testing.assert_allclose(prior.inclusion_given(theta, noise_variance=4.0)[1], expected[1])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sb.SpikeSlab(1.2, 1.0), "inclusion: expected numbers from 0 to 1"),
        (lambda: sb.SpikeSlab([0.1, -0.1], 1.0), "inclusion: expected numbers from 0 to 1"),
        (lambda: sb.SpikeSlab("few", 1.0), "inclusion: expected an array of numbers"),
        (lambda: sb.SpikeSlab(0.1, 0.0), "slab_variance: expected numbers from"),
        (lambda: sb.SpikeSlab(0.1, 1.0, np.nan), "slab_mean: expected finite"),
        (lambda: sb.SpikeSlab(0.1, 1.0, spike=0.1), "spike: expected PointMass, LaplaceSpike or GaussianSpike"),  # type: ignore[arg-type]
        (lambda: sb.LaplaceSpike(0.0), "scale: expected a positive number"),
        (lambda: sb.GaussianSpike(-1.0), "variance: expected a positive number"),
        (lambda: sb.BetaInclusion(0.0, 1.0), "a: expected a positive number"),
        (lambda: sb.InverseGammaNoise(1.0, np.inf), "scale: expected a finite number"),
        (lambda: sb.SpikeSlab([0.1, 0.2], 1.0).inclusions(3), r"prior.inclusion: expected shape \(3,\), got \(2,\)"),
        (lambda: sb.SpikeSlab.from_paper(0.1, 0.0, 1.0, 1.0), "lambda0: expected a positive number"),
        (lambda: sb.SpikeSlab.from_paper(0.1, 0.1, 1.0, -1.0), "noise_variance: expected a positive number"),
        (lambda: sb.SpikeSlab(0.1, 1.0, of_noise="yes"), "of_noise: expected True or False, got 'yes'"),  # type: ignore[arg-type]
    ],
)
def test_bad_input(make, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises((TypeError, ValueError), match=message):
        make()
