"""A table of actions with their past rewards, as people have it: read, checked, and what was assumed.

One row is one action, or one trial of it. One column may name the actions, some may hold past rewards, and the others
are features (``columns.py``, ``roles.py``). Past rewards may also come in a second table of two columns, with one row
per observation. All that is wrong with a table is said at once.
"""

import os
from collections.abc import Mapping, Sequence

from sparsebandits.advice.assumed import Complaints
from sparsebandits.advice.history import History as History
from sparsebandits.advice.rewards import second_table
from sparsebandits.advice.roles import stated_roles
from sparsebandits.advice.sheet import Sheet, read_sheet, sheet_of
from sparsebandits.advice.table import Table
from sparsebandits.arguments import ArgumentTypeError, ArgumentValueError, check_matrix, frozen, shown
from sparsebandits.policies.actions import ActionSet


def read_actions(path: str | os.PathLike[str], ignore: str | Sequence[str] = ()) -> ActionSet:
    """Return the actions in a CSV or Parquet file: one row per action, one column per feature.

    A column names the rows if it is the first and has no name of its own, as pandas writes an index, or if it is the
    first that holds text. Everything else has to be numbers.

    Parameters
    ----------
    path : path
        The file.
    ignore : str or sequence of str, default=()
        Columns, or patterns of columns, that are not features.

    Raises
    ------
    OSError
        If the file cannot be read.
    ArgumentValueError
        If it does not hold such a table; the error names line and column.
    """
    sheet = read_sheet("file", path)
    Complaints(sheet.problems).raise_all()
    _refuse_empty(sheet)
    ignored = sheet.matching("ignore", ignore)
    names = sheet.name_column(ignored)
    others = {names, *ignored}
    features = [column for column in sheet.columns if column not in others]
    if not features:
        raise ArgumentValueError("file", "at least one column of numbers", f"none in {path}")
    labels = None if names is None else tuple(sheet.columns[names].cells)
    return ActionSet(frozen(check_matrix("file", sheet.numbers(features))), labels, tuple(features))


def read_history(
    actions: object,
    rewards: object = None,
    name: str | None = None,
    reward: str | Sequence[str] | None = None,
    ignore: str | Sequence[str] = (),
    *,
    columns: Mapping[str, str] | None = None,
    where: str | Sequence[str] = (),
    cost: str | None = None,
    decimal: str | None = None,
) -> History:
    """Return the actions and past rewards in the tables; the arguments are those of :func:`sparsebandits.decide`."""
    for argument, value in {"name": name, "cost": cost}.items():
        if not isinstance(value, str | None):
            raise ArgumentTypeError(argument, "the name of a column", shown(value))
    if decimal not in (None, ".", ","):
        raise ArgumentValueError("decimal", "'.' or ','", shown(decimal))
    second = second_table(rewards, decimal)
    written = {name or "", *(() if second is None else second.columns)}  # columns that may name the actions
    sheet = sheet_of("file" if isinstance(actions, str | os.PathLike) else "actions", actions, written, decimal)
    _refuse_empty(sheet)
    both = None if second is None or isinstance(rewards, Mapping) else next(iter(second.columns))
    table = Table(sheet, second, both, *_roles(sheet, name, reward, ignore, columns, cost))
    return table.history(where)


def _roles(
    sheet: Sheet,
    name: str | None,
    reward: str | Sequence[str] | None,
    ignore: str | Sequence[str],
    columns: Mapping[str, str] | None,
    cost: str | None,
) -> tuple[dict[str, str], bool]:
    """Return what columns are stated to be, and whether rewards are among them."""
    stated = stated_roles(sheet, columns)
    stated.update(dict.fromkeys(sheet.matching("ignore", ignore), "ignore"))
    if reward is not None:
        stated.update(dict.fromkeys(sheet.matching("reward_columns", reward), "reward"))
    for one, role in ((name, "name"), (cost, "cost")):
        if one is not None:
            stated[sheet.known(one)] = role
    for role in ("name", "cost"):
        several = [column for column, said in stated.items() if said == role]
        if len(several) > 1:
            raise ArgumentValueError("columns", f"one column as {role}", f"{' and '.join(map(repr, several))}")
    return stated, reward is not None or "reward" in stated.values()


def _refuse_empty(sheet: Sheet) -> None:
    """Require at least one row and one column."""
    if not sheet.columns:
        raise ArgumentValueError(sheet.argument, "at least one column", f"none{sheet.inside}")
    if not len(sheet.rows):
        what = "one line per action after the column names" if sheet.row_word == "line" else "one row per action"
        raise ArgumentValueError(sheet.argument, what, f"none{sheet.inside}")
