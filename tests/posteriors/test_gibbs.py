"""Gibbs against enumeration and quadrature, where chains mix and where single-site moves would stick."""

import numpy as np
import pytest

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.posteriors import gibbs
from sparsebandits.posteriors.moves import Moves
from tests.posteriors.test_kernels import BETA, DESIGNS, SLAB_MEAN, SLAB_VARIANCE, D, laplace_moments
from tests.posteriors.test_particles import PRIORS, history
from tests.statistical import assert_means_agree

DRAWS = 20_000


def difference(posterior: sb.Gibbs, truth: sb.Enumeration) -> float:
    """Return the largest error of means, inclusions and second moments."""
    theta = posterior.draws().theta
    return float(
        max(
            np.abs(posterior.mean() - truth.mean()).max(),
            np.abs(posterior.inclusion() - truth.inclusion()).max(),
            np.abs(theta.T @ theta / len(theta) - truth.second_moment()).max(),
        )
    )


@pytest.mark.parametrize("kind", PRIORS)
@pytest.mark.parametrize("rounds", [3, 100])
def test_agree_with_enumeration(kind: str, rounds: int) -> None:
    """20,000 draws with little autocorrelation: an error of 0.03 is some six standard errors."""
    prior, noise = PRIORS[kind]
    x, y = history(6, rounds, seed=1)
    posterior, truth = sb.Gibbs(prior, 6, noise, DRAWS, seed=0), sb.Enumeration(prior, 6, noise)
    posterior.update(x, y)
    truth.update(x, y)
    assert difference(posterior, truth) < 0.03
    assert posterior.r_hat().max() < 1.01
    assert posterior.noise_variance == pytest.approx(truth.noise_variance, rel=0.03)


def stuck(design: str, spike: sb.PointMass | sb.GaussianSpike) -> tuple[sb.Gibbs, sb.Enumeration]:
    rng = np.random.default_rng(1)
    x = DESIGNS[design](rng)
    y = x @ np.array([1.0, 0.0, -0.7, 0.0, 0.0]) + rng.standard_normal(len(x))
    prior = sb.SpikeSlab(BETA, SLAB_VARIANCE, SLAB_MEAN, spike)
    posterior, truth = sb.Gibbs(prior, D, 1.0, DRAWS, seed=0, chains=8), sb.Enumeration(prior, D, 1.0)
    posterior.update(x, y)
    truth.update(x, y)
    return posterior, truth


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("spike", [sb.PointMass(), sb.GaussianSpike(0.02)])
def test_do_not_stick(design: str, spike: sb.PointMass | sb.GaussianSpike, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gibbs, "BLOCK_EVERY", 2)
    monkeypatch.setattr(gibbs, "BLOCK_EVERY_PER_FEATURE", 0)
    posterior, truth = stuck(design, spike)
    assert difference(posterior, truth) < 0.05
    assert posterior.r_hat().max() < 1.02


