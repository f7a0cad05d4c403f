"""Users and items: contexts, their products with items, and rewards from a sparse θ* on the products."""

import math
import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import sparsebandits as sb
from sparsebandits.environments.contexts import Contexts, products
from sparsebandits.randomness import NOISE_STREAM, IndexedNormals, child
from tests.statistical import assert_means_agree

GAUSSIAN = sb.environments.ContextualActions(
    user_features=4, item_features=3, n_items=6, sparsity=5, noise_variance=0.5
)
CLICKS = replace(GAUSSIAN, rewards="logistic", noise_variance=None, base_rate=0.3, signal=1.5)
KINDS = {"gaussian": GAUSSIAN, "logistic": CLICKS}
pytestmark = pytest.mark.filterwarnings("ignore:all rewards so far are 0 or 1")  # linear policies are quick
every_kind = pytest.mark.parametrize("kind", KINDS)
linear_policy = sb.maker(sb.LinTS, rewards=sb.Gaussian(0.5))


def slow_means(instance: sb.environments.ContextualInstance, kind: str, t: int) -> list[float]:
    """Mean rewards of a round, product by product."""
    user, items, names = instance.contexts.row(t), instance.contexts.items, instance.contexts.feature_names
    coefficient = dict(zip(names, instance.theta.tolist(), strict=True))
    etas = [
        sum(
            coefficient[f"user feature {j} × item feature {k}"] * float(user[j]) * float(item[k])
            for j in range(4)
            for k in range(3)
        )
        for item in items
    ]
    if kind == "gaussian":
        return etas
    alpha = math.log(0.3 / 0.7)
    return [1.0 / (1.0 + math.exp(-alpha - eta)) for eta in etas]


def test_the_default_has_200_products_of_which_8_matter() -> None:
    instance = sb.environments.ContextualActions().sample(0)
    assert instance.actions.shape == instance.offered(3).shape == (30, 200)
    assert np.count_nonzero(instance.theta) == 8
    assert np.linalg.norm(instance.theta) == pytest.approx(1.0)
    assert instance.rewards == sb.Gaussian(1.0)
    assert (instance.contexts.row(0).shape, instance.contexts.items.shape) == ((20,), (30, 10))
    assert len(instance.contexts.names) == 20
    assert len(set(instance.contexts.feature_names)) == 200


@every_kind
def test_actions_are_the_products_of_user_and_item(kind: str) -> None:
    instance = KINDS[kind].sample(1)
    for t in (0, 5):
        user, items = instance.contexts.row(t), instance.contexts.items
        expected = [[item[k] * user[j] for k in range(3) for j in range(4)] for item in items]
        np.testing.assert_array_equal(instance.offered(t), expected)
        np.testing.assert_array_equal(instance.offered(t), [np.kron(item, user) for item in items])
    np.testing.assert_array_equal(instance.offered(0), instance.actions)


@every_kind
def test_means_and_regret_are_those_of_a_slow_computation(kind: str) -> None:
    instance = KINDS[kind].sample(2)
    best = set()
    for t in (0, 3, 4, 11):
        means = slow_means(instance, kind, t)
        best.add(int(np.argmax(means)))
        np.testing.assert_allclose(instance.at(t).means, means, atol=1e-12)
        for row in range(6):
            found = instance.outcome(t, row, instance.offered(t)[row])
            assert found.mean == pytest.approx(means[row])
            assert found.regret == pytest.approx(max(means) - means[row], abs=1e-12)
            assert found.noise_index == row
    assert len(best) > 1, "the best item depends on the user"
    with pytest.raises(ValueError, match="action: expected a row of the actions, got a decision without one"):
        instance.outcome(0, -1, np.ones(12))


