"""Priors with a known number of features: draws, enumeration, sweeps and engines, against all models written out."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import betaln, logsumexp

import sparsebandits as sb
from sparsebandits.arguments import ArgumentError, FloatArray
from sparsebandits.posteriors.kernels.collapsed import collapsed_sweep, correlated_neighbours
from sparsebandits.posteriors.moves import Moves
from sparsebandits.posteriors.rows import Rows
from tests.posteriors.test_kernels import BETA, SIZE, SLAB_MEAN, SLAB_VARIANCE, exact, state
from tests.posteriors.test_particles import history
from tests.statistical import FAMILY_WISE, assert_means_agree

D = 5
SOME = np.array([0.1, 0.5, 0.9, 0.3, 0.3])
EXTREME = np.array([1.0, 0.0, 0.4, 0.7, 0.2])
LEARNT = sb.BetaInclusion(1.0, 3.0)
PRIORS: dict[str, sb.SpikeSlab] = {
    "exactly two": sb.SpikeSlab(SOME, 0.7, 0.2, size=2),
    "exactly one": sb.SpikeSlab(0.3, 0.7, size=1),
    "none": sb.SpikeSlab(0.3, 0.7, size=0),
    "all": sb.SpikeSlab(SOME, 0.7, size=D),
    "up to two": sb.SpikeSlab(0.3, 0.7, size=(0, 2)),
    "two to four": sb.SpikeSlab(SOME, [0.5, 1.0, 2.0, 0.1, 0.7], 0.1, size=(2, 4)),
    "certain ones": sb.SpikeSlab(EXTREME, 0.7, size=(0, 2)),
    "exactly two, certain ones": sb.SpikeSlab(EXTREME, 0.7, 0.1, size=2),
    "Beta": sb.SpikeSlab(LEARNT, 0.7, size=(1, 3)),
    "Beta, exactly three": sb.SpikeSlab(LEARNT, 0.7, size=3),
    "of noise": sb.SpikeSlab(0.3, 0.7, of_noise=True, size=(1, 2)),
}


def log_prior(prior: sb.SpikeSlab) -> dict[tuple[bool, ...], float]:
    """Return the log probability of each model: all 2^d of them, those of other sizes left out, made to sum to one."""
    low, high = prior.size if isinstance(prior.size, tuple) else (prior.size, prior.size)
    logs = {}
    for model in product((False, True), repeat=D):
        if not low <= sum(model) <= high:
            continue
        if isinstance(prior.inclusion, sb.BetaInclusion):
            a, b = prior.inclusion.a, prior.inclusion.b
            logs[model] = float(betaln(a + sum(model), b + D - sum(model)))
        else:
            chances = np.where(model, prior.inclusions(D), 1.0 - prior.inclusions(D))
            if chances.all():
                logs[model] = float(np.log(chances).sum())
    total = logsumexp(list(logs.values()))
    return {model: value - total for model, value in logs.items()}


def by_hand(x: FloatArray, y: FloatArray, prior: sb.SpikeSlab, noise: float) -> tuple[float, FloatArray, FloatArray]:
    """Return log evidence, inclusion and mean, each model from the normal density of its rewards."""
    slab_mean, slab_variance = prior.slab(D)
    slab_variance = slab_variance * (noise if prior.of_noise else 1.0)
    logs, models, means = [], [], []
    for model, log in log_prior(prior).items():
        m, v = np.where(model, slab_mean, 0.0), np.where(model, slab_variance, 0.0)
        covariance = noise * np.eye(len(y)) + (x * v) @ x.T
        residual = y - x @ m
        logs.append(log + stats.multivariate_normal(cov=covariance).logpdf(residual))
        models.append(model)
        means.append(m + (v[:, np.newaxis] * x.T) @ np.linalg.solve(covariance, residual))
    weights = np.exp(np.array(logs) - logsumexp(logs))
    return float(logsumexp(logs)), weights @ np.array(models), weights @ np.array(means)


def data(n: int = 12) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(4)
    x = rng.standard_normal((n, D)) @ np.linalg.cholesky(0.4 * np.eye(D) + 0.6).T
    return x, x @ np.array([0.8, 0.0, -0.5, 0.0, 0.0]) + rng.standard_normal(n)


def p_value(included: Any, expected: dict[tuple[bool, ...], float]) -> float:
    """Return the p-value of the frequencies of models; zero if there is one that must not be."""
    models, counts = np.unique(included, axis=0, return_counts=True)
    found = {tuple(model): count for model, count in zip(models.tolist(), counts.tolist(), strict=True)}
    if not found.keys() <= expected.keys():
        return 0.0
    if len(expected) == 1:
        return 1.0
    chances = np.exp(list(expected.values()))
    numbers = [found.get(model, 0) for model in expected]
    return float(stats.chisquare(numbers, len(included) * chances / chances.sum()).pvalue)


@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
def test_prior_draws(prior: sb.SpikeSlab) -> None:
    drawn = prior.sample(np.random.default_rng(0), SIZE, D)
    expected = log_prior(prior)
    assert p_value(drawn.included, expected) > FAMILY_WISE
    assert ((drawn.theta != 0) == drawn.included).all()
    if len(expected) > 1:
        first = next(iter(expected))
        wrong = {model: log + (0.2 if model == first else 0.0) for model, log in expected.items()}
        many = prior.sample(np.random.default_rng(1), 10 * SIZE, D)
        assert p_value(many.included, wrong) < FAMILY_WISE, "planted: one model 20% more likely"
    if isinstance(prior.inclusion, sb.BetaInclusion):
        assert drawn.beta is not None
        for size in set(drawn.included.sum(axis=1).tolist()):
            law = stats.beta(LEARNT.a + size, LEARNT.b + D - size)
            assert stats.kstest(drawn.beta[drawn.included.sum(axis=1) == size], law.cdf).pvalue > FAMILY_WISE


def test_improbable_sizes_are_drawn_at_once() -> None:
    """Twenty of sixty where each has a chance of 1e-9: inclusions are ratios of elementary symmetric polynomials."""
    chances, size = np.linspace(1e-9, 3e-9, 60), 20
    included = sb.SpikeSlab(chances, 1.0, size=size).sample(np.random.default_rng(0), SIZE, 60).included
    assert (included.sum(axis=1) == size).all()

    def symmetric(odds: FloatArray, degree: int) -> float:  # the coefficient of z^degree in the product of 1 + odds z
        product = np.ones(1)
        for one in odds:
            product = np.convolve(product, [1.0, one])
        return float(product[degree])

    odds = 1e9 * chances / (1 - chances)
    expected = np.array([odds[j] * symmetric(np.delete(odds, j), size - 1) for j in range(60)]) / symmetric(odds, size)
    error = np.sqrt(expected * (1 - expected) / SIZE)
    assert_means_agree(included.mean(axis=0), expected, error)
    with pytest.raises(AssertionError, match="z-score"):  # planted: all as likely
        assert_means_agree(included.mean(axis=0), np.full(60, size / 60), error)


@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
@pytest.mark.parametrize("n", [0, 12])
def test_enumeration(prior: sb.SpikeSlab, n: int) -> None:
    x, y = data(n)
    posterior = sb.Enumeration(prior, D, 0.6)
    posterior.update(x, y)
    evidence, inclusion, mean = by_hand(x, y, prior, 0.6) if n else (0.0, np.zeros(D), np.zeros(D))
    if n:
        assert posterior.log_evidence == pytest.approx(evidence, abs=1e-10)
        np.testing.assert_allclose(posterior.inclusion(), inclusion, atol=1e-10)
        np.testing.assert_allclose(posterior.mean(), mean, atol=1e-10)
    else:
        logs = log_prior(prior)
        assert posterior.log_evidence == pytest.approx(0.0, abs=1e-12), "the prior sums to one"
        np.testing.assert_allclose(posterior.inclusion(), np.exp(list(logs.values())) @ np.array(list(logs)))
    assert posterior.left_out == 0.0


def test_the_certificate_of_a_range() -> None:
    x, y = data(40)
    prior = sb.SpikeSlab(0.3, 0.7, size=(1, 4))
    whole = sb.Enumeration(prior, D, 1.0)
    whole.update(x, y)
    for largest in (1, 2, 3):
        part = sb.Enumeration(prior, D, 1.0, max_size=largest)
        part.update(x, y)
        left_out = 1 - np.exp(part.log_evidence - whole.log_evidence)
        assert 0 < left_out <= part.left_out / (1 + part.left_out) + 1e-12 or part.left_out == 1.0
    few = sb.Enumeration(sb.SpikeSlab(0.01, 1.0, size=2), 1000)
    assert (few.max_size, few.left_out) == (2, 0.0), "as many as there are pairs"


# Sweeps


def sized(size: Any, inclusion: Any = BETA) -> sb.Enumeration:
    """The posterior of the kernels' tests, with correlated columns, for models of some sizes."""
    free = exact("correlated", sb.PointMass())
    posterior = sb.Enumeration(sb.SpikeSlab(inclusion, SLAB_VARIANCE, SLAB_MEAN, size=size), D, 1.0)
    posterior.restore(free.state())
    return posterior


