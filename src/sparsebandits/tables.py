"""Small tables for people: printed as text, shown as HTML in a notebook.

A table is for printing. Programs take their numbers from the object that made it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, TypeAlias

Cell: TypeAlias = str | int | float | None


def formatted(cell: Cell) -> str:
    """Return the cell as text: four significant digits, and a dash for a missing value.

    Parameters
    ----------
    cell : str, int, float or None
        Missing values are None and NaN.

    Returns
    -------
    str

    Examples
    --------
    >>> formatted(0.123456), formatted(12345.6), formatted(float("nan"))
    ('0.1235', '12346', '–')
    """
    if cell is None or cell != cell:  # NaN
        return "–"
    if isinstance(cell, float):
        return f"{cell:.0f}" if 1000 <= abs(cell) < 1e9 else f"{cell:.4g}"
    return str(cell)


@dataclass(frozen=True)
class Table:
    """Named columns of equal length.

    Parameters
    ----------
    columns : tuple of str
        The names of the columns.
    rows : sequence of tuple
        One tuple per row, with one cell per column.

    Examples
    --------
    >>> print(Table(("policy", "regret"), [("LinTS", 12.5), ("LinUCB", 8.0)]))
    policy  regret
    LinTS     12.5
    LinUCB       8
    """

    columns: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]

    def __str__(self) -> str:
        cells = [self.columns, *self._texts()]
        widths = [max(len(row[j]) for row in cells) for j in range(len(self.columns))]
        lines = (
            "  ".join(
                cell.ljust(width) if left else cell.rjust(width)
                for cell, width, left in zip(row, widths, self._left(), strict=True)
            ).rstrip()
            for row in cells
        )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the table as HTML, which notebooks show in place of the text."""
        align = ["left" if left else "right" for left in self._left()]

        def line(tag: str, cells: tuple[str, ...]) -> str:
            parts = zip(cells, align, strict=True)
            return "".join(f'<{tag} style="text-align: {side}">{escape(cell)}</{tag}>' for cell, side in parts)

        body = "\n".join(f"<tr>{line('td', row)}</tr>" for row in self._texts())
        return f"<table>\n<thead>\n<tr>{line('th', self.columns)}</tr>\n</thead>\n<tbody>\n{body}\n</tbody>\n</table>"

    def _texts(self) -> list[tuple[str, ...]]:
        """Return the cells as text, one tuple per row."""
        return [tuple(formatted(cell) for cell in row) for row in self.rows]

    def _left(self) -> list[bool]:
        """Return which columns hold words only; they are aligned to the left, all others to the right."""
        return [all(isinstance(row[j], str) for row in self.rows) for j in range(len(self.columns))]

    def to_dicts(self) -> list[Mapping[str, Cell]]:
        """Return one dict per row, with None in place of NaN, as JSON needs it.

        Returns
        -------
        list of dict
        """
        rows = ([None if cell != cell else cell for cell in row] for row in self.rows)
        return [dict(zip(self.columns, row, strict=True)) for row in rows]

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame; pandas has to be installed (``pip install pandas``).

        Returns
        -------
        pandas.DataFrame
        """
        import pandas as pd

        return pd.DataFrame(list(self.rows), columns=list(self.columns))
