"""Discounted rewards: every engine against a posterior that is computed from scratch with powers γ^age.

The reference is Π_i N(y_i; α + ⟨x_i, θ⟩, σ²/w_i)^g_i itself. Given σ², θ and a flat intercept are integrated jointly;
σ² is integrated on a fine grid. It knows neither contrasts nor sums that are multiplied. The smallest bugs that are
caught are planted below.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

import sparsebandits as sb
from sparsebandits.arguments import ArgumentError, FloatArray, frozen
from sparsebandits.model.evidence import Evidence
from sparsebandits.model.forgetting import Discount, Passage
from tests.statistical import FAMILY_WISE, assert_means_agree

D, ROWS, HALF_LIFE = 3, 30, 6.0
RUNS = 16
PRIOR = sb.SpikeSlab(0.4, 1.3)
LEARNT = sb.InverseGammaNoise(4.0, 3.0)
NOISES = pytest.mark.parametrize("variance", [0.5, LEARNT], ids=["known noise", "learnt noise"])
INTERCEPT = pytest.mark.parametrize("intercept", [False, True], ids=["no intercept", "intercept"])


def data() -> tuple[FloatArray, FloatArray, FloatArray]:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((ROWS, D)) + np.array([2.0, 0.0, -1.0])
    theta = np.where(
        np.arange(ROWS)[:, np.newaxis] < ROWS // 2, [1.0, 0.0, -0.8], [0.0, 0.7, -0.8]
    )  # the world changes
    return x, 3.0 + (x * theta).sum(axis=1) + rng.standard_normal(ROWS), rng.uniform(0.2, 3.0, ROWS)


def rewards(variance: Any, intercept: bool, half_life: float = HALF_LIFE) -> sb.Gaussian:
    return sb.Gaussian(variance, intercept=intercept, forgetting=sb.Discount(half_life))


def integrals(
    x: FloatArray, y: FloatArray, weights: FloatArray, powers: FloatArray, intercept: bool, noise: float
) -> Iterator[tuple[float, FloatArray, FloatArray]]:
    """Yield the log integral of each model, and its inclusions and mean, given σ²."""
    everything = range(D)
    for model in map(list, chain.from_iterable(combinations(everything, k) for k in range(D + 1))):
        z = np.column_stack([np.ones((len(y), 1 if intercept else 0)), x[:, model]])
        prior = np.array([0.0] * intercept + [1 / 1.3] * len(model))  # precision; the intercept's is zero
        w = powers * weights / noise
        precision, shift = z.T @ (w[:, np.newaxis] * z) + np.diag(prior), z.T @ (w * y)
        mean = np.linalg.solve(precision, shift)
        log = 0.5 * (shift @ mean) - 0.5 * (w @ y**2) - 0.5 * np.linalg.slogdet(precision)[1]
        log += 0.5 * len(prior) * math.log(2 * math.pi) - 0.5 * len(model) * math.log(2 * math.pi * 1.3)
        log -= 0.5 * float(powers.sum()) * math.log(2 * math.pi * noise)
        log += len(model) * math.log(0.4) + (D - len(model)) * math.log(0.6)
        inside, full = np.zeros(D), np.zeros(D)
        inside[model], full[model] = 1.0, mean[1:] if intercept else mean
        yield float(log), inside, full


def from_scratch(
    variance: Any, intercept: bool, weights: FloatArray | None, half_life: float = HALF_LIFE, rows: int = ROWS
) -> tuple[FloatArray, FloatArray, float]:
    """Return inclusion, mean and E σ² after the first ``rows`` rewards."""
    x, y, _ = data()
    powers = 2.0 ** (-(rows - 1 - np.arange(rows)) / half_life)
    own = np.ones(rows) if weights is None else weights[:rows]
    nodes = np.exp(np.linspace(-9.0, 16.0, 500)) if variance is LEARNT else np.array([variance])
    found = [(node, *one) for node in nodes for one in integrals(x[:rows], y[:rows], own, powers, intercept, node)]
    logs = np.array([log for _, log, _, _ in found])
    noise = np.array([node for node, *_ in found])
    if variance is LEARNT:  # the density of log σ²
        logs += stats.invgamma.logpdf(noise, LEARNT.shape, scale=LEARNT.scale) + np.log(noise)
    p = np.exp(logs - special.logsumexp(logs))
    inside, mean = np.array([one for *_, one, _ in found]), np.array([one for *_, one in found])
    return p @ inside, p @ mean, float(p @ noise)


def told(posterior: Any, how: str, weights: FloatArray | None, rows: int = ROWS) -> Any:
    """Tell a posterior some rewards: one by one, in batches, or late and in any order."""
    x, y, _ = data()
    order = np.arange(rows) if how != "late" else np.random.default_rng(3).permutation(rows)
    ends = range(1, rows + 1) if how == "one by one" else [4, 5, 17, rows]
    for start, end in zip([0, *ends], ends, strict=False):
        part = order[start:end]
        times = None if how == "one by one" else part.astype(float)
        posterior.update(x[part], y[part], None if weights is None else weights[part], times)
    return posterior


@NOISES
@INTERCEPT
@pytest.mark.parametrize("weighted", [False, True], ids=["", "noise of their own"])
@pytest.mark.parametrize("how", ["one by one", "batches", "late"])
def test_enumeration_is_the_posterior_from_scratch(how: str, weighted: bool, intercept: bool, variance: Any) -> None:
    weights = data()[2] if weighted else None
    posterior = told(sb.Enumeration(PRIOR, D, rewards=rewards(variance, intercept)), how, weights)
    inclusion, mean, noise = from_scratch(variance, intercept, weights)
    np.testing.assert_allclose(posterior.inclusion(), inclusion, rtol=1e-10)
    np.testing.assert_allclose(posterior.mean(), mean, rtol=1e-10, atol=1e-12)
    assert posterior.noise_variance == pytest.approx(noise, rel=1e-10)


@INTERCEPT
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_after_a_few_rewards(rows: int, intercept: bool) -> None:
    """The first reward sets the level and says nothing else."""
    posterior = told(sb.Enumeration(PRIOR, D, rewards=rewards(LEARNT, intercept, 0.7)), "one by one", None, rows)
    inclusion, mean, noise = from_scratch(LEARNT, intercept, None, 0.7, rows)
    np.testing.assert_allclose(posterior.inclusion(), inclusion, rtol=1e-10)
    np.testing.assert_allclose(posterior.mean(), mean, rtol=1e-9, atol=1e-12)
    assert posterior.noise_variance == pytest.approx(noise, rel=1e-9)


@INTERCEPT
@pytest.mark.parametrize("weighted", [False, True], ids=["", "noise of their own"])
@pytest.mark.parametrize("how", ["one by one", "batches", "late"])
def test_conjugate_is_the_posterior_from_scratch(how: str, weighted: bool, intercept: bool) -> None:
    x, y, own = data()
    weights = own if weighted else None
    posterior = told(sb.Conjugate(sb.GaussianPrior(0.8, 0.3), D, rewards=rewards(0.5, intercept)), how, weights)
    w = 2.0 ** (-(ROWS - 1 - np.arange(ROWS)) / HALF_LIFE) * (own if weighted else 1.0) / 0.5
    z = np.column_stack((np.ones((ROWS, 1 if intercept else 0)), x))
    prior = np.array([0.0] * intercept + [1 / 0.8] * D)
    covariance = np.linalg.inv(z.T @ (w[:, np.newaxis] * z) + np.diag(prior))
    mean = covariance @ (z.T @ (w * y) + 0.3 * prior)
    np.testing.assert_allclose(posterior.mean(), mean[-D:], rtol=1e-10)
    np.testing.assert_allclose(posterior.covariance(), covariance[-D:, -D:], rtol=1e-10, atol=1e-13)
    log_det = -np.linalg.slogdet(covariance[-D:, -D:])[1] + D * math.log(0.8)
    assert posterior.log_det_ratio == pytest.approx(log_det, rel=1e-10)
    assert posterior.drift() < 1e-12
    if intercept:
        assert posterior.level.reward == pytest.approx(np.average(y, weights=w), rel=1e-10)
        assert posterior.level.weight == pytest.approx(0.5 * w.sum(), rel=1e-10)


def test_draws_and_kept_variances_of_conjugate_follow() -> None:
    """Planted: draws, or variances of an action set, that are kept from before a reward."""
    x, y, _ = data()
    posterior = sb.Conjugate(sb.GaussianPrior(1.0), D, n_draws=2000, seed=1, rewards=rewards(0.1, True))
    kept = frozen(x.copy())
    for start in range(0, ROWS, 10):
        posterior.update(x[start : start + 10], y[start : start + 10])
        error = np.sqrt(np.diag(posterior.covariance()) / 2000)
        assert_means_agree(posterior.draws().mean(), posterior.mean(), error)
        expected = np.einsum("ij,jk,ik->i", x, posterior.covariance(), x)
        np.testing.assert_allclose(posterior.variances(kept), expected, rtol=1e-10)


LAPLACE = sb.SpikeSlab(0.4, 1.3, spike=sb.LaplaceSpike(0.1))
ENGINES: dict[str, Callable[[sb.Gaussian], Any]] = {
    "Conjugate": lambda given: sb.Conjugate(sb.GaussianPrior(1.0), D, n_draws=100, seed=1, rewards=given),
    "Enumeration": lambda given: sb.Enumeration(PRIOR, D, n_draws=100, seed=1, rewards=given),
    "Gibbs": lambda given: sb.Gibbs(PRIOR, D, n_draws=40, seed=1, chains=2, burn_in=5, rewards=given),
    "Langevin": lambda given: sb.Langevin(LAPLACE, D, n_draws=40, seed=1, rewards=given),
}


@INTERCEPT
@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("how", ["one by one", "batches", "late"])
def test_all_engines_work_from_the_same_sums(how: str, name: str, intercept: bool) -> None:
    """And give draws of a posterior that has followed the change."""
    given = rewards(0.5, intercept)
    posterior = told(ENGINES[name](given), how, None)
    exact = told(ENGINES["Enumeration"](given), "one by one", None)
    np.testing.assert_allclose(posterior.evidence.gram, exact.evidence.gram, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(posterior.evidence.moment, exact.evidence.moment, rtol=1e-11, atol=1e-12)
    assert posterior.evidence.square == pytest.approx(exact.evidence.square, rel=1e-11)
    shares = 2.0 ** (-np.arange(ROWS) / HALF_LIFE)
    assert posterior.evidence.count == pytest.approx(shares.sum() - intercept, rel=1e-11)
    assert posterior.clock == ROWS - 1
    assert np.isfinite(posterior.draws().theta).all()


@pytest.mark.parametrize("name", ENGINES)
def test_an_infinite_half_life_gives_the_bytes_of_none(name: str) -> None:
    plain, infinite = ENGINES[name](sb.Gaussian(0.5)), ENGINES[name](rewards(0.5, False, math.inf))
    for posterior in (plain, infinite):
        told(posterior, "batches" if posterior.forgetting else "one by one", None)
    assert plain.draws().theta.tobytes() == infinite.draws().theta.tobytes()
    assert repr(plain) == repr(infinite)
    assert plain.state().keys() == infinite.state().keys()


@INTERCEPT
@pytest.mark.parametrize("name", ENGINES)
def test_a_saved_engine_goes_on_bit_for_bit(name: str, intercept: bool) -> None:
    x, y, _ = data()
    one = told(ENGINES[name](rewards(0.5, intercept)), "late", None, 20)
    one.draws()
    other = ENGINES[name](rewards(0.5, intercept))
    other.restore(one.state())
    assert other.draws().theta.tobytes() == one.draws().theta.tobytes()
    for posterior in (one, other):
        posterior.update(x[20:], y[20:])
    assert other.draws().theta.tobytes() == one.draws().theta.tobytes()
    assert (other.clock, other.evidence.count) == (one.clock, one.evidence.count)


def test_states_that_cannot_be_are_refused() -> None:
    given = told(ENGINES["Enumeration"](rewards(0.5, True)), "one by one", None)
    plain = ENGINES["Enumeration"](sb.Gaussian(0.5, intercept=True))
    plain.update(np.eye(D), np.ones(D))
    for state, engine in (
        ({**given.state(), "clock": math.inf}, given),
        ({name: value for name, value in given.state().items() if name != "clock"}, given),
        ({**plain.state(), "clock": 3.0}, plain),
        ({**given.state(), "evidence": {**given.evidence.state(), "discounted": {"count": 1e3, "share": 1.0}}}, given),
        ({**given.state(), "evidence": {**given.evidence.state(), "discounted": {"count": 1.0, "share": 0.0}}}, given),
    ):
        with pytest.raises(sb.SaveFileError):
            engine.restore(state)


@INTERCEPT
@pytest.mark.parametrize("name", ENGINES)
def test_after_a_long_pause_there_is_the_prior_and_the_last_reward(name: str, intercept: bool) -> None:
    """A pause of months with a half-life of hours; with an intercept, one reward says nothing."""
    given = rewards(0.5, intercept)
    x, y, _ = data()
    posterior, fresh = told(ENGINES[name](given), "one by one", None), ENGINES[name](given)
    for one in (posterior, fresh):
        one.update(x[0], y[0], time=1e6)
    posterior.update(x[1], y[1], time=5.0)  # a reward of before the pause
    np.testing.assert_allclose(posterior.evidence.gram, fresh.evidence.gram, rtol=1e-15)
    assert posterior.evidence.count == fresh.evidence.count == (0 if intercept else 1)
    assert posterior.clock == 1e6
    assert np.isfinite(posterior.draws().theta).all()


def test_the_unit_of_rewards_is_found_after_a_pause() -> None:
    """The second reward's contrast with a forgotten first one is tiny; the rewards are not."""
    default = sb.Gaussian(intercept=True, forgetting=sb.Discount(1.0))
    posterior = sb.Gibbs(PRIOR, D, n_draws=40, seed=1, chains=2, burn_in=5, rewards=default)
    for time, reward in ((0.0, 5.0), (40.0, 7.0)):
        posterior.update(np.eye(D)[0], reward, time=time)
    assert posterior.unit == 2.0


