"""What a posterior says about features and actions, as numbers: functions of its summary, its draws and the table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sparsebandits.advice.read import History
from sparsebandits.tables import Cell, Rows, Table

COLUMNS = {
    "feature": "name",
    "P(included)": "inclusion",
    "mean": "mean",
    "sd": "sd",
    "2.5%": "low",
    "97.5%": "high",
    "P(positive)": "positive",
    "standardized": "standardized",
}
"""Fields of a :class:`FeatureEffect` by the names that tables and JSON have for them."""


@dataclass(frozen=True)
class FeatureEffect:
    """Posterior of the effect of one unit of a feature on the reward.

    Attributes
    ----------
    name : str
        The feature.
    inclusion : float
        Probability that the feature matters.
    mean, sd : float
        Posterior mean and standard deviation of the effect.
    low, high : float
        Ends of its 95% interval.
    positive : float
        Probability that the effect is positive.
    spread : float
        Standard deviation of the feature over the actions.
    """

    name: str
    inclusion: float
    mean: float
    sd: float
    low: float
    high: float
    positive: float
    spread: float

    @property
    def standardized(self) -> float:
        """Posterior mean of the effect of one standard deviation of the feature, by which features are compared."""
        return self.mean * self.spread

    def to_dict(self) -> dict[str, Cell]:
        """Return the numbers by the names that tables and JSON have for them."""
        return {column: getattr(self, field) for column, field in COLUMNS.items()}


def feature_effects(summary: Rows, past: History) -> tuple[FeatureEffect, ...]:
    """Return the effect of each feature, the most likely to matter first, and the strongest first among equals."""
    known = {field: column for column, field in COLUMNS.items() if field != "standardized"}
    effects = []
    for row, spread in zip(summary, past.features.std(axis=0).tolist(), strict=True):
        values: dict[str, Any] = {field: row[column] for field, column in known.items()}
        effects.append(FeatureEffect(**values, spread=spread))
    return tuple(sorted(effects, key=lambda one: (-round(one.inclusion, 9), -abs(one.standardized))))


def effects_table(effects: Sequence[FeatureEffect]) -> Table:
    """Return the effects as a table, one row per feature."""
    return Table(tuple(COLUMNS), [tuple(effect.to_dict().values()) for effect in effects])
