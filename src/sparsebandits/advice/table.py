"""One table of actions, read: the roles of its columns, its features, and which rows are the same action."""

from collections.abc import Sequence

import numpy as np

from sparsebandits.advice.assumed import Assumed, Complaints
from sparsebandits.advice.columns import LARGEST_CELL, Reading, read_column
from sparsebandits.advice.history import History, constant
from sparsebandits.advice.rewards import costs_of, notes_on_rewards, observed_in, reward_numbers
from sparsebandits.advice.roles import identifiers, name_column, reward_columns
from sparsebandits.advice.sheet import Sheet
from sparsebandits.advice.values import Numbers
from sparsebandits.advice.where import rows_where
from sparsebandits.advice.words import is_code_name
from sparsebandits.arguments import ArgumentValueError, BoolArray, FloatArray, IntArray, shown

SHOWN_FEATURES = 20
"""Largest number of features that a note lists."""

VERBS = {"number": "is a number: ", "yes-no": "is yes or no: ", "date": "is a date: "}
"""What stands between the name of a column of a kind and what was assumed."""


class Table:
    """A table that is being read.

    Parameters
    ----------
    sheet : Sheet
        The table.
    second : Sheet or None
        Past rewards in a table of their own.
    both : str or None
        What that table calls the column of actions, which this one may call the same.
    stated : dict of str to str
        What columns are stated to be.
    with_rewards : bool
        Whether the columns of rewards are stated.
    """

    def __init__(
        self, sheet: Sheet, second: Sheet | None, both: str | None, stated: dict[str, str], with_rewards: bool
    ) -> None:
        self.sheet, self.second, self.both, self.stated = sheet, second, both, stated
        self.complaints, self.notes = Complaints(sheet.problems), list[str]()
        self.assumed = [Assumed(remark) for remark in sheet.remarks]
        if second is not None:
            self.complaints.errors += second.problems
            self.assumed += [Assumed(f"in the table of rewards, {remark}") for remark in second.remarks]
        self.of_rewards = self._of("reward")
        if not with_rewards:
            found = self.complaints.attempt(reward_columns, sheet, stated)
            if found is not None:
                self.of_rewards, assumed = found
                self.assumed += assumed
        self.named = self._named()

    def _of(self, role: str) -> list[str]:
        return [column for column in self.sheet.columns if self.stated.get(column) == role]

    def _named(self) -> str | None:
        """Return the column that names the actions."""
        if self._of("name"):
            return self._of("name")[0]
        named, assumed = name_column(self.sheet, {*self.of_rewards, *self.stated})
        if self.both in self.sheet.columns and self.sheet.index is None and (named is None or assumed):
            return self.both
        self.assumed += assumed
        return named

    def history(self, where: str | Sequence[str]) -> History:
        """Return what the table says.

        Parameters
        ----------
        where : str or sequence of str
            Constraints on the rows.

        Raises
        ------
        ArgumentError
            With everything that is wrong.
        """
        sheet, complaints = self.sheet, self.complaints
        readings = self._readings()
        rewards = {one: complaints.attempt(reward_numbers, sheet, one) for one in self.of_rewards}
        names = complaints.attempt(_row_names, sheet, self.named)
        allowed = complaints.attempt(rows_where, sheet, where)
        if allowed is not None and not allowed.any():
            expected = "constraints that some action satisfies"
            complaints.errors.append(ArgumentValueError("where", expected, "none that does"))
        costs = [complaints.attempt(costs_of, sheet, one) for one in self._of("cost")]
        of = {name: (column, read) for column, read in readings.items() for name, _ in read.features}
        features = [one for reading in readings.values() for one in reading.features]
        if not features and not complaints.errors:
            got = "; ".join((f"none{sheet.inside}", *(str(one) for one in self.assumed if one.role == "ignore")))
            complaints.errors.append(ArgumentValueError(sheet.argument, "at least one column of features", got))
        matrix = np.column_stack([values for _, values in features]) if features else np.empty((len(sheet), 0))
        number, also = None, None
        priced = [one for one in costs if one is not None]
        if names is not None:
            what = np.column_stack((matrix, *priced))  # what has another cost is another action
            sources = [*(of[name][0] for name, _ in features), *self._of("cost")]
            number = complaints.attempt(self._actions, names, what, sources)
        if self.second is not None and names is not None and number is not None:
            also = complaints.attempt(observed_in, self.second, names, number, sheet)
        first = np.arange(len(sheet)) if number is None else np.unique(number, return_index=True)[1]
        matrix = matrix[first]
        checked = complaints.attempt(self._checked, [name for name, _ in features], matrix) if features else None
        complaints.raise_all()
        assert names is not None  # as there were no complaints
        assert number is not None
        assert allowed is not None
        assert checked is not None
        kept, varies = checked
        given = {one: values for one, values in rewards.items() if values is not None}
        tried = [number[np.flatnonzero(~np.isnan(one.values))] for one in given.values()]
        values = [one.values[~np.isnan(one.values)] for one in given.values()]
        if also is not None:
            tried.append(also[0])
            values.append(also[1].values)
            given["rewards"] = also[1]
        told = np.concatenate(values) if values else np.empty(0)
        self._say_rewards(given, told, names, kept)
        found = History(
            tuple(names[row] for row in first.tolist()),
            kept,
            matrix if varies.all() else np.ascontiguousarray(matrix[:, varies]),
            np.concatenate(tried).astype(np.intp) if tried else np.empty(0, np.intp),
            told,
            tuple(self.notes),
            tuple(self.assumed),
            first,
            tuple(of[one][0] for one in kept),
            tuple(of[one][1].continuous and one == of[one][1].features[0][0] for one in kept),
            None if allowed.all() else np.bincount(number, allowed) > 0,
            priced[0][first] if priced else None,
            sheet.decimal,
            tuple(self.of_rewards or ([] if self.second is None else [*self.second.columns][1:])),
        )
        if found.scale < 1 / LARGEST_CELL:
            raise ArgumentValueError("rewards", "rewards in a larger unit", f"a spread of {found.scale:.2g}")
        return found

    def _readings(self) -> dict[str, Reading]:
        """Return what the columns of features became; what was assumed for it is kept."""
        others = {self.named, *self.of_rewards, *self._of("ignore"), *self._of("cost"), *self._of("name")}
        columns = [column for column in self.sheet.columns if column not in others and not self._is_index(column)]
        free = [column for column in columns if column not in self.stated]
        numbered = [] if len(free) < 2 else identifiers(self.sheet, free)
        for column in numbered:
            whole = np.unique(np.asarray(self.sheet.columns[column].numbers))
            what = "the rows" if len(whole) == len(self.sheet) else "things"
            self.assumed.append(Assumed(f"{column} tells {what} apart and is not a feature", column, "ignore"))
        readings: dict[str, Reading] = {}
        for column in (one for one in columns if one not in numbered):
            kind = self.stated.get(column, "code" if is_code_name(column) else None)
            reading = self.complaints.attempt(read_column, self.sheet, column, kind)
            if reading is None:
                continue
            readings[column] = self._renamed(reading, {*self.sheet.columns, *_names(readings)} - {column})
            said = f"{column} {VERBS.get(reading.kind, '')}{reading.remark}".replace("date: hours", "time: hours")
            if reading.remark and column not in self.stated:
                role = "ignore" if reading.kind in ("text", "empty") else reading.kind
                self.assumed.append(Assumed(said, column, role))
            elif reading.remark:
                self.notes.append(said)
        return readings

    def _is_index(self, column: str) -> bool:
        """Return whether a column is an index that pandas wrote, and another one names the rows."""
        return column == "" and column not in self.stated

    def _renamed(self, reading: Reading, taken: set[str]) -> Reading:
        """Return features with names that no other column or feature has."""
        if not any(name in taken for name, _ in reading.features):
            return reading
        features = []
        for name, values in reading.features:
            while name in taken:
                name += "'"
            features.append((name, values))
        return Reading(reading.kind, tuple(features), reading.continuous, reading.remark)

    def _actions(self, names: tuple[str, ...], features: FloatArray, sources: Sequence[str]) -> IntArray:
        """Return the number of the action of each row: rows of one name, or without names equal rows, are one.

        The cost of a trial, if there is one, is the last of the features here.
        """
        if self.named is None and self.sheet.index is None:
            return self._equal_rows(features)
        place: dict[str, int] = {}
        number = np.array([place.setdefault(one, len(place)) for one in names])
        first = np.unique(number, return_index=True)[1][number]
        differs = features != features[first]
        rows = np.flatnonzero(differs.any(axis=1)).tolist()
        if rows:
            row, sheet = rows[0], self.sheet
            column = sources[int(differs[row].argmax())]
            more = f", and {len(rows) - 1} more" if len(rows) > 1 else ""
            got = f"{shown(names[row])} in {sheet.where(row, self.named)} and in {sheet.where(int(first[row]))}"
            got += f", which differ in column {shown(column)}{more}"
            same = "features and cost" if self._of("cost") else "features"
            raise ArgumentValueError(sheet.argument, f"each action once, or always with the same {same}", got)
        again = len(names) - len(place)
        if again:
            repeats = "row repeats an action and counts as a trial of it"
            several = "rows repeat actions and count as trials of them"
            self.assumed.append(Assumed(f"{again} {repeats if again == 1 else several}"))
        return number

    def _equal_rows(self, features: FloatArray) -> IntArray:
        _, first, inverse = np.unique(features, axis=0, return_index=True, return_inverse=True)
        again = len(features) - len(first)
        if not again or not features.shape[1]:
            return np.arange(len(features))
        repeats = "row repeats the features of another and counts as a trial of the same action"
        several = "rows repeat the features of others and count as trials of the same actions"
        self.assumed.append(Assumed(f"{again} {repeats if again == 1 else several}"))
        order = np.argsort(np.argsort(first, kind="stable"), kind="stable")
        return np.asarray(order[inverse.reshape(-1)])

    def _checked(self, names: Sequence[str], matrix: FloatArray) -> tuple[tuple[str, ...], BoolArray]:
        """Return names of the features that vary, and which do; refuse those that vary too little."""
        sheet = self.sheet
        if len(sheet) < 2:
            raise ArgumentValueError(sheet.argument, "at least two actions to choose from", f"one{sheet.inside}")
        same = np.asarray(constant(matrix))
        deviations = np.array([column.std() for column in matrix.T])
        narrow = np.flatnonzero(~same & (deviations < 1 / LARGEST_CELL))
        if len(narrow):
            got = f"a spread of {deviations[narrow[0]]:.2g} in column {shown(names[narrow[0]])}{sheet.inside}"
            raise ArgumentValueError(sheet.argument, "features in a larger unit", got)
        if same.all() or len(matrix) < 2:
            got = f"the same numbers in all rows{sheet.inside}"
            raise ArgumentValueError(sheet.argument, "actions with different features", got)
        pairs = list(zip(names, same.tolist(), strict=True))
        self.notes += [f"{one} is the same for all actions and is left out" for one, out in pairs if out]
        return tuple(one for one, out in pairs if not out), ~same

    def _say_rewards(
        self, given: dict[str, Numbers], told: FloatArray, names: tuple[str, ...], kept: tuple[str, ...]
    ) -> None:
        """Say how rewards were found and read."""
        if self.named is None and self.sheet.index is None and self.second is not None:
            by = f"actions have no names, so rewards are matched to rows by number, the first being {names[0]}"
            self.notes.append(by)
        remarks = {column: found.remark for column, found in given.items() if found.remark}
        for place, one in enumerate(self.assumed):
            if one.role == "reward" and one.column in remarks:
                self.assumed[place] = Assumed(f"{one.text}; {remarks[one.column]}", one.column, one.role)
        assumed = {one.column for one in self.assumed if one.role == "reward"}
        self.notes += notes_on_rewards([one for one in self.of_rewards if one not in assumed], told)
        self.notes += [f"{column} is read so: {said}" for column, said in remarks.items() if column not in assumed]
        if not self.of_rewards and self.second is None:
            listed = ", ".join(kept[:SHOWN_FEATURES]) + (", ..." if len(kept) > SHOWN_FEATURES else "")
            self.notes.append(
                f"no column is taken to hold rewards; features are {listed}. If one of them holds rewards, name it"
            )


def _names(readings: dict[str, Reading]) -> list[str]:
    return [name for reading in readings.values() for name, _ in reading.features]


def _row_names(sheet: Sheet, column: str | None) -> tuple[str, ...]:
    """Return the name of each row: from a column, from the index, or its number."""
    if column is None and sheet.index is None:
        first = 1 if sheet.source else 0
        return tuple(map(str, range(first, first + len(sheet))))
    names = tuple(sheet.columns[column].cells) if column is not None else sheet.index or ()
    empty = [row for row, name in enumerate(names) if not name]
    if empty:
        got = f"an empty cell in {sheet.where(empty[0], column)}" + (f" and {len(empty) - 1} more" if empty[1:] else "")
        raise ArgumentValueError(sheet.argument, "a name for each action", got)
    return names
