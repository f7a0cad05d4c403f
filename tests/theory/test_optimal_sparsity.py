"""Sparse optimal actions, against brute force over all values of θ and all actions."""

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sparsebandits as sb
from sparsebandits.arguments import ArgumentValueError
from sparsebandits.posteriors import Draws
from sparsebandits.theory import sparse_optimal_actions


def brute_force(actions: Any, thetas: Any, weights: Any, s: int) -> dict[str, tuple[Fraction, int, float]]:
    """Probability, largest number of nonzero entries and largest norm for both ways to treat ties, in fractions."""
    total = {"any": Fraction(0), "sparsest": Fraction(0)}
    most, longest = {"any": 0, "sparsest": 0}, {"any": 0.0, "sparsest": 0.0}
    for theta, weight in zip(thetas, weights, strict=True):
        if weight == 0:
            continue
        values = [sum(Fraction(a) * Fraction(t) for a, t in zip(row, theta, strict=True)) for row in actions]
        best = [row for row, value in zip(actions, values, strict=True) if value == max(values)]
        sizes = [sum(entry != 0 for entry in row) for row in best]
        fewest = [row for row, size in zip(best, sizes, strict=True) if size == min(sizes)]
        for ties, size, rows in (("any", max(sizes), best), ("sparsest", min(sizes), fewest)):
            total[ties] += Fraction(weight) * (size <= s)
            most[ties] = max(most[ties], size)
            longest[ties] = max(longest[ties], *(sum(entry * entry for entry in row) ** 0.5 for row in rows))
    return {ties: (total[ties], most[ties], longest[ties]) for ties in total}


@pytest.mark.parametrize("seed", range(20))
def test_tables_of_hypotheses_against_brute_force(seed: int) -> None:
    """Small whole numbers, so that actions tie often, θ = 0 occurs, and fractions decide exactly."""
    rng = np.random.default_rng(seed)
    actions = rng.integers(-1, 2, size=(8, 4))
    thetas = rng.integers(-1, 2, size=(12, 4)) * (rng.random((12, 1)) < 0.9)
    weights = rng.integers(0, 4, size=12)
    weights[0] = 3
    for s in (1, 2, 3, 4):
        expected = brute_force(actions.tolist(), thetas.tolist(), weights.tolist(), s)
        for ties, (share, most, longest) in expected.items():
            found = sparse_optimal_actions(actions, sb.Hypotheses(thetas, weights), s, ties)
            assert found.probability == pytest.approx(float(share / int(weights.sum())), abs=1e-12)
            assert (found.most, found.exact, found.interval) == (most, True, None)
            assert found.longest == pytest.approx(longest)
            assert found.holds is (share == int(weights.sum()))
            assert found.checked == np.count_nonzero(weights)


def test_a_long_action_does_not_make_others_tie() -> None:
    """Planted: rounding of the longest action, which is 10¹³ times as long and never the best."""
    actions, prior = [[1e13, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 1.0]], sb.Hypotheses([[-1.0, 1.0, 1.0]])
    for ties in ("any", "sparsest"):
        found = sparse_optimal_actions(actions, prior, 1, ties=ties)
        assert (found.holds, found.most) == (False, 2)


def test_the_columns_of_a_table_are_matched_with_the_names_of_an_engine() -> None:
    """Planted: columns by position, under which the best action is the sparse one."""
    engine = sb.Table(sb.Hypotheses(pd.DataFrame([[0.0, 1.0]], columns=["a", "b"])), 2, noise_variance=1.0)
    actions = pd.DataFrame([[1.0, 0.0], [0.9, 0.9]], columns=["a", "b"])
    for table in (actions, actions[["b", "a"]]):
        assert sparse_optimal_actions(table, engine, 1).holds is False
    with pytest.raises(ArgumentValueError, match="belief: expected the columns"):
        sparse_optimal_actions(actions.rename(columns={"a": "x"}), engine, 1)


