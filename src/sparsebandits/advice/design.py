"""How well a set of actions can be explored: C_min, its certificate and its distribution, with the names of rows.

Hao, Lattimore and Deng (2021, definition of an exploratory action set); ``sparsebandits.theory.exploratory_design``
computes it.
"""

import csv
import io
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebandits.advice.cells import escaped
from sparsebandits.policies.actions import ActionSet
from sparsebandits.tables import Cell, Table, formatted
from sparsebandits.theory import Design, Unseen, exploratory_design, unseen_features

MOST_NAMED = 5
"""Largest number of features that a sentence names."""


@dataclass(frozen=True, eq=False)
class Exploration:
    """A set of actions with its best exploration distribution, and the features that it cannot identify.

    Attributes
    ----------
    actions : ActionSet
        The actions.
    design : Design
        C_min with its certificate and the distribution that attains it.
    unseen : tuple of Unseen
        Features that are combinations of others in all actions.
    """

    actions: ActionSet
    design: Design
    unseen: tuple[Unseen, ...]

    @classmethod
    def of(cls, actions: object) -> "Exploration":
        """Return the exploration of ``actions``, an array, a DataFrame or an :class:`ActionSet`."""
        available = ActionSet.of(actions)
        return cls(available, exploratory_design(available.features), unseen_features(available.features))

    def weights(self, most: int | None = None) -> list[dict[str, Any]]:
        """Return the actions with a weight, heaviest first, up to ``most`` of them.

        Each has its ``row`` (from 1), its name as ``action`` if actions have names, and its ``weight``.
        """
        weights, labels = self.design.weights, self.actions.labels
        heaviest = np.argsort(-weights, kind="stable")[: np.count_nonzero(weights)][:most].tolist()
        return [
            {"row": row + 1, **({} if labels is None else {"action": labels[row]}), "weight": float(weights[row])}
            for row in heaviest
        ]

    def table(self, most: int | None = None) -> Table:
        """Return the actions with a weight, heaviest first, up to ``most`` of them, as a table."""
        columns = ("row", "weight") if self.actions.labels is None else ("row", "action", "weight")
        return Table(columns, [tuple(one[column] for column in columns) for one in self.weights(most)])

    def report(self, most: int = 10) -> str:
        """Return the exploration as text, with the ``most`` heaviest actions."""
        design, played = self.design, int(np.count_nonzero(self.design.weights))
        what = "C_min" if design.spanning else "the smallest eigenvalue within the span"
        lines = [f"{self.actions}", "", *self._about_c_min(), ""]
        lines.append(f"Distribution that maximises {what}: {played} of {len(self.actions)} actions have a weight.")
        if most:
            lines += ["", str(self.table(most))]
            if played > most:
                lines.append(f"… and {played - most} more")
        return "\n".join(lines)

    def _about_c_min(self) -> list[str]:
        design, dimension = self.design, self.actions.dimension
        if not design.spanning:
            lines = [
                f"C_min = 0: the actions span {design.rank} of {dimension} dimensions, so θ cannot be fully learned.",
                f"Within their span the smallest eigenvalue is {formatted(design.c_span)}.",
                *(f"  {self._in_words(one)}" for one in self.unseen[:MOST_NAMED]),
            ]
            if len(self.unseen) > MOST_NAMED:
                lines.append(f"  … and {len(self.unseen) - MOST_NAMED} more features like these")
            return lines
        share = design.gap / design.c_min
        certificate = f"no distribution has more than {design.upper_bound:.6g} (duality gap {share:.1e} of C_min)"
        lines = [f"C_min = {design.c_min:.6g}, certified: {certificate}."]
        largest = float(np.abs(self.actions.features).max())
        if design.exploratory:
            lines.append("Exploratory: C_min ≥ 1.")
        else:
            lines.append("Not exploratory: the paper requires C_min ≥ 1.")
        if largest > 1.0:
            lines.append(f"The paper has features between −1 and 1; the largest here is {formatted(largest)}.")
        return lines

    def _in_words(self, one: Unseen) -> str:
        name = self._name(one.feature)
        if not len(one.others):
            column = self.actions.features[:, one.feature]
            return f"{name} is {'negligible beside other features' if column.any() else 'zero'} in all actions"
        terms = ""
        for j, c in zip(one.others.tolist()[:MOST_NAMED], one.coefficients.round(6).tolist(), strict=False):
            sign = (" − " if c < 0 else " + ") if terms else ("−" if c < 0 else "")
            terms += f"{sign}{'' if abs(c) == 1 else f'{formatted(abs(c))} · '}{self._name(j)}"
        more = len(one.others) - MOST_NAMED
        return f"{name} = {terms}{f' + … ({more} more)' if more > 0 else ''} in all actions"

    def _name(self, column: int) -> str:
        names = self.actions.feature_names
        return f"feature {column + 1}" if names is None else names[column]

    def to_csv(self) -> str:
        """Return the weights of all actions, in their order, as CSV with numbers to the last bit.

        A name that a spreadsheet would take for a formula begins with an apostrophe, which is no part of the name when
        this package reads the file.
        """
        content = io.StringIO()
        labels = self.actions.labels
        odd = any("\r" in label for label in labels or ())  # which Python before 3.13 leaves without quotes
        writer = csv.writer(content, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC if odd else csv.QUOTE_MINIMAL)
        writer.writerow(("row", "weight") if labels is None else ("row", "action", "weight"))
        for row, weight in enumerate(self.design.weights.tolist()):
            cells: tuple[Cell, ...] = (row + 1, weight) if labels is None else (row + 1, escaped(labels[row]), weight)
            writer.writerow(cells)
        return content.getvalue()

    def to_dict(self) -> dict[str, Any]:
        """Return the exploration as values that JSON has."""
        design = self.design
        return {
            "n_actions": len(self.actions),
            "dimension": self.actions.dimension,
            "c_min": design.c_min,
            "upper_bound": design.upper_bound,
            "gap": design.gap,
            "exploratory": design.exploratory,
            "rank": design.rank,
            "c_span": design.c_span,
            "unseen": [
                {
                    "feature": self._name(one.feature),
                    "combination": {
                        self._name(j): c for j, c in zip(one.others.tolist(), one.coefficients.tolist(), strict=True)
                    },
                }
                for one in self.unseen
            ],
            "weights": self.weights(),
        }
