"""Journals in files: what is written there, and that nothing acknowledged is ever lost."""

import hashlib
import json
import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsebandits as sb
from sparsebandits.arguments import SaveFileError
from sparsebandits.journal.events import Events
from sparsebandits.policies.actions import ActionSet
from sparsebandits.results.trials import without
from tests.journal.decisions import ACTIONS, assert_same_records, decision_of

OFFERED = ActionSet.of(ACTIONS[:2])


def decide(journal: sb.journal.JsonLines, number: int, action: int = 0, offered: ActionSet = OFFERED) -> None:
    journal.decided(decision_of(number, action, offered.features[action]), offered)


def small(path: Path) -> list[bytes]:
    """Write a journal of every kind of event; return its lines."""
    journal = sb.journal.JsonLines(path)
    decide(journal, 0)
    journal.rewarded(0, 0.1)
    decide(journal, 1, 1)
    decide(journal, 2, 0, ActionSet(ACTIONS[:2] + 1.0, ("ä", "b"), ("x", "y", "z")))
    journal.rewarded(2, -1e-17)
    cube = sb.rivals.HypercubeElimination(2, horizon=9)
    cube.ask(), cube.ask(), cube.ask()
    journal.decided(cube.ask(), cube.actions)
    return path.read_bytes().splitlines(keepends=True)


def test_the_lines(tmp_path: Path) -> None:
    events = [json.loads(line) for line in small(tmp_path / "journal")]
    assert [event["event"] for event in events] == [
        *("actions", "decision", "reward", "decision", "actions", "decision", "reward", "decision"),
    ]
    actions, decision, reward, again, named, *_, cube = events
    assert (actions["features"], actions["labels"]) == (ACTIONS[:2].tolist(), None)
    assert (named["labels"], named["feature_names"]) == (["ä", "b"], ["x", "y", "z"])
    assert len(reward.pop("check")) == len(decision.pop("check")) == 16
    assert reward == {"version": 2, "event": "reward", "id": 0, "reward": 0.1}
    assert again["offered"] == decision.pop("offered") == actions["key"] != named["key"]
    assert decision.pop("time").endswith("+00:00")
    assert decision == {
        **{"version": 2, "event": "decision", "id": 0, "policy": "LinTS", "action": 0, "label": "0"},
        **{"features": None, "probability": 0.5, "probability_draws": None, "noise_variance": None, "extra": {}},
    }
    assert (cube["action"], cube["offered"], len(cube["features"])) == (-1, None, 2)
    first = sb.journal.JsonLines(tmp_path / "journal")
    assert repr(first) == f"JsonLines('{tmp_path}/journal': 4 decisions, 2 pending)"


def test_every_truncation_is_a_prefix_and_can_be_continued(tmp_path: Path) -> None:
    path, whole = tmp_path / "journal", b"".join(small(tmp_path / "whole"))
    ends = [place for place, byte in enumerate(whole, 1) if byte == ord("\n")]
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        end = max((one for one in ends if one <= size), default=0)
        events = Events()
        events.read(whole[:end])
        journal = sb.journal.JsonLines(path)
        assert_same_records(journal.records(), events.records.values())
        assert path.stat().st_size == size, "reading changes nothing"
        if size % 31 == 0:  # each takes a moment, for it has to be on the disk
            decide(journal, 77)
            assert path.read_bytes().startswith(whole[:end])
            assert [record.id for record in sb.journal.JsonLines(path).records()] == [*events.records, 77]


