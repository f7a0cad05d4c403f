"""Theorem 1, Table 1 and Table 2 in one table: slow formulas, limits, units, and the remarks about them."""

import json
import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsebandits as sb
from sparsebandits.theory import RegretBounds, regret_bound, regret_bounds_over


def values(bounds: RegretBounds) -> dict[tuple[str, str, str], float]:
    return {(row.source, row.actions, row.constant): row.value for row in bounds.rows}


def test_as_the_design_has_it() -> None:
    bounds = sb.theory.regret_bound(horizon=1000, dimension=100, sparsity=10, n_actions=200, c_min=1.0)
    found = values(bounds)
    assert found["Theorem 1", "arbitrary", "as printed"] == pytest.approx(np.sqrt(50_000 * np.log(200)))
    assert "data-rich, small K" in str(bounds)
    assert len(str(bounds.table()).splitlines()) == 1 + len(bounds.rows)
    assert max(map(len, str(bounds).splitlines())) <= 120
    json.dumps(bounds.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("n", "d", "s", "n_actions", "c_min", "noise", "reach"),
    [(700, 12, 3, 40, 0.2, 2.0, 0.7), (5, 9, 1, None, 1.0, 0.3, 4.0), (10**5, 60, 30, 10**30, 3.0, 1.0, 1.0)],
)
def test_slow_formulas(n: int, d: int, s: int, n_actions: int | None, c_min: float, noise: float, reach: float) -> None:
    bounds = regret_bound(n, d, s, n_actions, c_min, noise, reach, constant=4.0)
    found = {(row.source, row.policy, row.actions, row.constant): row.value for row in bounds.rows}
    metric = 2 * s * np.log(4 * d * np.sqrt(n) / s)
    delta = metric if n_actions is None else min(metric, np.log(float(n_actions)))
    net = s * np.log(4 * d * np.sqrt(n) / (s * np.sqrt(noise))) + s / 2
    proved = net if n_actions is None else min(net, np.log(float(n_actions)))
    kappa, sigma = reach**2 + noise, np.sqrt(noise)
    first, honest = np.sqrt(n * d * delta / 2), np.sqrt(2 * kappa * n * d * proved)
    second = (s * n) ** (2 / 3) * (delta / (2 * c_min)) ** (1 / 3)
    mixture = 2 ** (1 / 3) * (27 * reach * kappa * proved / c_min) ** (1 / 3) * n ** (2 / 3)
    everywhere, sparse, anyone = "arbitrary", "exploratory, sparse x*", "any policy"
    expected = {
        ("trivial", anyone, everywhere, "2 R_max n"): 2 * reach * n,
        ("Theorem 1", "sparse IDS", everywhere, "as printed"): first,
        ("Corollary of Thm 1", "sparse TS", everywhere, "as printed"): first,
        ("Theorem 1", "sparse IDS", everywhere, "as proved"): honest,
        ("Corollary of Thm 1", "sparse TS", everywhere, "as proved"): honest,
        ("Theorem 1", "sparse IDS", sparse, "as printed"): min(first, second),
        ("Theorem 1", "sparse IDS", sparse, "as proved"): min(honest, s ** (2 / 3) * mixture),
        ("Theorem 1", "sparse IDS", sparse, "as proved, s for s²"): min(honest, s ** (1 / 3) * mixture),
        ("APS 2012", "online-to-confidence", everywhere, "rate, no constant"): sigma * np.sqrt(s * d * n),
        ("LCS 2015", "elimination", "hypercube", "rate, no constant"): sigma * s * np.sqrt(n),
        ("HLW 2020", "ESTC", "exploratory", "rate, no constant"): (noise * reach) ** (1 / 3) * (s * n) ** (2 / 3),
        ("HLW 2020", anyone, "exploratory", "rate, no constant"): (
            sigma * min(s ** (1 / 3) * n ** (2 / 3), np.sqrt(d * n))
        ),
    }
    many = np.inf if n_actions is None else n_actions
    met = n >= s * d and d % s == 0 and d >= 2 * s and many >= (d / s) ** s
    where = "from the source" if met else "conditions not met"
    expected["LS 2020, Thm 24.3", anyone, everywhere, where] = sigma * np.sqrt(s * d * n) / 8
    assert found == pytest.approx(expected, rel=1e-12)


