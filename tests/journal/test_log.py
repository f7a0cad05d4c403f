"""Logs of decisions, and the loop on a plain function that keeps them."""

import signal
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sparsebandits as sb
from tests.policies.table import fingerprint, some_actions

ACTIONS = some_actions()
COLUMNS = ("action", "reward", "pscore", "pscore_draws", "actions")


def measure(decision: sb.Decision) -> float:
    """A reward with noise that depends on the decision alone."""
    return float(decision.features.sum() + np.random.default_rng(decision.id).standard_normal())


def assert_same(one: sb.journal.DecisionLog, other: sb.journal.DecisionLog) -> None:
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
        assert getattr(one, name).dtype == getattr(other, name).dtype


def changing_log(rounds: int = 6) -> sb.journal.DecisionLog:
    policy, log = sb.LinTS(ACTIONS, seed=0), sb.journal.DecisionLog()
    for t in range(rounds):
        offered = some_actions(seed=t)
        decision = policy.ask(offered)
        policy.tell(decision, measure(decision))
        log.add(decision, measure(decision), offered)
    return log


def test_playing_is_asking_telling_and_logging() -> None:
    policy, by_hand, log = sb.LinTS(ACTIONS, seed=1), sb.LinTS(ACTIONS, seed=1), sb.journal.DecisionLog(ACTIONS)
    decisions = []
    for _ in range(15):
        decision = by_hand.ask()
        by_hand.tell(decision, measure(decision))
        log.add(decision, measure(decision))
        decisions.append(decision)
    assert_same(sb.play(policy, measure, rounds=15), log)
    assert fingerprint(policy) == fingerprint(by_hand)
    np.testing.assert_array_equal(log.action, [decision.action for decision in decisions])
    np.testing.assert_array_equal(log.reward, [measure(decision) for decision in decisions])
    np.testing.assert_array_equal(log.pscore, [decision.probability for decision in decisions])
    np.testing.assert_array_equal(log.pscore_draws, [decision.probability_draws for decision in decisions])
    assert repr(log).startswith("DecisionLog(15 rounds of 6 actions; propensities from 0.")
    assert repr(log).endswith("estimated in 15 of the rounds)")


def refuse(decision: sb.Decision) -> float:
    raise OSError("the instrument is out of order")


def interrupt(decision: sb.Decision) -> float:
    signal.raise_signal(signal.SIGINT)
    return 0.0


def nonsense(decision: sb.Decision) -> float:
    return float("nan")


@pytest.mark.parametrize(
    ("failing", "error"),
    [(refuse, OSError), (interrupt, KeyboardInterrupt), (nonsense, ValueError)],
    ids=["exception", "Ctrl-C", "NaN"],
)
def test_a_reward_that_does_not_come_loses_nothing(failing: Any, error: type[BaseException]) -> None:
    policy, untroubled = sb.LinTS(ACTIONS, seed=1), sb.LinTS(ACTIONS, seed=1)
    log = sb.journal.DecisionLog(ACTIONS)
    with pytest.raises(error):
        sb.play(policy, lambda d: failing(d) if d.id == 5 else measure(d), rounds=15, log=log)
    assert len(log) == 5
    (pending,) = policy.pending
    assert pending.id == 5
    policy.tell(pending, measure(pending))
    log.add(pending, measure(pending))
    sb.play(policy, measure, rounds=9, log=log)
    assert_same(log, sb.play(untroubled, measure, rounds=15))
    assert fingerprint(policy) == fingerprint(untroubled)


class Pressed:
    """A posterior during whose work Ctrl-C is pressed ``times`` times, in its sixth call of ``method``."""

    def __init__(self, posterior: Any, method: str, times: int) -> None:
        self.posterior, self.method, self.times, self.calls = posterior, method, times, 0

    def __getattr__(self, name: str) -> Any:
        if name != self.method:
            return getattr(self.posterior, name)

        def pressed(*arguments: Any) -> Any:
            self.calls += 1
            for _ in range(self.times if self.calls == 6 else 0):
                signal.raise_signal(signal.SIGINT)
            return getattr(self.posterior, name)(*arguments)

        return pressed


