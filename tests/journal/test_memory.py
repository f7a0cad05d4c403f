"""Logs in memory, and the files that they are saved in."""

from pathlib import Path

import numpy as np
import pytest

import sparsebandits as sb
from sparsebandits.files import pack, write_atomically
from tests.journal.decisions import ACTIONS, assert_same, assert_same_records, changing_log, measure
from tests.policies.table import some_actions


@pytest.mark.parametrize("kind", ["fixed", "changing"])
def test_a_log_survives_files_and_columns_to_the_bit(kind: str, tmp_path: Path) -> None:
    log = changing_log() if kind == "changing" else sb.play(sb.LinTS(ACTIONS, seed=0), measure, rounds=6)
    assert_same(sb.journal.DecisionLog.from_open_bandit(log.to_open_bandit()), log)
    np.savez(tmp_path / "log.npz", **log.to_open_bandit())
    with np.load(tmp_path / "log.npz") as columns:  # no pickle in it
        assert_same(sb.journal.DecisionLog.from_open_bandit(columns), log)
    log.save(tmp_path / "log")
    loaded = sb.journal.DecisionLog.load(tmp_path / "log")
    assert_same(loaded, log)
    assert_same_records(loaded.records(), log.records())
    assert_same_records(sb.journal.JsonLines(tmp_path / "log").records(), log.records())
    policy = sb.LinTS(ACTIONS, seed=5)
    decision = [policy.ask() for _ in range(7)][-1]
    for one in (log, loaded):  # and goes on
        one.add(decision, 1.0, ACTIONS if kind == "changing" else None)
    assert_same(loaded, log)
    policy.save(tmp_path / "policy")
    with pytest.raises(sb.SaveFileError, match=r"expected a file of kind 'sparsebandits\.log'"):
        sb.journal.DecisionLog.load(tmp_path / "policy")


def test_what_cannot_be_added_changes_nothing() -> None:
    policy, fixed, changing = sb.LinTS(ACTIONS, seed=0), sb.journal.DecisionLog(ACTIONS), changing_log(2)
    decision = policy.ask()
    cube = sb.rivals.HypercubeElimination(3, horizon=9).ask()
    for log, arguments, message in (
        (fixed, (0, 1.0), "decision: expected one that ask"),
        (fixed, (cube, 1.0), "decision: expected one that chose a row"),
        (fixed, (decision, 1.0, ACTIONS + 1.0), "actions: expected those that decision 0 was chosen"),
        (fixed, (decision, "1"), "reward: expected"),
        (fixed, (sb.LinTS(ACTIONS + 1.0, seed=0).ask(), 1.0), "actions: expected those that decision 0 was chosen"),
        (changing, (decision, 1.0), "actions: expected those it was chosen from, got None"),
        (changing, (decision, 1.0, ACTIONS[:4]), r"actions: expected shape \(6, 3\) in each round, got \(4, 3\)"),
        (changing, (decision, 1.0, ACTIONS + 1.0), "actions: expected those that decision 0 was chosen"),
    ):
        before = len(log)
        with pytest.raises((TypeError, ValueError), match=f"^{message}"):
            log.add(*arguments)
        assert len(log) == before
    with pytest.raises(ValueError, match=r"^log: expected at least one round"):
        fixed.to_open_bandit()
    assert repr(fixed) == "DecisionLog(0 rounds)"
    fixed.add(decision, True)  # a click
    assert fixed.reward[0] == 1.0
    for log, again in ((fixed, decision), (changing, changing_log_decision())):
        records = log.records()
        with pytest.raises(
            ValueError, match=r"^decision: expected one that is not in the log yet, got decision 0 again"
        ):
            log.add(again, log.reward[0], some_actions(seed=0))
        assert_same_records(log.records(), records)


def changing_log_decision() -> sb.Decision:
    """The first decision of ``changing_log``, made again."""
    return sb.LinTS(ACTIONS, seed=0).ask(some_actions(seed=0))


def test_a_pending_decision_is_no_round_yet(tmp_path: Path) -> None:
    policy, log = sb.LinTS(ACTIONS, seed=0), sb.journal.DecisionLog()
    first, second, third = (policy.ask() for _ in range(3))
    for decision in (first, second, third):
        log.decided(decision, policy.actions)
    assert repr(log) == "DecisionLog(0 rounds; 3 pending)"
    assert (len(log), len(log.records()), log.actions.size) == (0, 3, 0)
    log.rewarded(third, 3.0)
    log.rewarded(first.id, 1.0)
    assert log.reward.tolist() == [1.0, 3.0], "in the order of the decisions"
    assert repr(log).endswith("estimated in 2 of the rounds; 1 pending)")
    log.save(tmp_path / "log")
    loaded = sb.journal.DecisionLog.load(tmp_path / "log")
    for one in (log, loaded):
        one.add(second, 2.0, ACTIONS)
        assert one.reward.tolist() == [1.0, 2.0, 3.0]
    assert_same(loaded, log)


def test_logs_of_release_0_1_are_read(tmp_path: Path) -> None:
    """They were archives of columns, without ids."""
    log = sb.play(sb.LinTS(ACTIONS, seed=0), measure, rounds=6)
    write_atomically(tmp_path / "log", pack("sparsebandits.log", 1, log.to_open_bandit()))
    loaded = sb.journal.DecisionLog.load(tmp_path / "log")
    assert_same(loaded, log)
    loaded.add(sb.LinTS(ACTIONS, seed=5).ask(), 1.0)  # whose id no column has
    assert len(loaded) == 7


def test_what_is_no_log(tmp_path: Path) -> None:
    (tmp_path / "table").write_text("offer,price\na,1\n")
    for name, message in (("none", "No such file"), ("table", "line 1 of .*table is no JSON")):
        with pytest.raises(sb.SaveFileError, match=f"^path: expected a journal.*{message}"):
            sb.journal.DecisionLog.load(tmp_path / name)
    journal = sb.journal.JsonLines(tmp_path / "cube")
    cube = sb.rivals.HypercubeElimination(3, horizon=9)
    journal.decided(cube.ask(), cube.actions)
    with pytest.raises(ValueError, match=r"^log: expected decisions with the actions that they were chosen from, got"):
        sb.journal.DecisionLog.load(tmp_path / "cube")
    empty = sb.journal.DecisionLog(ACTIONS)
    empty.save(tmp_path / "empty")
    np.testing.assert_array_equal(sb.journal.DecisionLog.load(tmp_path / "empty").actions, ACTIONS)
