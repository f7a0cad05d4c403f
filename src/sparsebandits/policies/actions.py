"""A set of actions: one row an action, one column a feature, with the names a person gave them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sparsebandits.checks import FloatArray, check_matrix, frozen, shown


@dataclass(frozen=True, eq=False)
class ActionSet:
    """``features`` is ``(K, d)``; ``labels`` name the rows and ``feature_names`` the columns, where known."""

    features: FloatArray
    labels: tuple[str, ...] | None = None
    feature_names: tuple[str, ...] | None = None

    @classmethod
    def of(cls, actions: object) -> "ActionSet":
        """Check ``actions``, an array or a DataFrame of shape ``(K, d)``, and copy it."""
        if isinstance(actions, ActionSet):
            return actions
        table: Any = actions
        if not (hasattr(table, "columns") and hasattr(table, "to_numpy")):  # pandas and polars have both
            return cls(frozen(check_matrix("actions", table).copy()))
        names = tuple(str(name) for name in table.columns)
        if len(set(names)) < len(names):
            raise ValueError(f"actions: expected columns with names of their own, got {shown(names)}")
        for name in table.columns:
            kind = getattr(table[name].to_numpy().dtype, "kind", "O")
            if kind not in "fiub":
                raise TypeError(f"actions: expected numbers in every column, got others in {shown(name)}")
        labels = tuple(str(label) for label in table.index) if hasattr(table, "index") else None
        return cls(frozen(check_matrix("actions", table.to_numpy()).copy()), labels, names)

    def matched(self, actions: object) -> "ActionSet":
        """Check another set, for the same features as this one: columns with names are matched by name."""
        other = ActionSet.of(actions)
        if self.feature_names is None or other.feature_names is None:
            check_matrix("actions", other.features, columns=self.dimension)
            return other
        if other.feature_names == self.feature_names:
            return other
        missing = [name for name in self.feature_names if name not in other.feature_names]
        unknown = [name for name in other.feature_names if name not in self.feature_names]
        if missing or unknown:
            raise ValueError(
                f"actions: expected the columns {shown(self.feature_names)}, got a table without {missing} "
                f"and with {unknown} besides"
            )
        order = [other.feature_names.index(name) for name in self.feature_names]
        return ActionSet(frozen(other.features[:, order].copy()), other.labels, self.feature_names)

    def __len__(self) -> int:
        return len(self.features)

    @property
    def dimension(self) -> int:
        """Number of features d."""
        return int(self.features.shape[1])


def named_rows(labels: Sequence[str] | None, rows: Sequence[int]) -> tuple[str, ...] | None:
    """Return the names of some rows, if rows have names."""
    return None if labels is None else tuple(labels[row] for row in rows)
