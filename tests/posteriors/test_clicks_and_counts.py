"""Clicks and counts: Particles (surrogate moves) and Gibbs (reversible jumps) against quadrature.

The two engines share no code that moves anything. Each is run many times; the mean over the runs has to agree with the
exact posterior within what their scatter allows, family-wise, in means, second and cross moments, inclusions, the
intercept, and mean rewards; Particles in the evidence, too. (The error of one run of Particles has a mean that falls as
one over their number. With 1000 of them it is up to 0.4 of the standard deviation of the error.)
"""

from functools import cache
from itertools import combinations_with_replacement
from typing import Any, TypeAlias

import numpy as np
import pytest
from scipy import stats

import sparsebandits as sb
from sparsebandits.arguments import ArgumentError, FloatArray, SaveFileError
from sparsebandits.posteriors import gibbs
from sparsebandits.posteriors.moves import Moves
from sparsebandits.posteriors.particles import _Memory
from sparsebandits.posteriors.surrogate import Surrogate
from tests.statistical import FAMILY_WISE

RUNS = 50
Family: TypeAlias = sb.Bernoulli | sb.Poisson
FAMILIES: dict[str, Family] = {
    "logit": sb.Bernoulli(),
    "probit": sb.Bernoulli("probit"),
    "Poisson": sb.Poisson(),
    "logit, intercept": sb.Bernoulli(intercept=True),
    "probit, intercept": sb.Bernoulli("probit", intercept=True),
    "Poisson, intercept": sb.Poisson(intercept=True),
}
KINDS = ("none", "again and again", "copies", "separable", "rare", "weighted")


def features(family: Family) -> int:
    """Three coefficients in all, intercept included, so that every truth costs about the same."""
    return 2 if family.intercept else 3