def test_single_site_moves_do_stick_and_the_check_sees_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: sweeps over coordinates in place of sweeps over models, after one action has been played 300 times."""
    monkeypatch.setattr(Moves, "models", Moves.coordinates)
    posterior, truth = stuck("again and again", sb.PointMass())
    assert difference(posterior, truth) > 0.05 or posterior.r_hat().max() > 1.02


@pytest.mark.parametrize("block_every", [2, 1000])
def test_the_laplace_spike(block_every: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gibbs, "BLOCK_EVERY", block_every)
    monkeypatch.setattr(gibbs, "BLOCK_EVERY_PER_FEATURE", 0)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((8, 2)) @ np.array([[1.0, 0.6], [0.0, 0.8]])
    y = x @ np.array([0.8, 0.0]) + rng.standard_normal(8)
    expected = laplace_moments(x.T @ x, x.T @ y)
    prior = sb.SpikeSlab(BETA[:2], SLAB_VARIANCE[:2], SLAB_MEAN[:2], sb.LaplaceSpike(0.15))
    posterior = sb.Gibbs(prior, 2, 1.0, n_draws=40_000, seed=0)
    posterior.update(x, y)
    theta: FloatArray = posterior.draws().theta
    assert theta[:, 0].mean() == pytest.approx(expected["mean 0"], abs=0.015)
    assert theta[:, 1].mean() == pytest.approx(expected["mean 1"], abs=0.015)
    assert (theta[:, 0] * theta[:, 1]).mean() == pytest.approx(expected["cross"], abs=0.015)
    assert (np.abs(theta[:, 0]) < 0.3).mean() == pytest.approx(expected["near zero"], abs=0.015)


def test_burn_in_is_thrown_away_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """From a start far away, draws and noise variances are those of the last steps of a longer run."""
    start = Moves.from_prior

    def far(self: Moves, *given: object) -> object:
        members = start(self, *given)  # type: ignore[arg-type]
        members.coefficients = members.theta + 1e3
        members.included = np.ones(members.theta.shape, dtype=bool)
        return members

    monkeypatch.setattr(Moves, "from_prior", far)
    prior = sb.SpikeSlab(0.5, 1.0, spike=sb.GaussianSpike(0.5))
    x, y = history(6, 40, seed=1)
    posterior = sb.Gibbs(prior, 6, sb.InverseGammaNoise(2.0, 2.0), n_draws=40, chains=4, burn_in=100, seed=0)
    posterior.update(x, y)
    assert np.abs(posterior.draws().theta).max() < 10
    assert posterior.noise_variance < 10
    longer = sb.Gibbs(prior, 6, sb.InverseGammaNoise(2.0, 2.0), n_draws=440, chains=4, burn_in=0, seed=0)
    longer.update(x, y)
    kept = longer.draws().theta.reshape(4, 110, 6)[:, 100:].reshape(40, 6)
    np.testing.assert_array_equal(posterior.draws().theta, kept)
    noise = longer.learnt()["noise_variance"].reshape(4, 110)[:, 100:]
    assert posterior.noise_variance == noise.mean()
    assert posterior.noise_variance != longer.noise_variance, "planted: the burn-in counted too"


def test_chains_that_share_work_stay_alike() -> None:
    """Whichever chain of those with one model is drawn first: none has fewer inclusions than the others."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((50, 8))
    y = x @ np.array([1.0, 0, 0, -0.5, 0, 0, 0, 0]) + 0.5 * rng.standard_normal(50)
    posterior = sb.Gibbs(sb.SpikeSlab(0.25, 1.0), 8, 0.25, seed=0)
    posterior.update(x, y)
    assert posterior.r_hat().max() < 1.005
    shares = (posterior.draws().theta != 0).reshape(4, -1, 8).mean(axis=1)
    p = posterior.inclusion()
    free = (p > 0.005) & (p < 0.995)
    assert_means_agree(shares[:, free], np.tile(p[free], (4, 1)), np.sqrt(2 * p[free] * (1 - p[free]) / 2500))


def test_r_hat_sees_chains_that_disagree() -> None:
    posterior = sb.Gibbs(sb.SpikeSlab(0.5, 1.0), 2, n_draws=400, seed=0)
    posterior.draws()
    good = posterior.r_hat().max()
    theta = posterior.draws().theta.copy()
    theta[:100] += 1.0  # planted: one chain elsewhere
    posterior._draws = sb.posteriors.Draws(theta, np.full(400, 1 / 400))
    assert good < 1.1 < posterior.r_hat().min()


def test_a_restored_engine_continues_bit_for_bit() -> None:
    x, y = history(6, 20, seed=2)
    first, second = (sb.Gibbs(PRIORS["noise"][0], 6, PRIORS["noise"][1], 40, seed=s, burn_in=5) for s in (0, 1))
    first.update(x[:10], y[:10])
    first.draws()
    second.restore(first.state())
    assert first.noise_variance == second.noise_variance
    for engine in (first, second):
        engine.update(x[10:], y[10:])
    assert first.draws().theta.tobytes() == second.draws().theta.tobytes()


def test_bad_input() -> None:
    with pytest.raises(TypeError, match="prior: expected a SpikeSlab"):
        sb.Gibbs(sb.GaussianPrior(), 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"n_draws: expected a multiple of chains \(4\), got 101"):
        sb.Gibbs(sb.SpikeSlab(0.1, 1.0), 3, n_draws=101)
