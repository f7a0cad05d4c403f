"""A campaign: a table, the rewards that have come, the trials under way, in one file that a colleague can open.

It is ``decide`` with a memory. Everything is learned afresh from the table and the rewards whenever a recommendation is
asked for, so a reward can be taken back. The file is JSON text; it is replaced in one step.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from sparsebandits.advice.advice import Advice
from sparsebandits.advice.cells import Column
from sparsebandits.advice.columns import LARGEST_CELL
from sparsebandits.advice.decide import decide
from sparsebandits.advice.read import History, read_history
from sparsebandits.advice.settings import Settings
from sparsebandits.advice.sheet import Sheet, sheet_of
from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    SaveFileError,
    check_number,
    did_you_mean,
    shown,
)
from sparsebandits.files import exclusively, write_atomically
from sparsebandits.tables import Rows, as_html

KIND, VERSION = "sparsebandits campaign", 1
READING = ("name", "reward_columns", "ignore", "columns", "cost")
"""Options that say how the table is read; they are the same in all of a campaign."""

CHOOSING = (
    "where",
    "minimize",
    "target",
    "effects",
    "untried",
    "policy",
    "noise_variance",
    "n_draws",
    "horizon",
    "family",
    "seed",
)
"""Options of :func:`sparsebandits.decide` that may be set for the whole campaign, or for one recommendation."""

MOST_BYTES = 1 << 30
"""Largest size of a file."""


class Campaign:
    """A table of candidates, and what has come of their trials.

    Parameters
    ----------
    table : DataFrame, or path of a text, Excel or Parquet file
        One row per candidate, as for :func:`sparsebandits.decide`. It is copied: later changes of it do not count.
    path : str or path, optional
        File in which the campaign is kept: it is written after each change. By default nothing is written until
        :meth:`save`.
    **options
        Of :func:`sparsebandits.decide`: how the table is read (``name``, ``reward_columns``, ``ignore``, ``columns``,
        ``cost``) and what is chosen (``minimize``, ``target``, ``where``, ``untried``, ``policy``, …).

    Attributes
    ----------
    pending : list of str
        Candidates that were recommended and await their reward, in order; a copy.

    Raises
    ------
    ArgumentError
        If the table cannot be read, or an option is unknown or cannot be used.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"sugar": [1.0, 2.0, 3.0, 4.0], "milk": [0.0, 1.0, 0.0, 1.0]}, index=list("ABCD"))
    >>> campaign = Campaign(table, policy="lin-ucb", seed=0)
    >>> advice = campaign.recommend(2)
    >>> campaign.pending == [one.name for one in advice.recommendations]
    True
    >>> campaign.tell(campaign.pending[0], 3.5)
    >>> len(campaign.pending), len(campaign.told)
    (1, 1)
    """

    def __init__(self, table: object, path: str | os.PathLike[str] | None = None, **options: Any) -> None:
        unknown = sorted(set(options) - {*READING, *CHOOSING})
        if unknown:
            raise _unknown(unknown[0], (*READING, *CHOOSING))
        argument = "file" if isinstance(table, str | os.PathLike) else "table"
        self._sheet = table if isinstance(table, Sheet) else sheet_of(argument, table)
        chosen = {name: value for name, value in options.items() if name in CHOOSING and name != "where"}
        self._settings = Settings(**chosen)
        self._options: dict[str, Any] = {
            name: getattr(self._settings, name) if name in chosen else _plain(value) for name, value in options.items()
        }
        self._told: list[tuple[str, float]] = []
        self._pending: list[str] = []
        self.path = None if path is None else Path(path)
        self._written: bytes | None = None  # what the file has, as far as this object knows
        self._settings.problem(self._history(()))
        self._keep()

    def _history(self, told: object) -> History:
        """Return the table as it is read, with rewards."""
        reading = {name: self._options[name] for name in (*READING, "where") if name in self._options}
        reading["reward"] = reading.pop("reward_columns", None)
        return read_history(self._sheet, _by_name(told), **reading)

    def __repr__(self) -> str:
        count = len(self._history(()).names)
        told = f"{len(self._told)} reward{'' if len(self._told) == 1 else 's'}"
        return f"Campaign({count} candidates, {told} told, {len(self._pending)} pending)"

    def _repr_html_(self) -> str:
        """Return the campaign as HTML, which notebooks show."""
        return as_html(repr(self), f"Pending: {', '.join(self._pending) or 'none'}", self.told)

    @property
    def pending(self) -> list[str]:
        """Candidates that were recommended and await their reward."""
        return list(self._pending)

    @property
    def told(self) -> Rows:
        """The rewards that were told, in order."""
        return Rows.of([{"action": name, "reward": reward} for name, reward in self._told])

    def recommend(self, n: int = 1, **options: Any) -> Advice:
        """Return what to try next, and count it as pending.

        Trials that are pending count as if their expected reward had come, so asking again gives others, where these
        teach more.

        Parameters
        ----------
        n : int, default=1
            Number of different candidates.
        **options
            Options of :func:`sparsebandits.decide` for this recommendation only.

        Returns
        -------
        Advice
        """
        advice = self.advice(n, **options)
        self._change(self._told, [*self._pending, *(one.name for one in advice.recommendations)])
        return advice

    def advice(self, n: int = 1, **options: Any) -> Advice:
        """Return what :meth:`recommend` would, and change nothing."""
        unknown = sorted(set(options) - set(CHOOSING))
        if unknown:
            raise _unknown(unknown[0], CHOOSING)
        settings = {**self._options, **options}
        return decide(self._sheet, _by_name(self._told), batch=n, pending=self._pending, **settings)

    def tell(self, name: str | Mapping[str, float], reward: float | None = None) -> None:
        """Give the reward of a trial, or of several: all of them, or none.

        Parameters
        ----------
        name : str or mapping of str to float
            Name of the candidate, or rewards by name. It need not have been recommended.
        reward : float, optional
            Its reward.
        """
        if isinstance(name, Mapping):
            if reward is not None:
                raise ArgumentTypeError("reward", "none beside a mapping of rewards", shown(reward))
            new = {str(one): value for one, value in name.items()}
        else:
            new = {str(name): reward}  # type: ignore[dict-item]  # which is checked below
        known = set(self._history(()).names)
        told, pending = list(self._told), list(self._pending)
        for one, value in new.items():
            if one not in known:
                raise ArgumentValueError("name", "a candidate in the table", shown(one))
            told.append((one, check_number("reward", value, LARGEST_CELL)))
            if one in pending:
                pending.remove(one)
        self._settings.problem(self._history(told))
        self._change(told, pending)

    def take_back(self, name: str) -> float:
        """Take back the last reward that was told of a candidate, and return it.

        Parameters
        ----------
        name : str
            Name of the candidate.
        """
        places = [place for place, (one, _) in enumerate(self._told) if one == name]
        if not places:
            raise ArgumentValueError("name", "a candidate whose reward was told", shown(name))
        told = list(self._told)
        _, reward = told.pop(places[-1])
        self._change(told, self._pending)
        return reward

    def withdraw(self, name: str | None = None) -> None:
        """Say that a trial that was recommended is not made, by default none of those that are pending.

        Parameters
        ----------
        name : str, optional
            Name of the candidate.
        """
        pending = [] if name is None else list(self._pending)
        if name is not None:
            if name not in pending:
                raise ArgumentValueError("name", "a candidate that is pending", shown(name))
            pending.remove(name)
        self._change(self._told, pending)

    def report(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the state of the campaign as a page for a browser, and write it if there is a path.

        Parameters
        ----------
        path : str or path, optional
            File to write.
        """
        return self.advice().to_html(path)

    def save(self, path: str | os.PathLike[str] | None = None) -> None:
        """Write the campaign to a file, in one step.

        Parameters
        ----------
        path : str or path, optional
            The file; by default that of the campaign. A campaign without a file is kept in this one from now on; a copy
            is written of a campaign that has another.
        """
        content = self._content(self._told, self._pending)
        if path is not None and (self.path is None or Path(path).resolve() != self.path.resolve()):
            write_atomically(path, content)
            if self.path is None:
                self.path, self._written = Path(path), content
        elif self.path is None:
            raise ArgumentValueError("path", "a path, since the campaign has none", "none")
        else:
            self._write(content)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Campaign":
        """Return the campaign in a file; it is kept there from now on.

        Parameters
        ----------
        path : str or path
            The file.

        Raises
        ------
        SaveFileError
            If it is not such a file, or damaged.
        """
        file = Path(path)
        try:
            if file.stat().st_size > MOST_BYTES:
                raise SaveFileError(f"{path} is larger than {MOST_BYTES} bytes")
            content = file.read_bytes()
            state = json.loads(content.decode())
        except (UnicodeError, ValueError, RecursionError) as error:
            raise SaveFileError(f"{path} is not a campaign, or it is damaged: {error}") from None
        if not isinstance(state, dict) or state.get("kind") != KIND:
            raise SaveFileError(f"{path} is not a campaign")
        if state.get("version") != VERSION:
            raise SaveFileError(f"{path} is a campaign of version {state.get('version')!r}; this reads {VERSION}")
        if state.pop("digest", None) != _digest(state):
            raise SaveFileError(f"{path} is a damaged campaign: its contents are not those that were saved")
        try:
            made = cls(_sheet_from(state["table"]), **state["options"])
            told = [(str(name), check_number("reward", reward, LARGEST_CELL)) for name, reward in state["told"]]
            known = set(made._history(()).names)
            if not known.issuperset({name for name, _ in told} | set(state["pending"])):
                raise ValueError("rewards of candidates that are not in the table")
            made._told, made._pending = told, [str(name) for name in state["pending"]]
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise SaveFileError(f"{path} is a damaged campaign: {error}") from None
        made.path, made._written = file, content
        return made

    def _change(self, told: list[tuple[str, float]], pending: list[str]) -> None:
        """Write the new state if there is a file, then have it."""
        if self.path is not None:
            self._write(self._content(told, pending))
        self._told, self._pending = list(told), list(pending)

    def _write(self, content: bytes) -> None:
        """Replace the file, unless another program has changed it."""
        assert self.path is not None
        with exclusively(self.path.absolute().parent):
            if self._written is not None and (not self.path.exists() or self.path.read_bytes() != self._written):
                raise SaveFileError(f"{self.path} has been changed by someone else; load it again")
            write_atomically(self.path, content)
        self._written = content

    def _keep(self) -> None:
        if self.path is not None:
            if self.path.exists():
                raise ArgumentValueError("path", "a new file, or Campaign.load(path)", f"{self.path}, which exists")
            self._write(self._content(self._told, self._pending))

    def _content(self, told: list[tuple[str, float]], pending: list[str]) -> bytes:
        state = {
            "kind": KIND,
            "version": VERSION,
            "options": self._options,
            "told": told,
            "pending": pending,
            "table": _sheet_state(self._sheet),
        }
        return (json.dumps({**state, "digest": _digest(state)}, ensure_ascii=False, indent=1) + "\n").encode()


