"""Contexts whose features are products of factors: all of it against a list of the features and plain NumPy."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.posteriors.draws import Draws
from sparsebandits.posteriors.rows import Rows
from sparsebandits.rules import ContextualInformationDirected
from sparsebandits.rules import products as module
from sparsebandits.rules.around import Around
from sparsebandits.rules.listed import Listed
from sparsebandits.rules.products import Products

M, K, P, Q = 7, 5, 4, 6


def products(seed: int, coarse: bool = False, origin: bool = True) -> Products:
    """Return contexts and items; coarse ones have factors −1, 0 and 1, so that actions tie."""
    rng = np.random.default_rng(seed)
    pairs = rng.permutation(P * Q)[:17]

    def factors(rows: int, columns: int) -> FloatArray:
        return rng.integers(-1, 2, (rows, columns)).astype(float) if coarse else rng.standard_normal((rows, columns))

    shift = rng.standard_normal(len(pairs)) if origin else None
    return Products(factors(M, P), factors(K, Q), pairs // Q, pairs % Q, shift)


def listed(actions: Products) -> Listed:
    """Return the same actions one by one."""
    rows = [
        [user[a] * item[b] for a, b in zip(actions.of_user, actions.of_item, strict=True)]
        for user in actions.users
        for item in actions.items
    ]
    origin = 0.0 if actions.origin is None else actions.origin
    return Listed(np.array(rows) - origin, np.arange(0, len(rows) + 1, K))


def draws_of(seed: int, coarse: bool = False, count: int = 60) -> FloatArray:
    rng = np.random.default_rng(1000 + seed)
    values = rng.integers(-2, 3, (count, 17)).astype(float) if coarse else rng.standard_normal((count, 17))
    return values * (rng.random((count, 17)) < 0.2)


def scores_of(actions: Products, theta: FloatArray) -> FloatArray:
    """Return ⟨φ, θ⟩ without the origin, shape (m, M, K)."""
    plain = listed(Products(actions.users, actions.items, actions.of_user, actions.of_item))
    return np.array([theta @ plain.features[s * K : (s + 1) * K].T for s in range(len(actions.users))])


def test_features_contexts_and_keys_are_those_of_the_list() -> None:
    for origin in (True, False):
        one = products(0, origin=origin)
        other = listed(one)
        np.testing.assert_array_equal(one.features, other.features)
        np.testing.assert_array_equal(one.starts, other.starts)
        np.testing.assert_array_equal(one.rows(np.array([3, 17])), other.features[[3, 17]])
        np.testing.assert_array_equal(one.bits(np.array([3, 17])), other.bits(np.array([3, 17])))
        np.testing.assert_array_equal(one.bits(np.arange(M * K)), other.bits(np.arange(M * K)))
        for s in range(M):
            block = other.features[s * K : (s + 1) * K]
            assert one.find(block) == other.find(block) == s
            assert one.find(block[:-1]) is None
            assert one.find(block + 1.0) is None
        np.testing.assert_array_equal(one.take([4, 1]).features, other.take([4, 1]).features)


def test_all_numbers_of_actions_are_made_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    one = products(1)
    monkeypatch.setattr(module, "BLOCK", 2 * K * 17)
    np.testing.assert_array_equal(one.bits(np.arange(M * K)), listed(one).bits(np.arange(M * K)))


def test_contexts_that_differ_in_nothing_that_matters_are_one() -> None:
    """A factor of the user that no feature has, or that is multiplied by zero for all items, does not matter."""
    users = np.array([[1.0, 5.0, 2.0], [1.0, 6.0, 3.0], [0.0, 5.0, 2.0], [-0.0, 7.0, 2.0]])
    actions = Products(users, np.array([[1.0, 0.0], [2.0, 0.0]]), np.array([0, 1]), np.array([0, 1]))
    for of in (actions, listed_pairs(actions)):
        found = Around(of, np.array([0.1, 0.2, 0.3, 0.4])).merged()
        np.testing.assert_allclose(found.probability, [0.3, 0.7])
        np.testing.assert_array_equal(found.features, [[1, 0], [2, 0], [0, 0], [0, 0]])


def listed_pairs(actions: Products) -> Listed:
    return Listed(actions.features, actions.starts)


@pytest.mark.parametrize("cells", [2_000_000, 1])
def test_quadratic_forms_are_those_of_the_rows(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: V_jk counted once where j and k differ."""
    monkeypatch.setattr(module, "CELLS", cells)
    for seed in range(4):
        actions = products(seed, coarse=seed % 2 == 0, origin=seed < 2)
        rng = np.random.default_rng(seed)
        half, centre = rng.standard_normal((17, 17)), rng.standard_normal(17)
        for c in (None, centre):
            apart = listed(actions).features - (0.0 if c is None else c)
            expected = [row @ (half @ half.T) @ row for row in apart]
            np.testing.assert_allclose(actions.forms(half @ half.T, c), expected, rtol=1e-10, atol=1e-9)


