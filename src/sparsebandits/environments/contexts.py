"""Contexts: what is known about the user of a round, and the features of actions that follow from it.

In round t a user with features u arrives, and one of K items is chosen, of which item a has features v_a. The features
of action a are all products of the two: column k p + j is v_ak u_j, so the columns are q blocks of p, and block k is
v_ak u. If the items are the rows of an identity matrix, action a has u in block a and zeros elsewhere: each item has
coefficients of its own.
"""

from collections.abc import Callable, Sequence

import numpy as np

from sparsebandits.arguments import ArgumentValueError, FloatArray, check_count, check_matrix, check_vector, frozen


class Contexts:
    """The users of all rounds and the items to choose from; neither depends on what is chosen.

    Parameters
    ----------
    draw : callable
        ``draw(t)`` returns the context of round t, always the same, shape ``(p,)``. It is called whenever a context is
        needed, so that memory does not grow with the number of rounds.
    names : sequence of str
        Names of the p features of a context.
    items : array of shape (K, q)
        One row per item.
    item_names : sequence of str, optional
        Names of the K items; by default ``"item 0"``, ``"item 1"``, and so on.
    item_features : sequence of str, optional
        Names of the q features of an item; by default ``"item feature 0"``, and so on.

    Attributes
    ----------
    names, item_names, item_features : tuple of str
        The names.
    items : array of shape (K, q)
        The items.

    Examples
    --------
    >>> contexts = Contexts(lambda t: np.array([1.0, t]), ["constant", "time"], np.eye(2), ["a", "b"], ["a", "b"])
    >>> contexts.rows(3)
    array([[1., 0.],
           [1., 1.],
           [1., 2.]])
    >>> contexts.actions(2)
    array([[1., 2., 0., 0.],
           [0., 0., 1., 2.]])
    >>> contexts.feature_names
    ('constant × a', 'time × a', 'constant × b', 'time × b')
    """

    def __init__(
        self,
        draw: Callable[[int], FloatArray],
        names: Sequence[str],
        items: object,
        item_names: Sequence[str] | None = None,
        item_features: Sequence[str] | None = None,
    ) -> None:
        self._draw = draw
        self.names = tuple(names)
        self.items: FloatArray = frozen(check_matrix("items", items).copy())
        count, width = self.items.shape
        self.item_names = _named("item_names", item_names, "item", count)
        self.item_features = _named("item_features", item_features, "item feature", width)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.names)} features of a context, {len(self.items)} items)"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns of ``actions``, d = p q of them."""
        return tuple([f"{name} × {feature}" for feature in self.item_features for name in self.names])

    def row(self, round_number: int) -> FloatArray:
        """Return the context of one round.

        Parameters
        ----------
        round_number : int
            The round, counted from 0.

        Returns
        -------
        array of shape (p,)
        """
        number = check_count("round_number", round_number, least=0)
        return check_vector("context", self._draw(number), len(self.names))

    def rows(self, rounds: int, first: int = 0) -> FloatArray:
        """Return the contexts of several rounds in succession.

        Parameters
        ----------
        rounds : int
            Number of rounds.
        first : int, default=0
            The first of them.

        Returns
        -------
        array of shape (rounds, p)
        """
        start = check_count("first", first, least=0)
        return np.array([self.row(start + t) for t in range(check_count("rounds", rounds))])

    def actions(self, round_number: int) -> FloatArray:
        """Return the features of all actions in one round: the products of context and items.

        Parameters
        ----------
        round_number : int
            The round, counted from 0.

        Returns
        -------
        array of shape (K, d)
            One row per item, d = p q.
        """
        return products(self.row(round_number), self.items)


def products(context: FloatArray, items: FloatArray) -> FloatArray:
    """Return the products of the features of a context with those of each item.

    Parameters
    ----------
    context : array of shape (p,)
        u.
    items : array of shape (K, q)
        v_1, …, v_K, one per row.

    Returns
    -------
    array of shape (K, p q)
        Column k p + j of row a is v_ak u_j.
    """
    return (items[:, :, np.newaxis] * context).reshape(len(items), -1)


def _named(argument: str, names: Sequence[str] | None, word: str, count: int) -> tuple[str, ...]:
    """Return the names that were given, or default ones."""
    if names is None:
        return tuple([f"{word} {number}" for number in range(count)])
    if len(names) != count:
        raise ArgumentValueError(argument, f"{count} names", f"{len(names)}")
    return tuple(names)