@every_kind
def test_a_user_depends_on_seed_and_round_alone(kind: str) -> None:
    one, again, other = (KINDS[kind].sample(seed) for seed in (0, 0, 1))
    users = {t: one.contexts.row(t) for t in range(5)}
    for t in (4, 2, 0, 3, 1):
        assert again.offered(t).tobytes() == one.offered(t).tobytes()
        assert again.contexts.row(t).tobytes() == users[t].tobytes()
        assert other.contexts.row(t).tobytes() != users[t].tobytes()
    assert len({user.tobytes() for user in users.values()}) == 5
    assert one.contexts.items.tobytes() == again.contexts.items.tobytes() != other.contexts.items.tobytes()
    assert one.theta.tobytes() == again.theta.tobytes() != other.theta.tobytes()
    np.testing.assert_array_equal(one.contexts.rows(3, first=1), [users[t] for t in (1, 2, 3)])


def test_a_fresh_seed_is_drawn_once() -> None:
    instance = GAUSSIAN.sample(None)
    first = instance.offered(1).tobytes()
    instance.offered(2)
    assert instance.offered(1).tobytes() == first


def test_both_kinds_of_rewards_have_the_same_users_items_and_direction() -> None:
    gaussian, clicks = GAUSSIAN.sample(3), CLICKS.sample(3)
    assert gaussian.offered(4).tobytes() == clicks.offered(4).tobytes()
    np.testing.assert_allclose(1.5 * gaussian.theta, clicks.theta)
    assert clicks.rewards == sb.Bernoulli(intercept=True)
    assert math.isnan(clicks.noise_variance)


@every_kind
def test_policies_of_a_trial_see_the_same_users_and_noise(kind: str) -> None:
    rounds, noise = 30, IndexedNormals(child(1, NOISE_STREAM))
    offers: list[bytes] = []
    for policy in (linear_policy, sb.maker(sb.LinUCB, rewards=sb.Gaussian(0.5))):
        instance = KINDS[kind].sample(0)
        trace = sb.simulate(policy, instance, rounds, seed=1)
        offers.append(np.array([instance.offered(t) for t in range(rounds)]).tobytes())
        means = np.array([slow_means(instance, kind, t) for t in range(rounds)])
        chosen = means[np.arange(rounds), trace.actions]
        np.testing.assert_allclose(trace.regret, np.cumsum(means.max(axis=1) - chosen), atol=1e-10)
        normals = np.array([noise(t, int(a)) for t, a in enumerate(trace.actions)])
        if kind == "gaussian":
            np.testing.assert_allclose(trace.rewards - chosen, np.sqrt(0.5) * normals, atol=1e-12)
        else:
            uniform = [0.5 * math.erfc(-normal / math.sqrt(2.0)) for normal in normals]
            np.testing.assert_array_equal(trace.rewards, (np.array(uniform) < chosen).astype(float))
    assert offers[0] == offers[1]


def test_users_are_independent_draws_of_the_stated_distribution() -> None:
    rows = GAUSSIAN.sample(0).contexts.rows(6000)
    expected = 0.6 ** np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    assert_means_agree(rows.T @ rows / len(rows), expected, np.sqrt((1 + expected**2) / len(rows)))
    follows = (rows[1:] * rows[:-1]).mean(axis=1)  # zero on average if a user is independent of the one before
    assert_means_agree(follows.mean(), np.zeros(()), follows.std() / np.sqrt(len(follows)))
    with pytest.raises(AssertionError, match="z-score"):  # planted: features that are not correlated
        assert_means_agree(rows.T @ rows / len(rows), np.eye(4), np.sqrt((1 + np.eye(4)) / len(rows)))


@every_kind
def test_the_signal_is_the_spread_over_users_and_items(kind: str) -> None:
    environment = replace(KINDS[kind], n_items=1)
    etas = np.array([(one := environment.sample(seed)).actions[0] @ one.theta for seed in range(3000)])
    expected = np.asarray(environment.signal**2)
    assert_means_agree((etas**2).mean(), expected, (etas**2).std() / np.sqrt(len(etas)))


