"""The paper's hierarchy with a learnt noise: spike Laplace(σλ₀), slab N(0, σ²λ₁), σ² inverse gamma, by quadrature.

With θ = σt the prior of t does not depend on σ, and the likelihood is σ^−n exp(t·X'y/σ − t'X'Xt/2 − y'y/2σ²). The
oracle sums over log σ², takes all coordinates of t but one by Gauss–Legendre on pieces that meet at zero, and the last
one in closed form. It is compared with itself on another grid and with a grid in all coordinates.
"""

import math
from functools import cache
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import erfcx, logsumexp

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.model.rewards import Gaussian
from sparsebandits.posteriors import gibbs
from sparsebandits.posteriors.moves import Moves
from tests.posteriors.test_invariance import sums_of
from tests.statistical import assert_means_agree

BETA, LAMBDA0, LAMBDA1 = 0.4, 0.15, 2.0
NOISE = sb.InverseGammaNoise(3.0, 1.2)
PAPER = sb.SpikeSlab.from_paper(BETA, LAMBDA0, LAMBDA1)
CHAINS = 20_000


def problem(d: int) -> tuple[FloatArray, FloatArray]:
    """Few rewards of correlated features, so that σ², γ and θ depend on each other."""
    rng = np.random.default_rng(d)
    x = rng.standard_normal((7, d)) @ np.linalg.cholesky(0.5 * np.eye(d) + 0.5).T
    return x, x @ np.linspace(0.9, 0.0, d) + 0.6 * rng.standard_normal(7)


