"""Particles against enumeration on histories that a policy made, and the promises of an engine."""

import numpy as np
import pytest
from benchmarks.accuracy import errors

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.posteriors import cloud, particles
from sparsebandits.posteriors.cloud import Weights
from sparsebandits.posteriors.moves import Moves
from tests.posteriors.test_kernels import BETA, SLAB_MEAN, SLAB_VARIANCE, laplace_moments

NOISE = 2.0


def history(dimension: int, rounds: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Actions and rewards of LinTS: exploration first, then the same few actions again and again."""
    instance = sb.environments.GaussianActions(dimension, 2, n_actions=50, noise_variance=NOISE).sample(seed)
    trace = sb.simulate(sb.LinTS, instance, rounds, seed)
    return instance.actions[trace.actions], trace.rewards


PRIORS: dict[str, tuple[sb.SpikeSlab, float | sb.InverseGammaNoise]] = {
    "known": (sb.SpikeSlab(0.25, 0.5), NOISE),
    "Beta": (sb.SpikeSlab(sb.BetaInclusion(1.0, 3.0), 0.5), NOISE),
    "noise": (sb.SpikeSlab(0.25, 0.5), sb.InverseGammaNoise(2.0, 3.0)),
    "Gaussian spike": (sb.SpikeSlab(0.25, 0.5, spike=sb.GaussianSpike(0.01)), NOISE),
    "certain": (sb.SpikeSlab([1.0, 0.0, 0.5, 0.5, 0.5, 0.5], 0.5, 0.1), NOISE),
}


def difference(posterior: sb.Particles, truth: sb.Enumeration) -> float:
    """Return the largest error of posterior means and inclusions."""
    return float(
        max(
            np.abs(posterior.mean() - truth.mean()).max(),
            np.abs(posterior.inclusion() - truth.inclusion()).max(),
        )
    )


@pytest.mark.parametrize("kind", PRIORS)
def test_agree_with_enumeration_all_along_a_history(kind: str) -> None:
    """10,000 particles: over a dozen seeds errors are 0.01, by their root mean square, so 0.05 is five of them."""
    prior, noise = PRIORS[kind]
    x, y = history(6, 120, seed=1)
    posterior, truth = sb.Particles(prior, 6, noise, seed=0), sb.Enumeration(prior, 6, noise)
    for t in range(120):
        posterior.update(x[t], y[t])
        truth.update(x[t], y[t])
        if t in (0, 3, 10, 30, 60, 119):
            assert difference(posterior, truth) < 0.05, t
            assert abs(posterior.log_evidence - truth.log_evidence) < 0.15, t
    assert posterior.draws().effective_sample_size >= particles.LEAST_SHARE * 10_000 * (1 - 1e-6)
    if isinstance(noise, sb.InverseGammaNoise):
        assert posterior.noise_variance == pytest.approx(truth.noise_variance, rel=0.03)


@pytest.mark.parametrize("seed", [0, 1])
def test_agree_along_a_history_of_information_directed_sampling(seed: int) -> None:
    """The design that the policy itself makes; ``benchmarks.accuracy`` does this for twenty and for d = 20."""
    assert errors(12, 120, (20, 60, 120), seed).max() < 0.03


def test_one_action_three_hundred_times() -> None:
    prior = PRIORS["known"][0]
    rng = np.random.default_rng(0)
    x = np.tile(rng.standard_normal(8), (320, 1))
    x[:20] = rng.standard_normal((20, 8))
    y = x @ np.array([1.0, -0.5, 0, 0, 0, 0, 0, 0]) + np.sqrt(NOISE) * rng.standard_normal(320)
    posterior, truth = sb.Particles(prior, 8, NOISE, seed=0), sb.Enumeration(prior, 8, NOISE)
    posterior.update(x, y)
    truth.update(x, y)
    assert difference(posterior, truth) < 0.03


def test_a_hard_observation_is_taken_in_parts() -> None:
    """An observation without noise to speak of would leave a handful of particles; tempering keeps many."""
    prior = sb.SpikeSlab(0.3, 1.0)
    posterior, truth = sb.Particles(prior, 6, 1e-4, seed=0), sb.Enumeration(prior, 6, 1e-4)
    for x, y in ((np.arange(1.0, 7.0), 3.0), (np.ones(6), 1.0), (np.arange(6.0, 0.0, -1.0), 4.0)):
        posterior.update(x, y)
        truth.update(x, y)
        assert posterior.draws().effective_sample_size >= particles.LEAST_SHARE * 10_000 * (1 - 1e-6)
        assert difference(posterior, truth) < 0.04
        assert abs(posterior.log_evidence - truth.log_evidence) < 0.2


def test_the_evidence_is_right_on_average() -> None:
    """Mean of Ẑ/Z over 60 small runs within four standard errors of one, and not of 1.2."""
    prior = sb.SpikeSlab([0.2, 0.5, 0.3], [0.5, 1.0, 2.0], [0.3, 0.0, -0.5])
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((12, 3)), rng.standard_normal(12)
    truth = sb.Enumeration(prior, 3, 0.5)
    truth.update(x, y)
    ratios = []
    for seed in range(60):
        posterior = sb.Particles(prior, 3, 0.5, n_draws=400, seed=seed)
        posterior.update(x, y)
        ratios.append(np.exp(posterior.log_evidence - truth.log_evidence))
    error = np.std(ratios, ddof=1) / np.sqrt(60)
    assert abs(np.mean(ratios) - 1.0) < 4 * error
    assert abs(np.mean(ratios) - 1.2) > 4 * error, "planted: an evidence 20% too small would show"


def test_moves_that_do_not_move_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: resampling without a move. The particles collapse onto few values, and the posterior is lost."""
    monkeypatch.setattr(Moves, "coordinates", lambda *_: None)
    monkeypatch.setattr(particles, "MOST_SWEEPS", 1)
    x, y = history(6, 120, seed=1)
    posterior, truth = sb.Particles(PRIORS["known"][0], 6, NOISE, seed=0), sb.Enumeration(PRIORS["known"][0], 6, NOISE)
    posterior.update(x, y)
    truth.update(x, y)
    assert difference(posterior, truth) > 0.03


def test_the_laplace_spike() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((8, 2)) @ np.array([[1.0, 0.6], [0.0, 0.8]])
    y = x @ np.array([0.8, 0.0]) + rng.standard_normal(8)
    expected = laplace_moments(x.T @ x, x.T @ y)
    prior = sb.SpikeSlab(BETA[:2], SLAB_VARIANCE[:2], SLAB_MEAN[:2], sb.LaplaceSpike(0.15))
    posterior = sb.Particles(prior, 2, 1.0, n_draws=20_000, seed=0)
    posterior.update(x, y)
    theta, weights = posterior.draws().theta, posterior.draws().weights
    assert weights @ theta[:, 0] == pytest.approx(expected["mean 0"], abs=0.02)
    assert weights @ theta[:, 1] == pytest.approx(expected["mean 1"], abs=0.02)
    assert weights @ (theta[:, 0] * theta[:, 1]) == pytest.approx(expected["cross"], abs=0.02)
    assert weights @ (np.abs(theta[:, 0]) < 0.3) == pytest.approx(expected["near zero"], abs=0.02)


def test_no_data_gives_the_prior_back() -> None:
    posterior = sb.Particles(sb.SpikeSlab(0.3, 0.5, 1.0), 4, seed=0)
    np.testing.assert_allclose(posterior.inclusion(), 0.3, atol=0.03)
    np.testing.assert_allclose(posterior.mean(), 0.3, atol=0.03)
    assert posterior.log_evidence == 0.0


def test_same_theta_array_until_the_particles_move() -> None:
    x, y = history(6, 60, seed=2)
    posterior = sb.Particles(PRIORS["known"][0], 6, NOISE, n_draws=1000, seed=0)
    arrays = []
    for t in range(60):
        posterior.update(x[t], y[t])
        arrays.append(posterior.draws().theta)
    distinct = {id(array) for array in arrays}
    assert 2 <= len(distinct) < 30


@pytest.mark.parametrize("kind", PRIORS)
def test_a_restored_engine_continues_bit_for_bit(kind: str) -> None:
    prior, noise = PRIORS[kind]
    x, y = history(6, 60, seed=2)
    first, second = (sb.Particles(prior, 6, noise, n_draws=500, seed=s) for s in (0, 1))
    first.update(x[:30], y[:30])
    second.restore(first.state())
    for engine in (first, second):
        engine.update(x[30:], y[30:])
    assert first.draws().theta.tobytes() == second.draws().theta.tobytes()
    assert first.draws().weights.tobytes() == second.draws().weights.tobytes()
    assert first.log_evidence == second.log_evidence


def test_a_vague_prior_of_the_noise() -> None:
    """Some draws of it are beyond all bounds, which must not leave the particles without weights."""
    prior, noise = sb.SpikeSlab(0.5, 1.0), sb.InverseGammaNoise(0.01, 0.01)
    posterior, truth = sb.Particles(prior, 3, noise, seed=0), sb.Enumeration(prior, 3, noise)
    for x, y in ((np.array([1.0, 0.0, 0.0]), 1.0), (np.array([0.0, 1.0, 1.0]), -0.5), (np.ones(3), 0.7)):
        posterior.update(x, y)
        truth.update(x, y)
    assert np.abs(posterior.inclusion() - truth.inclusion()).max() < 0.03


@pytest.mark.parametrize("y", [1e3, 1e6])
def test_a_reward_beyond_belief_costs_a_bounded_number_of_moves(y: float) -> None:
    prior = sb.SpikeSlab(0.5, 1.0)
    posterior, truth = sb.Particles(prior, 3, 1.0, n_draws=2000, seed=0), sb.Enumeration(prior, 3, 1.0)
    for engine in (posterior, truth):
        engine.update([1.0, 0.5, 0.0], y)
    np.testing.assert_allclose(posterior.mean()[:2], truth.mean()[:2], rtol=0.01)
    assert posterior.draws().effective_sample_size > 900


def test_a_least_part_at_the_end_does_not_leave_too_few(monkeypatch: pytest.MonkeyPatch) -> None:
    # With the effective number just below its least, there is no part of the next reward that brings it there: the
    # search for it fails. With a least part of one, every reward that is hard ends so; by itself, one in some dozen of
    # those that are hundreds of deviations off.
    monkeypatch.setattr(cloud, "LEAST_PART", 1.0)
    rng = np.random.default_rng(0)
    posterior = sb.Particles(sb.SpikeSlab(0.3, 1.0), dimension=3, n_draws=200, seed=0)
    for _ in range(200):
        posterior.update(rng.standard_normal(3), float(2.0 * rng.standard_normal()))
        assert 1.0 / (posterior.draws().weights ** 2).sum() >= particles.LEAST_SHARE * 200 * (1.0 - 1e-9)


def test_rewards_hundreds_of_deviations_off_and_then_usual_ones() -> None:
    rng = np.random.default_rng(41)
    posterior = sb.Particles(sb.SpikeSlab(0.3, 1.0), dimension=3, n_draws=50, seed=41)
    for reward in (1.0, 300.0, 1.0, -200.0, 1.0, 1.0):
        posterior.update(rng.standard_normal(3), reward)


def test_a_learnt_slab_variance_is_learnt() -> None:
    """Coefficients a hundred times larger than expected: V follows, and the interval of V has it."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 8))
    y = x @ np.array([100.0, -150.0, 120.0, 80.0, 0, 0, 0, 0]) + rng.standard_normal(200)
    posterior = sb.Particles(sb.SpikeSlab(sb.BetaInclusion(1.0, 1.0), sb.InverseGammaSlab(2.0, 2.0)), 8, 1.0, seed=0)
    posterior.update(x, y)
    found = {str(row["hyperparameter"]): row for row in posterior.hyperparameters().to_dicts()}
    assert set(found) == {"inclusion", "slab_variance"}
    low, high = found["slab_variance"]["2.5%"], found["slab_variance"]["97.5%"]
    assert isinstance(low, float)
    assert isinstance(high, float)
    assert low < 13_000 < high
    assert (posterior.inclusion()[:4] > 0.99).all()
    assert (posterior.inclusion()[4:] < 0.3).all()


def test_weights() -> None:
    weights = Weights.of(np.log([1.0, 3.0]) - 1e5)
    np.testing.assert_allclose(weights.normalised, [0.25, 0.75])
    assert weights.log_total == pytest.approx(np.log(4.0) - 1e5)
    assert weights.effective_size == pytest.approx(1.6)


def test_what_it_does_not_serve() -> None:
    with pytest.raises(TypeError, match="prior: expected a SpikeSlab, got GaussianPrior"):
        sb.Particles(sb.GaussianPrior(), 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="n_draws: expected a whole number of at least 10"):
        sb.Particles(sb.SpikeSlab(0.1, 1.0), 3, n_draws=3)


def test_a_total_of_nothing() -> None:
    """If no feature can matter, the slab of their total is never used, and no reason to fail."""
    prior = sb.SpikeSlab(0.0, sb.InverseGammaSlab(2.0, 1.0, of_total=True))
    posterior = sb.Particles(prior, dimension=2, n_draws=100, seed=0)
    posterior.update(np.eye(2), [1.0, 30.0])
    assert not posterior.inclusion().any()