def _digest(state: Mapping[str, Any]) -> str:
    """Return a digest of values that JSON has, whatever the layout of the file."""
    text = json.dumps(state, ensure_ascii=False, sort_keys=True)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _unknown(name: str, options: Sequence[str]) -> ArgumentTypeError:
    return ArgumentTypeError(name, f"one of the options {', '.join(options)}", f"another{did_you_mean(name, options)}")


def _plain(option: Any) -> Any:
    """Return names of columns, or what columns are, as JSON has them; anything else is refused where it is used."""
    if isinstance(option, Mapping):
        return dict(option)
    return option if isinstance(option, str) or not isinstance(option, Iterable) else list(option)


def _by_name(told: Any) -> dict[str, list[float]] | None:
    found: dict[str, list[float]] = {}
    for name, reward in told:
        found.setdefault(name, []).append(reward)
    return found or None


def _sheet_state(sheet: Sheet) -> dict[str, Any]:
    """Return a table as values that JSON has: the cells as text, and numbers where a column is of numbers."""
    columns = [
        {
            "name": name,
            "kind": column.kind,
            "cells": column.cells if column.numbers is None else None,
            "numbers": None
            if column.numbers is None
            else [None if one != one else one for one in column.numbers.tolist()],
            "names": column.cells if column.numbers is not None and column.values is not None else None,
        }
        for name, column in sheet.columns.items()
    ]
    rest = {"source": sheet.source, "rows": list(sheet.rows), "row_word": sheet.row_word, "index": sheet.index}
    return {**rest, "decimal": sheet.decimal, "remarks": sheet.remarks, "columns": columns}


def _sheet_from(state: Mapping[str, Any]) -> Sheet:
    columns = {str(one["name"]): _column_from(one) for one in state["columns"]}
    rows = [int(row) for row in state["rows"]]
    if any(len(column.cells) != len(rows) for column in columns.values()):
        raise ValueError("columns of different lengths")
    index = None if state["index"] is None else tuple(map(str, state["index"]))
    sheet = Sheet("table", str(state["source"]), columns, rows, str(state["row_word"]), index)
    return replace(sheet, decimal=str(state["decimal"]), remarks=tuple(map(str, state["remarks"])))


def _column_from(state: Mapping[str, Any]) -> Column:
    if state["numbers"] is None:
        return Column(None, [str(cell) for cell in state["cells"]], str(state["kind"]), ready=True)
    numbers = np.array([np.nan if one is None else float(one) for one in state["numbers"]])
    names = state["names"]
    return Column(numbers, None if names is None else [str(cell) for cell in names], str(state["kind"]), ready=True)
