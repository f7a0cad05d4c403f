import numpy as np
import pytest

from sparsebandits.posteriors import Draws


def test_moments_and_effective_size() -> None:
    draws = Draws(np.array([[1.0], [3.0]]), np.array([0.5, 0.5]))
    assert draws.mean() == [2.0]
    assert draws.effective_sample_size == 2.0
    assert Draws(np.array([[1.0], [3.0]]), np.array([1.0, 0.0])).effective_sample_size == 1.0
    assert len(draws) == 2


@pytest.mark.parametrize(
    ("theta", "weights", "message"),
    [
        ([[1.0, np.nan]], [1.0], "theta: expected finite"),
        ([1.0, 2.0], [0.5, 0.5], "theta: expected 2 dimension"),
        ([[1.0], [2.0]], [1.0], r"weights: expected shape \(2,\)"),
        ([[1.0], [2.0]], [0.7, 0.7], "weights: expected non-negative"),
        ([[1.0], [2.0]], [1.5, -0.5], "weights: expected non-negative"),
        (np.empty((0, 2)), [], "theta: expected at least one row"),
        ("theta", [1.0], "theta: expected an array"),
    ],
)
def test_what_are_not_draws(theta: object, weights: object, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        Draws(theta, weights)
