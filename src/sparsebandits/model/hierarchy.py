"""Products and squares that are more likely to matter where their parts do: a factor on the spike-and-slab prior.

Chipman (1996), *Bayesian variable selection with related predictors*, gives a term an inclusion probability that
depends on whether its parents are included. Here the same is a factor on the prior of the model γ,

    p(γ) ∝ p₀(γ) h(γ),   h(γ) = ∏_{t: γ_t = 1} f_t(γ),

where p₀ is the prior without it, and f_t is 1 if all parents of term t are included, ``some`` if some are and ``none``
if none is. As h is at most one and depends on γ alone, prior draws are drawn by rejection, and posterior draws without
h become draws with it when they are weighted by h.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    IntArray,
    check_number,
    shown,
)

SOME, NONE = 1.0, 0.5
"""Default factors, from a grid of 15 pairs between 0.03 and 1 on tables like those of ``python -m benchmarks.effects``,
with other seeds. Their mean log evidence is 0.2 above that without a hierarchy, as is that of (1, 0.25) and (1, 0.35);
these leave fewer effective draws, and all pairs with ``some`` below 1 have less evidence."""


@dataclass(frozen=True)
class Hierarchy:
    """Which coordinates are made of which others, and how much less likely they are to matter without these.

    Parameters
    ----------
    parents : tuple of tuples of int
        One tuple per coordinate: the coordinates that it is made of, which have no parents themselves; empty for a
        coordinate that stands for itself.
    some : float, default=1.0
        Factor on the prior odds of a coordinate some of whose parents are included.
    none : float, default=0.5
        The same if none of its parents is included.

    Examples
    --------
    Two features and their product:

    >>> hierarchy = Hierarchy(((), (), (0, 1)), some=0.5, none=0.1)
    >>> np.exp(hierarchy.log_factors(np.array([[1, 1, 1], [1, 0, 1], [0, 0, 1], [0, 0, 0]]))).round(3)
    array([1. , 0.5, 0.1, 1. ])
    """

    parents: tuple[tuple[int, ...], ...]
    some: float = SOME
    none: float = NONE

    def __post_init__(self) -> None:
        object.__setattr__(self, "parents", _check_parents(self.parents))
        for name in ("some", "none"):
            factor = check_number(name, getattr(self, name))
            if not 0.0 < factor <= 1.0:
                raise ArgumentValueError(name, "a number above 0, and at most 1", shown(factor))
            object.__setattr__(self, name, factor)

    @property
    def dimension(self) -> int:
        """Number of coordinates d."""
        return len(self.parents)

    def log_factors(self, included: NDArray[np.bool_]) -> FloatArray:
        """Return log h(γ) of each model.

        Parameters
        ----------
        included : bool array of shape (M, d)
            One model per row.

        Returns
        -------
        array of shape (M,)
        """
        rows, columns = np.nonzero(included)
        return self.of_entries(rows, columns, len(included))

    def of_entries(self, rows: IntArray, columns: IntArray, count: int) -> FloatArray:
        """Return log h(γ) of models that are given by the coordinates they include.

        Parameters
        ----------
        rows, columns : int array of shape (N,)
            Model and coordinate of each inclusion, in ascending order of both.
        count : int
            Number of models M.

        Returns
        -------
        array of shape (M,)
        """
        first, last, number = self._arrays
        terms = number[columns] > 0
        of, term = rows[terms], columns[terms]
        place = rows * self.dimension + columns
        there = [_isin(of * self.dimension + parent[term], place) for parent in (first, last)]
        found = there[0].astype(np.intp) + np.where(number[term] > 1, there[1], 0)
        logs = np.where(found == number[term], 0.0, np.where(found > 0, math.log(self.some), math.log(self.none)))
        return np.asarray(np.bincount(of, logs, count), dtype=np.float64)

    @cached_property
    def _arrays(self) -> tuple[IntArray, IntArray, IntArray]:
        """First and last parent of each coordinate (zero if there is none), and how many it has."""
        first = np.array([parents[0] if parents else 0 for parents in self.parents], dtype=np.intp)
        last = np.array([parents[-1] if parents else 0 for parents in self.parents], dtype=np.intp)
        return first, last, np.array([len(parents) for parents in self.parents], dtype=np.intp)


def _isin(wanted: IntArray, ascending: IntArray) -> Any:
    """Return whether each number is among others that ascend."""
    if not len(ascending):
        return np.zeros(len(wanted), dtype=np.bool_)
    return ascending[np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)] == wanted


def _check_parents(parents: Any) -> tuple[tuple[int, ...], ...]:
    expected = "one tuple of at most two different coordinates without parents for each coordinate"
    try:
        found = tuple(tuple(int(one) for one in several) for several in parents)
    except (TypeError, ValueError):
        raise ArgumentTypeError("parents", expected, shown(parents)) from None
    roots = {j for j, several in enumerate(found) if not several}
    if not found or any(len(several) > 2 or len({*several} & roots) < len(several) for several in found):
        raise ArgumentValueError("parents", expected, shown(parents))
    return found