def test_ties_up_to_rounding_are_ties() -> None:
    """0.1 + 0.2 exceeds 0.3 by rounding; planted: which of the two is the larger double decides."""
    actions, prior = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), sb.Hypotheses([[0.1, 0.2, 0.3]])
    assert 0.1 + 0.2 > 0.3
    assert sparse_optimal_actions(actions, prior, 1).probability == 0.0
    assert sparse_optimal_actions(actions, prior, 1, ties="sparsest").probability == 1.0
    assert sparse_optimal_actions(actions[:, ::-1], sb.Hypotheses([[0.3, 0.2, 0.1]]), 1, "sparsest").holds is True


def test_rows_in_another_order_or_twice_change_nothing() -> None:
    rng = np.random.default_rng(0)
    actions, prior = rng.integers(-1, 2, size=(9, 3)), sb.Hypotheses(rng.integers(-1, 2, size=(20, 3)))
    expected = sparse_optimal_actions(actions, prior, 2)
    assert sparse_optimal_actions(actions[rng.permutation(9)], prior, 2) == expected
    assert sparse_optimal_actions(np.vstack((actions, actions)), prior, 2) == expected


def test_the_papers_hard_instance_has_sparse_optimal_actions() -> None:
    """Hao, Lattimore and Deng: best actions are uninformative ones, which are s − 1 sparse; the others are dense."""
    world = sb.environments.HardInstance(dimension=6, sparsity=3, epsilon=0.1, informative_set="hypercube")
    instances = [world.sample(seed) for seed in range(60)]
    thetas = np.unique([instance.theta for instance in instances], axis=0)
    found = sparse_optimal_actions(instances[0].actions, sb.Hypotheses(thetas), sparsity=3)
    assert found.holds is True
    assert found.most == 2
    assert found.longest == pytest.approx(np.sqrt(2))
    dense = sparse_optimal_actions(np.sign(instances[0].actions + 0.5), sb.Hypotheses(thetas), sparsity=3)
    assert dense.holds is False, "planted: no zeros"


AXES = np.vstack((np.eye(2), -np.eye(2), [[0.8, 0.8]]))


def test_a_prior_by_draws_against_its_probability() -> None:
    """(0.8, 0.8) is best where 0.25 < θ₂/θ₁ < 4 in the positive quadrant: an angle of arctan 4 − arctan 0.25."""
    truth = 1.0 - (np.arctan(4.0) - np.arctan(0.25)) / (2 * np.pi)

    def p_value(prior: Any) -> float:
        found = sparse_optimal_actions(AXES, prior, 1, n_draws=20_000, seed=1)
        assert (found.exact, found.checked, found.holds, found.most) == (False, 20_000, False, 2)
        return float(stats.binomtest(round(found.probability * 20_000), 20_000, truth).pvalue)

    assert p_value(sb.GaussianPrior(2.0)) > 1e-4
    assert p_value(sb.SpikeSlab(1.0, 1.0, of_noise=True)) > 1e-4
    assert p_value(sb.GaussianPrior(np.array([1.0, 4.0]))) < 1e-4, "planted: a deviation of 2 in one coordinate"


def test_the_interval_covers_as_often_as_it_says() -> None:
    """In 95% of 200 seeds or more; planted: an interval of half the width."""
    truth = 1.0 - (np.arctan(4.0) - np.arctan(0.25)) / (2 * np.pi)
    covered, narrow = 0, 0
    for seed in range(200):
        found = sparse_optimal_actions(AXES, sb.GaussianPrior(), 1, n_draws=200, seed=seed)
        assert found.interval is not None
        low, high = found.interval
        if seed < 5:
            exact = stats.binomtest(round(200 * found.probability), 200).proportion_ci(0.95, "exact")
            assert (low, high) == pytest.approx((exact.low, exact.high), abs=1e-9)
        covered += low <= truth <= high
        narrow += abs(found.probability - truth) <= (high - low) / 4
    assert stats.binomtest(covered, 200, 0.95, alternative="less").pvalue > 1e-4
    assert stats.binomtest(narrow, 200, 0.95, alternative="less").pvalue < 1e-4, "planted: half the width"


