"""A decision of a policy, and its explanation for a person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebandits.arguments import FloatArray
from sparsebandits.rules.choice import NO_ROW, Reasons
from sparsebandits.tables import Cell, Rows, Table, as_html, formatted

MOST_SHOWN = 8
"""Number of observed rows that an explanation lists."""

SIGNS = 32
"""Number of coordinates whose signs are the label of a decision where actions are not enumerated."""


@dataclass(frozen=True, eq=False, repr=False)
class Decision:
    """One answer of ``ask``. Keep it, or its ``id``, until the reward comes.

    Attributes
    ----------
    id : int
        Number of the decision, from zero.
    action : int
        Row of the action set; −1 if the policy's actions are not enumerated.
    features : array of shape (d,)
        That row, or the action itself; read-only.
    probability : float
        Probability with which the policy chose this action.
    probability_draws : int or None
        Number of posterior draws that the probability was estimated from; None if it is exact.
    reasons : Reasons
        What the policy knew; :meth:`Policy.explain` shows it.
    labels : tuple of str or None
        Names of the candidates in ``reasons``, if actions have names.
    feature_names : tuple of str or None
        Names of the drivers in ``reasons``, if features have names.
    noise_variance : float or None
        Noise variance of this action's reward, if the policy was given one per action.
    policy : str
        Name of the policy's class.
    observation : array or None
        Row that is learnt from with the reward, if it is not the features; one row per observed action if there is a
        feedback graph.
    time : float or None
        When it was made, in seconds since 1970, if the policy forgets in time.
    exposure : float or None
        Exposure of the count that it brings, if that was given.
    context : dict of str to float, bool or str, or None
        Who was asking, by the names of columns, if the policy has contexts.
    available : tuple of int or None
        Rows of the actions that could be chosen, if not all could.
    observed : tuple of int or None
        Rows of the actions whose rewards the decision shows, if there is a feedback graph; otherwise that is the chosen
        action.
    observed_noise : array or None
        Noise variance of each of their rewards, if the policy was given one per action.
    observed_labels : tuple of str or None
        Names of these actions, if actions have names.
    label : str
        Name of the row, if the actions came as a table with names, otherwise its number; the signs of the first 32
        coordinates where actions are not enumerated.
    """

    id: int
    action: int
    features: FloatArray
    probability: float
    probability_draws: int | None
    reasons: Reasons
    labels: tuple[str, ...] | None
    feature_names: tuple[str, ...] | None
    noise_variance: float | None
    policy: str
    observation: FloatArray | None = None
    time: float | None = None
    exposure: float | None = None
    context: Mapping[str, float | bool | str] | None = None
    available: tuple[int, ...] | None = None
    observed: tuple[int, ...] | None = None
    observed_noise: FloatArray | None = None
    observed_labels: tuple[str, ...] | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a copy or a pickle, whose arrays come back writable."""
        self.__dict__.update(state)
        self.features.flags.writeable = False

    def __repr__(self) -> str:
        name = "" if self.labels is None and self.action != NO_ROW else f", label={self.label!r}"
        how = "" if self.probability_draws is None else f" (estimated from {self.probability_draws} draws)"
        return f"Decision(id={self.id}, action={self.action}{name}, probability={self.probability:.4g}{how})"

    def _repr_html_(self) -> str:
        """Return the decision as a table of one row, which notebooks show in place of the text."""
        return _as_table([self])._repr_html_()

    @property
    def label(self) -> str:
        """Name of the action, or its row number if it has none, or its signs if it is not a row."""
        if self.action == NO_ROW:
            signs = "".join("+" if value > 0 else "-" if value < 0 else "0" for value in self.features[:SIGNS])
            return signs + "..." * (len(self.features) > SIGNS)
        return str(self.action) if self.labels is None else self.labels[0]

    @property
    def diagnostics(self) -> dict[str, float]:
        """What the policy knew about the chosen action and about its own state, by name."""
        of_action = self.reasons.columns if self.reasons.about == "action" else {}
        found = {name: float(column[0]) for name, column in of_action.items()}
        if self.reasons.mixture is not None:
            mixture = self.reasons.mixture
            found |= {"first candidate": mixture.first, "second candidate": mixture.second}
            found |= {"probability of the second": mixture.probability}
        return found | dict(self.reasons.notes)


