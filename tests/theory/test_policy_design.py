"""C_min over policies: closed forms, the design of one context, brute force, and the certificate itself.

The smallest bugs that are caught are planted: a policy that ignores how likely contexts are, and a bound from the
likeliest context alone.
"""

from itertools import product

import numpy as np
import pytest

from sparsebandits.arguments import ArgumentError, FloatArray
from sparsebandits.theory import PolicyDesign, exploratory_design, exploratory_policy


def smallest(contexts: list[FloatArray], p: FloatArray, policy: tuple[FloatArray, ...]) -> float:
    """The smallest eigenvalue of E[φφ'], by sums over single actions."""
    moment = np.zeros((contexts[0].shape[1],) * 2)
    for weight, features, chosen in zip(p, contexts, policy, strict=True):
        for row, share in zip(features, chosen, strict=True):
            moment += weight * share * np.outer(row, row)
    return float(np.linalg.eigvalsh(moment)[0])


def check(found: PolicyDesign, contexts: list[FloatArray], p: FloatArray, gap: float = 3e-5) -> None:
    for chosen, features in zip(found.policy, contexts, strict=True):
        assert chosen.shape == (len(features),)
        assert chosen.min() >= 0.0
        assert chosen.sum() == pytest.approx(1.0, abs=1e-12)
    assert found.c_min == pytest.approx(smallest(contexts, p, found.policy), rel=1e-8, abs=1e-15)
    assert 0.0 <= found.gap <= gap * found.upper_bound


@pytest.mark.parametrize("p", [0.2, 0.5, 0.6, 0.75])
def test_two_directions_and_two_contexts(p: float) -> None:
    """The first context sees e₁ alone, the second one chooses: the best is ½, or 1 − p if that is less."""
    contexts, chances = [np.eye(2)[:1], np.eye(2)], np.array([p, 1.0 - p])
    found = exploratory_policy(contexts, chances)
    check(found, contexts, chances)
    assert found.c_min == pytest.approx(min(0.5, 1.0 - p), rel=3e-5)


def test_nothing_to_choose() -> None:
    rng = np.random.default_rng(0)
    rows, p = rng.standard_normal((6, 3)), rng.dirichlet(np.ones(6))
    found = exploratory_policy(rows[:, np.newaxis], p)
    exact = float(np.linalg.eigvalsh((rows.T * p) @ rows)[0])
    assert found.c_min == pytest.approx(exact, rel=1e-10)
    check(found, list(rows[:, np.newaxis]), p)


@pytest.mark.parametrize("kappa", [0.3, 1.0])
def test_the_contexts_of_theorem_6_3(kappa: float) -> None:
    """A cube with entries ±κ and a last coordinate of 1, or unit vectors of s = 1 block of p = 3 coordinates.

    By symmetry the best policy is uniform on the cube and on the units: diag(κ²/2 + 1/2p, …, 1/2).
    """
    cube = np.array([[*signs, 1.0] for signs in product([-kappa, kappa], repeat=3)])
    contexts = [np.vstack((np.zeros(4), cube)), np.eye(4)[:3]]
    found = exploratory_policy(contexts)
    check(found, contexts, np.full(2, 0.5))
    assert found.c_min == pytest.approx(min(0.5 * kappa**2 + 1.0 / 6.0, 0.5), rel=3e-5)


@pytest.mark.parametrize("seed", range(4))
def test_one_context_is_the_exploratory_design(seed: int) -> None:
    actions = np.random.default_rng(seed).standard_normal((20, 4)) * 10.0 ** (3 * seed - 4)
    expected, found = exploratory_design(actions), exploratory_policy([actions])
    check(found, [actions], np.ones(1))
    assert found.c_min <= expected.upper_bound * (1 + 1e-12)
    assert expected.c_min <= found.upper_bound * (1 + 1e-12)


def test_equal_contexts_are_one_and_split_contexts_lose() -> None:
    actions = np.random.default_rng(1).standard_normal((12, 3))
    whole = exploratory_policy([actions])
    same = exploratory_policy([actions, actions, actions], [0.2, 0.3, 0.5])
    assert same.c_min == pytest.approx(whole.c_min, rel=5e-5)
    halves = exploratory_policy([actions[:6], actions[6:]])
    assert halves.c_min < whole.c_min


@pytest.mark.parametrize("seed", range(5))
def test_no_policy_beats_the_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    contexts = [rng.standard_normal((k, 3)) for k in rng.integers(1, 7, size=4)]
    p = rng.dirichlet(np.ones(4))
    found = exploratory_policy(contexts, p)
    check(found, contexts, p)
    best = 0.0
    for _ in range(300):
        policy = tuple(rng.dirichlet(np.full(len(one), 0.5)) for one in contexts)
        best = max(best, smallest(contexts, p, policy))
    assert best <= found.upper_bound * (1 + 1e-12)
    assert found.c_min > 0.99 * found.upper_bound


def test_what_is_planted_is_caught() -> None:
    contexts, p = [np.eye(2)[:1], np.eye(2)], np.array([0.2, 0.8])
    found = exploratory_policy(contexts, p)
    ignoring = exploratory_policy(contexts, [0.5, 0.5]).policy  # planted: as if contexts were equally likely
    assert smallest(contexts, p, ignoring) < 0.9 * found.c_min
    alone = exploratory_policy([np.eye(2)[:1]]).upper_bound  # planted: a bound from one context
    assert alone < 0.9 * found.c_min


def test_directions_that_are_not_seen_and_contexts_that_do_not_come() -> None:
    flat = exploratory_policy([[[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0], [1.0, 1.0, 0.0]]])
    assert (flat.c_min, flat.upper_bound) == (0.0, 0.0)
    never = exploratory_policy([np.eye(2)[:1], np.eye(2)], [1.0, 0.0])
    assert never.c_min == 0.0
    assert never.upper_bound == pytest.approx(0.0, abs=1e-15)
    np.testing.assert_array_equal(never.policy[1], [0.5, 0.5])
    nothing = exploratory_policy(np.zeros((2, 3, 2)))
    assert (nothing.c_min, nothing.upper_bound) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("contexts", "probability", "message"),
    [
        ([], None, "^contexts: expected one matrix of features per context"),
        ("text", None, "^contexts: "),
        ([[[1.0]], [[1.0, 2.0]]], None, "^contexts: expected 1 columns"),
        ([[[np.nan]]], None, "^contexts: "),
        ([[[1.0]]], [0.5], "^probability: .* sum to 1"),
        ([[[1.0]]], [0.5, 0.5], "^probability: expected 1 numbers"),
        ([[[1e-200]]], None, "^contexts: expected features of magnitude"),
    ],
)
def test_bad_input(contexts: object, probability: object, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        exploratory_policy(contexts, probability)


@pytest.mark.parametrize("rare", [1e-6, 1e-9, 1e-12, 1e-15, 1e-20])
def test_a_context_that_hardly_ever_comes(rare: float) -> None:
    """Only the rare context sees the last direction, in which it has to play: the optimum is 4 p."""
    contexts = [np.eye(3)[:2], np.vstack((np.eye(3), 2.0 * np.eye(3)[2:], np.ones((1, 3))))]
    found = exploratory_policy(contexts, [1.0 - rare, rare])
    assert found.c_min == pytest.approx(4.0 * rare, rel=1e-3)
    assert 4.0 * rare * (1.0 - 1e-6) <= found.upper_bound <= 4.0 * rare * (1.0 + 1e-3)
    assert found.policy[1][3] > 0.999
