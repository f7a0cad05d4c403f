"""SL-UCB: its search, its ellipsoid, and what it costs."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.policies.rivals.sl_ucb import SupportSearch, optimistic_point
from sparsebandits.randomness import COIN_STREAM, stream
from sparsebandits.results.statistics import mean_interval
from tests.policies.table import fingerprint


def upper_bound(x: FloatArray, centre: FloatArray, precision: FloatArray, radius: float) -> FloatArray:
    """⟨x, c⟩ + r ‖x‖ in the norm of V⁻¹, of each row: the textbook's index, which has no ellipsoid in it."""
    inverse = np.linalg.inv(precision)
    return np.asarray(x @ centre + radius * np.sqrt(np.einsum("ki,ij,kj->k", x, inverse, x)))


def sphere(dimension: int, count: int = 100_000) -> FloatArray:
    if dimension == 2:
        angle = np.linspace(0, 2 * np.pi, count, endpoint=False)
        return np.column_stack((np.cos(angle), np.sin(angle)))
    x = np.random.default_rng(0).standard_normal((count, dimension))
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


ROTATED = np.linalg.qr(np.random.default_rng(5).standard_normal((3, 3)))[0]


@pytest.mark.parametrize(
    ("centre", "precision", "radius", "probability"),
    [
        (np.array([0.3, -0.2]), np.array([[2.0, 0.5], [0.5, 1.0]]), 0.7, 1.0),
        (np.array([1e-5, 2.0]), np.diag([1.0, 30.0]), 0.2, 1.0),
        (np.array([0.0, 0.4]), np.diag([1.0, 2.0]), 1.0, 0.5),  # two points tie
        (np.array([0.0, 4.0]), np.diag([1.0, 2.0]), 1.0, 1.0),  # the part without a component is too short to tie
        (np.zeros(2), np.eye(2), 1.0, 0.25),  # a circle ties, on which there are four axes
        (np.zeros(2), np.diag([1.0, 1e6]), 3.0, 0.5),
        (np.zeros(2), np.array([[2.0, 1.0], [1.0, 2.0]]), 1.0, 0.5),  # both axes project to the same line
        (np.array([0.5, 0.5]), 7.0 * np.eye(2), 2.0, 1.0),
        (np.array([1.0, -2.0, 0.5]), ROTATED @ np.diag([1.0, 5.0, 80.0]) @ ROTATED.T, 2.5, 1.0),
        (ROTATED @ [0.0, 0.0, 0.3], ROTATED @ np.diag([2.0, 2.0, 5.0]) @ ROTATED.T, 2.0, 1 / 6),
        (np.array([0.4]), np.array([[3.0]]), 0.1, 1.0),
        (np.array([0.0]), np.array([[3.0]]), 0.1, 0.5),
    ],
)
def test_the_optimistic_point_against_points_of_the_sphere(
    centre: FloatArray, precision: FloatArray, radius: float, probability: float
) -> None:
    point, upper, chance = optimistic_point(centre, precision, radius, np.random.default_rng(0))
    assert chance == pytest.approx(probability, rel=1e-12)
    assert np.linalg.norm(point) == pytest.approx(1.0, rel=1e-12)
    rows = np.vstack((sphere(len(centre)), point))
    values = upper_bound(rows, centre, precision, radius)
    assert values[-1] == pytest.approx(upper, rel=1e-9), "the bound is that of the point"
    assert values.max() <= upper * (1 + 1e-9), "and no other point has a larger one"
    greedy = centre / (np.linalg.norm(centre) or 1.0)
    if probability < 1.0 and centre.any():  # planted: the direction of the estimate, which is no maximum here
        assert upper_bound(greedy[np.newaxis], centre, precision, radius)[0] < upper * (1 - 1e-3) or len(centre) == 1


