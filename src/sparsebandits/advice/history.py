"""Actions with their features and past rewards, as a table says them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sparsebandits.advice.assumed import Assumed
from sparsebandits.arguments import BoolArray, FloatArray, IntArray, frozen
from sparsebandits.policies.actions import ActionSet


@dataclass(frozen=True, eq=False)
class History:
    """K actions with d features, each of which varies over the actions, and n past rewards.

    Parameters
    ----------
    names : tuple of str
        One per action.
    feature_names : tuple of str
        One per feature.
    features : array of shape (K, d)
        One row per action.
    tried : array of shape (n,)
        Number of the action of each past reward.
    rewards : array of shape (n,)
        The past rewards.
    notes : tuple of str
        What a person should know about the table.
    assumed : tuple of Assumed, default=()
        What was assumed to read it.
    rows : array of shape (K,)
        First row of each action in the table.
    sources : tuple of str
        Column of the table that each feature comes from.
    continuous : tuple of bool
        Whether each feature is a number that may have squares and products.
    allowed : bool array of shape (K,), optional
        Actions that satisfy the constraints; by default all.
    costs : array of shape (K,), optional
        Cost of each action.
    decimal : {".", ","}, default="."
        Decimal mark of the table.
    reward_columns : tuple of str, default=()
        Columns that the past rewards are in.
    """

    names: tuple[str, ...]
    feature_names: tuple[str, ...]
    features: FloatArray
    tried: IntArray
    rewards: FloatArray
    notes: tuple[str, ...]
    assumed: tuple[Assumed, ...] = ()
    rows: IntArray | None = None
    sources: tuple[str, ...] = ()
    continuous: tuple[bool, ...] = ()
    allowed: BoolArray | None = None
    costs: FloatArray | None = None
    decimal: str = "."
    reward_columns: tuple[str, ...] = ()

    @cached_property
    def scale(self) -> float:
        """s, the standard deviation of the past rewards, or their size if they are all equal."""
        if len(self.rewards) and not constant(self.rewards):
            return float(self.rewards.std())
        return float(np.abs(self.rewards[:1]).max(initial=0.0)) or 1.0

    @property
    def actions(self) -> ActionSet:
        """The actions with their names."""
        return ActionSet(frozen(self.features), self.names, self.feature_names)


def constant(values: FloatArray) -> Any:
    """Return whether each column, or a vector, is the same number throughout, up to rounding."""
    low, high = values.min(axis=0), values.max(axis=0)
    return high - low <= 8 * np.finfo(np.float64).eps * np.maximum(high, -low)
