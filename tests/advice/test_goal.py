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


def test_rows_that_differ_in_cost_alone_are_different_actions() -> None:
    """Two offers of each recipe: the cheaper one is the better choice, with names and without."""
    once = table(8).reset_index(drop=True)
    twice = pd.concat([once.assign(price=3.0), once.assign(price=2.0, reward=np.nan)], ignore_index=True)
    advice = sb.decide(twice, cost="price", horizon=1, **QUICK)
    assert advice.about["n_actions"] == 16
    assert int(advice.recommendations[0].name) >= 8
    named = sb.decide(twice.set_index("r" + twice.index.astype(str)), cost="price", horizon=1, **QUICK)
    assert [one.name for one in named.recommendations] == [f"r{one.name}" for one in advice.recommendations]
    assert [(f"r{one['action']}", one["P(best)"]) for one in advice.candidates] == [
        (one["action"], one["P(best)"]) for one in named.candidates
    ]
    trials = pd.concat([once.assign(price=3.0)] * 2, ignore_index=True)
    assert sb.decide(trials, cost="price", **QUICK).about["n_actions"] == 8, "the same cost: trials of the same action"


@pytest.mark.parametrize("options", [{"batch": 3}, {"untried": True}, {"pending": ["9"]}, {"where": "price < 2.5"}])
def test_rows_that_differ_in_cost_alone_need_not_be_on_offer_together(options: dict[str, Any]) -> None:
    once = table(8).reset_index(drop=True)
    twice = pd.concat([once.assign(price=3.0), once.assign(price=2.0, reward=np.nan)], ignore_index=True)
    advice = sb.decide(twice, cost="price", **options, **QUICK)
    shown = {row["action"]: row["cost"] for row in advice.recommendations[-1].explanation.table}
    assert shown == {name: twice["price"][int(name)] for name in shown}


def test_an_action_has_one_cost() -> None:
    frame = table().rename_axis("recipe").reset_index().assign(price=2.0)
    again = pd.concat([frame, frame[:2].assign(price=[2.0, 2.5])], ignore_index=True)
    with pytest.raises(ValueError, match="always with the same features and cost, got 'r1' in row 13") as caught:
        sb.decide(again, cost="price", **QUICK)
    assert "which differ in column 'price'" in str(caught.value)
    assert sb.decide(again[:13], cost="price", **QUICK).about["n_actions"] == 12


def test_whether_to_stop_counts_costs() -> None:
    """The chances agree with those of the rule, which counts doing nothing, too."""
    frame = table().assign(price=np.linspace(1.0, 4.0, 12))
    frame["reward"] -= 5.0  # so that about half are not worth trying
    frame["reward"] += np.random.default_rng(0).normal(size=12)
    advice = sb.decide(frame, cost="price", n_draws=20_000, seed=3)
    assert advice.stopping is not None
    assert "per unit of cost" in str(advice.stopping)
    why = {str(row["action"]): row["P(optimal)"] for row in advice.recommendations[0].explanation.table}
    chances = {row["action"]: row["P(best)"] for row in advice.candidates}
    for name, chance in why.items():
        assert chances[name] == pytest.approx(chance, abs=0.06)  # 2,000 draws: five standard errors of at most 0.011
    nothing = advice.recommendations[0].decision.reasons.notes["P(doing nothing is best)"]
    assert 1.0 - sum(chances.values()) == pytest.approx(nothing, abs=0.06)
    assert nothing > 0.0
    poor = sb.decide(frame.assign(reward=frame["reward"] - 20.0), cost="price", **QUICK)
    assert poor.stopping is None, "nothing is worth its cost"


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
