"""EMVS and the spike-and-slab Lasso against their definitions and optimality conditions, and as forecasters."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats

import sparsebandits as sb
from sparsebandits.arguments import ArgumentError, FloatArray
from sparsebandits.policies.rivals.emvs import EMVS, PosteriorMode, expectation, maximisation
from sparsebandits.policies.rivals.online_to_confidence import conversion
from sparsebandits.policies.rivals.spike_slab_lasso import SpikeSlabLasso
from sparsebandits.posteriors.kernels.spike_slab_lasso import explore, threshold
from tests.policies.table import share_of_guessing, some_actions

NARROW = sb.GaussianSpike(1e-3)
LEARNT = sb.InverseGammaNoise(2.0, 1.5)
PRIORS = {
    "weight learnt": sb.SpikeSlab(sb.BetaInclusion(1.5, 3.0), 0.8, spike=NARROW),
    "weight known": sb.SpikeSlab(0.2, 0.8, spike=NARROW),
    "one value per coordinate": sb.SpikeSlab(
        np.linspace(0.1, 0.6, 6), np.linspace(0.5, 2.0, 6), np.linspace(-1.0, 1.0, 6), NARROW
    ),
    "of noise": sb.SpikeSlab(sb.BetaInclusion(1.0, 1.0), 2.0, 0.3, NARROW, of_noise=True),
}


def data(n: int, d: int, seed: int = 0, correlation: float = 0.5) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d)) + correlation * rng.standard_normal((n, 1))
    return x, 1.2 * x[:, 0] - 0.8 * x[:, 1] + rng.standard_normal(n)


# EMVS


def log_posterior(
    prior: sb.SpikeSlab, noise: Any, mode: PosteriorMode, x: FloatArray, y: FloatArray, temperature: float
) -> float:
    """Of θ, w and σ², with γ summed out, by densities; at another temperature, the objective that annealing has."""
    theta, weight, variance, t = mode.coefficients, mode.weight, mode.noise_variance, 1.0 / temperature
    unit = variance if prior.of_noise else 1.0
    mean, slab = prior.slab(len(theta))
    assert isinstance(prior.spike, sb.GaussianSpike)
    with np.errstate(divide="ignore"):
        inside = np.log(weight) + stats.norm.logpdf(theta, mean, np.sqrt(unit * slab))
        outside = np.log1p(-np.asarray(weight)) + stats.norm.logpdf(theta, 0.0, math.sqrt(unit * prior.spike.variance))
    total = float(np.sum(np.logaddexp(t * inside, t * outside))) / t
    total += float(np.sum(stats.norm.logpdf(y, x @ theta, math.sqrt(variance))))
    if isinstance(prior.inclusion, sb.BetaInclusion):
        total += float(stats.beta.logpdf(np.max(weight), prior.inclusion.a, prior.inclusion.b))
    if isinstance(noise, sb.InverseGammaNoise):
        total += float(stats.invgamma.logpdf(variance, noise.shape, scale=noise.scale))
    return total


@pytest.mark.parametrize("count", [4, 40])
@pytest.mark.parametrize("temperature", [1.0, 2.5])
@pytest.mark.parametrize("noise", [0.7, LEARNT])
@pytest.mark.parametrize("name", PRIORS)
def test_em_never_decreases_the_log_posterior(name: str, noise: Any, temperature: float, count: int) -> None:
    """Sixty steps from a random θ; whatever is left out of an update, or counted twice, decreases it somewhere."""
    prior, (x, y) = PRIORS[name], data(count, 6)
    rng = np.random.default_rng(1)
    learnt = isinstance(prior.inclusion, sb.BetaInclusion)
    weight = np.full(1, 0.5) if learnt else prior.inclusions(6)
    variance = 3.0 if isinstance(noise, sb.InverseGammaNoise) else noise
    mode = PosteriorMode(rng.standard_normal(6), np.full(6, 0.5), weight, variance)
    gram = x.T @ x if count > 6 else None
    values = [log_posterior(prior, noise, mode, x, y, temperature)]
    for _ in range(60):
        mode = maximisation(prior, noise, expectation(prior, mode, temperature), x, y, gram, x.T @ y)
        values.append(log_posterior(prior, noise, mode, x, y, temperature))
    assert np.diff(values).min() > -1e-9 * abs(values[0])
    assert values[-1] > values[0] + 1.0


def slow_emvs(prior: sb.SpikeSlab, noise: Any, x: FloatArray, y: FloatArray, temperature: float) -> FloatArray:
    """EMVS by densities and inverses, with many steps on every rung; return θ, p, w and σ², one after the other."""

    def density(value: FloatArray, variance: Any) -> FloatArray:
        return np.asarray(np.exp(-(value**2) / (2 * variance)) / np.sqrt(2 * math.pi * variance))

    n, d = x.shape
    mean, slab = prior.slab(d)
    theta, p, w = np.zeros(d), np.full(d, 0.5), prior.inclusions(d)
    learnt = isinstance(noise, sb.InverseGammaNoise)
    start = (y @ y + 2 * noise.scale) / (n + 2 * noise.shape + 2) if learnt else noise
    assert isinstance(prior.spike, sb.GaussianSpike)
    first, last = slab.min() / math.e, prior.spike.variance
    for k in range(20):
        v0 = first * (last / first) ** (k / 19)
        if isinstance(prior.inclusion, sb.BetaInclusion):
            w = np.full(d, 0.5)
        variance = start
        for step in range(400):
            unit = variance if prior.of_noise else 1.0
            if k or step:
                inside = (w * density(theta - mean, unit * slab)) ** (1 / temperature)
                outside = ((1 - w) * density(theta, unit * v0)) ** (1 / temperature)
                p = inside / (inside + outside)
            precision = np.diag((p / slab + (1 - p) / v0) / unit)  # of θ
            theta = np.linalg.inv(x.T @ x / variance + precision) @ (x.T @ y / variance + p * mean / slab / unit)
            if isinstance(prior.inclusion, sb.BetaInclusion):
                a, b = prior.inclusion.a, prior.inclusion.b
                w = np.full(d, (p.sum() + a - 1) / (a + b + d - 2))
            if learnt:
                squares, terms = ((y - x @ theta) ** 2).sum(), n
                if prior.of_noise:
                    squares += (p * (theta - mean) ** 2 / slab + (1 - p) * theta**2 / v0).sum()
                    terms += d
                variance = (squares + 2 * noise.scale) / (terms + 2 * noise.shape + 2)
    unit = variance if prior.of_noise else 1.0
    inside = (w * density(theta - mean, unit * slab)) ** (1 / temperature)
    outside = ((1 - w) * density(theta, unit * v0)) ** (1 / temperature)
    return np.concatenate((theta, inside / (inside + outside), w, [variance]))


@pytest.mark.parametrize(
    ("name", "noise", "temperature", "count"),
    [
        ("weight learnt", 0.7, 1.0, 40),
        ("weight known", LEARNT, 1.0, 4),
        ("one value per coordinate", 0.7, 1.5, 12),
        ("of noise", LEARNT, 1.0, 40),
    ],
)
def test_emvs_against_densities_and_inverses(
    name: str, noise: Any, temperature: float, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sparsebandits.policies.rivals.emvs.TOLERANCE", 1e-9)
    prior, (x, y) = PRIORS[name], data(count, 6, seed=2)
    mode = EMVS(prior, noise, temperature=temperature).fit(x, y)
    weight = np.broadcast_to(mode.weight, 6)
    found = np.concatenate((mode.coefficients, mode.inclusion, weight, [mode.noise_variance]))
    np.testing.assert_allclose(found, slow_emvs(prior, noise, x, y, temperature), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", PRIORS)
def test_emvs_ends_at_a_mode(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The gradient of the log posterior in θ is zero, relative to that a hundredth away; planted: θ shrunk by 1%."""
    monkeypatch.setattr("sparsebandits.policies.rivals.emvs.TOLERANCE", 1e-10)
    prior, (x, y) = PRIORS[name], data(40, 6, seed=2)
    mode = EMVS(prior, LEARNT).fit(x, y)

    def height(at: FloatArray) -> float:
        moved = PosteriorMode(at, mode.inclusion, mode.weight, mode.noise_variance)
        return log_posterior(prior, LEARNT, moved, x, y, 1.0)

    def slope(theta: FloatArray) -> float:
        return float(np.abs(optimize.approx_fprime(theta, height, 1e-7)).max())

    away = slope(mode.coefficients + 0.01)
    assert slope(mode.coefficients) < 1e-3 * away
    assert slope(0.99 * mode.coefficients) > 1e-3 * away


