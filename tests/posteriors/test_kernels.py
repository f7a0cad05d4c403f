"""The compiled kernels: their random numbers, their integrals, and sweeps that leave the exact posterior invariant."""

import math

import numpy as np
import pytest
from scipy import integrate, special, stats
from scipy.special import logsumexp

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.posteriors.kernels.blocked import blocked_sweep
from sparsebandits.posteriors.kernels.collapsed import collapsed_sweep, correlated_neighbours
from sparsebandits.posteriors.kernels.continuous import (
    GAUSSIAN,
    LAPLACE,
    continuous_sweeps,
    laplace_weights,
    passes_in_bin,
    positive_normal,
    scaled_erfc,
)
from sparsebandits.posteriors.kernels.inline_random import binomial, happens, normal, random_state, uniform
from sparsebandits.posteriors.kernels.point_mass import point_mass_sweep
from sparsebandits.posteriors.kernels.reversible_jump import (
    LOGIT,
    POISSON,
    PROBIT,
    drawn,
    fitted_normal,
    log_likelihood,
    slopes,
)
from sparsebandits.posteriors.kernels.rows import quadratic_forms
from sparsebandits.posteriors.rows import Rows
from tests.statistical import FAMILY_WISE, assert_means_agree

SIZE = 40_000


def state(seed: int = 0) -> FloatArray:
    return random_state(np.random.default_rng(seed))  # type: ignore[return-value]


# Random numbers


def test_uniforms_and_normals() -> None:
    s = state()
    uniforms = np.array([uniform(s) for _ in range(SIZE)])
    normals = np.array([normal(s) for _ in range(SIZE)])
    assert stats.kstest(uniforms, "uniform").pvalue > FAMILY_WISE
    assert stats.kstest(normals, "norm").pvalue > FAMILY_WISE
    assert stats.kstest(1.05 * normals, "norm").pvalue < FAMILY_WISE, "planted: 5% too wide"
    assert abs(np.corrcoef(uniforms[1:], uniforms[:-1])[0, 1]) < 5 / np.sqrt(SIZE)
    again = state()
    assert uniform(again) == uniforms[0]


@pytest.mark.parametrize(("n", "p"), [(1, 0.3), (7, 0.02), (50, 0.5), (400, 0.9), (5000, 1e-3)])
def test_binomial(n: int, p: float) -> None:
    s = state()
    draws = np.array([binomial(s, n, p) for _ in range(SIZE)])

    def p_value(p: float) -> float:
        values = np.arange(draws.max() + 2)
        expected = SIZE * np.append(stats.binom.pmf(values[:-1], n, p), stats.binom.sf(values[-2], n, p))
        found = np.append(np.bincount(draws, minlength=len(values) - 1), 0)
        rare = expected < 5
        found, expected = np.append(found[~rare], found[rare].sum()), np.append(expected[~rare], expected[rare].sum())
        keep = expected > 0
        return float(stats.chisquare(found[keep], expected[keep] * found[keep].sum() / expected[keep].sum()).pvalue)

    assert p_value(p) > FAMILY_WISE
    assert p_value(0.9 * p) < FAMILY_WISE, "planted: 10% too likely"


@pytest.mark.parametrize("p", [0.0, 1e-320, 1e-30, 1e-17, 1 - 1e-16, 1.0])
def test_binomial_at_the_edges(p: float) -> None:
    s = state()
    for n in (1, 2, 10_000):
        for _ in range(100):
            assert binomial(s, n, p) == round(n * p)


@pytest.mark.parametrize("log_odds", [-np.inf, -50.0, -6.0, -0.3, 0.0, 1.0, 5.5, 50.0, np.inf])
def test_happens(log_odds: float) -> None:
    s = state()
    count = sum(happens(s, log_odds) for _ in range(SIZE))
    p = 1 / (1 + math.exp(-log_odds)) if log_odds > -700 else 0.0
    assert stats.binomtest(count, SIZE, p).pvalue > FAMILY_WISE
    if abs(log_odds) < 10:
        wrong = sum(happens(s, log_odds + 0.7) for _ in range(SIZE))
        assert stats.binomtest(wrong, SIZE, p).pvalue < FAMILY_WISE, "planted: odds off by a factor of two"