def data(kind: str, family: Family) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return x, y and weights."""
    rng, d = np.random.default_rng(KINDS.index(kind)), features(family)
    rows = rng.standard_normal((5, d))
    count = {"none": 0, "again and again": 300, "copies": 20, "separable": 10, "rare": 100, "weighted": 12}[kind]
    if kind == "again and again":
        rows = rows[:1]
    elif kind == "copies":
        rows[:, 1] = rows[:, 0]
    x = rows[np.arange(count) % len(rows)]
    chance = {"again and again": 0.3, "rare": 0.03}.get(kind, 0.4)
    y = (rng.random(count) < chance).astype(np.float64)
    if kind == "separable":
        y = (x[:, 0] > 0).astype(np.float64)
    if isinstance(family, sb.Poisson) and kind != "rare":
        y = y * rng.integers(1, 5, count)
    return x, y, rng.uniform(0.2, 2.5, count) if kind == "weighted" else np.ones(count)


def prior(kind: str, d: int) -> sb.SpikeSlab:
    return sb.SpikeSlab([0.3, 0.5, 0.6][:d], 4.0 if kind == "separable" else 1.0, 0.2)


def described(theta: FloatArray, alpha: FloatArray | None, x: FloatArray, family: Family) -> FloatArray:
    """Return θ and α, γ, products of all coefficients, and what is expected of some rows, one row per draw.

    That is the mean reward of the first row that was seen, and of a click also that of a feature alone. Rates without
    data have no mean to speak of; there it is the probability of a count of zero.
    """
    b = theta if alpha is None else np.column_stack((theta, alpha))
    products = [b[:, j] * b[:, k] for j, k in combinations_with_replacement(range(b.shape[1]), 2)]
    level = np.zeros((len(theta), 1)) if alpha is None else alpha[:, np.newaxis]
    alone = family.mean(theta[:, :1] + level)
    seen = family.mean(theta @ x[:1].T + level)
    return np.column_stack(
        (b, theta != 0, *products, np.exp(-alone) if isinstance(family, sb.Poisson) else alone, seen)
    )


@cache
def truth(kind: str, name: str) -> tuple[sb.Enumeration, FloatArray]:
    """Return the exact posterior, and the means of what is described."""
    family = FAMILIES[name]
    x, y, weights = data(kind, family)
    d = features(family)
    exact = sb.Enumeration(prior(kind, d), d, rewards=family)
    exact.update(x, y, weights)
    nodes = exact.nodes
    return exact, nodes.weights @ described(nodes.theta, nodes.intercepts, x, family)


def described_particles(kind: str, name: str, runs: int = RUNS, size: int = 1000) -> tuple[FloatArray, FloatArray]:
    """Return the mean of what is described in each run, and the log evidence of each."""
    family = FAMILIES[name]
    x, y, weights = data(kind, family)
    d, found, evidence = features(family), [], []
    for seed in range(runs):
        posterior = sb.Particles(prior(kind, d), d, rewards=family, n_draws=size, seed=seed)
        posterior.update(x, y, weights)
        draws = posterior.draws()
        found.append(draws.weights @ described(draws.theta, draws.intercepts, x, family))
        evidence.append(posterior.log_evidence)
    return np.array(found), np.array(evidence)


def described_chains(kind: str, name: str, runs: int = RUNS, length: int = 600) -> FloatArray:
    """Return the mean of what is described in each chain."""
    family = FAMILIES[name]
    x, y, weights = data(kind, family)
    d = features(family)
    draws = runs * length
    posterior = sb.Gibbs(prior(kind, d), d, n_draws=draws, chains=runs, burn_in=30, rewards=family, seed=0)
    posterior.update(x, y, weights)
    assert posterior.health().good
    found = posterior.draws()
    values = described(found.theta, found.intercepts, x, family)
    return np.asarray(values.reshape(runs, length, -1).mean(axis=1))


def excess(found: FloatArray, expected: FloatArray) -> float:
    """Return the largest t-statistic of means over runs, less the one that chance allows: positive is a failure."""
    runs = len(found)
    error = found.std(axis=0, ddof=1) / np.sqrt(runs)
    t = np.abs(found.mean(axis=0) - expected) / np.maximum(error, 1e-9)
    return float(t.max() - stats.t.isf(FAMILY_WISE / (2 * len(t)), runs - 1))


LONG = {(kind, name) for kind in ("again and again", "rare") for name in ("logit", "probit")}


@pytest.mark.parametrize(("kind", "name"), [(k, n) for k in KINDS for n in FAMILIES if (k, n) not in LONG])
def test_particles_agree_with_quadrature(kind: str, name: str) -> None:
    exact, expected = truth(kind, name)
    found, evidence = described_particles(kind, name)
    assert excess(found, expected) < 0
    ratio = np.exp(evidence - exact.log_evidence)
    assert abs(ratio.mean() - 1.0) < 4 * max(ratio.std(ddof=1) / np.sqrt(RUNS), 1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FAMILIES)
def test_chains_agree_with_quadrature(kind: str, name: str) -> None:
    assert excess(described_chains(kind, name), truth(kind, name)[1]) < 0


@pytest.mark.parametrize("engine", [sb.Particles, sb.Gibbs])
def test_wrong_posteriors_are_caught(engine: type, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: an intercept whose prior variance is a third of what it is said to be, in one of the two."""
    exact, expected = truth("separable", "logit, intercept")
    monkeypatch.setattr(sb.Bernoulli, "intercept_variance", 3.0)
    if engine is sb.Gibbs:
        assert excess(described_chains("separable", "logit, intercept"), expected) > 0
    else:
        found, evidence = described_particles("separable", "logit, intercept")
        ratio = np.exp(evidence - exact.log_evidence)
        assert excess(found, expected) > 0
        assert abs(ratio.mean() - 1.0) > 4 * ratio.std(ddof=1) / np.sqrt(RUNS)


def test_moves_that_accept_everything_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Surrogate, "_misfits", lambda self, members: np.zeros(len(members)))
    assert (
        excess(described_particles("separable", "logit, intercept")[0], truth("separable", "logit, intercept")[1]) > 0
    )