def test_emvs_selects_what_matters_among_many() -> None:
    """The setting of the vignette of the R package, smaller: three large effects, of which none is missed."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((100, 300))
    y = x[:, :3] @ np.array([1.5, 2.0, 2.5]) + rng.standard_normal(100)
    prior = sb.SpikeSlab(sb.BetaInclusion(), 1.0, spike=sb.GaussianSpike(math.exp(-10)))
    for noise in (1.0, sb.InverseGammaNoise(0.5, 0.5)):
        mode = EMVS(prior, noise).fit(x, y)
        assert np.flatnonzero(mode.inclusion > 0.5).tolist() == [0, 1, 2]
        assert 0.6 < mode.noise_variance < 1.4
    ladder = EMVS(prior).ladder()
    np.testing.assert_allclose(ladder, np.exp(np.linspace(-1, -10, 20)))
    assert ladder[-1] == math.exp(-10)
    slabs = sb.SpikeSlab(0.3, np.array([0.5, 4.0]), spike=NARROW)
    assert EMVS(slabs).ladder()[0] == pytest.approx(0.5 / math.e), "below all slabs"


def test_emvs_starts_at_the_noise_of_rewards_that_nothing_explains(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first θ is a ridge regression with p = ½ and the mode of σ² at θ = 0."""
    monkeypatch.setattr("sparsebandits.policies.rivals.emvs.STEPS", 1)
    x, y = data(12, 6)
    noise = (y @ y + 2 * LEARNT.scale) / (12 + 2 * LEARNT.shape + 2)
    penalty = noise * (0.5 / 0.8 + 0.5 / 1e-3)
    mode = EMVS(PRIORS["weight known"], LEARNT, rungs=1).fit(x, y)
    np.testing.assert_allclose(mode.coefficients, np.linalg.solve(x.T @ x + penalty * np.eye(6), x.T @ y))


