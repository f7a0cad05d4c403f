"""The instances of Hao, Lattimore and Qin (2022): what they are, and that the page has what is stored."""

import numpy as np
import pytest
from benchmarks import games as kept
from papers.hao2022 import games, instances
from papers.hao2022.__main__ import COMMAND, PAGE, STORED, players_of
from papers.hao2022.tables import regrets, tables


def test_instances_are_those_of_the_paper() -> None:
    first = instances.under_exploration(5)
    means = first.theta @ first.actions.T
    assert means[:, :5].tolist() == np.eye(5).tolist()
    assert (means[:, 5] - means[:, 6] == 1.0).all()
    assert first.feedback is not None
    assert np.flatnonzero(first.feedback[6]).tolist() == [0, 1, 2, 3, 4]
    second = instances.over_exploration(9, 100)
    means = second.theta @ second.actions.T
    assert means.max(axis=1) - means[:, 9] == pytest.approx(3.0 * 0.1)
    assert second.contexts == ((10,), tuple(range(10)))
    third = instances.sparse_linear(6, 0.5, np.random.default_rng(0))
    means = third.theta @ third.actions.T
    assert (means[:, 0] == 0.0).all()
    assert (means[:, 1:65] <= -0.5).all()
    assert means[:, 65:].tolist() == (0.5 * np.eye(6)).tolist()
    fourth = instances.graph(8, 100)
    means = fourth.theta @ fourth.actions.T
    assert fourth.contexts == ((6, 7), tuple(range(6)))
    assert (means[:, 0] == 0.0).all()
    assert means[:, 1:6].tolist() == (0.5 * np.sqrt(0.08) * np.eye(5)).tolist()
    assert (means[:, 7] == -1.0).all()
    assert fourth.feedback is not None
    assert fourth.feedback[7].tolist() == [True] * 7 + [False]


@pytest.mark.parametrize("name", ["example 1, k = 20", "theorem 6.3, p = 100, Δ = 0.5"])
def test_a_game_repeats(name: str) -> None:
    for player in players_of(name)[:2]:
        one, other = games.play(name, player, 3, 16), games.play(name, player, 3, 16)
        assert {**one, "ms": 0} == {**other, "ms": 0}
        assert len(one["regret"]) == len(one["rounds"]) == 8
        assert one["regret"] == sorted(one["regret"])


def test_the_page_has_what_is_stored() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == kept.with_tables(text, COMMAND, tables(kept.stored(STORED)))


def test_regret_is_of_trials_that_all_have_played() -> None:
    lines = [
        {"setting": "s", "player": player, "trial": trial, "regret": [float(trial)], "rounds": [1]}
        for player, trials in (("a", (0, 1, 2)), ("b", (0, 1, 3)))
        for trial in trials
    ]
    assert regrets(lines, "s", "a", "b").tolist() == [[[0.0], [1.0]], [[0.0], [1.0]]]
