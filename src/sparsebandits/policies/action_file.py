"""Actions from a CSV or Parquet file: one row an action, one column a feature, and maybe a first column of names.

CSV files are UTF-8, with commas, and begin with a line of column names. The first column names the rows if its own name
is empty, as pandas writes an index, or if it holds text. Everything else has to be numbers. A Parquet file is told by
its first bytes; what pandas keeps as an index in it names the rows.
"""

import csv
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sparsebandits.checks import FloatArray, check_matrix, frozen, shown
from sparsebandits.policies.actions import ActionSet

PARQUET = b"PAR1"
PANDAS_INDEX = "__index_level_0__"


def read_actions(path: str | os.PathLike[str]) -> ActionSet:
    """Return the actions in the file at ``path``; errors name the line and the column."""
    try:
        with Path(path).open("rb") as file:
            start = file.read(len(PARQUET))
    except OSError as error:
        raise OSError(f"file: expected a CSV or Parquet file, got {path}: {error.strerror or error}") from error
    return _from_parquet(path) if start == PARQUET else _from_csv(path)


def _from_csv(path: str | os.PathLike[str]) -> ActionSet:
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            lines = [(reader.line_num, row) for row in reader if row]
    except UnicodeDecodeError:
        raise ValueError(f"file: expected UTF-8 text or Parquet, got something else in {path}") from None
    except csv.Error as error:
        raise ValueError(f"file: expected CSV, got something else in {path}: {error}") from None
    if not lines:
        raise ValueError(f"file: expected a line of column names and one line an action, got nothing in {path}")
    (_, header), rows = lines[0], lines[1:]
    names = [name.strip() for name in header]
    _check_names(path, names)
    if not rows:
        raise ValueError(f"file: expected one line an action after the column names, got none in {path}")
    for line, row in rows:
        if len(row) != len(names):
            raise ValueError(
                f"file: expected {len(names)} cells, one a column, got {len(row)} in line {line} of {path}"
            )
    labelled = names[0] == "" or not any(_is_number(row[0]) or not row[0].strip() for _, row in rows)
    first = int(labelled)
    if len(names) == 1 and any(mark in names[0] for mark in ";\t"):
        raise ValueError(f"file: expected commas between cells, got semicolons or tabs in {path}")
    _check_some(path, names[first:])
    features = np.empty((len(rows), len(names) - first))
    for i, (line, row) in enumerate(rows):
        for j, cell in enumerate(row[first:]):
            if not _is_number(cell):
                kind = shown(cell) if cell.strip() else "an empty cell"
                where = f"line {line}, column {shown(names[first + j])} of {path}"
                raise ValueError(f"file: expected a number in every column of features, got {kind} in {where}")
            features[i, j] = float(cell)
    labels = tuple(row[0] for _, row in rows) if labelled else None
    return _checked(path, features, labels, names[first:])


def _check_names(path: str | os.PathLike[str], names: Sequence[str]) -> None:
    """Refuse a first line that is data, empty names and names that come twice; 0, 1, 2, … are names, by pandas."""
    named = names[1:] if names[0] == "" else names
    numbers = [name for name in named if _is_number(name)]
    if numbers and list(named) != [str(column) for column in range(len(named))]:
        raise ValueError(f"file: expected a first line of column names, got the number {shown(numbers[0])} in {path}")
    if "" in named:
        raise ValueError(f"file: expected a name for each column after the first, got an empty one in {path}")
    twice = sorted({name for name in named if list(named).count(name) > 1})
    if twice:
        raise ValueError(
            f"file: expected columns with names of their own, got more than one of {shown(twice)} in {path}"
        )


def _check_some(path: str | os.PathLike[str], names: Sequence[str]) -> None:
    if not names:
        raise ValueError(f"file: expected at least one column of numbers, got none in {path}")


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # Python reads 1_000, nobody else does


def _from_parquet(path: str | os.PathLike[str]) -> ActionSet:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        hint = "pip install 'sparsebandits[results]'"
        raise OSError(f"file: {path} is a Parquet file, which needs pyarrow ({hint})") from error
    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"file: expected a whole Parquet file, got {path}: {error}") from None
    names = list(table.column_names)
    index = PANDAS_INDEX if PANDAS_INDEX in names else None
    if index is None and names and _is_text(pa, table.schema.field(names[0]).type):
        index = names[0]
    columns = [name for name in names if name != index]
    _check_some(path, columns)
    if table.num_rows == 0:
        raise ValueError(f"file: expected one row an action, got none in {path}")
    features = np.empty((table.num_rows, len(columns)))
    for j, name in enumerate(columns):
        kind = table.schema.field(name).type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
            raise TypeError(
                f"file: expected a number in every column of features, got {kind} in {shown(name)} of {path}"
            )
        values = table.column(name)
        if values.null_count:
            raise ValueError(f"file: expected a number in every row, got an empty cell in {shown(name)} of {path}")
        features[:, j] = values.to_numpy().astype(np.float64)
    labels = None if index is None else tuple(str(label) for label in table.column(index).to_pylist())
    return _checked(path, features, labels, columns)


def _is_text(pa: Any, kind: Any) -> bool:
    if pa.types.is_dictionary(kind):  # of categories
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _checked(
    path: str | os.PathLike[str], features: FloatArray, labels: tuple[str, ...] | None, names: Sequence[str]
) -> ActionSet:
    for row, column in np.argwhere(~np.isfinite(features)):
        where = f"row {row + 1}, column {shown(names[column])} of {path}"
        raise ValueError(f"file: expected finite numbers, got {features[row, column]} in {where}")
    return ActionSet(frozen(check_matrix("file", features)), labels, tuple(names))
