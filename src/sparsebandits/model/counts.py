"""Successes and trials of each distinct row of features: all that engines need of clicks and counts.

The likelihood of a family of ``families.py`` depends on past rewards through Σ w y and Σ w of each distinct row alone.
With a fixed set of actions there are at most K rows, however many rewards have come; where actions are new in each
round, there are as many rows as rewards.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import scipy  # scipy.special, which is slow to import, is loaded on first use

from sparsebandits.arguments import FloatArray, check_count
from sparsebandits.atomic import forked
from sparsebandits.layouts import Count, Layout, Number, Reals, read, wrong

FIRST = 64
"""Number of rows that there is room for at first."""


class Counts:
    """Successes s and trials n of each distinct row.

    Copies share the rows, which are only ever appended to, until two of them append different ones; so taking in a
    reward costs O(U) for U rows.

    Parameters
    ----------
    dimension : int
        Number of features d.

    Attributes
    ----------
    dimension : int
        Number of features d.
    count : int
        Number of observations.
    successes, trials : array of shape (U,)
        Σ w y and Σ w (times the exposure) of each row.
    log_base : float
        −Σ w log y!, the part of the log likelihood that depends on nothing unknown: zero for clicks, and up to a
        constant for counts with an exposure.

    Examples
    --------
    >>> counts = Counts(2)
    >>> counts.absorb(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), np.array([1.0, 0.0, 0.0]))
    >>> counts.rows, counts.successes, counts.trials
    (array([[1., 0.], [0., 1.]]), array([1., 0.]), array([2., 1.]))
    """

    saved: ClassVar[Layout] = {
        "count": Count(),
        "rows": Reals("distinct_rows", "dimension"),
        "successes": Reals("distinct_rows", low=0.0),
        "trials": Reals("distinct_rows", low=0.0),
        "log_base": Number(),
    }

    def __init__(self, dimension: int) -> None:
        self.dimension = check_count("dimension", dimension)
        self.count = 0
        self.log_base = 0.0
        self.successes: FloatArray = np.empty(0)
        self.trials: FloatArray = np.empty(0)
        self._rows: FloatArray = np.empty((FIRST, dimension))  # those beyond len(trials) are free, or a copy's
        self._keys: dict[int, bytes] = {}  # bytes of the row at each place, those of copies included
        self._places: dict[bytes, int] = {}  # a place of each row, maybe in a copy

    @property
    def rows(self) -> FloatArray:
        """The distinct rows, shape ``(U, d)``."""
        return self._rows[: len(self.trials)]

    @property
    def squares(self) -> FloatArray:
        """Σ n x_j² over the rows, shape ``(d,)``."""
        return np.asarray(self.trials @ (self.rows * self.rows))

    @property
    def square(self) -> float:
        """Σ s² / n over the rows: what rewards may weigh in sums of squares."""
        return float((self.successes * self.successes / np.maximum(self.trials, 1e-300)).sum())

    def absorb(
        self, x: FloatArray, y: FloatArray, weights: FloatArray | None = None, counts: FloatArray | None = None
    ) -> None:
        """Add a batch that has been checked.

        Parameters
        ----------
        x : array of shape (n, d)
            Features.
        y : array of shape (n,)
            Rewards; of a count with an exposure, the count per unit of it.
        weights : array of shape (n,), optional
            Power of the likelihood of each observation, times its exposure if it has one; by default 1.
        counts : array of shape (n,), optional
            Not used: unlike that of a Gaussian reward, the weight says it all.
        """
        own = np.ones(len(y)) if weights is None else weights
        used, places = len(self.trials), np.empty(len(y), dtype=np.intp)
        for i, row in enumerate(x + 0.0):  # −0 is 0
            places[i] = self._place(row, used)
            used = max(used, int(places[i]) + 1)
        successes, trials = (np.pad(one, (0, used - len(one))) for one in (self.successes, self.trials))
        np.add.at(successes, places, own * y)
        np.add.at(trials, places, own)
        self.successes, self.trials, self.count = successes, trials, self.count + len(y)
        self.log_base -= float(own @ scipy.special.gammaln(y + 1.0))

    def _place(self, row: FloatArray, used: int) -> int:
        """Return the place of a row, which is appended after the ``used`` ones if it is new."""
        key = row.tobytes()
        place = self._places.get(key, used)
        if place < used and self._keys[place] == key:
            return place
        # The first copy to append has the place; ``setdefault`` is one step, whatever other threads do.
        if used == len(self._rows) or self._keys.setdefault(used, key) != key:
            self._part(used)
            self._keys[used] = key
        self._rows[used] = row
        self._places[key] = used
        return used

    def _part(self, used: int) -> None:
        """Stop sharing: go on with a copy of the first ``used`` rows, and with room for more."""
        rows = np.empty((max(FIRST, 2 * used), self.dimension))
        rows[:used] = self._rows[:used]
        self._keys = {place: self._keys[place] for place in range(used)}
        self._rows, self._places = rows, {key: place for place, key in self._keys.items()}

    def copied(self) -> "Counts":
        """Return a copy; both may take in more."""
        return forked(self)

    def scaled(self, factor: float) -> "Counts":
        """Return a copy in which everything counts ``factor`` times as much."""
        other = forked(self)
        other.successes, other.trials = factor * self.successes, factor * self.trials
        other.log_base = factor * self.log_base
        return other

    def state(self) -> dict[str, Any]:
        """Return everything that :meth:`restore` needs, as arrays and JSON values."""
        arrays = {"successes": self.successes.copy(), "trials": self.trials.copy()}
        return {"count": self.count, "rows": self.rows.copy(), **arrays, "log_base": self.log_base}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state.

        Parameters
        ----------
        state : mapping
            What :meth:`state` returned.

        Raises
        ------
        SaveFileError
            If these are not the counts of any observations.
        """
        found = read(self.saved, state, {"dimension": self.dimension})
        rows = found["rows"]
        places = {row.tobytes(): place for place, row in enumerate(rows)}
        if len(places) < len(rows) or len(rows) > found["count"]:
            raise wrong("rows", f"different rows of {found['count']} rewards", f"{len(rows)} rows")
        self.count, self.successes, self.trials = found["count"], found["successes"], found["trials"]
        self.log_base = found["log_base"]
        room = np.empty((max(FIRST - len(rows), 0), self.dimension))
        self._rows, self._places = np.concatenate((rows, room)), places
        self._keys = {place: key for key, place in places.items()}
