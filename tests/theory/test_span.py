"""Features that cannot be identified: directions that are orthogonal to all actions, and the number of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsebandits.theory import exploratory_design, unseen_features


@given(seed=st.integers(0, 10**6), rank=st.integers(0, 5), scale=st.sampled_from([1e-20, 1.0, 1e20]))
def test_directions_are_orthogonal_to_all_actions(seed: int, rank: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    actions = scale * rng.standard_normal((9, rank)) @ rng.standard_normal((rank, 5))
    found = unseen_features(actions)
    assert len(found) == 5 - exploratory_design(actions).rank == 5 - rank
    directions = np.array([one.direction(5) for one in found]).reshape(-1, 5)
    assert np.abs(actions @ directions.T).max(initial=0.0) <= 1e-9 * scale * np.abs(directions).max(initial=1.0)
    assert np.linalg.matrix_rank(directions) == len(found)


def test_combinations_by_name_of_column() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal((2, 20))
    third = 10 * rng.standard_normal(20)
    (one,) = unseen_features(np.column_stack((first, 2 * first - 3 * third, second, third)))
    assert (one.feature, one.others.tolist()) == (3, [0, 1])
    np.testing.assert_allclose(one.coefficients, [2 / 3, -1 / 3])
    nothing = unseen_features(np.zeros((3, 2)))
    assert [(one.feature, len(one.others)) for one in nothing] == [(0, 0), (1, 0)]
    few = unseen_features([[1.0, 1.0, 0.0]])
    assert [one.feature for one in few] == pytest.approx([1, 2])
    assert unseen_features(np.eye(3)) == ()
