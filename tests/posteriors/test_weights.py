"""Observations carry a weight w: their noise variance is σ² / w, on every engine.

The smallest bug that these tests catch: a weight that is left out of one of the sums, or counted as w observations
where the noise is learnt (planted below).
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from tests.statistical import FAMILY_WISE

D, ROWS = 4, 12
PRIOR = sb.SpikeSlab(0.4, 1.0)
LAPLACE = sb.SpikeSlab(0.4, 1.0, spike=sb.LaplaceSpike(0.05))
ENGINES: dict[str, Callable[[int], Any]] = {
    "Conjugate": lambda seed: sb.Conjugate(sb.GaussianPrior(1.0), D, 0.5, seed=seed),
    "Enumeration": lambda seed: sb.Enumeration(PRIOR, D, 0.5, seed=seed),
    "Particles": lambda seed: sb.Particles(PRIOR, D, 0.5, 500, seed),
    "Gibbs": lambda seed: sb.Gibbs(PRIOR, D, 0.5, 400, seed, chains=2),
    "Langevin": lambda seed: sb.Langevin(LAPLACE, D, 0.5, 400, seed),
}


def data() -> tuple[FloatArray, FloatArray, FloatArray]:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((ROWS, D))
    return x, x @ [1.0, 0.0, -0.8, 0.0] + rng.standard_normal(ROWS), rng.uniform(0.1, 5.0, ROWS)


@pytest.mark.parametrize("name", ENGINES)
def test_a_weight_is_a_scale_of_row_and_reward(name: str) -> None:
    """With known noise, (x, y, w) has the likelihood of (√w x, √w y); the same random numbers follow."""
    x, y, weights = data()
    weighted, scaled = ENGINES[name](1), ENGINES[name](1)
    root = np.sqrt(weights)
    for row in range(ROWS):
        weighted.update(x[row], y[row], weights[row])
        scaled.update(root[row] * x[row], root[row] * y[row])
    np.testing.assert_allclose(weighted.mean(), scaled.mean(), rtol=1e-7)
    np.testing.assert_allclose(weighted.inclusion(), scaled.inclusion(), rtol=1e-7)
    np.testing.assert_allclose(weighted.variances(x), scaled.variances(x), rtol=1e-7)
    if hasattr(weighted, "log_evidence"):
        expected = scaled.log_evidence + 0.5 * float(np.log(weights).sum())
        assert weighted.log_evidence == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("name", ENGINES)
def test_a_batch_weighs_as_its_rows_do_one_by_one(name: str) -> None:
    x, y, weights = data()
    batch, single = ENGINES[name](1), ENGINES[name](1)
    batch.update(x, y, weights)
    for row in range(ROWS):
        single.update(x[row], y[row], weights[row])
    np.testing.assert_allclose(batch.evidence.gram, single.evidence.gram, rtol=1e-12)
    np.testing.assert_allclose(batch.mean(), single.mean(), rtol=1e-7)
    assert batch.evidence.count == ROWS


@pytest.mark.parametrize("name", ENGINES)
def test_weights_of_one_change_nothing(name: str) -> None:
    x, y, _ = data()
    plain, weighted = ENGINES[name](3), ENGINES[name](3)
    plain.update(x, y)
    weighted.update(x, y, 1.0)
    np.testing.assert_array_equal(plain.draws().theta, weighted.draws().theta)
    np.testing.assert_array_equal(plain.mean(), weighted.mean())


def noise_only(make: Callable[[int], Any], counted: Callable[[FloatArray], float]) -> float:
    """Return how far E σ² of an engine without features is from its closed form, in tolerances of its error rate.

    With θ = 0, y_i ~ N(0, σ² / w_i) and σ² ~ IG(a, b), the posterior is IG(a + n/2, b + Σ w_i y_i² / 2).
    """
    _, y, weights = data()
    x, runs = np.ones((ROWS, 1)), 12
    found = []
    for seed in range(runs):
        posterior = make(seed)
        posterior.update(x, y, weights)
        found.append(posterior.noise_variance)
    expected = (1.5 + float(weights @ y**2) / 2) / (3.0 + counted(weights) / 2 - 1.0)
    error = np.std(found, ddof=1) / math.sqrt(runs) + 1e-6
    return float(abs(np.mean(found) - expected) / (error * stats.t.isf(FAMILY_WISE / 2, runs - 1)))


NOISE = sb.InverseGammaNoise(3.0, 1.5)
NOTHING = sb.SpikeSlab(0.0, 1.0)
LEARNT: dict[str, Callable[[int], Any]] = {
    "Enumeration": lambda seed: sb.Enumeration(NOTHING, 1, NOISE),
    "Particles": lambda seed: sb.Particles(NOTHING, 1, NOISE, 5000, seed),
    "Gibbs": lambda seed: sb.Gibbs(NOTHING, 1, NOISE, 4000, seed),
}


@pytest.mark.parametrize("name", LEARNT)
def test_learnt_noise_with_weights_has_its_closed_form(name: str) -> None:
    assert noise_only(LEARNT[name], counted=len) < 1
    assert noise_only(LEARNT[name], counted=lambda weights: float(weights.sum())) > 1, "planted: w counts as w rewards"


@pytest.mark.parametrize("weight", [0.0, -1.0, np.nan, [1.0, 2.0], "2", [[1.0]]])
def test_wrong_weights_are_refused(weight: Any) -> None:
    posterior = sb.Conjugate(sb.GaussianPrior(1.0), 2)
    with pytest.raises((TypeError, ValueError), match=r"^weight: expected"):
        posterior.update(np.eye(2)[:1], [1.0], weight)
    assert posterior.evidence.count == 0