def test_expected_rewards_leave_out_what_all_actions_share() -> None:
    actions, mean = products(3), np.random.default_rng(0).standard_normal(17)
    assert actions.origin is not None
    np.testing.assert_allclose(actions.expected(mean) - actions.origin @ mean, listed(actions).expected(mean))


@pytest.mark.parametrize("kind", ["products", "listed"])
@pytest.mark.parametrize("coarse", [True, False])
@pytest.mark.parametrize("size", [1.0, 1e45, 1e-45])
def test_best_actions_and_sets_that_tie_are_those_of_plain_numpy(kind: str, coarse: bool, size: float) -> None:
    """Planted: no comparison in double precision; among coarse factors sets miss or have actions too many."""
    for seed in range(6):
        plain = products(seed, coarse, origin=False)
        actions = Products(plain.users * size, plain.items / size, plain.of_user, plain.of_item)
        theta = draws_of(seed, coarse)
        scores = scores_of(plain, theta)
        action, value, keys = (actions if kind == "products" else listed(actions)).best(Rows.of(theta))
        largest = scores.max(axis=2)
        inside = scores >= largest[..., np.newaxis] - 1e-9
        np.testing.assert_array_equal(action, inside.argmax(axis=2))
        np.testing.assert_allclose(value, largest, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(keys > 0, inside.sum(axis=2) > 1)
        sums = (inside * actions.addresses).sum(axis=2, dtype=np.uint64)
        np.testing.assert_array_equal(keys, np.where(keys > 0, sums, 0))


def test_actions_that_differ_by_less_than_single_precision_are_told_apart() -> None:
    users, items = np.array([[1.0], [-1.0]]), np.array([[1.0], [1.0 + 1e-10], [1.0 - 1e-10]])
    actions = Products(users, items, np.zeros(1, np.intp), np.zeros(1, np.intp))
    rows = Rows.of(np.array([[2.0], [-3.0]]))
    for of in (actions, listed_pairs(actions)):
        action, value, keys = of.best(rows)
        np.testing.assert_array_equal(action, [[1, 2], [2, 1]])
        np.testing.assert_allclose(value, [[2.0 + 2e-10, -3.0 + 3e-10], [-2.0 + 2e-10, 3.0 + 3e-10]], rtol=1e-15)
        assert not keys.any()


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("coarse", [True, False])
def test_regret_and_spread_are_those_of_the_list(dense: bool, coarse: bool) -> None:
    """Planted: values relative to the origin beside expected rewards that are not."""
    for seed in range(5):
        actions, theta = products(seed, coarse), draws_of(seed, coarse)
        weights = np.random.default_rng(seed).dirichlet(np.ones(len(theta)))
        draws = Draws(theta, weights) if dense else Draws.trusted(Rows.of(theta), weights)
        found = []
        for of in (actions, listed(actions)):
            coming, mean = Around(of, np.full(M, 1.0 / M)), weights @ theta
            optimal = coming.optimal(draws, mean)
            found.append((coming.regret(draws, of.expected(mean), optimal), coming.spread(draws, mean, optimal)))
        for one, other in zip(*found, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-11)


@pytest.mark.parametrize("coarse", [True, False])
def test_best_actions_of_contexts_that_stay_are_kept_bit_for_bit(coarse: bool) -> None:
    theta = draws_of(0, coarse)
    weights = np.full(len(theta), 1.0 / len(theta))
    draws, mean = Draws.trusted(Rows.of(theta), weights), weights @ theta
    whole = products(0, coarse)
    before: Around | None = None
    for chosen in ([0, 1, 2], [1, 2, 3], [2, 3, 4], [6], [6, 0, 4]):
        coming = Around(whole.take(chosen), np.full(len(chosen), 1.0 / len(chosen))).after(before)
        fresh = Around(whole.take(chosen), np.full(len(chosen), 1.0 / len(chosen)))
        for one, other in zip(coming.optimal(draws, mean), fresh.optimal(draws, mean), strict=True):
            np.testing.assert_array_equal(one, other)
        assert coming._before is None
        before = coming
    moved = Draws.trusted(Rows.of(draws_of(1, coarse)), weights)  # other draws: nothing is kept
    coming = Around(whole, np.full(M, 1.0 / M)).after(before)
    fresh = Around(whole, np.full(M, 1.0 / M))
    np.testing.assert_array_equal(coming.optimal(moved, mean).action, fresh.optimal(moved, mean).action)


def test_contexts_that_are_never_searched_keep_one_other_at_most() -> None:
    whole, theta = products(0), draws_of(0)
    first = Around(whole, np.full(M, 1.0 / M))
    first.optimal(Draws.trusted(Rows.of(theta), np.full(60, 1.0 / 60)), theta.mean(axis=0))
    last = first
    for _ in range(3):
        last = Around(whole, np.full(M, 1.0 / M)).after(last)
        assert last._before is first


def sparse_policy(intercept: bool, contexts: Any, features: Any, engine: str = "particles") -> sb.Policy:
    rng = np.random.default_rng(3)
    rule = ContextualInformationDirected(contexts=6)
    items = [{"x": a, "y": b} for a, b in rng.standard_normal((5, 2)).tolist()]
    given: dict[str, Any] = {"contexts": contexts, "features": features, "n_draws": 200, "engine": engine}
    return sb.policies.SparsePolicy(items, rule, intercept=intercept, seed=0, **given)


@pytest.mark.parametrize("intercept", [True, False])
def test_decisions_do_not_depend_on_what_is_kept(intercept: bool, tmp_path: Path) -> None:
    """The latest contexts, with what is kept of the last round and without."""
    rng = np.random.default_rng(5)
    one, other = (sparse_policy(intercept, ["a", "b", "c"], sb.features.cross()) for _ in range(2))
    users = rng.standard_normal((14, 3))
    users[9] = users[7]  # one of them comes again
    for t, user in enumerate(users):
        other._coming = None
        first, second = one.ask(context=user.tolist()), other.ask(context=user.tolist())
        assert (first.action, first.probability) == (second.action, second.probability)
        for name, column in first.reasons.columns.items():
            np.testing.assert_array_equal(column, second.reasons.columns[name])
        assert first.diagnostics == second.diagnostics
        reward = float(user[0] + rng.standard_normal())
        one.tell(first, reward)
        other.tell(second, reward)
        if t == 10:
            one.save(tmp_path / "policy")
            one = sb.load(tmp_path / "policy")


@pytest.mark.parametrize("engine", ["particles", "gibbs"])
@pytest.mark.parametrize("intercept", [True, False])
def test_decisions_are_those_of_a_list_of_the_same_features(intercept: bool, engine: str) -> None:
    rng = np.random.default_rng(6)
    table = rng.standard_normal((8, 3)) + 2.0
    users = [dict(zip("abc", row, strict=True)) for row in table.tolist()]
    one, other = (sparse_policy(intercept, users, sb.features.cross(), engine=engine) for _ in range(2))
    vars(other.actions)["factors"] = None  # as if a function made them
    for t in range(12):
        first, second = one.ask(context=users[t % 8]), other.ask(context=users[t % 8])
        assert first.action == second.action
        assert first.probability == pytest.approx(second.probability, abs=1e-6)
        for name, column in first.reasons.columns.items():
            np.testing.assert_allclose(column, second.reasons.columns[name], atol=1e-9, err_msg=name)
        reward = float(table[t % 8, 0] + rng.standard_normal())
        one.tell(first, reward)
        other.tell(second, reward)
    assert isinstance(one._around().actions, Products)  # type: ignore[union-attr]
    assert isinstance(other._around().actions, Listed)  # type: ignore[union-attr]
