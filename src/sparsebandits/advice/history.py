"""A table of actions with their past rewards, read and checked.

One row is an action. One column may name the actions, some hold past rewards, the others are features. Past rewards may
also stand in a second table of two columns, one row an observation.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebandits.advice.sheet import Column, Sheet, column_of, is_number, plain_text, sheet_of
from sparsebandits.arguments import ArgumentTypeError, ArgumentValueError, FloatArray, IntArray, shown

LARGEST_CELL = 1e12
"""Largest feature or reward, and 1 over the smallest spread of a feature: beyond it, units are to be changed."""

SHOWN_FEATURES = 20
"""Names of features that a note lists."""

REWARD = re.compile(r"rewards?([ _.-]?\d+)?", re.IGNORECASE)
"""Columns that are taken for past rewards by who is not told: reward, reward_1, Reward 2, ..."""


@dataclass(frozen=True, eq=False)
class History:
    """K actions with names and features, of which each differs somewhere, and n past rewards."""

    names: tuple[str, ...]
    feature_names: tuple[str, ...]
    features: FloatArray  # (K, d)
    tried: IntArray  # (n,), rows
    rewards: FloatArray  # (n,)
    notes: tuple[str, ...]

    def scale(self) -> float:
        """Return s, the spread of the past rewards, or their size where they do not differ."""
        if len(self.rewards) and not _constant(self.rewards):
            return float(self.rewards.std())
        return float(np.abs(self.rewards[:1]).max(initial=0.0)) or 1.0

    def centre(self) -> FloatArray:
        """Return x̄, the mean features of the past rewards; before the first, of the actions."""
        seen = self.features[self.tried] if len(self.tried) else self.features
        return np.asarray(seen.mean(axis=0))

    def level(self) -> float:
        """Return ȳ, the mean of the past rewards; before the first, zero."""
        return float(self.rewards.mean()) if len(self.rewards) else 0.0


def read_history(
    actions: object,
    rewards: object,
    name: str | None,
    reward_columns: str | Sequence[str] | None,
    ignore: str | Sequence[str],
) -> History:
    """Return what the tables hold; the arguments are those of :func:`sparsebandits.decide`."""
    sheet = sheet_of("file" if isinstance(actions, str | os.PathLike) else "actions", actions)
    sheet.refuse_empty()
    second = _second_table(rewards)
    ignored = sheet.matching("ignore", ignore)
    if reward_columns is None:
        of_rewards = [c for c in sheet.names if REWARD.fullmatch(c) and c not in ignored and c != name]
    else:
        of_rewards = sheet.matching("reward_columns", reward_columns)
    if name is not None:
        named: str | None = sheet[name].name
    else:
        named = sheet.name_column({*of_rewards, *ignored})
        both = None if second is None or isinstance(rewards, Mapping) else second.names[0]
        if named is None and sheet.index is None and both in sheet.names:
            named = both  # what both tables call an action
    names = _names(sheet, named)
    columns = [column for column in sheet.names if column not in {named, *of_rewards, *ignored}]
    if not columns:
        raise ArgumentValueError(sheet.argument, "at least one column of features", f"none{sheet.inside}")
    for column in columns:
        _refuse_words(sheet, column, named)
    features = sheet.matrix(columns, LARGEST_CELL)
    if len(features) < 2:
        raise ArgumentValueError(sheet.argument, "at least two actions to choose from", f"one{sheet.inside}")
    varies = np.array([not _constant(column) for column in features.T])
    for column, deviation, differs in zip(columns, features.std(axis=0).tolist(), varies.tolist(), strict=True):
        if differs and deviation < 1 / LARGEST_CELL:
            got = f"a spread of {deviation:.2g} in column {shown(column)}{sheet.inside}"
            raise ArgumentValueError(sheet.argument, "features in a larger unit", got)
    if not varies.any():
        got = f"the same numbers in all rows{sheet.inside}"
        raise ArgumentValueError(sheet.argument, "actions with different features", got)
    past = [(row, reward) for column in of_rewards for row, reward in _in_column(sheet, column)]
    past += _in_second_table(second, names, sheet)
    rows = np.array([row for row, _ in past], dtype=np.intp)
    values = np.array([reward for _, reward in past], dtype=np.float64)
    kept = tuple(column for column, differs in zip(columns, varies.tolist(), strict=True) if differs)
    left_out = [column for column in columns if column not in kept]
    notes = _notes(left_out, of_rewards, values)
    if not of_rewards and second is None:
        listed = ", ".join(kept[:SHOWN_FEATURES]) + (", ..." if len(kept) > SHOWN_FEATURES else "")
        notes += (f"no column is called reward; features are {listed}. If one of them holds rewards, name it",)
    if second is not None and named is None and sheet.index is None:
        notes = (f"actions have no names, so rewards are of rows, the first being {names[0]}", *notes)
    if named is None and sheet.index is None and len(kept) > 1 and (np.diff(features[:, 0]) == 1).all():
        notes = (f"{columns[0]} counts the rows, and is taken for a feature", *notes)
    found = History(names, kept, features[:, varies], rows, values, notes)
    if found.scale() < 1 / LARGEST_CELL:
        raise ArgumentValueError("rewards", "rewards in a larger unit", f"a spread of {found.scale():.2g}")
    return found


def _notes(left_out: Sequence[str], of_rewards: Sequence[str], rewards: FloatArray) -> tuple[str, ...]:
    notes = [f"{name} is the same for all actions, and left out" for name in left_out]
    if of_rewards:
        notes.append(f"past rewards are read from {', '.join(of_rewards)}")
    if not len(rewards):
        notes.append("there are no past rewards yet, so this comes from the prior alone")
    elif len(rewards) == 1:
        notes.append("one past reward tells the level of rewards, and nothing of the features yet")
    elif _constant(rewards):
        notes.append(f"all {len(rewards)} past rewards are {rewards[0]:g}; they say little of the features")
    return tuple(notes)


def _constant(values: FloatArray) -> bool:
    return bool(np.ptp(values) <= 8 * np.finfo(np.float64).eps * np.abs(values).max())


def _refuse_words(sheet: Sheet, name: str, named: str | None) -> None:
    column = sheet[name]
    if named is None and sheet.index is None and column.numbers is None and column.kind == "text":
        row = next((row for row, cell in enumerate(column.cells) if cell == ""), None)
        if row is not None and not any(map(is_number, column.cells)):
            where = sheet.where(row, name)
            raise ArgumentValueError(sheet.argument, "a name for each action", f"an empty cell in {where}")
    if column.numbers is None and (column.names_rows() or column.kind != "text"):
        got = f"{column.kind} in column {shown(name)}{sheet.inside}"
        hint = "ignore it, or make columns of 0 and 1 from it"
        raise ArgumentTypeError(sheet.argument, "numbers in every column of features", f"{got}; {hint}")


def _names(sheet: Sheet, column: str | None) -> tuple[str, ...]:
    if column is None and sheet.index is None:
        first = 1 if sheet.source else 0
        return tuple(str(first + row) for row in range(len(sheet)))
    names = sheet.index if column is None else tuple(sheet[column].cells)
    seen: dict[str, int] = {}
    for row, name in enumerate(names or ()):
        where = f"{sheet.row_word} {sheet.rows[row]}" if column is None else sheet.where(row, column)
        if name == "":
            raise ArgumentValueError(sheet.argument, "a name for each action", f"an empty cell in {where}")
        if name in seen:
            before = f"{sheet.row_word} {sheet.rows[seen[name]]}"
            raise ArgumentValueError(
                sheet.argument, "each action once", f"{shown(name)} in {where} and in {before} before"
            )
        seen[name] = row
    return tuple(names or ())


def _in_column(sheet: Sheet, column: str) -> list[tuple[int, float]]:
    values = sheet.numbers(column, LARGEST_CELL, empty=True)
    return [(row, reward) for row, reward in enumerate(values.tolist()) if reward == reward]


def _second_table(rewards: object) -> Sheet | None:
    if rewards is None:
        return None
    second = _from_mapping(rewards) if isinstance(rewards, Mapping) else sheet_of("rewards", rewards)
    expected = "two columns, the action and its reward"
    if len(second.columns) != 2:
        raise ArgumentValueError("rewards", expected, f"{len(second.columns)}{second.inside}")
    first, last = second.names
    if REWARD.fullmatch(first) and not REWARD.fullmatch(last):  # numbers may be names too, and would be taken for them
        raise ArgumentValueError("rewards", expected, f"{shown(first)} before {shown(last)}{second.inside}")
    return second


def _in_second_table(second: Sheet | None, names: tuple[str, ...], sheet: Sheet) -> list[tuple[int, float]]:
    if second is None:
        return []
    rows = {name: row for row, name in enumerate(names)}
    action, value = second.names
    for place, cell in enumerate(second[action].cells):
        if cell not in rows:
            got = f"{shown(cell) if cell else 'an empty cell'} in {second.where(place, action)}"
            raise ArgumentValueError("rewards", f"names of the actions{sheet.inside}", got)
    return [(rows[second[action].cells[place]], reward) for place, reward in _in_column(second, value)]


def _from_mapping(rewards: Mapping[Any, Any]) -> Sheet:
    pairs = [
        (plain_text(name), reward)
        for name, one in rewards.items()
        for reward in (one if isinstance(one, list | tuple) or np.ndim(one) else [one])
    ]
    names = Column("action", None, [name for name, _ in pairs])
    values: Any = np.empty(len(pairs), dtype=object)
    values[:] = [reward for _, reward in pairs]
    return Sheet("rewards", "", (names, column_of("reward", values)), range(len(pairs)), "row")
