"""Quadrature for clicks and counts: against a plain grid over the prior, against itself, and by what sums to one.

The grid knows nothing of modes: Gauss–Legendre over ±9 prior standard deviations of each coefficient, model by model.
"""

from itertools import product
from typing import Any, TypeAlias

import numpy as np
import pytest
from scipy import stats
from scipy.special import betaln, gammaln, logsumexp

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.posteriors import quadrature
from tests.statistical import assert_means_agree

Family: TypeAlias = sb.Bernoulli | sb.Poisson
FAMILIES: dict[str, Family] = {
    "logit": sb.Bernoulli(),
    "probit": sb.Bernoulli("probit"),
    "Poisson": sb.Poisson(),
    "logit, intercept": sb.Bernoulli(intercept=True),
    "probit, intercept": sb.Bernoulli("probit", intercept=True),
    "Poisson, intercept": sb.Poisson(intercept=True),
}
PRIORS: dict[str, sb.SpikeSlab] = {
    "point mass": sb.SpikeSlab([0.3, 0.6], [0.7, 2.0], [0.0, 0.4]),
    "Beta": sb.SpikeSlab(sb.BetaInclusion(1.0, 3.0), 0.7),
    "forced": sb.SpikeSlab([1.0, 0.3], 0.7),
    "size": sb.SpikeSlab([0.3, 0.6], 0.7, size=1),
    "Gaussian spike": sb.SpikeSlab(0.3, 0.7, 0.1, sb.GaussianSpike(0.05)),
}


def data(family: Family, count: int, d: int = 2) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(count)
    x = rng.standard_normal((count, d))
    most = 4 if isinstance(family, sb.Poisson) else 1
    return x, rng.integers(0, most, count, endpoint=True).astype(np.float64)


def log_density(family: Family, y: FloatArray, eta: FloatArray) -> FloatArray:
    """Log probability of the rewards, by scipy."""
    if isinstance(family, sb.Poisson):
        return np.asarray(np.sum(stats.poisson.logpmf(y, np.exp(np.minimum(eta, 60.0))), axis=-1))
    signed = np.where(y > 0, eta, -eta)
    law: Any = stats.norm if family.link == "probit" else stats.logistic
    return np.asarray(np.sum(law.logcdf(signed), axis=-1))


def by_grid(family: Family, prior: sb.SpikeSlab, x: FloatArray, y: FloatArray, nodes: int = 240) -> dict[str, Any]:
    """Log evidence, inclusion, mean and second moment of (θ, α) at d = 2 without, or d = 1 with an intercept."""
    d = x.shape[1]
    places, weights = np.polynomial.legendre.leggauss(nodes)
    slab_mean, slab_variance = prior.slab(d)
    narrow = prior.spike.variance if isinstance(prior.spike, sb.GaussianSpike) else 0.0
    logs, models, points = [], [], []
    for model in product((False, True), repeat=d):
        low, high = prior.size_range(d)
        if not low <= sum(model) <= high:
            continue
        if isinstance(prior.inclusion, sb.BetaInclusion):
            log_prior = betaln(prior.inclusion.a + sum(model), prior.inclusion.b + d - sum(model))
        else:
            with np.errstate(divide="ignore"):
                log_prior = np.log(np.where(model, prior.inclusions(d), 1.0 - prior.inclusions(d))).sum()
        mean = [*np.where(model, slab_mean, 0.0), *([0.0] if family.intercept else [])]
        variance = [*np.where(model, slab_variance, narrow), *([family.intercept_variance] if family.intercept else [])]
        axes, log_weights = [], []
        for m, v in zip(mean, variance, strict=True):
            reach = 9.0 * np.sqrt(v)
            axes.append(m + reach * places if v > 0 else np.array([m]))
            density = stats.norm.logpdf(reach * places, 0.0, np.sqrt(v)) if v > 0 else np.zeros(1)
            log_weights.append(density + np.log(reach * weights) if v > 0 else np.zeros(1))
        grid = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
        base = sum(axis.ravel() for axis in np.meshgrid(*log_weights, indexing="ij"))
        eta = grid[:, :d] @ x.T + (grid[:, d:] if family.intercept else 0.0)
        logs.append(log_prior + base + log_density(family, y, eta))
        models.append(np.broadcast_to(model, (len(grid), d)))
        points.append(grid)
    found, b = np.concatenate(logs), np.concatenate(points)
    total = prior.log_unconditioned_sizes(d) if prior.size is not None else np.zeros(1)
    share = np.exp(found - logsumexp(found))
    constant = -betaln(prior.inclusion.a, prior.inclusion.b) if isinstance(prior.inclusion, sb.BetaInclusion) else 0.0
    in_range = logsumexp(total[prior.size_range(d)[0] : prior.size_range(d)[1] + 1]) if prior.size is not None else 0.0
    return {
        "log evidence": float(logsumexp(found)) + constant - in_range,
        "inclusion": share @ np.concatenate(models),
        "mean": share @ b,
        "second moment": (b.T * share) @ b,
    }


