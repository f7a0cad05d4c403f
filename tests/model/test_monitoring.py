"""Partial monitoring games: what an action is worth and what it shows."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from sparsebandits.arguments import ArgumentError
from sparsebandits.model import Game, dueling, transductive


def test_a_duel_pays_the_sum_and_shows_the_difference() -> None:
    items, theta = np.random.default_rng(0).standard_normal((4, 3)), np.array([1.0, -2.0, 0.5])
    game, reward = dueling(items), items @ theta
    pairs = [tuple(map(int, label.split(" vs "))) for label in game.labels or ()]
    assert len(set(pairs)) == len(game) == 10
    for (i, j), paid, shown in zip(pairs, game.actions @ theta, game.observations @ theta, strict=True):
        assert paid == pytest.approx(reward[i] + reward[j])
        assert shown == pytest.approx(reward[i] - reward[j])


def test_probes_pay_nothing_and_actions_show_nothing() -> None:
    actions, probes = np.arange(6.0).reshape(3, 2), np.eye(2)
    game = transductive(actions, probes)
    np.testing.assert_array_equal(game.actions, np.vstack((actions, np.zeros((2, 2)))))
    np.testing.assert_array_equal(game.observations, np.vstack((np.zeros((3, 2)), probes)))


def test_names_of_tables_are_kept() -> None:
    items = pd.DataFrame({"sweet": [1.0, 2.0], "hot": [0.0, 1.0]}, index=["tea", "milk"])
    assert dueling(items).labels == ("tea vs tea", "tea vs milk", "milk vs milk")
    game = transductive(items, items[["hot", "sweet"]])
    assert game.labels == ("play tea", "play milk", "probe tea", "probe milk")
    assert game.feature_names == ("sweet", "hot")
    np.testing.assert_array_equal(game.observations[2:], items.to_numpy())


def test_a_table_of_observations_is_matched_by_name() -> None:
    """Rows and columns in another order are put in that of the actions; planted: taken by place."""
    actions = pd.DataFrame(np.eye(2), index=["tea", "milk"], columns=["sweet", "hot"])
    shown = pd.DataFrame([[4.0, 3.0], [2.0, 1.0]], index=actions.index, columns=actions.columns)
    moved = shown.loc[["milk", "tea"], ["hot", "sweet"]]
    np.testing.assert_array_equal(moved, [[1.0, 2.0], [3.0, 4.0]])
    unnamed = pd.DataFrame(shown.to_numpy())
    for table in (shown, moved, shown.to_numpy(), shown.to_numpy().tolist(), unnamed, shown.reset_index(drop=True)):
        np.testing.assert_array_equal(Game(actions, table).observations, shown)
    named = Game(np.eye(2), moved, ("tea", "milk"), ("sweet", "hot"))
    np.testing.assert_array_equal(named.observations, shown, "by the names of the game, wherever they are from")
    np.testing.assert_array_equal(Game(np.eye(2), moved).observations, moved, "nothing to match with")
    by_number = unnamed.loc[[1, 0], [1, 0]]
    np.testing.assert_array_equal(Game(pd.DataFrame(np.eye(2)), by_number).observations, unnamed)
    same_name = shown.set_axis(["tea", "tea"])
    for wrong in (
        shown.rename(index={"tea": "gin"}),
        shown.rename(columns={"hot": "cold"}),
        shown.iloc[:1],
        shown[["hot"]],
        unnamed.iloc[:1],
        unnamed[[0]],
        by_number,
        same_name,
        shown.assign(sour=0.0),
    ):
        with pytest.raises(ArgumentError, match=r"^observations: expected"):
            Game(actions, wrong)
    np.testing.assert_array_equal(Game(actions.set_axis(["tea", "tea"]), same_name).observations, shown)


def test_columns_of_a_polars_table_are_matched_by_name() -> None:
    polars = pytest.importorskip("polars")
    actions, shown = (
        polars.DataFrame({"sweet": [1, 0], "hot": [0, 1]}),
        polars.DataFrame({"hot": [3, 1], "sweet": [4, 2]}),
    )
    np.testing.assert_array_equal(Game(actions, shown).observations, [[4.0, 3.0], [2.0, 1.0]])


def test_what_is_no_game_is_refused() -> None:
    two, three = np.eye(2), np.eye(3)
    wrong: list[tuple[Any, tuple[Any, ...], str]] = [
        (Game, (two, three), "observations"),
        (Game, (two, two[:1]), "observations"),
        (Game, (two, two, ("one",)), "labels"),
        (Game, (two, two, None, ("one",)), "feature_names"),
        (dueling, ("text",), "items"),
        (dueling, ([[np.nan]],), "items"),
        (transductive, (two, three), "probes"),
    ]
    for make, given, name in wrong:
        with pytest.raises(ArgumentError, match=rf"^{name}: expected"):
            make(*given)
