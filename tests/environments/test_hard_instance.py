from math import ceil, comb, e, log
from typing import Any

import numpy as np
import pytest

import sparsebandits as sb
from sparsebandits.theory import exploratory_design, restricted_eigenvalue
from tests.statistical import assert_means_agree


@pytest.mark.parametrize(("dimension", "sparsity"), [(10, 2), (12, 3), (20, 2)])
def test_structure(dimension: int, sparsity: int) -> None:
    environment = sb.environments.HardInstance(dimension, sparsity, epsilon=0.2)
    informative = environment.actions[environment.informative]
    others = environment.actions[~environment.informative]
    assert len(informative) == ceil(6 * sparsity * log(e * dimension / sparsity))
    assert set(informative[:, :-1].ravel()) == {-1.0, 1.0}
    assert (informative[:, -1] == 1.0).all()
    assert len(np.unique(informative, axis=0)) == len(informative)
    assert len(np.unique(others, axis=0)) == len(others) == comb(dimension - 1, sparsity - 1) * 2 ** (sparsity - 1)
    assert set(others.ravel()) == {-1.0, 0.0, 1.0}
    assert (np.abs(others).sum(axis=1) == sparsity - 1).all()
    assert (others[:, -1] == 0.0).all()
    bounds = restricted_eigenvalue(informative.T @ informative / len(informative), sparsity, 3.0)
    assert bounds == environment.restricted_eigenvalue
    assert bounds.lower >= 0.25


def test_informative_actions_cost_about_one_and_the_best_is_uninformative() -> None:
    environment = sb.environments.HardInstance(10, 3, epsilon=0.1)
    for seed in range(20):
        instance = environment.sample(seed)
        assert np.count_nonzero(instance.theta) == 3
        assert instance.theta[-1] == -1.0
        assert sorted(instance.theta)[-2:] == [0.1, 0.1]
        assert not environment.informative[instance.gaps.argmin()]
        assert instance.means.max() == pytest.approx(0.2)
        assert instance.gaps[environment.informative].min() >= 1.0, "planted: −1 in the last coordinate makes it −1"
        assert instance.gaps[environment.informative].max() <= 1.4 + 1e-12


def test_the_support_is_uniform_and_the_set_is_one() -> None:
    environment = sb.environments.HardInstance(6, 3)
    instances = [environment.sample(seed) for seed in range(2000)]
    support = np.array([instance.theta[:-1] > 0 for instance in instances])
    assert_means_agree(support.mean(axis=0), np.full(5, 0.4), np.full(5, np.sqrt(0.24 / 2000)))
    with pytest.raises(AssertionError, match="z-score"):  # planted: the first two coordinates, as printed
        assert_means_agree(np.array([1.0, 1.0, 0, 0, 0]), np.full(5, 0.4), np.full(5, np.sqrt(0.24 / 2000)))
    assert all((instance.actions == environment.actions).all() for instance in instances[:5])
    first, again, other = (sb.environments.HardInstance(10, 2, set_seed=seed).actions for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_the_whole_hypercube_is_exploratory() -> None:
    environment = sb.environments.HardInstance(7, 2, informative_set="hypercube")
    assert environment.informative.sum() == 64
    moment = environment.actions[:64].T @ environment.actions[:64] / 64
    np.testing.assert_array_equal(moment, np.eye(7))
    assert environment.restricted_eigenvalue == (1.0, 1.0)
    design = exploratory_design(environment.actions)
    assert (design.c_min, design.exploratory) == (1.0, True)
    small = sb.environments.HardInstance(3, 2)  # where 6 s log(ed/s) is more than the number of corners
    assert small.informative.sum() == 4


def test_sets_that_cannot_be_made() -> None:
    with pytest.raises(ValueError, match=r"n_informative: expected enough actions .* got 5; the best certified .* 0,"):
        sb.environments.HardInstance(10, 2, n_informative=5)
    with pytest.raises(ValueError, match="n_informative: expected None for the whole hypercube, got 5"):
        sb.environments.HardInstance(10, 2, n_informative=5, informative_set="hypercube")
    with pytest.raises(ValueError, match=r"dimension: expected at most .* corners"):
        sb.environments.HardInstance(30, 2, informative_set="hypercube")
    with pytest.raises(ValueError, match=r"sparsity: expected at most .* uninformative actions"):
        sb.environments.HardInstance(60, 8)


def test_it_is_redrawn_until_it_is_good_enough() -> None:
    """With 20 actions in 10 dimensions most sets fail; the one that is returned does not."""
    environment = sb.environments.HardInstance(10, 2, n_informative=20)
    assert environment.restricted_eigenvalue.lower >= 0.25
    rng = np.random.default_rng(0)
    failed = 0
    for _ in range(20):
        actions = np.column_stack((rng.choice((-1.0, 1.0), size=(20, 9)), np.ones(20)))
        failed += restricted_eigenvalue(actions.T @ actions / 20, 2, 3.0).upper < 0.25
    assert failed > 0


def test_sets_that_fail_are_given_up_before_all_supports_are_enumerated(monkeypatch: pytest.MonkeyPatch) -> None:
    """At d = 40, s = 4 a certificate takes seconds, and twenty sets fail."""
    certified = []

    def counted(*given: Any) -> Any:
        certified.append(restricted_eigenvalue(*given))
        return certified[-1]

    monkeypatch.setattr("sparsebandits.environments.hard_instance.restricted_eigenvalue", counted)
    environment = sb.environments.HardInstance(10, 2, n_informative=20)
    assert certified[-1] == environment.restricted_eigenvalue
    assert all(bounds.upper >= 0.25 for bounds in certified)


def test_corners_that_agree_are_drawn_again() -> None:
    """Of 5000 draws from 2^20 corners a dozen coincide with another one on average."""
    environment = sb.environments.HardInstance(21, 2, n_informative=5000)
    informative = environment.actions[environment.informative]
    assert len(np.unique(informative, axis=0)) == len(informative) == 5000


def test_in_a_simulation_pulls_of_informative_actions_can_be_counted() -> None:
    environment = sb.environments.HardInstance(10, 2)
    trace = sb.simulate(sb.maker(sb.rivals.ESTC, exploration=400), environment.sample(0), 430, seed=0)
    pulls = environment.informative[trace.actions]
    assert pulls[:20].sum() > 10, "exploring is mostly informative"
    assert len(set(trace.actions[400:])) == 1
    short = sb.simulate(sb.maker(sb.rivals.ESTC, exploration=20), environment.sample(0), 50, seed=0)
    assert len(set(short.actions[20:])) > 10, "the Lasso finds nothing in 20 rewards, so all actions tie"
