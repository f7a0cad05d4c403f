"""The loop on a plain function: what was decided and measured is never lost."""

import signal
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsebandits as sb
from tests.journal.decisions import ACTIONS, assert_same, assert_same_records, changing_log, measure
from tests.policies.table import fingerprint


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
def test_ctrl_c_waits_until_the_policy_has_learned_or_decided(method: str, told: int, pending: int) -> None:
    """Fails on the planted loop without a handler: what was measured is then on record, and not learned."""
    policy, log, before = sb.LinTS(ACTIONS, seed=1), sb.journal.DecisionLog(ACTIONS), signal.getsignal(signal.SIGINT)
    policy.posterior = Pressed(policy.posterior, method, times=1)
    with pytest.raises(KeyboardInterrupt):
        sb.play(policy, measure, rounds=15, log=log)
    assert (len(log), len(policy.pending)) == (told, pending)
    assert signal.getsignal(signal.SIGINT) is before
    policy.posterior = policy.posterior.posterior
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
    assert (len(log), len(policy.pending)) == (6, 1), "what was measured is on record, and can be told again"
    policy.posterior = policy.posterior.posterior
    policy.tell(policy.pending[0], log.reward[-1])
    untroubled = sb.LinTS(ACTIONS, seed=1)
    assert_same(log, sb.play(untroubled, measure, rounds=6))
    assert fingerprint(policy) == fingerprint(untroubled)


def test_playing_in_a_thread() -> None:
    logs: list[sb.journal.DecisionLog] = []
    thread = threading.Thread(target=lambda: logs.append(sb.play(sb.LinTS(ACTIONS, seed=1), measure, rounds=5)))
    thread.start()
    thread.join()
    assert_same(logs[0], sb.play(sb.LinTS(ACTIONS, seed=1), measure, rounds=5))


def test_what_cannot_be_played() -> None:
    policy: Any = sb.LinTS(ACTIONS, seed=0)
    for arguments, message in (
        ((sb.LinTS, measure, 3), "policy: expected a policy"),
        ((sb.rivals.HypercubeElimination(3, horizon=9), measure, 3), "policy: expected one whose actions are rows"),
        ((policy, 1.0, 3), "reward: expected a function of a decision, got 1.0"),
        ((policy, measure, 0), "rounds: expected"),
        ((policy, measure, 3, []), r"log: expected a journal, got \[\]"),
        (
            (policy, measure, 3, sb.journal.DecisionLog(ACTIONS + 1.0)),
            "log: expected one that was made with the actions",
        ),
    ):
        with pytest.raises((TypeError, ValueError), match=f"^{message}"):
            sb.play(*arguments)
    assert not policy.pending
    with pytest.raises(ValueError, match=r"^log: expected one that was made with the actions"):
        sb.play(policy, measure, 3, changing_log(2))
    assert not policy.pending
    with pytest.raises(TypeError, match=r"^actions: expected rows"):
        sb.journal.DecisionLog(sb.rivals.HypercubeElimination(3, horizon=9).actions)


def test_any_journal_will_do(tmp_path: Path) -> None:
    by_default = sb.play(sb.LinTS(ACTIONS, seed=1), measure, rounds=8)
    in_memory = sb.play(sb.LinTS(ACTIONS, seed=1), measure, rounds=8, log=sb.journal.DecisionLog())
    in_file = sb.play(sb.LinTS(ACTIONS, seed=1), measure, rounds=8, log=sb.journal.JsonLines(tmp_path / "journal"))
    for journal in (in_memory, in_file, sb.journal.JsonLines(tmp_path / "journal")):
        assert_same_records(journal.records(), by_default.records())


