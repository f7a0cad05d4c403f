"""Feedback graphs: explorability in closed form and with its certificate, independence numbers by brute force."""

from itertools import combinations

import numpy as np
import pytest

from sparsebandits.arguments import ArgumentError, FloatArray
from sparsebandits.theory import explorability, independence_number


def theorem_5_3(k: int) -> FloatArray:
    """Every arm shows itself, and the last one shows all."""
    graph = np.eye(k)
    graph[-1] = 1.0
    return graph


def ring(k: int) -> FloatArray:
    return np.eye(k) + np.roll(np.eye(k), 1, axis=1) + np.roll(np.eye(k), -1, axis=1)


def test_closed_forms() -> None:
    """Bandit feedback 1/k, full feedback 1, a ring 3/k, and one arm that shows all."""
    for k in (1, 2, 5, 12):
        assert explorability(np.eye(k)).value == pytest.approx(1.0 / k, rel=1e-9)
        assert explorability(np.ones((k, k))).value == pytest.approx(1.0)
        assert explorability(theorem_5_3(k)).value == pytest.approx(1.0)
    assert explorability(ring(7)).value == pytest.approx(3.0 / 7.0, rel=1e-9)
    hidden = np.eye(3)
    hidden[:, 1] = 0.0  # planted: an arm that nothing shows
    assert (explorability(hidden).value, explorability(hidden).upper_bound) == (0.0, 0.0)


def test_contexts_that_offer_some_arms() -> None:
    """The contexts of Theorem 5.3: the first offers the last two arms, the second the others.

    The revealing arm is there in half of the rounds. The others then show what they can: playing the revealing arm
    whenever it is offered observes arms 1 … k − 2 with ½ + ½ / (k − 2), and arm k − 1 with ½, which no policy beats.
    """
    k = 6
    available = np.zeros((2, k))
    available[0, -2:] = 1.0
    available[1, :-2] = 1.0
    found = explorability(theorem_5_3(k), available)
    assert found.value == pytest.approx(0.5, rel=1e-9)
    assert not found.policy[~available.astype(bool)].any()
    np.testing.assert_allclose(found.policy.sum(axis=1), 1.0)
    rare = explorability(theorem_5_3(k), available, [0.1, 0.9])
    assert rare.value == pytest.approx(0.1, rel=1e-9)
    assert explorability(np.eye(k), available, [0.5, 0.5]).value == pytest.approx(min(0.25, 0.5 / (k - 2)), rel=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_the_certificate_and_random_policies(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k, m = int(rng.integers(2, 9)), int(rng.integers(1, 4))
    graph = rng.random((k, k)) < 0.4
    available = rng.random((m, k)) < 0.6
    available[:, 0] = True
    p = rng.dirichlet(np.ones(m))
    found = explorability(graph, available, p)
    assert found.upper_bound - found.value <= 1e-9
    assert found.value == pytest.approx(float((p @ found.policy @ graph).min()), abs=1e-12)
    for _ in range(200):
        policy = rng.random((m, k)) ** 3 * available + 1e-12 * available
        policy /= policy.sum(axis=1, keepdims=True)
        assert (p @ policy @ graph).min() <= found.upper_bound + 1e-12


def by_brute_force(graph: FloatArray) -> int:
    k = len(graph)
    for size in range(k, 0, -1):
        for chosen in combinations(range(k), size):
            if all(not graph[a, b] and not graph[b, a] for a, b in combinations(chosen, 2)):
                return size
    return 0


def test_independence_numbers() -> None:
    for k in (3, 6, 30):
        assert independence_number(theorem_5_3(k)) == k - 1
        assert independence_number(np.eye(k)) == k
        assert independence_number(np.ones((k, k), dtype=bool)) == 1
        assert independence_number(ring(k)) == k // 2
    for seed in range(60):
        rng = np.random.default_rng(seed)
        graph = (rng.random((9, 9)) < rng.choice([0.05, 0.15, 0.3])).astype(float)
        assert independence_number(graph) == by_brute_force(graph), seed
    directed = np.eye(3)
    directed[0, 1] = 1.0  # one direction is enough
    assert independence_number(directed) == 2
    assert independence_number((np.random.default_rng(0).random((40, 40)) < 0.1).astype(float)) >= 10


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (None, "^graph: "),
        ([[1.0, 0.0]], "^graph: expected a square matrix"),
        ([[0.5]], "^graph: expected zeros and ones"),
        (np.empty((0, 0)), "^graph: "),
    ],
)
def test_bad_graphs(graph: object, message: str) -> None:
    for function in (explorability, independence_number):
        with pytest.raises(ArgumentError, match=message):
            function(graph)


def test_bad_contexts() -> None:
    with pytest.raises(ArgumentError, match=r"^available: expected 2 columns"):
        explorability(np.eye(2), [[1, 1, 1]])
    with pytest.raises(ArgumentError, match=r"^available: expected an arm in each context"):
        explorability(np.eye(2), [[1, 1], [0, 0]])
    with pytest.raises(ArgumentError, match=r"^probability: "):
        explorability(np.eye(2), [[1, 1]], [0.5])
    with pytest.raises(ArgumentError, match=r"^graph: expected at most 64 arms"):
        independence_number(np.eye(65))
