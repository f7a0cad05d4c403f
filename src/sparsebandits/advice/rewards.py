"""Past rewards of a table: in columns of it, or in a table of their own with one row per observation."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sparsebandits.advice.cells import Column, as_text, typed_columns
from sparsebandits.advice.columns import LARGEST_CELL, missing_words, numbers_of, refuse_extreme
from sparsebandits.advice.history import constant
from sparsebandits.advice.sheet import Sheet, sheet_of
from sparsebandits.advice.values import Numbers, is_missing, is_unknown
from sparsebandits.advice.words import REWARD
from sparsebandits.arguments import ArgumentValueError, FloatArray, IntArray, shown


def reward_numbers(sheet: Sheet, column: str) -> Numbers:
    """Return the rewards in a column, NaN where there is none, and what was assumed to read them.

    Raises
    ------
    ArgumentValueError
        If some cell is neither a number nor yes or no nor empty, or too large.
    """
    cells = sheet.columns[column]
    if cells.numbers is None and all(map(is_unknown, cells.cells)):
        found: Numbers | None = Numbers(np.full(len(sheet), np.nan), "")
    else:
        found = numbers_of(sheet, column)
        if found is None or found.kind == "date":
            found = numbers_of(sheet, column, "number")  # which says what is wrong
    assert found is not None
    refuse_extreme(sheet, column, found.values)
    gaps = np.isnan(found.values)
    words = [word for word in missing_words(cells, gaps) if not is_missing(word)]
    said = f"cells with {', '.join(words)} are taken as not tried" if words else ""
    return found._replace(remark="; ".join(part for part in (found.remark, said) if part))


def costs_of(sheet: Sheet, column: str) -> FloatArray:
    """Return the cost of each row, which has to be positive."""
    found = numbers_of(sheet, column, "number")
    values = np.full(len(sheet), np.nan) if found is None else found.values
    wrong = np.flatnonzero(~((values > 0.0) & (values <= LARGEST_CELL)))
    if len(wrong):
        cells = sheet.columns[column].cells
        got = sheet.listed(column, [(row, shown(cells[row]) if cells[row] else "") for row in wrong.tolist()])
        raise ArgumentValueError(sheet.argument, "a positive cost of each action", got)
    return values


def notes_on_rewards(columns: Sequence[str], rewards: FloatArray) -> list[str]:
    """Say where past rewards are read from, and whether they are few or all equal."""
    notes = [f"past rewards are read from {', '.join(columns)}"] if columns else []
    if not len(rewards):
        notes.append("there are no past rewards yet, so this is based on the prior alone")
    elif len(rewards) == 1:
        notes.append("one past reward gives the level of rewards, but no information about the features yet")
    elif constant(rewards):
        notes.append(f"all {len(rewards)} past rewards are {rewards[0]:g}; they say little about the features")
    return notes


def second_table(rewards: object, decimal: str | None) -> Sheet | None:
    """Return the table of rewards, of two columns."""
    if rewards is None:
        return None
    second = _from_mapping(rewards) if isinstance(rewards, Mapping) else sheet_of("rewards", rewards, decimal=decimal)
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


def observed_in(second: Sheet, names: Sequence[str], number: IntArray, sheet: Sheet) -> tuple[IntArray, Numbers]:
    """Return action and value of each reward in a table of action names and rewards."""
    action, value = second.columns
    row_of = {name: row for row, name in reversed(list(enumerate(names)))}
    cells = second.columns[action].cells
    rows = [row_of.get(cell, -1) for cell in cells]
    unknown = [place for place, row in enumerate(rows) if row < 0]
    if unknown:
        got = second.listed(action, [(place, shown(cells[place]) if cells[place] else "") for place in unknown])
        raise ArgumentValueError("rewards", f"names of the actions{sheet.inside}", got)
    found = reward_numbers(second, value)
    given = ~np.isnan(found.values)
    return number[np.array(rows, dtype=np.intp)[given]], found._replace(values=found.values[given])
