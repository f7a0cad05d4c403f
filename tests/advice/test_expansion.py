"""Squares, products and splines of features: against loops, and what is left out."""

import numpy as np
import pytest

import sparsebandits as sb
from sparsebandits.advice.expansion import expand
from sparsebandits.arguments import ArgumentError, FloatArray

NAMES = ("heat", "time", "red", "blue", "coated")
SOURCES = ("heat", "time", "colour", "colour", "coated")


def table(rows: int = 40, seed: int = 0) -> FloatArray:
    rng = np.random.default_rng(seed)
    colour = rng.integers(0, 3, rows)
    return np.column_stack(
        [rng.normal(150.0, 20.0, rows), rng.uniform(1.0, 9.0, rows), colour == 0, colour == 1, rng.integers(0, 2, rows)]
    ).astype(float)


@pytest.mark.parametrize("how", ["linear", "quadratic", "interactions", "splines"])
def test_columns_are_those_of_the_definition(how: str) -> None:
    base = table()
    expected: dict[str, FloatArray] = {name: base[:, j] for j, name in enumerate(NAMES)}
    parents: dict[str, tuple[int, ...]] = dict.fromkeys(NAMES, ())
    z = [[(x - np.mean(column)) / np.std(column) for x in column] for column in base.T[:2]] + base.T[2:].tolist()
    if how in ("quadratic", "interactions"):
        for j in (0, 1):
            expected[f"{NAMES[j]}²"] = np.array([one * one for one in z[j]])
            parents[f"{NAMES[j]}²"] = (j,)
    if how == "interactions":
        for i in range(5):
            for j in range(i + 1, 5):
                if (i, j) != (2, 3):  # both are of one column
                    name = f"{NAMES[i]} × {NAMES[j]}"
                    expected[name] = np.array([one * other for one, other in zip(z[i], z[j], strict=True)])
                    parents[name] = (i, j)
    if how == "splines":
        for j in (0, 1):
            for knot in np.percentile(base[:, j], [25, 50, 75]):
                name = f"{NAMES[j]} above {knot:.4g}"
                expected[name] = np.array([x - knot if x > knot else 0.0 for x in base[:, j]])
                parents[name] = ()
    found = expand(base, NAMES, [True, True, False, False, False], SOURCES, how)
    assert found.names == tuple(expected)
    assert found.parents == tuple(parents.values())
    assert found.left_out == ()
    np.testing.assert_allclose(found.features, np.column_stack(list(expected.values())), rtol=1e-12, atol=1e-12)
    hierarchy = found.prior().hierarchy
    assert (hierarchy is None) is (how in ("linear", "splines"))
    assert hierarchy is None or hierarchy.parents == found.parents


def test_other_rows_have_the_means_and_quartiles_of_the_table() -> None:
    found = expand(table(), NAMES, None, SOURCES, "interactions")
    np.testing.assert_array_equal(found.rows(found.base[3:7]), found.features[3:7])
    splines = expand(table(), NAMES, None, SOURCES, "splines")
    np.testing.assert_array_equal(splines.rows(splines.base[3:7]), splines.features[3:7])


def test_terms_that_say_nothing_new_are_left_out() -> None:
    rng = np.random.default_rng(1)
    first, binary = rng.normal(size=30), rng.integers(0, 2, 30).astype(float)
    base = np.column_stack([first, 3.0 * first - 7.0, binary, 1.0 - binary])
    found = expand(base, ["a", "b", "c", "d"], how="interactions")
    # b is a copy of a, so b² and a × b are copies of a²; b × c is one of a × c; c × d is always zero
    assert found.names[4:] == ("a²", "a × c", "a × d")
    assert set(found.left_out) == {"b²", "a × b", "b × c", "b × d", "c × d"}
    assert expand(base[:, 2:3], ["c"], [True], how="quadratic").left_out == ("c²",), "a square of two values is none"


def test_a_term_with_the_name_of_a_column_is_left_out() -> None:
    base = np.random.default_rng(2).normal(size=(20, 2))
    assert expand(base, ["a", "a²"], how="quadratic").names == ("a", "a²", "a²²")


def test_knots_at_equal_values_are_one() -> None:
    base = np.array([[0.0], [0.0], [0.0], [0.0], [0.0], [1.0], [2.0], [4.0]])
    assert expand(base, ["a"], how="splines").names == ("a", "a above 1.25"), "above 0 is the column itself"


def test_units_and_levels_change_squares_and_products_by_nothing() -> None:
    base = table()
    scaled = base.copy()
    scaled[:, :2] = 1000.0 * scaled[:, :2] + 3.0
    one, two = (expand(x, NAMES, [True, True, False, False, False], SOURCES) for x in (base, scaled))
    np.testing.assert_allclose(one.features[:, 5:], two.features[:, 5:], rtol=1e-9, atol=1e-9)


def test_too_many_columns_are_refused_and_so_is_what_does_not_fit() -> None:
    base = np.random.default_rng(3).normal(size=(10, 70))
    names = [str(j) for j in range(70)]
    with pytest.raises(ArgumentError, match="at most 2000 columns"):
        expand(base, names, how="interactions")
    for arguments in (
        {"names": names[:-1]},
        {"names": ["a"] * 70},
        {"names": [*range(70)]},
        {"sources": names[:-1]},
        {"continuous": [True]},
        {"how": "cubic"},
    ):
        with pytest.raises(ArgumentError):
            expand(base, **{"names": names, "how": "linear", **arguments})  # type: ignore[arg-type]


def test_a_policy_takes_an_expansion() -> None:
    found = expand(table(), NAMES, None, SOURCES)
    policy = sb.SparseIDS(found.features, found.prior(), n_draws=100, seed=0)
    policy.tell(policy.ask(), 1.0)
    assert policy.posterior.prior.hierarchy.dimension == len(found.names)