def swept(
    posterior: sb.Enumeration,
    theta: FloatArray,
    seed: int,
    exchange: bool = True,
    shift: Any = 0.0,
    together: bool = True,
) -> FloatArray:
    """One sweep, particles of one model together or each on its own; the odds come from the prior and ``shift``."""
    moves = Moves(posterior.prior, D, posterior.rewards)
    models, counts = np.unique(theta != 0, axis=0, return_counts=True)
    if not together:
        models, counts = theta != 0, np.ones(len(theta), dtype=np.intp)
    rows, gram = Rows.of(models.astype(np.float64)), posterior.evidence.gram
    ends, columns, values = collapsed_sweep(
        (rows.begins, rows.ends, rows.columns), counts, D, np.ones(len(models)),
        np.random.default_rng(seed).permutation(D), True, 2, exchange, correlated_neighbours(gram, 1), gram,
        posterior.evidence.moment, SLAB_MEAN, SLAB_VARIANCE, np.ones(len(models)), moves._log_odds + shift,
        moves._size_log_odds, np.zeros(len(models)), state(seed),
    )  # fmt: skip
    return Rows(np.append(0, ends[:-1]), ends, columns, values, D).dense


def check_sized(theta: FloatArray, posterior: sb.Enumeration) -> None:
    """Mean, second moments and inclusions of what is not always the same, and no model of another size."""
    low, high = posterior.prior.size_range(D)
    sizes = (theta != 0).sum(axis=1)
    assert low <= sizes.min(), "z-score: too small a model"
    assert sizes.max() <= high, "z-score: too large a model"
    second = (theta[:, :, np.newaxis] * theta[:, np.newaxis]).reshape(len(theta), -1)
    values = np.concatenate((theta, second, theta != 0), axis=1)
    expected = np.concatenate((posterior.mean(), posterior.second_moment().ravel(), posterior.inclusion()))
    error = values.std(axis=0) / np.sqrt(len(theta))
    moving = error > 0
    np.testing.assert_allclose(values.mean(axis=0)[~moving], expected[~moving], atol=1e-3)
    assert_means_agree(values.mean(axis=0)[moving], expected[moving], error[moving])


