"""The factor of a hierarchy on models, against loops, and draws of a prior that has one."""

from itertools import product

import numpy as np
import pytest

import sparsebandits as sb
from sparsebandits.arguments import ArgumentError
from tests.statistical import assert_means_agree

PARENTS = ((), (), (), (0,), (0, 1), (1, 2))


def factor(included: tuple[int, ...], some: float, none: float) -> float:
    """Return h(γ), from its definition."""
    found = 1.0
    for term, parents in enumerate(PARENTS):
        if included[term] and parents:
            there = [included[parent] for parent in parents]
            found *= 1.0 if all(there) else some if any(there) else none
    return found


@pytest.mark.parametrize(("some", "none"), [(1.0, 0.5), (0.3, 0.05)])
def test_factors_are_those_of_the_definition(some: float, none: float) -> None:
    models = list(product((0, 1), repeat=len(PARENTS)))
    found = np.exp(sb.Hierarchy(PARENTS, some, none).log_factors(np.array(models, dtype=bool)))
    np.testing.assert_allclose(found, [factor(one, some, none) for one in models], rtol=1e-12)


def test_models_without_anything_included_have_the_factor_one() -> None:
    assert sb.Hierarchy(PARENTS).log_factors(np.zeros((3, 6), dtype=bool)).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("inclusion", [0.4, sb.BetaInclusion(1.0, 2.0)])
def test_prior_draws_have_the_hierarchy(inclusion: object) -> None:
    """Planted: draws that are not rejected by the factor. Then products are included too often, by 60 errors."""
    prior, size = sb.SpikeSlab(inclusion, 1.0, hierarchy=sb.Hierarchy(PARENTS, 0.3, 0.05)), 40_000
    drawn = prior.sample(np.random.default_rng(1), size, 6)
    assert drawn.theta.shape == (size, 6)
    assert (drawn.theta[~drawn.included] == 0.0).all()
    models = list(product((0, 1), repeat=6))
    betas, weights = np.polynomial.legendre.leggauss(60)
    betas, weights = (betas + 1.0) / 2.0, weights * 2.0 * (1.0 - (betas + 1.0) / 2.0) / 2.0  # Beta(1, 2)
    if isinstance(inclusion, float):
        betas, weights = np.array([inclusion]), np.ones(1)
    chances = np.array([factor(one, 0.3, 0.05) * weights @ _chance(betas, sum(one)) for one in models])
    expected = chances @ np.array(models) / chances.sum()
    error = np.sqrt(expected * (1.0 - expected) / size)
    assert_means_agree(drawn.included.mean(axis=0), expected, error)
    plain = sb.SpikeSlab(inclusion, 1.0).sample(np.random.default_rng(1), size, 6)
    with pytest.raises(AssertionError):
        assert_means_agree(plain.included.mean(axis=0), expected, error)


def _chance(beta: np.ndarray, size: int) -> np.ndarray:
    return np.asarray(beta**size * (1.0 - beta) ** (6 - size))


@pytest.mark.parametrize(
    "arguments",
    [
        {"parents": ((), (1,))},
        {"parents": ((), (0,), (0, 1))},
        {"parents": ((), (), (), (0, 1, 2))},
        {"parents": ((), (0, 0))},
        {"parents": ((), (5,))},
        {"parents": ()},
        {"parents": 3},
        {"parents": ((), (0,)), "some": 1.5},
        {"parents": ((), (0,)), "none": 0.0},
    ],
)
def test_what_is_no_hierarchy_is_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(ArgumentError):
        sb.Hierarchy(**arguments)  # type: ignore[arg-type]


def test_a_prior_refuses_what_it_cannot_combine_with_a_hierarchy() -> None:
    with pytest.raises(ArgumentError, match="PointMass"):
        sb.SpikeSlab(0.5, 1.0, spike=sb.LaplaceSpike(0.1), hierarchy=sb.Hierarchy(PARENTS))
    with pytest.raises(ArgumentError, match="a Hierarchy"):
        sb.SpikeSlab(0.5, 1.0, hierarchy=PARENTS)  # type: ignore[arg-type]