OTHER_PRIORS: dict[str, sb.SpikeSlab] = {
    "Beta": sb.SpikeSlab(sb.BetaInclusion(1.0, 2.0), 1.0, 0.2),
    "certain ones": sb.SpikeSlab([1.0, 0.0, 0.4], 1.0, 0.2),
    "size": sb.SpikeSlab(0.3, 1.0, size=(1, 2)),
    "Gaussian spike": sb.SpikeSlab(0.4, 1.0, 0.2, sb.GaussianSpike(0.05)),
}
SERVED = [(sb.Particles, kind) for kind in OTHER_PRIORS] + [(sb.Gibbs, "Beta"), (sb.Gibbs, "certain ones")]


@pytest.mark.parametrize(("engine", "kind"), SERVED)
def test_other_priors(engine: type, kind: str) -> None:
    """10,000 draws, of which a third may be effective: 0.03 is some four standard errors of an inclusion of a half."""
    x, y, weights = data("weighted", FAMILIES["logit"])
    posterior, exact = (one(OTHER_PRIORS[kind], 3, rewards=sb.Bernoulli(), seed=0) for one in (engine, sb.Enumeration))
    for one in (posterior, exact):
        one.update(x, y, weights)
    draws = posterior.draws()
    second = (draws.theta.T * draws.weights) @ draws.theta
    np.testing.assert_allclose(posterior.inclusion(), exact.inclusion(), atol=0.03)
    np.testing.assert_allclose(posterior.mean(), exact.mean(), atol=0.04)
    np.testing.assert_allclose(second, exact.second_moment(), atol=0.08)
    if engine is sb.Particles:
        assert posterior.log_evidence == pytest.approx(exact.log_evidence, abs=0.1)


