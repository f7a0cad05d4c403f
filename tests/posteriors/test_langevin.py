"""Algorithm 1 against a slow version of itself, its bias against theory, and that it never returns a divergence."""

import math

import numpy as np
import pytest

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.posteriors import langevin
from sparsebandits.posteriors.kernels.inline_random import normal, random_state
from sparsebandits.posteriors.langevin import PowerDecay
from tests.statistical import assert_means_agree


def data(n: int, d: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d))
    return x, x[:, 0] * 1.5 - x[:, 1] + rng.standard_normal(n)


def slowly(
    prior: sb.SpikeSlab, x: FloatArray, y: FloatArray, noise: float, draws: int, seed: int, **given: int
) -> FloatArray:
    """Algorithm 1 in loops over plain numbers, with the paper's gradient and its formula for ν."""
    chains, burn_in, thinning = given.get("chains", 1), given.get("burn_in", 0), given.get("thinning", 1)
    d = x.shape[1]
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    theta = math.sqrt(0.1) * rng.standard_normal((chains, d))
    nu = np.full((chains, d), 0.5)
    state = random_state(rng)
    assert isinstance(prior.spike, sb.LaplaceSpike)
    b, v, beta = prior.spike.scale, prior.slab_variance, prior.inclusion
    largest = 1.0 / (np.linalg.eigvalsh(x.T @ x)[-1] / noise + 1.0 / v)
    kept = []
    for k in range(1, burn_in + thinning * draws // chains + 1):
        eta, omega = 0.5 * largest, k**-0.6
        for c in range(chains):
            residual = y - x @ theta[c]
            gradient = -(x.T @ residual) / noise + (1 - nu[c]) * np.sign(theta[c]) / b + nu[c] * theta[c] / v
            noise_vector = np.array([normal(state) for _ in range(d)])
            theta[c] = theta[c] - eta * gradient + math.sqrt(2 * eta) * noise_vector
            slab = beta * np.exp(-(theta[c] ** 2) / (2 * v)) / math.sqrt(2 * math.pi * v)
            spike = (1 - beta) * np.exp(-np.abs(theta[c]) / b) / (2 * b)
            nu[c] = (1 - omega) * nu[c] + omega * slab / (slab + spike)
        if k > burn_in and (k - burn_in) % thinning == 0:
            kept.append(theta.copy())
    return np.stack(kept, axis=1).reshape(draws, d)


@pytest.mark.parametrize("given", [{}, {"chains": 4}, {"chains": 2, "burn_in": 7, "thinning": 3}])
def test_equals_the_printed_algorithm(given: dict[str, int]) -> None:
    x, y = data(15, 3)
    prior = sb.SpikeSlab.from_paper(beta=0.3, lambda0=0.1, lambda1=2.0, noise_variance=0.8)
    posterior = sb.Langevin(prior, 3, 0.8, n_draws=60, seed=5, **given)  # type: ignore[arg-type]
    posterior.update(x, y)
    np.testing.assert_allclose(posterior.draws().theta, slowly(prior, x, y, 0.8, 60, 5, **given), atol=1e-9)
    assert len(posterior.draws()) == 60


def test_many_chains_in_single_precision_agree_with_few_in_double(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = data(15, 3)
    prior = sb.SpikeSlab(np.array([0.3, 0.5, 0.2]), 2.0, np.array([0.5, 0.0, -0.5]), sb.LaplaceSpike(0.1))
    values = {}
    for name, wide in (("single", 64), ("double", 10**9)):
        monkeypatch.setattr(langevin, "WIDE", wide)
        posterior = sb.Langevin(prior, 3, 0.8, n_draws=800_000, seed=5, chains=8000, burn_in=60)
        posterior.update(x, y)
        theta = posterior.draws().theta.reshape(8000, 100, 3)
        seconds = theta[..., :, np.newaxis] * theta[..., np.newaxis, :]
        parts = np.concatenate((theta, seconds.reshape(8000, 100, 9), np.abs(theta) < 0.1), axis=2).mean(axis=1)
        values[name] = parts, posterior.inclusion()
    single, double = values["single"][0], values["double"][0]
    error = np.sqrt((single.var(axis=0) + double.var(axis=0)) / 8000)
    assert_means_agree(single.mean(axis=0), double.mean(axis=0), error)
    np.testing.assert_allclose(values["single"][1], values["double"][1], atol=0.01)
    with pytest.raises(AssertionError, match="z-score"):  # planted: noise 1% too large would be seen
        assert_means_agree(
            single.mean(axis=0) * np.r_[np.ones(3), np.full(9, 1.02), np.ones(3)], double.mean(axis=0), error
        )


def gaussian_bias(rate: float) -> float:
    """Error of the variance along the stiffest direction, where all coordinates are in the slab: a Gaussian target."""
    x, y = data(40, 3)
    prior = sb.SpikeSlab(1.0, 0.7, spike=sb.LaplaceSpike(0.1))
    posterior = sb.Langevin(prior, 3, 1.0, n_draws=1_600_000, seed=0, chains=8000, burn_in=200, learning_rate=rate)
    posterior.update(x, y)
    precision = x.T @ x + np.eye(3) / 0.7
    values, vectors = np.linalg.eigh(precision)
    theta = posterior.draws().theta
    return float((theta @ vectors[:, -1]).var() * values[-1] - 1.0)


def test_the_bias_shrinks_with_the_step() -> None:
    """Unadjusted steps of η inflate a variance of 1/λ to 1/(λ (1 − ηλ/2)): halving η halves the error, roughly."""
    coarse, fine = gaussian_bias(0.8), gaussian_bias(0.4)
    assert 1.7 < coarse / fine < 3.2
    assert coarse == pytest.approx(1 / (1 - 0.4) - 1, rel=0.05)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("n", [0, 1, 2000])
def test_never_diverges_whatever_the_data(scale: float, n: int) -> None:
    x, y = data(max(n, 1), 5)
    prior = sb.SpikeSlab.from_paper(beta=0.1, lambda0=0.02, lambda1=1.0, noise_variance=2.0)
    posterior = sb.Langevin(prior, 5, 2.0, n_draws=1000, seed=0, chains=10)
    if n:
        posterior.update(x * scale, y)
    assert np.isfinite(posterior.draws().theta).all()


def test_a_divergence_is_reported_and_not_returned() -> None:
    x, y = data(100, 5)
    prior = sb.SpikeSlab.from_paper(beta=0.1, lambda0=0.02, lambda1=1.0, noise_variance=2.0)
    posterior = sb.Langevin(prior, 5, 2.0, n_draws=5000, seed=0, learning_rate=lambda k: 3.0)
    posterior.update(x, y)
    for _ in range(2):
        with pytest.raises(sb.posteriors.DivergenceError, match="diverged at learning rates of up to 3 / L"):
            posterior.draws()


def test_finds_the_pattern_of_figure_1() -> None:
    rng = np.random.default_rng(0)
    x = sb.environments.GaussianActions(10, 1, n_actions=100, correlation=0.6).sample(0).actions
    y = x @ np.array([3.0, 2.0, 0, 0, 0, 0, 0, 0, 0, 0]) + rng.standard_normal(100)
    prior = sb.SpikeSlab.from_paper(beta=0.3, lambda0=0.05, lambda1=10.0, noise_variance=1.0)
    posterior = sb.Langevin(prior, 10, 1.0, seed=0, burn_in=1000)
    posterior.update(x, y)
    np.testing.assert_allclose(posterior.mean()[:3], [3.0, 2.0, 0.0], atol=0.3)
    assert (posterior.inclusion()[:2] > 0.9).all()
    assert posterior.inclusion()[2:].mean() < 0.4


def test_a_warm_start_goes_on_and_a_cold_one_does_not() -> None:
    x, y = data(50, 3)
    prior = sb.SpikeSlab.from_paper(beta=0.3, lambda0=0.1, lambda1=2.0, noise_variance=1.0)
    first = {}
    for warm in (False, True):
        posterior = sb.Langevin(prior, 3, 1.0, n_draws=2000, seed=0, warm_start=warm)
        posterior.update(x, y)
        last = posterior.draws().theta[-1]
        posterior.update(x[0], y[0])
        first[warm] = float(np.abs(posterior.draws().theta[0] - last).max())
    assert first[True] < 0.5 < first[False]


def test_a_restored_engine_continues_bit_for_bit() -> None:
    x, y = data(50, 3)
    prior = sb.SpikeSlab.from_paper(beta=0.3, lambda0=0.1, lambda1=2.0, noise_variance=1.0)
    one, other = (sb.Langevin(prior, 3, 1.0, n_draws=100, seed=s, warm_start=True) for s in (0, 1))
    one.update(x[:20], y[:20])
    one.draws()
    other.restore(one.state())
    for engine in (one, other):
        engine.update(x[20:], y[20:])
    assert one.draws().theta.tobytes() == other.draws().theta.tobytes()


def test_schedules_and_priors_that_do_not_serve() -> None:
    laplace = sb.SpikeSlab(0.1, 1.0, spike=sb.LaplaceSpike(0.1))
    assert PowerDecay()(1) == 1.0
    for prior in (sb.SpikeSlab(0.1, 1.0), sb.SpikeSlab(sb.BetaInclusion(), 1.0, spike=sb.LaplaceSpike(0.1))):
        with pytest.raises(TypeError, match=r"prior: expected .* for Langevin"):
            sb.Langevin(prior, 3)
    with pytest.raises(TypeError, match="learning_rate: expected a number"):
        sb.Langevin(laplace, 3, learning_rate="0.1")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="step_size: expected positive numbers"):
        sb.Langevin(laplace, 3, step_size=lambda k: 0.0)
    with pytest.raises(ValueError, match="n_draws: expected a multiple of chains"):
        sb.Langevin(laplace, 3, n_draws=100, chains=7)
