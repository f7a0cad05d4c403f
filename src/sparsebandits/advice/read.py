"""A table of actions with their past rewards, read and checked.

One row is one action. One column may name the actions, some may hold past rewards, and the others are features. Past
rewards may also come in a second table of two columns, with one row per observation.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sparsebandits.advice.cells import Column, as_text, is_number
from sparsebandits.advice.sheet import Sheet, read_sheet, sheet_of, typed_columns
from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    IntArray,
    check_matrix,
    frozen,
    shown,
)
from sparsebandits.policies.actions import ActionSet

LARGEST_CELL = 1e12
"""Largest feature or reward, and 1 over the smallest spread of a feature; beyond it, the unit has to be changed."""

SHOWN_FEATURES = 20
"""Largest number of features that a note lists."""

REWARD = re.compile(r"rewards?([ _.-]?\d+)?", re.IGNORECASE)
"""Columns that hold past rewards by default: reward, reward_1, Reward 2, ..."""


@dataclass(frozen=True, eq=False)
class History:
    """K actions with d features, each of which varies over the actions, and n past rewards.

    Parameters
    ----------
    names : tuple of str
        One per action.
    feature_names : tuple of str
        One per feature.
    features : array of shape (K, d)
        One row per action.
    tried : array of shape (n,)
        Row of the action of each past reward.
    rewards : array of shape (n,)
        The past rewards.
    notes : tuple of str
        What a person should know about how the table was read.
    """

    names: tuple[str, ...]
    feature_names: tuple[str, ...]
    features: FloatArray
    tried: IntArray
    rewards: FloatArray
    notes: tuple[str, ...]

    @cached_property
    def scale(self) -> float:
        """s, the standard deviation of the past rewards, or their size if they are all equal."""
        if len(self.rewards) and not _constant(self.rewards):
            return float(self.rewards.std())
        return float(np.abs(self.rewards[:1]).max(initial=0.0)) or 1.0

    @property
    def actions(self) -> ActionSet:
        """The actions with their names."""
        return ActionSet(frozen(self.features), self.names, self.feature_names)


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
    rewards: object,
    name: str | None,
    reward_columns: str | Sequence[str] | None,
    ignore: str | Sequence[str],
) -> History:
    """Return the actions and past rewards in the tables; the arguments are those of :func:`sparsebandits.decide`."""
    if not isinstance(name, str | None):
        raise ArgumentTypeError("name", "the name of a column", shown(name))
    second = _second_table(rewards)
    written = {name or "", *(() if second is None else second.columns)}  # columns that may name the actions
    sheet = sheet_of("file" if isinstance(actions, str | os.PathLike) else "actions", actions, written)
    _refuse_empty(sheet)
    ignored = sheet.matching("ignore", ignore)
    if reward_columns is None:
        of_rewards = [c for c in sheet.columns if REWARD.fullmatch(c) and c not in ignored and c != name]
    else:
        of_rewards = sheet.matching("reward_columns", reward_columns)
    named = sheet.name_column({*of_rewards, *ignored}) if name is None else sheet.known(name)
    if named is None and sheet.index is None and second is not None and not isinstance(rewards, Mapping):
        both = next(iter(second.columns))
        named = both if both in sheet.columns else None  # both tables call the actions the same
    names = _action_names(sheet, named)
    others = {named, *of_rewards, *ignored}
    columns = [column for column in sheet.columns if column not in others]
    features = _features(sheet, columns, anonymous=named is None and sheet.index is None)
    varies = ~_constant(features)
    tried, values = _observed(sheet, of_rewards)
    if second is not None:
        also_tried, also = _observed_in(second, names, sheet)
        tried, values = np.append(tried, also_tried), np.append(values, also)
    kept = tuple(column for column, differs in zip(columns, varies.tolist(), strict=True) if differs)
    notes: list[str] = []
    if named is None and sheet.index is None:
        if len(kept) > 1 and (np.diff(features[:, 0]) == 1).all():
            notes.append(f"{columns[0]} counts the rows and is taken as a feature")
        if second is not None:
            notes.append(f"actions have no names, so rewards are matched to rows by number, the first being {names[0]}")
    constant = (column for column, differs in zip(columns, varies.tolist(), strict=True) if not differs)
    notes += [f"{column} is the same for all actions and is left out" for column in constant]
    notes += _notes_on_rewards(of_rewards, values)
    if not of_rewards and second is None:
        listed = ", ".join(kept[:SHOWN_FEATURES]) + (", ..." if len(kept) > SHOWN_FEATURES else "")
        notes.append(f"no column is called reward; features are {listed}. If one of them holds rewards, name it")
    found = History(names, kept, features if varies.all() else features[:, varies], tried, values, tuple(notes))
    if found.scale < 1 / LARGEST_CELL:
        raise ArgumentValueError("rewards", "rewards in a larger unit", f"a spread of {found.scale:.2g}")
    return found


def _refuse_empty(sheet: Sheet) -> None:
    """Require at least one row and one column."""
    if not sheet.columns:
        raise ArgumentValueError(sheet.argument, "at least one column", f"none{sheet.inside}")
    if not len(sheet.rows):
        what = "one line per action after the column names" if sheet.row_word == "line" else "one row per action"
        raise ArgumentValueError(sheet.argument, what, f"none{sheet.inside}")


def _action_names(sheet: Sheet, column: str | None) -> tuple[str, ...]:
    """Return the name of each action: from a column, from the index, or its number."""
    if column is None and sheet.index is None:
        first = 1 if sheet.source else 0
        return tuple(map(str, range(first, first + len(sheet.rows))))
    names = tuple(sheet.columns[column].cells) if column is not None else sheet.index or ()
    if "" in names:
        got = f"an empty cell in {sheet.where(names.index(''), column)}"
        raise ArgumentValueError(sheet.argument, "a name for each action", got)
    if len(set(names)) < len(names):
        rows: dict[str, int] = {}
        row = next(row for row, name in enumerate(names) if rows.setdefault(name, row) != row)
        before = sheet.where(rows[names[row]])
        got = f"{shown(names[row])} in {sheet.where(row, column)} and in {before}"
        raise ArgumentValueError(sheet.argument, "each action once", got)
    return names


def _features(sheet: Sheet, columns: Sequence[str], anonymous: bool) -> FloatArray:
    """Return the columns of features, ``(K, d)``, of which at least one varies and none too little."""
    if not columns:
        raise ArgumentValueError(sheet.argument, "at least one column of features", f"none{sheet.inside}")
    for name in columns:
        if sheet.columns[name].numbers is None:
            _refuse_words(sheet, name, anonymous)
    features = sheet.numbers(columns, LARGEST_CELL)
    if len(features) < 2:
        raise ArgumentValueError(sheet.argument, "at least two actions to choose from", f"one{sheet.inside}")
    constant, deviations = _constant(features), np.array([column.std() for column in features.T])
    narrow = np.flatnonzero(~constant & (deviations < 1 / LARGEST_CELL))
    if len(narrow):
        got = f"a spread of {deviations[narrow[0]]:.2g} in column {shown(columns[narrow[0]])}{sheet.inside}"
        raise ArgumentValueError(sheet.argument, "features in a larger unit", got)
    if constant.all():
        got = f"the same numbers in all rows{sheet.inside}"
        raise ArgumentValueError(sheet.argument, "actions with different features", got)
    return features


def _refuse_words(sheet: Sheet, name: str, anonymous: bool) -> None:
    """Refuse a column of words, which may be names with a gap, or categories; other text is refused by its cell."""
    column = sheet.columns[name]
    gap = anonymous and column.kind == "text" and "" in column.cells
    if gap and not any(map(is_number, column.cells)):
        where = sheet.where(column.cells.index(""), name)
        raise ArgumentValueError(sheet.argument, "a name for each action", f"an empty cell in {where}")
    if column.names_rows() or column.kind != "text":
        got = f"{column.kind} in column {shown(name)}{sheet.inside}"
        hint = "ignore it, or make columns of 0 and 1 from it"
        raise ArgumentTypeError(sheet.argument, "numbers in every column of features", f"{got}; {hint}")


def _constant(values: FloatArray) -> Any:
    """Return whether each column, or a vector, is the same number throughout, up to rounding."""
    low, high = values.min(axis=0), values.max(axis=0)
    return high - low <= 8 * np.finfo(np.float64).eps * np.maximum(high, -low)


def _observed(sheet: Sheet, columns: Sequence[str]) -> tuple[IntArray, FloatArray]:
    """Return row and value of each cell in columns of rewards that is not empty, column by column."""
    values = sheet.numbers(columns, LARGEST_CELL, empty=True).T if columns else np.empty((0, 0))
    places = ~np.isnan(values)
    return np.nonzero(places)[1], values[places]


def _observed_in(second: Sheet, names: Sequence[str], sheet: Sheet) -> tuple[IntArray, FloatArray]:
    """Return row and value of each reward in a table of action names and rewards."""
    action, value = second.columns
    row_of = {name: row for row, name in enumerate(names)}
    cells = second.columns[action].cells
    rows = [row_of.get(cell, -1) for cell in cells]
    if -1 in rows:
        place = rows.index(-1)
        got = f"{shown(cells[place]) if cells[place] else 'an empty cell'} in {second.where(place, action)}"
        raise ArgumentValueError("rewards", f"names of the actions{sheet.inside}", got)
    places, values = _observed(second, [value])
    return np.array(rows, dtype=np.intp)[places], values


def _notes_on_rewards(of_rewards: Sequence[str], rewards: FloatArray) -> list[str]:
    notes = [f"past rewards are read from {', '.join(of_rewards)}"] if of_rewards else []
    if not len(rewards):
        notes.append("there are no past rewards yet, so this is based on the prior alone")
    elif len(rewards) == 1:
        notes.append("one past reward gives the level of rewards, but no information about the features yet")
    elif _constant(rewards):
        notes.append(f"all {len(rewards)} past rewards are {rewards[0]:g}; they say little about the features")
    return notes


def _second_table(rewards: object) -> Sheet | None:
    """Return the table of rewards, of two columns."""
    if rewards is None:
        return None
    second = _from_mapping(rewards) if isinstance(rewards, Mapping) else sheet_of("rewards", rewards)
    expected = "two columns, the action and its reward"
    if len(second.columns) != 2:
        raise ArgumentValueError("rewards", expected, f"{len(second.columns)}{second.inside}")
    first, last = second.columns
    if REWARD.fullmatch(first) and not REWARD.fullmatch(last):  # rewards could be taken for names that are numbers
        raise ArgumentValueError("rewards", expected, f"{shown(first)} before {shown(last)}{second.inside}")
    return second


def _from_mapping(rewards: Mapping[Any, Any]) -> Sheet:
    each = [one if isinstance(one, list | tuple) or np.ndim(one) else [one] for one in rewards.values()]
    names = [name for name, several in zip(as_text(rewards), each, strict=True) for _ in several]
    values = np.fromiter((reward for several in each for reward in several), dtype=object)
    columns = {"action": Column(None, names), **typed_columns({"reward": values})}
    return Sheet("rewards", "", columns, range(len(names)), "row")
