"""The level of rewards: a single observation by its short form, and in a batch."""

import numpy as np
import pytest

from sparsebandits.model.features import Level


@pytest.mark.parametrize("weight", [None, 0.37])
def test_a_single_observation_is_that_of_a_batch(weight: float | None) -> None:
    """To the byte; planted: a level without the weight of the observation, which the case with weights sees."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        level = Level(rng.standard_normal(3), rng.standard_normal(), rng.uniform(0.1, 50.0))
        x, y = rng.standard_normal((2, 3)), rng.standard_normal(2)
        each = None if weight is None else np.array([weight, 0.8])
        rows, rewards, _ = level.contrasts(x, y, each)
        one = level.contrasts(x[:1], y[:1], None if each is None else each[:1])
        np.testing.assert_array_equal(one[0], rows[:1])
        np.testing.assert_array_equal(one[1], rewards[:1])
        after = one[2].contrasts(x[1:], y[1:], None if each is None else each[1:])
        np.testing.assert_allclose(after[0], rows[1:], rtol=1e-10)
        np.testing.assert_allclose(after[1], rewards[1:], rtol=1e-10)