def log_densities(t: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the log of slab and spike at t, each with its prior probability."""
    slab = math.log(BETA) + stats.norm.logpdf(t, 0.0, math.sqrt(LAMBDA1))
    return np.asarray(slab), np.asarray(math.log1p(-BETA) + stats.laplace.logpdf(t, 0.0, LAMBDA0))


def log_integral(q: FloatArray, h: FloatArray) -> FloatArray:
    """Return log ∫ p(t) exp(ht − qt²/2) dt over one coordinate: completed squares, and half-lines for the spike."""
    slab = math.log(BETA) - 0.5 * np.log1p(LAMBDA1 * q) + 0.5 * h * h / (q + 1.0 / LAMBDA1)
    sides = []
    for sign in (1.0, -1.0):
        x = (1.0 / LAMBDA0 - sign * h) / np.sqrt(2.0 * q)
        below = x * x + np.log(2.0 - erfcx(np.maximum(-x, 0.0)) * np.exp(-x * x))
        inside = np.where(x > 0, np.log(erfcx(np.maximum(x, 0.0))), below)
        sides.append(inside + 0.5 * np.log(math.pi / (2.0 * q)) - math.log(2.0 * LAMBDA0))
    return np.asarray(np.logaddexp(slab, math.log1p(-BETA) + np.logaddexp(*sides)))


def pieces(nodes: int) -> tuple[FloatArray, FloatArray]:
    """Return nodes and log weights of Gauss–Legendre on pieces that meet at zero."""
    points, weights = np.polynomial.legendre.leggauss(nodes)
    edges = np.array([0.0, 0.5, 2.0, 9.0])
    edges = np.concatenate((-edges[:0:-1], edges))
    half = np.diff(edges)[:, np.newaxis] / 2
    return ((edges[:-1, np.newaxis] + half) + half * points).ravel(), np.log((half * weights).ravel())


def quadrature(d: int, nodes: int = 16, steps: int = 60, closed: bool = True) -> dict[str, float]:
    """Return posterior moments of θ, γ and σ²."""
    x, y = problem(d)
    gram, moment, square = x.T @ x, x.T @ y, float(y @ y)
    u = np.linspace(-4.5, 4.0, steps)
    deviation = np.exp(u / 2)
    noise = -(NOISE.shape + len(y) / 2) * u - (NOISE.scale + square / 2) * np.exp(-u)
    grid, log_weight = pieces(nodes)
    expected: dict[str, float] = {}
    for last in range(d):  # integrated in closed form; the moments of the others are taken
        others = [j for j in range(d) if j != last] if closed else list(range(d))
        t = np.stack([axis.ravel() for axis in np.meshgrid(*[grid] * len(others), indexing="ij")], axis=1)
        slab, spike = log_densities(t)
        log_prior = np.logaddexp(slab, spike)
        base = log_prior.sum(axis=1)
        base += sum(axis.ravel() for axis in np.meshgrid(*[log_weight] * len(others), indexing="ij"))
        base -= 0.5 * np.einsum("nj,jk,nk->n", t, gram[np.ix_(others, others)], t)
        logs = base + (t @ moment[others]) / deviation[:, np.newaxis] + noise[:, np.newaxis]
        if closed:
            h = moment[last] / deviation[:, np.newaxis] - t @ gram[others, last]
            logs = logs + log_integral(np.array(gram[last, last]), h)
        mass = np.exp(logs - logsumexp(logs))  # (steps, points)
        by_noise = mass.sum(axis=1)
        expected["noise"] = float(by_noise @ np.exp(u))
        expected["log noise"] = float(by_noise @ u)
        for place, j in enumerate(others):
            expected[f"mean {j}"] = float(deviation @ mass @ t[:, place])
            expected[f"included {j}"] = float(mass.sum(axis=0) @ np.exp(slab - log_prior)[:, place])
            expected[f"near {j}"] = float((mass * (np.abs(t[:, place]) < 0.5)).sum())
        for a, b in combinations_with_replacement(range(len(others)), 2):
            expected[f"cross {others[a]} {others[b]}"] = float(deviation**2 @ mass @ (t[:, a] * t[:, b]))
    return dict(sorted(expected.items()))


def described(theta: FloatArray, included: Any, noise: FloatArray) -> dict[str, FloatArray]:
    """What the oracle has the means of, for each draw."""
    d = theta.shape[1]
    values = {"noise": noise, "log noise": np.log(noise)}
    for j in range(d):
        values[f"mean {j}"], values[f"included {j}"] = theta[:, j], included[:, j]
        values[f"near {j}"] = np.abs(theta[:, j]) < 0.5 * np.sqrt(noise)
    for a, b in combinations_with_replacement(range(d), 2):
        values[f"cross {a} {b}"] = theta[:, a] * theta[:, b]
    return dict(sorted(values.items()))


@pytest.mark.parametrize("d", [2, 3])
def test_the_oracle_agrees_with_itself(d: int) -> None:
    expected, finer = quadrature(d), quadrature(d, 22, 90)
    for name, value in (exact(d) | expected).items():
        assert value == pytest.approx({**exact(d), **finer}[name], abs=1e-6), name
    assert quadrature(d, 16, 12)["noise"] != pytest.approx(expected["noise"], abs=1e-6), "planted: a coarse grid"


@cache
def exact(d: int) -> dict[str, float]:
    """Return the moments; at d = 2 from a grid in all coordinates, which has the cross moment too."""
    return quadrature(d, 24, closed=False) if d == 2 else quadrature(d)


def moved(d: int, move: str, sweeps: int = 40) -> dict[str, FloatArray]:
    """What independent chains from the prior are like after some sweeps."""
    x, y = problem(d)
    moves, rng = Moves(PAPER, d, Gaussian(NOISE)), np.random.default_rng(0)
    members = moves.from_prior(rng, CHAINS)
    sums = sums_of(x, y)
    for _ in range(sweeps):
        getattr(moves, move)(members, sums, rng)
        moves.hyperparameters(members, sums, rng)
    assert members.noise_variances is not None
    return described(members.theta, members.inside, members.noise_variances)


def check(found: dict[str, FloatArray], expected: dict[str, float]) -> None:
    assert found.keys() == expected.keys()
    values = np.stack(list(found.values()), axis=1).astype(np.float64)
    error = values.std(axis=0) / np.sqrt(len(values))
    assert_means_agree(values.mean(axis=0), np.array(list(expected.values())), error)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("move", ["coordinates", "block"])
def test_moves_find_the_posterior(d: int, move: str) -> None:
    check(moved(d, move), exact(d))


@pytest.mark.parametrize("planted", ["mixture", "absolute spike", "spike forgotten"])
def test_wrong_moves_are_caught(planted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: W from its prior, a spike whose width does not follow σ, a spike that tells nothing about σ²."""
    if planted == "mixture":
        monkeypatch.setattr(
            "sparsebandits.posteriors.moves.spike_variances", lambda rng, _, scales: rng.exponential(2.0 * scales**2)
        )
    elif planted == "absolute spike":
        monkeypatch.setattr(Moves, "_widths", lambda self, members: np.full(len(members.theta), self._width))
    else:
        monkeypatch.setattr(Moves, "_spike_sums", lambda self, members, rng: np.zeros(len(members.theta)))
    with pytest.raises(AssertionError, match="z-score"):
        check(moved(2, "coordinates"), exact(2))


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("engine", ["particles", "gibbs", "gibbs in blocks"])
def test_engines_find_the_posterior(d: int, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """About 15,000 effective draws: an error of 0.02 is some five standard errors of an inclusion of a half."""
    x, y = problem(d)
    monkeypatch.setattr(gibbs, "BLOCK_EVERY", 2 if engine == "gibbs in blocks" else 1000)
    monkeypatch.setattr(gibbs, "BLOCK_EVERY_PER_FEATURE", 0)
    kind = sb.Particles if engine == "particles" else sb.Gibbs
    posterior = kind(PAPER, d, NOISE, n_draws=40_000, seed=0)
    posterior.update(x, y)
    expected, draws = exact(d), posterior.draws()
    found = described(draws.theta, np.zeros_like(draws.theta), posterior.learnt()["noise_variance"])
    for name, values in found.items():
        if not name.startswith("included"):
            assert draws.weights @ values == pytest.approx(expected[name], abs=0.02), name
    included = [expected[f"included {j}"] for j in range(d)]
    np.testing.assert_allclose(posterior.inclusion(), included, atol=0.02)
    assert posterior.noise_variance == pytest.approx(expected["noise"], abs=0.02)


@pytest.mark.parametrize("spike", [sb.PointMass(), sb.GaussianSpike(0.05)])
@pytest.mark.parametrize("engine", [sb.Particles, sb.Gibbs])
def test_other_spikes_agree_with_enumeration(engine: type, spike: sb.PointMass | sb.GaussianSpike) -> None:
    x, y = problem(3)
    prior = sb.SpikeSlab(BETA, [0.5, 1.0, 2.0], 0.2, spike, of_noise=True)
    posterior, truth = engine(prior, 3, NOISE, n_draws=20_000, seed=0), sb.Enumeration(prior, 3, NOISE)
    for one in (posterior, truth):
        one.update(x, y)
    np.testing.assert_allclose(posterior.inclusion(), truth.inclusion(), atol=0.025)
    np.testing.assert_allclose(posterior.mean(), truth.mean(), atol=0.025)
    assert posterior.noise_variance == pytest.approx(truth.noise_variance, rel=0.04)


@pytest.mark.parametrize("spike", [sb.PointMass(), sb.GaussianSpike(0.05), sb.LaplaceSpike(0.15)])
def test_known_noise_is_a_factor(spike: sb.PointMass) -> None:
    """The prior in units of the noise gives the same numbers as the one that was multiplied out."""
    x, y = problem(3)
    prior = sb.SpikeSlab(BETA, [0.5, 1.0, 2.0], 0.2, spike, of_noise=True)
    engines = {"point": (sb.Particles, sb.Gibbs, sb.Enumeration), "laplace": (sb.Particles, sb.Gibbs, sb.Langevin)}
    for engine in engines["laplace" if isinstance(spike, sb.LaplaceSpike) else "point"]:
        found = []
        for one in (prior, prior.given_noise(4.0), prior.given_noise(5.0)):
            posterior = engine(one, 3, 4.0, n_draws=400, seed=0)
            posterior.update(x, y)
            found.append((posterior.mean(), posterior.inclusion()))
        np.testing.assert_allclose(found[0], found[1], rtol=1e-8)
        assert np.abs(np.subtract(found[0], found[2])).max() > 1e-4, "planted: another factor would show"
