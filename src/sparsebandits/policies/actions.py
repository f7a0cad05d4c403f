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
    def of(cls, actions: object, dimension: int | None = None) -> "ActionSet":
        """Check ``actions``, an array or a DataFrame of shape ``(K, d)``, and copy it."""
        if isinstance(actions, ActionSet):
            check_matrix("actions", actions.features, columns=dimension)
            return actions
        table: Any = actions
        labels: Sequence[Any] | None = None
        names: Sequence[Any] | None = None
        if hasattr(table, "columns") and hasattr(table, "to_numpy"):  # pandas and polars alike
            names = list(table.columns)
            for name in names:
                if getattr(table[name].to_numpy(), "dtype", None).kind not in "fiu":  # type: ignore[union-attr]
                    raise TypeError(f"actions: expected numbers in every column, got others in {shown(name)}")
            if hasattr(table, "index"):
                labels = list(table.index)
            table = table.to_numpy()
        features = check_matrix("actions", table, columns=dimension).copy()
        return cls(
            frozen(features),
            None if labels is None else tuple(str(label) for label in labels),
            None if names is None else tuple(str(name) for name in names),
        )

    def __len__(self) -> int:
        return len(self.features)

    @property
    def dimension(self) -> int:
        """Number of features d."""
        return int(self.features.shape[1])