@pytest.mark.parametrize("count", [0, 1, 30])
def test_the_weight_and_the_noise_of_emvs_have_settled(count: int) -> None:
    """Another step changes neither; planted: EM that stops as soon as θ does, here after two steps."""
    prior = sb.SpikeSlab(sb.BetaInclusion(1.0, 1.0), 1.0, spike=sb.GaussianSpike(1e-4))
    x, y = np.ones((count, 1)), np.zeros(count)
    mode = EMVS(prior, LEARNT).fit(x, y)
    again = maximisation(prior, LEARNT, mode, x, y, x.T @ x if count else None, x.T @ y)
    assert float(np.max(mode.weight)) == pytest.approx(float(np.max(again.weight)), abs=2e-5)
    assert mode.noise_variance == pytest.approx(again.noise_variance, rel=2e-5)


# The spike-and-slab Lasso


def log_prior(theta: FloatArray, weight: float, slab: float, spike: float) -> FloatArray:
    inside = math.log(weight) + stats.laplace.logpdf(theta, scale=1 / slab)
    outside = math.log1p(-weight) + stats.laplace.logpdf(theta, scale=1 / spike)
    return np.asarray(np.logaddexp(inside, outside))


def slow_lasso(x: FloatArray, y: FloatArray, noise: float, slab: float, spikes: FloatArray, a: float) -> FloatArray:
    """The same by residuals and densities, one coordinate at a time, with a Beta(a, d) weight."""
    d = x.shape[1]
    theta, w = np.zeros(d), a / (a + d)
    for spike in spikes:
        for _ in range(80):
            for j in range(d):
                n = x[:, j] @ x[:, j]
                z = x[:, j] @ (y - x @ theta + x[:, j] * theta[j])

                p, rate = {}, {}  # at zero, and at θ_j
                for t in (0.0, abs(theta[j])):
                    one, zero = w * slab * math.exp(-slab * t), (1 - w) * spike * math.exp(-spike * t)
                    p[t] = 1.0 if spike == slab else one / (one + zero)
                    rate[t] = p[t] * slab + (1 - p[t]) * spike
                delta = noise * rate[0.0]
                if (rate[0.0] - slab) ** 2 + 2 * n / noise * math.log(p[0.0]) > 0:
                    delta = math.sqrt(2 * n * noise * math.log(1 / p[0.0])) + noise * slab
                size = abs(z) - noise * rate[abs(theta[j])]
                theta[j] = np.sign(z) * size / n if abs(z) > delta and size > 0 else 0.0
            w = (a + np.count_nonzero(theta)) / (a + 2 * d)
    return theta


