"""Engines at the borders of what they accept, against an enumeration in a hundred and fifty digits."""

import pickle
from typing import Any

import numpy as np
import pytest
from benchmarks.attacks.extended import enumerate_exactly
from scipy.special import gammaln, logsumexp

import sparsebandits as sb
from sparsebandits.arguments import ArgumentError, ArgumentValueError, FloatArray
from sparsebandits.model import limits
from sparsebandits.model.priors import default_prior
from sparsebandits.posteriors import particles

BETA = [0.3, 0.5, 0.4]
ENGINES: dict[str, Any] = {"Enumeration": sb.Enumeration, "Gibbs": sb.Gibbs, "Particles": sb.Particles}
DRAWS = 4000


def data(dimension: int, outlier: float = 0.0, rows: int = 30, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Ordinary rewards of noise variance one, with one among them that is off by ``outlier``."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, dimension))
    y = x[:, 0] - 0.5 * x[:, 1] + rng.standard_normal(rows)
    y[rows // 2] += outlier
    return x, y


def moments(posterior: Any) -> tuple[FloatArray, FloatArray]:
    """Return means and standard deviations of the draws."""
    draws = posterior.draws()
    mean = draws.mean()
    return mean, np.sqrt(draws.weights @ (draws.theta - mean) ** 2)


def assert_same_posterior(found: sb.Particles, truth: Any, largest: float) -> None:
    """Means within ``largest`` standard deviations, and standard deviations within 15%, of what matters."""
    (mean, deviation), (expected, spread) = moments(found), moments(truth)
    matters = (truth.inclusion() > 0.9) | (found.prior.spike != sb.PointMass())
    assert (np.abs(mean - expected) / spread)[matters].max() < largest
    assert np.abs(deviation / spread - 1.0)[matters].max() < 0.15
    assert np.abs(found.inclusion() - truth.inclusion()).max() < 0.1
    assert found.health().good


@pytest.mark.parametrize("outlier", [1e4, 1e5, 1e6])
@pytest.mark.parametrize("dimension", [4, 20])
def test_particles_are_right_after_an_outlier(dimension: int, outlier: float) -> None:
    """Before particles were redrawn, they were up to 900 standard deviations off, and said that all was good."""
    x, y = data(dimension, outlier)
    prior, known = sb.SpikeSlab(min(0.3, 3 / dimension), 0.5), sb.Gaussian(variance=1.0)
    posterior = sb.Particles(prior, dimension, rewards=known, n_draws=2000, seed=0)
    truth = (sb.Enumeration if dimension < 10 else sb.Gibbs)(prior, dimension, rewards=known, n_draws=8000, seed=1)
    truth.update(x, y)
    for row, reward in zip(x, y, strict=True):
        posterior.update(row, reward)
    assert_same_posterior(posterior, truth, 0.2)


def test_particles_are_right_after_an_outlier_among_a_hundred_features() -> None:
    x, y = data(100, 1e5)
    prior = sb.SpikeSlab(0.03, 0.5)
    posterior, truth = sb.Particles(prior, 100, 1.0, n_draws=2000, seed=0), sb.Gibbs(prior, 100, 1.0, seed=1)
    truth.update(x, y)
    for row, reward in zip(x, y, strict=True):
        posterior.update(row, reward)
    assert_same_posterior(posterior, truth, 0.25)


@pytest.mark.parametrize("spike", [sb.GaussianSpike(0.01), sb.LaplaceSpike(0.1)], ids=["Gaussian", "Laplace"])
def test_other_spikes_are_right_after_an_outlier(spike: Any) -> None:
    x, y = data(4, 1e5)
    prior = sb.SpikeSlab(0.3, 0.5, spike=spike)
    posterior, truth = sb.Particles(prior, 4, 1.0, n_draws=2000, seed=0), sb.Gibbs(prior, 4, 1.0, seed=1)
    truth.update(x, y)
    for row, reward in zip(x, y, strict=True):
        posterior.update(row, reward)
    assert_same_posterior(posterior, truth, 0.2)


def test_a_learnt_noise_is_right_after_an_outlier() -> None:
    x, y = data(4, 1e5)
    prior, noise = sb.SpikeSlab(0.3, 0.5), sb.InverseGammaNoise(2.0, 3.0)
    posterior, truth = sb.Particles(prior, 4, noise, n_draws=2000, seed=0), sb.Enumeration(prior, 4, noise)
    for row, reward in zip(x, y, strict=True):
        posterior.update(row, reward)
    truth.update(x, y)
    assert np.abs(posterior.inclusion() - truth.inclusion()).max() < 0.06
    assert posterior.noise_variance == pytest.approx(truth.noise_variance, rel=0.05)


@pytest.mark.parametrize("small", [1e-2, 1e-3])
def test_a_learnt_noise_is_right_after_first_rewards_that_are_close(small: float) -> None:
    """The unit of the noise is the first difference of rewards, and the next one is far larger.

    While the noise was as small as before, sweeps over models put in 45 features on average in place of 6, to explain
    the reward; the noise stayed a millionth of what it should be, and a sweep took seconds.
    """
    dimension = 300
    x, y = np.random.default_rng(0).standard_normal((3, dimension)), np.array([0.0, small, 1.0])
    rewards = sb.Gaussian(variance=sb.InverseGammaNoise(0.5, 0.01, of_rewards=True), intercept=True)
    posterior = sb.Particles(default_prior(x), dimension, rewards=rewards, n_draws=2000, seed=0)
    for row, reward in zip(x, y, strict=True):
        posterior.update(row, reward)
    truth = sb.Gibbs(default_prior(x), dimension, rewards=rewards, n_draws=4000, seed=1)
    truth.update(x, y)
    noise = [float(np.median(np.log(one.learnt()["noise_variance"]))) for one in (posterior, truth)]
    assert noise[0] == pytest.approx(noise[1], abs=1.0)  # over six seeds of both, at most 0.6
    assert posterior.inclusion().sum() == pytest.approx(truth.inclusion().sum(), rel=0.3)  # at most 0.17


def test_particles_that_are_not_redrawn_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: no reward leaves too few particles."""
    monkeypatch.setattr(particles, "FEWEST", 0)
    with pytest.raises(AssertionError):
        test_particles_are_right_after_an_outlier(4, 1e5)
    with pytest.raises(AssertionError):
        test_a_slab_so_wide_that_no_particle_is_near(1e4)


def test_particles_that_do_not_settle_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(particles, "MOST_REDRAWS", 1)
    posterior = sb.Particles(sb.SpikeSlab(0.3, 0.5), 4, 1.0, n_draws=2000, seed=0)
    posterior.update([1.0, 0.5, 0.0, 2.0], 1e5)
    assert not posterior.health().good
    assert np.isnan(posterior.log_evidence)


@pytest.mark.parametrize("width", [1e4, 1e6])
def test_a_slab_so_wide_that_no_particle_is_near(width: float) -> None:
    """Reweighting alone left only particles without any feature, for ever: an error of one in inclusions."""
    prior = sb.SpikeSlab(0.05, width**2)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x = rng.standard_normal((20, 3))
        y = 6.0 * x[:, 0] + rng.standard_normal(20)
        posterior, truth = sb.Particles(prior, 3, 1.0, n_draws=1000, seed=seed), sb.Enumeration(prior, 3, 1.0)
        for row, reward in zip(x, y, strict=True):
            posterior.update(row, reward)
        truth.update(x, y)
        assert np.abs(posterior.inclusion() - truth.inclusion()).max() < 0.1


def problem(kind: str, size: float) -> tuple[FloatArray, FloatArray, float, float, float | None]:
    """Return rows, rewards, noise variance, slab variance and the variance of a Gaussian spike."""
    rng = np.random.default_rng(0)
    x, noise = rng.standard_normal((12, 3)), rng.standard_normal(12)
    if "tied" in kind:
        x[:, 1] = x[:, 0]
    y = x[:, 0] + noise
    if "outlier" in kind:
        y[5] += size
    if "quiet" in kind:
        return x, x[:, 0] + noise / size, size**-2.0, 1.0, None
    if "wide" in kind:
        return x, y, 1.0, size**2.0, None
    if "units" in kind:  # of features and of rewards
        return x / size, y * size, size**2.0, size**4.0, None
    return x, y, 1.0, 1.0, 1.0 / size if "narrow" in kind else None


CASES = [
    *((kind, size) for kind in ("outlier", "tied, outlier") for size in (1e3, 1e6)),
    *((kind, size) for kind in ("quiet", "tied, quiet", "wide", "tied, wide") for size in (1e3, 1e6)),
    *(("units", size) for size in (1e-12, 1e12)),
    *(("narrow spike", size) for size in (1e3, 1e9)),
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("kind", "size"), CASES)
def test_the_whole_range_in_a_hundred_and_fifty_digits(kind: str, size: float, engine: str) -> None:
    """4,000 draws: errors of 0.05 are six standard errors of an inclusion of a half."""
    x, y, noise, slab, narrow = problem(kind, size)
    exact = enumerate_exactly(x.tolist(), y.tolist(), noise, BETA, [0.0] * 3, [slab] * 3, narrow)
    prior = sb.SpikeSlab(BETA, slab, spike=sb.PointMass() if narrow is None else sb.GaussianSpike(narrow))
    posterior = ENGINES[engine](prior, 3, noise, n_draws=DRAWS, seed=0)
    posterior.update(x, y)
    error = np.abs(posterior.inclusion() - exact.inclusion).max()
    off = (np.abs(posterior.mean() - exact.mean) / exact.deviation).max()
    if engine == "Enumeration":
        assert error < 2e-3
        assert off < 1e-2
        assert posterior.log_evidence == pytest.approx(exact.log_evidence, rel=1e-12, abs=0.02)
    else:
        assert error < 0.05
        assert off < 0.2
        assert posterior.health().good


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_learnt_noise_in_a_hundred_and_fifty_digits(engine: str, unit: float) -> None:
    """The same enumeration, integrated over log σ² on a grid."""
    shape, scale = 2.0, 3.0 * unit**2
    rng = np.random.default_rng(1)
    x = rng.standard_normal((8, 3))
    y = unit * (x[:, 0] + rng.standard_normal(8))
    slab = 2.0 * unit**2
    grid = np.log(scale) + np.linspace(-4.0, 4.0, 80)
    found = [enumerate_exactly(x.tolist(), y.tolist(), float(np.exp(u)), BETA, [0.0] * 3, [slab] * 3) for u in grid]
    logs = np.array([each.log_evidence for each in found]) + shape * np.log(scale) - gammaln(shape)
    logs += -shape * grid - scale * np.exp(-grid)
    weights = np.exp(logs - logsumexp(logs))
    posterior = ENGINES[engine](sb.SpikeSlab(BETA, slab), 3, sb.InverseGammaNoise(shape, scale), n_draws=DRAWS, seed=0)
    posterior.update(x, y)
    tolerance = 1e-4 if engine == "Enumeration" else 0.06
    np.testing.assert_allclose(posterior.inclusion(), weights @ [each.inclusion for each in found], atol=tolerance)
    np.testing.assert_allclose(posterior.mean() / unit, weights @ [each.mean for each in found] / unit, atol=tolerance)
    expected = float(weights @ np.exp(grid))
    assert posterior.noise_variance == pytest.approx(expected, rel=1e-3 if engine == "Enumeration" else 0.06)


BEYOND: dict[str, tuple[dict[str, Any], Any, float, str]] = {
    "slab variance": ({"slab_variance": 1e49}, 1.0, -1e6, "x"),
    "noise variance 1e-40": ({"slab_variance": 1.0}, 1e-40, 1.0, "x"),
    "noise variance 1e-20": ({"slab_variance": 1.0}, 1e-20, 1.0, "x"),
    "reward": ({"slab_variance": 1.0}, 1.0, 1e8, "y"),
    "slab mean": ({"slab_variance": 1.0, "slab_mean": 1e6}, 1e-4, 1.0, "x"),
    "prior of the noise": ({"slab_variance": 1.0}, sb.InverseGammaNoise(0.5, 1e-40), 1.0, "x"),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", BEYOND)
def test_beyond_the_range_is_refused_and_changes_nothing(case: str, engine: str) -> None:
    slab, noise, reward, name = BEYOND[case]
    posterior = ENGINES[engine](sb.SpikeSlab(0.3, **slab), 3, noise, n_draws=100, seed=0)
    posterior.update([0.0, 0.0, 0.0], 0.0)
    before = pickle.dumps(posterior.state())
    for x, y in (([1.0, 0.5, 0.0], reward), ([[0.0] * 3, [1.0, 0.5, 0.0]], [0.0, reward])):
        with pytest.raises(ArgumentValueError) as raised:
            posterior.update(x, y)
        assert raised.value.name == name
        assert pickle.dumps(posterior.state()) == before
    posterior.update([0.0, 0.0, 0.0], 0.0)


@pytest.mark.parametrize("engine", ENGINES)
def test_priors_beyond_the_range_are_refused(engine: str) -> None:
    with pytest.raises(ValueError, match=r"prior.slab_mean: expected at most 1e\+07 standard deviations of the slab"):
        ENGINES[engine](sb.SpikeSlab(0.3, 1e-16, slab_mean=1.0), 3)
    with pytest.raises(ValueError, match=r"prior.spike: expected PointMass\(\), or at least 1e-05 as wide as the slab"):
        ENGINES[engine](sb.SpikeSlab(0.3, 1.0, spike=sb.GaussianSpike(1e-12)), 3)


@pytest.mark.parametrize("exponent", [-66, -60, -3, 40, 68])
def test_any_unit_that_is_accepted_gives_the_same_decisions(exponent: int) -> None:
    """From 10⁻²² to 10²² or so: powers of two, which round nothing."""
    assert played_in(2.0**exponent) == played_in(1.0)


@pytest.mark.parametrize("exponent", [-160, -80, 80, 160])
def test_units_in_which_variances_would_end_are_refused(exponent: int) -> None:
    """They were accepted, and noise variances off by 10²², or an IndexError, came of it."""
    with pytest.raises(ArgumentValueError, match="where the noise is learnt"):
        played_in(2.0**exponent)


def played_in(unit: float) -> list[int]:
    """Return the decisions of the default policy for rewards in some unit."""
    rng = np.random.default_rng(3)
    actions, noise, found = rng.standard_normal((12, 5)), rng.standard_normal(25), []
    policy = sb.SparseIDS(actions, n_draws=300, seed=0)
    for one in noise:
        decision = policy.ask()
        policy.tell(decision, unit * (2.0 * actions[decision.action, 0] + one))
        found.append(decision.action)
    return found


def test_many_rewards_that_are_each_in_range_add_up() -> None:
    posterior = sb.Enumeration(sb.SpikeSlab(0.3, 1.0), 2, 1.0)
    rows = 10_000
    posterior.update(np.full((rows, 2), 0.9 * (limits.MOST / rows) ** 0.5), np.zeros(rows))
    with pytest.raises(ArgumentValueError, match="x: expected features at which the prior predicts rewards within"):
        posterior.update(np.full((rows, 2), 0.9 * (limits.MOST / rows) ** 0.5), np.zeros(rows))


def test_an_outlier_where_the_slab_is_learnt_is_refused_or_stays_in_range() -> None:
    """The learnt slab variance ran away to 1e50, coefficients to 1e150, and the file could not be read again."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((25, 20))
    y = x[:, 0] + rng.standard_normal(25)
    posterior = sb.SparseIDS(x, noise_variance=1.0, n_draws=500, seed=0).posterior
    posterior.update(x[:12], y[:12])
    with pytest.raises(ArgumentValueError, match=r"^y: expected rewards within 100000 noise"):
        posterior.update(x[12], 1e6)
    posterior.update(x[12], 9e4)
    for row, reward in zip(x[13:], y[13:], strict=True):
        posterior.update(row, reward)
    assert posterior.learnt()["slab_variance"].max() < 1e13


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True])
def test_one_number_is_no_row(wrong: object) -> None:
    with pytest.raises(ArgumentError, match=r"^x: expected"):
        sb.Enumeration(sb.SpikeSlab(0.3, 1.0), 2, 1.0).update(wrong, 1.0)


def test_one_number_is_no_names() -> None:
    posterior = sb.Enumeration(sb.SpikeSlab(0.3, 1.0), 2, 1.0)
    for call in (posterior.summary, posterior.to_xarray):
        with pytest.raises(ArgumentError, match=r"^names: expected 2 names"):
            call(5)  # type: ignore[arg-type]