def test_signs() -> None:
    """Rows of Table 1 whose source was not read are rates, without a sign that promises a constant."""
    signs = {(row.source, row.side): row.sign for row in regret_bound(1000, 200, 2, c_min=1.0).rows}
    assert signs == {
        ("trivial", "upper"): "≤",
        ("Theorem 1", "upper"): "≤",
        ("Corollary of Thm 1", "upper"): "≤",
        ("APS 2012", "upper"): "~",
        ("LCS 2015", "upper"): "~",
        ("HLW 2020", "upper"): "~",
        ("HLW 2020", "lower"): "~",
        ("LS 2020, Thm 24.3", "lower"): "≥",
    }


numbers: dict[str, st.SearchStrategy[Any]] = {
    "horizon": st.integers(1, 10**7),
    "dimension": st.integers(1, 500),
    "sparsity": st.integers(1, 20),
    "n_actions": st.one_of(st.none(), st.integers(1, 10**6)),
    "c_min": st.floats(0.01, 1.0),
    "noise_variance": st.floats(0.1, 10.0),
}
problems = st.fixed_dictionaries(numbers).map(
    lambda drawn: {
        **drawn,
        "sparsity": min(drawn["sparsity"], drawn["dimension"]),
        "n_actions": None if drawn["n_actions"] is None else max(drawn["n_actions"], drawn["dimension"], 2),
    }
)


def few_actions(problem: dict[str, Any]) -> dict[str, Any]:
    """As few actions as can have a positive C_min, so that log K is the entropy."""
    return {**problem, "n_actions": max(2, problem["dimension"])}


@given(problem=problems, sigma=st.floats(0.2, 5.0))
def test_units_of_the_reward_do_not_matter(problem: dict[str, Any], sigma: float) -> None:
    """Rewards times σ: all bounds scale but the printed ones, which ignore noise, and nets, which assume ‖θ‖ ≤ 1."""
    problem = {**few_actions(problem), "noise_variance": 1.0}
    unit = regret_bound(**problem, bound=0.7)
    scaled = regret_bound(**{**problem, "noise_variance": sigma**2}, bound=0.7 * sigma)
    for one, other in zip(unit.rows, scaled.rows, strict=True):
        factor = 1.0 if one.constant == "as printed" else sigma
        assert other.value == pytest.approx(factor * one.value, rel=1e-9)


@given(problem=problems)
def test_order_and_monotonicity(problem: dict[str, Any]) -> None:
    """Lower bounds that hold are below the trivial bound; bounds that assume more about the actions are smaller."""
    bounds = regret_bound(**problem)
    found = values(bounds)
    trivial = found["trivial", "arbitrary", "2 R_max n"]
    assert all(row.value <= trivial for row in bounds.rows if row.sign == "≥" and row.holds)
    for what in ("as printed", "as proved"):
        assert found["Theorem 1", "exploratory, sparse x*", what] <= found["Theorem 1", "arbitrary", what]
    sharp, proved = "as proved, s for s²", "as proved"
    assert found["Theorem 1", "exploratory, sparse x*", sharp] <= found["Theorem 1", "exploratory, sparse x*", proved]
    if bounds.problem.noise_variance >= 1.0:
        assert found["Theorem 1", "arbitrary", "as printed"] <= found["Theorem 1", "arbitrary", "as proved"]
    later = regret_bound(**{**problem, "horizon": bounds.problem.horizon + 1})
    assert all(a.value <= b.value for a, b in zip(bounds.rows, later.rows, strict=True))


@given(problem=problems, reach=st.floats(0.01, 3.0))
def test_as_proved_is_larger_where_it_should_be(problem: dict[str, Any], reach: float) -> None:
    """With the entropy log K in both, 2κd ≥ d/2 is κ = R_max² + σ² ≥ 1/4."""
    bounds = regret_bound(**few_actions(problem), bound=reach)
    found = values(bounds)
    kappa = reach**2 + bounds.problem.noise_variance
    printed, proved = (found["Theorem 1", "arbitrary", what] for what in ("as printed", "as proved"))
    assert proved == pytest.approx(2 * math.sqrt(kappa) * printed)


