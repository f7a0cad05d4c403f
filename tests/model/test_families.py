"""Families of clicks and counts: means, likelihoods and slopes against SciPy and finite differences."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

import sparsebandits as sb
from sparsebandits.arguments import ArgumentValueError
from sparsebandits.model.families import Linked

FAMILIES = [sb.Bernoulli(), sb.Bernoulli("probit"), sb.Poisson()]
ETA = np.linspace(-6.0, 4.0, 41)
every_family = pytest.mark.parametrize("family", FAMILIES, ids=["logit", "probit", "poisson"])


@every_family
def test_the_likelihood_is_that_of_scipy(family: Linked) -> None:
    """Planted: b(η) without its logarithm; the values differ by more than one."""
    poisson = isinstance(family, sb.Poisson)
    for y in (0.0, 1.0, 7.0) if poisson else (0.0, 1.0):
        found = family.log_likelihood(ETA, y, 1.0)
        mean = family.mean(ETA)
        truth = stats.poisson.logpmf(y, mean) if poisson else stats.bernoulli.logpmf(y, mean)
        constant = truth - found
        assert np.ptp(constant) < 1e-9, "up to a constant"
        if not poisson:
            assert np.abs(constant).max() < 1e-9


@every_family
def test_slopes_are_derivatives(family: Linked) -> None:
    step = 1e-5
    (a, b), (c, d) = family.parameters(ETA + step), family.parameters(ETA - step)
    slope, drift, information = family.slopes(ETA)
    assert slope == pytest.approx((a - c) / (2 * step), rel=1e-6, abs=1e-8)
    assert drift == pytest.approx((b - d) / (2 * step), rel=1e-6, abs=1e-8)
    mean_slope = (family.mean(ETA + step) - family.mean(ETA - step)) / (2 * step)
    assert information == pytest.approx(slope * mean_slope, rel=1e-5, abs=1e-9)


@every_family
def test_score_and_observed_information_are_derivatives(family: Linked) -> None:
    """Planted: the Fisher information for the probit link; off by a tenth and more."""
    step, successes, trials = 1e-4, 3.0, 7.5
    low, middle, high = (family.log_likelihood(ETA + k * step, successes, trials) for k in (-1, 0, 1))
    score, information = family.derivatives(ETA, successes, trials)
    assert score == pytest.approx((high - low) / (2 * step), rel=1e-6, abs=1e-6)
    assert information == pytest.approx((2 * middle - low - high) / step**2, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_derivatives_keep_their_digits_where_an_outcome_is_certain(link: str) -> None:
    family, far = sb.Bernoulli(link), np.array([5.0, 10.0, 30.0, 200.0])
    distribution = stats.logistic if link == "logit" else stats.norm
    truth = np.exp(distribution.logpdf(far) - distribution.logcdf(far))
    score, information = family.derivatives(far, 1.0, 1.0)
    assert score == pytest.approx(truth, rel=1e-9)
    assert information == pytest.approx(truth * (truth + far) if link == "probit" else truth * (1 - truth), rel=1e-9)
    mirrored = family.derivatives(-far, 0.0, 1.0)
    assert mirrored[0] == pytest.approx(-score)
    assert mirrored[1] == pytest.approx(information)
    wrong = family.derivatives(np.array([-1e6]), 1.0, 1.0)  # surprising without end
    assert wrong[0] == pytest.approx(1.0 if link == "logit" else 1e6)
    assert 0.0 <= wrong[1][0] <= 1.0


@every_family
def test_the_potential_gives_the_divergence(family: Linked) -> None:
    """Planted: μ log μ alone for clicks, without the other side of the coin; off by half."""
    one, other = family.mean(np.array([0.3])), family.mean(np.array([-0.8]))
    counts = np.arange(60)
    if isinstance(family, sb.Poisson):
        p, q = stats.poisson.pmf(counts, one), stats.poisson.pmf(counts, other)
    else:
        p, q = np.array([1 - one[0], one[0]]), np.array([1 - other[0], other[0]])
    inside = p > 0
    truth = float(p[inside] @ np.log(p[inside] / q[inside]))
    step = 1e-6
    slope = (family.potential(other + step) - family.potential(other - step)) / (2 * step)
    bend = (family.potential(other + 1e-4) - 2 * family.potential(other) + family.potential(other - 1e-4)) / 1e-8
    found = family.potential(one) - family.potential(other) - slope * (one - other)
    assert found == pytest.approx(truth, rel=1e-6)
    assert 1.0 / bend == pytest.approx(family.variance_at(other), rel=1e-3)


def test_extreme_predictions_are_finite() -> None:
    far = np.array([-500.0, 500.0])
    for family in FAMILIES:
        for y in (0.0, 1.0):
            assert np.isfinite(family.log_likelihood(far, y, 1.0)).all()
        assert np.isfinite(family.mean(far)).all()
        assert np.isfinite(family.mean(far.astype(np.float32))).all()


def test_rewards_by_inversion() -> None:
    """A larger number never gives a smaller reward, and frequencies are those of the distribution."""
    uniform = (np.arange(4000) + 0.5) / 4000
    for mean in (0.03, 2.5, 400.0):
        counts = [sb.Poisson().drawn(mean, u) for u in uniform]
        assert all(one <= other for one, other in pairwise(counts))
        assert counts == stats.poisson.ppf(uniform, mean).tolist()
    assert np.mean([sb.Bernoulli().drawn(0.03, u) for u in uniform]) == pytest.approx(0.03, abs=1e-3)


def test_other_rewards_are_refused() -> None:
    with pytest.raises(ArgumentValueError, match="0 or 1"):
        sb.Bernoulli().check(np.array([0.0, 0.5]))
    with pytest.raises(ArgumentValueError, match="a count"):
        sb.Poisson().check(np.array([-1.0]))
    with pytest.raises(ArgumentValueError, match="a count"):
        sb.Poisson().check(np.array([1.5]))
    with pytest.raises(ArgumentValueError, match="link"):
        sb.Bernoulli("cloglog")
