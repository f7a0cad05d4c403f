"""A decision, the choice of a rule that it records, and the reasons behind it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sparsebandits.arguments import FloatArray, IntArray
from sparsebandits.tables import Table, formatted

CANDIDATES = 8
"""Foremost actions that a decision remembers its reasons for."""

NO_ROW = -1
"""``action`` of a decision whose action is no row of a set; its ``features`` are all that there is of it."""

SIGNS = 32
"""Coordinates whose signs make up the label of such a decision."""

DRIVERS = 5
"""Features that contribute most to the chosen action's expected reward, which it remembers too."""


@dataclass(frozen=True, eq=False)
class Mixture:
    """Two actions between which a coin was flipped."""

    first: int
    second: int
    probability: float  # of the second


@dataclass(frozen=True, eq=False)
class Reasons:
    """What the rule knew of the foremost candidates: ``columns[name][i]`` is about action ``candidates[i]``.

    Where actions are not enumerated, it is about coordinate ``candidates[i]`` (``about`` says which). Else the chosen
    action comes first; ``score`` is what the others are ranked by when shown. ``drivers`` are the features
    that contribute most to its expected reward ⟨a, E θ⟩, and ``contributions`` how much.
    """

    candidates: IntArray
    score: FloatArray
    columns: Mapping[str, FloatArray]
    notes: Mapping[str, float]
    drivers: IntArray
    contributions: FloatArray
    mixture: Mixture | None = None
    about: str = "action"  # or "coordinate"

    @classmethod
    def top(
        cls,
        action: int,
        score: FloatArray,
        columns: Mapping[str, FloatArray],
        contributions: FloatArray,
        notes: Mapping[str, float] | None = None,
        mixture: Mixture | None = None,
    ) -> "Reasons":
        """Keep the chosen action, those of the mixture and those with the largest ``score``; forget the rest."""
        rivals = () if mixture is None else (mixture.first, mixture.second)
        kept = np.array(list(dict.fromkeys((action, *rivals, *_largest(score, CANDIDATES)))), dtype=np.intp)
        drivers = _drivers(contributions)
        shown = {name: values[kept] for name, values in columns.items()}
        return cls(kept, score[kept], shown, notes or {}, drivers, contributions[drivers], mixture)

    @classmethod
    def of_coordinates(
        cls,
        score: FloatArray,
        columns: Mapping[str, FloatArray],
        contributions: FloatArray,
        notes: Mapping[str, float],
    ) -> "Reasons":
        """Keep the coordinates with the largest ``score``, where actions are not enumerated; forget the rest."""
        kept = np.array(_largest(score, CANDIDATES), dtype=np.intp)
        kept = kept[np.argsort(-score[kept], kind="stable")]
        drivers = _drivers(contributions)
        shown = {name: values[kept] for name, values in columns.items()}
        return cls(kept, score[kept], shown, notes, drivers, contributions[drivers], about="coordinate")


def _drivers(contributions: FloatArray) -> IntArray:
    drivers = np.array(_largest(np.abs(contributions), DRIVERS), dtype=np.intp)
    return drivers[np.argsort(-np.abs(contributions[drivers]), kind="stable")]


def _largest(values: FloatArray, count: int) -> list[int]:
    count = min(count, len(values))
    return [int(i) for i in np.argpartition(values, len(values) - count)[len(values) - count :]]


@dataclass(frozen=True, eq=False)
class Choice:
    """What a rule answers: a row of the action set (or ``NO_ROW`` and ``features``), its probability, and why."""

    action: int
    probability: float
    reasons: Reasons
    probability_draws: int | None = None  # None: the probability is exact
    features: FloatArray | None = None  # the action itself, where it is no row
    observation: FloatArray | None = None  # the row that the rule learns from; None: the action's features


@dataclass(frozen=True, eq=False, repr=False)
class Decision:
    """One answer of ``ask``. Keep it, or its ``id``, until the reward comes.

    Attributes
    ----------
    id : counts decisions from zero
    action : row of the action set; −1 if the policy's actions are not enumerated
    features : that row, or else the action itself, read-only
    probability : with which the policy chose this action
    probability_draws : None if that is exact, else the number of posterior draws it was estimated from
    label : the row's name, if the actions came as a table with names, else its number; where actions are not
        enumerated, the signs of the first 32 coordinates
    """

    id: int
    action: int
    features: FloatArray
    probability: float
    probability_draws: int | None
    reasons: Reasons
    labels: tuple[str, ...] | None  # of the candidates in ``reasons``, where actions have names
    feature_names: tuple[str, ...] | None  # of the drivers in ``reasons``, where features have names
    noise_variance: float | None  # of this action's reward, where each action has its own
    policy: str  # the class that made it
    observation: FloatArray | None = None  # what the rule learns from with the reward, if not the features

    def __repr__(self) -> str:
        name = "" if self.labels is None and self.action != NO_ROW else f", label={self.label!r}"
        how = "" if self.probability_draws is None else f" (estimated from {self.probability_draws} draws)"
        return f"Decision(id={self.id}, action={self.action}{name}, probability={self.probability:.4g}{how})"

    @property
    def label(self) -> str:
        """The action's name, if the actions came with names, else its row number, or its signs if it has none."""
        if self.action == NO_ROW:
            signs = "".join("+" if value > 0 else "-" if value < 0 else "0" for value in self.features[:SIGNS])
            return signs + "..." * (len(self.features) > SIGNS)
        return str(self.action) if self.labels is None else self.labels[0]

    @property
    def diagnostics(self) -> dict[str, float]:
        """What the policy knew of the chosen action and of its own state, by name."""
        of_action = self.reasons.columns if self.reasons.about == "action" else {}
        found = {name: float(column[0]) for name, column in of_action.items()}
        if self.reasons.mixture is not None:
            mixture = self.reasons.mixture
            found |= {"first candidate": mixture.first, "second candidate": mixture.second}
            found |= {"probability of the second": mixture.probability}
        return found | dict(self.reasons.notes)


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a decision was made. Print it to read it."""

    decision: Decision

    @property
    def table(self) -> Table:
        """The candidates, the chosen one first, and what the policy knew of each.

        Where actions are not enumerated: the coordinates of which the policy is surest.
        """
        reasons = self.decision.reasons
        names = self.decision.labels or [str(a) for a in reasons.candidates.tolist()]
        if reasons.about == "coordinate":
            each = zip(names, *(column.tolist() for column in reasons.columns.values()), strict=True)
            return Table((reasons.about, *reasons.columns), list(each))
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
            *self._coin(),
            str(self.table),
            f"largest parts of its expected reward: {self._drivers()}",
            *(f"{name}: {formatted(value)}" for name, value in decision.reasons.notes.items()),
        ]
        return "\n".join(lines)

    def _coin(self) -> list[str]:
        mixture = self.decision.reasons.mixture
        if mixture is None or mixture.first == mixture.second:
            return []
        labels = self.decision.labels or [str(a) for a in self.decision.reasons.candidates.tolist()]
        names = dict(zip(self.decision.reasons.candidates.tolist(), labels, strict=True))
        return [
            f"A coin decided: action {names[mixture.first]} with probability {1 - mixture.probability:.3g}, "
            f"action {names[mixture.second]} with {mixture.probability:.3g}."
        ]

    def _drivers(self) -> str:
        reasons = self.decision.reasons
        names = self.decision.feature_names or [str(j) for j in reasons.drivers.tolist()]
        parts = [f"{c:+.3g} from {n}" for n, c in zip(names, reasons.contributions.tolist(), strict=True) if c != 0]
        return ", ".join(parts) or "none yet"
