"""Kills and full disks, in short; the attack finds writes that are not atomic."""

import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from benchmarks.attacks import faults
from benchmarks.attacks.outcome import counted

import sparsebandits as sb
from tests.policies.table import POLICIES

pytestmark = pytest.mark.skipif("not hasattr(__import__('os'), 'fork')", reason="attempts run in forked processes")


def test_a_short_attack() -> None:
    for outcome in faults.attack(0.1):
        assert outcome.silent == outcome.crashed == 0, outcome
        assert outcome.refused + outcome.identical == outcome.tried >= 40, outcome


def in_two_halves(path: Any, content: bytes) -> None:
    """Planted: into the file itself, slowly."""
    with Path(path).open("wb") as file:
        file.write(content[: len(content) // 2])
        file.flush()
        time.sleep(0.01)
        file.write(content[len(content) // 2 :])


def test_the_attack_finds_saves_that_are_not_atomic(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sparsebandits.policies.policy.write_atomically", in_two_halves)
    assert Counter(faults.killed_saves(POLICIES["SparseTS"], tmp_path, 100))["crashed"] == 1
    assert counted("full", faults.full_saves(tmp_path, 20)).silent > 10


def test_the_attack_finds_journals_with_other_rewards(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Planted: the process that is killed writes other rewards than the undisturbed one."""
    assert set(faults.killed_journals(tmp_path, 20)) == {"identical"}
    rewarded = sb.journal.JsonLines.rewarded

    def wrong(self: Any, decision: Any, reward: float) -> None:
        rewarded(self, decision, reward + float(self.path.endswith("journal")))

    monkeypatch.setattr("sparsebandits.journal.JsonLines.rewarded", wrong)
    assert "silent" in set(faults.killed_journals(tmp_path, 20))
