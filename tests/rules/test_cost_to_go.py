"""The rule of least cost to go, against a search by brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsebandits as sb
from sparsebandits.arguments import ArgumentError
from sparsebandits.policies.sparse import SparsePolicy
from sparsebandits.rules.cost_to_go import CostToGo, costs


def slow_cost(regret: float, least: float, information: float, entropy: float, rounds: float) -> float:
    """Play for any number of rounds, sum the regret of each small step, take the best number."""
    until = 0.5 * entropy / information
    step = min(until, rounds) / 2000
    doubt = np.clip(1.0 - (np.arange(2000) + 0.5) * step / until, 0.0, 1.0)
    paid = np.concatenate(([0.0], np.cumsum((regret - least + least * doubt) * step)))
    played = np.arange(2001) * step
    left = np.clip(1.0 - played / until, 0.0, 1.0)
    return float((paid + least * left * (rounds - played)).min())


@given(st.floats(0.01, 2.0), st.floats(0.0, 2.0), st.floats(0.001, 3.0), st.floats(0.01, 5.0), st.floats(1.5, 1000.0))
def test_costs_are_the_least_over_all_numbers_of_rounds(
    least: float, apart: float, information: float, entropy: float, rounds: float
) -> None:
    regret = np.array([least, least + apart])
    found, extra, later = costs(regret, np.array([0.0, information]), entropy, rounds)
    assert found[1] == pytest.approx(slow_cost(regret[1], least, information, entropy, rounds), rel=1e-3, abs=1e-6)
    assert found[0] == pytest.approx(least * rounds)
    np.testing.assert_allclose(found, extra + later)


def test_nothing_to_learn_is_greedy() -> None:
    regret, information = np.array([0.3, 0.1, 0.2]), np.array([9.0, 0.0, 1.0])
    for entropy, rounds in ((0.0, 100.0), (1.0, 1.0)):
        assert costs(regret, information, entropy, rounds)[0].argmin() == 1
    assert costs(np.array([0.3, 0.0]), information[:2], 1.0, 100.0)[0].argmin() == 1


def test_rounds_left() -> None:
    assert [CostToGo(100).rounds_left(t) for t in (0, 60, 99, 200)] == [100, 40, 1, 1]
    assert CostToGo(0.99).rounds_left(7) == pytest.approx(100)
    assert CostToGo().rounds_left(10_000) == 10_000


@pytest.mark.parametrize("horizon", [0, -1, 2.5, 0.0, "ten", np.nan, True])
def test_horizons_that_are_none(horizon: object) -> None:
    with pytest.raises(ArgumentError, match=r"^horizon: expected"):
        CostToGo(horizon=horizon)  # type: ignore[arg-type]


def test_it_pays_for_information_while_there_is_time() -> None:
    """Two opposite rows tell which of them is good, and the third tells nothing."""
    actions = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0]])
    prior = sb.SpikeSlab(1.0, 1.0)
    posterior = sb.Enumeration(prior, 2, 1.0, n_draws=4000, seed=0)
    beliefs = sb.rules.Beliefs(posterior, actions)
    long = CostToGo(1000).choose(beliefs, np.random.default_rng(0))
    assert long.action in (0, 1)
    assert set(long.reasons.columns) >= {"pays now", "saves later"}
    assert long.reasons.columns["saves later"][0] > long.reasons.columns["pays now"][0]


def test_policies_have_it(tmp_path) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(0)
    actions = rng.standard_normal((20, 5))
    policy = SparsePolicy(actions, CostToGo(30), n_draws=200, seed=0)
    for _ in range(10):
        decision = policy.ask()
        policy.tell(decision, float(actions[decision.action, 0] + 0.1 * rng.standard_normal()))
    policy.save(tmp_path / "policy")
    back = sb.load(tmp_path / "policy", SparsePolicy)
    assert back.ask().action == policy.ask().action
    assert "pays now" in str(policy.explain(policy.ask()))
