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
