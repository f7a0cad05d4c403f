"""The record of one decision: what was offered, what was chosen, with which probability, and what reward it brought.

Every journal keeps these records, whatever it stores them in. :meth:`Record.of` makes one from a decision of a policy,
and :meth:`Record.with_reward` adds the reward when it comes. Both may be repeated: a policy that is restored from an
older save file makes the same decisions again, and a reward may be delivered twice. What contradicts a record is
refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias
from uuid import uuid4

import numpy as np

from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    check_array,
    check_count,
    check_number,
    check_positive,
    shown,
)
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.decision import Decision
from sparsebandits.rules.choice import NO_ROW, ROUNDING

Id: TypeAlias = int | str

SAME = ("id", "action", "probability", "probability_draws", "policy")
"""What is equal, besides the features, in two records of one decision; labels may be written differently."""

EXTRA = ("exposure", "context", "available", "observed")
"""What some decisions have."""


@dataclass(frozen=True, eq=False, slots=True)
class Record:
    """One decision with its reward, if that has come.

    Attributes
    ----------
    id : int or str
        Unique in a journal. A policy counts its decisions from zero; ``decide`` makes random ids.
    action : int
        Row of the set of actions; −1 if actions are not enumerated.
    features : ndarray of shape (d,)
        Features of the action.
    probability : float
        Probability with which it was chosen (its propensity).
    probability_draws : int or None
        Number of posterior draws that the probability was estimated from; None if it is exact.
    label : str or None
        Name of the action.
    offered : ActionSet or None
        The actions that it was chosen from; None if they were not recorded.
    reward : float or None
        None while the reward is pending.
    noise_variance : float or None
        Noise variance of the reward, if each action has its own.
    policy : str or None
        Class of the policy that decided.
    time : str or None
        Time of the decision in UTC, in ISO 8601.
    extra : mapping of str to JSON values
        Whatever else the writer recorded.
    shown : mapping of int to float, or None
        If there is a feedback graph, the rewards of all actions that the decision showed, by row. ``reward`` is that of
        the chosen action, and stays None if it is not among them.

    Examples
    --------
    >>> from sparsebandits import LinUCB
    >>> policy = LinUCB(np.eye(3))
    >>> record = Record.of(policy.ask(), policy.actions)
    >>> record.reward is None, record.with_reward(1.5).reward
    (True, 1.5)
    """

    id: Id
    action: int
    features: FloatArray
    probability: float
    probability_draws: int | None = None
    label: str | None = None
    offered: ActionSet | None = None
    reward: float | None = None
    noise_variance: float | None = None
    policy: str | None = None
    time: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    shown: Mapping[int, float] | None = None

    @property
    def pending(self) -> bool:
        """Whether the reward, or what the decision shows of others, has not come yet."""
        return self.reward is None and self.shown is None

    @classmethod
    def of(cls, decision: Decision, offered: object, time: str | None = None) -> "Record":
        """Return the record of a decision that awaits its reward.

        Parameters
        ----------
        decision : Decision
            What ``ask`` returned.
        offered : ActionSet or array of shape (K, d)
            The actions that it was chosen from.
        time : str, optional
            Time of the decision in UTC, in ISO 8601, if the decision has none of its own.

        Raises
        ------
        ValueError
            If the decision is not one of a policy, or was not chosen from these actions.
        """
        if not isinstance(decision, Decision):
            raise ArgumentTypeError("decision", "a decision that ask() returned", shown(decision))
        return checked(
            cls(
                id=decision.id,
                action=int(decision.action),
                features=decision.features,
                probability=float(decision.probability),
                probability_draws=decision.probability_draws,
                label=decision.label,
                offered=None if decision.action == NO_ROW else ActionSet.of(offered),
                noise_variance=decision.noise_variance,
                policy=decision.policy,
                time=time if decision.time is None else _utc(datetime.fromtimestamp(decision.time, UTC)),
                extra={name: getattr(decision, name) for name in EXTRA if getattr(decision, name) is not None},
            )
        )

    def with_reward(self, reward: object, shown: object = None) -> "Record":
        """Return the record with its reward; the same record if it has been told before.

        Parameters
        ----------
        reward : float or None
            The reward of the chosen action; None if it is not among those that are shown.
        shown : mapping of int to float, optional
            If there is a feedback graph, the rewards of all actions that the decision showed, by row.

        Raises
        ------
        ValueError
            If a reward is not a number, or not the one that was told before.
        """
        others = None if shown is None else check_shown(shown)
        own = None if reward is None and others is not None else check_reward(reward)
        if others is not None and others.get(self.action) != own:
            raise ArgumentValueError("reward", f"that of row {self.action} among the rewards shown", repr(own))
        if self.pending:
            return replace(self, reward=own, shown=others)
        if (self.reward, self.shown) != (own, others):
            before, now = (self.reward, own) if self.shown is None else (dict(self.shown), others)
            raise ArgumentValueError("reward", f"{before!r} for decision {self.id}, as told before", repr(now))
        return self

    def check_same(self, other: "Record | Decision") -> None:
        """Require the same decision: two policies may not share a journal, since both count from zero.

        Raises
        ------
        ValueError
            If ``other`` is a different decision with the same id.
        """
        same = all(getattr(self, name) == getattr(other, name) for name in SAME)
        same = same and np.array_equal(self.features, other.features)
        if not same or (isinstance(other, Record) and not _same_set(self.offered, other.offered)):
            expected = "an id that is not in the journal yet (one journal per policy)"
            raise ArgumentValueError("decision", expected, f"another decision with the id {other.id!r}")


def _same_set(one: ActionSet | None, other: ActionSet | None) -> bool:
    if one is other or one is None or other is None:
        return one is other
    return bool(np.array_equal(one.features, other.features))


def checked(record: Record) -> Record:
    """Return a record if a journal can hold it; refuse it otherwise."""
    check_id("id", record.id)
    check_count("action", record.action, least=NO_ROW, most=None)
    if not isinstance(record.features, np.ndarray) or check_array("features", record.features).ndim != 1:
        raise ArgumentValueError("features", "an array of shape (d,)", shown(record.features))
    if not 0 < check_number("probability", record.probability) <= 1 + ROUNDING:
        raise ArgumentValueError("probability", "a number above 0 and at most 1", repr(record.probability))
    if record.probability_draws is not None:
        check_count("probability_draws", record.probability_draws, most=None)
    if record.noise_variance is not None:
        check_positive("noise_variance", record.noise_variance)
    if record.reward is not None:
        check_number("reward", record.reward)
    if record.shown is not None:
        check_shown(record.shown)
    for name in ("label", "policy", "time"):
        if not isinstance(getattr(record, name), str | None):
            raise ArgumentTypeError(name, "a string or None", shown(getattr(record, name)))
    if record.time is not None:
        _check_time(record.time)
    if not isinstance(record.extra, Mapping):
        raise ArgumentTypeError("extra", "JSON values by name", shown(record.extra))
    if record.offered is not None:
        rows = record.offered.features
        if not 0 <= record.action < len(rows) or not np.array_equal(rows[record.action], record.features):
            expected = f"those that decision {record.id} was chosen from"
            raise ArgumentValueError("actions", expected, f"{len(rows)} others")
    return record


def _check_time(time: str) -> None:
    try:
        utc = datetime.fromisoformat(time).utcoffset() == timedelta(0)
    except ValueError:
        utc = False
    if not utc:
        raise ArgumentValueError("time", "a time in UTC (ISO 8601)", shown(time))


def check_id(name: str, value: object) -> Id:
    """Require the id of a decision: a count from zero, or a string."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ArgumentTypeError(name, "a decision or its id", shown(value))
    return check_count(name, value, least=0, most=None)


def check_shown(shown: object) -> dict[int, float]:
    """Require rewards by row of the set of actions; a click (True or False) is 1 or 0."""
    if not isinstance(shown, Mapping):
        raise ArgumentTypeError("shown", "rewards by row", type(shown).__name__)
    return {check_count("shown", row, least=0, most=None): check_reward(one) for row, one in shown.items()}


def check_reward(reward: object) -> float:
    """Require a number; a click (True or False) is 1 or 0."""
    return check_number("reward", float(reward) if isinstance(reward, bool | np.bool_) else reward)


def find(records: Mapping[Id, Record], decision: Decision | Id) -> Record:
    """Return the record of a decision, or of its id, among those of a journal; refuse one that is not there."""
    number = decision.id if isinstance(decision, Decision) else check_id("decision", decision)
    if number not in records:
        raise ArgumentValueError("decision", "one that the journal has recorded", f"id {number!r}, which it has not")
    if isinstance(decision, Decision):
        records[number].check_same(decision)
    return records[number]


def now() -> str:
    """Return the time in UTC, as ISO 8601 has it."""
    return _utc(datetime.now(UTC))


def _utc(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds")


def new_id() -> str:
    """Return an id that nobody else has, for decisions that no policy counts."""
    return uuid4().hex