def test_times_have_to_fit() -> None:
    plain, counted = ENGINES["Conjugate"](sb.Gaussian(1.0)), ENGINES["Conjugate"](rewards(1.0, False))
    timed = ENGINES["Conjugate"](sb.Gaussian(1.0, forgetting=sb.Discount(60, "seconds")))
    for posterior, time in (
        (plain, 0.0),
        (counted, [1.0, 2.0]),
        (counted, math.nan),
        (counted, "today"),
        (timed, None),
    ):
        with pytest.raises(ArgumentError, match=r"^time: expected"):
            posterior.update(np.eye(D)[0], 1.0, time=time)
    timed.update(np.eye(D), np.ones(D), time=1.7e9)  # all at once
    assert timed.evidence.count == D


def by_particles(how: str, intercept: bool, variance: Any, weights: FloatArray | None, **planted: Any) -> float:
    """Return how far particles are from the posterior from scratch, in tolerances of its error rate."""
    inclusion, mean, noise = from_scratch(variance, intercept, weights)
    found = []
    for seed in range(RUNS):
        posterior = sb.Particles(PRIOR, D, n_draws=1000, seed=seed, rewards=rewards(variance, intercept))
        vars(posterior).update(planted)
        told(posterior, how, weights)
        found.append([*posterior.inclusion(), *posterior.mean(), posterior.noise_variance])
    error = np.std(found, axis=0, ddof=1) / math.sqrt(RUNS) + 2e-3  # and the bias of a thousand particles
    apart = np.abs(np.mean(found, axis=0) - [*inclusion, *mean, noise]) / error
    return float(apart.max() / stats.t.isf(FAMILY_WISE / 2, RUNS - 1))


