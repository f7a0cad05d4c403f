"""A journal in a file of JSON lines: every event is on the disk before the call that records it returns.

The file only grows. A process that stops at any point loses nothing that was acknowledged: a last line that a crash has
cut was not, and is ignored, then removed by the next event. Processes may append to one file at the same time; each
reads what the others have written before it adds an event of its own, so an id cannot be given twice.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import FileIO

from sparsebandits.arguments import ArgumentTypeError, ArgumentValueError, shown
from sparsebandits.files import append_durably, check_path, exists, locked
from sparsebandits.journal.events import Events, reward_line
from sparsebandits.journal.record import Id, Record, find, now
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.decision import Decision


class JsonLines:
    """A journal in a file, one JSON object per line, which :mod:`sparsebandits.journal.events` describes.

    Several processes, or several objects in threads of their own, may append to one file.

    Parameters
    ----------
    path : str or path
        The file, in an existing directory. It is created by the first event; an existing journal is continued.

    Raises
    ------
    SaveFileError
        If the file is something else than a journal, or damaged; the error names the line.
    OSError
        If there cannot be such a file.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from sparsebandits import LinUCB
    >>> policy = LinUCB(np.eye(3))
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     journal = JsonLines(f"{directory}/journal.jsonl")
    ...     decision = policy.ask()
    ...     journal.decided(decision, policy.actions)
    ...     journal.rewarded(decision, 1.5)
    ...     [(record.id, record.reward) for record in JsonLines(f"{directory}/journal.jsonl").records()]
    [(0, 1.5)]
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        check_path(path)
        self.path = os.fspath(path)
        self._events = Events(path)
        self._file = (0, 0)  # device and number of the file that has been read
        self.records()

    def __repr__(self) -> str:
        pending = sum(record.pending for record in self._events.records.values())
        return f"{type(self).__name__}({self.path!r}: {len(self._events.records)} decisions, {pending} pending)"

    def decided(self, decision: Decision, offered: ActionSet) -> None:
        """Append a decision, and the actions that it was chosen from if they are new.

        Parameters
        ----------
        decision : Decision
            What ``ask`` returned. The same decision again changes nothing.
        offered : ActionSet or array of shape (K, d)
            The actions that it was chosen from.

        Raises
        ------
        ValueError
            If the journal has another decision with the same id, or these are not the actions it was chosen from.
        OSError
            If the file cannot be written; nothing has been recorded then.
        """
        record = Record.of(decision, offered, now())
        with self._current() as file:
            if record.id in self._events.records:
                self._events.records[record.id].check_same(record)
            else:
                self._append(file, self._events.lines([record]))

    def rewarded(self, decision: Decision | Id, reward: float | None, shown: Mapping[int, float] | None = None) -> None:
        """Append the reward of a decision.

        Parameters
        ----------
        decision : Decision, int or str
            A decision that the journal has recorded, or its id.
        reward : float or None
            The same reward again changes nothing. None if ``shown`` does not have that of the chosen action.
        shown : mapping of int to float, optional
            If there is a feedback graph, the rewards of all actions that the decision showed, by row.

        Raises
        ------
        ValueError
            If the journal has no such decision, or another reward of it.
        OSError
            If the file cannot be written; nothing has been recorded then.
        """
        with self._current() as file:
            before = find(self._events.records, decision)
            after = before.with_reward(reward, shown)
            if after is not before:
                self._append(file, reward_line(after))

    def extend(self, records: Iterable[Record]) -> None:
        """Append whole records, such as those of another journal: all of them or none.

        Parameters
        ----------
        records : iterable of Record
            With ids that the journal does not have yet.
        """
        new = list(records)
        with self._current() as file:
            ids = set(self._events.records)
            for record in new:
                if not isinstance(record, Record):
                    raise ArgumentTypeError("records", "records of decisions", shown(record))
                if record.id in ids:
                    raise ArgumentValueError("records", "ids that are not in the journal yet", repr(record.id))
                ids.add(record.id)
            self._append(file, self._events.lines(new))

    def records(self) -> list[Record]:
        """Return what the file has by now, in the order of the decisions; what other processes wrote is included."""
        if exists(self.path):
            with locked(self.path) as file:
                self._read_on(file)
        else:
            self._forget()
        return list(self._events.records.values())

    @contextmanager
    def _current(self) -> Iterator[FileIO]:
        """Open the file to append to, with everything read that it has; other processes wait until it is closed."""
        with locked(self.path, append=True) as file:
            self._read_on(file)
            yield file

    def _read_on(self, file: FileIO) -> None:
        status = os.fstat(file.fileno())
        if (status.st_dev, status.st_ino) != self._file or status.st_size < self._events.size:  # another file by now
            self._forget()
            self._file = (status.st_dev, status.st_ino)
        file.seek(self._events.size)
        self._events.read(file.read())

    def _append(self, file: FileIO, content: bytes) -> None:
        append_durably(file, content, self._events.size)
        self._events.read(content)

    def _forget(self) -> None:
        """Start again with nothing read."""
        self._events, self._file = Events(self.path), (0, 0)
