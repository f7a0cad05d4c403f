"""Algorithm 3 against plain loops, the mutual information against adaptive quadrature and closed forms."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from sparsebandits.arguments import FloatArray
from sparsebandits.posteriors import Draws
from sparsebandits.posteriors.kernels import panels
from sparsebandits.posteriors.kernels.panels import WIDTH, Grouped
from sparsebandits.posteriors.rows import Rows
from sparsebandits.rules.best import Best
from sparsebandits.rules.information import information
from sparsebandits.rules.mutual_information import information_of_groups, mutual_information
from sparsebandits.rules.optima import BLOCK, OptimaMemory, best_actions


def random_problem(
    seed: int, n_draws: int, n_actions: int, dimension: int, zeros: float = 0.0
) -> tuple[Draws, FloatArray]:
    """Return weighted draws, a share ``zeros`` of whose coefficients is zero, and actions."""
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.full(n_draws, 0.5))
    theta, actions = rng.standard_normal((n_draws, dimension)), rng.standard_normal((n_actions, dimension))
    return Draws(np.where(rng.random(theta.shape) < zeros, 0.0, theta), weights), actions


def shares(draws: Draws, actions: FloatArray) -> list[dict[int, float]]:
    """Return the share of each action in each draw, in loops: equal rows are their first one; ties go to the mean."""
    first = [next(b for b in range(len(actions)) if (actions[b] == actions[a]).all()) for a in range(len(actions))]
    mean = draws.weights @ draws.theta
    found = []
    for theta in draws.theta:
        predictions = {a: float(actions[a] @ theta) for a in sorted(set(first))}
        best = [a for a, value in predictions.items() if value >= max(predictions.values()) - 1e-10]
        means = {a: float(actions[a] @ mean) for a in best}
        best = [a for a, value in means.items() if value >= max(means.values()) - 1e-10]
        found.append({a: 1 / len(best) for a in best})
    return found


def brute_force(
    draws: Draws, actions: FloatArray
) -> tuple[list[float], list[float], list[float], dict[int, list[float]]]:
    """Algorithm 3 in loops over plain numbers; P(x* = ·) is that of the first of equal rows."""
    n_actions, dimension = actions.shape
    values = [max(float(action @ theta) for action in actions) for theta in draws.theta]
    weights, shared = draws.weights.tolist(), shares(draws, actions)
    probability = [sum(w * one.get(a, 0.0) for w, one in zip(weights, shared, strict=True)) for a in range(n_actions)]
    mean = [sum(w * theta[j] for w, theta in zip(weights, draws.theta.tolist(), strict=True)) for j in range(dimension)]
    conditional = {
        a: [
            sum(w * one.get(a, 0.0) * t[j] for w, one, t in zip(weights, shared, draws.theta.tolist(), strict=True))
            / probability[a]
            for j in range(dimension)
        ]
        for a in range(n_actions)
        if probability[a] > 0
    }
    best_value = sum(w * v for w, v in zip(weights, values, strict=True))
    regret, gain = [], []
    for action in actions.tolist():
        regret.append(best_value - sum(a * m for a, m in zip(action, mean, strict=True)))
        gain.append(
            sum(
                probability[g] * sum(a * (c - m) for a, c, m in zip(action, conditional[g], mean, strict=True)) ** 2
                for g in conditional
            )
        )
    return regret, gain, probability, conditional


@given(
    seed=st.integers(0, 2**32),
    n_draws=st.integers(1, 40),
    n_actions=st.integers(1, 12),
    dimension=st.integers(1, 7),
    zeros=st.sampled_from([0.0, 0.5, 0.9, 1.0]),
)
def test_algorithm_3_equals_loops(seed: int, n_draws: int, n_actions: int, dimension: int, zeros: float) -> None:
    draws, actions = random_problem(seed, n_draws, n_actions, dimension, zeros)
    known = information(draws, actions)
    regret, gain, probability, conditional = brute_force(draws, actions)
    np.testing.assert_allclose(known.expected_regret, regret, atol=1e-10)
    np.testing.assert_allclose(known.gain, gain, rtol=1e-5, atol=1e-10)  # kept predictions are in single precision
    np.testing.assert_allclose(known.best.variances(), gain, atol=1e-10)
    np.testing.assert_allclose(known.optimal_probability, probability, atol=1e-10)
    assert known.support.tolist() == sorted(conditional)
    for g, row in zip(known.support.tolist(), known.conditional_mean, strict=True):
        np.testing.assert_allclose(row, conditional[g], atol=1e-10)
    assert known.entropy == pytest.approx(-sum(p * math.log(p) for p in probability if p > 0), abs=1e-10)
    assert (known.expected_regret >= 0).all()


def test_more_draws_than_one_block() -> None:
    draws, actions = random_problem(0, 1000, 7, 3)
    optima = best_actions(draws.theta, actions)
    expected = (draws.theta @ actions.T).argmax(axis=1)
    np.testing.assert_array_equal(expected, optima.members[optima.cell])
    np.testing.assert_array_equal(optima.cell[optima.order], np.repeat(np.arange(7), np.diff(optima.starts)))
    rng = np.random.default_rng(0)
    assert [Best(optima, draws.weights).row_under(m, rng) for m in range(50)] == expected[:50].tolist()


def test_more_sets_of_ties_than_one_block() -> None:
    """Rows of zeros and ones tie in many ways; each set is that of the draw in a plain comparison."""
    rng = np.random.default_rng(6)
    actions = np.unique((rng.random((40, 11)) < 0.5) * 1.0, axis=0)
    theta = np.where(rng.random((3000, 11)) < 0.6, 0.0, rng.choice([-1.0, 1.0], size=(3000, 11)))
    optima = best_actions(theta, actions)
    assert np.count_nonzero(np.diff(optima.member_starts) > 1) > 2 * BLOCK
    values = theta @ actions.T
    for m in range(3000):
        cell = optima.cell[m]
        found = optima.members[optima.member_starts[cell] : optima.member_starts[cell + 1]]
        np.testing.assert_array_equal(found, np.flatnonzero(values[m] == values[m].max()))
    np.testing.assert_array_equal(optima.cell[optima.order], np.sort(optima.cell))


@pytest.mark.parametrize("n_actions", [1, WIDTH - 1, WIDTH, WIDTH + 1, 3 * WIDTH + 5])
def test_draws_with_many_zeros_give_what_matrix_products_give(n_actions: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the edges of panels, with groups that have lost all weight, in double and in single precision."""
    draws, actions = random_problem(1, 600, n_actions, 200, zeros=0.98)
    weights = np.where(np.arange(600) % 3 == 0, 0.0, draws.weights)
    draws = Draws(draws.theta, weights / weights.sum())
    optima = best_actions(draws.theta, actions)
    assert optima.rows is not None
    known = information(draws, actions, Best(optima, draws.weights))
    gain = known.best.variances()
    monkeypatch.setattr("sparsebandits.rules.best.MOST_PRODUCTS", 0)
    single = Best(optima, draws.weights).variances()
    monkeypatch.setattr("sparsebandits.posteriors.draws.MOSTLY_ZERO", 0.0)
    expected = information(draws, actions)
    assert expected.best.optima.rows is None
    np.testing.assert_array_equal(known.support, expected.support)
    for name in ("expected_regret", "optimal_probability", "conditional_mean", "mean"):
        np.testing.assert_allclose(getattr(known, name), getattr(expected, name), atol=1e-12)
    np.testing.assert_allclose(gain, expected.gain, atol=1e-12)
    np.testing.assert_allclose(single, expected.gain, rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(known.gain, expected.gain, rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(known.reward_variance, expected.reward_variance, rtol=1e-5)
    assert n_actions == 1 or ((single != gain) & (known.gain != gain)).any()


def test_moments_from_kept_predictions_where_actions_tie() -> None:
    """Cells that several groups share, cells without weight, a centre; against the products, which share no code."""
    rng = np.random.default_rng(4)
    theta = np.where(rng.random((400, 12)) < 0.15, rng.standard_normal((400, 12)), 0.0)
    actions = (rng.random((30, 12)) < 0.4).astype(np.float64)
    weights = np.where(np.arange(400) % 5 == 0, 0.0, rng.random(400))
    best = Best(best_actions(theta, actions), weights / weights.sum(), sampled=True)
    assert best.optima.kept is not None
    assert (best.share < 1).any()
    for centre in (None, actions[:7].mean(axis=0)):
        between, total = best.moments(centre)
        np.testing.assert_allclose(between, best.variances(centre), rtol=1e-5)
        np.testing.assert_allclose(total, best.reward_variances(centre), rtol=1e-5)


@pytest.mark.parametrize("most", [1, 3 * (WIDTH + 7)])
def test_moments_do_not_depend_on_how_many_sums_are_kept_at_a_time(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel as plain Python, over several parts of the actions and over all at once."""
    rng = np.random.default_rng(5)
    kept, weights = rng.standard_normal((20, 2 * WIDTH + 9)).astype(np.float32), np.full(20, 0.05, np.float32)
    cells = np.array([0, 6, 13, 20]), np.array([0, 1, 3, 3]), np.array([0, 1, 2]), np.array([1.0, 0.5, 0.5])
    given = kept, np.zeros(20, np.float32), weights, *cells, np.array([0.3, 0.35, 0.35]), weights @ kept
    whole = panels.moments_of_predictions.py_func(*given)
    monkeypatch.setattr(panels, "MOST_SUMS", most)
    for parts, one in zip(panels.moments_of_predictions.py_func(*given), whole, strict=True):
        np.testing.assert_array_equal(parts, one)
    np.testing.assert_allclose(panels.moments_of_predictions(*given), whole, rtol=1e-4)


@pytest.mark.parametrize(("scale", "level"), [(1e-30, 0.0), (1e30, 0.0), (1.0, 1e6), (1e-3, 1e6)])
def test_kept_predictions_of_any_size(scale: float, level: float) -> None:
    """Far beyond the range of single precision they are kept in units of their own; a common level costs no digits."""
    draws, actions = random_problem(0, 300, 10, 30, zeros=0.85)
    theta, features = np.column_stack((np.full(300, level), draws.theta * scale)), np.insert(actions, 0, 1.0, axis=1)
    best = Best(best_actions(theta, features), draws.weights)
    assert best.optima.kept is not None
    between, total = best.moments()
    rewards = (draws.theta @ actions.T) * scale
    mean = draws.weights @ rewards
    np.testing.assert_allclose(total, draws.weights @ (rewards - mean) ** 2, rtol=1e-4)
    groups = np.zeros((len(best.support), 300))
    which, weights, group = best.draws()
    groups[group, which] = weights
    apart = groups @ (rewards - mean) / best.probability[:, np.newaxis]
    np.testing.assert_allclose(between, best.probability @ (apart * apart), rtol=1e-4)


@pytest.mark.parametrize("n_actions", [3, 40, WIDTH, WIDTH + 37, 300])
def test_actions_that_never_differ_have_the_same_moments(n_actions: int) -> None:
    """Wherever they are: single precision would break a tie between them by their place in the table."""
    rng = np.random.default_rng(n_actions)
    theta = np.where(rng.random((500, 20)) < 0.1, rng.standard_normal((500, 20)), 0.0)
    theta[:, 0] = 0.0
    actions = np.repeat(rng.standard_normal((-(-n_actions // 3), 20)), 3, axis=0)[:n_actions]
    actions[:, 0] = rng.standard_normal(n_actions)
    order = rng.permutation(n_actions)
    best = Best(best_actions(theta, actions[order]), rng.dirichlet(np.ones(500)), sampled=True)
    assert best.optima.kept is not None
    for centre in (None, rng.standard_normal(20)):
        for found in best.moments(centre):
            by_place = np.empty(n_actions)
            by_place[order] = found
            for start in range(0, n_actions, 3):
                np.testing.assert_allclose(by_place[start : start + 3], by_place[start], rtol=1e-13, atol=1e-14)


def by_hand(best: Best, actions: np.ndarray, centre: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both variances of each action from the shares of the draws, in double precision."""
    draw, weights, group = best.draws()
    source = best.optima.source
    rewards = (source.dense if isinstance(source, Rows) else source)[draw] @ (actions - centre).T
    apart = rewards - weights @ rewards
    sums = np.zeros((len(best.support), len(actions)))
    np.add.at(sums, group, weights[:, np.newaxis] * apart)
    return np.asarray((sums**2 / best.probability[:, np.newaxis]).sum(axis=0)), np.asarray(weights @ apart**2)


@pytest.mark.parametrize("far", [1e3, 1e4, 1e5, 1e6, 1e8])
@pytest.mark.parametrize("weighted", [False, True])
def test_single_precision_does_not_show_far_from_the_origin(far: float, weighted: bool) -> None:
    """Actions and the centre far from zero, or one draw with nearly all of the weight: differences of large numbers."""
    rng = np.random.default_rng(8)
    theta = np.where(rng.random((400, 20)) < 0.1, rng.standard_normal((400, 20)), 0.0)
    actions = rng.standard_normal((60, 20)) + (0.0 if weighted else far)
    weights = np.append(np.full(399, 1 / (399 * far)), 1 - 1 / far) if weighted else rng.dirichlet(np.ones(400))
    best = Best(best_actions(theta, actions), weights)
    centre = actions[:9].mean(axis=0)
    for found, expected in zip(best.moments(centre), by_hand(best, actions, centre), strict=True):
        np.testing.assert_allclose(found, expected, rtol=3e-4)


def test_a_draw_on_which_all_actions_tie_goes_to_the_one_that_has_no_other() -> None:
    """Cells are then as many as groups, in another order."""
    theta, actions = np.zeros((3, 8)), np.zeros((3, 8))
    theta[0, 0] = theta[1, 1] = 1.0
    actions[0, :2], actions[1, 0], actions[2, 1] = 0.8, 1.0, 1.0
    known = information(Draws(theta, np.array([0.3, 0.3, 0.4])), actions)
    assert known.support_probability.tolist() == pytest.approx([0.4, 0.3, 0.3])
    np.testing.assert_allclose(known.conditional_mean[:, :2], [[0, 0], [1, 0], [0, 1]])
    np.testing.assert_allclose(known.best.variances(), [0.1536, 0.21, 0.21])
    np.testing.assert_allclose(known.gain, [0.1536, 0.21, 0.21], rtol=1e-5)


def test_groups_of_hardly_any_weight() -> None:
    theta, actions = np.eye(8)[:3], np.eye(8)[:3]
    best = Best(best_actions(theta, actions), np.array([0.5, 0.5, 1e-310]))
    assert all(np.isfinite(found).all() for found in best.moments())


def test_where_predictions_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    draws, actions = random_problem(0, 300, 10, 30, zeros=0.85)
    expected = information(draws, actions)
    monkeypatch.setattr("sparsebandits.rules.optima.MOST_KEPT", 300 * 10 - 1)
    found = information(draws, actions)
    assert expected.best.optima.kept is not None
    assert found.best.optima.kept is None
    np.testing.assert_allclose(found.gain, expected.gain, rtol=1e-5)
    np.testing.assert_allclose(found.reward_variance, expected.reward_variance, rtol=1e-5)
    np.testing.assert_array_equal(found.optimal_probability, expected.optimal_probability)


def test_single_precision_does_not_show_in_small_differences(monkeypatch: pytest.MonkeyPatch) -> None:
    """Predictions near a million that differ by a thousandth: single precision has seven digits."""
    rng = np.random.default_rng(0)
    theta = np.zeros((50, 20))
    theta[:, 0], theta[:, 1:3] = 1e6, 1e-3 * rng.standard_normal((50, 2))
    actions = np.column_stack((np.ones(10), rng.standard_normal((10, 19))))
    draws = Draws(theta, np.full(50, 1 / 50))
    expected = information(draws, actions).best.variances()
    assert 0 < expected.max() < 1e-5
    monkeypatch.setattr("sparsebandits.rules.best.MOST_PRODUCTS", 0)
    np.testing.assert_allclose(information(draws, actions).best.variances(), expected, rtol=1e-4)


@pytest.mark.parametrize("scale", [1e-20, 1e20])
def test_single_precision_in_any_unit(scale: float, monkeypatch: pytest.MonkeyPatch) -> None:
    draws, actions = random_problem(0, 300, 10, 30, zeros=0.85)
    expected = information(draws, actions * scale).best.variances()
    monkeypatch.setattr("sparsebandits.rules.best.MOST_PRODUCTS", 0)
    np.testing.assert_allclose(information(draws, actions * scale).best.variances(), expected, rtol=1e-5)


def test_single_precision_where_large_terms_cancel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two columns near a thousand whose coefficients are opposite: predictions are near zero, the terms are not."""
    rng = np.random.default_rng(0)
    theta = np.zeros((50, 20))
    theta[:, 0] = 1 + 0.1 * rng.standard_normal(50)
    theta[:, 1], theta[:, 2] = -theta[:, 0], 1e-2 * rng.standard_normal(50)
    actions = rng.standard_normal((10, 20))
    actions[:, 0] += 1e3
    actions[:, 1] = actions[:, 0] + 1e-3 * actions[:, 1]
    draws = Draws(theta, np.full(50, 1 / 50))
    expected = information(draws, actions).best.variances()
    assert expected.min() > 1e-5 * ((actions @ draws.mean()) ** 2).max()
    monkeypatch.setattr("sparsebandits.rules.best.MOST_PRODUCTS", 0)
    np.testing.assert_allclose(information(draws, actions).best.variances(), expected, rtol=1e-2)


def test_memory_is_by_identity() -> None:
    draws, actions = random_problem(0, 50, 7, 3)
    memory = OptimaMemory()
    first = memory.of(draws.theta, actions)
    assert memory.of(draws.theta, actions) is first
    assert memory.of(draws.theta.copy(), actions).actions is first.actions
    assert memory.of(draws.theta, actions.copy()) is not first


def test_one_action_best_everywhere_has_no_regret_and_nothing_to_learn() -> None:
    actions = np.array([[1.0, 0.1], [0.5, 0.1], [-1.0, 0.3]])
    theta = np.random.default_rng(0).uniform(1.0, 2.0, (100, 2)) * [1.0, 0.01]
    known = information(Draws(theta, np.full(100, 0.01)), actions)
    assert known.expected_regret[0] == 0.0
    assert (known.expected_regret[1:] > 0).all()
    assert not known.gain.any()
    assert known.entropy == 0.0
    assert not mutual_information(Draws(theta, np.full(100, 0.01)), actions, 1.0).any()


def test_of_actions_that_tie_the_best_is_the_one_with_the_largest_mean() -> None:
    actions = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    known = information(Draws(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([0.5, 0.5])), actions)
    np.testing.assert_array_equal(known.optimal_probability, [0.0, 0.5, 0.5])
    assert known.entropy == 0.0  # equal rows are one action


def test_actions_that_tie_in_the_mean_too_share_the_draw() -> None:
    theta = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    known = information(Draws(theta, np.array([0.25, 0.25, 0.5])), np.eye(2))
    np.testing.assert_allclose(known.optimal_probability, [0.5, 0.5])
    np.testing.assert_allclose(known.conditional_mean, [[0.5, 0.0], [0.0, 0.5]])


def tables(seed: int, kind: str, n_actions: int, dimension: int) -> FloatArray:
    """Actions that tie: one-hot, zeros and ones, with equal rows, far from zero; or that do not."""
    rng = np.random.default_rng(seed)
    if kind == "one-hot":
        return np.eye(dimension)[rng.integers(dimension, size=n_actions)]
    if kind == "zeros and ones":
        return (rng.random((n_actions, dimension)) < 0.5).astype(float)
    normal = rng.standard_normal((n_actions, dimension))
    return np.concatenate((normal, normal[: n_actions // 2])) + (1e6 if kind == "far from zero" else 0.0)


@given(
    seed=st.integers(0, 2**32),
    kind=st.sampled_from(["one-hot", "zeros and ones", "normal", "far from zero"]),
    n_actions=st.integers(2, 150),
    dimension=st.integers(1, 12),
    zeros=st.sampled_from([0.3, 0.8, 0.95, 1.0]),
)
def test_nothing_depends_on_the_order_of_the_rows(
    seed: int, kind: str, n_actions: int, dimension: int, zeros: float
) -> None:
    check_order(seed, kind, n_actions, dimension, zeros)


def check_order(seed: int, kind: str, n_actions: int, dimension: int, zeros: float) -> None:
    """P(optimal), gain, entropy, mutual information and Thompson's probabilities permute with the rows."""
    draws, _ = random_problem(seed, 60, 1, dimension, zeros)
    actions = tables(seed, kind, n_actions, dimension)
    rng = np.random.default_rng(seed + 1)
    order = rng.permutation(len(actions))
    one, other = information(draws, actions), information(draws, np.ascontiguousarray(actions[order]))
    atol = 1e-12 * max(1.0, np.abs(actions).max() ** 2)
    for name in ("expected_regret", "gain", "optimal_probability"):
        np.testing.assert_allclose(getattr(one, name)[order], getattr(other, name), atol=atol)
    assert one.optimal_probability.sum() == pytest.approx(1.0)
    assert one.entropy == pytest.approx(other.entropy, abs=1e-12)
    if kind != "far from zero":
        nats = mutual_information(draws, actions, 1.0)
        np.testing.assert_allclose(nats[order], mutual_information(draws, actions[order], 1.0), atol=1e-9)
    found = brute_force(draws, actions)
    sums = np.zeros(len(actions))
    np.add.at(sums, one.best.optima.actions.first[one.best.optima.actions.number], one.optimal_probability)
    if kind != "far from zero":  # the loops have a tolerance of their own
        np.testing.assert_allclose(sums, found[2], atol=1e-10)
        np.testing.assert_allclose(one.gain, found[1], rtol=1e-5, atol=1e-9)


def test_the_first_row_wins_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted bug: an argmax, as Algorithm 3 has it, makes the order of the rows matter."""

    def first(self: Best, of_cells: FloatArray, mean: FloatArray) -> Any:
        cell = np.arange(len(of_cells))
        return cell, self.optima.members[self.optima.member_starts[:-1]], np.ones(len(cell))

    monkeypatch.setattr(Best, "_resolved", first)
    with pytest.raises(AssertionError):
        check_order(1, "one-hot", 20, 6, 0.8)


def test_a_centre_is_subtracted_from_every_action() -> None:
    """With few and with many zeros, and where actions tie."""
    for zeros in (0.5, 0.97):
        draws, actions = random_problem(5, 300, 40, 30, zeros)
        centre = np.random.default_rng(1).standard_normal(30)
        with_centre = information(draws, actions, centre=centre)
        np.testing.assert_allclose(with_centre.gain, information(draws, actions - centre).gain, rtol=1e-5, atol=1e-12)


def test_underflown_weights_leave_no_nan() -> None:
    draws = Draws(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1.0, 0.0]))
    known = information(draws, np.eye(2))
    assert known.support.tolist() == [0]
    assert np.isfinite(known.conditional_mean).all()


@pytest.mark.parametrize("zeros", [0.3, 0.9])
def test_probabilities_of_almost_nothing_leave_no_nan(zeros: float) -> None:
    """A group whose weight is the smallest number there is, beside draws that tie."""
    draws, actions = random_problem(0, 200, 12, 30, zeros)
    theta = np.concatenate((draws.theta, np.zeros((5, 30))))
    weights = np.full(205, 5e-324)
    weights[0] = weights[200] = 0.5
    known = information(Draws(theta, weights), actions)
    assert np.isfinite(known.gain).all()
    assert np.isfinite(known.conditional_mean).all()
    assert len(known.support) > 2


def test_equal_rows_count_as_one_action_wherever_they_stand() -> None:
    """Matrix products round equal rows differently at the edges of blocks; 257 and 101 rows are such."""
    rng = np.random.default_rng(0)
    draws = Draws(rng.standard_normal((400, 5)), np.full(400, 1 / 400))
    same = information(draws, np.tile(rng.standard_normal(5), (257, 1)))
    assert same.support.tolist() == [0]
    assert same.entropy == 0.0
    actions = rng.standard_normal((101, 5))
    once, twice = information(draws, actions), information(draws, np.vstack((actions, actions)))
    np.testing.assert_array_equal(once.support, twice.support)
    np.testing.assert_allclose(once.gain, twice.gain[:101], rtol=1e-12)


# The mutual information


def by_quadrature(draws: Draws, actions: FloatArray, noise_variance: float) -> list[float]:
    """Σ_g P(g) KL(f_g ‖ f), each integral by adaptive quadrature."""
    best = (draws.theta @ actions.T).argmax(axis=1)
    deviation = math.sqrt(noise_variance)
    result = []
    for action in actions:
        means = draws.theta @ action
        total = 0.0
        for g in set(best.tolist()):
            members = best == g
            share = draws.weights[members].sum()

            def integrand(y: float, means: FloatArray, members: Any, share: float) -> float:
                density = draws.weights * stats.norm.pdf(y, means, deviation)
                inside = density[members].sum()
                return float(inside * math.log(inside / density.sum() / share)) if inside > 1e-300 else 0.0

            low, high = means.min() - 12 * deviation, means.max() + 12 * deviation
            points = np.unique(means).tolist()
            total += integrate.quad(
                integrand, low, high, (means, members, share), points=points, limit=400, epsabs=1e-11, epsrel=1e-10
            )[0]
        result.append(total)
    return result


@pytest.mark.parametrize("noise_variance", [0.05, 0.5, 3.0, 50.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_mutual_information_equals_quadrature(noise_variance: float, seed: int) -> None:
    draws, actions = random_problem(seed, 8, 4, 2)
    found = mutual_information(draws, actions, noise_variance)
    np.testing.assert_allclose(found, by_quadrature(draws, actions, noise_variance), atol=1e-8)


def test_mutual_information_leaves_out_draws_without_weight() -> None:
    draws, actions = random_problem(0, 8, 4, 2)
    weights = draws.weights.copy()
    weights[[1, 5]] = 0.0
    weights /= weights.sum()
    weights[2] = 5e-324
    weights /= weights.sum()
    alive = weights > 1e-300
    found = mutual_information(Draws(draws.theta, weights), actions, 0.7)
    expected = mutual_information(Draws(draws.theta[alive], weights[alive] / weights[alive].sum()), actions, 0.7)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("spread", [0.3, 5.0, 40.0])
def test_mutual_information_where_each_draw_is_a_group(spread: float) -> None:
    """A table of hypotheses, some of which predict the same: h(Y) − h(noise) by adaptive quadrature, written otherwise.

    Planted: a grid that ends four standard deviations from the outermost means, where 3e-5 of a density is missing.
    """
    rng = np.random.default_rng(3)
    theta, weights = spread * rng.standard_normal((6, 2)), rng.dirichlet(np.ones(6))
    theta[3:] = theta[:3] * [1.0, -1.0]  # the first action does not distinguish them
    actions = np.array([[1.0, 0.0], [0.6, 0.8]])
    found = information_of_groups(Draws(theta, weights), actions, 0.49, np.array([4, 0, 2, 5, 1, 3]))

    def surprise(y: float, means: FloatArray) -> float:
        density = float(weights @ stats.norm.pdf(y, means, 0.7))
        return -density * math.log(density) if density > 0.0 else 0.0

    for number, action in enumerate(actions):
        means = theta @ action
        ends = means.min() - 8.0, means.max() + 8.0
        entropy = integrate.quad(surprise, *ends, (means,), points=np.sort(means), limit=400, epsabs=1e-11)[0]
        assert found[number] == pytest.approx(entropy - 0.5 * math.log(2.0 * math.pi * math.e * 0.49), abs=1e-8)


def test_mutual_information_of_means_far_apart() -> None:
    """Two means a million deviations apart: the reward tells which it is, and the grid must not grow with the gap."""
    draws = Draws(np.array([[5e5], [-5e5], [5e5 + 0.5]]), np.array([0.3, 0.5, 0.2]))
    found = mutual_information(draws, np.array([[1.0], [-1.0]]), 1.0)
    np.testing.assert_allclose(found, math.log(2.0), atol=1e-9)


def test_mutual_information_of_a_coin() -> None:
    """θ = ±m with equal chance, actions ±1: a binary input in Gaussian noise, whose capacity integral is known."""
    for m in (0.1, 1.0, 6.0):
        draws = Draws(np.array([[m], [-m]]), np.array([0.5, 0.5]))
        found = mutual_information(draws, np.array([[1.0], [-1.0]]), 1.0)
        lost = integrate.quad(
            lambda y, m=m: stats.norm.pdf(y, m) * np.logaddexp(0.0, -2.0 * m * y),
            m - 12,
            m + 12,
            epsabs=1e-12,
        )[0]
        np.testing.assert_allclose(found, math.log(2.0) - lost, atol=1e-9)


def test_no_action_tells_more_than_there_is_to_know() -> None:
    draws, actions = random_problem(3, 60, 10, 3)
    for noise_variance in (1e-4, 1.0):
        found = mutual_information(draws, actions, noise_variance)
        assert (found <= information(draws, actions).entropy + 1e-9).all()
    assert mutual_information(draws, actions, 1e-8).max() == pytest.approx(
        information(draws, actions).entropy, abs=1e-6
    )


@given(seed=st.integers(0, 2**32), noise_variance=st.sampled_from([0.01, 0.3, 1.0, 10.0]))
def test_variance_is_bounded_by_mutual_information(seed: int, noise_variance: float) -> None:
    """v ≤ 2 (R² + σ²) I: a mean reward within ±R of its centre and noise σ² is (R² + σ²)-sub-Gaussian."""
    draws, actions = random_problem(seed, 20, 6, 2)
    predictions = draws.theta @ actions.T
    half_range = np.ptp(predictions, axis=0) / 2
    v = information(draws, actions).gain
    allowed = 2 * (half_range**2 + noise_variance) * mutual_information(draws, actions, noise_variance)
    assert (v <= allowed + 1e-10).all()


def test_the_constant_printed_in_the_paper_is_too_small() -> None:
    """The appendix has v ≤ (R² + 1) / 2 · I, four times less than sub-Gaussian noise gives; a coin breaks it."""
    m = 0.1
    draws, actions = Draws(np.array([[m], [-m]]), np.array([0.5, 0.5])), np.array([[1.0], [-1.0]])
    v = information(draws, actions).gain
    gain = mutual_information(draws, actions, 1.0)
    assert (v > (m**2 + 1) / 2 * gain).all()
    assert (v <= 2 * (m**2 + 1) * gain).all()


@pytest.mark.parametrize("centred", [False, True])
def test_predictions_of_some_draws_where_group_means_are_cheaper(
    centred: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gain is exact, and variances of rewards come from a quarter of 4,000 draws: √(2/1000) is 4.5%."""
    drawn, actions = random_problem(2, 4000, 20, 30, zeros=0.85)
    weights = 0.5 + np.random.default_rng(0).random(4000)
    draws = Draws(drawn.theta, weights / weights.sum())
    centre = actions[:5].mean(axis=0) if centred else None
    expected = information(draws, actions, centre=centre)
    assert expected.best.optima.kept is not None
    assert expected.best.optima.kept.every == 1
    monkeypatch.setattr("sparsebandits.rules.optima.FEW", 20_000)
    monkeypatch.setattr("sparsebandits.rules.optima.LEAST_KEPT", 1000)
    found = information(draws, actions, centre=centre)
    assert found.best.optima.kept is not None
    assert found.best.optima.kept.every == 4
    np.testing.assert_allclose(found.mean, expected.mean, atol=1e-12)
    np.testing.assert_allclose(found.expected_regret, expected.expected_regret, atol=1e-12)
    np.testing.assert_allclose(found.gain, expected.gain, rtol=1e-4)
    np.testing.assert_allclose(found.reward_variance, expected.reward_variance, rtol=0.25)
    assert found.reward_variance.sum() == pytest.approx(expected.reward_variance.sum(), rel=0.1)


def test_group_means_of_cells_with_columns_in_common(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where actions tie, a group has several cells: a column is then still one entry of its mean."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        theta = np.where(rng.random((40, 6)) < 0.4, rng.choice([-1.0, 1.0, 2.0], (40, 6)), 0.0)
        actions = (rng.random((12, 6)) < 0.5).astype(np.float64)
        best = Best(best_actions(Rows.of(theta), actions), rng.dirichlet(np.ones(40)), sampled=True)
        expected = best.variances()
        monkeypatch.setattr("sparsebandits.rules.best.MOST_PRODUCTS", 0)
        rows = best.compressed
        places = np.repeat(np.arange(len(rows)), rows.counts) * 6 + rows.columns
        assert len(np.unique(places)) == len(places)
        np.testing.assert_allclose(best.variances(), expected, rtol=1e-4, atol=1e-6)
        monkeypatch.undo()


def test_predictions_of_some_draws_do_not_depend_on_the_order_of_actions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sparsebandits.rules.optima.FEW", 40_000)
    drawn, actions = random_problem(2, 4000, 20, 30, zeros=0.85)
    draws, order = Draws(drawn.theta, np.full(4000, 1 / 4000)), np.random.default_rng(0).permutation(20)
    one, other = information(draws, actions), information(draws, actions[order])
    assert one.best.optima.kept is not None
    assert one.best.optima.kept.every == 2
    np.testing.assert_allclose(other.reward_variance, one.reward_variance[order], rtol=1e-6)
    np.testing.assert_allclose(other.gain, one.gain[order], rtol=1e-9)


def test_few_draws_are_not_made_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 300 actions, half a million predictions would be of 1,700 draws."""
    draws, actions = random_problem(2, 5000, 300, 20, zeros=0.85)
    known = best_actions(draws.theta, actions)
    assert known.kept is not None
    assert known.kept.every == 1


def test_groups_of_rows_that_share_their_entries() -> None:
    rows = Rows.of(np.array([[1.0, 2.0, 3.0], [0.0, 4.0, 0.0]])).take(np.array([0, 0, 1, 0, 0]))
    grouped = Grouped(rows, np.array([0, 1, 3, 2, 4]), np.array([0, 3, 5]), 3)
    sums = Rows(grouped.starts[:-1], grouped.starts[1:], grouped.columns, grouped.sums(np.ones(5)), 3)
    np.testing.assert_array_equal(sums.dense, [[3.0, 6.0, 9.0], [1.0, 6.0, 3.0]])
