"""Posteriors under a hierarchy of products and squares: particles against all models, and all models against loops."""

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import sparsebandits as sb
from sparsebandits.arguments import ArgumentError, FloatArray
from sparsebandits.model.priors import default_prior
from tests.statistical import assert_means_agree

PARENTS = ((), (), (), (0,), (0, 1), (1, 2))
HIERARCHY = sb.Hierarchy(PARENTS, 0.4, 0.1)
REPEATS = 12


def data(seed: int = 0, count: int = 12) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    base = rng.standard_normal((count, 3))
    x = np.column_stack([base, base[:, 0] ** 2, base[:, 0] * base[:, 1], base[:, 1] * base[:, 2]])
    return x, x @ [1.5, -1.5, 1.5, 0.0, 0.0, 0.0] + rng.standard_normal(count)


def by_loops(x: FloatArray, y: FloatArray, hierarchy: sb.Hierarchy | None, beta: float) -> tuple[FloatArray, float]:
    """Return inclusions and log evidence with unit slab and noise, one model after the other."""
    weights, models = [], list(product((0, 1), repeat=6))
    total = 0.0
    for model in models:
        inside = np.flatnonzero(model)
        chance = beta ** len(inside) * (1.0 - beta) ** (6 - len(inside))
        for term in inside if hierarchy is not None else ():
            there = [bool(model[parent]) for parent in PARENTS[term]]
            if there and not all(there):
                chance *= 0.4 if any(there) else 0.1
        total += chance
        covariance = np.eye(len(y)) + x[:, inside] @ x[:, inside].T
        weights.append(chance * stats.multivariate_normal(np.zeros(len(y)), covariance).pdf(y))
    return np.array(weights) @ np.array(models) / np.sum(weights), float(np.log(np.sum(weights) / total))


def test_enumeration_is_exact_with_a_hierarchy() -> None:
    """Planted: no normalisation by E h. Then the evidence, though not the inclusions, is off by log E h."""
    x, y = data()
    posterior = sb.Enumeration(sb.SpikeSlab(0.3, 1.0, hierarchy=HIERARCHY), 6, 1.0)
    posterior.update(x, y)
    inclusion, log_evidence = by_loops(x, y, HIERARCHY, 0.3)
    np.testing.assert_allclose(posterior.inclusion(), inclusion, rtol=1e-9)
    assert posterior.log_evidence == pytest.approx(log_evidence, abs=1e-9)
    other = by_loops(x, y, None, 0.3)
    assert abs(posterior.log_evidence - other[1]) > 0.05
    assert abs(posterior.inclusion() - other[0]).max() > 0.05


PRIORS: dict[str, sb.SpikeSlab] = {
    "known": sb.SpikeSlab(0.3, 1.0, hierarchy=HIERARCHY),
    "learnt inclusion": sb.SpikeSlab(sb.BetaInclusion(1.0, 3.0), 1.0, hierarchy=HIERARCHY),
    "sized": sb.SpikeSlab(0.3, 1.0, size=(1, 4), hierarchy=HIERARCHY),
}


def estimates(prior: sb.SpikeSlab, x: FloatArray, y: FloatArray, rewards: Any) -> FloatArray:
    """Return inclusions, means and evidence (relative to its level) of several independent populations."""
    found = []
    for seed in range(REPEATS):
        particles = sb.Particles(prior, 6, n_draws=2000, seed=seed, rewards=rewards)
        for start in range(0, len(y), 4):  # in batches
            particles.update(x[start : start + 4], y[start : start + 4])
        found.append([*particles.inclusion(), *particles.mean(), particles.log_evidence])
    return np.array(found)


def numbers(exact: sb.Enumeration) -> FloatArray:
    return np.array([*exact.inclusion(), *exact.mean(), exact.log_evidence])


def check(found: FloatArray, expected: FloatArray) -> None:
    # Errors are t-distributed with 11 degrees of freedom: the factor makes their tail as light as a normal one.
    heavy = stats.t.isf(1e-6, REPEATS - 1) / stats.norm.isf(1e-6)
    assert_means_agree(found.mean(axis=0), expected, heavy * found.std(axis=0, ddof=1) / np.sqrt(REPEATS))