def test_draws_that_find_nothing_prove_nothing() -> None:
    """Both coefficients matter with probability 10⁻⁸, and then the dense action may be best."""
    rare = sparse_optimal_actions(AXES, sb.SpikeSlab(1e-4, 1.0), 1, ties="sparsest", n_draws=2000)
    assert (rare.holds, rare.probability, rare.most) == (None, 1.0, 1)
    assert rare.interval == pytest.approx((0.025 ** (1 / 2000), 1.0))
    assert ": not refuted. " in str(rare)
    assert "no proof" in rare.statement
    zero = sparse_optimal_actions(AXES, sb.SpikeSlab(1e-4, 1.0), 1, n_draws=2000)
    assert zero.holds is False, "where θ = 0 all actions tie, the dense one among them"
    certain = sparse_optimal_actions(AXES, sb.SpikeSlab(0.5, 1.0), 2, n_draws=100)
    assert (certain.holds, certain.probability, certain.interval) == (True, 1.0, None)
    assert "whatever θ is" in certain.statement


def test_posteriors_draws_and_data_frames() -> None:
    table = sb.Table(sb.Hypotheses([[1.0, 0.0], [1.0, 1.0]]), 2, 1.0)
    table.update([[1.0, -1.0]], [1.0])
    exact = sparse_optimal_actions(AXES, table, 1)
    assert exact.exact
    assert exact.probability == pytest.approx(1 / (1 + np.exp(-0.5)))
    weighted = sparse_optimal_actions(AXES, Draws([[1.0, 0.0], [1.0, 1.0]], [0.75, 0.25]), 1)
    assert (weighted.probability, weighted.interval, weighted.exact, weighted.holds) == (0.75, None, False, False)
    assert "2 draws of θ were checked" in weighted.statement
    sure = sparse_optimal_actions(AXES, Draws([[1.0, 0.0], [1.0, 1.0]], [1.0, 0.0]), 1)
    assert (sure.probability, sure.holds, sure.checked) == (1.0, None, 1)
    engine = sb.Conjugate(sb.GaussianPrior(), 2, 1.0, n_draws=200, seed=0)
    engine.update([[1.0, 1.0]], [40.0])  # (0.8, 0.8) is best under nearly all draws
    found = sparse_optimal_actions(AXES, engine, 1)
    assert (found.exact, found.interval, found.most) == (False, None, 2)
    assert found.probability < 0.5
    frame = pd.DataFrame(AXES, columns=["a", "b"])
    swapped = sb.Hypotheses(pd.DataFrame([[0.0, 1.0], [5.0, 1.0]], columns=["b", "a"]))
    assert sparse_optimal_actions(frame.iloc[:3], swapped, 1) == sparse_optimal_actions(
        AXES[:3], sb.Hypotheses([[1.0, 0.0], [1.0, 5.0]]), 1
    )


def test_many_values_are_checked_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    actions, prior = rng.standard_normal((7, 3)), sb.GaussianPrior()
    actions[:3, 0] = 0.0
    whole = sparse_optimal_actions(actions, prior, 2, n_draws=50)
    monkeypatch.setattr("sparsebandits.theory.optimal_sparsity.BLOCK", 30)
    assert sparse_optimal_actions(actions, prior, 2, n_draws=50) == whole
    assert 0 < whole.probability < 1


def test_what_does_not_fit_is_refused() -> None:
    for belief, message in (
        (sb.Hypotheses([[1.0]]), "belief: expected 2 coefficients, as actions have features, got 1"),
        (sb.SpikeSlab(0.5, 1.0, slab_mean=1.0, of_noise=True), "belief: expected a prior in units of θ"),
    ):
        with pytest.raises(ValueError, match=message):
            sparse_optimal_actions(AXES, belief, 1)
    with pytest.raises(TypeError, match="belief: expected a prior"):
        sparse_optimal_actions(AXES, np.eye(2), 1)
    with pytest.raises(ValueError, match="ties: expected"):
        sparse_optimal_actions(AXES, sb.GaussianPrior(), 1, ties="first")