RANGES: dict[str, Any] = {"one": 1, "two": 2, "four": 4, "up to two": (0, 2), "two or three": (2, 3), "all": D}


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("size", RANGES.values(), ids=RANGES)
def test_sweeps_leave_the_posterior(size: Any, together: bool) -> None:
    posterior = sized(size)
    theta = posterior.sample(np.random.default_rng(0), SIZE)
    for seed in range(3):
        theta = swept(posterior, theta, seed, together=together)
        check_sized(theta, posterior)


def test_sweeps_with_a_beta_inclusion_leave_the_posterior() -> None:
    posterior = sized((1, 3), LEARNT)
    theta = posterior.sample(np.random.default_rng(0), SIZE)
    for seed in range(3):
        theta = swept(posterior, theta, seed)
        check_sized(theta, posterior)


@pytest.mark.parametrize("size", [1, 2, (2, 3)])
def test_sweeps_find_the_posterior_from_one_model(size: Any) -> None:
    """All start with the last coordinates; models of an exact size are reached by exchanges alone."""
    posterior = sized(size)
    start = np.tile(np.arange(D) >= D - (size if isinstance(size, int) else size[0]), (SIZE, 1)).astype(np.float64)
    theta = start
    for seed in range(25):
        theta = swept(posterior, theta, seed)
    check_sized(theta, posterior)
    if isinstance(size, int):
        for seed in range(25):
            start = swept(posterior, start, seed, exchange=False)  # planted: flips and swaps with neighbours only
        with pytest.raises(AssertionError):
            check_sized(start, posterior)