def test_damaged_lines_are_refused_by_number(tmp_path: Path) -> None:
    path, lines = tmp_path / "journal", small(tmp_path / "whole")
    other_rows = json.loads(lines[0])
    other_rows["features"][0][0] += 1e-9

    def checked(line: bytes) -> bytes:
        """Give a line the hash that belongs to it."""
        content = re.sub(rb', "check": "[0-9a-f]+"}\n$', b"", line)
        return content + f', "check": "{hashlib.sha256(content).hexdigest()[:16]}"}}\n'.encode()

    def changed(line: bytes, **fields: Any) -> bytes:
        return checked(json.dumps({**without(json.loads(line), "check"), **fields}).encode()[:-1])

    for number, line, message in (
        (1, b"offer,price\n", "is no JSON"),
        (1, b"\xff\xfe\n", "is no JSON"),
        (1, b"[]\n", "is no event of a journal"),
        (1, b"{}\n", "is no event of a journal"),
        (1, b'{"time": "2024", "place": 1}\n', "is no event of a journal; a log of sparsebandits 0.1 has another"),
        (1, changed(json.dumps(other_rows).encode()), "is damaged (key: expected"),
        (1, changed(lines[0], labels=["a", 1]), "is damaged (labels: expected strings or null"),
        (2, lines[1][:-9] + b"\n", "is no JSON"),
        (2, lines[1].replace(b"0.5", b"NaN"), "is no JSON"),
        (2, checked(lines[1].replace(b"0.5", b"1e999")), "is damaged (probability: expected a finite number"),
        (2, lines[1].replace(b"0.5", b"0.4"), "is damaged: its contents do not match its checksum"),
        (
            2,
            json.dumps(without(json.loads(lines[1]), "check")).encode() + b"\n",
            "is damaged: its contents do not match",
        ),
        (2, lines[1].replace(b'"check"', b'"Check"'), "is damaged: its contents do not match its checksum"),
        (
            2,
            checked(lines[1].replace(b"0.5", b"2")),
            "is damaged (probability: expected a number above 0 and at most 1",
        ),
        (2, changed(lines[1], version=3), "has version 3; this release reads version 2"),
        (2, changed(lines[1], version=True), "has version True; this release reads version 2"),
        (2, changed(lines[1], version=1), "has the fields"),
        (2, changed(lines[1], event="guess"), "has the unknown event 'guess'"),
        (2, changed(lines[1], event=["x"]), "has the unknown event ['x']"),
        (2, changed(lines[1], more=1), "has the fields"),
        (2, changed(lines[1], action=2), "is damaged (actions: expected those that decision 0 was chosen from"),
        (2, changed(lines[1], action="0"), "is damaged (action: expected a whole number"),
        (2, changed(lines[1], id=0.5), "is damaged (id: expected a decision or its id"),
        (2, changed(lines[1], id=None), "is damaged (id: expected a decision or its id"),
        (2, changed(lines[1], time="yesterday"), "is damaged (time: expected a time in UTC"),
        (2, changed(lines[1], time="2024-01-01T00:00:00"), "is damaged (time: expected a time in UTC"),
        (2, changed(lines[1], policy=3), "is damaged (policy: expected a string or None"),
        (2, changed(lines[1], extra=[]), "is damaged (extra: expected JSON values by name"),
        (2, changed(lines[1], offered="no such key"), "is damaged (offered: expected the key of a set of actions"),
        (2, changed(lines[1], offered=""), "is damaged (offered: expected the key of a set of actions"),
        (2, changed(lines[1], offered=None), "is damaged (offered: expected the key of a set of actions"),
        (2, changed(lines[1], offered=[]), "is damaged (offered: expected the key of a set of actions"),
        (2, changed(lines[1], offered=None, features="x"), "is damaged (features: expected an array of numbers"),
        (3, changed(lines[2], id=7), "is damaged (decision: expected one that the journal has recorded"),
        (3, changed(lines[2], reward=None), "is damaged (reward: expected a number"),
        (4, lines[1], "is damaged (id: expected one decision per id, got a second one with 0"),
        (8, changed(lines[2], reward=0.2), "is damaged (reward: expected 0.1 for decision 0, as told before"),
    ):
        content = b"".join((*lines[: number - 1], line, *lines[number:]))
        path.write_bytes(content)
        with pytest.raises(SaveFileError) as caught:
            sb.journal.JsonLines(path)
        assert f"line {number} of {path} {message}" in str(caught.value)
        assert path.read_bytes() == content
    path.write_bytes(b"\n".join((*lines, b"", b" ")) + lines[0] + lines[2])
    assert len(sb.journal.JsonLines(path).records()) == 4, "empty lines, and repeated sets and rewards, say nothing new"


def test_a_flipped_bit_is_refused_wherever_it_is(tmp_path: Path) -> None:
    """The last end of line is the hardest: without it, the line looks like one that a crash has cut."""
    path, whole = tmp_path / "journal", b"".join(small(tmp_path / "whole"))
    rng = np.random.default_rng(0)
    for place in (len(whole) - 1, 0, *rng.integers(len(whole), size=300).tolist()):
        for bit in range(8) if place == len(whole) - 1 else (int(rng.integers(8)),):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
            with pytest.raises(SaveFileError, match=r"^path: expected a journal of decisions, got .* line"):
                sb.journal.JsonLines(path)


def test_lines_of_version_1_are_read_and_continued(tmp_path: Path) -> None:
    """They had no hash."""
    path, lines = tmp_path / "journal", small(tmp_path / "whole")
    old = [json.dumps({**without(json.loads(line), "check"), "version": 1}).encode() + b"\n" for line in lines]
    path.write_bytes(b"".join(old))
    journal = sb.journal.JsonLines(path)
    assert_same_records(journal.records(), sb.journal.JsonLines(tmp_path / "whole").records())
    decide(journal, 77)
    assert path.read_bytes().startswith(b"".join(old))
    assert len(sb.journal.JsonLines(path).records()) == len(journal.records()) == 5


