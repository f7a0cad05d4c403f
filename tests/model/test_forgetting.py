"""Discounts, the clock, and what rewards count; sums that are multiplied by a factor."""

import math
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

import sparsebandits as sb
from sparsebandits.arguments import ArgumentError
from sparsebandits.model import Evidence
from sparsebandits.model.features import Level
from sparsebandits.model.forgetting import FORGOTTEN


def test_a_half_life_is_a_number_of_decisions_or_a_time() -> None:
    assert sb.Discount(3) == sb.Discount(3.0, "decisions")
    assert sb.Discount(timedelta(minutes=1)) == sb.Discount(60, "seconds")
    assert sb.Discount(timedelta(minutes=1)).shares(120.0) == 0.25
    gamma = 2 ** (-1 / 7)
    np.testing.assert_allclose(sb.Discount(7).shares(np.arange(50.0)), gamma ** np.arange(50), rtol=1e-13)
    assert sb.Discount(2).shares(2 * FORGOTTEN) > 0
    assert sb.Discount(2).shares(2 * FORGOTTEN + 1) == 0
    for half_life in (0, -1.0, math.nan, -math.inf, "long", None, timedelta(0), [1.0], True):
        with pytest.raises(ArgumentError, match=r"^half_life: expected"):
            sb.Discount(half_life)
    with pytest.raises(ArgumentError, match=r"^unit: expected"):
        sb.Discount(3, "rounds")


@pytest.mark.parametrize("family", [sb.Gaussian, sb.Bernoulli, sb.Poisson])
def test_an_infinite_half_life_is_no_forgetting(family: Any) -> None:
    assert sb.Discount(np.float32(np.inf)) == sb.Discount(np.inf)
    assert family(forgetting=sb.Discount(math.inf)) == family()
    assert family(forgetting=sb.Discount(5)).forgetting == sb.Discount(5)
    assert "forgetting" not in repr(family())
    assert "forgetting=Discount(half_life=5.0, unit='decisions')" in repr(family(forgetting=sb.Discount(5)))
    with pytest.raises(ArgumentError, match=r"^forgetting: expected a Discount"):
        family(forgetting=250)


@pytest.mark.parametrize("half_life", [0.3, 4.0, 100.0])
def test_sums_that_are_scaled_are_sums_with_weights(half_life: float) -> None:
    """Over several blocks of rows, and with a share that becomes small; saved and restored on the way."""
    rng = np.random.default_rng(0)
    x, y, weights = rng.standard_normal((600, 3)), rng.standard_normal(600), rng.uniform(0.1, 5.0, 600)
    discount = sb.Discount(half_life)
    evidence, factor = Evidence(3), float(discount.shares(1.0))
    for i in range(600):
        evidence = evidence.scaled(factor)
        one = slice(i, i + 1)
        evidence.absorb(x[one], y[one], weights[one], np.ones(1))
        if i % 97 == 0:
            again = Evidence(3)
            again.restore(evidence.state())
            assert again.state().keys() == evidence.state().keys()
            assert again.gram.tobytes() == evidence.gram.tobytes()
            evidence = again
    shares = discount.shares(599.0 - np.arange(600))
    w = shares * weights
    row = rng.standard_normal(3)
    np.testing.assert_allclose(evidence.gram, x.T @ (w[:, np.newaxis] * x), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(evidence.gram_with(row), evidence.gram + np.outer(row, row), rtol=1e-12)
    np.testing.assert_allclose(evidence.gram_with(row, scale=np.full(3, 2.0)), 4 * evidence.gram_with(row), rtol=1e-12)
    np.testing.assert_allclose(evidence.squares, np.diag(evidence.gram), rtol=1e-11)
    np.testing.assert_allclose(evidence.moment, x.T @ (w * y), rtol=1e-11, atol=1e-12)
    assert evidence.square == pytest.approx(w @ y**2, rel=1e-11)
    assert evidence.count == pytest.approx(shares.sum(), rel=1e-11)
    assert evidence.log_weight == pytest.approx(shares @ np.log(weights), rel=1e-10)
    assert evidence.seen == 600


def test_scaling_leaves_the_original_as_it_is() -> None:
    evidence = Evidence(2)
    evidence.add(np.eye(2), [1.0, 2.0])
    half = evidence.scaled(0.5)
    half.absorb(np.ones((1, 2)), np.ones(1), None, np.ones(1))
    assert (evidence.count, evidence.square, evidence.seen) == (2, 5.0, 2)
    assert (half.count, half.square, half.seen) == (2.0, 3.5, 3)
    half.add([1.0, 0.0], 1.0)
    assert (half.count, half.square, half.seen) == (3.0, 4.5, 4)
    nothing = evidence.scaled(0.0)
    assert (nothing.count, nothing.square, nothing.gram.tolist()) == (0.0, 0.0, [[0.0, 0.0], [0.0, 0.0]])
    assert "discounted" not in evidence.state()


def test_contrasts_with_a_level_that_is_almost_forgotten() -> None:
    """W_k below the rounding of W_{k+1}; planted: W_k as a difference, which is zero."""
    level = Level(np.zeros(1), 3.0, 1.0).scaled(1e-25)
    x, y, after = level.contrasts(np.array([[1.0], [2.0]]), np.array([5.0, 4.0]))
    np.testing.assert_allclose(y, [math.sqrt(1e-25) * 2.0, math.sqrt(0.5) * -1.0], rtol=1e-12)
    assert np.isfinite(x).all()
    assert after.weight == 2.0
