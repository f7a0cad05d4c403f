"""Bounds for contexts: their values by hand, how they grow, and what is refused."""

import math
from typing import Any

import pytest

from sparsebandits.arguments import ArgumentError
from sparsebandits.theory import conditional_lower_bound, contextual_rates, graph_lower_bound


def test_values_by_hand() -> None:
    assert conditional_lower_bound(1000, 41, 2) == pytest.approx(math.sqrt(82_000) / 16)
    assert conditional_lower_bound(1000, 41, 2) == pytest.approx(17.9, abs=0.05)
    assert graph_lower_bound(900, 6) == pytest.approx(60 / 16)
    assert graph_lower_bound(900, 2) == 0.0
    rates = contextual_rates(1000, 64, 2, 0.125, logarithm=8.0)
    assert rates.rich == pytest.approx(math.sqrt(1000 * 64 * 2 * 8))
    assert rates.poor == pytest.approx(2 * 100 * 2 / 0.5)
    assert rates.least == rates.poor
    default = contextual_rates(1000, 64, 2, 0.125)
    assert default.rich == pytest.approx(math.sqrt(1000 * 64 * 2 * math.log(64 * math.sqrt(1000) / 2)))


def test_growth_and_crossing() -> None:
    """√n against n^{2/3}: with many rounds the first is less, and without exploration always."""
    assert contextual_rates(1e3, 1e4, 1, 1.0).least == contextual_rates(1e3, 1e4, 1, 1.0).poor
    assert contextual_rates(1e12, 100, 1, 1.0).least == contextual_rates(1e12, 100, 1, 1.0).rich
    assert contextual_rates(100, 1000, 1, 0.0).poor == math.inf
    few, many = (contextual_rates(n, 100, 2, 0.3, logarithm=1.0) for n in (1e3, 1e6))
    assert many.rich / few.rich == pytest.approx(1e3**0.5)
    assert many.poor / few.poor == pytest.approx(1e3 ** (2 / 3))


@pytest.mark.parametrize(
    ("function", "given", "name"),
    [
        (conditional_lower_bound, (0, 2, 1), "horizon"),
        (conditional_lower_bound, (10, 2, 3), "sparsity"),
        (conditional_lower_bound, (10, "2", 1), "dimension"),
        (graph_lower_bound, (10, 1), "independence"),
        (graph_lower_bound, (math.nan, 3), "horizon"),
        (contextual_rates, (10, 5, 1, -0.1), "c_min"),
        (contextual_rates, (10, 5, 1, 0.1, 0.0), "logarithm"),
    ],
)
def test_bad_input(function: Any, given: tuple[Any, ...], name: str) -> None:
    with pytest.raises(ArgumentError, match=f"^{name}: "):
        function(*given)