class Decisions(tuple[Decision, ...]):
    """A tuple of decisions that a notebook shows as a table."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return _as_table(self)._repr_html_()


def _as_table(decisions: Sequence[Decision]) -> Table:
    """Return decisions as a table, with their contexts if they have any."""
    contexts = [one.context or {} for one in decisions]
    names = tuple(dict.fromkeys(name for context in contexts for name in context))
    estimated = any(one.probability_draws is not None for one in decisions)
    rows: list[tuple[Cell, ...]] = [
        (
            one.id,
            one.label,
            one.probability,
            *((one.probability_draws,) if estimated else ()),
            *(str(value) if isinstance(value := context.get(name), bool) else value for name in names),
        )
        for one, context in zip(decisions, contexts, strict=True)
    ]
    draws = ("estimated from draws",) if estimated else ()
    return Table(("decision", "action", "probability", *draws, *names), rows)


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a decision was made. Print it to read it.

    Parameters
    ----------
    decision : Decision
        The decision.
    """

    decision: Decision

    @property
    def table(self) -> Rows:
        """The candidates, the chosen one first, and what the policy knew about each.

        Where actions are not enumerated, these are the coordinates whose sign is clearest.
        """
        reasons = self.decision.reasons
        names = self.decision.labels or [str(a) for a in reasons.candidates.tolist()]
        columns = {name: column.tolist() for name, column in reasons.columns.items()}
        if reasons.about == "coordinate":
            each = enumerate(names)
            return Rows.of([{"coordinate": one, **{c: columns[c][i] for c in columns}} for i, one in each])
        ranking = [0, *(1 + np.argsort(-reasons.score[1:], kind="stable")).tolist()]
        data = [
            {"chosen": place == 0, "action": names[i], **{c: columns[c][i] for c in columns}}
            for place, i in enumerate(ranking)
        ]
        marked = [("*" if row["chosen"] else "", *list(row.values())[1:]) for row in data]
        return Rows(tuple(data), Table(("", "action", *columns), marked))

    def __str__(self) -> str:
        return "\n".join(str(part) for part in self._parts())

    def _repr_html_(self) -> str:
        """Return the explanation as HTML, which notebooks show in place of the text."""
        return as_html(*self._parts())

    def _parts(self) -> list[Any]:
        """Return text, the table of candidates, and text."""
        decision = self.decision
        how = "" if decision.probability_draws is None else f" (estimated from {decision.probability_draws} draws)"
        than = ", compared with the average action" if decision.reasons.compared else ""
        before = [
            f"{decision.policy} chose action {decision.label} with probability {decision.probability:.3g}{how}; "
            f"it is decision {decision.id}.",
            *([] if decision.context is None else [f"context: {_written(decision.context)}"]),
            *self._shows(),
            *self._coin(),
        ]
        after = [
            f"largest parts of its {decision.reasons.scale}{than}: {self._drivers()}",
            *(f"{name}: {formatted(value)}" for name, value in decision.reasons.notes.items()),
            *decision.reasons.remarks,
        ]
        return ["\n".join(before), self.table, "\n".join(after)]

    def _shows(self) -> list[str]:
        """Return whose rewards the decision shows, unless that is the chosen action alone."""
        rows, names = self.decision.observed, self.decision.observed_labels
        if rows is None or rows == (self.decision.action,):
            return []
        if not rows:
            return ["It shows no reward."]
        if len(rows) > MOST_SHOWN:
            return [f"It shows the rewards of {len(rows)} actions."]
        one = len(rows) == 1
        named = ", ".join(map(str, rows) if names is None else names)
        kind = "" if names is not None else "row " if one else "rows "
        return [f"It shows the reward{'' if one else 's'} of {kind}{named}."]

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


def _written(context: Mapping[str, float | bool | str]) -> str:
    return ", ".join(
        f"{name} {value if isinstance(value, str | bool) else formatted(value)}" for name, value in context.items()
    )