def found_by(posterior: sb.Enumeration) -> dict[str, Any]:
    nodes = posterior.nodes
    b = nodes.theta if nodes.intercepts is None else np.column_stack((nodes.theta, nodes.intercepts))
    return {
        "log evidence": posterior.log_evidence,
        "inclusion": posterior.inclusion(),
        "mean": nodes.weights @ b,
        "second moment": (b.T * nodes.weights) @ b,
    }


def check(found: dict[str, Any], expected: dict[str, Any], within: float = 1e-6) -> None:
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, atol=within, err_msg=name)


def exact(family: Family, prior: sb.SpikeSlab, x: FloatArray, y: FloatArray) -> sb.Enumeration:
    posterior = sb.Enumeration(prior, x.shape[1], rewards=family, seed=0)
    posterior.update(x, y)
    return posterior


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("name", ["logit", "probit", "Poisson"])
def test_equals_a_grid_over_the_prior(name: str, prior: str) -> None:
    family = FAMILIES[name]
    x, y = data(family, 6)
    check(found_by(exact(family, PRIORS[prior], x, y)), by_grid(family, PRIORS[prior], x, y))


@pytest.mark.parametrize("name", ["logit, intercept", "probit, intercept", "Poisson, intercept"])
def test_equals_a_grid_over_the_prior_with_an_intercept(name: str) -> None:
    family, prior = FAMILIES[name], sb.SpikeSlab(0.4, 1.3, 0.3)
    for count in (0, 1, 8):
        x, y = data(family, count, d=1)
        check(found_by(exact(family, prior, x, y)), by_grid(family, prior, x, y, nodes=600))


HARD = ("no data", "one reward", "five rewards", "separable", "rare", "many")


def hard(kind: str, family: Family) -> tuple[FloatArray, FloatArray]:
    """Return data that make the posterior skewed, or wide, or narrow."""
    if kind == "no data":
        return np.empty((0, 2)), np.empty(0)
    if kind == "one reward":
        return np.array([[1.5, -0.4]]), np.zeros(1)
    if kind == "rare":
        return np.repeat(data(family, 3)[0], 50, axis=0), (np.arange(150) % 40 == 0).astype(np.float64)
    if kind == "many":
        return np.repeat(data(family, 4)[0], 200, axis=0), (np.arange(800) % 2).astype(np.float64)
    x, y = data(family, 5 if kind == "five rewards" else 8)
    return x, (x[:, 0] > 0).astype(np.float64) if kind == "separable" else y


