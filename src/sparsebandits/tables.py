"""Rows of data for programs, and the tables that they print as for people (text, and HTML in a notebook).

A :class:`Table` is for printing alone; :class:`Rows` carries the data.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, TypeAlias, overload

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


def as_html(*parts: object) -> str:
    """Return paragraphs and tables one below the other as HTML, for a notebook.

    Parameters
    ----------
    *parts : str, or object with ``_repr_html_``
        Text, which is escaped, and tables. Empty text is left out.

    Returns
    -------
    str

    Examples
    --------
    >>> as_html("R&D", "")
    '<p>R&amp;D</p>'
    """
    shown = [part._repr_html_() if hasattr(part, "_repr_html_") else f"<p>{_lines(part)}</p>" for part in parts if part]
    return "\n".join(shown)


def _lines(text: object) -> str:
    return "<br>\n".join(escape(line) for line in str(text).split("\n"))


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


Row: TypeAlias = Mapping[str, Any]
"""Strings and numbers by name; NaN where a number does not exist."""


@dataclass(frozen=True, repr=False)
class Rows(Sequence[Row]):
    """A sequence of rows with the same keys. Print it to see the table.

    Attributes
    ----------
    data : tuple of dict
        The rows.
    printed : Table
        The table that ``print`` shows; its headings and cells may differ from the keys and values of the data.

    Examples
    --------
    >>> rows = Rows.of([{"policy": "LinTS", "regret": 12.5}, {"policy": "LinUCB", "regret": 8.0}])
    >>> print(rows)
    policy  regret
    LinTS     12.5
    LinUCB       8
    >>> rows[0]["regret"]
    12.5
    """

    data: tuple[Row, ...]
    printed: Table

    @classmethod
    def of(cls, data: Sequence[Row], headings: Mapping[str, str] | None = None) -> "Rows":
        """Return rows that print as they are.

        Parameters
        ----------
        data : sequence of dict
            The rows.
        headings : mapping of str to str, optional
            Headings of columns that are not headed by their key.
        """
        headings = headings or {}
        columns = tuple(headings.get(key, key) for key in data[0]) if data else ()
        return cls(tuple(data), Table(columns, [tuple(row.values()) for row in data]))

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...

    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        return self.data[index]

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.data)

    def __str__(self) -> str:
        return str(self.printed)

    def __repr__(self) -> str:
        return f"Rows({len(self)} of {', '.join(self.data[0]) if self.data else 'nothing'})"

    def _repr_html_(self) -> str:
        return self.printed._repr_html_()

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the rows as JSON values: None in place of NaN."""
        return [{key: None if value != value else value for key, value in row.items()} for row in self.data]

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame, one column per key (needs pandas: ``pip install pandas``)."""
        import pandas as pd

        return pd.DataFrame(list(self.data))