@pytest.mark.parametrize("rate", [0.02, 0.3, 0.9])
def test_the_base_rate_is_the_share_of_ones_without_effects(rate: float) -> None:
    """Effects of size zero leave the base rate, in means and in the rewards that are drawn."""
    instance = replace(CLICKS, base_rate=rate, signal=1e-9).sample(0)
    np.testing.assert_allclose(instance.at(3).means, rate, atol=1e-7)
    noise = IndexedNormals(0)
    drawn = [instance.outcome(t, 0, instance.actions[0]).reward(t, instance.rewards, noise) for t in range(2000)]
    assert set(drawn) == {0.0, 1.0}
    assert_means_agree(
        np.asarray(np.mean(drawn)), np.asarray(rate), np.asarray(np.sqrt(rate * (1 - rate) / len(drawn)))
    )


def test_memory_does_not_grow_with_the_rounds() -> None:
    """200 rounds of 100 actions with 2,000 features would take 320 MB; one round takes 1.6 MB, and a few copies."""
    instance = sb.environments.ContextualActions(user_features=100, item_features=20, n_items=100).sample(0)
    tracemalloc.start()
    for t in range(200):
        instance.offered(t)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20e6


@pytest.mark.parametrize("policy", [linear_policy, sb.rivals.LassoGreedy])
def test_linear_policies_learn_which_item_suits_whom(policy: Any) -> None:
    """In the last third, less than half the regret of guessing; a policy that does not learn has all of it."""
    instance = replace(GAUSSIAN, noise_variance=0.1).sample(4)
    regret = np.diff(sb.simulate(policy, instance, 150, seed=0).regret)[100:].mean()
    guessing = np.mean([instance.at(t).gaps.mean() for t in range(100, 150)])
    assert regret < 0.5 * guessing


def test_what_it_says_of_itself() -> None:
    text = "Instance(6 actions of 12 features of which 5 matter, noise variance 0.5), a new context in each round)"
    instance = GAUSSIAN.sample(0)
    instance.offered(3)
    assert repr(instance) == f"ContextualInstance({text}"
    assert repr(instance.contexts) == "Contexts(4 features of a context, 6 items)"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sparsity": 13}, r"^sparsity: expected at most user_features × item_features \(12\), got 13"),
        ({"rewards": "poisson"}, r"^rewards: expected one of 'gaussian', 'logistic', got 'poisson'"),
        ({"base_rate": 0.1}, r"^base_rate: expected none, since rewards are gaussian, got 0.1"),
        ({"rewards": "logistic"}, r"^noise_variance: expected none, since rewards are logistic, got 0.5"),
        ({"noise_variance": 0.0}, r"^noise_variance: expected a positive number"),
        ({"n_items": 0}, r"^n_items: expected a whole number of at least 1, got 0"),
        ({"user_features": 2.5}, r"^user_features: expected a whole number, got 2.5"),
        ({"correlation": 1.5}, r"^correlation: expected a number from -1 to 1, got 1.5"),
        ({"signal": -1.0}, r"^signal: expected a positive number"),
        (
            {"rewards": "logistic", "noise_variance": None, "base_rate": 1.0},
            r"^base_rate: expected a number between 0 and 1, got 1.0",
        ),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        replace(GAUSSIAN, **arguments)


def test_contexts_of_your_own() -> None:
    contexts = Contexts(lambda t: np.array([1.0, t]), ["constant", "time"], np.eye(3), ["a", "b", "c"])
    assert contexts.item_features == ("item feature 0", "item feature 1", "item feature 2")
    np.testing.assert_array_equal(contexts.actions(5)[1], [0.0, 0.0, 1.0, 5.0, 0.0, 0.0])
    np.testing.assert_array_equal(products(np.array([1.0, 2.0]), np.array([[3.0]])), [[3.0, 6.0]])
    for wrong, message in (
        (lambda: contexts.row(-1), r"^round_number: expected a whole number of at least 0"),
        (lambda: contexts.rows(0), r"^rounds: expected a whole number of at least 1"),
        (lambda: contexts.rows(2, first=-1), r"^first: expected a whole number of at least 0"),
        (lambda: Contexts(lambda t: np.ones(2), ["a"], np.eye(2)).row(0), r"^context: expected shape \(1,\)"),
        (lambda: Contexts(lambda t: np.ones(1), ["a"], np.eye(2), ["b"]), r"^item_names: expected 2 names, got 1"),
    ):
        with pytest.raises(ValueError, match=message):
            wrong()