def test_passes_in_bin() -> None:
    s = state()
    for log_ratio in (-np.inf, -50.0, -6.0, -0.3, -0.002, 0.0, 5.0, np.inf):
        count = sum(passes_in_bin(s, low, log_ratio) for low in range(256) for _ in range(SIZE // 256))
        p, among = math.exp(min(log_ratio, 0.0)), 256 * (SIZE // 256)
        assert stats.binomtest(count, among, p).pvalue > FAMILY_WISE
        if -1 < log_ratio < 0:
            assert stats.binomtest(count, among, p**0.5).pvalue < FAMILY_WISE, "planted: half the logarithm"


# The Laplace spike's integrals


def test_scaled_erfc() -> None:
    x = np.concatenate((np.linspace(0.0, 60.0, 20_001), np.logspace(-300, 300, 601)))
    np.testing.assert_allclose([scaled_erfc(value) for value in x], special.erfcx(x), rtol=1e-12)


@pytest.mark.parametrize(("h", "q", "rate"), [(0.0, 4.0, 2.0), (3.0, 4.0, 10.0), (-30.0, 9.0, 6.0), (30.0, 9.0, 6.0)])
def test_laplace_weights(h: float, q: float, rate: float) -> None:
    """Against quadrature: with both sides of zero in play, and with data that pull past the spike."""
    top = max((abs(h) - rate) / q, 0.0)
    height = (abs(h) - rate) * top - q * top * top / 2  # the integrand is scaled to be at most one
    sides = [
        integrate.quad(
            lambda t, sign=sign: math.exp((sign * h - rate) * t - q * t * t / 2 - height), 0, top + 9 / q**0.5
        )[0]
        for sign in (1.0, -1.0)
    ]
    logarithm, positive, both = laplace_weights(h, q**-0.5, rate)
    assert logarithm + 0.5 * math.log(math.pi / (2 * q)) == pytest.approx(height + math.log(sum(sides)), abs=1e-8)
    assert positive / both == pytest.approx(sides[0] / sum(sides), rel=1e-6)


def agrees(draws: FloatArray, mean: float) -> bool:
    return bool(stats.kstest(draws, stats.truncnorm(-mean, np.inf, mean).cdf).pvalue > FAMILY_WISE)


@pytest.mark.parametrize("mean", [-1e15, -200.0, -3.0, -0.1, 0.0, 0.1, 2.0, 40.0])
def test_positive_normal(mean: float) -> None:
    s = state()
    draws = np.array([positive_normal(s, mean) for _ in range(SIZE)])
    assert (draws > 0).all()
    if mean < -1e6:  # practically exponential
        assert stats.kstest(draws, "expon", (0, -1 / mean)).pvalue > FAMILY_WISE
        return
    assert agrees(draws, mean)
    assert not agrees(np.abs(draws - 0.05 * draws.mean()), mean), "planted: 5% too near to zero"


# Sweeps leave the posterior invariant

D = 5


def correlated(rng: np.random.Generator) -> FloatArray:
    return sb.environments.GaussianActions(D, 1, n_actions=9, correlation=0.9).sample(int(rng.integers(100))).actions


def twins(rng: np.random.Generator) -> FloatArray:
    return np.repeat(rng.standard_normal((12, 3)), 2, axis=1)[:, :D]


def one_action_again_and_again(rng: np.random.Generator) -> FloatArray:
    return np.tile(rng.standard_normal(D), (300, 1))


DESIGNS = {"correlated": correlated, "twins": twins, "again and again": one_action_again_and_again}
SLAB_MEAN, SLAB_VARIANCE, BETA = np.linspace(-0.5, 0.5, D), np.linspace(0.3, 1.0, D), np.linspace(0.1, 0.6, D)


def exact(design: str, spike: sb.PointMass | sb.GaussianSpike, inclusion: object = BETA) -> sb.Enumeration:
    rng = np.random.default_rng(1)
    x = DESIGNS[design](rng)
    y = x @ np.array([1.0, 0.0, -0.7, 0.0, 0.0]) + rng.standard_normal(len(x))
    posterior = sb.Enumeration(sb.SpikeSlab(inclusion, SLAB_VARIANCE, SLAB_MEAN, spike), D, 1.0)
    posterior.update(x, y)
    return posterior


def check_moments(theta: FloatArray, posterior: sb.Enumeration) -> None:
    """Mean, all second moments, and inclusion if the spike is a point mass."""
    second = theta[:, :, np.newaxis] * theta[:, np.newaxis]
    assert_means_agree(theta.mean(axis=0), posterior.mean(), theta.std(axis=0) / np.sqrt(len(theta)))
    error = second.std(axis=0) / np.sqrt(len(theta))
    assert_means_agree(second.mean(axis=0), posterior.second_moment(), error)
    if isinstance(posterior.prior.spike, sb.PointMass):
        p = posterior.inclusion()
        inside = (p > 1e-6) & (p < 1 - 1e-6)
        error = np.sqrt(p * (1 - p) / len(theta))
        assert_means_agree((theta != 0).mean(axis=0)[inside], p[inside], error[inside])


def collapsed(posterior: sb.Enumeration, theta: FloatArray, swaps: int, seed: int, *prior: FloatArray) -> FloatArray:
    """One collapsed sweep, particles of one model together."""
    d, rng = theta.shape[1], np.random.default_rng(seed)
    models, counts = np.unique(theta != 0, axis=0, return_counts=True)
    rows, gram = Rows.of(models.astype(np.float64)), posterior.evidence.gram
    slab_mean, slab_variance, log_odds, sizes = prior
    ends, columns, values = collapsed_sweep(
        (rows.begins, rows.ends, rows.columns), counts, d, np.ones(len(models)), rng.permutation(d), True, swaps, False,
        correlated_neighbours(gram), gram, posterior.evidence.moment, slab_mean, slab_variance,
        np.ones(len(models)), log_odds, sizes, np.zeros(len(models)), state(seed),
    )  # fmt: skip
    return Rows(np.append(0, ends[:-1]), ends, columns, values, d).dense


def swept_models(
    posterior: sb.Enumeration, theta: FloatArray, log_odds: FloatArray, sizes: FloatArray, seed: int = 3
) -> FloatArray:
    return collapsed(posterior, theta, 6, seed, SLAB_MEAN, SLAB_VARIANCE, log_odds, sizes)


@pytest.mark.parametrize("design", DESIGNS)
def test_collapsed_sweeps_leave_the_posterior(design: str) -> None:
    posterior = exact(design, sb.PointMass())
    theta = posterior.sample(np.random.default_rng(0), SIZE)
    log_odds = np.log(BETA / (1 - BETA))
    for seed in range(3):
        theta = swept_models(posterior, theta, log_odds, np.zeros(D), seed)
        check_moments(theta, posterior)


def test_collapsed_sweeps_integrate_a_beta_inclusion_out() -> None:
    posterior = exact("correlated", sb.PointMass(), sb.BetaInclusion(1.0, 2.0))
    theta = posterior.sample(np.random.default_rng(0), SIZE)
    others = np.arange(D)
    sizes = np.log(1.0 + others) - np.log(2.0 + D - 1 - others)
    check_moments(swept_models(posterior, theta, np.zeros(D), sizes), posterior)


def test_collapsed_sweeps_find_the_posterior_from_a_bad_start() -> None:
    """Without swaps, a chain with one of two equal columns would never change to the other; all start with one."""
    posterior = exact("twins", sb.PointMass())
    theta = np.tile([1.0, 0.0, 1.0, 0.0, 0.0], (SIZE, 1))
    log_odds = np.log(BETA / (1 - BETA))
    for seed in range(12):
        theta = swept_models(posterior, theta, log_odds, np.zeros(D), seed)
    check_moments(theta, posterior)


@pytest.mark.parametrize("planted", ["odds", "gram"])
def test_wrong_collapsed_sweeps_are_caught(planted: str) -> None:
    posterior = exact("correlated", sb.PointMass())
    theta = posterior.sample(np.random.default_rng(0), SIZE)
    log_odds = np.log(BETA / (1 - BETA))
    if planted == "odds":
        theta = swept_models(posterior, theta, log_odds + 0.1, np.zeros(D))  # prior odds off by 10%
    else:
        truth = exact("correlated", sb.PointMass())
        posterior.update(np.full(D, 0.5), 1.0)  # statistics with one observation too many
        theta = swept_models(posterior, theta, log_odds, np.zeros(D))
        posterior = truth
    with pytest.raises(AssertionError, match="z-score"):
        check_moments(theta, posterior)


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("relaxation", [0.0, 0.6])
def test_continuous_sweeps_leave_the_posterior(design: str, relaxation: float) -> None:
    posterior = exact(design, sb.GaussianSpike(0.02))
    theta = posterior.sample(np.random.default_rng(0), SIZE)
    included = np.random.default_rng(1).random(theta.shape) < posterior.prior.inclusion_given(theta)  # γ given θ

    def sweep(width: float, seed: int) -> None:
        continuous_sweeps(
            np.empty((SIZE, 0, D)), theta, included, np.ones(SIZE), np.random.default_rng(seed).permutation(D),
            np.ascontiguousarray(posterior.evidence.gram), posterior.evidence.moment, SLAB_MEAN, SLAB_VARIANCE,
            np.ones(SIZE), np.log(BETA / (1 - BETA)), np.zeros(SIZE), GAUSSIAN, np.full(SIZE, width), relaxation,
            state(seed),
        )  # fmt: skip

    for seed in range(3):
        sweep(0.02, seed)
        check_moments(theta, posterior)
    p = posterior.inclusion()
    inside = (p > 1e-6) & (p < 1 - 1e-6)
    assert_means_agree(included.mean(axis=0)[inside], p[inside], np.sqrt(p * (1 - p) / SIZE)[inside])
    if design == "correlated":
        for seed in range(3):
            sweep(1.3 * 0.02, seed)  # planted: a spike 30% too wide
        with pytest.raises(AssertionError, match="z-score"):
            check_moments(theta, posterior)


def swept_rows(
    posterior: sb.Enumeration, rows: Rows, precision: type, unit: float, seed: int, planted: str = ""
) -> Rows:
    """One sweep over the coordinates of compressed rows, with coefficients in other units than one."""
    units = unit * np.exp2(np.arange(D) % 3)
    odds = np.log(BETA / (1 - BETA)) + (0.1 if planted == "odds" else 0.0)
    gram = posterior.evidence.gram * units * units[:, np.newaxis]
    moment = posterior.evidence.moment * (1.02 if planted == "moment" else 1.0) * units
    size = len(rows)
    ends, columns, values = point_mass_sweep(
        rows.arrays, units, np.ones(size), np.random.default_rng(seed).permutation(D), gram.astype(precision),
        moment.astype(precision), SLAB_MEAN / units, SLAB_VARIANCE / units**2, np.ones(size), odds, np.zeros(size),
        state(seed),
    )  # fmt: skip
    return Rows(np.append(0, ends[:-1]), ends, columns, values, D)


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize(("precision", "unit"), [(np.float32, 1.0), (np.float64, 1.0), (np.float32, 0.25)])
def test_point_mass_sweeps_leave_the_posterior(design: str, precision: type, unit: float) -> None:
    posterior = exact(design, sb.PointMass())
    rows = Rows.of(posterior.sample(np.random.default_rng(0), SIZE))
    for seed in range(3):
        rows = swept_rows(posterior, rows, precision, unit, seed)
        check_moments(rows.dense, posterior)


@pytest.mark.parametrize("planted", ["odds", "moment"])
def test_wrong_point_mass_sweeps_are_caught(planted: str) -> None:
    """Prior odds off by 10%, and sums of rewards off by 2%."""
    posterior = exact("correlated", sb.PointMass())
    rows = Rows.of(posterior.sample(np.random.default_rng(0), 4 * SIZE))
    for seed in range(3):
        rows = swept_rows(posterior, rows, np.float32, 1.0, seed, planted)
    with pytest.raises(AssertionError, match="z-score"):
        check_moments(rows.dense, posterior)


def test_copies_of_a_draw_share_their_entries_and_move_apart() -> None:
    posterior = exact("correlated", sb.PointMass())
    rows = Rows.of(posterior.sample(np.random.default_rng(0), 3)).take(np.array([0, 0, 1, 0, 2, 2]))
    np.testing.assert_array_equal(rows.dense[[0, 1]], rows.dense[[3, 3]])
    alone = Rows.of(rows.dense)
    shared, own = (swept_rows(posterior, one, np.float64, 1.0, 5) for one in (rows, alone))
    np.testing.assert_array_equal(shared.dense, own.dense)
    assert shared.distinct() > 3


def test_single_precision_draws_what_double_does() -> None:
    """The same random numbers: nearly all models are the same, and coefficients differ by rounding."""
    posterior = exact("correlated", sb.PointMass())
    rows = Rows.of(posterior.sample(np.random.default_rng(0), SIZE))
    single, double = (swept_rows(posterior, rows, precision, 1.0, 1) for precision in (np.float32, np.float64))
    same = ((single.dense != 0) == (double.dense != 0)).all(axis=1)
    assert same.mean() > 0.999
    np.testing.assert_allclose(single.dense[same], double.dense[same], atol=1e-4)


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("planted", [False, True])
def test_blocked_sweeps_leave_the_posterior(design: str, planted: bool) -> None:
    posterior = exact(design, sb.GaussianSpike(0.02))
    theta = posterior.sample(np.random.default_rng(0), SIZE)
    rng = np.random.default_rng(1)
    included = rng.random(theta.shape) < posterior.prior.inclusion_given(theta)  # γ given θ
    odds = np.log(BETA / (1 - BETA)) + (0.2 if planted else 0.0)  # planted: prior odds off by 20%
    for seed in range(2):
        blocked_sweep(
            theta, included, np.full(theta.shape, 0.02), np.ones(SIZE), rng.permutation(D),
            posterior.evidence.gram, posterior.evidence.moment, SLAB_MEAN, SLAB_VARIANCE,
            np.ones(SIZE), odds, np.zeros(SIZE), state(seed),
        )  # fmt: skip
    p = posterior.inclusion()
    error = np.sqrt(p * (1 - p) / SIZE)
    inside = (p > 1e-6) & (p < 1 - 1e-6)
    if planted:
        with pytest.raises(AssertionError, match="z-score"):
            assert_means_agree(included.mean(axis=0)[inside], p[inside], error[inside])
    else:
        check_moments(theta, posterior)
        assert_means_agree(included.mean(axis=0)[inside], p[inside], error[inside])


# The Laplace spike against quadrature, at d = 2

SCALE = 0.15


def laplace_moments(gram: FloatArray, moment: FloatArray) -> dict[str, float]:
    """Moments of the posterior at d = 2 by a fine grid, split at zero, with the prior's density written out."""
    nodes, weights = np.polynomial.legendre.leggauss(400)
    half = 3.0 * (nodes + 1) / 2
    grid = np.concatenate((-half[::-1], half))
    weight = np.tile(weights * 1.5, 1)
    weight = np.concatenate((weight[::-1], weight))

    def log_prior(t: FloatArray, j: int) -> FloatArray:
        slab = np.log(BETA[j]) + stats.norm.logpdf(t, SLAB_MEAN[j], np.sqrt(SLAB_VARIANCE[j]))
        spike = np.log(1 - BETA[j]) + stats.laplace.logpdf(t, 0, SCALE)
        return np.asarray(np.logaddexp(slab, spike))

    first, second = np.meshgrid(grid, grid, indexing="ij")
    logs = log_prior(first, 0) + log_prior(second, 1) + moment[0] * first + moment[1] * second
    logs -= 0.5 * (gram[0, 0] * first**2 + 2 * gram[0, 1] * first * second + gram[1, 1] * second**2)
    mass = np.exp(logs - logsumexp(logs)) * np.outer(weight, weight)
    mass /= mass.sum()
    return {
        "mean 0": float((mass * first).sum()),
        "mean 1": float((mass * second).sum()),
        "square 0": float((mass * first**2).sum()),
        "cross": float((mass * first * second).sum()),
        "near zero": float((mass * (np.abs(first) < 0.3)).sum()),
    }


@pytest.mark.parametrize(("rows", "truth", "noise"), [(8, (0.8, 0.0), 1.0), (30, (0.9, -0.6), 0.3)])
@pytest.mark.parametrize("relaxation", [0.0, 0.6])
def test_continuous_sweeps_find_the_laplace_posterior(
    rows: int, truth: tuple[float, float], noise: float, relaxation: float
) -> None:
    """With weak data, and with data so strong that they pull past the spike, which are two branches of the kernel."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((rows, 2)) @ np.array([[1.0, 0.6], [0.0, 0.8]])
    y = x @ np.array(truth) + np.sqrt(noise) * rng.standard_normal(rows)
    gram, moment = np.ascontiguousarray(x.T @ x / noise), x.T @ y / noise
    expected = laplace_moments(gram, moment)

    def found(scale: float) -> FloatArray:
        theta = np.zeros((SIZE, 2))
        continuous_sweeps(
            np.empty((SIZE, 29, 2)), theta, np.zeros((SIZE, 2), dtype=bool), np.ones(SIZE), np.arange(2), gram, moment,
            SLAB_MEAN[:2], SLAB_VARIANCE[:2], np.ones(SIZE), np.log(BETA / (1 - BETA))[:2], np.zeros(SIZE), LAPLACE,
            np.full(SIZE, scale), relaxation, state(),
        )  # fmt: skip
        return np.stack(
            (theta[:, 0], theta[:, 1], theta[:, 0] ** 2, theta[:, 0] * theta[:, 1], np.abs(theta[:, 0]) < 0.3), axis=1
        )

    values = found(SCALE)
    assert_means_agree(values.mean(axis=0), np.array(list(expected.values())), values.std(axis=0) / np.sqrt(SIZE))
    wrong = found(2.0 * SCALE)  # planted: a spike twice too wide
    with pytest.raises(AssertionError, match="z-score"):
        assert_means_agree(wrong.mean(axis=0), np.array(list(expected.values())), wrong.std(axis=0) / np.sqrt(SIZE))


def test_swaps_among_unequal_neighbours() -> None:
    """At d = 9 coordinates have different numbers of neighbours, which the acceptance of a swap has to correct for."""
    d, rng = 9, np.random.default_rng(3)
    x = rng.standard_normal((14, 1)) * np.array([1, 1, 1, 1, 1, 1, 0, 0, 0]) + 0.3 * rng.standard_normal((14, d))
    y = 0.8 * x[:, 0] + rng.standard_normal(14)
    posterior = sb.Enumeration(sb.SpikeSlab(0.2, 0.7), d, 1.0)
    posterior.update(x, y)
    neighbours = correlated_neighbours(posterior.evidence.gram)
    degrees = (neighbours >= 0).sum(axis=1)
    assert len(set(degrees.tolist())) > 1
    for j in range(d):
        assert all(j in neighbours[i] for i in neighbours[j, : degrees[j]]), "a swap can be undone"
    theta = posterior.sample(np.random.default_rng(0), SIZE)
    for seed in range(4):
        prior = np.zeros(d), np.full(d, 0.7), np.full(d, np.log(0.25)), np.zeros(d)
        theta = collapsed(posterior, theta, 12, seed, *prior)
    check_moments(theta, posterior)


def test_quadratic_forms() -> None:
    rng = np.random.default_rng(0)
    x, theta = rng.standard_normal((30, 9)), rng.standard_normal((200, 9))
    theta[rng.random((200, 9)) < 0.6] = 0.0
    gram = x.T @ x
    expected = ((theta @ gram) * theta).sum(axis=1)
    np.testing.assert_allclose(quadratic_forms(Rows.of(theta).arrays, gram), expected, rtol=1e-12)


# Clicks and counts


CODES: dict[str, tuple[int, sb.Bernoulli | sb.Poisson]] = {
    "logit": (LOGIT, sb.Bernoulli()),
    "probit": (PROBIT, sb.Bernoulli("probit")),
    "Poisson": (POISSON, sb.Poisson()),
}


@pytest.mark.parametrize("name", CODES)
def test_log_likelihoods_and_their_slopes(name: str) -> None:
    code, family = CODES[name]
    eta = np.concatenate((np.linspace(-30.0, 30.0, 601), [-200.0, 200.0]))
    for successes, trials in ((0.0, 1.0), (1.0, 1.0), (2.3, 3.1)):
        found = [log_likelihood(code, value, successes, trials) for value in eta]
        np.testing.assert_allclose(found, family.log_likelihood(eta, successes, trials), rtol=1e-12, atol=1e-12)
        step = 1e-5
        for value in np.linspace(-12.0, 12.0, 49):
            slope, information = slopes(code, value, successes, trials)
            above, here, below = (log_likelihood(code, value + h, successes, trials) for h in (step, 0.0, -step))
            scale = max(abs(here), 1.0)
            assert slope == pytest.approx((above - below) / (2 * step), abs=1e-8 * scale, rel=1e-6)
            nearby = [slopes(code, value + h, successes, trials)[0] for h in (step, -step)]
            assert information == pytest.approx((nearby[1] - nearby[0]) / (2 * step), abs=1e-7 * scale, rel=1e-5)
            assert information >= 0.0


@pytest.mark.parametrize("successes", [0.0, 1.0, 1e3, 1e8])
@pytest.mark.parametrize("base", [-300.0, 0.0, 40.0])
def test_fits_find_the_mode_of_a_count(base: float, successes: float) -> None:
    """Where the rate explodes, Newton's method alone would take hundreds of steps, or overshoot beyond all numbers."""
    data = (POISSON, np.array([successes]), np.ones(1))
    for z, precision in ((1.0, 0.04), (3.0, 1e-8)):
        mode, deviation = fitted_normal(data, np.array([base]), np.array([z]), 0.0, precision)
        slope, information = slopes(POISSON, base + z * mode, successes, 1.0)
        assert deviation == pytest.approx((precision + z * z * information) ** -0.5, rel=0.02)
        assert abs(z * slope - precision * mode) * deviation < 0.02


def test_slices_have_the_density_that_they_should() -> None:
    """One step from exact draws of a skewed density, by inversion on a grid; planted: a step told twice the data."""
    base, z = np.array([0.3, -1.0]), np.array([1.5, -0.5])
    grid = np.linspace(-12.0, 8.0, 200_001)

    def cdf(weight: float) -> FloatArray:
        logs = sum(
            weight * stats.logistic.logcdf(sign * (b + v * grid)) for b, v, sign in zip(base, z, (-1, 1), strict=True)
        )
        density = np.exp(logs - 0.125 * grid**2)
        return np.asarray(np.cumsum(density) / density.sum())

    def p_value(weight: float) -> float:
        s, rng = state(), np.random.default_rng(0)
        data = (LOGIT, weight * np.array([0.0, 1.0]), weight * np.ones(2))
        fit = fitted_normal(data, base, z, 0.0, 0.25)
        starts = np.interp(rng.random(SIZE), cdf(1.0), grid)
        found = [drawn(data, base, z, 0.0, 0.25, fit, t, False, s) for t in starts]
        return float(stats.kstest(np.interp(found, grid, cdf(1.0)), "uniform").pvalue)

    assert p_value(1.0) > FAMILY_WISE
    assert p_value(2.0) < FAMILY_WISE