@pytest.mark.parametrize(("method", "told", "pending"), [("absorb", 6, 0), ("draws", 5, 1)])
def test_ctrl_c_waits_until_the_policy_has_learnt_or_decided(method: str, told: int, pending: int) -> None:
    """Fails on the planted loop without a handler: what was measured is then neither learnt nor logged."""
    policy, log, before = sb.LinTS(ACTIONS, seed=1), sb.journal.DecisionLog(ACTIONS), signal.getsignal(signal.SIGINT)
    policy.posterior = Pressed(policy.posterior, method, times=1)
    with pytest.raises(KeyboardInterrupt):
        sb.play(policy, measure, rounds=15, log=log)
    assert (len(log), len(policy.pending)) == (told, pending)
    assert signal.getsignal(signal.SIGINT) is before
    untroubled = sb.LinTS(ACTIONS, seed=1)
    sb.play(untroubled, measure, rounds=told)
    for _ in range(pending):
        untroubled.ask()
    assert fingerprint(policy) == fingerprint(untroubled)


def test_the_second_ctrl_c_does_not_wait() -> None:
    policy, log = sb.LinTS(ACTIONS, seed=1), sb.journal.DecisionLog(ACTIONS)
    policy.posterior = Pressed(policy.posterior, "absorb", times=2)
    with pytest.raises(KeyboardInterrupt):
        sb.play(policy, measure, rounds=15, log=log)
    assert (len(log), len(policy.pending)) == (5, 1)


def test_playing_in_a_thread() -> None:
    logs: list[sb.journal.DecisionLog] = []
    thread = threading.Thread(target=lambda: logs.append(sb.play(sb.LinTS(ACTIONS, seed=1), measure, rounds=5)))
    thread.start()
    thread.join()
    assert_same(logs[0], sb.play(sb.LinTS(ACTIONS, seed=1), measure, rounds=5))


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
    policy = sb.LinTS(ACTIONS, seed=5)
    decision = policy.ask()
    for one in (log, loaded):  # and goes on
        one.add(decision, 1.0, ACTIONS if kind == "changing" else None)
    assert_same(loaded, log)
    policy.save(tmp_path / "policy")
    with pytest.raises(sb.SaveFileError, match=r"expected a file of kind 'sparsebandits\.log'"):
        sb.journal.DecisionLog.load(tmp_path / "policy")


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


def test_what_cannot_be_added_changes_nothing() -> None:
    policy, fixed, changing = sb.LinTS(ACTIONS, seed=0), sb.journal.DecisionLog(ACTIONS), changing_log(2)
    decision = policy.ask()
    cube = sb.rivals.HypercubeElimination(3, horizon=9).ask()
    for log, arguments, message in (
        (fixed, (0, 1.0), "decision: expected one that ask"),
        (fixed, (cube, 1.0), "decision: expected one that chose a row"),
        (fixed, (decision, 1.0, ACTIONS), "actions: expected none, for the log has its own"),
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


def test_what_cannot_be_played() -> None:
    policy: Any = sb.LinTS(ACTIONS, seed=0)
    for arguments, message in (
        ((sb.LinTS, measure, 3), "policy: expected a policy"),
        ((sb.rivals.HypercubeElimination(3, horizon=9), measure, 3), "policy: expected one whose actions are rows"),
        ((policy, 1.0, 3), "reward: expected a function of a decision, got 1.0"),
        ((policy, measure, 0), "rounds: expected"),
        ((policy, measure, 3, []), r"log: expected a DecisionLog, got \[\]"),
        (
            (policy, measure, 3, sb.journal.DecisionLog(ACTIONS + 1.0)),
            "log: expected one that was made with the actions",
        ),
        ((policy, measure, 3, sb.journal.DecisionLog()), "log: expected one that was made with the actions"),
    ):
        with pytest.raises((TypeError, ValueError), match=f"^{message}"):
            sb.play(*arguments)
    assert not policy.pending
    with pytest.raises(TypeError, match=r"^actions: expected rows"):
        sb.journal.DecisionLog(sb.rivals.HypercubeElimination(3, horizon=9).actions)