@pytest.mark.parametrize("name", ["logit, intercept", "Poisson"])
def test_learnt_hyperparameters_agree(name: str) -> None:
    """No quadrature over V: the two engines against each other, by 40 runs each."""
    family, runs = FAMILIES[name], 40
    rng = np.random.default_rng(0)
    x = np.repeat(rng.standard_normal((6, 4)), 5, axis=0)
    y = np.array([family.drawn(p, u) for p, u in zip(family.mean(x[:, 0] - 0.5), rng.random(30), strict=True)])
    law = sb.SpikeSlab(sb.BetaInclusion(1.0, 2.0), sb.InverseGammaSlab(3.0, 2.0))

    def means(posterior: Any, groups: int) -> FloatArray:
        posterior.update(x, y)
        draws, learnt = posterior.draws(), posterior.learnt()
        values = (draws.theta, draws.theta != 0, draws.theta**2, np.log(learnt["slab_variance"]), learnt["inclusion"])
        weighted = np.column_stack(values) * draws.weights[:, np.newaxis] * groups
        return np.asarray(weighted.reshape(groups, len(draws) // groups, -1).sum(axis=1))

    chains = means(sb.Gibbs(law, 4, n_draws=600 * runs, chains=runs, rewards=family, seed=0), runs)
    particles = [means(sb.Particles(law, 4, n_draws=1000, rewards=family, seed=seed), 1)[0] for seed in range(runs)]
    t = stats.ttest_ind(chains, np.array(particles))
    assert t.pvalue.min() * len(t.pvalue) > FAMILY_WISE
    assert np.abs(chains[:, -2] - np.log(2.0 / 3.0)).mean() > 0.01, "V is learnt"


def test_a_weight_is_a_number_of_repetitions() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((4, 2)), np.array([1.0, 0.0, 3.0, 1.0])
    once, again = (sb.Enumeration(sb.SpikeSlab(0.4, 1.0), 2, rewards=sb.Poisson()) for _ in range(2))
    once.update(x, y, 2.0)
    again.update(np.concatenate((x, x)), np.concatenate((y, y)))
    assert once.log_evidence == pytest.approx(again.log_evidence, abs=1e-12)
    np.testing.assert_allclose(once.second_moment(), again.second_moment(), atol=1e-12)


def test_discounted_rewards_are_weighted_ones() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((5, 2)), np.array([1.0, 0.0, 1.0, 1.0, 0.0])
    forgetful = sb.Bernoulli(forgetting=sb.Discount(half_life=2.0))
    one, other = (sb.Enumeration(sb.SpikeSlab(0.4, 1.0), 2, rewards=family) for family in (forgetful, sb.Bernoulli()))
    for row, reward in zip(x, y, strict=True):
        one.update(row, reward)
    other.update(x, y, 0.5 ** (np.arange(4, -1, -1) / 2.0))
    assert one.log_evidence == pytest.approx(other.log_evidence, abs=1e-12)
    np.testing.assert_allclose(one.second_moment(), other.second_moment(), atol=1e-12)


def test_chains_start_where_the_posterior_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """From prior draws of rates, slices would lead so far off that chains were on their way back for long."""
    family = FAMILIES["Poisson, intercept"]
    x, y, weights = data("separable", family)

    def farthest() -> float:
        posterior = sb.Gibbs(prior("separable", 2), 2, n_draws=2500, chains=50, burn_in=50, rewards=family, seed=0)
        posterior.update(x, y, weights)
        intercepts = posterior.draws().intercepts
        assert intercepts is not None
        return float(np.abs(intercepts).max())

    assert farthest() < 15
    monkeypatch.setattr(gibbs, "FIRST", 1)
    jumps = Moves.jumps
    monkeypatch.setattr(Moves, "jumps", lambda self, *given, first=0: jumps(self, *given))
    assert farthest() > 15, "planted: the first sweeps are like the others"


@pytest.mark.parametrize("engine", [sb.Gibbs, sb.Enumeration])
@pytest.mark.parametrize("name", ["logit", "Poisson, intercept"])
def test_a_restored_engine_continues_bit_for_bit(engine: type, name: str) -> None:
    family = FAMILIES[name]
    x, y, weights = data("weighted", family)
    d = features(family)
    first, second, third = (engine(prior("weighted", d), d, n_draws=40, rewards=family, seed=seed) for seed in range(3))
    first.update(x[:6], y[:6], weights[:6])
    first.draws()
    second.restore(first.state())
    assert first.draws().theta.tobytes() == second.draws().theta.tobytes()
    for one in (first, second):
        one.update(x[6:], y[6:], weights[6:])
    third.restore(first.state())  # before the draws
    for one in (second, third):
        assert first.draws().theta.tobytes() == one.draws().theta.tobytes()
        if family.intercept:
            assert first.draws().intercepts.tobytes() == one.draws().intercepts.tobytes()
    state = first.state()
    if family.intercept:
        del state["drawn"]["intercepts"]
    else:
        state["drawn"]["intercepts"] = np.zeros(40)
    with pytest.raises(SaveFileError, match=r"drawn\.intercepts"):
        second.restore(state)


def test_a_move_is_judged_by_the_intercept_too() -> None:
    """Where no feature matters, the intercept is all that could have been forgotten."""
    moves = Moves(sb.SpikeSlab(0.0, 1.0), 2, sb.Bernoulli(intercept=True))
    members = moves.from_prior(np.random.default_rng(0), 100)
    memory = _Memory(members, np.ones(2), moves.slab_deviation)
    assert memory.correlation(memory) == pytest.approx(1.0)
    other = _Memory(moves.from_prior(np.random.default_rng(1), 100), np.ones(2), moves.slab_deviation)
    assert abs(memory.correlation(other)) < 0.5


def test_what_they_do_not_serve() -> None:
    for law in (sb.SpikeSlab(0.3, 1.0, spike=sb.LaplaceSpike(0.1)), sb.SpikeSlab(0.3, 1.0, size=1)):
        with pytest.raises(
            ArgumentError, match="prior: expected a point-mass spike and no size, for clicks and counts"
        ):
            sb.Gibbs(law, 3, rewards=sb.Bernoulli())
    with pytest.raises(ArgumentError, match="dimension: expected at most 4 for clicks and counts"):
        sb.Enumeration(sb.SpikeSlab(0.3, 1.0), 5, rewards=sb.Bernoulli())
    with pytest.raises(ArgumentError, match="max_size: expected none for clicks and counts"):
        sb.Enumeration(sb.SpikeSlab(0.3, 1.0), 3, rewards=sb.Bernoulli(), max_size=2)
    with pytest.raises(TypeError, match="nodes: there are none for Gaussian rewards"):
        _ = sb.Enumeration(sb.SpikeSlab(0.3, 1.0), 3).nodes