@pytest.mark.parametrize("name", PRIORS)
def test_particles_agree_with_all_models(name: str) -> None:
    """Planted: draws without the factor, as without the hierarchy, and evidence without it; each fails by itself."""
    x, y = data()
    rewards = sb.Gaussian(1.0)
    exact = sb.Enumeration(PRIORS[name], 6, rewards=rewards)
    exact.update(x, y)
    found, expected = estimates(PRIORS[name], x, y, rewards), numbers(exact)
    check(found, expected)
    plain = sb.Enumeration(replace(PRIORS[name], hierarchy=None), 6, rewards=rewards)
    plain.update(x, y)
    for part in (slice(0, 6), slice(12, 13)):
        with pytest.raises(AssertionError, match="z-score"):
            check(found[:, part], numbers(plain)[part])


def test_particles_agree_with_all_models_for_clicks() -> None:
    x, y = data(1, 30)
    x, clicks = x[:, [0, 1, 4]], (y > 0).astype(float)
    prior = sb.SpikeSlab(0.5, 1.0, hierarchy=sb.Hierarchy(((), (), (0, 1)), 0.3, 0.05))
    exact = sb.Enumeration(prior, 3, rewards=sb.Bernoulli())
    exact.update(x, clicks)
    found = []
    for seed in range(REPEATS):
        particles = sb.Particles(prior, 3, n_draws=2000, seed=seed, rewards=sb.Bernoulli())
        particles.update(x, clicks)
        found.append([*particles.inclusion(), *particles.mean(), particles.log_evidence])
    check(np.array(found), numbers(exact))


def test_effective_draws_count_the_factor() -> None:
    x, y = data()
    one = sb.Particles(PRIORS["known"], 6, n_draws=2000, seed=0, rewards=sb.Gaussian(1.0))
    other = sb.Particles(sb.SpikeSlab(0.3, 1.0), 6, n_draws=2000, seed=0, rewards=sb.Gaussian(1.0))
    assert f"worth {one.draws().effective_sample_size:.0f} " in one.health().text
    assert one.draws().effective_sample_size < 1500 < other.draws().effective_sample_size
    before = one.draws().source
    one.update(x[:1], y[:1])
    assert one.draws().source is before, "the same draws while only weights change"


def test_engines_refuse_a_hierarchy_that_they_do_not_serve() -> None:
    prior = PRIORS["known"]
    with pytest.raises(ArgumentError, match="no hierarchy for Gibbs"):
        sb.Gibbs(prior, 6)
    with pytest.raises(ArgumentError, match="Laplace spike"):
        sb.Langevin(prior, 6)
    with pytest.raises(ArgumentError, match="every model"):
        sb.Enumeration(prior, 6, max_size=2)
    for engine in (sb.Particles, sb.Enumeration):
        with pytest.raises(ArgumentError, match="7 features"):
            engine(prior, 7)


def test_a_policy_with_a_hierarchy_is_saved_and_goes_on_to_the_byte(tmp_path: Path) -> None:
    x, y = data(2, 20)
    prior = default_prior(x - x.mean(axis=0), hierarchy=HIERARCHY)
    policy = sb.SparseIDS(x, prior, n_draws=300, seed=3)
    for _ in range(6):
        decision = policy.ask()
        policy.tell(decision, float(y[decision.action]))
    policy.save(tmp_path / "a.policy")
    loaded = sb.load(tmp_path / "a.policy")
    assert loaded.posterior.prior.hierarchy == HIERARCHY
    for _ in range(5):
        one, two = policy.ask(), loaded.ask()
        assert (one.action, one.probability) == (two.action, two.probability)
        policy.tell(one, float(y[one.action]))
        loaded.tell(two, float(y[two.action]))
    np.testing.assert_array_equal(policy.posterior.draws().weights, loaded.posterior.draws().weights)
    assert policy.posterior.log_evidence == loaded.posterior.log_evidence