@pytest.mark.parametrize("size", [2, (1, 3)])
@pytest.mark.parametrize("planted", ["odds", "gram", "size"])
def test_wrong_sweeps_are_caught(size: Any, planted: str) -> None:
    posterior = sized(size)
    theta = posterior.sample(np.random.default_rng(0), SIZE)
    if planted == "odds":
        theta = swept(posterior, theta, 0, shift=0.15 * (np.arange(D) == 2))  # odds of one coordinate off by 15%
    elif planted == "gram":
        told = sized(size)
        told.update(np.full(D, 0.5), 1.0)  # one observation too many
        theta = swept(told, theta, 0)
    else:
        theta = swept(sized((0, D)), theta, 0)  # a sweep that does not know the size
    with pytest.raises(AssertionError, match="z-score"):
        check_sized(theta, posterior)


# Engines

CASES: dict[str, tuple[sb.SpikeSlab, float | sb.InverseGammaNoise]] = {
    "exactly one": (sb.SpikeSlab(0.25, 0.5, size=1), 2.0),
    "exactly three": (sb.SpikeSlab([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], 0.5, size=3), 2.0),
    "none": (sb.SpikeSlab(0.25, 0.5, size=0), 2.0),
    "all": (sb.SpikeSlab(0.25, 0.5, 0.1, size=6), 2.0),
    "up to two": (sb.SpikeSlab(0.25, 0.5, size=(0, 2)), 2.0),
    "Beta": (sb.SpikeSlab(LEARNT, 0.5, size=(1, 3)), 2.0),
    "certain ones": (sb.SpikeSlab([1.0, 0.0, 0.5, 0.5, 0.5, 0.5], 0.5, 0.1, size=2), 2.0),
    "noise": (sb.SpikeSlab(0.25, 0.5, of_noise=True, size=2), sb.InverseGammaNoise(2.0, 3.0)),
}


def difference(posterior: Any, truth: sb.Enumeration) -> float:
    return float(
        max(
            np.abs(posterior.mean() - truth.mean()).max(),
            np.abs(posterior.inclusion() - truth.inclusion()).max(),
        )
    )


def fitted(engine: type, kind: str, rounds: int = 60) -> tuple[Any, sb.Enumeration]:
    prior, noise = CASES[kind]
    x, y = history(6, rounds, seed=1)
    posterior, truth = engine(prior, 6, noise, seed=0), sb.Enumeration(prior, 6, noise)
    for one in (posterior, truth):
        one.update(x, y)
    return posterior, truth


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("engine", [sb.Particles, sb.Gibbs])
def test_engines_agree_with_enumeration(engine: type, kind: str) -> None:
    """10,000 draws: an error of 0.03 is some six standard errors of an inclusion of a half."""
    posterior, truth = fitted(engine, kind)
    assert difference(posterior, truth) < 0.03
    low, high = posterior.prior.size_range(6)
    sizes = (posterior.draws().theta != 0).sum(axis=1)
    assert low <= sizes.min() <= sizes.max() <= high
    assert posterior.noise_variance == pytest.approx(truth.noise_variance, rel=0.04)
    if engine is sb.Particles:
        assert abs(posterior.log_evidence - truth.log_evidence) < 0.15