@pytest.mark.parametrize(("n", "d"), [(40, 8), (15, 20)])
def test_spike_slab_lasso_against_residuals(n: int, d: int) -> None:
    for seed in range(3):
        x, y = data(n, d, seed)
        lasso = SpikeSlabLasso(0.7, 0.5, 12.0, sb.BetaInclusion(2.0, d), rungs=7)
        expected = slow_lasso(x, y, 0.7, 0.5, np.linspace(0.5, 12.0, 7), 2.0)
        np.testing.assert_allclose(lasso.fit(x, y).coefficients, expected, atol=1e-5)


def violation(estimator: SpikeSlabLasso, mode: PosteriorMode, x: FloatArray, y: FloatArray, noise: float) -> float:
    """Return by how much a mode misses the stationarity conditions, as a share of σ²λ₀."""
    theta, weight = mode.coefficients, float(np.max(mode.weight))
    slab, spike = estimator.slab_penalty, float(estimator.ladder(len(y))[-1])
    worst = 0.0
    for j, pull in enumerate(x.T @ (y - x @ theta)):
        inside = weight * slab * math.exp(-slab * abs(theta[j]))
        outside = (1 - weight) * spike * math.exp(-spike * abs(theta[j]))
        rate = (inside * slab + outside * spike) / (inside + outside)
        missed = abs(pull - noise * rate * np.sign(theta[j])) if theta[j] else max(abs(pull) - noise * rate, 0.0)
        worst = max(worst, missed / (noise * spike))
    return worst


@pytest.mark.parametrize("inclusion", [0.1, None])
def test_spike_slab_lasso_ends_where_no_coefficient_would_move(inclusion: float | None) -> None:
    """x_j'(y − Xθ) = σ²λ*(θ_j) sign(θ_j), or at most σ²λ*(0) where θ_j = 0, at the w of the number of features used."""
    for seed in range(10):
        n, d = (60, 10) if seed % 2 else (25, 40)
        x, y = data(n, d, seed)
        estimator = SpikeSlabLasso(0.8, inclusion=inclusion)
        mode = estimator.fit(x, y)
        used = np.count_nonzero(mode.coefficients)
        assert 0 < used < d
        assert mode.weight == (inclusion or (1 + used) / (1 + 2 * d))
        assert violation(estimator, mode, x, y, 0.8) < 1e-5
        assert violation(estimator, mode, x, y, 0.9) > 1e-5, "planted: another noise"
        for j in np.flatnonzero(mode.coefficients):  # and none is kept that the threshold would not let in
            z = x[:, j] @ (y - x @ mode.coefficients + x[:, j] * mode.coefficients[j])
            weight, spike = float(np.max(mode.weight)), float(n)
            assert abs(z) > threshold(float(x[:, j] @ x[:, j]), 0.8, weight, 1.0, spike)


