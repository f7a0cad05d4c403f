import numpy as np
import pytest

from sparsebandits.model import Evidence


def test_one_at_a_time_equals_batch_equals_definition() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((50, 4)), rng.standard_normal(50)
    one, batch = Evidence(4), Evidence(4)
    for row, reward in zip(x, y, strict=True):
        one.add(row, reward)
    batch.add(x[:20], y[:20])
    batch.add(x[20:], y[20:])
    for evidence in (one, batch):
        np.testing.assert_allclose(evidence.gram, x.T @ x, rtol=1e-12)
        np.testing.assert_allclose(evidence.moment, x.T @ y, rtol=1e-12, atol=1e-12)
        assert evidence.square == pytest.approx(y @ y, rel=1e-12)
        assert evidence.count == 50


def test_sums_over_many_blocks_and_after_a_restore() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((1000, 3)), rng.standard_normal(1000)
    evidence = Evidence(3)
    for start in range(0, 700, 7):
        evidence.add(x[start : start + 7], y[start : start + 7])
    again = Evidence(3)
    again.restore(evidence.state())
    for one in (evidence, again):
        for row, reward in zip(x[700:], y[700:], strict=True):
            one.add(row, reward)
        np.testing.assert_allclose(one.gram, x.T @ x, rtol=1e-12)
        np.testing.assert_allclose(one.moment, x.T @ y, rtol=1e-12, atol=1e-12)
        assert one.square == pytest.approx(y @ y, rel=1e-12)
        assert one.count == 1000


def test_a_state_is_a_snapshot() -> None:
    evidence, other = Evidence(2), Evidence(2)
    evidence.add([1.0, 2.0], 3.0)
    state = evidence.state()
    other.restore(state)
    evidence.add([5.0, 5.0], 5.0)
    other.add([-1.0, 0.0], 1.0)
    np.testing.assert_array_equal(other.gram, [[2.0, 2.0], [2.0, 4.0]])
    np.testing.assert_array_equal(evidence.gram, [[26.0, 27.0], [27.0, 29.0]])


def test_shapes_never_grow() -> None:
    evidence = Evidence(3)
    for _ in range(100):
        evidence.add(np.ones(3), 1.0)
    assert evidence.gram.shape == (3, 3)
    assert evidence.moment.shape == (3,)


def test_restored_evidence_continues_to_the_bit() -> None:
    rng = np.random.default_rng(0)
    first, second = Evidence(3), Evidence(3)
    first.add(rng.standard_normal((7, 3)), rng.standard_normal(7))
    second.restore(first.state())
    x, y = rng.standard_normal(3), 0.3
    first.add(x, y)
    second.add(x, y)
    assert first.gram.tobytes() == second.gram.tobytes()
    assert (first.square, first.count) == (second.square, second.count)


def test_bad_input_changes_nothing() -> None:
    evidence = Evidence(2)
    for x, y in (([1.0], 1.0), ([1.0, np.nan], 1.0), ([1.0, 2.0], "high"), ([[1.0, 2.0]], [1.0, 2.0])):
        with pytest.raises((TypeError, ValueError), match=r"^[xy]: expected"):
            evidence.add(x, y)
    assert evidence.count == 0
    assert not evidence.gram.any()