def test_chains_that_do_not_exchange_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: an exact size and single flips only, so that models stay as they are."""
    monkeypatch.setattr("sparsebandits.posteriors.moves.SWAPS", 0)
    init = Moves.__init__

    def without(self: Moves, *given: Any) -> None:
        init(self, *given)
        self._sized = False

    monkeypatch.setattr(Moves, "__init__", without)
    posterior, truth = fitted(sb.Gibbs, "exactly three")
    assert difference(posterior, truth) > 0.03


def test_the_beta_inclusion_given_a_size() -> None:
    """β is known from its own law given the size: with exactly three of six, Beta(1 + 3, 3 + 3)."""
    prior = sb.SpikeSlab(LEARNT, 0.5, size=3)
    x, y = history(6, 30, seed=1)
    posterior = sb.Particles(prior, 6, 2.0, seed=0)
    posterior.update(x, y)
    beta = posterior.learnt()["inclusion"]
    assert posterior.draws().weights @ beta == pytest.approx(0.4, abs=0.01)
    assert abs(LEARNT.mean - 0.4) > 0.1, "planted: the prior's mean would show"


def test_a_policy_with_a_size_is_saved(tmp_path: Any) -> None:
    actions = np.random.default_rng(0).standard_normal((8, 4))
    prior = sb.SpikeSlab(0.5, 1.0, of_noise=True, size=(1, 2))
    policy = sb.SparseIDS(actions, prior, n_draws=200, seed=0)
    for _ in range(5):
        policy.tell(policy.ask(), 1.0)
    policy.save(tmp_path / "policy")
    loaded = sb.load(tmp_path / "policy")
    assert (loaded.posterior.prior.size, loaded.posterior.prior.of_noise) == ((1, 2), True)
    assert policy.ask().action == loaded.ask().action


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sb.SpikeSlab(0.5, 1.0, size=-1), "size: expected a whole number of at least 0, got -1"),
        (lambda: sb.SpikeSlab(0.5, 1.0, size=1.5), "size: expected a whole number, got 1.5"),
        (lambda: sb.SpikeSlab(0.5, 1.0, size=(1, 2, 3)), "size: expected a whole number, or a smallest and a largest"),
        (lambda: sb.SpikeSlab(0.5, 1.0, size=(3, 1)), "size: expected a smallest number that is not above the largest"),
        (
            lambda: sb.SpikeSlab(0.5, 1.0, spike=sb.LaplaceSpike(0.1), size=1),
            r"spike: expected PointMass\(\) where a size",
        ),
        (lambda: sb.Particles(sb.SpikeSlab(0.5, 1.0, size=4), 3), "prior.size: expected from 0 to 3, which inclusion"),
        (lambda: sb.Gibbs(sb.SpikeSlab([1.0, 1.0, 0.5], 1.0, size=1), 3), "prior.size: expected from 2 to 3, which"),
        (lambda: sb.Enumeration(sb.SpikeSlab(0.5, 1.0, size=(5, 9)), 4), "prior.size: expected from 0 to 4, which"),
        (lambda: sb.Enumeration(sb.SpikeSlab(0.5, 1.0, size=30), 60), "prior: expected a size with at most"),
        (lambda: sb.Enumeration(sb.SpikeSlab(0.5, 1.0, size=3), 6, max_size=2), "max_size: expected at least 3"),
    ],
)
def test_bad_input(make: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        make()
