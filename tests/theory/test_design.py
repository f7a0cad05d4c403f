"""The exploration design: optimal by its own duality gap, by brute force, and by two other solvers."""

import sys
import tracemalloc
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.theory import design as module
from sparsebandits.theory import exploratory_design


def smallest_eigenvalue(actions: FloatArray, weights: FloatArray) -> float:
    moment: FloatArray = sum(
        (w * np.outer(a, a) for w, a in zip(weights, actions, strict=True)), start=np.zeros((actions.shape[1],) * 2)
    )
    return float(np.linalg.eigvalsh(moment)[0])


def gaussian(dimension: int, n_actions: int = 200, seed: int = 0) -> FloatArray:
    return sb.environments.GaussianActions(dimension, 2, n_actions).sample(seed).actions


@pytest.mark.parametrize("dimension", [10, 40, 100])
def test_optimal_to_one_in_ten_thousand_by_the_duality_gap(dimension: int) -> None:
    actions = gaussian(dimension)
    design = exploratory_design(actions)
    assert design.weights.min() >= 0
    assert design.weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert design.c_min == pytest.approx(smallest_eigenvalue(actions, design.weights), rel=1e-9)
    assert 0 <= design.gap <= 1e-4 * design.c_min
    assert (design.rank, design.spanning, design.c_span) == (dimension, True, design.c_min)
    assert smallest_eigenvalue(actions, np.full(200, 1 / 200)) < 0.9 * design.c_min, "planted: the uniform design"


def test_the_upper_bound_holds_for_every_distribution() -> None:
    """A bound that is 1% too low would be exceeded by the design itself; a Z of trace 0.99 would give one."""
    actions = gaussian(4, 12)
    design = exploratory_design(actions)
    rng = np.random.default_rng(0)
    for weights in (*rng.dirichlet(np.ones(12), size=500), design.weights):
        assert smallest_eigenvalue(actions, weights) <= design.upper_bound * (1 + 1e-12)
    assert smallest_eigenvalue(actions, design.weights) > 0.99 * design.upper_bound, "planted: trace 0.99"


def test_against_a_grid() -> None:
    actions = np.array([[1.0, 0.2], [0.3, 1.5], [-1.0, 1.0], [2.0, 1.9]])
    steps = np.linspace(0, 1, 41)
    grid = [w for w in product(steps, repeat=3) if sum(w) <= 1]
    best = max(smallest_eigenvalue(actions, np.array([*w, 1 - sum(w)])) for w in grid)
    design = exploratory_design(actions)
    assert best <= design.c_min * (1 + 1e-4)
    assert best >= design.c_min * 0.99


@pytest.mark.parametrize("solver", ["clarabel", "scs"])
def test_other_solvers_agree(solver: str) -> None:
    actions = gaussian(8, 40)
    ours, theirs = exploratory_design(actions), exploratory_design(actions, solver)
    assert theirs.gap <= 1e-4 * theirs.c_min
    assert max(ours.c_min, theirs.c_min) <= min(ours.upper_bound, theirs.upper_bound)


def test_many_actions_are_solved_on_a_working_set() -> None:
    actions = gaussian(5, 3000)
    design = exploratory_design(actions)
    assert design.gap <= 1e-4 * design.c_min
    assert design.c_min == pytest.approx(smallest_eigenvalue(actions, design.weights), rel=1e-9)


def test_memory_grows_with_the_actions_and_not_with_their_square() -> None:
    """20,000 actions are 0.5 MB; a square matrix of that size would be 3.2 GB."""
    actions = np.random.default_rng(0).standard_normal((20_000, 3))
    tracemalloc.start()
    try:
        design = exploratory_design(actions)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100e6
    assert design.gap <= 1e-4 * design.c_min
    flat = exploratory_design(actions * [1.0, 1.0, 0.0])
    assert (flat.rank, flat.c_min) == (2, 0.0)


@pytest.mark.parametrize("dimension", [1, 2, 5, 8])
def test_closed_form_on_the_hypercube(dimension: int) -> None:
    cube = np.array(list(product((-1.0, 1.0), repeat=dimension)))
    design = exploratory_design(cube)
    assert (design.c_min, design.gap, design.exploratory) == (1.0, 0.0, True)
    np.testing.assert_array_equal(design.weights, 2.0**-dimension)
    assert not exploratory_design(0.99 * cube).exploratory
    more = np.concatenate((cube, 0.5 * np.eye(dimension)))
    assert exploratory_design(more).c_min == 1.0, "shorter actions do not help"


