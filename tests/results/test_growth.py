"""Growth of regret: exponents against plain sums and known powers, and trials that are still growing."""

import math

import numpy as np
import pytest
from scipy import stats

from sparsebandits.arguments import FloatArray, IntArray
from sparsebandits.results.statistics import growing, growth_exponent, statistic_interval, window

ROUNDS = np.arange(1, 501, dtype=np.intp)


def slow_slope(regret: FloatArray, rounds: IntArray, places: IntArray) -> float:
    """The least-squares slope from its normal equations, in plain Python."""
    x = [math.log(rounds[j]) for j in places]
    y = [math.log(sum(curve[j] for curve in regret) / len(regret)) for j in places]
    n = len(x)
    top = n * sum(a * b for a, b in zip(x, y, strict=True)) - sum(x) * sum(y)
    return top / (n * sum(a * a for a in x) - sum(x) ** 2)


@pytest.mark.parametrize("part", [0.2, 0.5, 1.0])
@pytest.mark.parametrize("rounds", [ROUNDS, np.array([1, 2, 5, 10, 20, 50, 60, 80, 100]), np.array([90, 95, 100])])
def test_the_exponent_is_the_slope_through_the_last_part(part: float, rounds: IntArray) -> None:
    regret = np.random.default_rng(0).exponential(size=(7, len(rounds))).cumsum(axis=1)
    places = window(rounds, part)
    assert len(places) <= 50
    assert rounds[places[0]] >= (1 - part) * rounds[-1]
    assert places[-1] == len(rounds) - 1
    assert growth_exponent(regret, rounds, part).value == pytest.approx(slow_slope(regret, rounds, places))


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
def test_powers_are_found(power: float) -> None:
    exponent = growth_exponent(np.outer([1.0, 2.0, 7.0], ROUNDS**power), ROUNDS)
    assert [exponent.value, exponent.low, exponent.high] == pytest.approx([power] * 3, abs=1e-9)


def test_thinning_hardly_changes_the_exponent() -> None:
    regret = np.random.default_rng(1).exponential(size=(20, 500)).cumsum(axis=1) ** 0.7
    all_rounds, tenth = growth_exponent(regret, ROUNDS), growth_exponent(regret[:, 9::10], ROUNDS[9::10])
    assert all_rounds.value == pytest.approx(tenth.value, abs=0.02)


def test_a_stuck_share_of_trials_mixes_and_is_seen() -> None:
    """As the docstring of statistics.py warns: neither kind of trial has the exponent of their mean."""
    stuck, done = 1.0 * ROUNDS, np.minimum(ROUNDS, 60.0)
    regret = np.array([stuck] * 3 + [done] * 17)
    assert 0.4 < growth_exponent(regret, ROUNDS).value < 0.7
    assert growing(regret, ROUNDS).tolist() == [True] * 3 + [False] * 17


def least_squares_interval(regret: FloatArray, places: IntArray) -> tuple[float, float]:
    """The planted bug: rounds are treated as independent, as in a textbook regression."""
    fit = stats.linregress(np.log(ROUNDS[places]), np.log(regret[:, places].mean(axis=0)))
    half = stats.t.isf(0.025, len(places) - 2) * fit.stderr
    return fit.slope - half, fit.slope + half


def test_intervals_cover_the_exponent_as_often_as_they_say() -> None:
    """Of 150 experiments with mean regret t^0.6, about 95% cover.

    Planted bug: an interval that treats rounds as independent, which covers far less.
    """
    rng = np.random.default_rng(2)
    places = window(ROUNDS, 0.5)
    steps = np.diff(ROUNDS**0.6, prepend=0.0)
    covered = rounds_independent = 0
    for _ in range(150):
        scale = rng.gamma(4.0, 0.25, size=(40, 1))  # mean 1: trials differ, and then fluctuate
        regret = (steps * scale * rng.gamma(0.3, 1 / 0.3, size=(40, 500))).cumsum(axis=1)
        exponent = growth_exponent(regret, ROUNDS)
        covered += exponent.low <= 0.6 <= exponent.high
        low, high = least_squares_interval(regret, places)
        rounds_independent += low <= 0.6 <= high
    assert stats.binomtest(covered, 150, 0.95).pvalue > 1e-4
    assert stats.binomtest(rounds_independent, 150, 0.95).pvalue < 1e-10


def test_no_exponent_where_there_is_none() -> None:
    nothing = growth_exponent(np.zeros((5, 500)), ROUNDS)
    assert np.isnan([nothing.value, nothing.low, nothing.high]).all()
    alone = growth_exponent(np.sqrt(ROUNDS)[np.newaxis], ROUNDS)
    assert alone.value == pytest.approx(0.5)
    assert np.isnan([alone.low, alone.high]).all()
    short = growth_exponent(np.array([[1.0], [2.0]]), np.array([1]))
    assert np.isnan(short.value)
    seldom = growth_exponent(np.array([1.0 * ROUNDS, 0.0 * ROUNDS]), ROUNDS)
    assert seldom.value == pytest.approx(1.0)
    assert np.isnan(seldom.low), "resampled, both trials may be the one without regret"
    for part in (0.0, 1.5, -1.0):
        with pytest.raises(ValueError, match="part: expected"):
            growth_exponent(np.ones((2, 500)), ROUNDS, part)


def test_growing_against_its_definition() -> None:
    rng = np.random.default_rng(3)
    regret = (rng.exponential(size=(50, 500)) * (rng.random((50, 1)) ** (ROUNDS / 100))).cumsum(axis=1)
    expected = [bool(c[499] - c[399] >= 0.5 * c[99]) for c in regret]
    assert growing(regret, ROUNDS).tolist() == expected
    assert 5 < sum(expected) < 45
    thin = np.array([100, 400, 500])
    assert growing(regret[:, thin - 1], thin).tolist() == expected
    assert not growing(np.zeros((3, 500)), ROUNDS).any(), "no regret does not grow"
    assert not growing(np.ones((2, 3)), np.array([1, 2, 3])).any()


def test_intervals_of_a_statistic() -> None:
    rows = np.random.default_rng(4).normal(size=(30, 2))
    low, high = statistic_interval(rows, lambda x: x[..., 0].mean(axis=-1) - x[..., 1].mean(axis=-1))
    expected = stats.bootstrap((rows[:, 0] - rows[:, 1],), np.mean, n_resamples=2000, rng=np.random.default_rng(5))
    assert [low, high] == pytest.approx(list(expected.confidence_interval), abs=0.1)
    assert statistic_interval(rows, lambda x: np.full(x.shape[:-2], 3.0)) == (3.0, 3.0)