@NOISES
@INTERCEPT
@pytest.mark.parametrize(("how", "weighted"), [("one by one", False), ("batches", True), ("late", False)])
def test_particles_are_draws_from_it(how: str, weighted: bool, intercept: bool, variance: Any) -> None:
    assert by_particles(how, intercept, variance, data()[2] if weighted else None) < 1


def test_particles_that_do_not_forget_are_noticed() -> None:
    """Planted: weights stay when the likelihood so far is raised to a power."""

    def only_sums(self: Any, factor: float) -> None:
        self.evidence, self._fits = self.evidence.scaled(factor), factor * self._fits

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sb.Particles, "forget", only_sums)
        assert by_particles("one by one", True, 0.5, None) > 1


@pytest.mark.parametrize("family", [sb.Bernoulli(forgetting=sb.Discount(20)), sb.Poisson(forgetting=sb.Discount(20))])
def test_particles_of_clicks_and_counts(family: Any) -> None:
    """Forgetting step by step gives what weights γ^age give at once."""
    rng = np.random.default_rng(4)
    x, y = rng.integers(-1, 2, size=(80, 2)).astype(float), (rng.random(80) < 0.4).astype(float)
    prior = sb.SpikeSlab(0.5, 1.0)

    def numbers(posterior: Any) -> Any:
        draws = posterior.draws()
        return [*posterior.inclusion(), *posterior.mean(), *(draws.weights @ draws.theta**2)]

    shares = 2.0 ** (-(79 - np.arange(80)) / 20)
    steps, at_once = [], []
    for seed in range(RUNS):
        one = sb.Particles(prior, 2, n_draws=1000, seed=seed, rewards=family)
        for row, reward in zip(x, y, strict=True):
            one.update(row, reward)
        other = sb.Particles(prior, 2, n_draws=1000, seed=100 + seed, rewards=replace(family, forgetting=None))
        other.update(x, y, shares)
        steps.append(numbers(one))
        at_once.append(numbers(other))
    error = np.sqrt((np.var(steps, axis=0, ddof=1) + np.var(at_once, axis=0, ddof=1)) / RUNS) + 2e-3
    apart = np.abs(np.mean(steps, axis=0) - np.mean(at_once, axis=0)) / error
    assert apart.max() < stats.t.isf(FAMILY_WISE / 2, 2 * RUNS - 2)


