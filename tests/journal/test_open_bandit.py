"""Columns of the Open Bandit Pipeline, ours and those of others."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sparsebandits as sb
from tests.journal.decisions import ACTIONS, changing_log, measure


@pytest.mark.parametrize("kind", ["fixed", "changing"])
def test_columns_are_what_the_open_bandit_pipeline_asks_for(kind: str) -> None:
    """Two-dimensional contexts, rows and positions as integers from 0, positive propensities, equal lengths."""
    log = changing_log() if kind == "changing" else sb.play(sb.LinTS(ACTIONS, seed=0), measure, rounds=6)
    columns = log.to_open_bandit()
    assert (columns["n_rounds"], columns["n_actions"]) == (6, 6)
    assert columns["context"].shape == ((6, 18) if kind == "changing" else (6, 1))
    for name in ("action", "position"):
        assert columns[name].shape == (6,)
        assert columns[name].dtype.kind == "i"
        assert columns[name].min() >= 0
    assert (columns["pscore"] > 0).all()
    if kind == "fixed":
        np.testing.assert_array_equal(columns["action_context"], ACTIONS)
    else:  # row a of round t stands at a·d in its context
        rows = columns["context"].reshape(6, 6, 3)[np.arange(6), columns["action"]]
        np.testing.assert_array_equal(rows, log.actions[np.arange(6), log.action])


def test_logs_of_others() -> None:
    rng = np.random.default_rng(0)
    context, own = rng.standard_normal((5, 2)), rng.standard_normal((3, 4))
    plain = {"action": [0, 1, 2, 1, 0], "reward": np.ones(5), "pscore": np.full(5, 0.3), "position": None}
    features = sb.journal.DecisionLog.from_open_bandit({**plain, "context": context, "action_context": own}).actions
    assert features.shape == (5, 3, 6)
    for t in range(5):
        for row in range(3):
            np.testing.assert_array_equal(features[t, row], [*context[t], *own[row]])
    known = sb.journal.DecisionLog.from_open_bandit({**plain, "context": context, "n_actions": 4}).actions
    np.testing.assert_array_equal(known[2], np.hstack((np.tile(context[2], (4, 1)), np.eye(4))))
    np.testing.assert_array_equal(sb.journal.DecisionLog.from_open_bandit(plain).actions, np.eye(3))
    alike = sb.journal.DecisionLog.from_open_bandit({**plain, "context": np.full((5, 2), 7.0), "action_context": own})
    np.testing.assert_array_equal(alike.actions, own)


GOOD = {"action": [0, 1], "reward": [1.0, 2.0], "pscore": [0.5, 0.5]}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"pscore": None}, "columns: expected action, reward and pscore, got no pscore"),
        ({"pscore": [0.5, 0.0]}, "pscore: expected probabilities above 0, got 0 to 0.5"),
        ({"pscore": [0.5, 1.5]}, "pscore: expected probabilities above 0, got 0.5 to 1.5"),
        ({"pscore": [0.5]}, "pscore: expected shape"),
        ({"reward": [1.0, np.nan]}, "reward: expected finite"),
        ({"action": [0.5, 1]}, "action: expected rows"),
        ({"action": [-1, 1]}, "action: expected rows"),
        ({"action": ["a", "b"]}, "action: expected an array of numbers, got strings"),
        ({"action": []}, "n_rounds: expected"),
        ({"action_context": np.eye(1)}, "action: expected rows from 0 to 0, got 1"),
        ({"position": [0, 1]}, "position: expected one position, got several"),
        ({"context": np.ones((3, 1))}, "context: expected 2 rows"),
        ({"context": np.ones(2)}, "context: expected 2 dimension"),
        ({"actions": np.ones((3, 2, 2))}, r"actions: expected shape \(2, K, d\)"),
        ({"n_actions": 0}, "n_actions: expected"),
        ({"n_actions": "two"}, "n_actions: expected a whole number, got 'two'"),
    ],
)
def test_columns_that_are_no_log(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=f"^{message}"):
        sb.journal.DecisionLog.from_open_bandit({**GOOD, **wrong})


def test_columns_may_be_a_table() -> None:
    for table in (pd.DataFrame(GOOD), pl.DataFrame(GOOD), pa.table(GOOD)):
        assert sb.journal.DecisionLog.from_open_bandit(table).reward.tolist() == GOOD["reward"]  # type: ignore[arg-type]
    for wrong in (None, [1, 2]):
        with pytest.raises(TypeError, match=r"^columns: expected arrays by name, got"):
            sb.journal.DecisionLog.from_open_bandit(wrong)  # type: ignore[arg-type]
