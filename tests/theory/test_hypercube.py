"""The closed form on the hypercube, against the general solver and by its own few corners."""

from itertools import product

import numpy as np
import pytest

from sparsebandits.theory import exploratory_design, hypercube_design


@pytest.mark.parametrize("dimension", range(1, 11))
def test_against_the_general_solver(dimension: int) -> None:
    cube = np.array(list(product((-1.0, 1.0), repeat=dimension)))
    closed, solved = hypercube_design(dimension), exploratory_design(cube)
    assert (closed.c_min, closed.upper_bound) == (solved.c_min, solved.upper_bound)
    assert (closed.gap, closed.exploratory) == (0.0, solved.exploratory)
    some = exploratory_design(closed.corners())
    assert (some.c_min, some.gap) == (1.0, 0.0)


@pytest.mark.parametrize("dimension", [1, 2, 3, 64, 65])
def test_few_corners_explore_as_well_as_all(dimension: int) -> None:
    """One corner less and the moment is no longer the identity."""
    corners = hypercube_design(dimension).corners()
    assert set(np.unique(corners)) <= {-1.0, 1.0}
    assert dimension <= len(corners) <= max(2 * dimension - 1, 1)
    assert len(np.unique(corners, axis=0)) == len(corners)
    np.testing.assert_array_equal(corners.T @ corners / len(corners), np.eye(dimension))