def test_a_long_pause_brings_the_prior_back() -> None:
    """Planted: particles are only reweighted, without moves; few are left."""
    posterior = sb.Particles(PRIOR, D, n_draws=4000, seed=0, rewards=rewards(0.5, False))
    x, y, _ = data()
    posterior.update(x, y, time=np.arange(ROWS))
    posterior.update(np.zeros(D), 0.0, time=1e6)
    np.testing.assert_allclose(posterior.inclusion(), 0.4, atol=0.05)
    np.testing.assert_allclose(posterior.mean(), 0.0, atol=0.1)
    assert posterior.draws().effective_sample_size > 1000


def test_particles_that_forget_are_saved_bit_for_bit() -> None:
    x, y, _ = data()
    one, other = (sb.Particles(PRIOR, D, n_draws=200, seed=0, rewards=rewards(LEARNT, True)) for _ in range(2))
    one.update(x[:20], y[:20])
    other.restore(one.state())
    for posterior in (one, other):
        posterior.update(x[20:], y[20:])
    assert np.array_equal(one.draws().theta, other.draws().theta)
    assert np.array_equal(one.draws().weights, other.draws().weights)


def noise_by_gibbs(counted: float) -> float:
    """Return how far E σ² of Gibbs without features is from its closed form, in tolerances of its error rate.

    With θ = 0, σ² given the rewards is IG(a + Σ g / 2, b + Σ g y² / 2).
    """
    _, y, _ = data()
    shares, runs = 2.0 ** (-(ROWS - 1 - np.arange(ROWS)) / HALF_LIFE), 12
    found = []
    for seed in range(runs):
        posterior = sb.Gibbs(sb.SpikeSlab(0.0, 1.0), 1, n_draws=2000, seed=seed, rewards=rewards(LEARNT, False))
        posterior.update(np.ones((ROWS, 1)), y)
        found.append(posterior.noise_variance)
    expected = (3.0 + float(shares @ y**2) / 2) / (4.0 + counted / 2 - 1.0)
    error = np.std(found, ddof=1) / math.sqrt(runs) + 1e-6
    return float(abs(np.mean(found) - expected) / (error * stats.t.isf(FAMILY_WISE / 2, runs - 1)))


