"""Compressed rows against dense arrays, which are the reference of everything that is computed from them."""

from typing import Any

import numpy as np
import pytest

from sparsebandits.arguments import FloatArray, SaveFileError, frozen
from sparsebandits.layouts import read
from sparsebandits.posteriors.cloud import Weights
from sparsebandits.posteriors.kernels.memory import correlations
from sparsebandits.posteriors.kernels.rows import second_moments, sizes_of_terms, slab_sums
from sparsebandits.posteriors.kernels.weighing import reweighted
from sparsebandits.posteriors.rows import ROWS, Rows


def sparse(seed: int = 0, size: int = 60, dimension: int = 9, zeros: float = 0.7) -> FloatArray:
    rng = np.random.default_rng(seed)
    theta = rng.standard_normal((size, dimension))
    theta[rng.random(theta.shape) < zeros] = 0.0
    theta[3] = 0.0  # an empty row
    return theta


def test_rows_are_the_draws() -> None:
    theta = sparse()
    rows = Rows.of(theta)
    np.testing.assert_array_equal(rows.dense, theta)
    assert len(rows) == 60
    np.testing.assert_array_equal(rows.counts, (theta != 0).sum(axis=1))
    picked = np.array([5, 5, 3, 0, 59, 5])
    np.testing.assert_array_equal(rows.take(picked).dense, theta[picked])
    assert rows.take(picked).values is rows.values, "copies share their entries"
    compact = rows.take(picked).compact()
    np.testing.assert_array_equal(compact.dense, theta[picked])
    assert len(compact.values) == compact.counts.sum()
    np.testing.assert_array_equal(Rows.joined([rows, compact]).dense, np.vstack((theta, theta[picked])))
    assert rows.distinct() == len(np.unique(theta, axis=0))
    assert rows.take(picked).distinct() == 4


def test_no_coefficient_at_all() -> None:
    rows = Rows.of(np.zeros((4, 3)))
    assert not rows.dense.any()
    assert not rows.mean(frozen(np.full(4, 0.25))).any()
    np.testing.assert_array_equal(Rows.restored(read(ROWS, rows.state()), 3).dense, np.zeros((4, 3)))


def test_sums_over_rows() -> None:
    theta, rng = sparse(1), np.random.default_rng(2)
    weights, x, reach = frozen(rng.dirichlet(np.ones(60))), rng.standard_normal(9), rng.random(9)
    rows = Rows.of(theta)
    np.testing.assert_allclose(rows.products(x), theta @ x, atol=1e-14)
    np.testing.assert_allclose(rows.mean(weights), weights @ theta, atol=1e-14)
    np.testing.assert_allclose(rows.of_columns(weights), weights @ (theta != 0), atol=1e-14)
    np.testing.assert_allclose(second_moments(rows.arrays, weights, 9), (theta.T * weights) @ theta, atol=1e-14)
    np.testing.assert_allclose(sizes_of_terms(rows.arrays, reach), np.abs(theta) @ reach, atol=1e-14)
    expected = (np.where(theta != 0, theta - x, 0.0) ** 2 / reach).sum(axis=1)
    np.testing.assert_allclose(slab_sums(rows.arrays, x, reach), expected, rtol=1e-12)
    (inside, mean), (of_inside, of_mean) = rows.moments()
    np.testing.assert_allclose(inside, (theta != 0).mean(axis=0))
    np.testing.assert_allclose(mean, theta.mean(axis=0), atol=1e-14)
    np.testing.assert_allclose(of_inside, (theta != 0).var(axis=0), atol=1e-14)
    np.testing.assert_allclose(of_mean, theta.var(axis=0), atol=1e-14)


def test_variances_of_nearly_constant_columns_lose_no_digits() -> None:
    theta = sparse(3)
    theta[:, 2] = 1e8 + 1e-2 * np.random.default_rng(0).standard_normal(60)
    found = Rows.of(theta).moments()[1][1]
    np.testing.assert_allclose(found, theta.var(axis=0), rtol=1e-5, atol=1e-14)


