"""A decision, the choice of a rule that it records, and the reasons behind it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sparsebandits.checks import FloatArray, IntArray
from sparsebandits.tables import Table, formatted

CANDIDATES = 8
"""Foremost actions that a decision remembers its reasons for."""


@dataclass(frozen=True, eq=False)
class Reasons:
    """What the rule knew of the foremost candidates: ``columns[name][i]`` is about action ``candidates[i]``.

    The chosen action comes first; ``score`` is what the others are ranked by when shown.
    """

    candidates: IntArray
    score: FloatArray
    columns: Mapping[str, FloatArray]
    notes: Mapping[str, float]

    @classmethod
    def top(
        cls,
        action: int,
        score: FloatArray,
        columns: Mapping[str, FloatArray],
        notes: Mapping[str, float] | None = None,
        rivals: tuple[int, ...] = (),
    ) -> "Reasons":
        """Keep the chosen action, its ``rivals`` and the actions with the largest ``score``; forget the rest."""
        count = min(CANDIDATES, len(score))
        foremost = np.argpartition(score, len(score) - count)[len(score) - count :]
        kept = np.array(list(dict.fromkeys((action, *rivals, *foremost.tolist()))), dtype=np.intp)
        return cls(kept, score[kept], {name: values[kept] for name, values in columns.items()}, notes or {})


@dataclass(frozen=True, eq=False)
class Choice:
    """What a rule answers: a row of the action set, the probability it had, and why."""

    action: int
    probability: float
    reasons: Reasons
    probability_draws: int | None = None  # None: the probability is exact


@dataclass(frozen=True, eq=False, repr=False)
class Decision:
    """One answer of ``ask``. Keep it, or its ``id``, until the reward comes.

    Attributes
    ----------
    id : counts decisions from zero
    action : row of the action set
    features : that row, read-only
    probability : with which the policy chose this action
    probability_draws : None if that is exact, else the number of posterior draws it was estimated from
    label : the row's name, if the actions came as a table with names, else its number
    """

    id: int
    action: int
    features: FloatArray
    probability: float
    probability_draws: int | None
    reasons: Reasons
    labels: tuple[str, ...] | None  # of the candidates in ``reasons``, where actions have names
    policy: str  # the class that made it

    def __repr__(self) -> str:
        name = "" if self.labels is None else f", label={self.label!r}"
        how = "" if self.probability_draws is None else f" (estimated from {self.probability_draws} draws)"
        return f"Decision(id={self.id}, action={self.action}{name}, probability={self.probability:.4g}{how})"

    @property
    def label(self) -> str:
        """The action's name, if the actions came with names, else its row number."""
        return str(self.action) if self.labels is None else self.labels[0]


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a decision was made. Print it to read it."""

    decision: Decision

    @property
    def table(self) -> Table:
        """The candidates, the chosen one first, and what the policy knew of each."""
        reasons = self.decision.reasons
        names = self.decision.labels or [str(a) for a in reasons.candidates.tolist()]
        ranking = np.concatenate(([0], 1 + np.argsort(-reasons.score[1:], kind="stable")))
        rows = [
            ("" if rank else "*", names[i], *(float(column[i]) for column in reasons.columns.values()))
            for rank, i in enumerate(ranking.tolist())
        ]
        return Table(("", "action", *reasons.columns), rows)

    def __str__(self) -> str:
        decision = self.decision
        how = "" if decision.probability_draws is None else f" (estimated from {decision.probability_draws} draws)"
        lines = [
            f"{decision.policy} chose action {decision.label} with probability {decision.probability:.3g}{how}; "
            f"it is decision {decision.id}.",
            str(self.table),
            *(f"{name}: {formatted(value)}" for name, value in decision.reasons.notes.items()),
        ]
        return "\n".join(lines)