def test_without_an_end_is_the_limit_of_many_actions() -> None:
    many = regret_bound(100, 20, 2, 10**500, 1.0)
    endless = regret_bound(100, 20, 2, math.inf, 1.0)
    assert [row.value for row in many.rows] == [row.value for row in endless.rows]
    assert endless.problem.n_actions is None
    assert "K = 10^500" in str(many)
    one = regret_bound(100, 20, 2, 1)
    assert values(one)["Theorem 1", "arbitrary", "as printed"] == 0.0, "one action has no regret"


def test_the_rows_that_need_c_min() -> None:
    bounds = regret_bound(100, 20, 2, 50)
    assert {row.actions for row in bounds.rows} == {"arbitrary", "hypercube"}
    assert "C_min is not given" in str(bounds)
    assert bounds.regime.crossover is None


def test_lower_bounds_say_what_they_need() -> None:
    assert "needs sd ≤ n and d a multiple of s, at least 2s and R_max ≥ σ√(sd/n)." in str(
        regret_bound(3, 7, 5, bound=0.1)
    )
    assert "does not hold" not in str(regret_bound(10**4, 10, 5))


def test_no_lower_bound_that_holds_is_above_an_upper_one() -> None:
    """Lower bounds are for large action sets: with one or two actions they used to exceed the upper bounds."""
    for bounds in (
        regret_bound(10**6, 1000, 500, 1000, 1.0, bound=1.0),
        regret_bound(1000, 200, 2, 1),
        regret_bound(1000, 10, 2, c_min=1.0, bound=1e-4),
    ):
        proved = [
            row.value for row in bounds.rows if row.side == "upper" and row.constant in ("as proved", "2 R_max n")
        ]
        assert all(row.value <= min(proved) for row in bounds.rows if row.sign == "≥" and row.holds)
        assert "(≥ " in str(bounds)
    with pytest.raises(ValueError, match=r"c_min: expected None for fewer actions \(5\) than features \(9\)"):
        regret_bound(10, 9, 2, 5, 1.0)


@pytest.mark.parametrize(
    ("exploratory", "rich", "large", "rate"),
    [
        (False, False, True, "√(nds)"),
        (False, True, True, "√(nds)"),
        (False, True, False, "√(nd log K)"),
        (True, True, True, "√(nds)"),
        (True, True, False, "√(nd log K)"),
        (True, False, True, "s n^(2/3)"),
        (True, False, False, "s^(2/3) n^(2/3) log^(1/3) K"),
    ],
)
def test_table_2(exploratory: bool, rich: bool, large: bool, rate: str) -> None:
    d, s = 30, 3
    n_actions = 5000 if large else 100  # d exp(s) = 603
    edge = d**3 * math.log(n_actions) / s**4
    n = math.ceil(edge) if rich else math.floor(edge)
    place = regret_bound(n, d, s, n_actions, 1.0 if exploratory else 0.9).regime
    assert (place.exploratory, place.data_rich, place.large_k, place.rate) == (exploratory, rich, large, rate)
    assert place.data_rich_from == pytest.approx(edge)
    assert ("data-rich" in str(place), "data-poor" in str(place)) == (rich and exploratory, not rich and exploratory)
    assert ("large K" in str(place)) == large


def test_a_design_that_is_exploratory_up_to_its_accuracy_is_so_here() -> None:
    corners = np.array(list(product((-1.0, 1.0), repeat=3)))
    noisy = np.concatenate((corners, 0.3 * np.eye(3)))
    assert regret_bound(10, 3, 1, 11, sb.theory.exploratory_design(noisy).c_min).regime.exploratory


def test_large_numbers_have_answers() -> None:
    bounds = regret_bound(10**49, 10**49, 10**49, 10**4000, 1e-49, 1e49, 1e49)
    assert all(math.isfinite(row.value) for row in bounds.rows)
    str(bounds)


def test_the_page_shows_what_is_printed() -> None:
    page = (Path(__file__).parents[2] / "docs" / "theory.md").read_text(encoding="utf-8")
    assert str(regret_bound(1000, 200, 2, None, 1.0, bound=1.0)) in page


def test_over_horizons() -> None:
    bounds = regret_bound(50, 30, 2, 100, 1.0, noise_variance=2.0, bound=0.5, constant=3.0)
    over = regret_bounds_over(bounds)
    horizons = [one.problem.horizon for one in over]
    assert horizons == sorted(set(horizons))
    assert horizons[0] == 1
    assert horizons[-1] >= max(500, bounds.regime.crossover or 0)
    assert {one.problem.bound for one in over} == {0.5}