def test_rows_split_into_what_all_have_and_the_rest() -> None:
    theta = sparse(4)
    theta[:, 5] = 7.0 + 0.01 * np.random.default_rng(0).standard_normal(60)
    rows = Rows.of(theta)
    mean, values, rest = rows.apart()
    np.testing.assert_allclose(mean, theta.mean(axis=0))
    again = Rows(rows.begins, rows.ends, rows.columns, values, 9).dense - rest
    np.testing.assert_allclose(again, theta - mean, atol=1e-14)
    assert np.abs(values[rows.columns == 5]).max() < 0.1


def test_models_are_told_apart_by_sums() -> None:
    theta = sparse(5, size=300, dimension=5, zeros=0.5)
    address = np.random.default_rng(0).integers(0, 2**64, size=5, dtype=np.uint64)
    hashes, models = Rows.of(theta).sums(address), theta != 0
    np.testing.assert_array_equal(hashes, models @ address)
    assert len(np.unique(hashes)) == len(np.unique(models, axis=0))


def correlation(before: Any, after: Any) -> float:
    one, other = before - before.mean(axis=0), after - after.mean(axis=0)
    return float((one * other).sum() / np.sqrt((one * one).sum() * (other * other).sum()))


def test_memory_is_the_correlation_pooled_over_columns() -> None:
    before, units = sparse(6), np.linspace(0.5, 3.0, 9)
    after = np.where(np.random.default_rng(1).random(before.shape) < 0.3, sparse(7), before)
    found = correlations(Rows.of(before).arrays, Rows.of(after).arrays, units)
    assert found[0] == pytest.approx(correlation(before != 0, after != 0), abs=1e-12)
    assert found[1] == pytest.approx(correlation(before / units, after / units), abs=1e-12)
    assert correlations(Rows.of(before).arrays, Rows.of(before).arrays, units) == pytest.approx([1.0, 1.0])
    nothing = Rows.of(np.zeros((60, 9))).arrays
    assert not correlations(nothing, nothing, units).any()


def test_rows_come_back_from_a_state() -> None:
    rows = Rows.of(sparse(8)).take(np.array([4, 4, 0, 3, 9]))
    again = Rows.restored(read(ROWS, rows.state()), 9)
    np.testing.assert_array_equal(again.dense, rows.dense)


@pytest.mark.parametrize("damage", ["columns descend", "column twice", "column too large", "zero", "one too many"])
def test_damaged_rows_are_refused(damage: str) -> None:
    state = Rows.of(sparse(9)).state()
    long = int(np.flatnonzero(state["counts"] > 1)[0])
    at = int(state["counts"][:long].sum())
    state = {name: value.copy() for name, value in state.items()}
    if damage == "columns descend":
        state["columns"][[at, at + 1]] = state["columns"][[at + 1, at]]
    elif damage == "column twice":
        state["columns"][at + 1] = state["columns"][at]
    elif damage == "column too large":
        state["columns"][at + int(state["counts"][long]) - 1] = 9
    elif damage == "zero":
        state["values"][at] = 0.0
    else:
        state["counts"][0] += 1
    with pytest.raises(SaveFileError, match="rows"):
        Rows.restored(read(ROWS, state), 9)


@pytest.mark.parametrize("level", [0.0, -1e5, 1e5])
def test_weights_in_one_pass_are_the_plain_ones(level: float) -> None:
    rng = np.random.default_rng(0)
    logs, predictions, reward, part, variance = (
        level + rng.standard_normal(200),
        rng.standard_normal(200),
        0.7,
        0.4,
        2.0,
    )
    found = Weights(*reweighted(logs, predictions, reward, -0.5 * part / variance))
    likelihood = -0.5 * ((reward - predictions) ** 2 - reward**2) / variance
    expected = Weights.of(logs + part * likelihood)
    np.testing.assert_allclose(found.logs, expected.logs, rtol=1e-12)
    np.testing.assert_allclose(found.normalised, expected.normalised, rtol=1e-9)
    assert found.log_total == pytest.approx(expected.log_total, rel=1e-12)
    assert found.effective_size == pytest.approx(expected.effective_size, rel=1e-9)
    wrong = Weights.of(logs + likelihood)  # planted: the whole observation
    assert not np.allclose(found.normalised, wrong.normalised, rtol=1e-3)