def test_random_ellipsoids() -> None:
    rng = np.random.default_rng(1)
    for _ in range(40):
        root, centre = rng.standard_normal((4, 3)), rng.standard_normal(3)
        precision, radius = root.T @ root + 0.01 * np.eye(3), float(rng.exponential())
        point, upper, _ = optimistic_point(centre, precision, radius, rng)
        values = upper_bound(np.vstack((sphere(3, 20_000), point)), centre, precision, radius)
        assert values[-1] == pytest.approx(upper, rel=1e-9)
        assert values.max() <= upper * (1 + 1e-9)


def test_of_points_that_tie_each_is_as_likely() -> None:
    rng = np.random.default_rng(0)
    first = [optimistic_point(np.array([0.0, 0.4]), np.diag([1.0, 2.0]), 1.0, rng)[0][0] > 0 for _ in range(400)]
    assert stats.binomtest(sum(first), 400).pvalue > 1e-4
    points = [optimistic_point(np.zeros(2), np.eye(2), 1.0, rng)[0] for _ in range(400)]
    counts = np.unique(np.round(points, 9) + 0.0, axis=0, return_counts=True)[1]
    assert len(counts) == 4
    assert stats.chisquare(counts).pvalue > 1e-4


def textbook_width(rounds: int, d: int, delta: float, variance: float, bound: float) -> float:
    kappa = bound**2 + variance
    return math.sqrt(2 * kappa * (1 / rounds + 1 / rounds**2) * math.log(2 * d / delta * math.sqrt(2 * rounds + 1)))


@pytest.mark.parametrize(("d", "delta"), [(1, 0.7), (3, 0.35), (7, 0.05), (2000, 1.0)])
def test_the_half_width_for_any_dimension_and_confidence(d: int, delta: float) -> None:
    """Planted: 2d/δ rounded up to a whole number."""
    learner = SupportSearch(d, 0.3, 100, 0.8, delta, 1, 1.0, 1.0)
    for rounds in (1, 2, 50):
        learner.rounds = float(rounds)
        assert learner.intervals()[1] == pytest.approx(textbook_width(rounds, d, delta, 0.3, 0.8), rel=1e-12)


@pytest.mark.parametrize("penalty", [1.0, 0.4])
def test_decision_by_decision(penalty: float) -> None:
    """Signs and estimates by loops over rounds, the end of the search by its inequality, optimism over a grid."""
    d, n, delta, variance, bound, s, factor = 5, 300, 0.1, 0.05, 0.5, 2, 0.6
    theta, noise = bound * np.array([0.8, 0.0, -0.6, 0.0, 0.0]), np.random.default_rng(3)
    policy = sb.rivals.SLUCB(
        d,
        variance,
        horizon=n,
        norm_bound=bound,
        delta=delta,
        sparsity=s,
        threshold=factor,
        width=0.7,
        penalty=penalty,
        seed=7,
    )
    rng = stream(7, COIN_STREAM)
    told: list[tuple[FloatArray, float]] = []
    support: list[int] = []
    later: list[tuple[FloatArray, float]] = []
    grid = sphere(2, 20_000)
    for t in range(n):
        if not support:
            expected = np.array([2.0 * coin - 1.0 for coin in rng.integers(2, size=d)]) / math.sqrt(d)
        decision = policy.ask()
        if not support:
            np.testing.assert_allclose(decision.features, expected, rtol=1e-15)
            assert decision.probability == 2.0**-d
        else:
            x = np.array([a for a, _ in later]).reshape(-1, 2)
            precision = penalty * np.eye(2) + x.T @ x
            centre = np.linalg.inv(precision) @ x.T @ np.array([y for _, y in later])
            growth = math.log(np.linalg.det(precision / penalty))
            radius = math.sqrt(variance) * math.sqrt(2 * math.log(2 / delta) + growth)
            radius = 0.7 * (radius + math.sqrt(penalty) * bound)
            assert np.delete(decision.features, support).tolist() == [0.0] * 3
            values = upper_bound(np.vstack((grid, decision.features[support])), centre, precision, radius)
            assert values.max() - values[-1] <= 1e-9, t
            assert decision.diagnostics["upper bound"] == pytest.approx(values[-1], rel=1e-9)
            assert decision.diagnostics["radius"] == pytest.approx(radius, rel=1e-9)
        reward = float(decision.features @ (theta + math.sqrt(variance / d) * noise.standard_normal(d)))
        policy.tell(decision, reward)
        if support:
            later.append((decision.features[support], reward))
            continue
        told.append((decision.features, reward))
        count = len(told)
        estimate = [sum(math.sqrt(d) * math.copysign(1.0, a[k]) * y for a, y in told) / count for k in range(d)]
        width = factor * textbook_width(count, d, delta, variance, bound)
        found, reported = policy.posterior.intervals()
        np.testing.assert_allclose(found, estimate, atol=1e-12)
        assert reported == pytest.approx(width, rel=1e-12)
        size = sum(max(abs(e) - width, 0.0) ** 2 for e in estimate)
        if size > 0 and count * size >= 4 * s * (n - count) * width**2:
            support = [k for k in range(d) if abs(estimate[k]) > width]
        assert np.flatnonzero(policy.posterior.support).tolist() == support
    assert support == [0, 2]
    assert 20 < len(told) < 200, "both phases have been seen"
    assert len(later) > 50


