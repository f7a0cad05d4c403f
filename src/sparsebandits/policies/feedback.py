"""Graph feedback: playing an action shows the rewards of its neighbours, and possibly not its own.

A graph is a boolean matrix with one row per action: whose rewards are shown when that action is played. It belongs to
a set of actions (``actions.py``). A decision knows the rows that it shows, ``decision.observed``, and ``tell`` takes
their rewards together: all of them are learnt, or none.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    BoolArray,
    check_flags,
    check_number,
    frozen,
    shown,
)
from sparsebandits.policies.naming import Naming

MOST_NAMED = 8
"""Number of rows that an error names."""


def graph_of(feedback: object, count: int, labels: Sequence[str] | None = None) -> BoolArray:
    """Check a feedback graph that a user gave.

    Parameters
    ----------
    feedback : array or DataFrame of shape (K, K), or mapping
        See :meth:`~sparsebandits.policies.ActionSet.with_feedback`.
    count : int
        Number of actions K.
    labels : sequence of str, optional
        Names of the actions.

    Returns
    -------
    bool array of shape (K, K)
        Read-only.

    Raises
    ------
    ArgumentError
        If it is no graph of these actions.

    Examples
    --------
    >>> graph_of({"survey": ["tea", "milk"]}, 3, ["tea", "milk", "survey"]).astype(int)
    array([[1, 0, 0],
           [0, 1, 0],
           [1, 1, 0]])
    """
    if count == 0:
        raise ArgumentValueError("feedback", "none where actions are not enumerated", shown(feedback))
    if isinstance(feedback, Mapping):
        return frozen(_from_lists(feedback, count, labels))
    values: Any = feedback
    if labels is not None and hasattr(values, "index") and hasattr(values, "columns"):
        values = _in_order(values, labels)
    graph = check_flags("feedback", values)
    if graph.shape != (count, count):
        raise ArgumentValueError("feedback", f"shape ({count}, {count}), one row per action", f"shape {graph.shape}")
    return frozen(graph)


def _from_lists(lists: Mapping[Any, Any], count: int, labels: Sequence[str] | None) -> BoolArray:
    graph = np.eye(count, dtype=bool)
    named: set[int] = set()
    naming = Naming(count, labels)
    for key, listed in lists.items():
        if isinstance(listed, str | bytes) or not isinstance(listed, Iterable):
            raise ArgumentTypeError("feedback", f"rows or names of the actions that {key!r} shows", shown(listed))
        row = _row("feedback", key, naming)
        if row in named:
            raise ArgumentValueError("feedback", "each action once", f"{key!r} again")
        named.add(row)
        graph[row] = False
        graph[row, [_row("feedback", one, naming) for one in listed]] = True
    return graph


def _in_order(table: Any, labels: Sequence[str]) -> Any:
    """Return the entries of a DataFrame in the order of the actions, by name on both sides."""
    found = np.asarray(table)
    for axis, given in enumerate((table.index, table.columns)):
        names = [str(one) for one in given]
        if len(set(names)) < len(names) or set(names) != set(labels):
            raise ArgumentValueError("feedback", "the names of the actions, each once, on both sides", shown(names))
        place = {name: number for number, name in enumerate(names)}
        found = np.take(found, [place[label] for label in labels], axis=axis)
    return found


def _row(name: str, one: object, naming: Naming) -> int:
    """Return the row that a number or a name stands for."""
    row = naming.row(one)
    if row is None:
        raise ArgumentValueError(name, naming.expected, naming.wrong([one]))
    return row


def readings(
    observed: Sequence[int], rewards: object, count: int, labels: Sequence[str] | None = None
) -> tuple[float, ...]:
    """Return the rewards that a decision has shown, in the order of its rows.

    Parameters
    ----------
    observed : sequence of int
        The rows whose rewards the decision shows.
    rewards : mapping, Series, sequence or float
        Rewards by row or name, or in the order of ``observed``; a number if it is one row. If all names are whole
        numbers, an integer is a name.
    count : int
        Number of actions K.
    labels : sequence of str, optional
        Names of the actions.

    Returns
    -------
    tuple of float

    Raises
    ------
    ArgumentError
        If rewards are missing or superfluous, if one is not a number, or if integers may be rows as well as names.

    Examples
    --------
    >>> readings((0, 2), {2: 0.5, 0: 1}, 3), readings((0, 2), [1.0, 0.5], 3)
    ((1.0, 0.5), (1.0, 0.5))
    """
    if isinstance(rewards, str | bytes):
        raise ArgumentTypeError("reward", f"the rewards of {_named(observed)}", shown(rewards))
    given: Any = rewards
    if hasattr(given, "keys"):
        found: dict[int, Any] = {}
        naming, keys = Naming(count, labels), list(given.keys())
        for key in keys:
            row = _row("reward", key, naming)
            if row in found:
                raise ArgumentValueError("reward", "one reward per action", f"two of {key!r}")
            found[row] = given[key]
        if set(found) != set(observed):
            raise ArgumentValueError(
                "reward", f"the rewards of {_named(observed)}", f"those of {_named(sorted(found))}"
            )
        if list(found) != keys and all(isinstance(key, int | np.integer) for key in keys) and set(keys) == set(found):
            expected = "names of actions as text, or a sequence in the order of decision.observed"
            raise ArgumentValueError("reward", expected, f"{shown(keys)}, which may be rows as well as names")
        values = [found[row] for row in observed]
    elif isinstance(given, Iterable) and np.ndim(given) != 0:  # type: ignore[arg-type]
        values = list(given)
    else:
        values = [given]
    if len(values) != len(observed):
        raise ArgumentValueError("reward", f"the rewards of {_named(observed)}", f"{len(values)}")
    return tuple([check_number("reward", float(v) if isinstance(v, bool | np.bool_) else v) for v in values])


def _named(rows: Sequence[int]) -> str:
    if not rows:
        return "no action"
    more = f" and {len(rows) - MOST_NAMED} more" if len(rows) > MOST_NAMED else ""
    return f"{'row' if len(rows) == 1 else 'rows'} {', '.join(map(str, rows[:MOST_NAMED]))}{more}"
