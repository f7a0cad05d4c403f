"""Posterior summaries of features or hyperparameters, as data that prints as a table."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebandits.arguments import FloatArray
from sparsebandits.tables import Cell, Table


@dataclass(frozen=True, eq=False)
class Summary:
    """Numbers by row and column: print it, or take ``columns``, ``to_dicts()`` or ``to_pandas()``.

    Parameters
    ----------
    of : str
        What the rows are about, such as ``"feature"``.
    names : tuple of str
        Name of each row.
    columns : mapping of str to array
        One number per row, by the name of the column.
    """

    of: str
    names: tuple[str, ...]
    columns: Mapping[str, FloatArray]

    def __str__(self) -> str:
        return str(self.table())

    def table(self) -> Table:
        """Return the table that is printed."""
        rows: list[tuple[Cell, ...]] = [
            (name, *(float(column[i]) for column in self.columns.values())) for i, name in enumerate(self.names)
        ]
        return Table((self.of, *self.columns), rows)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dict per row."""
        values = {name: column.tolist() for name, column in self.columns.items()}
        return [
            {self.of: name, **{column: values[column][i] for column in values}} for i, name in enumerate(self.names)
        ]

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame; pandas has to be installed."""
        return self.table().to_pandas()


def moments(values: FloatArray, weights: FloatArray) -> dict[str, FloatArray]:
    """Return mean, standard deviation and the ends of the 95% interval of each column of weighted rows.

    Parameters
    ----------
    values : array of shape (M, k)
        Draws, one per row.
    weights : array of shape (M,)
        Their weights, which sum to one.

    Returns
    -------
    dict of str to array of shape (k,)
        Columns ``"mean"``, ``"sd"``, ``"2.5%"`` and ``"97.5%"``.
    """
    mean = weights @ values
    deviation = np.sqrt(np.maximum(weights @ (values - mean) ** 2, 0.0))
    low, high = np.quantile(values, [0.025, 0.975], axis=0, weights=weights, method="inverted_cdf")
    return {"mean": mean, "sd": deviation, "2.5%": low, "97.5%": high}
