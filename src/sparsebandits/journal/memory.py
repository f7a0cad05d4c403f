"""A journal in memory: the shortest one, and the one to copy for another store.

The log holds what off-policy evaluation needs: for each round the actions that were offered, the one that was played,
its reward, and its propensity, the probability with which it was played.

The propensity is ``decision.probability``. It is exact for randomised IDS, and for ``SparseTS`` on particles or chains;
with ``LinTS`` it is estimated from as many draws as ``decision.probability_draws`` says, so it has a small error.
Deterministic policies (deterministic IDS, LinUCB) have propensity 1, or 1/m where m actions tie: their logs contain no
information about other actions.
"""

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from sparsebandits.arguments import ArgumentTypeError, ArgumentValueError, FloatArray, IntArray, SaveFileError, shown
from sparsebandits.files import check_path, opened, unpack, write_atomically
from sparsebandits.journal.events import Events, actions_line, key_of
from sparsebandits.journal.open_bandit import Columns, records_of
from sparsebandits.journal.record import Id, Record, check_reward, find
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.decision import Decision
from sparsebandits.rules.choice import NO_ROW

OLD_KIND, OLD_VERSION = "sparsebandits.log", 1
"""What release 0.1 saved logs as: an archive of columns."""


class DecisionLog:
    """Decisions of one policy in memory, with their rewards.

    The columns ``action``, ``reward``, ``pscore`` and ``pscore_draws`` and the length have one entry per round: per
    decision that has its reward. :meth:`records` has the pending decisions too.

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d), optional
        The actions that :meth:`add` takes a decision to be chosen from, unless it is given others.

    Examples
    --------
    >>> from sparsebandits import LinUCB
    >>> policy = LinUCB(np.eye(3))
    >>> log = DecisionLog(policy.actions)
    >>> decision = policy.ask()
    >>> policy.tell(decision, 1.0)
    >>> log.add(decision, 1.0)
    >>> log
    DecisionLog(1 round of 3 actions; propensities from 0.333 to 0.333)
    """

    def __init__(self, actions: object = None) -> None:
        self._own = None if actions is None else ActionSet.of(actions)
        if self._own is not None and len(self._own) == 0:
            raise ArgumentTypeError("actions", "rows", f"{shown(actions)}; decisions without rows cannot be logged")
        self._records: dict[Id, Record] = {}

    def decided(self, decision: Decision, offered: ActionSet) -> None:
        """Record a decision.

        Parameters
        ----------
        decision : Decision
            What ``ask`` returned. The same decision again changes nothing.
        offered : ActionSet or array of shape (K, d)
            The actions that it was chosen from, as many of as many features in every round.

        Raises
        ------
        ValueError
            If the log has another decision with the same id, or these are not the actions it was chosen from.
        """
        if isinstance(decision, Decision) and decision.action == NO_ROW:
            raise ArgumentValueError("decision", "one that chose a row of the actions", "one without a row")
        self._check_shape(ActionSet.of(offered))
        record = Record.of(decision, offered)
        self._records.setdefault(record.id, record).check_same(record)

    def rewarded(self, decision: Decision | Id, reward: float | None, shown: Mapping[int, float] | None = None) -> None:
        """Record the reward of a decision.

        Parameters
        ----------
        decision : Decision, int or str
            A decision that has been recorded, or its id.
        reward : float or None
            The same reward again changes nothing. None if ``shown`` does not have that of the chosen action; such a
            decision is no round, and off-policy evaluation refuses a log that has one, since it needs all rewards.
        shown : mapping of int to float, optional
            If there is a feedback graph, the rewards of all actions that the decision showed, by row.

        Raises
        ------
        ValueError
            If the log has no such decision, or another reward of it.
        """
        record = find(self._records, decision)
        self._records[record.id] = record.with_reward(reward, shown)

    def records(self) -> list[Record]:
        """Return what has been recorded, in the order of the decisions."""
        return list(self._records.values())

    def __len__(self) -> int:
        return sum(record.reward is not None for record in self._records.values())

    def __repr__(self) -> str:
        rounds = self._rounds()
        pending = sum(record.pending for record in self._records.values())
        count = f"{len(rounds)} round{'s' * (len(rounds) != 1)}"
        waiting = f"; {pending} pending" if pending else ""
        if not rounds:
            return f"{type(self).__name__}({count}{waiting})"
        low, high = self.pscore.min(), self.pscore.max()
        estimated = np.count_nonzero(self.pscore_draws)
        how = f", estimated in {estimated} of the rounds" if estimated else ""
        of = f"{count} of {len(rounds[0].offered or ())} actions"
        return f"{type(self).__name__}({of}; propensities from {low:.3g} to {high:.3g}{how}{waiting})"

    def add(self, decision: Decision, reward: object, actions: object = None) -> None:
        """Record a decision together with its reward.

        Parameters
        ----------
        decision : Decision
            What ``ask`` returned. It may be in the log already, if its reward is pending.
        reward : float
            Its reward.
        actions : array or DataFrame of shape (K, d), optional
            The actions that it was chosen from, by default those of the log.

        Raises
        ------
        ValueError
            If the decision is in the log with its reward, or was not chosen from these actions.
        """
        if not isinstance(decision, Decision):
            raise ArgumentTypeError("decision", "one that ask() returned", shown(decision))
        offered = self._own if actions is None else ActionSet.of(actions)
        if offered is None:
            raise ArgumentValueError("actions", "those it was chosen from", "None")
        value = check_reward(reward)
        self.decided(decision, offered)
        if not self._records[decision.id].pending:
            raise ArgumentValueError("decision", "one that is not in the log yet", f"decision {decision.id} again")
        self.rewarded(decision, value)

    @property
    def actions(self) -> FloatArray:
        """Features of the actions, of shape (K, d) if they are the same in every round, else (n, K, d)."""
        if not self._rounds():
            return np.empty((0, 0)) if self._own is None else self._own.features
        return Columns.of(self._rounds()).actions

    @property
    def action(self) -> IntArray:
        """Rows that were played, of shape (n,)."""
        return np.array([record.action for record in self._rounds()], dtype=np.intp)

    @property
    def reward(self) -> FloatArray:
        """Their rewards, of shape (n,)."""
        return np.array([record.reward for record in self._rounds()], dtype=np.float64)

    @property
    def pscore(self) -> FloatArray:
        """The probabilities with which they were played, of shape (n,)."""
        return np.array([record.probability for record in self._rounds()], dtype=np.float64)

    @property
    def pscore_draws(self) -> IntArray:
        """Number of draws that each probability was estimated from, of shape (n,); 0 where it is exact."""
        return np.array([record.probability_draws or 0 for record in self._rounds()], dtype=np.intp)

    def to_open_bandit(self) -> dict[str, Any]:
        """Return the rounds as the Open Bandit Pipeline has them, a dict of arrays.

        If the actions are the same in every round, ``action_context`` of shape (K, d) holds them and ``context`` is a
        column of ones. Otherwise ``context`` of shape (n, K·d) holds those of the round, one after another, and
        ``actions`` of shape (n, K, d), a column of ours, the same in its own shape. ``pscore_draws`` is ours too.

        Raises
        ------
        ValueError
            If no decision has a reward, or if a feedback graph hid the reward of an action that was played.
        """
        return Columns.of(self._records.values()).to_open_bandit()

    @classmethod
    def from_open_bandit(cls, columns: Mapping[str, Any]) -> "DecisionLog":
        """Return the log that has these columns, written by this library or another.

        Parameters
        ----------
        columns : mapping of str to arrays, or DataFrame
            ``action``, ``reward`` and ``pscore`` are required. In the logs of other libraries, the features of an
            action in a round are those of the round, ``context``, followed by those of the action,
            ``action_context``, or by an indicator of the action if there are none. All of them are made, in an array of
            shape (n, K, d). A context that is the same in all rounds is left out.
        """
        records = records_of(columns)
        sets = {id(record.offered): record.offered for record in records if record.offered is not None}
        return cls._holding(records, sets.values())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the log to a file in an existing directory, in one step; ``JsonLines`` can continue it.

        Parameters
        ----------
        path : str or path
            The file; what was in it is replaced.
        """
        own = b"" if self._own is None or self._records else actions_line(key_of(self._own), self._own)
        write_atomically(path, own + Events().lines(self._records.values()))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "DecisionLog":
        """Return the log that :meth:`save` wrote, or that a :class:`~sparsebandits.journal.JsonLines` keeps.

        If all decisions were chosen from the same actions, these are the ones that :meth:`add` uses by default.

        Parameters
        ----------
        path : str or path
            The file. A log that release 0.1 saved is read too.

        Raises
        ------
        SaveFileError
            If the file is missing, damaged or something else.
        """
        check_path(path)
        try:
            with opened(path) as (file, size):
                archive = file.read(4) == b"PK\3\4"
                file.seek(0)
                content = b"" if archive else file.read(size)
        except OSError as error:
            raise SaveFileError(f"path: expected a journal, got {path}: {error.strerror or error}") from error
        if archive:
            return cls._from_archive(path)
        events = Events(path)
        events.read(content)
        return cls._holding(events.records.values(), events.sets.values())

    @classmethod
    def _from_archive(cls, path: str | os.PathLike[str]) -> "DecisionLog":
        """Return a log of release 0.1."""
        columns = unpack(path, OLD_KIND, OLD_VERSION, sealed=False)
        try:
            return cls.from_open_bandit(columns)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise SaveFileError(f"path: {path} is no whole log of release 0.1 ({error})") from error

    @classmethod
    def _holding(cls, records: Iterable[Record], sets: Iterable[ActionSet]) -> "DecisionLog":
        known = list(sets)
        log = cls(known[0] if len(known) == 1 else None)
        for record in records:
            if record.offered is None:
                got = f"decision {record.id} without them"
                raise ArgumentValueError("log", "decisions with the actions that they were chosen from", got)
            log._check_shape(record.offered)
            log._records[record.id] = record
        return log

    def _rounds(self) -> list[Record]:
        return [record for record in self._records.values() if record.reward is not None]

    def _check_shape(self, offered: ActionSet) -> None:
        """Require as many actions of as many features as in the first round."""
        first = next(iter(self._records.values()), None)
        if first is not None and first.offered is not None and first.offered.features.shape != offered.features.shape:
            shape = first.offered.features.shape
            raise ArgumentValueError("actions", f"shape {shape} in each round", f"{offered.features.shape}")
