"""Actions of many contexts as one list of features, and what is computed from them for all contexts at once.

``products.py`` has the same for features that are products of a user's and an item's factor, without a list of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise

import numpy as np
from numpy.random import PCG64, Generator
from numpy.typing import NDArray

from sparsebandits.arguments import FloatArray, IntArray
from sparsebandits.posteriors.rows import Rows
from sparsebandits.rules.optima import power_above, sums_of_bits, tied

SMALL = 10_000_000
"""Number of products N d² above which quadratic forms are in single precision."""


@dataclass(frozen=True, eq=False)
class Listed:
    """Actions of several contexts.

    Parameters
    ----------
    features : array of shape (N, d)
        Features of the actions of all contexts, one after another.
    starts : int array of shape (m + 1,)
        Where the actions of each context start.
    """

    features: FloatArray
    starts: IntArray

    def take(self, contexts: Sequence[int] | IntArray) -> "Listed":
        """Return some of the contexts."""
        rows = np.concatenate([np.arange(self.starts[one], self.starts[one + 1]) for one in contexts])
        sizes = np.diff(self.starts)[contexts]
        return Listed(np.ascontiguousarray(self.features[rows]), np.concatenate(([0], np.cumsum(sizes))))

    @cached_property
    def keys(self) -> list[bytes]:
        """One key per context, which is that of another context if both have the same features; −0 is 0."""
        bounds = pairwise(self.starts.tolist())
        return [blake2b((self.features[a:b] + 0.0).tobytes(), digest_size=16).digest() for a, b in bounds]

    def find(self, actions: FloatArray) -> int | None:
        """Return the context that has exactly these actions of shape (K, d); None if there is none."""
        first = self.starts[:-1]
        alike = np.diff(self.starts) == len(actions)
        alike[alike] = (self.features[first[alike]] == actions[0]).all(axis=1)
        for context in np.flatnonzero(alike).tolist():
            if np.array_equal(self.features[self.starts[context] : self.starts[context + 1]], actions):
                return int(context)
        return None

    @cached_property
    def reach(self) -> FloatArray:
        """Largest absolute value of each feature."""
        return np.asarray(np.abs(self.features).max(axis=0))

    def expected(self, mean: FloatArray) -> FloatArray:
        """Return ⟨φ, E θ⟩ of all actions, shape (N,)."""
        return np.asarray(self.features @ mean)

    def scores(self, theta: FloatArray, context: int) -> FloatArray:
        """Return ⟨φ, θ⟩ of the actions of a context under draws of shape (M, d), shape (M, K)."""
        return np.asarray(theta @ self.features[self.starts[context] : self.starts[context + 1]].T)

    def forms(self, spread: FloatArray, centre: FloatArray | None) -> FloatArray:
        """Return (φ − c)' V (φ − c) of all actions, shape (N,); see :func:`quadratic_forms`."""
        large = self.features.size * len(spread) > SMALL
        return quadratic_forms(self._single if large else self.features, spread, centre)

    @cached_property
    def _single(self) -> FloatArray:
        return self.features.astype(np.float32)

    @cached_property
    def addresses(self) -> NDArray[np.uint64]:
        """Random numbers of the actions of a context, whose sums identify a set of them."""
        return Generator(PCG64(0)).integers(1, 2**63, int(np.diff(self.starts).max()), dtype=np.uint64)

    def bits(self, rows: IntArray) -> NDArray[np.uint64]:
        """Return numbers of some actions that depend on their features alone."""
        return sums_of_bits(self.features[rows])

    @cached_property
    def _columns(self) -> tuple[FloatArray, FloatArray]:
        """The features in single precision, one row per feature, in units by which none is above one; the units."""
        units = np.array([power_above(one) for one in self.reach.tolist()])
        return np.ascontiguousarray((self.features / units).T, dtype=np.float32), units

    def best(self, draws: Rows) -> tuple[IntArray, FloatArray, NDArray[np.uint64]]:
        """Return the best action of each context under each draw, its value, and keys of sets that tie.

        Parameters
        ----------
        draws : Rows
            The draws.

        Returns
        -------
        action, value, keys : arrays of shape (m, M)
            Number of the action in its context, ⟨φ, θ⟩, and a number of the set of best actions if there are several,
            else zero.
        """
        from sparsebandits.posteriors.kernels.contexts import best_of_contexts  # compiled code, as elsewhere

        given = *self._columns, self.features, self.starts, self.addresses
        action, value, keys = best_of_contexts(*draws.arrays, *given)
        return action, value, keys

    def tied(self, theta: FloatArray, contexts: IntArray) -> list[IntArray]:
        """Return the actions that are the best of a context under a draw.

        Parameters
        ----------
        theta : array of shape (E, d)
            The draws.
        contexts : int array of shape (E,)
            A context for each.

        Returns
        -------
        list of int arrays
            Numbers among all actions.
        """
        terms = np.abs(theta) @ self.reach
        found = []
        for draw, size, context in zip(theta, terms.tolist(), contexts.tolist(), strict=True):
            begin, end = int(self.starts[context]), int(self.starts[context + 1])
            found.append(begin + np.flatnonzero(tied(self.features[begin:end] @ draw, size)))
        return found


def quadratic_forms(features: FloatArray, spread: FloatArray, centre: FloatArray | None) -> FloatArray:
    """Return (φ − c)' V (φ − c) of each row φ, in the precision of the rows.

    Parameters
    ----------
    features : array of shape (N, d)
        The rows.
    spread : array of shape (d, d)
        V.
    centre : array of shape (d,) or None
        c; zero if None.

    Returns
    -------
    array of shape (N,)
        At least zero.
    """
    found: FloatArray = np.einsum("ij,ij->i", features @ spread.astype(features.dtype), features).astype(np.float64)
    if centre is not None:
        along = spread @ centre
        found += centre @ along - 2.0 * (features @ along.astype(features.dtype))
    return np.maximum(found, 0.0)
