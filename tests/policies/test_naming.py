"""Actions by name and by row: integers that are names, booleans, names that occur twice."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import sparsebandits as sb
from sparsebandits.arguments import ArgumentError

COLUMNS = {"price": [3.0, 5.0, 8.0, 4.0], "size": [1.0, 0.0, 2.0, 1.5]}
USERS = [{"age": float(age)} for age in range(20, 40)]


def offers(index: list[Any]) -> pd.DataFrame:
    return pd.DataFrame(COLUMNS, index=index)


@pytest.mark.parametrize("contexts", [None, USERS], ids=["plain", "contexts"])
def test_integers_are_names_where_names_are_whole_numbers(contexts: Any) -> None:
    asked: Any = {} if contexts is None else {"context": USERS[0]}
    reversed_policy = sb.LinTS(offers([3, 2, 1, 0]), contexts=contexts, seed=0)
    assert reversed_policy.ask(available=[3], **asked).label == "3"
    assert reversed_policy.ask(available=[np.int64(0)], **asked).action == 3
    policy = sb.LinTS(offers([101, 102, 103, 7]), contexts=contexts, seed=0)
    assert policy.ask(available=[101, 7], **asked).available == (0, 3)
    assert policy.ask(available=["101"], **asked).action == 0
    with pytest.raises(ArgumentError, match=r"available: expected names .* whole numbers.*\[0\], not among them"):
        policy.ask(available=[0], **asked)


def test_integers_are_rows_otherwise() -> None:
    for index in (["a", "b", "c", "d"], ["3", "b", "c", "d"], [0, 1, 2, 3]):
        policy = sb.LinTS(offers(index), seed=0)
        assert policy.ask(available=[3]).action == 3
        assert policy.ask(available=[index[0]]).action == 0
    assert sb.LinTS(offers([0, 1, 2, 3]).to_numpy(), seed=0).ask(available=[2]).action == 2


def test_a_feedback_graph_by_integers_is_one_by_names() -> None:
    policy = sb.LinTS(offers([101, 102, 103, 7]), feedback={7: [101, 103]}, seed=0)
    decision = policy.ask(available=[7])
    assert decision.observed == (0, 2)
    policy.tell(decision, {103: 3.0, 101: 1.0})
    assert policy.shown(decision) == {0: 1.0, 2: 3.0}
    with pytest.raises(ArgumentError, match=r"feedback: expected names .* whole numbers"):
        sb.LinTS(offers([101, 102, 103, 7]), feedback={0: [1]}, seed=0)


def test_rewards_by_integers_that_may_be_rows_or_names_are_refused() -> None:
    policy = sb.LinTS(offers([3, 2, 1, 0]), feedback=np.ones((4, 4)), seed=0)
    decision = policy.ask()
    with pytest.raises(ArgumentError, match="which may be rows as well as names"):
        policy.tell(decision, {row: float(row) for row in decision.observed or ()})
    policy.tell(decision, {str(row): float(row) for row in range(4)})
    assert policy.shown(decision) == {0: 3.0, 1: 2.0, 2: 1.0, 3: 0.0}
    same = sb.LinTS(offers([0, 1, 2, 3]), feedback=np.ones((4, 4)), seed=0)
    same.tell(same.ask(), {2: 2.0, 0: 0.0, 1: 1.0, 3: 3.0})
    assert same.shown(0) == {0: 0.0, 1: 1.0, 2: 2.0, 3: 3.0}


def test_play_with_integer_names() -> None:
    """Planted: rewards that were read by name and are passed on by row would be read by name again."""
    policy = sb.LinTS(offers([3, 2, 1, 0]), feedback=np.ones((4, 4)), seed=0)
    sb.play(policy, lambda decision: {str(row): float(row) for row in range(4)}, rounds=2)
    assert policy.shown(1) == {0: 3.0, 1: 2.0, 2: 1.0, 3: 0.0}


def test_booleans_say_of_each_action_whether_it_can_be_chosen() -> None:
    policy = sb.LinTS(offers([101, 102, 103, 7]), seed=0)
    for mask in ([False, True, False, True], np.array([0, 1, 0, 1], dtype=bool)):
        assert policy.ask(available=mask).available == (1, 3)
    by_name = pd.Series([True, False, False, True], index=[102, 103, 101, 7])
    assert policy.ask(available=by_name).available == (1, 3)
    with pytest.raises(ArgumentError, match="available: expected 4 booleans, one per action, got 3"):
        policy.ask(available=[True, False, True])
    with pytest.raises(ArgumentError, match=r"available: expected some .* got none"):
        policy.ask(available=[False] * 4)
    with pytest.raises(ArgumentError, match="available"):
        policy.ask(available=pd.Series([True, False, False, True], index=[1, 2, 3, 4]))


def test_a_name_of_several_actions_is_refused() -> None:
    policy = sb.LinTS(offers(["a", "a", "b", "c"]), seed=0)
    with pytest.raises(ArgumentError, match="the name of several actions"):
        policy.ask(available=["a"])
    assert policy.ask(available=[1]).action == 1


def test_noise_variances_are_matched_by_integer_names() -> None:
    noise = pd.Series([1.0, 2.0, 3.0, 4.0])
    policy = sb.LinTS(offers([3, 2, 1, 0]), noise_variance=noise, seed=0)
    assert policy.actions.noise_variances is not None
    assert policy.actions.noise_variances.tolist() == [4.0, 3.0, 2.0, 1.0]
    plain = sb.LinTS(offers([101, 102, 103, 7]), noise_variance=noise, seed=0)
    assert plain.actions.noise_variances is not None
    assert plain.actions.noise_variances.tolist() == [1.0, 2.0, 3.0, 4.0]