def test_actions_that_do_not_span_the_space() -> None:
    actions = np.array([[1.0, 1.0, 0.0], [1.0, -1.0, 0.0], [3.0, 1.0, 0.0]])
    design = exploratory_design(actions)
    assert (design.c_min, design.rank, design.spanning, design.exploratory) == (0.0, 2, False, False)
    assert design.upper_bound == pytest.approx(0.0, abs=1e-20)
    assert design.c_span == pytest.approx(exploratory_design(actions[:, :2]).c_min, rel=1e-4)
    nearly = exploratory_design(
        [[1.0, 0.0], [0.0, 1e-17]]
    )  # rank one up to rounding, but the bound is for the true actions
    assert nearly.rank == 1
    assert 1e-34 * (1 - 1e-9) <= nearly.upper_bound < 1e-30
    nothing = exploratory_design(np.zeros((3, 2)))
    assert (nothing.c_min, nothing.upper_bound, nothing.rank) == (0.0, 0.0, 0)
    np.testing.assert_array_equal(nothing.weights, 1 / 3)


def test_smallest_sizes() -> None:
    assert exploratory_design([[3.0]]).c_min == 9.0
    assert exploratory_design([[0.1], [-2.0]]).c_min == pytest.approx(4.0)
    one = exploratory_design([[3.0, 4.0]])
    assert one.c_min == 0.0
    assert one.c_span == pytest.approx(25.0)
    np.testing.assert_array_equal(one.weights, [1.0])


@given(scale=st.sampled_from([1e-24, 1e-3, 1e24]), seed=st.integers(0, 50))
def test_units_do_not_matter(scale: float, seed: int) -> None:
    actions = np.random.default_rng(seed).standard_normal((9, 3))
    design = exploratory_design(scale * actions)
    assert design.c_min / scale / scale == pytest.approx(exploratory_design(actions).c_min, rel=1e-4)
    assert design.gap <= 1e-4 * design.c_min


def test_remembered_by_content(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, solve = [], module._designed

    def counted(features: FloatArray, solver: str) -> module.Design:
        calls.append(solver)
        return solve(features, solver)

    monkeypatch.setattr(module, "_designed", counted)
    actions = gaussian(3, 7, seed=99)
    assert exploratory_design(actions) is exploratory_design(actions.copy())
    assert len(calls) == 1
    changed = actions.copy()
    changed[0, 0] += 1e-9
    exploratory_design(changed)
    assert len(calls) == 2
    with pytest.raises(ValueError, match="read-only"):
        exploratory_design(actions).weights[0] = 1.0
    for seed in range(module.REMEMBERED):
        exploratory_design([[1.0 + seed]])
    assert len(module._designs) == module.REMEMBERED


def test_without_cvxpy_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    with pytest.raises(ImportError, match=r"solver: expected cvxpy .*\(pip install 'sparsebandits\[design\]'"):
        exploratory_design(gaussian(3, 7, seed=100), "clarabel")
    assert exploratory_design(gaussian(3, 7, seed=100)).spanning


@pytest.mark.parametrize("apart", [1e-4, 1e-5, 3e-6, 1e-7, 1e-9, 1e-12, 0.0])
def test_columns_that_are_nearly_dependent(apart: float) -> None:
    """Rounding errors used to give NaN, failures of the solver and wrong certificates, from 1e-7 on."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        actions = rng.standard_normal((30, 4))
        actions[:, 3] = actions[:, 0] * (1.0 + apart * rng.standard_normal(30))
        design = exploratory_design(actions)
        assert design.rank == (4 if apart > 5e-6 else 3)
        assert 0.0 <= design.gap <= max(1e-4 * design.c_min, 1e-9)
        assert design.weights.sum() == pytest.approx(1.0)
    two = exploratory_design([[1.0, 1.0], [1.0, 1.0001]])
    assert two.c_min == pytest.approx(1e-8 / 8, rel=1e-3)
    with pytest.raises(ValueError, match="actions: expected features of magnitude 1e-100 or more"):
        exploratory_design([[1e-200, 0.0], [0.0, 1e-200]])
