"""Successes and trials of distinct rows: sums, copies, and files."""

import numpy as np
import pytest

from sparsebandits.arguments import SaveFileError
from sparsebandits.model.counts import Counts


def test_sums_do_not_depend_on_batches_or_copies() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 3, size=(300, 2)).astype(float), rng.integers(0, 2, size=300).astype(float)
    whole, single = Counts(2), Counts(2)
    whole.absorb(x, y)
    for row, reward in zip(x, y, strict=True):
        single = single.copied()
        single.absorb(row[np.newaxis], np.array([reward]))
    assert len(whole.trials) == 9
    assert np.array_equal(whole.rows, single.rows)
    assert np.array_equal(whole.successes, single.successes)
    assert np.array_equal(whole.trials, single.trials)
    assert whole.trials.sum() == whole.count == 300
    assert whole.squares == pytest.approx((x * x).sum(axis=0))


def test_a_copy_that_was_given_up_leaves_no_trace() -> None:
    """Planted: places of rows are believed without a look at the row; the second row gets the counts of the first."""
    counts = Counts(1)
    counts.absorb(np.array([[1.0]]), np.array([1.0]))
    given_up = counts.copied()
    given_up.absorb(np.array([[2.0]]), np.array([1.0]))
    counts.absorb(np.array([[3.0]]), np.array([0.0]))
    counts.absorb(np.array([[2.0]]), np.array([0.0]))
    assert counts.rows.ravel().tolist() == [1.0, 3.0, 2.0]
    assert counts.successes.tolist() == [1.0, 0.0, 0.0]


def test_copies_may_all_take_in_more() -> None:
    """Planted: copies append to the same array; the row of one has the features of another's."""
    counts = Counts(1)
    counts.absorb(np.array([[1.0]]), np.array([1.0]))
    copies = [counts.copied() for _ in range(3)]
    for number, one in enumerate(copies):
        one.absorb(np.array([[2.0 + number], [9.0]]), np.array([1.0, 0.0]))
    for number, one in enumerate(copies):
        one.absorb(10.0 * number + np.arange(100.0)[:, np.newaxis], np.zeros(100))
        assert one.rows[:3].ravel().tolist() == [1.0, 2.0 + number, 9.0]
        assert len(np.unique(one.rows)) == len(one.rows)
        assert one.trials[1] == 1.0 + (number == 0)
    assert counts.rows.ravel().tolist() == [1.0]


def test_weights_and_zero() -> None:
    counts = Counts(1)
    counts.absorb(np.array([[0.0], [-0.0]]), np.array([3.0, 1.0]), np.array([0.5, 2.0]))
    assert (counts.successes.tolist(), counts.trials.tolist()) == ([3.5], [2.5])
    half = counts.scaled(0.5)
    assert (half.successes.tolist(), counts.successes.tolist()) == ([1.75], [3.5])


def test_files() -> None:
    counts, other = Counts(2), Counts(2)
    counts.absorb(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1.0, 0.0]))
    other.restore(counts.state())
    for one in (counts, other):
        one.absorb(np.array([[1.0, 0.0], [5.0, 5.0]]), np.array([1.0, 1.0]))
    assert np.array_equal(counts.rows, other.rows)
    assert np.array_equal(counts.successes, other.successes)
    broken = counts.state()
    broken["rows"] = np.zeros_like(broken["rows"])
    with pytest.raises(SaveFileError, match="different rows"):
        Counts(2).restore(broken)