Noise = Callable[[np.random.Generator, int], FloatArray]


def coverage(theta: FloatArray, noise: Noise, variance: float, bound: float, factor: float = 1.0) -> int:
    """Of 1000 searches of 300 rounds, in how many all coordinates are in all their intervals at δ = 1."""
    rng, d, runs = np.random.default_rng(0), len(theta), 1000
    totals, covered = np.zeros((runs, d)), np.ones(runs, dtype=bool)
    learner = SupportSearch(d, variance, 10**6, bound, 1.0, 1, factor, 1.0)
    for t in range(1, 301):
        signs = 2.0 * rng.integers(2, size=(runs, d)) - 1.0
        rewards = (signs * (theta + noise(rng, runs))).sum(axis=1) / math.sqrt(d)
        totals += math.sqrt(d) * signs * rewards[:, np.newaxis]
        learner.rounds = float(t)
        covered &= (np.abs(totals / t - theta) <= learner.intervals()[1]).all(axis=1)
    return int(covered.sum())


def gaussian(variances: list[float]) -> Noise:
    return lambda rng, runs: np.sqrt(variances) * rng.standard_normal((runs, len(variances)))


def one_direction(size: float, direction: FloatArray) -> Noise:
    """Of norm ``size``, along one direction: its entries are as dependent as they can be."""
    return lambda rng, runs: (
        size * (2.0 * rng.integers(2, size=(runs, 1)) - 1.0) * direction / np.linalg.norm(direction)
    )


def p_value(covered: int) -> float:
    return float(stats.binomtest(covered, 1000, 0.5, alternative="less").pvalue)


THETA = np.array([0.0, 0.0, 0.6, -0.8])


def test_the_truth_is_in_all_intervals_as_often_as_promised() -> None:
    """Promised are 50%, for four coordinates and all rounds; a width of half the size covers less."""
    assert p_value(coverage(THETA, gaussian([0.25] * 4), 1.0, 1.0)) > 1e-5
    assert p_value(coverage(THETA, gaussian([0.25] * 4), 1.0, 1.0, factor=0.5)) < 1e-5, "planted: half the width"
    assert p_value(coverage(5 * THETA, gaussian([0.25] * 4), 1.0, 1e-9)) < 1e-5, "planted: the others are no noise"
    assert p_value(coverage(THETA, gaussian([10.0, 0, 0, 0]), 1e-9, 1.0)) < 1e-5, "planted: no noise vector"


def test_bounded_noise_with_dependent_entries_is_covered_by_the_larger_bound() -> None:
    size = 2.0
    assert p_value(coverage(THETA, one_direction(size, THETA), size**2, 1.0 + size)) > 1e-5
    assert p_value(coverage(THETA, one_direction(size, THETA), size**2, 1.0 + size, factor=0.4)) < 1e-5, "planted"


