"""The closed-form minimisers against grids, all pairs, and random points of the simplex."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsebandits.arguments import FloatArray
from sparsebandits.rules.ratio import Minimiser, minimise_over_actions, minimise_over_distributions, ratios


def value(found: Minimiser, delta: FloatArray, v: FloatArray, power: float) -> float:
    q = found.probability
    x = (1 - q) * delta[found.first] + q * delta[found.second]
    y = (1 - q) * v[found.first] + q * v[found.second]
    return float(x**power / y) if x > 0 else 0.0


def all_pairs(delta: FloatArray, v: FloatArray, power: float) -> float:
    """Smallest ratio over two-point distributions, by a grid on every pair refined around its best node."""
    i, j = np.triu_indices(len(delta))
    low, high = np.zeros(len(i)), np.ones(len(i))
    best = np.inf
    for _ in range(9):
        q = low + (high - low) * np.linspace(0, 1, 21)[:, np.newaxis]
        with np.errstate(divide="ignore", invalid="ignore"):
            r = ((1 - q) * delta[i] + q * delta[j]) ** power / ((1 - q) * v[i] + q * v[j])
        r = np.where(np.isnan(r), np.inf, r)
        node = r.argmin(axis=0)
        best = min(best, float(r.min()))
        step = (high - low) / 20
        centre = low + step * node
        low, high = np.maximum(centre - step, 0), np.minimum(centre + step, 1)
    return best


@given(
    seed=st.integers(0, 2**32),
    n_actions=st.integers(1, 15),
    power=st.sampled_from([2.0, 2.5, 3.0, 5.0]),
    scale=st.sampled_from([1e-12, 1.0, 1e12]),
)
def test_no_distribution_does_better(seed: int, n_actions: int, power: float, scale: float) -> None:
    rng = np.random.default_rng(seed)
    delta, v = rng.exponential(size=n_actions) * scale, rng.exponential(size=n_actions) * scale
    v[rng.random(n_actions) < 0.2] = 0.0
    found = minimise_over_distributions(delta, v, power)
    if not v.any():
        assert found.first == int(delta.argmin())
        return
    reached = value(found, delta, v, power)
    assert found.ratio == pytest.approx(reached, rel=1e-9)
    assert reached <= all_pairs(delta, v, power) * (1 + 1e-9)
    simplex = rng.dirichlet(np.full(n_actions, 0.3), 500)
    with np.errstate(divide="ignore"):
        assert reached <= ((simplex @ delta) ** power / (simplex @ v)).min() * (1 + 1e-9)
    single = minimise_over_actions(delta, v, power)
    assert single.first == single.second == int(np.argmin(ratios(delta / scale, v / scale, power)))
    assert single.ratio >= reached * (1 - 1e-9)


@pytest.mark.parametrize("power", [2.0, 3.0, 5.0])
def test_many_actions_equal_all_pairs(power: float) -> None:
    rng = np.random.default_rng(0)
    delta = rng.exponential(size=300) + 0.01
    v = np.sqrt(delta) + 0.01 * rng.standard_normal(300)  # most actions near the hull
    found = minimise_over_distributions(delta, np.abs(v), power)
    assert found.ratio == pytest.approx(all_pairs(delta, np.abs(v), power), rel=1e-8)


def test_two_thousand_actions_in_both_hard_orders() -> None:
    """Every action a corner of the hull, and every action dominated but one."""
    delta = np.linspace(1.0, 2.0, 2000)
    concave = minimise_over_distributions(delta, np.sqrt(delta - 0.999), 2.0)
    grid = (delta**2 / np.sqrt(delta - 0.999)).min()
    assert grid * (1 - 1e-5) <= concave.ratio <= grid * (1 + 1e-12)
    dominated = minimise_over_distributions(delta, 3.0 - delta, 2.0)
    assert (dominated.first, dominated.second) == (0, 0)


def test_zero_cases() -> None:
    for minimise in (minimise_over_actions, minimise_over_distributions):
        # zero regret is chosen outright, the most informative of several
        assert minimise([0.0, 1.0], [0.0, 100.0]) == Minimiser(0, 0, 0.0, 0.0)
        assert minimise([1.0, 0.0, 0.0], [5.0, 1.0, 2.0]) == Minimiser(2, 2, 0.0, 0.0)
        # no information and some regret: never, if there is an informative one
        assert minimise([1.0, 50.0], [0.0, 1e-9]).second == 1
        # nothing informative: the smallest regret
        assert minimise([3.0, 1.0, 2.0], [0.0, 0.0, 0.0]) == Minimiser(1, 1, 0.0, float("inf"))
        # one action
        assert minimise([2.0], [4.0]) == Minimiser(0, 0, 0.0, 1.0)
    np.testing.assert_array_equal(ratios(np.array([0.0, 1.0]), np.array([0.0, 0.0])), [0.0, np.inf])


def test_extreme_numbers_neither_underflow_nor_overflow() -> None:
    assert minimise_over_actions([1e-4, 1e-6, 1.0], [1.0, 1.0, 1.0], 100.0).first == 1
    assert minimise_over_actions([1e-170, 1e-171, 1.0], [1.0, 1.0, 1.0]).first == 1
    assert minimise_over_actions([1e200, 1e199], [1e250, 1e250], 3.0).first == 1
    small = minimise_over_distributions([1e-200, 5e-200], [0.0, 8e-200])
    large = minimise_over_distributions([1.0, 5.0], [0.0, 8.0])
    assert small.probability == pytest.approx(large.probability, rel=1e-12)


def test_mixing_beats_every_single_action() -> None:
    delta, v = np.array([1.0, 10.0]), np.array([1e-4, 10.0])
    single, mixed = minimise_over_actions(delta, v), minimise_over_distributions(delta, v)
    assert single.ratio == 10.0
    assert mixed.ratio < 0.5 * single.ratio
    assert mixed.first == 0
    assert mixed.second == 1


@pytest.mark.parametrize(
    ("regret", "gain", "exponent", "message"),
    [
        ([], [], 2.0, "gain: expected one number per action"),
        ([1.0], [1.0, 2.0], 2.0, "gain: expected one number per action"),
        ([-1.0], [1.0], 2.0, "regret: expected numbers of at least zero"),
        ([1.0], [-1.0], 2.0, "gain: expected numbers of at least zero"),
        ([np.nan], [1.0], 2.0, "regret: expected finite"),
        ([1.0], [1.0], 1.5, "exponent: expected a number of at least 2"),
        ([1.0], [1.0], "two", "exponent: expected a number"),
    ],
)
def test_bad_input(regret: object, gain: object, exponent: float, message: str) -> None:
    for minimise in (minimise_over_actions, minimise_over_distributions):
        with pytest.raises((TypeError, ValueError), match=message):
            minimise(regret, gain, exponent)