def test_orthogonal_columns_have_the_closed_form_threshold() -> None:
    """Zero up to Δ, otherwise the larger root; Δ is above the exact threshold, by 2% at most here."""
    n, noise, slab, spike, weight = 30, 0.5, 0.7, 40.0, 0.2
    x = math.sqrt(n) * np.linalg.qr(np.random.default_rng(0).standard_normal((60, 50)))[0]
    delta = threshold(float(n), noise, weight, slab, spike)
    p = weight * slab / (weight * slab + (1 - weight) * spike)
    assert delta == pytest.approx(math.sqrt(2 * n * noise * math.log(1 / p)) + noise * slab, rel=1e-12)
    t = np.geomspace(1e-4, 10.0, 200_001)
    gain = log_prior(np.zeros(1), weight, slab, spike) - log_prior(t, weight, slab, spike)
    exact = float((n * t / 2 + noise * gain / t).min())
    assert exact < delta < 1.02 * exact
    z = np.concatenate(
        (np.linspace(0.2, 0.99, 20) * exact, [0.999 * delta, 1.001 * delta], delta * np.linspace(1.01, 3, 28))
    )
    estimator = SpikeSlabLasso(noise, slab, spike, weight)
    found = estimator.fit(x, x @ z / n).coefficients  # x'y = z
    np.testing.assert_array_equal(found != 0.0, z > delta)
    for value, theta in zip(z[(z < exact) | (z > delta)], found[(z < exact) | (z > delta)], strict=True):
        grid = np.linspace(0.0, 1.2 * value / n, 100_001)
        height = -n / (2 * noise) * (grid - value / n) ** 2 + log_prior(grid, weight, slab, spike)
        assert theta == pytest.approx(grid[height.argmax()], abs=2 * grid[1])


def test_coordinate_ascent_never_decreases_the_posterior() -> None:
    """Sweep by sweep, at one λ₀ and one w, from a random θ."""
    noise, slab, spike, weight = 0.8, 0.5, 15.0, 0.3
    for seed in range(10):
        x, y = data(30, 12, seed)
        theta = np.random.default_rng(seed).standard_normal(12)
        gram, values = x.T @ x, []
        for _ in range(30):
            explore(gram, x.T @ y, noise, slab, np.array([spike]), 0.0, 0.0, weight, theta, gram @ theta, 0.0, 1)
            fit = float(np.square(y - x @ theta).sum()) / (2 * noise)
            values.append(float(log_prior(theta, weight, slab, spike).sum()) - fit)
        assert np.diff(values).min() > -1e-9


def test_with_equal_penalties_it_is_the_lasso() -> None:
    from sparsebandits.policies.rivals.lasso import lasso

    x, y = data(40, 10)
    for inclusion in (None, 0.3, 1.0):
        found = SpikeSlabLasso(0.8, 9.0, 9.0, inclusion, rungs=1).fit(x, y)
        np.testing.assert_allclose(found.coefficients, lasso(x, y, 0.8 * 9.0 / 40, np.zeros(10)), atol=1e-4)
    all_slab = SpikeSlabLasso(0.8, 9.0, 50.0, 1.0).fit(x, y)
    np.testing.assert_allclose(all_slab.coefficients, found.coefficients, atol=1e-6)
    np.testing.assert_array_equal(all_slab.inclusion, 1.0)
    np.testing.assert_allclose(SpikeSlabLasso().ladder(100), np.linspace(1, 100, 100))
    np.testing.assert_allclose(SpikeSlabLasso(slab_penalty=0.5).ladder(100), np.linspace(0.5, 50, 100))


# As regressors and forecasters

SHORT = EMVS(sb.SpikeSlab(sb.BetaInclusion(1.0, 2.0), 1.0, spike=sb.GaussianSpike(1e-3)), 0.5, rungs=3)
MODES: dict[str, Any] = {"EMVS": SHORT, "spike-and-slab Lasso": SpikeSlabLasso(0.5, rungs=5)}


@pytest.mark.parametrize("name", MODES)
def test_greedy_decision_by_decision(name: str) -> None:
    """Uniform for five rounds, then the best row under the estimate of all rewards that have come."""
    actions, rng = some_actions(7, 4), np.random.default_rng(0)
    policy = sb.rivals.RegressionGreedy(actions, 0.5, MODES[name], exploration=5, seed=0)
    history_x: list[FloatArray] = []
    history_y: list[float] = []
    for t in range(25):
        decision = policy.ask()
        if t < 5:
            assert decision.probability == pytest.approx(1 / 7)
        else:
            theta = MODES[name].fit(np.array(history_x), np.array(history_y)).coefficients
            np.testing.assert_array_equal(policy.coefficients, theta)
            values = actions @ theta
            assert values[decision.action] == values.max()
            assert decision.probability == pytest.approx(1 / np.count_nonzero(values == values.max()))
        reward = float(decision.features[0] + rng.standard_normal())
        history_x.append(decision.features)
        history_y.append(reward)
        policy.tell(decision, reward)


