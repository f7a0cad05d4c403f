"""Getting it right (Geweke 2004): prior → data → moves must leave the joint law of parameters and data as it is.

Parameters are drawn from the prior and rewards given them; then some moves are made given those rewards. Parameters and
rewards together have the same law before and after, if the moves leave the posterior unchanged, whatever the prior and
the hyperparameters. Compared are the means of θ, θ², γ, the products θ_j θ_k, β, V, σ², the log likelihood, θ·X'y, and
the sizes of θ in slab and spike in units of σ.
The parameters before serve as the control, so that differences are paired.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from scipy import stats

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.model.evidence import Evidence
from sparsebandits.model.rewards import Gaussian
from sparsebandits.posteriors.ensemble import Ensemble, Sums
from sparsebandits.posteriors.moves import Moves
from tests.statistical import FAMILY_WISE

D, ROWS = 3, 5
REPLICATES = 3000
X = np.random.default_rng(0).standard_normal((ROWS, D)) @ np.linalg.cholesky(0.3 * np.eye(D) + 0.7).T
BETA = sb.BetaInclusion(2.0, 3.0)
SLAB = sb.InverseGammaSlab(4.0, 3.0)
SLAB_OF_NOISE = sb.InverseGammaSlab(4.0, 3.0, of_noise=True, relative=(0.5, 1.0, 3.0))
SLAB_OF_TOTAL = sb.InverseGammaSlab(20.0, 40.0, of_noise=True, relative=(0.5, 1.0, 3.0), of_total=True)
NOISE = sb.InverseGammaNoise(5.0, 4.0)

PRIORS: dict[str, tuple[sb.SpikeSlab, float | sb.InverseGammaNoise]] = {
    "point mass": (sb.SpikeSlab([0.2, 0.5, 0.7], 0.8, 0.3), 0.5),
    "point mass, all learnt": (sb.SpikeSlab(BETA, SLAB), NOISE),
    "point mass, slab of noise": (sb.SpikeSlab(BETA, SLAB_OF_NOISE, 0.2), NOISE),
    "point mass, slab of the total": (sb.SpikeSlab(BETA, SLAB_OF_TOTAL), NOISE),
    "point mass, slab of a known total": (sb.SpikeSlab([0.2, 0.5, 0.7], SLAB_OF_TOTAL), NOISE),
    "Gaussian spike, slab of the total": (sb.SpikeSlab(BETA, SLAB_OF_TOTAL, 0.2, sb.GaussianSpike(0.05)), NOISE),
    "Laplace spike, slab of noise": (sb.SpikeSlab(BETA, SLAB_OF_NOISE, 0.2, sb.LaplaceSpike(0.2)), NOISE),
    "Gaussian spike, all learnt": (sb.SpikeSlab(BETA, SLAB, 0.2, sb.GaussianSpike(0.05)), NOISE),
    "Laplace spike": (sb.SpikeSlab([0.2, 0.5, 0.7], 0.8, 0.3, sb.LaplaceSpike(0.2)), 0.5),
    "Laplace spike, all learnt": (sb.SpikeSlab(BETA, SLAB, 0.2, sb.LaplaceSpike(0.2)), NOISE),
    "point mass of noise": (sb.SpikeSlab([0.2, 0.5, 0.7], 0.8, 0.3, of_noise=True), NOISE),
    "Gaussian spike of noise": (sb.SpikeSlab(BETA, SLAB, 0.2, sb.GaussianSpike(0.05), of_noise=True), NOISE),
    "Laplace spike of noise": (sb.SpikeSlab.from_paper(0.4, lambda0=0.3, lambda1=2.0), NOISE),
    "point mass, one or two": (sb.SpikeSlab([0.2, 0.5, 0.7], 0.8, 0.3, size=(1, 2)), 0.5),
    "point mass, exactly two, all learnt": (sb.SpikeSlab(BETA, SLAB, 0.2, of_noise=True, size=2), NOISE),
    "point mass, up to two, all learnt": (sb.SpikeSlab(BETA, SLAB, size=(0, 2)), NOISE),
    "Laplace spike of known noise": (sb.SpikeSlab.from_paper(0.4, lambda0=0.3, lambda1=2.0), 0.5),
}
MOVES: dict[str, Callable[..., None]] = {
    "models": Moves.models,
    "coordinates": Moves.coordinates,
    "relaxed": partial(Moves.coordinates, relaxation=0.6),
    "block": Moves.block,
}
SERVED = {"models": "point mass", "coordinates": "", "relaxed": "spike", "block": "spike"}
CASES = [(move, prior) for move, served in SERVED.items() for prior in PRIORS if served in prior]


def variance_of(members: Ensemble, noise: float | sb.InverseGammaNoise) -> float:
    return float(noise if isinstance(noise, float) else members.noise_variances[0])  # type: ignore[index]


def described(members: Ensemble, y: FloatArray, noise: float | sb.InverseGammaNoise) -> FloatArray:
    """What is compared, shape ``(·,)``, of one member."""
    theta, gamma = members.theta[0], members.inside[0]
    variance = variance_of(members, noise)
    likelihood = -0.5 * (((y - X @ theta) ** 2).sum() / variance + ROWS * np.log(variance))
    cross = np.outer(theta, theta)[np.triu_indices(D)]
    learnt = [0.0 if v is None else v[0] for v in (members.beta, members.slab_variances)]
    sizes = np.abs(theta) / np.sqrt(variance)
    products = (
        gamma.sum() * learnt[1],
        learnt[0] * learnt[1],
        learnt[0] * sizes @ sizes,
        theta @ X.T @ y,
        sizes @ gamma,
        sizes @ ~gamma,
    )
    return np.array([*theta, *cross, *gamma, *(gamma * theta), *learnt, np.log(variance), likelihood, *products])


def sums_of(x: FloatArray, y: FloatArray) -> Sums:
    evidence = Evidence(x.shape[1])
    evidence.add(x, y)
    return Sums(evidence)


def z_score(
    move: str, prior: str, replicates: int, told: Callable[[FloatArray, FloatArray], Sums] = sums_of, seed: int = 1
) -> float:
    """Return the largest paired z-score, less the one that chance allows: positive is a failure."""
    law, noise = PRIORS[prior]
    moves, rng = Moves(law, D, Gaussian(noise)), np.random.default_rng(seed)
    differences = []
    for _ in range(replicates):
        members = moves.from_prior(rng, 1)
        y = X @ members.theta[0] + np.sqrt(variance_of(members, noise)) * rng.standard_normal(ROWS)
        before = described(members, y, noise)
        sums = told(X, y)
        for _ in range(2):
            MOVES[move](moves, members, sums, rng)
            moves.hyperparameters(members, sums, rng)
        differences.append(described(members, y, noise) - before)
    found = np.array(differences)
    moving = found.std(axis=0) > 0
    found = found[:, moving]
    z = np.abs(found.mean(axis=0)) / (found.std(axis=0) / np.sqrt(replicates))
    return float(z.max() - stats.norm.isf(FAMILY_WISE / (2 * len(z))))


@pytest.mark.parametrize(("move", "prior"), CASES)
def test_moves_leave_the_joint_law(move: str, prior: str) -> None:
    if z_score(move, prior, REPLICATES) > 0:  # a second chance, with four times as many
        assert z_score(move, prior, 4 * REPLICATES) < 0


@pytest.mark.parametrize(
    ("move", "prior"),
    [
        ("models", "point mass"),
        ("models", "point mass, one or two"),
        ("models", "point mass, exactly two, all learnt"),
        ("coordinates", "point mass"),
        ("coordinates", "Laplace spike"),
        ("relaxed", "Laplace spike"),
        ("relaxed", "Gaussian spike, all learnt"),
        ("block", "Laplace spike"),
    ],
)
def test_moves_that_are_told_too_much_are_caught(move: str, prior: str) -> None:
    """Planted: the data count 1.5 times, as if noise were a third smaller."""

    def told(x: FloatArray, y: FloatArray) -> Sums:
        sums = sums_of(np.sqrt(1.5) * x, np.sqrt(1.5) * y)
        sums.count *= 1.5
        return sums

    assert z_score(move, prior, REPLICATES, told) > 0


def test_an_inclusion_that_is_drawn_without_the_slab_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: β given γ alone, although V depends on it."""
    monkeypatch.setattr(Moves, "_accepted", lambda self, members, drawn, rng: np.clip(drawn, 1e-9, 1 - 1e-9))
    assert z_score("models", "point mass, slab of the total", 5 * REPLICATES) > 0


@pytest.mark.parametrize("prior", ["Laplace spike of noise", "Gaussian spike of noise"])
@pytest.mark.parametrize("planted", ["spike", "slab", "width"])
def test_a_noise_that_is_drawn_without_the_prior_is_caught(
    prior: str, planted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: σ² given the spike's or the slab's squares twice too large, or a spike 1.5 times too wide."""
    if planted == "spike":
        right = Moves._spike_sums
        monkeypatch.setattr(Moves, "_spike_sums", lambda *given: 2.0 * right(*given))
    elif planted == "slab":
        sums = Moves._slab_sums
        monkeypatch.setattr(Moves, "_slab_sums", lambda *given: (sums(*given)[0], 2.0 * sums(*given)[1]))
    else:
        widths = Moves._widths
        monkeypatch.setattr(Moves, "_widths", lambda *given: 1.5 * widths(*given))
    assert z_score("coordinates", prior, REPLICATES) > 0
