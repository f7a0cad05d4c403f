"""Lemma 1, the entropy and the information ratios: against the printed formulas, brute force, and an exact instance."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsebandits.theory import (
    COVERING_CONSTANT,
    crossover,
    entropy,
    entropy_as_printed,
    generic_bound,
    least_generic_bound,
    ratios,
    ratios_as_printed,
)

PROBLEMS = list(product((1, 30, 5000), ((1, 1), (20, 2), (400, 5)), (None, 2, 10**9)))


@pytest.mark.parametrize(("n", "size", "n_actions"), PROBLEMS)
def test_as_printed(n: int, size: tuple[int, int], n_actions: int | None) -> None:
    """A 2 for the ½ of Theorem 1, or d/s for d√n/s in Δ, is off by more than 10%."""
    d, s = size
    metric = 2 * s * np.log(7.0 * d * n**0.5 / s)
    delta = metric if n_actions is None else min(np.log(n_actions), metric)
    assert entropy_as_printed(n, d, s, n_actions, 7.0) == pytest.approx(delta, rel=1e-12)
    for c_min in (0.3, 1.0):
        printed = ratios_as_printed(d, s, c_min)
        assert printed.third is not None
        first = np.sqrt(0.5 * n * d * delta)
        second = s ** (2 / 3) * n ** (2 / 3) * delta ** (1 / 3) / (2 * c_min) ** (1 / 3)
        assert generic_bound(n, delta, 2.0, printed.second) == pytest.approx(first, rel=1e-12)
        assert generic_bound(n, delta, 3.0, printed.third) == pytest.approx(second, rel=1e-12)
        least = least_generic_bound(n, delta, {2.0: printed.second, 3.0: printed.third})
        assert least.value == pytest.approx(min(first, second), rel=1e-12)
        assert least.exponent == (2.0 if first <= second else 3.0)


def test_the_infimum_over_all_exponents() -> None:
    """Between two given ratios, log Ψ is linear in λ; the grid of the test is ten times finer."""

    def ratio(exponent: float) -> float:
        return float(40.0 ** (3.0 - exponent) * 6.0 ** (exponent - 2.0) + 0.02 * exponent**4)

    def textbook(exponent: float) -> float:
        return float(2 ** (1 - 2 / exponent) * (ratio(exponent) * 3.0) ** (1 / exponent) * 900 ** (1 - 1 / exponent))

    fine = min(textbook(1 / inverse) for inverse in np.linspace(0.01, 0.5, 2001))
    least = least_generic_bound(900, 3.0, ratio)
    assert least.value == pytest.approx(fine, rel=1e-6)
    assert least.value == pytest.approx(textbook(least.exponent), rel=1e-12)
    assert 2.0 < least.exponent < 100.0, "the case is one of neither end"
    assert least_generic_bound(900, 3.0, lambda exponent: 5.0**exponent).exponent == 2.0


@given(
    bound=st.floats(0.05, 8.0),
    noise=st.floats(0.05, 8.0),
    sparsity=st.integers(1, 9),
    c_min=st.floats(0.05, 1.0),
    spread=st.floats(1e-4, 50.0),
)
def test_the_third_ratio_is_what_the_mixture_policy_can_promise(
    bound: float, noise: float, sparsity: int, c_min: float, spread: float
) -> None:
    """The paper's two steps, minimised over γ by search: never above the constant, and at it for a small spread D.

    A constant that is 1% smaller fails; so does the printed one, by a factor of 108 R_max κ.
    """
    kappa, root = bound**2 + noise, sparsity * math.sqrt(spread)
    gamma = np.geomspace(1e-6, 1.0, 20_001)
    regret = np.minimum(root + 2 * bound * gamma, 2 * bound)
    promised = float((regret**3 * 2 * kappa / (gamma * c_min * spread)).min())
    third = ratios(1, sparsity, c_min, noise, bound).third
    assert third is not None
    assert promised <= third * (1 + 1e-6)
    if root <= 0.7 * bound:  # beyond, regret of 2 R_max is less than what the steps allow
        assert promised >= 0.99 * third
    assert ratios(1, sparsity, c_min, noise, bound, sharpened=True).third == pytest.approx(third / sparsity)


def test_theorem_1_is_too_small_as_printed() -> None:
    """θ = ±1 with equal chance, actions ±1, unit noise: d = s = K/2 = C_min = R_max = 1, and round one costs 1.

    Whatever is played then has regret 1 and tells I = ∫ p log(p / q), here by the trapezium rule.
    """
    y = np.linspace(-12.0, 12.0, 200_001)
    up, down = np.exp(-0.5 * (y - 1) ** 2), np.exp(-0.5 * (y + 1) ** 2)
    information = float(np.trapezoid(up * np.log(2 * up / (up + down)), y) / math.sqrt(2 * math.pi))
    assert information == pytest.approx(0.3368, abs=1e-4)
    printed, proved = ratios_as_printed(1, 1, 1.0), ratios(1, 1, 1.0)
    budget = math.log(2)
    for exponent, short, enough in ((2.0, printed.second, proved.second), (3.0, printed.third, proved.third)):
        assert short is not None
        assert enough is not None
        assert short < 1.0 / information <= enough
        assert generic_bound(1, budget, exponent, short) < 1.0 <= generic_bound(1, budget, exponent, enough)


@pytest.mark.parametrize(("n", "noise"), [(1, 1.0), (400, 0.01), (400, 2.0), (3, 50.0)])
def test_the_entropy_is_least_over_nets(n: int, noise: float) -> None:
    d, s, c = 60, 4, 5.0
    width = np.geomspace(1e-5, 1.0, 100_001)
    nets = s * np.log(c * d / (s * width)) + n * s * width**2 / (2 * noise)
    assert entropy(n, d, s, None, noise, c) == pytest.approx(nets.min(), rel=1e-8)
    assert entropy(n, d, s, 3, noise, c) == math.log(3)
    if noise >= 1.0:
        assert entropy(n, d, s, None, noise, c) <= entropy_as_printed(n, d, s, None, c)


def test_the_covering_constant_covers() -> None:
    """Supports times points of a net of an s-dimensional ball; a constant of 2 would be too small."""
    cases = [(d, s, e) for d in range(1, 40) for s in range(1, d + 1) for e in (1.0, 0.3, 0.01)]
    for d, s, width in cases:
        points = math.log(math.comb(d, s)) + s * math.log(1 + 2 / width)
        assert points <= s * math.log(COVERING_CONSTANT * d / (s * width)) + 1e-12
    assert any(
        math.log(math.comb(d, s)) + s * math.log(1 + 2 / e) > s * math.log(2 * d / (s * e)) for d, s, e in cases
    ), "planted: C = 2"


@pytest.mark.parametrize("n_actions", [None, 50, 10**12])
@pytest.mark.parametrize("c_min", [0.05, 1.0])
def test_the_terms_are_equal_where_they_cross(n_actions: int | None, c_min: float) -> None:
    """A crossover that is off by 1% has terms that differ by 0.16%."""
    d, s = 60, 3

    def terms(n: float) -> tuple[float, float]:
        delta = entropy_as_printed(n, d, s, n_actions)
        return math.sqrt(n * d * delta / 2), (s * n) ** (2 / 3) * (delta / (2 * c_min)) ** (1 / 3)

    n = crossover(ratios_as_printed(d, s, c_min), lambda n: entropy_as_printed(n, d, s, n_actions))
    assert n is not None
    first, second = terms(n)
    assert first == pytest.approx(second, rel=1e-9)
    for factor in (1.01, 3.0, 1e4):
        assert terms(n * factor)[0] < terms(n * factor)[1]
    if n > 1.01:
        assert terms(n / 1.01)[0] > terms(n / 1.01)[1]


def test_terms_that_do_not_cross() -> None:
    assert crossover(ratios_as_printed(4, 4, 0.1), lambda n: entropy_as_printed(n, 4, 4, 2)) is None
    assert crossover(ratios_as_printed(4, 2, None), lambda n: 1.0) is None
    assert crossover(ratios_as_printed(4, 2, 1.0), lambda n: 0.0) is None, "one action"
