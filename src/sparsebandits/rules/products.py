"""Actions of many contexts whose features are products: φ(s, a)_j = u(s)_α(j) i(a)_β(j), less an origin.

Users have P factors and items Q, such as 20 and 10 columns whose 200 products are the features. Then sums over all m
contexts and K items need neither all m K d features nor, for quadratic forms, m K d² products:

    φ'Vφ = u' W(a) u,   W(a)_{αα'} = Σ_{jk: α(j) = α, α(k) = α'} V_jk i(a)_β(j) i(a)_β(k).

What is the same for all actions of all contexts, ⟨origin, θ⟩, is left out of mean rewards: it adds nothing to regret.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.random import PCG64, Generator
from numpy.typing import NDArray

from sparsebandits.arguments import FloatArray, IntArray
from sparsebandits.posteriors.rows import Rows
from sparsebandits.rules.optima import power_above, sums_of_bits, tied

CELLS = 2_000_000
"""Number of cells of the forms of items that are made at once (16 MB)."""

BLOCK = 200_000
"""Number of cells of features that are made at once where all of them are gone through."""


@dataclass(frozen=True, eq=False)
class Products:
    """Actions of several contexts, all of which have the same items.

    Parameters
    ----------
    users : array of shape (m, P)
        Factors of each context.
    items : array of shape (K, Q)
        Factors of each item.
    of_user, of_item : int arrays of shape (d,)
        α and β: which factors are those of each feature.
    origin : array of shape (d,), optional
        What features are relative to.
    """

    users: FloatArray
    items: FloatArray
    of_user: IntArray
    of_item: IntArray
    origin: FloatArray | None = None

    def take(self, contexts: Sequence[int] | IntArray) -> "Products":
        """Return some of the contexts."""
        return Products(self.users[contexts], self.items, self.of_user, self.of_item, self.origin)

    @cached_property
    def starts(self) -> IntArray:
        """Where the actions of each context start, shape (m + 1,)."""
        return len(self.items) * np.arange(len(self.users) + 1)

    @cached_property
    def of_users(self) -> FloatArray:
        """The user's factor of each feature, shape (m, d)."""
        return self.users[:, self.of_user]

    @cached_property
    def of_items(self) -> FloatArray:
        """The item's factor of each feature, shape (K, d)."""
        return self.items[:, self.of_item]

    def rows(self, numbers: IntArray) -> FloatArray:
        """Return the features of some actions, by their numbers among all."""
        context, item = np.divmod(numbers, len(self.items))
        found = self.of_users[context] * self.of_items[item]
        return found if self.origin is None else found - self.origin

    @cached_property
    def features(self) -> FloatArray:
        """The features of all actions, shape (N, d)."""
        return self._block(0, len(self.users))

    def _block(self, start: int, count: int) -> FloatArray:
        """Return the features of all actions of some contexts."""
        some = self.of_users[start : start + count]
        found = (some[:, np.newaxis] * self.of_items).reshape(-1, len(self.of_user))
        return found if self.origin is None else found - self.origin

    @cached_property
    def keys(self) -> list[bytes]:
        """One key per context, which is that of another context if both have the same factors that matter; −0 is 0."""
        matter = np.unique(self.of_user[(self.of_items != 0.0).any(axis=0)])
        return [row.tobytes() for row in self.users[:, matter] + 0.0]

    def find(self, actions: FloatArray) -> int | None:
        """Return the context that has exactly these actions of shape (K, d); None if there is none."""
        if len(actions) != len(self.items):
            return None
        alike = (self.rows(self.starts[:-1]) == actions[0]).all(axis=1)
        for context in np.flatnonzero(alike).tolist():
            if np.array_equal(self._block(context, 1), actions):
                return int(context)
        return None

    @cached_property
    def reach(self) -> FloatArray:
        """Largest absolute value of each product."""
        return np.asarray(np.abs(self.of_users).max(axis=0) * np.abs(self.of_items).max(axis=0))

    def expected(self, mean: FloatArray) -> FloatArray:
        """Return ⟨φ, E θ⟩ of all actions, shape (N,), less ⟨origin, E θ⟩."""
        return np.asarray((self.of_users * mean) @ self.of_items.T).reshape(-1)

    def scores(self, theta: FloatArray, context: int) -> FloatArray:
        """Return ⟨φ, θ⟩ of all items in a context under draws of shape (M, d), shape (M, K), less ⟨origin, θ⟩."""
        return np.asarray((theta * self.of_users[context]) @ self.of_items.T)

    @cached_property
    def _order(self) -> IntArray:
        """The features by their factor of the item."""
        return np.argsort(self.of_item, kind="stable")

    def forms(self, spread: FloatArray, centre: FloatArray | None) -> FloatArray:
        """Return (φ − c)' V (φ − c) of all actions.

        Parameters
        ----------
        spread : array of shape (d, d)
            V.
        centre : array of shape (d,) or None
            c; zero if None.

        Returns
        -------
        array of shape (N,)
            At least zero.
        """
        from sparsebandits.posteriors.kernels.contexts import forms_of_items

        factors, count = self.users.shape[1], len(self.items)
        found = np.empty((len(self.users), count))
        step = max(1, CELLS // (factors * max(factors, len(self.users))))
        for start in range(0, count, step):
            own = self.of_items[start : start + step]
            forms = np.zeros((factors, len(own), factors))
            forms_of_items(spread, self.of_user, self._order, own, forms)
            along = (self.users @ forms.reshape(factors, -1)).reshape(len(self.users), len(own), factors)
            found[:, start : start + step] = np.einsum("sap,sp->sa", along, self.users)
        parts = [one for one in (self.origin, centre) if one is not None]
        if parts:
            shift = sum(parts[1:], parts[0])
            along = spread @ shift
            found += shift @ along - 2.0 * self.expected(along).reshape(found.shape)
        return np.maximum(found, 0.0).reshape(-1)

    @cached_property
    def addresses(self) -> NDArray[np.uint64]:
        """Random numbers of the items, whose sums identify a set of them."""
        return Generator(PCG64(0)).integers(1, 2**63, len(self.items), dtype=np.uint64)

    def bits(self, rows: IntArray) -> NDArray[np.uint64]:
        """Return numbers of some actions that depend on their features alone."""
        return self._all_bits[rows] if 2 * len(rows) > self.starts[-1] else sums_of_bits(self.rows(rows))

    @cached_property
    def _all_bits(self) -> NDArray[np.uint64]:
        """The numbers of all actions, made for a few contexts at a time, which stay in the cache."""
        step = max(1, BLOCK // self.of_items.size)
        return np.concatenate([sums_of_bits(self._block(start, step)) for start in range(0, len(self.users), step)])

    def best(self, draws: Rows) -> tuple[IntArray, FloatArray, NDArray[np.uint64]]:
        """Return the best action of each context under each draw, its value, and keys of sets that tie.

        Parameters
        ----------
        draws : Rows
            The draws.

        Returns
        -------
        action, value, keys : arrays of shape (m, M)
            As those of a list of actions; values are less ⟨origin, θ⟩.
        """
        from sparsebandits.posteriors.kernels.contexts import best_of_products  # compiled code, as elsewhere

        users, items = np.array(self.users.T, order="C"), np.array(self.items)
        (single_users, of_users), (single_items, of_items) = _in_units(users, 1), _in_units(items, 0)
        units = (of_users.T[:, self.of_user] * of_items[:, self.of_item])[0]
        given = self.of_user, self.of_item, units, single_users, single_items, users, items, self.addresses
        action, value, keys = best_of_products(*draws.arrays, *given)
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
        along = theta * self.of_users[contexts]
        terms = np.abs(along) @ np.abs(self.of_items).max(axis=0)
        best = tied(along @ self.of_items.T, terms[:, np.newaxis])
        return [begin + np.flatnonzero(one) for begin, one in zip(self.starts[contexts].tolist(), best, strict=True)]


def _in_units(factors: FloatArray, axis: int) -> tuple[FloatArray, FloatArray]:
    """Return factors in single precision, in units by which none along an axis is above one, and the units."""
    most = np.abs(factors).max(axis=axis, keepdims=True)
    units = np.array([power_above(one) for one in most.ravel().tolist()]).reshape(most.shape)
    return (factors / units).astype(np.float32), units