@pytest.mark.parametrize("regret", ["realised", 2.0])
@pytest.mark.parametrize("name", MODES)
def test_optimism_over_their_forecasts(name: str, regret: Any) -> None:
    """Centre, radius and index from all data anew; each reward is forecast by the estimate without it."""
    actions, rng, noise, bound, delta = some_actions(8, 3), np.random.default_rng(0), 0.5, 1.5, 0.1
    policy = sb.rivals.OnlineToConfidence(
        actions, noise_variance=noise, forecaster=MODES[name], regret=regret, bound=bound, delta=delta
    )
    x, y, forecasts = np.empty((0, 3)), np.empty(0), np.empty(0)
    for _ in range(15):
        theta = MODES[name].fit(x, y).coefficients if len(y) else np.zeros(3)
        known = regret
        if regret == "realised":
            known = max(float(((y - forecasts) ** 2).sum() - ((y - x @ theta) ** 2).sum()), 0.0)
        inverse = np.linalg.inv(np.eye(3) + x.T @ x)
        centre = inverse @ x.T @ forecasts
        misfit = centre @ centre + ((forecasts - x @ centre) ** 2).sum()
        radius = math.sqrt(bound**2 + conversion(known, noise, delta) - misfit)
        index = [a @ centre + radius * math.sqrt(a @ inverse @ a) for a in actions]
        decision = policy.ask()
        assert decision.action == int(np.argmax(index))
        assert decision.reasons.notes["radius"] == pytest.approx(radius, abs=1e-8)
        reward = float(rng.standard_normal())
        forecasts = np.append(forecasts, decision.features @ theta)
        x, y = np.vstack((x, decision.features)), np.append(y, reward)
        policy.tell(decision, reward)
    np.testing.assert_array_equal(policy.posterior.inclusion(), policy.posterior.forecaster.mean() != 0.0)
    assert [row["estimate"] for row in policy.posterior.summary()] == policy.posterior.forecaster.mean().tolist()


@pytest.mark.parametrize("name", ["emvs", "spike-and-slab lasso"])
def test_their_names(name: str) -> None:
    kind = EMVS if name == "emvs" else SpikeSlabLasso
    for make in (sb.rivals.SquareCB, sb.rivals.FALCON, sb.rivals.RegressionGreedy, sb.rivals.ILTCB):
        estimator = make(np.eye(2), 0.25, regressor=name).posterior.estimator
        assert isinstance(estimator, kind)
        assert estimator.noise_variance == (1.0 if make is sb.rivals.ILTCB else 0.25)  # it scales its rewards
    policy = sb.rivals.OnlineToConfidence(np.eye(2), noise_variance=0.25, forecaster=name, regret=1.0)
    assert isinstance(policy.posterior.forecaster.estimator, kind)


@pytest.mark.parametrize("name", MODES)
def test_regret_is_a_fraction_of_that_of_guessing(name: str) -> None:
    """Told the opposite of each reward, it does worse than guessing."""
    world = sb.environments.GaussianActions(5, 2, n_actions=8, noise_variance=0.1)

    def make(instance: sb.environments.Instance, seed: int) -> sb.Policy:
        regressor = MODES[name]
        return sb.rivals.RegressionGreedy(instance.actions, 0.1, regressor, exploration=20, refit_growth=0.1, seed=seed)

    assert share_of_guessing(make, world) < 0.45
    assert share_of_guessing(make, world, sign=-1.0) > 0.9


