"""VariationalTS: each coordinate against numerical minimisation, the fit against its bound on the evidence."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, optimize, stats

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.policies.rivals.variational_ts import MeanField, coordinate_ascent
from sparsebandits.posteriors.kernels import mean_field
from sparsebandits.posteriors.kernels.mean_field import gaussian_coordinate, laplace_coordinate
from tests.policies.table import some_actions


def objective(mean: float, deviation: float, curvature: float, pull: float, rate: float, slow: bool = False) -> float:
    """f(μ, σ), with E|N(μ, σ²)| from the folded normal distribution, or slowly by quadrature."""
    z = mean / deviation
    absolute = deviation * (2 * stats.norm.pdf(z) + z * (2 * stats.norm.cdf(z) - 1))
    if slow:
        absolute = integrate.quad(lambda x: abs(mean + deviation * x) * stats.norm.pdf(x), -12, 12, points=[-z])[0]
    return float(curvature * (mean**2 + deviation**2) / 2 - pull * mean + rate * absolute - math.log(deviation))


@pytest.mark.parametrize("curvature", [0.0, 0.3, 20.0])
@pytest.mark.parametrize("pull", [0.0, -0.7, 15.0])
@pytest.mark.parametrize("rate", [0.2, 3.0])
def test_a_coordinate_with_a_laplace_slab(curvature: float, pull: float, rate: float) -> None:
    if curvature == 0.0:
        pull = 0.0  # a column of zeros
    for start in ((0.0, 1.0), (3.0, 0.01), (-20.0, 5.0)):
        mean, deviation, value = laplace_coordinate(curvature, pull, rate, *start)
        assert value == pytest.approx(objective(mean, deviation, curvature, pull, rate, True), abs=1e-7)

    def transformed(at: FloatArray) -> float:
        return objective(float(at[0]), math.exp(at[1]), curvature, pull, rate)

    slow = optimize.minimize(transformed, np.array([0.1, 0.0]), method="Nelder-Mead", tol=1e-11)
    assert value <= slow.fun + 1e-9
    assert (mean, deviation) == pytest.approx((slow.x[0], math.exp(slow.x[1])), abs=1e-4)


def log_density(theta: float, slab: str, rate: float) -> float:
    return float(
        stats.laplace.logpdf(theta, scale=1 / rate) if slab == "laplace" else stats.norm.logpdf(theta, scale=rate)
    )


def bound(x: FloatArray, y: FloatArray, noise: float, slab: str, rate: float, odds: float, q: Any) -> float:
    """The evidence lower bound of q, each term by its definition; E log slab by quadrature."""
    inclusion = odds / (1 + odds)
    m = q.inclusion * q.mean
    variance = q.inclusion * (q.mean**2 + q.deviation**2) - m**2
    total = -0.5 * (((y - x @ m) ** 2).sum() + (variance * (x**2).sum(axis=0)).sum()) / noise
    for mu, sigma, gamma in zip(q.mean, q.deviation, q.inclusion, strict=True):
        slabs = integrate.quad(
            lambda t: stats.norm.pdf(t, mu, sigma) * (log_density(t, slab, rate) - stats.norm.logpdf(t, mu, sigma)),  # noqa: B023
            mu - 12 * sigma,
            mu + 12 * sigma,
            points=[0.0] if abs(mu) < 12 * sigma else None,
            limit=200,
        )[0]
        for p, prior, extra in ((gamma, inclusion, slabs), (1 - gamma, 1 - inclusion, 0.0)):
            total += p * (math.log(prior) - math.log(p) + extra) if p > 0 else 0.0
    return float(total)


@pytest.mark.parametrize("slab", ["laplace", "gaussian"])
def test_the_fit_is_a_maximum_of_the_bound(slab: str) -> None:
    """Whatever coordinate is moved, and however; log odds that are off by 1/2, as those of sparsevb, would fail."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((12, 4)) @ np.array([[1, 0.5, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.2], [0, 0, 0, 1.0]])
    y, noise, rate, odds = x @ [1.0, 0, -0.5, 0] + 0.5 * rng.standard_normal(12), 0.25, 1.5, 0.3
    start = MeanField(np.zeros(4), np.ones(4), np.full(4, 0.5))
    q = coordinate_ascent(x.T @ x / noise, x.T @ y / noise, slab, rate, math.log(odds), start, np.arange(4))
    for _ in range(20):  # to the fixed point; the tolerance of the entropies is that of the program
        q = coordinate_ascent(x.T @ x / noise, x.T @ y / noise, slab, rate, math.log(odds), q, np.arange(4))
    best = bound(x, y, noise, slab, rate, odds, q)
    assert best > bound(x, y, noise, slab, rate, odds, start) + 1.0
    for j in range(4):
        for name, steps in (("mean", (-0.02, 0.02)), ("deviation", (-0.01, 0.01)), ("inclusion", (-0.01, 0.01))):
            for step in steps:
                moved = {key: getattr(q, key).copy() for key in ("mean", "deviation", "inclusion")}
                moved[name][j] += step
                if 0 < moved["inclusion"][j] < 1:
                    assert bound(x, y, noise, slab, rate, odds, MeanField(**moved)) < best, (j, name, step)
    with_half = math.log(q.inclusion[1] / (1 - q.inclusion[1])) + 0.5
    moved = {key: getattr(q, key).copy() for key in ("mean", "deviation", "inclusion")}
    moved["inclusion"][1] = 1 / (1 + math.exp(-with_half))
    assert bound(x, y, noise, slab, rate, odds, MeanField(**moved)) < best - 1e-4, "planted"


