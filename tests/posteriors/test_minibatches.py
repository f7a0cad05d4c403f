"""Minibatches of Langevin: unbiased gradients, the algorithm in slow motion, and the posterior of full gradients."""

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import stats

import sparsebandits as sb
from sparsebandits.arguments import FloatArray, SaveFileError
from sparsebandits.posteriors import langevin
from sparsebandits.posteriors.kernels.inline_random import normal, random_state, uniform
from sparsebandits.posteriors.kernels.langevin import batch_gradient
from tests.statistical import assert_means_agree

PAPER = sb.SpikeSlab.from_paper(beta=0.3, lambda0=0.1, lambda1=2.0, noise_variance=0.8)


def data(n: int, d: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d))
    return x, x[:, 0] * 1.5 - x[:, 1] + rng.standard_normal(n)


def gradients(x: FloatArray, y: FloatArray, theta: FloatArray, batch: int, count: int) -> FloatArray:
    """Gradients of ``count`` minibatches at one θ, in the order in which they are drawn."""
    state, order, found = random_state(np.random.default_rng(0)), np.arange(len(y)), np.empty((count, len(theta)))
    batch_gradient(np.tile(theta, (count, 1)), x, y, order, batch, found, state)
    return found


@pytest.mark.parametrize("batch", [1, 3, 9])
def test_gradients_are_unbiased(batch: int) -> None:
    """Over 40,000 minibatches; planted: n / (m + ½) in place of n / m, and rows that differ by a factor of three."""
    x, y = data(10, 4)
    x[0] *= 3.0
    theta = np.array([0.3, -0.2, 1.0, 0.0])
    found = gradients(x, y, theta, batch, 40_000)
    error = found.std(axis=0) / math.sqrt(40_000)
    expected = x.T @ (x @ theta - y)
    assert_means_agree(found.mean(axis=0), expected, error)
    with pytest.raises(AssertionError, match="z-score"):
        assert_means_agree(found.mean(axis=0) * batch / (batch + 0.5), expected, error)


def test_each_minibatch_is_equally_likely() -> None:
    """All ten pairs of five rows, and no row twice; a chi-squared test at 1 in 10,000."""
    x, y, theta = np.diag(np.arange(1.0, 6.0)), np.zeros(5), np.ones(5)
    found = gradients(x, y, theta, 2, 20_000)
    pairs = [tuple(np.flatnonzero(row).tolist()) for row in found]
    counts = [pairs.count(pair) for pair in combinations(range(5), 2)]
    assert sum(counts) == 20_000
    assert stats.chisquare(counts).pvalue > 1e-4
    np.testing.assert_allclose(found.max(axis=0), 2.5 * np.arange(1.0, 6.0) ** 2)


