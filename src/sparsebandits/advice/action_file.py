"""Actions from a CSV or Parquet file: one row an action, one column a feature, and maybe a column of names.

A column names the rows if it is the first and has no name of its own, as pandas writes an index, or if it is the first
that holds text. Everything else has to be numbers.
"""

import os
from collections.abc import Sequence

from sparsebandits.advice.sheet import read_sheet
from sparsebandits.arguments import ArgumentValueError, check_matrix, frozen
from sparsebandits.policies.actions import ActionSet


def read_actions(path: str | os.PathLike[str], ignore: str | Sequence[str] = ()) -> ActionSet:
    """Return the actions in the file at ``path``, without columns to ignore; errors name the line and the column."""
    sheet = read_sheet("file", path)
    sheet.refuse_empty()
    ignored = sheet.matching("ignore", ignore)
    names = sheet.name_column(ignored)
    features = [column for column in sheet.names if column not in (names, *ignored)]
    if not features:
        raise ArgumentValueError("file", "at least one column of numbers", f"none in {path}")
    labels = None if names is None else tuple(sheet[names].cells)
    return ActionSet(frozen(check_matrix("file", sheet.matrix(features))), labels, tuple(features))