def test_gibbs_draws_the_noise_given_what_rewards_count() -> None:
    assert noise_by_gibbs(float((2.0 ** (-np.arange(ROWS) / HALF_LIFE)).sum())) < 1
    assert noise_by_gibbs(ROWS) > 1, "planted: every reward counts as one, as with weights"


@pytest.mark.parametrize("planted", ["contrast counts one", "n is not scaled", "late in full", "clock of arrival"])
def test_planted_bugs_are_caught(planted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scaled, passage = Evidence.scaled, Discount.passage

    def unscaled(self: Evidence, factor: float) -> Evidence:
        other = scaled(self, factor)
        other._discounted = self.count
        return other

    def in_full(self: Discount, clock: float | None, times: Any, count: int) -> Passage:
        found = passage(self, clock, times, count)
        return replace(found, shares=np.ones(len(found.shares)))

    if planted == "contrast counts one":
        monkeypatch.setattr(Passage, "counts", lambda self, n=None: self.shares[len(self.shares) - (n or 0) :])
    elif planted == "n is not scaled":
        monkeypatch.setattr(Evidence, "scaled", unscaled)
    elif planted == "late in full":
        monkeypatch.setattr(Discount, "passage", in_full)
    else:
        monkeypatch.setattr(Discount, "passage", lambda self, clock, times, count: passage(self, clock, None, count))
    with pytest.raises(AssertionError):
        test_enumeration_is_the_posterior_from_scratch("late", False, True, LEARNT)