def test_a_gaussian_slab_on_orthogonal_features_is_exact() -> None:
    """Then the posterior is a product, and the enumeration of all models gives it."""
    x, noise = np.sqrt(6) * np.eye(3), 0.5
    y = np.array([3.0, 0.4, -1.0])
    exact = sb.Enumeration(sb.SpikeSlab(0.2, 0.49), 3, rewards=sb.Gaussian(noise), seed=0)
    exact.absorb(x, y)
    start = MeanField(np.zeros(3), np.ones(3), np.zeros(3))
    log_odds = math.log(0.2 / 0.8)
    q = coordinate_ascent(x.T @ x / noise, x.T @ y / noise, "gaussian", 0.7, log_odds, start, np.arange(3))
    np.testing.assert_allclose(q.inclusion, exact.inclusions(), rtol=1e-9)
    np.testing.assert_allclose(q.inclusion * q.mean, exact.mean(), rtol=1e-9)
    mean, deviation, _ = gaussian_coordinate(12.0, 4.0, 0.7)
    assert (mean, deviation**2) == pytest.approx((4 / (12 + 1 / 0.49), 1 / (12 + 1 / 0.49)))


def test_draws_and_probabilities() -> None:
    """The share of actions in 3,000 decisions is their probability from the draws of q, by a chi-squared test."""
    policy, rng = (
        sb.rivals.VariationalTS(some_actions(5, 4), 1.0, probability_draws=4000, seed=0),
        np.random.default_rng(0),
    )
    for _ in range(12):
        decision = policy.ask()
        policy.tell(decision, float(decision.features[0] + rng.standard_normal()))
    q = policy.posterior.posterior()
    draws = q.draw(200_000, rng)
    np.testing.assert_allclose((draws != 0).mean(axis=0), q.inclusion, atol=0.005)
    np.testing.assert_allclose(draws.mean(axis=0), q.inclusion * q.mean, atol=0.01)
    best = (draws @ policy.actions.features.T)[(draws != 0).any(axis=1)].argmax(axis=1)
    none = (draws == 0).all(axis=1).mean()
    expected = np.bincount(best, minlength=5) / len(draws) + none / 5
    policy.rule = sb.rivals.VariationalThompson(5, 1)
    counts = np.bincount([policy.ask().action for _ in range(3000)], minlength=5)
    assert stats.chisquare(counts, 3000 * expected).pvalue > 1e-4
    policy.rule = sb.rivals.VariationalThompson(5, 4000)
    decision = policy.ask()
    assert decision.probability == pytest.approx(expected[decision.action], abs=0.04)
    assert decision.probability_draws == 4001


def test_the_first_rounds_the_noise_and_the_defaults() -> None:
    policy, rng = sb.rivals.VariationalTS(some_actions(6, 5), seed=1), np.random.default_rng(0)
    learner = policy.posterior
    assert (learner.rate, learner.exponent, learner.restart) == (1.0, 1.001, 5)
    assert policy.rule == sb.rivals.VariationalThompson(uniform_rounds=5)
    for t in range(40):
        actions = rng.standard_normal((6, 5))
        decision = policy.ask(actions)
        if t < 5:
            assert decision.probability == pytest.approx(1 / 6)
        policy.tell(decision, float(2 * decision.features[1] + 0.3 * rng.standard_normal()))
    theta = policy.coefficients
    residuals = learner.samples.y - learner.samples.x @ theta
    assert policy.ask().reasons.notes["noise variance"] == pytest.approx((residuals**2).mean(), rel=1e-6)
    np.testing.assert_allclose(theta, [0, 2, 0, 0, 0], atol=0.15)
    perfect = sb.rivals.VariationalTS(np.eye(2), seed=0)
    for _ in range(12):  # without noise
        decision = perfect.ask()
        perfect.tell(decision, float(decision.action))
    assert np.isfinite(perfect.coefficients).all()


def test_the_environment_of_its_paper() -> None:
    """A tenth of its size: 100 features, 100 rounds; the regret is a fraction of that of guessing."""
    actions = sb.environments.GaussianActions(100, 2, n_actions=10, correlation=0.3, noise_variance=1.0)
    world = sb.environments.ChangingActions(actions)
    shares = []
    for seed in range(4):
        instance = world.sample(seed)
        trace = sb.simulate(sb.maker(sb.rivals.VariationalTS), instance, 100, seed=seed)
        guessing = np.mean([instance.at(t).gaps.mean() for t in range(100)])
        shares.append(trace.regret[-1] / (100 * guessing))
    assert np.mean(shares) < 0.75


@pytest.mark.parametrize("slab", ["laplace", "gaussian"])
def test_the_compiled_ascent_is_the_plain_one(slab: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    x = rng.standard_normal((30, 8))
    y = x[:, 0] - 0.5 * x[:, 3] + rng.standard_normal(30)
    start = MeanField(np.zeros(8), np.ones(8), np.full(8, 0.3))
    given = (x.T @ x, x.T @ y, slab, 1.2, -2.0, start, rng.permutation(8))
    compiled = coordinate_ascent(*given)
    for name in ("_objective", "laplace_coordinate", "gaussian_coordinate", "entropy", "ascend"):
        monkeypatch.setattr(mean_field, name, getattr(mean_field, name).py_func)
    plain = coordinate_ascent(*given)
    for name in ("mean", "deviation", "inclusion"):
        np.testing.assert_allclose(getattr(compiled, name), getattr(plain, name), rtol=1e-9)
    assert not np.allclose(compiled.mean, start.mean)


@pytest.mark.parametrize("rate", [1e12, 1e30])
def test_a_narrow_slab_excludes_everything(rate: float) -> None:
    """The determinant of a Newton step was lost in rounding errors."""
    policy = sb.rivals.VariationalTS(some_actions(5, 3), rate=rate, seed=0)
    for number in range(14):
        policy.tell(policy.ask(), np.sin(number))
    assert np.abs(policy.coefficients).max() < 1e-6