def slowly(x: FloatArray, y: FloatArray, noise: float, draws: int, seed: int, chains: int, batch: int) -> FloatArray:
    """Algorithm 1 with minibatches in loops over plain numbers; a minibatch is the head of a shuffled list of rows."""
    n, d = x.shape
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    theta, nu = math.sqrt(0.1) * rng.standard_normal((chains, d)), np.full((chains, d), 0.5)
    state, rows = random_state(rng), list(range(n))
    assert isinstance(PAPER.spike, sb.LaplaceSpike)
    b, v, beta = PAPER.spike.scale, PAPER.slab_variance, PAPER.inclusion
    longest = sorted((float(row @ row) for row in x), reverse=True)[:batch]
    curvature = n / batch * min(np.linalg.norm(x, 2) ** 2, sum(longest)) / noise + 1 / v
    eta, kept = 0.5 / curvature, []
    for k in range(1, draws // chains + 1):
        likelihood = []
        for c in range(chains):
            for place in range(batch):
                other = place + math.floor(uniform(state) * (n - place))
                rows[place], rows[other] = rows[other], rows[place]
            head = rows[:batch]
            likelihood.append(-(n / batch) * x[head].T @ (y[head] - x[head] @ theta[c]) / noise)
        for c in range(chains):
            gradient = likelihood[c] + (1 - nu[c]) * np.sign(theta[c]) / b + nu[c] * theta[c] / v
            theta[c] = theta[c] - eta * gradient + math.sqrt(2 * eta) * np.array([normal(state) for _ in range(d)])
            slab = beta * np.exp(-(theta[c] ** 2) / (2 * v)) / math.sqrt(2 * math.pi * v)
            spike = (1 - beta) * np.exp(-np.abs(theta[c]) / b) / (2 * b)
            nu[c] = (1 - k**-0.6) * nu[c] + k**-0.6 * slab / (slab + spike)
        kept.append(theta.copy())
    return np.stack(kept, axis=1).reshape(draws, d)


@pytest.mark.parametrize(("chains", "batch"), [(1, 1), (1, 6), (4, 14)])
def test_equals_the_algorithm_in_slow_motion(chains: int, batch: int) -> None:
    x, y = data(15, 3)
    posterior = sb.Langevin(PAPER, 3, 0.8, n_draws=60, seed=5, chains=chains, batch_size=batch)
    posterior.update(x[:7], y[:7])
    posterior.update(x[7:], y[7:])
    expected = slowly(x, y, 0.8, 60, 5, chains, batch)
    np.testing.assert_allclose(posterior.draws().theta, expected, atol=1e-9)


def test_as_many_rows_as_there_are_is_the_full_gradient_bit_for_bit() -> None:
    x, y = data(20, 3)
    for chains in (1, 64):
        found = []
        for batch in (None, 20, 1000):
            posterior = sb.Langevin(PAPER, 3, 0.8, n_draws=640, seed=5, chains=chains, batch_size=batch)
            posterior.update(x, y)
            found.append(posterior.draws().theta.tobytes())
        assert found[0] == found[1] == found[2]
        fewer = sb.Langevin(PAPER, 3, 0.8, n_draws=640, seed=5, chains=chains, batch_size=19)
        fewer.update(x, y)
        assert fewer.draws().theta.tobytes() != found[0]


@pytest.mark.parametrize("wide", [64, 10**9])
def test_the_mean_of_a_gaussian_posterior_is_exact(wide: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all is slab the gradient is linear in θ, so noise of any size leaves the mean as it is; not the variance.

    Means of 2,000 chains; planted: the mean of the posterior with three rows less.
    """
    monkeypatch.setattr(langevin, "WIDE", wide)
    x, y = data(30, 3)
    prior = sb.SpikeSlab(1.0, 0.7, spike=sb.LaplaceSpike(0.1))
    posterior = sb.Langevin(prior, 3, 1.0, n_draws=20_000, seed=0, chains=2000, burn_in=150, batch_size=5)
    posterior.update(x, y)
    theta = posterior.draws().theta
    chains = theta.reshape(2000, 10, 3).mean(axis=1)
    error = chains.std(axis=0) / math.sqrt(2000)
    exact = np.asarray(np.linalg.solve(x.T @ x + np.eye(3) / 0.7, x.T @ y), dtype=np.float64)
    assert_means_agree(chains.mean(axis=0), exact, error)
    assert (theta.var(axis=0) > np.diag(np.linalg.inv(x.T @ x + np.eye(3) / 0.7))).all()
    other = np.asarray(np.linalg.solve(x[3:].T @ x[3:] + np.eye(3) / 0.7, x[3:].T @ y[3:]), dtype=np.float64)
    with pytest.raises(AssertionError, match="z-score"):
        assert_means_agree(chains.mean(axis=0), other, error)


def test_half_of_the_rows_give_about_the_mean_of_all() -> None:
    """With a spike, the mean has a bias, which is below a tenth of a posterior standard deviation of the slab here."""
    x, y = data(100, 4)
    means, inclusions = [], []
    for batch in (None, 50):
        posterior = sb.Langevin(PAPER, 4, 0.8, n_draws=200_000, seed=0, chains=400, burn_in=500, batch_size=batch)
        posterior.update(x, y)
        means.append(posterior.mean())
        inclusions.append(posterior.inclusions())
    np.testing.assert_allclose(means[1], means[0], atol=0.01)
    np.testing.assert_allclose(inclusions[1], inclusions[0], atol=0.1)


@pytest.mark.parametrize("batch", [1, 7])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_never_diverges_whatever_the_data(scale: float, batch: int) -> None:
    """One row of a hundred is a hundred times as long, so the minibatches with it are far steeper than the others."""
    x, y = data(100, 5)
    x[13] *= 100.0
    posterior = sb.Langevin(PAPER, 5, 0.8, n_draws=2000, seed=0, chains=10, batch_size=batch)
    posterior.update(x * scale, y)
    assert (np.abs(posterior.draws().theta) < 1e3 * max(1.0, 1.0 / scale)).all()


def test_rows_have_the_sums_of_the_evidence() -> None:
    """With weights, an intercept and discounted rewards."""
    x, y = data(30, 3)
    for rewards in (sb.Gaussian(0.8), sb.Gaussian(0.8, intercept=True), sb.Gaussian(0.8, forgetting=sb.Discount(10))):
        posterior = sb.Langevin(PAPER, 3, n_draws=100, seed=0, rewards=rewards, batch_size=4)
        for k in range(0, 30, 5):
            posterior.absorb(x[k : k + 5], y[k : k + 5], np.linspace(0.5, 2.0, 5))
        np.testing.assert_allclose(posterior._x.T @ posterior._x, posterior.evidence.gram, rtol=1e-9)
        np.testing.assert_allclose(posterior._x.T @ posterior._y, posterior.evidence.moment, rtol=1e-9)
        assert np.isfinite(posterior.draws().theta).all()
    assert len(sb.Langevin(PAPER, 3, n_draws=100)._y) == 0, "without minibatches no row is kept"


def test_a_restored_engine_continues_bit_for_bit() -> None:
    x, y = data(50, 3)
    given: dict[str, Any] = {"n_draws": 100, "warm_start": True, "batch_size": 6}
    one, other = (sb.Langevin(PAPER, 3, 0.8, seed=seed, **given) for seed in (0, 1))
    one.update(x[:20], y[:20])
    one.draws()
    other.restore(one.state())
    for engine in (one, other):
        engine.update(x[20:], y[20:])
    assert one.draws().theta.tobytes() == other.draws().theta.tobytes()
    whole = sb.Langevin(PAPER, 3, 0.8, n_draws=100, warm_start=True)
    for engine, state in ((whole, one.state()), (one, whole.state())):
        with pytest.raises(SaveFileError, match="rows"):
            engine.restore(state)


def test_a_policy_with_minibatches_is_saved(tmp_path: Any) -> None:
    actions = np.random.default_rng(0).standard_normal((6, 3))
    options = {"batch_size": 4, "warm_start": True}
    policy = sb.SparseIDS(
        actions, PAPER, noise_variance=0.8, engine="langevin", engine_options=options, n_draws=60, seed=0
    )
    for _ in range(8):
        policy.tell(policy.ask(), 1.0)
    policy.save(tmp_path / "policy")
    again = sb.load(tmp_path / "policy")
    for each in (policy, again):
        each.tell(each.ask(), -1.0)
    assert policy.posterior.draws().theta.tobytes() == again.posterior.draws().theta.tobytes()


@pytest.mark.parametrize("wrong", [0, -3, 2.5, "many"])
def test_sizes_that_are_none(wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"^batch_size: expected"):
        sb.Langevin(PAPER, 3, batch_size=wrong)
