"""What every journal has to do, whatever it stores records in."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import sparsebandits as sb
from sparsebandits.policies.actions import ActionSet
from tests.journal.decisions import ACTIONS, assert_same_records, decision_of, record_fields, rounds
from tests.policies.table import ALL, Maker

OFFERED = ActionSet.of(ACTIONS)

JOURNALS: dict[str, Callable[[Path], Any]] = {
    "memory": lambda directory: sb.journal.DecisionLog(),
    "memory, own actions": lambda directory: sb.journal.DecisionLog(ACTIONS),
    "JSON lines": lambda directory: sb.journal.JsonLines(directory / "journal.jsonl"),
}

every_journal = pytest.mark.parametrize("make", JOURNALS.values(), ids=JOURNALS)


class Recording:
    """A policy as far as a journal meets it: decisions before they are handed out, rewards before they are learned."""

    def __init__(self, journal: sb.journal.Journal, offered: ActionSet = OFFERED) -> None:
        self.journal, self.offered, self.asked = journal, offered, 0

    def ask(self, action: int, **given: Any) -> sb.Decision:
        decision = decision_of(self.asked, action, self.offered.features[action], **given)
        self.journal.decided(decision, self.offered)
        self.asked += 1
        return decision

    def tell(self, decision: sb.Decision, reward: float) -> None:
        self.journal.rewarded(decision, reward)


@every_journal
def test_what_was_decided_and_told_is_on_record(make: Callable[[Path], Any], tmp_path: Path) -> None:
    journal = make(tmp_path)
    assert isinstance(journal, sb.journal.Journal)
    assert list(journal.records()) == []
    policy = Recording(journal)
    first = policy.ask(2, probability=0.25, probability_draws=100, labels=("third",), noise_variance=2.0)
    second = policy.ask(0)
    policy.tell(second, 1.5)
    one, other = journal.records()
    assert record_fields(one) == {
        "id": 0,
        "action": 2,
        "features": ACTIONS[2].tobytes(),
        "probability": 0.25,
        "probability_draws": 100,
        "label": "third",
        "offered": ((6, 3), ACTIONS.tobytes(), None, None),
        "reward": None,
        "noise_variance": 2.0,
        "policy": "LinTS",
        "extra": {},
        "shown": None,
    }
    assert (other.id, other.action, other.label, other.reward) == (1, 0, "0", 1.5)
    policy.tell(first, -2.0)
    assert [record.reward for record in journal.records()] == [-2.0, 1.5]
    assert not one.features.flags.writeable


@every_journal
def test_the_same_again_changes_nothing(make: Callable[[Path], Any], tmp_path: Path) -> None:
    journal = make(tmp_path)
    policy = Recording(journal)
    decision = policy.ask(1)
    policy.tell(decision, 0.5)
    before = journal.records()
    journal.decided(decision, OFFERED)
    journal.decided(decision_of(0, 1, ACTIONS[1].copy()), ActionSet.of(ACTIONS))  # as after loading an older policy
    policy.tell(decision, 0.5)
    journal.rewarded(0, 0.5)
    assert_same_records(journal.records(), before)
    if isinstance(journal, sb.journal.JsonLines):
        assert (tmp_path / "journal.jsonl").read_bytes().count(b"\n") == 3


@every_journal
def test_what_contradicts_the_record_is_refused(make: Callable[[Path], Any], tmp_path: Path) -> None:
    journal = make(tmp_path)
    policy = Recording(journal)
    decision = policy.ask(1)
    policy.tell(decision, 0.5)
    policy.ask(2)
    before = journal.records()
    nan, other_rows = float("nan"), ActionSet.of(np.vstack((ACTIONS[:5], ACTIONS[:1])))
    refused: list[tuple[Callable[[], Any], str]] = [
        (lambda: journal.decided(decision_of(0, 2, ACTIONS[2]), OFFERED), "decision: expected an id that is not in"),
        (lambda: journal.decided(decision_of(0, 1, ACTIONS[1], probability=0.4), OFFERED), "decision: expected an id"),
        (lambda: journal.decided(decision_of(0, 1, ACTIONS[1], policy="LinUCB"), OFFERED), "decision: expected an id"),
        (lambda: journal.decided(decision, other_rows), "decision: expected an id that is not in the journal yet"),
        (lambda: journal.decided(decision_of(9, 2, ACTIONS[1]), OFFERED), "actions: expected those that decision 9"),
        (lambda: journal.decided(decision_of(9, 6, ACTIONS[1]), OFFERED), "actions: expected those that decision 9"),
        (lambda: journal.decided(7, OFFERED), r"decision: expected a decision that ask\(\) returned, got 7"),
        (lambda: journal.decided(decision_of(9, 1, ACTIONS[1]), "rows"), "actions: expected"),
        (lambda: journal.decided(decision_of(9, 1, ACTIONS[1], probability=nan), OFFERED), "probability: expected"),
        (lambda: journal.decided(decision_of(9, 1, ACTIONS[1], probability=0.0), OFFERED), "probability: expected"),
        (lambda: journal.decided(decision_of(9, 1, ACTIONS[1], noise_variance=nan), OFFERED), "noise_variance: exp"),
        (lambda: journal.rewarded(decision, 0.25), r"reward: expected 0\.5 for decision 0, as told before, got 0\.25"),
        (lambda: journal.rewarded(1, nan), "reward: expected a finite number"),
        (lambda: journal.rewarded(1, "1"), "reward: expected a number"),
        (lambda: journal.rewarded(2, 1.0), "decision: expected one that the journal has recorded, got id 2"),
        (lambda: journal.rewarded("1", 1.0), "decision: expected one that the journal has recorded, got id '1'"),
        (lambda: journal.rewarded(-1, 1.0), "decision: expected a whole number of at least 0"),
        (lambda: journal.rewarded(True, 1.0), "decision: expected a decision or its id, got True"),
        (lambda: journal.rewarded(decision_of(1, 1, ACTIONS[1]), 1.0), "decision: expected an id that is not in"),
    ]
    for call, message in refused:
        with pytest.raises((TypeError, ValueError), match=f"^{message}"):
            call()
        assert_same_records(journal.records(), before)
    journal.rewarded(np.int64(1), True)  # a click
    assert journal.records()[1].reward == 1.0


@settings(max_examples=30)
@given(rounds(fixed_shape=True))
def test_a_log_reads_back_what_it_writes(played: Any) -> None:
    log = sb.journal.DecisionLog()
    record(log, played)
    with TemporaryDirectory() as directory:
        log.save(f"{directory}/log")
        assert_same_records(sb.journal.DecisionLog.load(f"{directory}/log").records(), log.records())
        assert_same_records(sb.journal.JsonLines(f"{directory}/log").records(), log.records())
    assert [one.reward for one in log.records()] == [reward for *_, reward in played]


@settings(max_examples=30)
@given(rounds())
def test_a_file_reads_back_what_it_writes(played: Any) -> None:
    with TemporaryDirectory() as directory:
        journal, memory = sb.journal.JsonLines(f"{directory}/journal"), {}
        record(journal, played)
        for decision, offered, reward in played:
            made = sb.journal.Record.of(decision, offered)
            memory[made.id] = made if reward is None else made.with_reward(reward)
        reopened, copied = sb.journal.JsonLines(f"{directory}/journal"), sb.journal.JsonLines(f"{directory}/copy")
        copied.extend(reopened.records())
        for one in (journal, reopened, copied, sb.journal.JsonLines(f"{directory}/copy")):
            assert_same_records(one.records(), memory.values())


def record(journal: sb.journal.Journal, played: Any) -> None:
    """First all decisions, then the rewards, the latest first."""
    for decision, offered, _ in played:
        journal.decided(decision, offered)
    for decision, _, reward in reversed(played):
        if reward is not None:
            journal.rewarded(decision, reward)


@pytest.mark.parametrize("make", ALL.values(), ids=ALL)
def test_decisions_of_every_policy_can_be_recorded(make: Maker, tmp_path: Path) -> None:
    """Those on a cube, too, which have no row."""
    policy, journal = make(ACTIONS, seed=0), sb.journal.JsonLines(tmp_path / "journal")
    decisions = []
    for _ in range(4):
        decision = policy.ask()
        journal.decided(decision, policy.actions)
        policy.tell(decision, float(decision.features.sum()))
        journal.rewarded(decision, float(decision.features.sum()))
        decisions.append(decision)
    for one, decision in zip(sb.journal.JsonLines(tmp_path / "journal").records(), decisions, strict=True):
        assert (one.action, one.probability, one.label) == (decision.action, decision.probability, decision.label)
        np.testing.assert_array_equal(one.features, decision.features)
        assert (one.offered is None) == (decision.action < 0)
        assert one.reward == decision.features.sum()
