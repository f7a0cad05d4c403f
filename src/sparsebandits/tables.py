"""A small table of results: printed for people, a list of dicts for programs, a DataFrame on request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Cell: TypeAlias = str | int | float | None


def formatted(cell: Cell) -> str:
    """Return the cell as a person would write it: four significant digits, a dash for nothing."""
    if cell is None or cell != cell:  # NaN
        return "–"
    if isinstance(cell, float):
        return f"{cell:.0f}" if 1000 <= abs(cell) < 1e9 else f"{cell:.4g}"
    return str(cell)


@dataclass(frozen=True)
class Table:
    """Named columns of equal length.

    >>> print(Table(("policy", "regret"), [("LinTS", 12.5), ("LinUCB", 8.0)]))
    policy  regret
    LinTS     12.5
    LinUCB       8
    """

    columns: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]

    def __str__(self) -> str:
        cells = [self.columns, *(tuple(formatted(cell) for cell in row) for row in self.rows)]
        widths = [max(len(row[j]) for row in cells) for j in range(len(self.columns))]
        words = [all(isinstance(row[j], str) for row in self.rows) for j in range(len(self.columns))]
        lines = (
            "  ".join(
                cell.ljust(width) if left else cell.rjust(width)
                for cell, width, left in zip(row, widths, words, strict=True)
            ).rstrip()
            for row in cells
        )
        return "\n".join(lines)

    def to_dicts(self) -> list[Mapping[str, Cell]]:
        """Return one dict a row; what is not a number (NaN) becomes None, as JSON wants it."""
        rows = ([None if cell != cell else cell for cell in row] for row in self.rows)
        return [dict(zip(self.columns, row, strict=True)) for row in rows]

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame (pandas has to be installed: ``pip install pandas``)."""
        import pandas as pd

        return pd.DataFrame(list(self.rows), columns=list(self.columns))