@pytest.mark.parametrize("kind", HARD)
@pytest.mark.parametrize("name", ["logit, intercept", "probit, intercept", "Poisson, intercept"])
def test_agrees_with_itself_on_more_nodes(name: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slab of variance 4, and a wide intercept: skewed posteriors, of which a Gaussian at the mode knows little."""
    family, prior = FAMILIES[name], sb.SpikeSlab([0.3, 0.6], 4.0, 0.2)
    x, y = hard(kind, family)
    found = found_by(exact(family, prior, x, y))
    for setting, value in {"CHANGE": 1e-9, "FEWEST": 25, "GAUSSIAN": 35, "DEPTH": 34.0, "RADIUS": 68**0.5}.items():
        monkeypatch.setattr(quadrature, setting, value)
    finer = exact(family, prior, x, y)
    check(found, found_by(finer))


def test_too_few_nodes_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    family, prior = FAMILIES["Poisson, intercept"], sb.SpikeSlab(0.5, 4.0)
    x, y = hard("rare", family)
    found = found_by(exact(family, prior, x, y))
    for setting, value in (("CHANGE", 1e9), ("DEPTH", 8.0)):
        with monkeypatch.context() as planted:
            planted.setattr(quadrature, setting, value)
            with pytest.raises(AssertionError):
                check(found_by(exact(family, prior, x, y)), found)


@pytest.mark.parametrize("d", [3, 4])
def test_the_largest_problems(d: int) -> None:
    """Two rows that each have features of their own: the evidence is a product."""
    family, prior = sb.Bernoulli(), sb.SpikeSlab(0.4, 1.5, 0.2)
    x, y = np.zeros((5, d)), np.array([1.0, 1.0, 0.0, 1.0, 0.0])
    x[:3, :2], x[3:, 2:] = np.random.default_rng(0).standard_normal((3, 2)), 0.7
    whole = exact(family, prior, x, y)
    parts = exact(family, prior, x[:3, :2], y[:3]), exact(family, prior, x[3:, 2:], y[3:])
    assert whole.log_evidence == pytest.approx(sum(part.log_evidence for part in parts), abs=1e-6)
    np.testing.assert_allclose(whole.mean(), np.concatenate([part.mean() for part in parts]), atol=1e-6)
    np.testing.assert_allclose(whole.inclusion(), np.concatenate([part.inclusion() for part in parts]), atol=1e-6)


@pytest.mark.parametrize("name", ["logit", "probit", "logit, intercept", "probit, intercept"])
def test_probabilities_of_all_clicks_sum_to_one(name: str) -> None:
    x, prior = np.array([[1.0, 0.5], [0.3, -0.8]]), sb.SpikeSlab(0.5, 2.0)
    logs = [exact(FAMILIES[name], prior, x, np.array(y)).log_evidence for y in product((0.0, 1.0), repeat=2)]
    assert np.exp(logs).sum() == pytest.approx(1.0, abs=1e-6)


def test_probabilities_of_all_counts_sum_to_one() -> None:
    x, prior, counts = np.array([[1.0, 0.5]]), sb.SpikeSlab(0.5, 0.2), np.arange(41)
    logs = np.array([exact(sb.Poisson(), prior, x, np.full(1, float(y))).log_evidence for y in counts])
    assert np.exp(logs).sum() == pytest.approx(1.0, abs=1e-6)
    assert np.exp(logs + gammaln(counts + 1.0)).sum() > 1.5, "planted: without the factorials"


@pytest.mark.parametrize("name", ["logit", "Poisson, intercept"])
def test_draws_match_the_moments(name: str) -> None:
    family = FAMILIES[name]
    posterior = sb.Enumeration(PRIORS["point mass"], 2, n_draws=40_000, rewards=family, seed=1)
    posterior.update(*data(family, 6))
    draws, nodes = posterior.draws(), posterior.nodes
    assert_means_agree(draws.theta.mean(axis=0), posterior.mean(), draws.theta.std(axis=0) / 200.0)
    inside = draws.theta != 0
    assert_means_agree(inside.mean(axis=0), posterior.inclusion(), inside.std(axis=0) / 200.0)
    if nodes.intercepts is None:
        assert draws.intercepts is None
    else:
        assert draws.intercepts is not None
        mean = nodes.weights @ nodes.intercepts
        assert_means_agree(draws.intercepts.mean()[np.newaxis], mean, draws.intercepts.std()[np.newaxis] / 200.0)
    assert "exact over all models, by quadrature with" in str(posterior.health())
