"""The walk along hulls against its optimality conditions, a plain reference, random maps and Frank–Wolfe.

The reference looks for the price μ by bisection, and knows nothing of hulls or edges. The smallest bugs that are caught
are planted at the end: a wrong exponent in the price, edges in the order of contexts instead of slopes, and a last edge
that is taken whole.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sparsebandits.arguments import ArgumentError, FloatArray
from sparsebandits.posteriors.kernels import maps
from sparsebandits.rules.contextual_ratio import MapMinimiser, minimise_over_maps
from sparsebandits.rules.ratio import _upper_left_hull, minimise_over_distributions

Instance = tuple[list[FloatArray], list[FloatArray], FloatArray, float]


def instance(seed: int) -> Instance:
    """Regret, gain, probability of contexts with different numbers of actions, and λ; some numbers are zero.

    Information costs regret in most of them, so that about every second minimiser randomises.
    """
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 12, size=rng.integers(2, 9))
    regret = [rng.exponential(size=k) * (rng.random(k) > 0.1) + 0.1 * (seed % 3 > 0) for k in sizes]
    gain = [rng.exponential(size=k) * (rng.random(k) > 0.2) for k in sizes]
    if seed % 4:
        gain = [0.1 * v * delta ** (seed % 4) for v, delta in zip(gain, regret, strict=True)]
    return regret, gain, rng.dirichlet(np.ones(len(sizes))), float(rng.choice([2.0, 2.0, 3.0, 5.5]))


def solved(given: Instance) -> MapMinimiser:
    regret, gain, p, power = given
    starts = np.concatenate(([0], np.cumsum([len(one) for one in regret])))
    return minimise_over_maps(np.concatenate(regret), np.concatenate(gain), p, starts, power)


def value(d: Any, g: Any, power: float) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.asarray(d) > 0, np.asarray(d) ** power / g, 0.0)


def by_bisection(given: Instance) -> float:
    """The smallest ratio: at the price where it is crossed, the least over the segment between both sides."""
    regret, gain, p, power = given

    def at(price: float, most: bool) -> tuple[float, float]:
        d = g = 0.0
        for weight, delta, v in zip(p, regret, gain, strict=True):
            score = delta - price * v
            ties = np.flatnonzero(score <= score.min() + 1e-13 * (1.0 + price))
            a = ties[np.argmax(v[ties]) if most else np.argmin(delta[ties])]
            d, g = d + weight * delta[a], g + weight * v[a]
        return d, g

    low, high = 0.0, 1e9
    for _ in range(200):
        middle = 0.5 * (low + high)
        d, g = at(middle, False)
        low, high = (middle, high) if d > power * middle * g else (low, middle)
    ends = np.array([at(low, False), at(high, True), at(high, False), at(low, True)])
    q = np.linspace(0.0, 1.0, 20_001)
    best = np.inf
    for one in ends:
        for other in ends:
            d, g = ((1 - q) * one[i] + q * other[i] for i in range(2))
            best = min(best, float(np.min(value(d, g, power))))
    return best


def conditions_hold(found: MapMinimiser, given: Instance, tolerance: float) -> bool:
    """Whether every context minimises Δ − μ g at the price D / (λ G) of the map itself, and D, G are right."""
    regret, gain, p, power = given
    d = g = 0.0
    for s, (delta, v) in enumerate(zip(regret, gain, strict=True)):
        q = found.probability[s]
        d += p[s] * ((1 - q) * delta[found.first[s]] + q * delta[found.second[s]])
        g += p[s] * ((1 - q) * v[found.first[s]] + q * v[found.second[s]])
    if g == 0.0:
        return all(delta[a] == delta.min() for delta, a in zip(regret, found.first, strict=True))
    price = d / (power * g)
    for s, (delta, v) in enumerate(zip(regret, gain, strict=True)):
        score = delta - price * v
        for action in {int(found.first[s]), int(found.second[s])}:
            if score[action] > score.min() + tolerance * (delta.max() + price * v.max()):
                return False
    return bool(np.allclose([found.regret, found.gain, found.price], [d, g, price], rtol=1e-12))


@pytest.mark.parametrize("block", range(6))
def test_no_map_is_better(block: int) -> None:
    """300 random instances, 50 in each block."""
    for seed in range(50 * block, 50 * block + 50):
        given = instance(seed)
        regret, gain, p, power = given
        found = solved(given)
        assert conditions_hold(found, given, 1e-12), seed
        assert np.count_nonzero(found.probability) <= 1
        assert ((found.first == found.second) == (found.probability == 0.0)).all()
        assert found.ratio == pytest.approx(float(value(found.regret, found.gain, power)), rel=1e-12)
        assert found.ratio <= by_bisection(given) * (1 + 1e-9) + 1e-300, seed
        rng = np.random.default_rng(seed)
        d, g = np.zeros(300), np.zeros(300)
        for weight, delta, v in zip(p, regret, gain, strict=True):
            chosen = rng.dirichlet(np.full(len(delta), rng.choice([0.05, 0.3, 1.0])), 300)
            d, g = d + weight * (chosen @ delta), g + weight * (chosen @ v)
        assert found.ratio <= value(d, g, power).min() * (1 + 1e-9), seed


@pytest.mark.parametrize("seed", range(20))
def test_frank_wolfe_comes_near_and_not_below(seed: int) -> None:
    """Descent on D^λ / G from the uniform map, with an exact line search by a grid."""
    given = instance(1000 + seed)
    regret, gain, p, power = given
    point = np.array([p @ [one.mean() for one in values] for values in (regret, gain)])
    for _ in range(200):
        price = point[0] / (power * point[1])
        best = [int((delta - price * v).argmin()) for delta, v in zip(regret, gain, strict=True)]
        corner = np.array([p @ [one[a] for one, a in zip(values, best, strict=True)] for values in (regret, gain)])
        q = np.concatenate(([0.0], np.geomspace(1e-6, 1.0, 400)))[:, np.newaxis]
        path = (1 - q) * point + q * corner
        point = path[value(path[:, 0], path[:, 1], power).argmin()]
    reached = float(value(point[0], point[1], power))
    found = solved(given)
    assert found.ratio <= reached * (1 + 1e-12)
    assert found.ratio >= reached * (1 - 2e-2) - 1e-12


@pytest.mark.parametrize("power", [2.0, 3.0])
def test_one_context_is_the_minimiser_over_distributions(power: float) -> None:
    """Of the function to the bit; of the walk itself, for which the same context stands twice, up to rounding."""
    for seed in range(300):
        rng = np.random.default_rng(seed)
        k = int(rng.integers(1, 20))
        delta, v = rng.integers(0, 6, k) / 4.0, rng.integers(0, 6, k) / 4.0  # many ties
        if seed % 2:
            delta, v = rng.exponential(size=k), rng.exponential(size=k)
        expected = minimise_over_distributions(delta, v, power)
        found = minimise_over_maps(delta[np.newaxis], v[np.newaxis], exponent=power)
        assert (found.first[0], found.second[0], found.probability[0]) == (
            expected.first,
            expected.second,
            expected.probability,
        )
        assert found.ratio == pytest.approx(expected.ratio, rel=1e-13)
        corner, partial, beyond = maps.walk_along_hulls(delta, v, np.array([0, k]), np.ones(1), power)
        if expected.probability > 0.0:
            assert (corner[0], partial, beyond) == (expected.first, 0, expected.second)
        else:
            assert corner[0] == expected.first or (partial == 0 and beyond == expected.first)
        twice = minimise_over_maps(np.stack((delta, delta)), np.stack((v, v)), exponent=power)
        assert twice.ratio == pytest.approx(expected.ratio, rel=1e-12)


def test_hulls_are_those_of_the_minimiser_over_distributions() -> None:
    for seed in range(400):
        rng = np.random.default_rng(seed)
        k = int(rng.integers(1, 40))
        delta, v = rng.integers(0, 9, k) / 4.0, rng.integers(0, 9, k) / 4.0  # many ties
        if seed % 2:
            delta = rng.exponential(size=k)
            v = np.sqrt(delta) * rng.choice([1.0, rng.random()], k)  # many corners
        corners = np.empty(k, np.int64)
        size = maps.upper_left_hull(delta, v, corners)
        assert corners[:size].tolist() == _upper_left_hull(delta, v).tolist(), seed


def test_zeros() -> None:
    nothing = minimise_over_maps([[3.0, 1.0], [2.0, 5.0]], np.zeros((2, 2)))
    assert (nothing.first.tolist(), nothing.second.tolist()) == ([1, 0], [1, 0])
    assert (nothing.regret, nothing.ratio, nothing.price) == (1.5, np.inf, np.inf)
    # no regret anywhere: of the actions without regret the most informative, and nothing is paid
    free = minimise_over_maps([[0.0, 0.0, 1.0], [2.0, 0.0, 1.0]], [[1.0, 2.0, 9.0], [9.0, 0.0, 9.0]])
    assert free.first.tolist() == free.second.tolist() == [1, 1]
    assert (free.regret, free.ratio, free.price) == (0.0, 0.0, 0.0)
    # a context without regret pays for the other one, which has nothing to learn from
    paying = minimise_over_maps([[0.0, 2.0], [1.0, 1.0]], [[0.0, 4.0], [0.0, 0.0]], [0.5, 0.5])
    assert (paying.first.tolist(), paying.second.tolist()) == ([0, 0], [1, 0])
    assert paying.probability.tolist() == [0.5, 0.0]
    assert (paying.regret, paying.gain, paying.ratio) == (1.0, 1.0, 1.0)
    assert minimise_over_maps([[2.0]], [[4.0]]).ratio == 1.0
    assert minimise_over_maps([[2.0], [4.0]], [[4.0], [5.0]]).ratio == 2.0


def test_a_context_without_probability_follows_the_price() -> None:
    regret, gain = np.array([[1.0, 3.0], [1.0, 2.0], [1.0, 9.0]]), np.array([[0.0, 8.0], [0.0, 9.0], [0.0, 1.0]])
    found = minimise_over_maps(regret, gain, [1.0, 0.0, 0.0])
    alone = minimise_over_maps(regret[:1], gain[:1])
    assert found.ratio == pytest.approx(alone.ratio, rel=1e-14)
    assert found.price == pytest.approx(0.25)  # D = 2 and G = 4
    assert found.first[1:].tolist() == found.second[1:].tolist() == [1, 0]


@pytest.mark.parametrize("seed", range(40))
def test_permutations_of_contexts_and_actions(seed: int) -> None:
    regret, gain, p, power = given = instance(seed)
    rng, found = np.random.default_rng(seed), solved(given)
    contexts = rng.permutation(len(p))
    actions = [rng.permutation(len(regret[s])) for s in contexts]
    moved = solved(
        (
            [regret[s][a] for s, a in zip(contexts, actions, strict=True)],
            [gain[s][a] for s, a in zip(contexts, actions, strict=True)],
            p[contexts],
            power,
        )
    )
    assert moved.ratio == pytest.approx(found.ratio, rel=1e-12)
    for place, (s, order) in enumerate(zip(contexts, actions, strict=True)):
        for there, here in ((moved.first, found.first), (moved.second, found.second)):
            a, b = order[there[place]], here[s]  # of equal actions, any
            assert (regret[s][a], gain[s][a]) == (regret[s][b], gain[s][b])
        assert moved.probability[place] == pytest.approx(found.probability[s], rel=1e-9, abs=1e-12)


def test_equal_slopes_and_equal_contexts() -> None:
    regret, gain = np.tile([1.0, 3.0], (5, 1)), np.tile([0.0, 8.0], (5, 1))
    found = minimise_over_maps(regret, gain)
    assert found.ratio == pytest.approx(minimise_over_distributions([1.0, 3.0], [0.0, 8.0]).ratio)
    assert np.count_nonzero(found.probability) == 1
    assert found.probability.sum() + np.count_nonzero(found.first) == pytest.approx(2.5)


def test_scales_do_not_matter() -> None:
    given = instance(3)
    expected = solved(given)
    for scale in (1e-150, 1e150):
        found = solved(([one * scale for one in given[0]], [one * scale for one in given[1]], *given[2:]))
        assert (found.first.tolist(), found.second.tolist()) == (expected.first.tolist(), expected.second.tolist())
        np.testing.assert_allclose(found.probability, expected.probability, rtol=1e-12)


def test_many_contexts_and_actions() -> None:
    rng = np.random.default_rng(0)
    regret = rng.exponential(size=(200, 200)) + 0.01
    gain = np.sqrt(regret) * rng.random((200, 200))
    given: Instance = (list(regret), list(gain), np.full(200, 0.005), 2.0)
    assert conditions_hold(minimise_over_maps(regret, gain), given, 1e-12)


def wrong_walk(change: str) -> Callable[..., Any]:
    right = maps.walk_along_hulls

    def walk(regret: FloatArray, gain: FloatArray, starts: Any, p: FloatArray, power: float) -> Any:
        if change == "exponent":
            return right(regret, gain, starts, p, power + 0.5)
        if change == "order":  # the price is reached within each context by itself
            corner = [right(regret, gain, starts[s : s + 2], np.ones(1), power)[0][0] for s in range(len(p))]
            return np.array(corner), -1, -1
        corner, partial, beyond = right(regret, gain, starts, p, power)
        if partial >= 0:
            corner[partial] = beyond
        return corner, -1, -1

    return walk


@pytest.mark.parametrize("change", ["exponent", "order", "whole"])
def test_what_is_planted_is_caught(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maps, "walk_along_hulls", wrong_walk(change))
    caught = sum(not conditions_hold(solved(given), given, 1e-12) for given in map(instance, range(40)))
    assert caught >= 4


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"regret": [1.0, 2.0], "gain": [1.0, 2.0]}, "^regret: "),
        ({"regret": [[1.0]], "gain": [[1.0, 2.0]]}, "^gain: expected the shape of regret"),
        ({"regret": [[-1.0]], "gain": [[1.0]]}, "^regret: expected numbers of at least zero"),
        ({"regret": [[1.0]], "gain": [[-1.0]]}, "^gain: expected numbers of at least zero"),
        ({"regret": [[np.nan]], "gain": [[1.0]]}, "^regret: expected finite"),
        ({"regret": np.empty((0, 3)), "gain": np.empty((0, 3))}, "^regret: expected an action in each context"),
        ({"regret": np.empty((2, 0)), "gain": np.empty((2, 0))}, "^regret: expected an action in each context"),
        ({"regret": [[1.0]], "gain": [[1.0]], "probability": [0.5, 0.5]}, "^probability: expected 1 numbers"),
        ({"regret": [[1.0]], "gain": [[1.0]], "probability": [0.5]}, "^probability: .* sum to 1"),
        ({"regret": [1.0, 2.0], "gain": [1.0, 2.0], "starts": [0, 1]}, "^starts: expected whole numbers from 0 to 2"),
        ({"regret": [1.0, 2.0], "gain": [1.0, 2.0], "starts": [0, 2, 2]}, "^starts: expected an action in each"),
        ({"regret": [1.0, 2.0], "gain": [1.0, 2.0], "starts": [0, 0.5, 2]}, "^starts: expected whole numbers"),
        ({"regret": [[1.0]], "gain": [[1.0]], "exponent": 1.5}, "^exponent: expected a number of at least 2"),
    ],
)
def test_bad_input(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        minimise_over_maps(**given)
