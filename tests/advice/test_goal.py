"""Goals other than large rewards: what is learned, what is shown, and what is chosen."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import sparsebandits as sb
from sparsebandits.advice.goal import Goal

QUICK: dict[str, Any] = {"n_draws": 500, "seed": 3}


def table(rows: int = 12) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(rows, 3)), columns=list("abc"), index=[f"r{i}" for i in range(rows)])
    return frame.assign(reward=np.where(np.arange(rows) < 9, 5.0 + 2.0 * frame["a"], np.nan))


def test_small_rewards_are_large_negatives_and_are_shown_as_they_are() -> None:
    small = table()
    large = small.assign(reward=-small["reward"])
    found, other = sb.decide(small, minimize=True, **QUICK), sb.decide(large, **QUICK)
    assert [one.name for one in found.recommendations] == [one.name for one in other.recommendations]
    for mine, theirs in zip(found.candidates, other.candidates, strict=True):
        assert mine["expected reward"] == -theirs["expected reward"]
        assert (mine["action"], mine["P(best)"], mine["sd"]) == (theirs["action"], theirs["P(best)"], theirs["sd"])
    for effect, turned in zip(found.features, other.features, strict=True):
        assert (effect.mean, effect.low, effect.high) == (-turned.mean, -turned.high, -turned.low)
        assert effect.positive == pytest.approx(turned.inclusion - turned.positive)
    best = found.candidates[0]["action"]
    assert small["a"][best] == small["a"].min()
    assert found.about["goal"] == "small rewards"
    assert any("negatives" in note for note in found.notes)


def test_small_shares_of_clicks_are_wanted_too() -> None:
    frame = table().assign(reward=np.array([0, 1] * 6, float))
    mean = {one["action"]: one["expected reward"] for one in sb.decide(frame, minimize=True, **QUICK).candidates}
    other = {one["action"]: one["expected reward"] for one in sb.decide(frame, **QUICK).candidates}
    assert all(0.0 < one < 1.0 for one in mean.values())
    assert np.corrcoef(list(mean.values()), [other[name] for name in mean])[0, 1] > 0.5, "shown as shares of ones"


def test_a_target_is_met_by_the_row_that_is_close_to_it() -> None:
    frame = table()
    means = 5.0 + 2.0 * frame["a"]
    advice = sb.decide(frame, target=float(means["r10"]), horizon=1, **QUICK)
    nearest = (means - means["r10"]).abs().sort_values().index[:2]
    assert advice.recommendations[0].name in nearest
    assert advice.stopping is not None
    assert advice.stopping.name in nearest


def test_costs_count() -> None:
    frame = table().assign(price=1.0)
    frame.loc[frame["a"].idxmax(), "price"] = 50.0
    advice = sb.decide(frame, cost="price", horizon=1, **QUICK)
    assert advice.recommendations[0].name != frame["a"].idxmax()
    assert "price" not in advice.past.feature_names
    assert sb.decide(frame.drop(columns="price"), horizon=1, **QUICK).recommendations[0].name == frame["a"].idxmax()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"minimize": True, "target": 1.0}, "target: expected no other goal besides minimize"),
        ({"target": 1.0, "cost": "b"}, "cost: expected no other goal besides target"),
        ({"target": 1.0, "policy": "lin-ucb"}, 'target: expected none for a policy other than "sparse-ids"'),
        ({"target": np.nan}, "target: expected"),
        ({"minimize": "yes"}, "minimize: expected"),
        ({"minimize": True, "family": "poisson"}, "family: expected gaussian, since small rewards are wanted"),
        ({"cost": "c"}, "expected a positive cost of each action"),
        ({"cost": "d"}, "expected a column 'd'"),
    ],
)
def test_what_is_refused(options: dict[str, Any], message: str) -> None:
    frame = table()
    frame["b"] = frame["b"].abs() + 0.1
    frame["c"] -= 10.0
    if options.get("family") == "poisson":
        frame["reward"] = frame["reward"].round().abs()
    with pytest.raises((ValueError, TypeError)) as caught:
        sb.decide(frame, **QUICK, **options)
    assert message in str(caught.value)


def test_goals_in_words() -> None:
    costs = np.ones(2)
    words = [str(goal) for goal in (Goal(), Goal(minimize=True), Goal(target=2.5), Goal(costs=costs))]
    assert words == ["large rewards", "small rewards", "rewards close to 2.5", "large rewards per unit of cost"]
