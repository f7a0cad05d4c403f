"""Selective explore-then-commit: its intervals, its coins, and what it costs."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.hypercube import exponents
from scipy import stats

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.policies.rivals.hypercube_elimination import half_width
from sparsebandits.randomness import COIN_STREAM, stream
from sparsebandits.results.statistics import mean_interval
from tests.policies.table import fingerprint

Spoilt = Callable[..., FloatArray]


def some_rewards(theta: FloatArray, noise_variance: float, seed: int) -> Callable[[FloatArray], float]:
    rng = np.random.default_rng(seed)
    return lambda action: float(action @ theta + math.sqrt(noise_variance) * rng.standard_normal())


def test_half_width_is_that_of_the_book_for_unit_noise() -> None:
    """*Bandit Algorithms*, section 23.2, line 8 of the algorithm Selective Explore-Then-Commit."""
    for horizon in (1, 10, 1000):
        for t in (1, 2, 17, 5000):
            printed = 2 * math.sqrt((1 / t + 1 / t**2) * math.log(horizon * math.sqrt(2 * t + 1)))
            assert half_width(np.array([float(t)]), horizon)[0] == pytest.approx(printed, rel=1e-12)
    assert half_width(np.zeros(1), 1)[0] == math.inf
    # in other units, rewards and intervals grow alike
    assert half_width(np.array([7.0]), 50, 9.0, 3.0)[0] == pytest.approx(3 * half_width(np.array([7.0]), 50)[0])


def textbook_interval(told: Sequence[tuple[float, float]], horizon: int, variance: float, bound: float) -> Any:
    """θ̂ ± W from the rounds (A_i, Y) in which a coordinate explored, by a loop over them."""
    count, total = 0, 0.0
    for action, reward in told:
        count += 1
        total += action * reward
    if count == 0:
        return 0.0, -math.inf, math.inf
    width = math.sqrt(
        2 * (bound**2 + variance) * (1 / count + 1 / count**2) * math.log(horizon * (2 * count + 1) ** 0.5)
    )
    return total / count, total / count - width, total / count + width


@pytest.mark.parametrize(("variance", "bound"), [(1.0, 1.0), (0.05, 0.5)])
def test_decision_by_decision(variance: float, bound: float) -> None:
    theta, rounds = bound * np.array([0.5, 0.0, -0.3, 0.1, 0.0]), 400
    reward_of = some_rewards(theta, variance, 3)
    policy = sb.rivals.HypercubeElimination(5, variance, horizon=20, mean_bound=bound, seed=7)
    rng = stream(7, COIN_STREAM)
    told: list[list[tuple[float, float]]] = [[] for _ in range(5)]
    signs = [0.0] * 5
    for _ in range(rounds):
        coins = [2.0 * coin - 1.0 for coin in rng.integers(2, size=5)]
        expected = [sign or coin for sign, coin in zip(signs, coins, strict=True)]
        decision = policy.ask()
        assert decision.features.tolist() == expected
        assert decision.probability == 2.0 ** -signs.count(0.0)
        assert decision.probability_draws is None
        shown = policy.explain(decision).table
        assert len(shown) == 5
        for row in shown:
            i = int(str(row["coordinate"]))
            estimate, low, high = textbook_interval(told[i], 20, variance, bound)
            assert row["sign (0: exploring)"] == signs[i]
            assert row["rounds explored"] == len(told[i])
            assert [row["estimate"], row["interval from"], row["to"]] == pytest.approx([estimate, low, high])
        reward = reward_of(decision.features)
        policy.tell(decision, reward)
        for i in range(5):
            if signs[i] == 0:
                told[i].append((expected[i], reward))
                _, low, high = textbook_interval(told[i], 20, variance, bound)
                signs[i] = 1.0 if low > 0 else -1.0 if high < 0 else 0.0
    assert signs[0] == 1.0
    assert signs[2] == -1.0, "both signs have been seen"


def coverage(theta: FloatArray, widths: Spoilt, horizon: int, runs: int = 2000, rounds: int = 1000) -> FloatArray:
    """Share of runs in which a coordinate is in all its intervals; all runs are played side by side."""
    rng, variance = np.random.default_rng(0), 0.25
    shape = (runs, len(theta))
    count, total, signs, covered = np.zeros(shape), np.zeros(shape), np.zeros(shape), np.ones(shape, dtype=bool)
    for _ in range(rounds):
        exploring = signs == 0
        action = np.where(exploring, 2.0 * rng.integers(2, size=shape) - 1.0, signs)
        reward = action @ theta + math.sqrt(variance) * rng.standard_normal(runs)
        count += exploring
        total += exploring * action * reward[:, np.newaxis]
        width = widths(count, horizon, variance, 1.0)
        covered &= np.abs(total / count - theta) <= width
        signs = np.where(exploring & (np.abs(total / count) > width), np.sign(total), signs)
    return np.asarray(covered.mean(axis=0))


@pytest.mark.parametrize("theta", [[0.0, 1.0], [0.02, 0.98], [0.0, 0.5, -0.5]])
def test_the_truth_is_in_all_intervals_as_often_as_promised(theta: list[float]) -> None:
    """At n = 5 the promise is 80%; found are 93% where the bound on the other coordinates is met, as in (0, 1)."""

    def p_value(widths: Spoilt) -> float:
        hits = round(2000 * coverage(np.array(theta), widths, horizon=5).min())
        return float(stats.binomtest(hits, 2000, 0.8, alternative="less").pvalue)

    assert p_value(half_width) > 1e-5
    assert p_value(lambda *a: 0.7 * half_width(*a)) < 1e-5, "planted: a half-width of 1 − 1/√2 less"
    assert p_value(lambda t, n, variance, bound: half_width(t, n, variance, 1e-9)) < 1e-5, (
        "planted: others are no noise"
    )


def commitments(theta: FloatArray, runs: int, rounds: int) -> FloatArray:
    """Signs after ``rounds``, one row a run."""
    found = []
    for seed in range(runs):
        policy = sb.rivals.HypercubeElimination(len(theta), 0.1, horizon=rounds, seed=seed)
        reward_of = some_rewards(theta, 0.1, 1000 + seed)
        for _ in range(rounds):
            decision = policy.ask()
            policy.tell(decision, reward_of(decision.features))
        found.append(policy.posterior.signs)
    return np.array(found)


def test_an_easy_instance_is_solved_in_every_run() -> None:
    theta = np.array([0.6, 0.0, -0.4, 0.0])
    signs = commitments(theta, runs=15, rounds=300)
    np.testing.assert_array_equal(signs, np.tile(np.sign(theta), (15, 1)))


def test_committed_is_for_ever_and_late_rewards_count_for_who_explored() -> None:
    policy = sb.rivals.HypercubeElimination(2, 1e-4, horizon=2, mean_bound=0.1, seed=0)
    early = [policy.ask() for _ in range(60)]
    theta = np.array([0.1, 0.0])
    policy.tell(early[:50], [float(d.features @ theta) for d in early[:50]])
    assert policy.posterior.signs.tolist() == [1.0, 0.0]
    later = policy.ask()
    assert later.features[0] == 1.0
    assert later.probability == 0.5
    policy.tell(later, float(later.features @ theta))
    assert policy.posterior.rounds.tolist() == [50.0, 51.0], "the later one was no coin for the first coordinate"
    policy.tell(reversed(early[50:]), [-5.0 * d.features[0] for d in reversed(early[50:])])
    assert policy.posterior.rounds.tolist() == [60.0, 61.0], "the early ones were"
    assert policy.posterior.totals[0] == pytest.approx(50 * 0.1 - 10 * 5.0)
    assert policy.posterior.signs.tolist()[0] == 1.0
    assert policy.ask().features[0] == 1.0


def test_coins_are_fair_and_independent() -> None:
    """All eight corners come as often as the probability says; a coin of 0.55 would be seen."""
    policy = sb.rivals.HypercubeElimination(3, horizon=10, seed=0)
    decisions = [policy.ask() for _ in range(8000)]
    assert {d.probability for d in decisions} == {0.125}
    counts = np.unique([d.label for d in decisions], return_counts=True)[1]
    assert len(counts) == 8
    assert stats.chisquare(counts).pvalue > 1e-4
    one = np.array([0.55, 0.45])
    biased = np.einsum("i,j,k->ijk", one, [0.5, 0.5], [0.5, 0.5]).ravel()
    planted = np.bincount(np.random.default_rng(0).choice(8, size=8000, p=biased), minlength=8)
    assert stats.chisquare(planted).pvalue < 1e-4


def test_a_decision_and_its_reasons_read_well() -> None:
    policy = sb.rivals.HypercubeElimination(["price", "size", "age"], 1e-4, horizon=2, mean_bound=0.5, seed=0)
    for _ in range(30):
        decision = policy.ask()
        policy.tell(decision, float(decision.features @ np.array([0.0, -0.4, 0.0])))
    decision = policy.ask()
    text = str(policy.explain(decision))
    assert text.startswith(
        f"HypercubeElimination chose action {decision.label} with probability 0.25; it is decision 30."
    )
    assert repr(decision) == f"Decision(id=30, action=-1, label='{decision.label}', probability=0.25)"
    assert decision.label[1] == "-"
    rows = policy.explain(decision.id).table
    assert [row["sign (0: exploring)"] for row in rows] == [-1.0, 0.0, 0.0]
    assert rows[0]["coordinate"] == "size"
    assert "+0.4 from size" in text
    assert "coordinates exploring: 2\ncoordinates committed: 1" in text
    assert decision.diagnostics == {"coordinates exploring": 2.0, "coordinates committed": 1.0}
    assert repr(policy) == (
        "HypercubeElimination(the cube of 3 features; SignEstimates(noise_variance=0.0001, horizon=2, mean_bound=0.5); "
        "SelectiveExploration(); 31 asked, 1 pending)"
    )


def test_many_coordinates() -> None:
    policy = sb.rivals.HypercubeElimination(2000, horizon=10, seed=0)
    decision = policy.ask()
    assert decision.probability == 0.0, "2 to the minus 2000 is none in floating point"
    assert decision.diagnostics["coordinates exploring"] == 2000
    assert len(decision.label) == 35
    assert decision.label.endswith("...")
    assert len(policy.explain(decision).table) == 8


def test_other_actions_and_other_policies_decisions_are_refused() -> None:
    policy, stranger = (
        sb.rivals.HypercubeElimination(20, horizon=9, seed=0),
        sb.rivals.HypercubeElimination(20, horizon=9, seed=1),
    )
    policy.ask()
    before = fingerprint(policy)
    with pytest.raises(ValueError, match=r"actions: expected none with this policy \(its own are the whole cube"):
        policy.ask(np.eye(20))
    with pytest.raises(ValueError, match="noise_variance: expected none without actions"):
        policy.ask(noise_variance=[1.0])
    with pytest.raises(ValueError, match="decision: expected one of this policy's"):
        policy.tell(stranger.ask(), 1.0)
    assert fingerprint(policy) == before


def test_names_survive(tmp_path: Path) -> None:
    sb.rivals.HypercubeElimination(["price", "size"], horizon=9).save(tmp_path / "policy")
    assert sb.load(tmp_path / "policy").actions.feature_names == ("price", "size")


def test_regret_stops_growing_and_is_far_below_that_of_chance() -> None:
    """A random corner costs ‖θ*‖₁ = 1 a round. Planted: a bound ten times too large, which never commits."""
    environment = sb.environments.Hypercube(dimension=20, sparsity=2, noise_variance=0.1, effect=0.5)
    policies: dict[str, Any] = {
        "right": sb.rivals.HypercubeElimination,
        "planted": sb.maker(sb.rivals.HypercubeElimination, mean_bound=10.0),
    }
    result = sb.Experiment(environment, policies, horizon=500, trials=8).run()
    _, high = mean_interval(result.final("right"))
    assert high < 150
    np.testing.assert_allclose(result.regret["right"][:, -1], result.regret["right"][:, -100])
    low, _ = mean_interval(result.final("planted"))
    assert low > 400


def test_regret_grows_with_sparsity_and_not_with_dimension() -> None:
    """In short what ``python -m benchmarks.hypercube`` shows; planted: a bound on |⟨a, θ⟩| that grows as d^¼."""
    cells = [(s, d) for s in (1, 4) for d in (6, 48)]

    def growth(bound: Callable[[int], float]) -> tuple[FloatArray, FloatArray, FloatArray]:
        regrets = []
        for s, d in cells:
            environment = sb.environments.Hypercube(d, s, noise_variance=0.1, effect=0.25)
            policies = {"one": sb.maker(sb.rivals.HypercubeElimination, mean_bound=bound(d))}
            regrets.append(sb.Experiment(environment, policies, horizon=800, trials=6).run().final("one"))
        return exponents(np.array(cells, dtype=np.float64), np.array(regrets))

    (in_s, in_d), low, high = growth(lambda d: 1.0)
    assert 0.8 < low[0] < in_s < high[0] < 1.2
    assert -0.1 < low[1] < in_d < high[1] < 0.1
    _, low, _ = growth(lambda d: (d / 6) ** 0.25)
    assert low[1] > 0.1