def test_a_decision_is_on_record_before_it_is_acted_upon(tmp_path: Path) -> None:
    policy, journal = sb.LinTS(ACTIONS, seed=1), sb.journal.JsonLines(tmp_path / "journal")

    def looked_up(decision: sb.Decision) -> float:
        latest = sb.journal.JsonLines(tmp_path / "journal").records()[-1]
        assert (latest.id, latest.action, latest.reward) == (decision.id, decision.action, None)
        return measure(decision)

    sb.play(policy, looked_up, rounds=3, log=journal)
    assert [record.reward is None for record in journal.records()] == [False] * 3


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_a_policy_with_a_journal_records_what_is_asked_and_told(kind: str, tmp_path: Path) -> None:
    def journal(name: str) -> sb.journal.Journal:
        return sb.journal.DecisionLog() if kind == "memory" else sb.journal.JsonLines(tmp_path / name)

    asked, played = journal("asked"), journal("played")
    policy = sb.LinTS(ACTIONS, seed=1, journal=asked)
    for _ in range(5):
        decision = policy.ask()
        assert asked.records()[-1].reward is None
        policy.tell(decision, measure(decision))
        policy.tell(decision, measure(decision))  # again, which is no news
    sb.play(sb.LinTS(ACTIONS, seed=1, journal=played), measure, rounds=5, log=played)  # recorded once
    plain = sb.play(sb.LinTS(ACTIONS, seed=1), measure, rounds=5)
    assert_same_records(asked.records(), plain.records())
    assert_same_records(played.records(), plain.records())


def test_what_a_journal_refuses_is_neither_handed_out_nor_learned(tmp_path: Path) -> None:
    other, path = sb.LinTS(ACTIONS + 1.0, seed=3), tmp_path / "journal"
    sb.play(other, measure, rounds=1, log=sb.journal.JsonLines(path))
    policy = sb.LinTS(ACTIONS, seed=1, journal=sb.journal.JsonLines(path))
    with pytest.raises(ValueError, match=r"^decision: expected an id that is not in the journal yet"):
        policy.ask()
    assert not policy.pending
    policy.journal = None
    decision = policy.ask()
    policy.journal = sb.journal.JsonLines(tmp_path / "late")
    before = fingerprint(policy)
    with pytest.raises(ValueError, match=r"^decision: expected one that the journal has recorded, got id 0"):
        policy.tell(decision, 1.0)
    assert fingerprint(policy) == before
    policy.journal.decided(decision, policy.actions)  # as for every pending decision of a policy that gets a journal
    policy.tell(decision, 1.0)
    assert [record.reward for record in sb.journal.JsonLines(tmp_path / "late").records()] == [1.0]


def test_a_policy_of_an_older_file_makes_its_decisions_again(tmp_path: Path) -> None:
    """After a crash the journal knows more than the file of the policy."""
    path = tmp_path / "journal"
    policy = sb.LinTS(ACTIONS, seed=1, journal=sb.journal.JsonLines(path))
    for number in range(6):
        decision = policy.ask()
        policy.tell(decision, measure(decision))
        if number == 2:
            policy.save(tmp_path / "policy")
    before = path.read_bytes()
    loaded = sb.load(tmp_path / "policy")
    loaded.journal = sb.journal.JsonLines(path)
    for record in loaded.journal.records()[3:]:
        loaded.tell(loaded.ask(), record.reward)
    assert path.read_bytes() == before
    assert fingerprint(loaded) == fingerprint(policy)


def test_a_reward_that_is_refused_is_not_recorded(tmp_path: Path) -> None:
    """It was recorded, and then no other reward could be given."""
    journal = sb.journal.JsonLines(tmp_path / "journal")
    policy = sb.SparseIDS(np.eye(3), noise_variance=1.0, intercept=False, n_draws=100, seed=0, journal=journal)
    decision = policy.ask()
    with pytest.raises(ValueError, match=r"^y: expected rewards within"):
        policy.tell(decision, 1e9)
    assert journal.records()[0].reward is None
    policy.tell(decision, 1.0)
    assert journal.records()[0].reward == 1.0


def test_a_journal_that_tells_the_policy_is_refused() -> None:
    class Telling(sb.journal.DecisionLog):
        def rewarded(self, decision: Any, reward: float | None, shown: Any = None) -> None:
            if decision.id == 0:
                policy.tell(1, 2.0)
            super().rewarded(decision, reward)

    policy = sb.LinTS(np.eye(3), seed=0, journal=Telling())
    policy.ask(n=2)
    with pytest.raises(RuntimeError, match="within this call"):
        policy.tell(0, 1.0)
    assert [one.id for one in policy.pending] == [0]
