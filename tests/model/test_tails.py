"""Rewards far out of line weigh less: against the definition in a loop, and what it does to a posterior."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsebandits as sb
from sparsebandits.arguments import ArgumentError, FloatArray
from sparsebandits.model.tails import AGAIN, LEAST, Spread


def slow(before: FloatArray, y: FloatArray, limit: float) -> list[float]:
    """Each reward against all others, one by one."""
    everything, weights = np.concatenate((before, y)), []
    for i in range(len(before), len(everything)):
        others = np.delete(everything, i)
        if len(others) < LEAST:
            weights.append(1.0)
            continue
        far = abs(everything[i] - others.mean()) > limit * others.std()
        above = others[(others - others.mean()) * (everything[i] - others.mean()) > 0]  # on the same side
        before_it = np.abs(above - others.mean()).max(initial=0.0)
        far = far and abs(everything[i] - others.mean()) > AGAIN * before_it
        weights.append((limit * others.std() / abs(everything[i] - others.mean())) ** 2 if far else 1.0)
    return weights


@given(
    seed=st.integers(0, 2**32), before=st.integers(0, 40), n=st.integers(1, 30), far=st.sampled_from([0.0, 8.0, 1e4])
)
def test_weights_are_their_definition(seed: int, before: int, n: int, far: float) -> None:
    rng = np.random.default_rng(seed)
    past, y = 50.0 + rng.standard_normal(before), 50.0 + rng.standard_normal(n)
    y[rng.integers(n)] += far
    spread = Spread()
    for some in np.array_split(past, 3):
        spread = spread.after(some)
    np.testing.assert_allclose(spread.weights(y, 5.0), slow(past, y, 5.0), rtol=1e-5)


def test_what_happens_twice_is_believed_and_equal_rewards_are_no_measure() -> None:
    spread = Spread().after(np.zeros(50) + 0.01 * np.random.default_rng(0).standard_normal(50))
    assert spread.weights(np.array([7.0]), 5.0)[0] < 1e-3
    assert spread.after(np.array([7.0])).weights(np.array([7.0, 9.0]), 5.0).tolist() == [1.0, 1.0]
    assert spread.weights(np.array([7.0, 7.1]), 5.0).tolist() == [1.0, 1.0]
    assert spread.after(np.array([-7.0])).weights(np.array([7.0]), 5.0)[0] < 0.6
    assert (Spread().after(np.full(50, 3.0)).weights(np.array([4.0]), 5.0) == 1.0).all()
    assert (Spread().weights(np.append(np.zeros(9), 1e6), 5.0) == 1.0).all()  # too few to tell


def test_one_out_of_line_does_not_hide_the_next() -> None:
    ordinary = np.random.default_rng(0).standard_normal(50)
    first = np.array([100.0])
    for before in (Spread().after(ordinary), Spread()):
        batch = first if before.count else np.append(ordinary, first)
        weights = before.weights(batch, 5.0)
        hidden, seen = before.after(batch), before.after(batch, weights)
        assert hidden.weights(np.array([-100.0]), 5.0)[0] > 0.1
        assert seen.weights(np.array([-100.0]), 5.0)[0] < 0.01
        assert seen.weights(np.array([110.0]), 5.0)[0] == 1.0, "what has happened before is believed"


@pytest.mark.parametrize("intercept", [False, True])
def test_a_posterior_of_such_rewards_is_that_of_the_weights(intercept: bool) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((40, 3))
    y = x @ [1.0, 0.0, -1.0] + rng.standard_normal(40)
    y[25] += 100.0
    one = sb.Conjugate(sb.GaussianPrior(1.0), 3, rewards=sb.Gaussian(1.0, intercept, tails=5.0))
    other = sb.Conjugate(sb.GaussianPrior(1.0), 3, rewards=sb.Gaussian(1.0, intercept))
    spread = Spread()
    for row in range(40):
        weight = spread.weights(y[row : row + 1], 5.0)
        spread = spread.after(y[row : row + 1], weight)
        one.update(x[row], y[row])
        other.update(x[row], y[row], weight)
    np.testing.assert_allclose(one.mean(), other.mean(), rtol=1e-12)
    believing = sb.Conjugate(sb.GaussianPrior(1.0), 3, rewards=sb.Gaussian(1.0, intercept))
    believing.update(x, y)
    assert np.abs(believing.mean() - one.mean()).max() > 1.0
    np.testing.assert_allclose(one.mean(), [1.0, 0.0, -1.0], atol=0.6)


def test_rare_successes_are_not_lost() -> None:
    """Clicks of one in a hundred: the first is out of line, and no other."""
    rng = np.random.default_rng(0)
    clicks, spread, weights = (rng.random(3000) < 0.01).astype(float), Spread(), []
    for click in clicks:
        weight = spread.weights(np.array([click]), 5.0)
        weights.append(float(weight[0]))
        spread = spread.after(np.array([click]), weight)
    assert np.sum(np.array(weights)[clicks == 1] < 1) <= 1


def test_policies_that_learn_the_noise_have_tails_unless_rewards_are_given() -> None:
    assert sb.SparseIDS(np.eye(3), n_draws=50).posterior.rewards.tails == 5.0
    assert sb.SparseIDS(np.eye(3), n_draws=50, noise_variance=1.0).posterior.rewards.tails is None
    assert sb.SparseIDS(np.eye(3), n_draws=50, rewards=sb.Gaussian()).posterior.rewards.tails is None
    with pytest.raises(ArgumentError, match=r"^tails: expected"):
        sb.Gaussian(tails=-1.0)


@pytest.mark.parametrize("size", [1e3, 1e9, 1e10, 1e13, 1e20, 1e45])
def test_one_typing_error_of_any_size_counts_as_one_at_the_limit(size: float) -> None:
    """From 1e10 on, rounding hid the others, and the reward was believed."""
    rng = np.random.default_rng(0)
    y = 61.0 + rng.standard_normal(30)
    spread = Spread().after(y)
    weight = spread.weights(np.array([size]), 5.0)[0]
    assert np.sqrt(weight) * size == pytest.approx(5.0 * y.std(), rel=0.1)
    among = Spread().weights(np.append(y, size), 5.0)
    assert among[-1] == pytest.approx(weight, rel=1e-6)
    assert (among[:-1] == 1.0).all()


def test_a_typing_error_leaves_the_predictions_where_they_were() -> None:
    rng = np.random.default_rng(0)
    actions = rng.standard_normal((20, 4))
    for wrong in (1e4, 1e10, 1e15, 1e20):
        policy = sb.SparseIDS(actions, n_draws=500, seed=0)
        for _ in range(25):
            decision = policy.ask()
            policy.tell(decision, 61.0 + 2.0 * actions[decision.action, 0] + 0.5 * rng.standard_normal())
        policy.tell(policy.ask(), wrong)
        assert (np.abs(policy.predict().mean - 61.0) < 8.0).all()