def test_the_ellipsoid_contains_the_truth() -> None:
    """In all rounds of all 30 runs, where 2.5% may fail; planted: a radius of 0.15 times the size."""
    outside, planted = 0, 0
    for seed in range(30):
        theta, rng = np.array([0.6, 0.8]), np.random.default_rng(seed)
        learner = SupportSearch(2, 1.0, 100, 1.0, 0.05, 1, 1.0, 1.0)
        learner.support = np.ones(2, dtype=np.bool_)
        learner.gram, learner.moment = np.zeros((2, 2)), np.zeros(2)
        distances = []
        for _ in range(40):
            centre, precision, radius = learner.ellipsoid()
            distances.append(math.sqrt((theta - centre) @ precision @ (theta - centre)) / radius)
            point, _, _ = optimistic_point(centre, precision, radius, rng)
            reward = float(point @ theta + rng.standard_normal())
            learner.absorb(np.append(point, 0.0)[np.newaxis], np.array([reward]))
        outside += max(distances) > 1.0
        planted += max(distances) > 0.15
    assert stats.binomtest(outside, 30, 0.025, alternative="greater").pvalue > 1e-4
    assert stats.binomtest(planted, 30, 0.025, alternative="greater").pvalue < 1e-4


def test_coins_are_fair_and_independent() -> None:
    policy = sb.rivals.SLUCB(3, horizon=10, seed=0)
    decisions = [policy.ask() for _ in range(4000)]
    assert {d.probability for d in decisions} == {0.125}
    counts = np.unique([d.label for d in decisions], return_counts=True)[1]
    assert len(counts) == 8
    assert stats.chisquare(counts).pvalue > 1e-4
    biased = np.bincount(np.random.default_rng(0).choice(8, size=4000, p=[0.15, 0.1] * 4), minlength=8)
    assert stats.chisquare(biased).pvalue < 1e-4, "planted: a coin of 0.6"


def test_late_rewards_of_the_search_do_not_change_the_support() -> None:
    policy = sb.rivals.SLUCB(3, 1e-4, horizon=2, norm_bound=0.1, seed=0)
    early, theta = [policy.ask() for _ in range(60)], np.array([0.1, 0.0, 0.0])
    policy.tell(early[:50], [float(d.features @ theta) for d in early[:50]])
    assert policy.posterior.support.tolist() == [True, False, False]
    later = policy.ask()
    assert np.abs(later.features).tolist() == [1.0, 0.0, 0.0]
    policy.tell(early[50:], [9.0 * float(d.features[1]) for d in early[50:]])
    assert policy.posterior.rounds == 60
    assert not policy.posterior.gram.any(), "least squares learns from rounds after the search alone"
    policy.tell(later, 0.1)
    assert policy.posterior.support.tolist() == [True, False, False]
    assert (policy.posterior.gram.tolist(), np.abs(policy.posterior.moment).tolist()) == ([[1.0]], [0.1])


def test_the_search_goes_on_until_something_is_found() -> None:
    policy = sb.rivals.SLUCB(4, horizon=5, seed=0)
    for _ in range(20):
        decision = policy.ask()
        policy.tell(decision, 0.0)
    assert policy.posterior.searching
    assert policy.posterior.rounds == 20


