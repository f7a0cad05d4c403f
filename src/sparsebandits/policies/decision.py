"""A decision, the choice of a rule that it records, and the reasons behind it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from sparsebandits.checks import FloatArray, IntArray
from sparsebandits.tables import Table

CANDIDATES = 8
"""Actions that a decision remembers its reasons for, the chosen one among them."""


@dataclass(frozen=True, eq=False)
class Reasons:
    """What the rule knew of the foremost candidates, ``columns[name][i]`` of action ``candidates[i]``."""

    candidates: IntArray
    columns: Mapping[str, FloatArray]
    notes: Mapping[str, float]

    @classmethod
    def top(
        cls,
        action: int,
        score: FloatArray,
        columns: Mapping[str, FloatArray],
        notes: Mapping[str, float] | None = None,
        always: tuple[int, ...] = (),
    ) -> "Reasons":
        """Keep the actions with the largest ``score``, the chosen one first, and those that belong ``always``."""
        count = min(CANDIDATES, len(score))
        foremost = np.argpartition(score, len(score) - count)[len(score) - count :]
        ranked = foremost[np.argsort(-score[foremost], kind="stable")].tolist()
        kept = np.array(list(dict.fromkeys((action, *always, *ranked)))[:count], dtype=np.intp)
        return cls(kept, {name: values[kept] for name, values in columns.items()}, dict(notes or {}))


@dataclass(frozen=True, eq=False)
class Choice:
    """What a rule answers: a row of the action set, the probability it had, and why."""

    action: int
    probability: float
    reasons: Reasons
    probability_draws: int | None = None  # None: the probability is exact


@dataclass(frozen=True, eq=False)
class Decision:
    """One answer of ``ask``. Keep it, or its ``id``, until the reward comes.

    Attributes
    ----------
    id : counts decisions from zero
    action : row of the action set
    features : that row, read-only
    probability : with which the policy chose this action
    probability_draws : None if that is exact, else the number of posterior draws it was estimated from
    label : the row's name, if the actions came with names
    """

    id: int
    action: int
    features: FloatArray = field(repr=False)
    probability: float
    probability_draws: int | None
    label: str
    reasons: Reasons = field(repr=False)
    labels: tuple[str, ...] = field(repr=False)  # of the candidates in ``reasons``


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a decision was made. Print it to read it."""

    decision: Decision
    policy: str

    @property
    def table(self) -> Table:
        """The candidates, the chosen one first, and what the policy knew of each."""
        reasons = self.decision.reasons
        rows = [
            (
                "*" if a == self.decision.action else "",
                label,
                *(float(column[i]) for column in reasons.columns.values()),
            )
            for i, (a, label) in enumerate(zip(reasons.candidates.tolist(), self.decision.labels, strict=True))
        ]
        return Table(("", "action", *reasons.columns), rows)

    def __str__(self) -> str:
        decision = self.decision
        how = "" if decision.probability_draws is None else f" (estimated from {decision.probability_draws} draws)"
        lines = [
            f"{self.policy} chose action {decision.label} with probability {decision.probability:.3g}{how}; "
            f"it is decision {decision.id}.",
            str(self.table),
            *(f"{name}: {value:.4g}" for name, value in decision.reasons.notes.items()),
        ]
        return "\n".join(lines)
