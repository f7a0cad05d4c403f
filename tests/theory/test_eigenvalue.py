"""Certified bounds of the restricted eigenvalue, against a search that does not use the structure of supports."""

import numpy as np
import pytest

from sparsebandits.arguments import FloatArray
from sparsebandits.theory import restricted_eigenvalue
from sparsebandits.theory.eigenvalue import relaxed_bounds


def searched(matrix: FloatArray, sparsity: int, cone: float) -> float:
    """Random points of the cone by its definition, then points closer and closer to the best one."""
    rng = np.random.default_rng(0)
    points = rng.standard_normal((40_000, len(matrix)))
    points[::2, 0] *= 0.05  # some near a face
    spread, best, where = 1.0, np.inf, points[0]
    for _ in range(25):
        size = -np.sort(-np.abs(points), axis=1)
        inside, outside = size[:, :sparsity], size[:, sparsity:]
        values = np.einsum("ij,jk,ik->i", points, matrix, points) / np.square(inside).sum(axis=1)
        values[outside.sum(axis=1) > cone * inside.sum(axis=1)] = np.inf
        if values.min() < best:
            best, where = float(values.min()), points[values.argmin()]
        spread *= 0.6
        points = where + spread * np.abs(where).max() * rng.standard_normal((8_000, len(matrix)))
    return best


CASES = [(3, 1, 0.3, 2), (3, 1, 1.0, 4), (4, 2, 0.2, 4), (4, 2, 1.0, 6), (5, 2, 3.0, 8), (5, 3, 0.5, 8), (4, 1, 0.5, 2)]


@pytest.mark.parametrize(("dimension", "sparsity", "cone", "rows"), CASES)
def test_the_bounds_hold_the_searched_minimum(dimension: int, sparsity: int, cone: float, rows: int) -> None:
    x = np.random.default_rng(dimension + rows).standard_normal((rows, dimension))
    matrix = x.T @ x / rows
    found = searched(matrix, sparsity, cone)
    for bounds in (restricted_eigenvalue(matrix, sparsity, cone), relaxed_bounds(matrix, sparsity, cone)):
        assert bounds.lower <= found * (1 + 1e-9), "no point is below the lower bound"
    bounds = restricted_eigenvalue(matrix, sparsity, cone)
    assert found * 0.98 - 1e-6 <= bounds.upper <= found * 1.02 + 1e-6
    if sparsity == 1:  # convex: the bounds meet
        assert bounds.upper - bounds.lower <= 1e-6 * bounds.upper + 1e-12
    assert np.linalg.eigvalsh(matrix)[0] < bounds.lower, "planted: the smallest eigenvalue in its place"


def test_known_values() -> None:
    assert restricted_eigenvalue(np.eye(4), 2, 3.0) == pytest.approx((1.0, 1.0))
    assert restricted_eigenvalue(np.diag([4.0, 0.5, 2.0]), 1, 1.0) == pytest.approx((0.5, 0.5))
    # One direction has θ'Hθ = 0, and is in the cone only if L is large enough.
    flat = np.eye(4) - np.full((4, 4), 0.25)
    assert restricted_eigenvalue(flat, 1, 3.0).upper == pytest.approx(0.0, abs=1e-12)
    lower, upper = restricted_eigenvalue(flat, 1, 2.0)
    assert lower == pytest.approx(upper)
    assert upper == pytest.approx((1 + 3 * (2 / 3) ** 2) - 0.25 * 3**2)  # at (1, 2/3, 2/3, 2/3)


def test_many_supports_are_not_enumerated() -> None:
    rng = np.random.default_rng(0)
    x = rng.choice((-1.0, 1.0), size=(600, 60))
    bounds = restricted_eigenvalue(x.T @ x / 600, 6, 3.0)
    smallest = np.linalg.eigvalsh(x.T @ x / 600)[0]
    assert smallest * (1 - 1e-9) <= bounds.lower <= bounds.upper
    assert bounds.upper < 1.0
    theta = rng.standard_normal((20_000, 60)) * (rng.random((20_000, 60)) < 0.1)
    size = -np.sort(-np.abs(theta), axis=1)
    feasible = (size[:, 6:].sum(axis=1) <= 3 * size[:, :6].sum(axis=1)) & (size[:, 0] > 0)
    values = np.square(x @ theta[feasible].T).sum(axis=0) / 600 / np.square(size[feasible, :6]).sum(axis=1)
    assert bounds.lower <= values.min()


def test_a_singular_matrix_may_have_a_positive_one() -> None:
    """Fewer rows than columns, as in the paper's probabilistic argument; the smallest eigenvalue is zero."""
    x = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, 1.0]])
    matrix = x.T @ x / 2
    bounds = restricted_eigenvalue(matrix, 1, 0.5)
    assert bounds.lower == pytest.approx(0.25, rel=1e-6)  # θ = (1, 0, −0.5)
    assert restricted_eigenvalue(matrix, 1, 1.0).upper == pytest.approx(0.0, abs=1e-9)


def test_the_zero_matrix_and_supports_of_nearly_all_coordinates() -> None:
    """2^29 patterns of signs are not listed; with s = d the cone is the whole space."""
    assert restricted_eigenvalue(np.zeros((3, 3)), 1) == (0.0, 0.0)
    matrix = np.diag(np.linspace(0.5, 2.0, 30))
    for sparsity in (29, 30):
        assert restricted_eigenvalue(matrix, sparsity) == pytest.approx((0.5, 0.5))