@pytest.mark.parametrize("content", ["offer,price\na,1\n", "offer,price", '{"cut', "{}\n", "\n{}\n", "\nhello"])
def test_files_of_others_are_never_written_to(content: str, tmp_path: Path) -> None:
    path = tmp_path / "offers.csv"
    path.write_text(content)
    with pytest.raises(
        SaveFileError, match=r"^path: expected a journal of decisions, got a file of which line [12] of"
    ):
        sb.journal.JsonLines(path)
    assert path.read_text() == content
    path.unlink()
    journal = sb.journal.JsonLines(path)
    path.write_text(content)  # since
    with pytest.raises(SaveFileError):
        decide(journal, 0)
    assert path.read_text() == content


def test_files_that_cannot_be(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for wrong, why in (
        (tmp_path, "it is not a regular file"),
        (tmp_path / "pipe", "it is not a regular file"),
        ("/dev/full", "it is not a regular file"),
        (tmp_path / "no" / "journal", "No such file or directory"),
        ("a\0b", "embedded null"),
    ):
        with pytest.raises(OSError, match=f"^path: expected a file that can be appended to, got .*: .*{why}"):
            sb.journal.JsonLines(wrong)
    with pytest.raises(TypeError, match=r"^path: expected the name of a file, got 7"):
        sb.journal.JsonLines(7)  # type: ignore[arg-type]
    missing = sb.journal.JsonLines(tmp_path / "new")
    assert (missing.records(), (tmp_path / "new").exists()) == ([], False)


def test_a_file_that_was_replaced_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = sb.journal.JsonLines(path)
    for number in range(3):
        decide(journal, number)
    path.rename(tmp_path / "moved")  # as logs are rotated
    assert journal.records() == []
    decide(journal, 3)
    assert [record.id for record in sb.journal.JsonLines(path).records()] == [3], (
        "with the actions, though they are not new"
    )
    path.write_bytes(b"")
    decide(journal, 4)
    assert [record.id for record in sb.journal.JsonLines(path).records()] == [4]


def test_whole_records_all_or_none(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = sb.journal.JsonLines(path)
    made = [
        sb.journal.Record(
            id=f"{place}", action=5, features=np.ones(2), probability=1.0, extra={"place": place, "é": [None]}
        )
        for place in range(3)
    ]
    journal.extend(made)
    assert_same_records(sb.journal.JsonLines(path).records(), made)
    before = path.read_bytes()
    good = sb.journal.Record(id="3", action=5, features=np.ones(2), probability=1.0)

    def bad(**fields: Any) -> Any:
        return sb.journal.Record(**{"id": "4", "action": 5, "features": np.ones(2), "probability": 1.0, **fields})

    for wrong, message in (
        (bad(id="0"), "records: expected ids that are not in the journal yet, got '0'"),
        (bad(id="3"), "records: expected ids that are not in the journal yet, got '3'"),
        ("record", "records: expected records of decisions, got 'record'"),
        (bad(extra={"x": float("nan")}), "extra: expected JSON values"),
        (bad(extra={"x": np.ones(2)}), "extra: expected JSON values"),
        (bad(features=np.array([np.inf])), "features: expected finite numbers"),
        (bad(features=[1.0]), "features: expected an array of shape"),
        (bad(features=np.ones((1, 1))), "features: expected an array of shape"),
        (bad(reward=float("inf")), "reward: expected a finite number"),
        (bad(action=-2), "action: expected a whole number of at least -1"),
        (bad(time="2024-01-01T00:00:00+01:00"), "time: expected a time in UTC"),
        (bad(probability_draws=0), "probability_draws: expected"),
    ):
        with pytest.raises((TypeError, ValueError), match=f"^{message}"):
            journal.extend([good, wrong])  # type: ignore[list-item]
        assert path.read_bytes() == before
    journal.rewarded("1", 2.0)
    numpy = bad(
        id=np.int64(7), action=np.int8(1), probability=np.float32(0.5), reward=np.float64(2), extra={"n": np.int64(3)}
    )
    journal.extend([numpy])
    *records, last = sb.journal.JsonLines(path).records()
    assert [record.reward for record in records] == [None, 2.0, None]
    assert [last.id, last.action, last.probability, last.reward, last.extra] == [7, 1, 0.5, 2.0, {"n": 3}]


def test_each_line_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that reading n decisions, or recording them, takes time in proportion to n."""
    count, read = 10_000, 0
    decisions = (decision_of(number, 0, OFFERED.features[0]) for number in range(count))
    sb.journal.JsonLines(tmp_path / "journal").extend(sb.journal.Record.of(one, OFFERED) for one in decisions)
    plain = Events._read_line

    def counted(events: Events, line: bytes) -> tuple[Any, ...]:
        nonlocal read
        read += 1
        return plain(events, line)

    monkeypatch.setattr(Events, "_read_line", counted)
    journal = sb.journal.JsonLines(tmp_path / "journal")
    assert read == count + 1
    assert len(journal.records()) == len(journal.records()) == count
    decide(journal, count)
    decide(sb.journal.JsonLines(tmp_path / "other"), 0)
    assert len(journal.records()) == count + 1
    assert read == count + 4


HEAD = """
import sys
import numpy as np
import sparsebandits as sb
from sparsebandits.policies.actions import ActionSet
from sparsebandits.rules.choice import Reasons

journal, name = sb.journal.JsonLines(sys.argv[1]), sys.argv[2]

def decide(number, action, offered):
    none = np.empty(0)
    reasons = Reasons(none.astype(int), none, {}, {}, none.astype(int), none)
    decision = sb.Decision(number, action, offered[action], 0.5, None, reasons, None, None, None, "LinTS")
    journal.decided(decision, ActionSet.of(offered))
    return decision
"""

UNTIL_KILLED = f"""{HEAD}
number = len(journal.records())
while True:
    decision = decide(number, number % 3, np.eye(3) + number % 5)
    print("decided", number, flush=True)
    journal.rewarded(decision, number / 3)
    print("rewarded", number, flush=True)
    number += 1
"""


def started(code: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, text=True)


def test_killing_the_process_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    """Five times kill -9, after a random number of acknowledgements; the next process continues the file."""
    path, coin, told = tmp_path / "journal", random.Random(0), 0
    for _ in range(5):
        with started(UNTIL_KILLED, str(path), "") as process:
            assert process.stdout is not None
            acknowledged = [process.stdout.readline() for _ in range(coin.randrange(5, 60))]
            process.send_signal(signal.SIGKILL)
            acknowledged += process.stdout.read().splitlines(keepends=True)
        acknowledged = [line for line in acknowledged if line.endswith("\n")]  # a kill may cut off the last one
        found = {record.id: record for record in sb.journal.JsonLines(path).records()}
        for line in acknowledged:
            event, number = line.split()
            assert event == "decided" or found[int(number)].reward == int(number) / 3
            np.testing.assert_array_equal(found[int(number)].features, np.eye(3)[int(number) % 3] + int(number) % 5)
        assert list(found) == list(range(len(found)))
        told += len(acknowledged)
    assert told > 50


RACE = f"""{HEAD}
won = 0
for number in range(40):
    try:
        decide(number, 0, np.full((2, 2), float(name)))
    except ValueError as error:
        assert "another decision with the id" in str(error), error
    else:
        journal.rewarded(number, float(name))
        won += 1
ids = [f"{{name}} {{number}}" for number in range(9)]
journal.extend(sb.journal.Record(id=one, action=0, features=np.ones(2), probability=1.0) for one in ids)
print(won)
"""


def test_processes_append_to_one_file(tmp_path: Path) -> None:
    """Three policies compete for the same ids: each id goes to one of them, and nobody's lines are lost."""
    processes = [started(RACE, str(tmp_path / "journal"), str(name)) for name in range(3)]
    won = [int(process.communicate(timeout=120)[0]) for process in processes]
    records = sb.journal.JsonLines(tmp_path / "journal").records()
    competed = {record.id: record for record in records if isinstance(record.id, int)}
    assert sorted(competed) == list(range(40))
    assert [sum(record.features[0] == name for record in competed.values()) for name in range(3)] == won
    assert all(record.reward == record.features[0] for record in competed.values())
    assert {str(record.id) for record in records} >= {f"{name} {n}" for name in range(3) for n in range(9)}


FULL = f"""{HEAD}
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (int(name), int(name)))
before = journal.records()
try:
    decide(77, 0, np.ones((20, 20)))
except OSError as error:
    print(error)
assert len(journal.records()) == len(before)
"""


def test_a_full_disk_leaves_whole_lines(tmp_path: Path) -> None:
    """As a limit on the size of files; at most part of the new lines would fit."""
    lines = small(tmp_path / "journal")
    size = (tmp_path / "journal").stat().st_size
    for room in (0, 1, 300):
        said, _ = started(FULL, str(tmp_path / "journal"), str(size + room)).communicate(timeout=60)
        assert said.startswith("path: expected a file that can be appended to, got")
        assert (tmp_path / "journal").read_bytes() == b"".join(lines)