def test_what_they_refuse() -> None:
    spike = sb.GaussianSpike(0.1)
    for prior in (
        sb.SpikeSlab(0.1, 1.0),
        sb.SpikeSlab(0.1, sb.InverseGammaSlab(), spike=spike),
        sb.SpikeSlab(sb.BetaInclusion(0.5, 1.0), 1.0, spike=spike),
    ):
        with pytest.raises((TypeError, ValueError), match=r"^prior: expected"):
            EMVS(prior)
    prior = sb.SpikeSlab(0.1, 1.0, spike=spike)
    of_no_settings: Any = EMVS  # the class itself
    wrong: list[tuple[str, Any]] = [
        ("noise_variance", lambda: EMVS(prior, 0.0)),
        ("noise_variance", lambda: EMVS(prior, sb.InverseGammaNoise(of_rewards=True))),
        ("rungs", lambda: EMVS(prior, rungs=0)),
        ("temperature", lambda: EMVS(prior, temperature=-1.0)),
        ("noise_variance", lambda: SpikeSlabLasso(-1.0)),
        ("slab_penalty", lambda: SpikeSlabLasso(1.0, 0.0)),
        ("spike_penalty", lambda: SpikeSlabLasso(1.0, 2.0, 1.0)),
        ("inclusion", lambda: SpikeSlabLasso(inclusion=0.0)),
        ("inclusion", lambda: SpikeSlabLasso(inclusion=1.1)),
        ("rungs", lambda: SpikeSlabLasso(rungs=0)),
        ("regret", lambda: sb.rivals.OnlineToConfidence(np.eye(2), forecaster="emvs")),
        ("forecaster", lambda: sb.rivals.OnlineToConfidence(np.eye(2), prior, forecaster="emvs", regret=1.0)),
        ("forecaster", lambda: sb.rivals.OnlineToConfidence(np.eye(2), forecaster="forest", regret=1.0)),
        ("forecaster", lambda: sb.rivals.OnlineToConfidence(np.eye(2), forecaster=of_no_settings, regret=1.0)),
        ("regressor", lambda: sb.rivals.RegressionGreedy(np.eye(2), regressor="forest")),
        ("regressor", lambda: sb.rivals.RegressionGreedy(np.eye(2), regressor=of_no_settings)),
        ("regressor", lambda: sb.rivals.SquareCB(np.eye(2), regressor=of_no_settings)),
        ("noise_variance", lambda: sb.rivals.EstimateForecaster(2, SHORT, 0.0)),
    ]
    for name, make in wrong:
        with pytest.raises((TypeError, ValueError)) as refused:
            make()
        assert isinstance(refused.value, ArgumentError)
        assert refused.value.name == name


@pytest.mark.parametrize("name", MODES)
def test_data_that_are_none_are_refused(name: str) -> None:
    """They used to give NaN, zeros, or the error of a matrix product."""
    x, y = data(6, 3)
    holed, endless = y.copy(), x.copy()
    holed[2], endless[1, 1] = np.nan, np.inf
    wrong: list[tuple[str, Any, Any]] = [
        ("y", x, holed),
        ("x", endless, y),
        ("y", x, y[:-1]),
        ("y", x, y[:, np.newaxis]),
        ("y", x, 1.0),
        ("x", x[0], y[0]),
        ("x", x[:, :0], y),
        ("x", [[1.0, 2.0], [3.0]], [1.0, 2.0]),
        ("x", "text", y),
        ("y", x, ["high"] * 6),
        ("y", x, None),
    ]
    for argument, features, rewards in wrong:
        with pytest.raises(ArgumentError) as refused:
            MODES[name].fit(features, rewards)
        assert refused.value.name == argument


@pytest.mark.parametrize("estimator", [*MODES.values(), EMVS(PRIORS["weight known"], LEARNT)])
def test_data_of_other_kinds(estimator: Any) -> None:
    """Lists, tables and no data at all; of policies, the call gives what ``fit`` gives."""
    x, y = data(6, 3)
    expected = estimator.fit(x, y).coefficients
    for features, rewards in ((x.tolist(), y.tolist()), (pd.DataFrame(x), pd.Series(y)), (np.asfortranarray(x), y)):
        np.testing.assert_array_equal(estimator.fit(features, rewards).coefficients, expected)
    np.testing.assert_array_equal(estimator(x, y, np.zeros(3)).coefficients, expected)
    np.testing.assert_array_equal(estimator.fit(np.empty((0, 3)), []).coefficients, np.zeros(3))