def test_a_decision_and_its_reasons_read_well() -> None:
    policy = sb.rivals.SLUCB(["price", "size", "age"], 1e-4, horizon=2, norm_bound=0.5, threshold=0.1, seed=0)
    for _ in range(30):
        decision = policy.ask()
        policy.tell(decision, float(decision.features @ np.array([0.0, -0.4, 0.0])))
    decision = policy.ask()
    text = str(policy.explain(decision))
    assert text.startswith("SLUCB chose action 0-0 with probability 1; it is decision 30.")
    rows = policy.explain(decision.id).table
    assert [row["in the support"] for row in rows] == [1.0, 0.0, 0.0]
    assert rows[0]["coordinate"] == "size"
    assert float(str(rows[0]["estimate"])) == pytest.approx(-0.4, rel=0.1)
    assert "from size" in text
    assert f"rounds of search: {policy.posterior.rounds:g}\ncoordinates found: 1\nradius: " in text
    assert repr(policy).startswith("SLUCB(the unit ball of 3 features; SupportSearch(noise_variance=0.0001, horizon=2")


def test_other_actions_and_other_posteriors_are_refused() -> None:
    policy = sb.rivals.SLUCB(20, horizon=9, seed=0)
    policy.ask()
    before = fingerprint(policy)
    own = r"actions: expected none with this policy \(its own are the whole unit ball of R\^20\)"
    with pytest.raises(ValueError, match=own):
        policy.ask(np.eye(20))
    with pytest.raises(ValueError, match="noise_variance: expected none without actions"):
        policy.ask(noise_variance=[1.0])
    assert fingerprint(policy) == before
    with pytest.raises(TypeError, match="posterior: expected SupportSearch for SearchThenOptimism"):
        sb.Policy(np.eye(3), sb.Conjugate(sb.GaussianPrior(1.0), 3), sb.rivals.SearchThenOptimism())
    for wrong in (sb.policies.Cube.of(3), ["a", "a"]):
        with pytest.raises(TypeError, match="dimension of a unit ball, or the names of its features, each once, got"):
            sb.rivals.SLUCB(wrong, horizon=9)
    cube = sb.environments.Hypercube(4, 1).sample(0)
    assert sb.simulate(sb.rivals.SLUCB, cube, 5).actions.tolist() == [-1] * 5, "the ball is a part of the cube"
    with pytest.raises(ValueError, match="features: expected a point of the unit ball"):
        sb.simulate(sb.rivals.HypercubeElimination, sb.environments.UnitBall(4, 1).sample(0), 5)


def test_names_and_support_survive(tmp_path: Path) -> None:
    policy = sb.rivals.SLUCB(["price", "size"], 1e-4, horizon=60, seed=0)
    for _ in range(70):
        policy.tell(decision := policy.ask(), float(decision.features[1]))
    policy.save(tmp_path / "policy")
    again = sb.load(tmp_path / "policy")
    assert again.actions.feature_names == ("price", "size")
    assert isinstance(again.actions, sb.policies.Ball)
    assert again.posterior.support.tolist() == policy.posterior.support.tolist() == [False, True]
    assert again.ask().features.tobytes() == policy.ask().features.tobytes()


def test_many_coordinates() -> None:
    policy = sb.rivals.SLUCB(2000, horizon=10, seed=0)
    decision = policy.ask()
    assert decision.probability == 0.0, "2 to the minus 2000 is none in floating point"
    policy.tell(decision, 0.01)
    assert policy.posterior.gram.size == 0, "nothing of size d² is kept"


def test_regret_stops_growing_and_is_far_below_that_of_chance() -> None:
    """A random direction costs ‖θ*‖ = 1 per round. Planted: a bound on ‖θ‖ that is ten times as large."""
    environment = sb.environments.UnitBall(dimension=30, sparsity=2, noise_variance=0.1, noise="support")
    policies: dict[str, Any] = {
        "right": sb.maker(sb.rivals.SLUCB, threshold=0.4),
        "planted": sb.maker(sb.rivals.SLUCB, threshold=0.4, norm_bound=10.0),
    }
    result = sb.Experiment(environment, policies, horizon=250, trials=4).run()
    _, high = mean_interval(result.final("right"))
    assert high < 150
    _, late = mean_interval(result.regret["right"][:, -1] - result.regret["right"][:, -100])
    assert late < 30, "of 100 rounds"
    low, _ = mean_interval(result.final("planted"))
    assert low > 200
