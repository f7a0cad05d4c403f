"""Features that are a product of one column of the user and one of the item, as those of most maps are.

Column c of the users times column b of the items; a feature of the user alone has no column of the item, and the other
way round; a feature that only one item has is zero for all others. So φ(s, a)_j = u(s)_α(j) i(a)_β(j), and sums over
all pairs of users and items need no array of all their features.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sparsebandits.arguments import FloatArray, IntArray


class Term(NamedTuple):
    """A feature as a product; what is None is one.

    Attributes
    ----------
    user, column : int or None
        Encoded column of the user, and of the item.
    item : int or None
        The item that alone has the feature.
    """

    user: int | None = None
    column: int | None = None
    item: int | None = None

    def times(self, other: "Term") -> "Term | None":
        """Return the product of two; None if it is no such product."""
        found = []
        for one, two in zip(self, other, strict=True):
            if one is not None and two is not None:
                return None
            found.append(two if one is None else one)
        return Term(*found)


@dataclass(frozen=True, eq=False)
class Factors:
    """The distinct factors of the features of a map, and which of them each feature has.

    Parameters
    ----------
    of_user, of_item : int arrays of shape (d,)
        α and β: the factor of the user, and of the item, of each feature.
    user_columns : tuple
        The factors of the user: an encoded column, or None for one.
    item_columns : tuple
        Those of the item: an encoded column, and the only item that has it; None for one, and for all items.
    """

    of_user: IntArray
    of_item: IntArray
    user_columns: tuple[int | None, ...]
    item_columns: tuple[tuple[int | None, int | None], ...]

    @classmethod
    def of(cls, terms: Sequence[Term]) -> "Factors":
        """Return the factors of some features.

        Parameters
        ----------
        terms : sequence of Term
            The features.

        Returns
        -------
        Factors

        Examples
        --------
        >>> found = Factors.of([Term(user=0), Term(user=0, column=1)])
        >>> found.of_user, found.of_item, found.item_columns
        (array([0, 0]), array([0, 1]), ((None, None), (1, None)))
        """
        users = {one: place for place, one in enumerate(dict.fromkeys(term.user for term in terms))}
        items = {one: place for place, one in enumerate(dict.fromkeys(term[1:] for term in terms))}
        of_user = np.array([users[term.user] for term in terms], dtype=np.intp)
        of_item = np.array([items[term[1:]] for term in terms], dtype=np.intp)
        return cls(of_user, of_item, tuple(users), tuple(items))

    def users(self, encoded: FloatArray) -> FloatArray:
        """Return the factors of encoded users of shape (m, p), one column per factor."""
        found = np.ones((len(encoded), len(self.user_columns)))
        for place, column in enumerate(self.user_columns):
            if column is not None:
                found[:, place] = encoded[:, column]
        return found

    def items(self, encoded: FloatArray) -> FloatArray:
        """Return the factors of all items, encoded in an array of shape (K, q), one column per factor."""
        found = np.ones((len(encoded), len(self.item_columns)))
        for place, (column, item) in enumerate(self.item_columns):
            if column is not None:
                found[:, place] = encoded[:, column]
            if item is not None:
                found[np.arange(len(encoded)) != item, place] = 0.0
        return found
