"""The JSON form of a journal: one event per line, in the order in which things happened.

    {"version": 2, "event": "actions", "key": "…", "features": [[…], …], "labels": […], …, "check": "…"}
    {"version": 2, "event": "decision", "id": 0, "time": "…", "action": 3, "probability": 0.25, …, "check": "…"}
    {"version": 2, "event": "reward", "id": 0, "reward": 1.5, "check": "…"}
    {"version": 2, "event": "reward", "id": 1, "reward": null, "shown": [[0, 1.5], [2, 0.5]], "check": "…"}

A set of actions is written once, before the first decision that was chosen from it. Its key is a hash of its contents,
so processes that know nothing of each other give it the same key, and a reader notices a damaged set. A decision has
either the key of its set (``offered``) or the ``features`` of the action. Numbers are read back to the bit; NaN and
infinities are refused, and so is every line that this page does not describe: the error names the line. The last field,
``check``, is a hash of all bytes of the line before it, so a reader notices a single bit that is not what was written.
Lines of version 1, which have no such field, are read too. With a feedback graph, a reward has a field ``shown``: pairs
of a row and its reward; then ``reward`` is that of the chosen action, or null if that is not among them.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

import numpy as np

from sparsebandits.arguments import (
    ArgumentError,
    ArgumentTypeError,
    ArgumentValueError,
    SaveFileError,
    check_array,
    check_matrix,
    frozen,
    shown,
)
from sparsebandits.atomic import at_once
from sparsebandits.journal.record import Id, Record, checked, find
from sparsebandits.policies.actions import ActionSet

VERSION, UNCHECKED = 2, 1
"""The version that is written, and one that is read as well, whose lines have no hash."""

CHECK = re.compile(rb', "check": "([0-9a-f]{16})"}')
"""How a line ends."""

CHECKED = 30
"""Number of bytes of that."""

FIELDS = {
    "actions": ("key", "features", "labels", "feature_names"),
    "decision": (
        *("id", "time", "policy", "action", "label", "features", "probability", "probability_draws", "noise_variance"),
        *("offered", "extra"),
    ),
    "reward": ("id", "reward"),
}
"""What an event of each kind has besides ``version`` and ``event``, no more and no less."""

WITH_GRAPH = (*FIELDS["reward"], "shown")
"""What a reward has if there is a feedback graph."""

STARTS = tuple(f'{{"version": {version}, "event": "'.encode() for version in (VERSION, UNCHECKED))
"""What every line that this module reads begins with."""


class Events:
    """What the lines of a journal say: its records by id, and its sets of actions by key.

    Parameters
    ----------
    source : str or path, default=""
        The file, for messages.

    Attributes
    ----------
    records : dict of Id to Record
        In the order of the decisions.
    sets : dict of str to ActionSet
        The sets of actions by their keys.
    size : int
        Bytes that have been read; always a number of whole lines.
    """

    def __init__(self, source: str | os.PathLike[str] = "") -> None:
        self.records: dict[Id, Record] = {}
        self.sets: dict[str, ActionSet] = {}
        self.size = 0
        self._source = source
        self._lines = 0
        self._latest: tuple[ActionSet, str] | None = None

    def read(self, content: bytes) -> None:
        """Read the whole lines of what follows in the file.

        A last line without its end was cut by a crash, or is being written: it is left for later.

        Raises
        ------
        SaveFileError
            If a line is no event of a journal, or contradicts the lines before it.
        """
        *lines, rest = content.split(b"\n")
        for line in lines:
            said = [self._read_line(line)] if line.strip() else []
            at_once(  # or a line that was interrupted would be read again, as a second decision with its id
                *said,
                (setattr, self, "_lines", self._lines + 1),
                (setattr, self, "size", self.size + len(line) + 1),
            )
        ours = self.sets or self.records or any(rest.startswith(one) or one.startswith(rest) for one in STARTS)
        if not ours:  # a file of somebody else's, without an end of line
            self._refuse("is no event of a journal")
        if (end := CHECK.search(rest)) and end.end() < len(rest):
            self._refuse("goes on where it should end")  # no crash has cut it

    def lines(self, records: Iterable[Record]) -> bytes:
        """Return the lines that add records to what has been read, with the sets of actions that are new."""
        written, keys = [], set(self.sets)
        for record in records:
            key = None
            if record.offered is not None:
                key = self._key(record.offered)
                if key not in keys:
                    keys.add(key)
                    written.append(actions_line(key, record.offered))
            written.append(_decision_line(record, key))
            if not record.pending:
                written.append(reward_line(record))
        return b"".join(written)

    def _key(self, offered: ActionSet) -> str:
        if self._latest is None or self._latest[0] is not offered:  # most policies offer the same set in each round
            self._latest = (offered, key_of(offered))
        return self._latest[1]

    def _read_line(self, line: bytes) -> tuple[Any, ...]:
        """Return what a line says, as a call that adds it to sets or records."""
        try:
            event = json.loads(line.decode(), parse_constant=_no_constant)
        except (ValueError, RecursionError):
            self._refuse("is no JSON")
        if not isinstance(event, dict) or "event" not in event:
            hint = "; a log of sparsebandits 0.1 has another format: rename it, and a new one is begun"
            self._refuse(f"is no event of a journal{hint if isinstance(event, dict) and 'place' in event else ''}")
        version = event.get("version")
        if type(version) is not int or version not in (VERSION, UNCHECKED):
            self._refuse(f"has version {shown(version)}; this release reads version {VERSION}")
        if version == VERSION and event.pop("check", None) != (_check(line) or "missing"):
            self._refuse("is damaged: its contents do not match its checksum")
        kind = event["event"]
        if not isinstance(kind, str) or kind not in FIELDS:
            self._refuse(f"has the unknown event {shown(kind)}")
        fields = {name: value for name, value in event.items() if name not in ("version", "event")}
        if set(fields) != set(FIELDS[kind]) and not (kind == "reward" and set(fields) == set(WITH_GRAPH)):
            self._refuse(f"has the fields {shown(sorted(fields))}, not {sorted(FIELDS[kind])}")
        try:
            read = {"actions": self._read_actions, "decision": self._read_decision, "reward": self._read_reward}
            return read[kind](fields)
        except ArgumentError as error:
            self._refuse(f"is damaged ({error})")

    def _read_actions(self, event: Mapping[str, Any]) -> tuple[Any, ...]:
        labels, names = (_names(name, event[name]) for name in ("labels", "feature_names"))
        found = ActionSet(frozen(check_matrix("features", event["features"])), labels, names)
        key = key_of(found)
        if event["key"] != key:
            raise ArgumentValueError("key", f"{key}, by its contents", shown(event["key"]))
        return self.sets.setdefault, key, found

    def _read_decision(self, event: Mapping[str, Any]) -> tuple[Any, ...]:
        key, features = event["offered"], event["features"]
        offered = self.sets.get(key) if isinstance(key, str) else None
        if (key is None) == (features is None) or (key is not None and offered is None):
            expected = "the key of a set of actions above, or features"
            raise ArgumentValueError("offered", expected, f"{shown(key)} and {shown(features)}")
        if offered is None:
            row = check_array("features", features, ndim=1)
        else:
            action = event["action"]
            row = offered.features[action] if type(action) is int and 0 <= action < len(offered) else np.empty(0)
        record = checked(Record(**{**event, "offered": offered, "features": frozen(row)}))
        if record.id in self.records:
            raise ArgumentValueError("id", "one decision per id", f"a second one with {record.id!r}")
        return self.records.__setitem__, record.id, record

    def _read_reward(self, event: Mapping[str, Any]) -> tuple[Any, ...]:
        record = find(self.records, event["id"])
        shown = _by_row(event["shown"]) if "shown" in event else None
        return self.records.__setitem__, record.id, record.with_reward(event["reward"], shown)

    def _refuse(self, why: str) -> NoReturn:
        where = f"line {self._lines + 1} of {self._source}" if self._source else f"line {self._lines + 1}"
        raise SaveFileError(f"path: expected a journal of decisions, got a file of which {where} {why}")


def key_of(offered: ActionSet) -> str:
    """Return the key of a set of actions: a hash of its features and names.

    Examples
    --------
    >>> key_of(ActionSet.of(np.eye(2))) == key_of(ActionSet.of([[1, 0], [0, 1]]))
    True
    """
    names = json.dumps([offered.features.shape, offered.labels, offered.feature_names])
    return hashlib.sha256(names.encode() + offered.features.astype("<f8").tobytes()).hexdigest()[:16]


def actions_line(key: str, offered: ActionSet) -> bytes:
    """Return the event that describes a set of actions."""
    names = {"labels": offered.labels, "feature_names": offered.feature_names}
    return _line("actions", {"key": key, "features": offered.features.tolist(), **names})


def reward_line(record: Record) -> bytes:
    """Return the event of the reward of a record."""
    shown = {} if record.shown is None else {"shown": [list(pair) for pair in record.shown.items()]}
    return _line("reward", {"id": record.id, "reward": record.reward, **shown})


def _by_row(pairs: object) -> dict[Any, Any]:
    """Return pairs of rows and rewards as a dictionary."""
    if not isinstance(pairs, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise ArgumentTypeError("shown", "pairs of a row and its reward", shown(pairs))
    found = dict(pairs) if all(type(row) is int for row, _ in pairs) else {}
    if len(found) < len(pairs):
        raise ArgumentValueError("shown", "rows, each once", shown(pairs))
    return found


def _decision_line(record: Record, key: str | None) -> bytes:
    checked(record)
    fields = {name: getattr(record, name) for name in FIELDS["decision"]}
    fields |= {"features": record.features.tolist() if key is None else None, "offered": key}
    try:
        return _line("decision", {**fields, "extra": dict(record.extra)})
    except (TypeError, ValueError, RecursionError) as error:
        raise ArgumentTypeError("extra", "JSON values (finite numbers, strings, lists)", f"others: {error}") from None


def _line(event: str, fields: Mapping[str, Any]) -> bytes:
    content = {"version": VERSION, "event": event, **fields}
    line = json.dumps(content, allow_nan=False, default=_plain).encode()
    return line[:-1] + f', "check": "{_hashed(line[:-1])}"}}\n'.encode()


def _check(line: bytes) -> str | None:
    """Return the hash that a line has to end with; None if it does not end with any."""
    line = line.strip(b" \t\r")  # which an editor may have added
    end = CHECK.search(line, max(len(line) - CHECKED, 0))
    return _hashed(line[: end.start()]) if end and end.end() == len(line) else None


def _hashed(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _plain(value: object) -> Any:
    """Return a number of NumPy's as one of Python's."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is no JSON value")


def _names(name: str, value: object) -> tuple[str, ...] | None:
    if value is not None and not (isinstance(value, list) and all(isinstance(one, str) for one in value)):
        raise ArgumentTypeError(name, "strings or null", shown(value))
    return None if value is None else tuple(value)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
