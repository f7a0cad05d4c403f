"""What stands for an action: its name or its row.

One rule holds wherever a user picks actions (``available``, ``feedback``, rewards by action): text is a name, and an
integer is a row. If all names are whole numbers, as those of a DataFrame whose index has product numbers, an integer is
a name. With the default index 0, 1, …, K − 1 the two are the same.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from sparsebandits.arguments import order_by_name, shown

WHOLE = re.compile(r"-?\d+")
"""How a whole number is written."""


class Naming:
    """Names and rows of a set of actions.

    Parameters
    ----------
    count : int
        Number of actions K.
    labels : sequence of str, optional
        Names of the actions.

    Attributes
    ----------
    by_number : bool
        Whether all names are whole numbers, so that an integer is a name.

    Examples
    --------
    >>> Naming(3, ["tea", "milk", "101"]).row(2), Naming(3, ["7", "2", "101"]).row(2)
    (2, 1)
    """

    def __init__(self, count: int, labels: Sequence[str] | None = None) -> None:
        self.count = count
        self.by_number = bool(labels) and all(WHOLE.fullmatch(label) for label in labels or ())
        self._twice = {label for label, times in Counter(labels or ()).items() if times > 1}
        self._places = {label: row for row, label in enumerate(labels or ()) if label not in self._twice}

    @property
    def expected(self) -> str:
        """What a user may give, for errors."""
        if not self.by_number:
            return f"rows or names of the {self.count} actions"
        return f"names of the {self.count} actions (they are whole numbers, so an integer is a name and not a row)"

    def row(self, one: object) -> int | None:
        """Return the row of an action.

        Parameters
        ----------
        one : str or int
            Its name or row.

        Returns
        -------
        int or None
            None if it is not one of the actions, or if several have this name.
        """
        if isinstance(one, int | np.integer) and not isinstance(one, bool):
            if not self.by_number:
                return int(one) if 0 <= one < self.count else None
            one = str(int(one))
        return self._places.get(one) if isinstance(one, str) else None

    def wrong(self, ones: Sequence[object]) -> str:
        """Return what is wrong with names or rows that are no actions, for errors."""
        twice = [one for one in ones if str(one) in self._twice]
        return f"{shown(twice)}, the name of several actions" if twice else f"{shown(list(ones))}, not among them"


def in_order(name: str, values: Any, labels: Sequence[str] | None) -> Any:
    """Return one value per action in the order of the actions: a Series is matched by name.

    Parameters
    ----------
    name : str
        Name of the argument, for errors.
    values : Series or other object
        The values.
    labels : sequence of str or None
        Names of the actions.

    Returns
    -------
    array or object
        The values of a Series in the order of the actions. A Series with the default index 0, 1, … has no names, unless
        these are the names of the actions. Anything else is returned as it is.

    Raises
    ------
    ArgumentValueError
        If a Series has other names.
    """
    if labels is None or not (hasattr(values, "index") and hasattr(values, "to_numpy")):
        return values
    return np.asarray(values)[order_by_name(name, labels, [str(label) for label in values.index])]
