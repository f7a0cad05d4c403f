"""A prior that is a table: what it keeps, what it refuses, and that making it again changes nothing."""

import numpy as np
import pytest

import sparsebandits as sb
from tests.statistical import assert_means_agree


def test_weights_are_divided_by_their_sum_once() -> None:
    rng = np.random.default_rng(0)
    for count in (1, 3, 1000):
        prior = sb.Hypotheses(rng.standard_normal((count, 2)), rng.random(count))
        assert prior.weights.sum() == pytest.approx(1.0, abs=1e-14)
        np.testing.assert_array_equal(sb.Hypotheses(prior.theta, prior.weights).weights, prior.weights)
    np.testing.assert_array_equal(sb.Hypotheses(np.eye(4)).weights, np.full(4, 0.25))
    assert (len(prior), prior.dimension) == (1000, 2)
    assert repr(prior) == "Hypotheses(1000 rows of 2 coefficients)"


def test_arrays_are_copied_and_cannot_be_changed() -> None:
    theta, weights = np.eye(2), np.ones(2)
    prior = sb.Hypotheses(theta, weights)
    theta[0, 0] = weights[0] = 9.0
    assert prior.theta[0, 0] == 1.0
    assert prior.weights[0] == 0.5
    with pytest.raises(ValueError, match="read-only"):
        prior.theta[0, 0] = 2.0


def test_draws_have_the_prior_probabilities() -> None:
    prior = sb.Hypotheses([[0.0], [1.0], [2.0]], [0.5, 0.0, 1.5])
    drawn = prior.sample(np.random.default_rng(0), 4000)[:, 0]
    assert not (drawn == 1.0).any()
    assert_means_agree(np.array([(drawn == 2.0).mean()]), np.array([0.75]), np.array([np.sqrt(0.75 * 0.25 / 4000)]))


@pytest.mark.parametrize(
    ("theta", "weights", "message"),
    [
        ([1.0, 2.0], None, "^theta: "),
        (np.empty((0, 2)), None, "^theta: expected at least one row"),
        ([[np.nan]], None, "^theta: "),
        ([[1.0], [2.0]], [1.0], "^weights: "),
        ([[1.0], [2.0]], [1.0, -0.5], "^weights: expected numbers of at least zero"),
        ([[1.0], [2.0]], [0.0, 0.0], "^weights: expected .* not all of them zero"),
        ([["a"]], None, "^theta: "),
    ],
)
def test_bad_input(theta: object, weights: object, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        sb.Hypotheses(theta, weights)
