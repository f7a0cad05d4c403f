"""Rows of data with stable keys, for programs, which print as a table, for people."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, overload

from sparsebandits.tables import Table

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
            At least one row.
        headings : mapping of str to str, optional
            Headings of columns that are not headed by their key.
        """
        headings = headings or {}
        columns = tuple(headings.get(key, key) for key in data[0])
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

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the rows as JSON values: None in place of NaN."""
        return [{key: None if value != value else value for key, value in row.items()} for row in self.data]

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame, one column per key (needs pandas: ``pip install pandas``)."""
        import pandas as pd

        return pd.DataFrame(list(self.data))
