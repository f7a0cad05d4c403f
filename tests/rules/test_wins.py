"""Under which draws an action is the best: the answer of the full search, whatever is remembered."""

import numpy as np
import pytest

import sparsebandits as sb
from sparsebandits.posteriors.draws import Draws
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import Reasons
from sparsebandits.rules.wins import LEADERS, WinsMemory


def problem(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Return actions and draws; the smallest bug that they would show is one draw counted for another action."""
    rng = np.random.default_rng(3)
    features, theta = rng.standard_normal((300, 6)), rng.standard_normal((400, 6))
    if kind == "copies":
        features = features[rng.integers(0, 40, size=300)]
    elif kind == "few actions":
        features = features[: LEADERS // 2]
    elif kind == "a rounding apart":
        features = np.repeat(features[:150], 2, axis=0)
        features[1::2] *= 1.0 + np.finfo(np.float64).eps
    elif kind == "zero coefficients":
        theta[:, 2:] *= rng.integers(0, 2, size=(400, 4))
    elif kind == "far apart":
        features[:, 0] *= 1e12
    return features, theta


@pytest.mark.parametrize(
    "kind", ["normal", "copies", "few actions", "a rounding apart", "zero coefficients", "far apart"]
)
@pytest.mark.parametrize("own", [True, False])
def test_the_probability_of_one_action_is_that_of_the_full_search(kind: str, own: bool) -> None:
    features, theta = problem(kind)
    features.flags.writeable = False
    weights = np.random.default_rng(4).dirichlet(np.ones(len(theta)))
    draws = Draws.trusted(theta, weights)
    posterior = sb.Conjugate(sb.GaussianPrior(), dimension=features.shape[1], seed=0)
    posterior.update(features[:5], np.arange(5.0))
    beliefs = Beliefs(posterior, features, wins=WinsMemory(features if own else None))
    values = theta @ features.T
    if kind == "zero coefficients":
        expected = beliefs.best_under(draws).row_probability()
    else:  # textbook: the largest of all products; of copies, each has the same share
        copies = (features[:, np.newaxis] == features).all(axis=2)
        sums = np.array([[float((row * one).sum()) for row in features] for one in theta])
        np.testing.assert_allclose(values, sums, rtol=1e-9, atol=1e-9 * np.abs(values).max())
        best = sums.argmax(axis=1)
        expected = np.array([weights[copies[row][best]].sum() / copies[row].sum() for row in range(len(features))])
    for row in np.random.default_rng(5).permutation(len(features)):
        same = np.flatnonzero((features == features[row]).all(axis=1))
        rows = same[np.argsort(same != row, kind="stable")]
        assert beliefs.probability_under(draws, rows) == pytest.approx(expected[row], abs=1e-12)


@pytest.mark.parametrize("kind", ["normal", "copies", "a rounding apart"])
def test_what_is_remembered_changes_no_bit(kind: str) -> None:
    features, theta = problem(kind)
    features.flags.writeable = False
    draws = Draws.trusted(theta, np.full(len(theta), 1.0 / len(theta)))
    posterior = sb.Conjugate(sb.GaussianPrior(), dimension=features.shape[1], seed=0)
    kept = Beliefs(posterior, features, wins=WinsMemory(features))
    for row in range(len(features)):
        rows = np.flatnonzero((features == features[row]).all(axis=1))
        fresh = Beliefs(posterior, features, wins=WinsMemory(features))
        assert kept.probability_under(draws, rows) == fresh.probability_under(draws, rows)


def test_the_probability_is_one_exactly_if_no_other_action_is_ever_the_best() -> None:
    features = np.vstack((np.ones((1, 3)), np.zeros((9, 3))))
    draws = Draws.trusted(np.abs(np.random.default_rng(0).standard_normal((7, 3))), np.full(7, 1.0 / 7.0))
    beliefs = Beliefs(sb.Conjugate(sb.GaussianPrior(), dimension=3, seed=0), features)
    assert beliefs.probability_under(draws, np.array([0])) == 1.0
    assert beliefs.probability_under(draws, np.arange(1, 10)) == 0.0


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("inflation", [1.0, 2.0])
def test_decisions_do_not_depend_on_what_is_remembered(intercept: bool, inflation: float) -> None:
    rng = np.random.default_rng(1)
    actions = rng.standard_normal((500, 8))[rng.integers(0, 400, size=500)]
    one, other = (sb.LinTS(actions, inflation=inflation, seed=2, intercept=intercept) for _ in range(2))
    for _ in range(60):
        decision = one.ask()
        other._wins = WinsMemory(other._own)
        same = other.ask()
        assert (decision.action, decision.probability) == (same.action, same.probability)
        np.testing.assert_array_equal(decision.reasons.score, same.reasons.score)
        reward = float(decision.features[0] + rng.standard_normal())
        one.tell(decision, reward)
        other.tell(same, reward)


@pytest.mark.parametrize("count", [5, 200, 256, 300, 2000])
@pytest.mark.parametrize("values", ["normal", "whole numbers", "equal"])
def test_the_leading_candidates_are_the_largest_values(count: int, values: str) -> None:
    rng = np.random.default_rng(count)
    score = np.ones(count)
    if values != "equal":
        score = rng.standard_normal(count) if values == "normal" else rng.integers(0, 50, count).astype(np.float64)
    ties = rng.standard_normal(count)
    found = Reasons.top(int(np.lexsort((-ties, -score))[0]), score, {"score": score}, np.ones(3), ties=ties)
    np.testing.assert_array_equal(found.candidates, np.lexsort((-ties, -score))[:8])
    np.testing.assert_array_equal(found.columns["score"], score[found.candidates])


def test_a_column_may_be_computed_for_the_candidates_alone() -> None:
    score = np.random.default_rng(0).standard_normal(300)
    found = Reasons.top(7, score, {"twice": lambda rows: 2.0 * score[rows]}, np.ones(3))
    assert found.candidates[0] == 7
    np.testing.assert_array_equal(found.columns["twice"], 2.0 * score[found.candidates])
