"""Maps from a user and the items to one row of features per item: declared parts, or a function of one's own.

    user("age")            the user's column, the same for all items
    item("premium")        the item's column
    cross(a, b)            all products of one feature of a and one of b: "age × premium"
    per_item(a)            the features of a once for each item, zero for all others: "age for C15"
    concat(a, b, …)        side by side

Encoded users are (m, p), encoded items (K, q), and the features of all pairs (m, K, d): so one pass serves one user as
well as all users of a table.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from sparsebandits.arguments import ArgumentTypeError, ArgumentValueError, FloatArray, check_number, shown
from sparsebandits.features.encoding import Encoding
from sparsebandits.features.frame import Frame
from sparsebandits.features.terms import Term

TIMES = " × "


@dataclass(frozen=True, eq=False)
class Space:
    """What maps are made of: the columns of users and items, and the names of the items.

    Parameters
    ----------
    users, items : Encoding
        How users and items are encoded.
    labels : tuple of str
        Names of the items.
    """

    users: Encoding
    items: Encoding
    labels: tuple[str, ...]


class FeatureMap(ABC):
    """A map from users and items to features. Parts of maps are maps."""

    def names(self, space: Space) -> tuple[str, ...]:
        """Return the names of the features, which a person can read.

        Parameters
        ----------
        space : Space
            Columns of users and items.

        Returns
        -------
        tuple of str

        Raises
        ------
        ArgumentValueError
            If the map names a column that is not there.
        """
        return self._names(space)

    def values(self, space: Space, users: FloatArray, items: FloatArray) -> FloatArray:
        """Return the features of all pairs.

        Parameters
        ----------
        space : Space
            Columns of users and items.
        users : array of shape (m, p)
            Encoded users.
        items : array of shape (K, q)
            Encoded items.

        Returns
        -------
        array of shape (m, K, d)
        """
        return self._values(space, users, items)

    def terms(self, space: Space) -> list[Term] | None:
        """Return each feature as a product of a column of the user and one of the item.

        Parameters
        ----------
        space : Space
            Columns of users and items.

        Returns
        -------
        list of Term or None
            None if one of the features is no such product.
        """
        return None

    @abstractmethod
    def _names(self, space: Space) -> tuple[str, ...]: ...

    @abstractmethod
    def _values(self, space: Space, users: FloatArray, items: FloatArray) -> FloatArray: ...


Function: TypeAlias = Callable[[Any, Any], Mapping[str, float]]
Part: TypeAlias = FeatureMap | str | Sequence[str]


@dataclass(frozen=True)
class User(FeatureMap):
    """Columns of the user.

    Parameters
    ----------
    columns : tuple of str, optional
        Names of the columns; by default all.
    """

    columns: tuple[str, ...] | None = None

    def _names(self, space: Space) -> tuple[str, ...]:
        return _named("user", self.columns, space.users, space.items)

    def _values(self, space: Space, users: FloatArray, items: FloatArray) -> FloatArray:
        own = users[:, _places(self.columns, space.users)]
        return np.repeat(own[:, np.newaxis, :], len(items), axis=1)

    def terms(self, space: Space) -> list[Term] | None:
        """Return the columns."""
        return [Term(user=column) for column in _places(self.columns, space.users)]


@dataclass(frozen=True)
class Item(FeatureMap):
    """Columns of the items.

    Parameters
    ----------
    columns : tuple of str, optional
        Names of the columns; by default all.
    """

    columns: tuple[str, ...] | None = None

    def _names(self, space: Space) -> tuple[str, ...]:
        return _named("item", self.columns, space.items, space.users)

    def _values(self, space: Space, users: FloatArray, items: FloatArray) -> FloatArray:
        own = items[:, _places(self.columns, space.items)]
        return np.repeat(own[np.newaxis, :, :], len(users), axis=0)

    def terms(self, space: Space) -> list[Term] | None:
        """Return the columns."""
        return [Term(column=column) for column in _places(self.columns, space.items)]


@dataclass(frozen=True)
class Columns(FeatureMap):
    """Columns by name, of the user or of the items, whichever has them.

    Parameters
    ----------
    columns : tuple of str
        Their names.
    """

    columns: tuple[str, ...]

    def _parts(self, space: Space) -> list[FeatureMap]:
        for one in self.columns:
            found = [whose for whose, of in (("user", space.users), ("item", space.items)) if one in of.sources]
            if len(found) != 1:
                got = f"{one!r}, which both have: say user({one!r}) or item({one!r})" if found else repr(one)
                known = dict.fromkeys((*space.users.sources, *space.items.sources))
                raise ArgumentValueError("features", f"columns of users or items ({', '.join(known)})", got)
        return [User((one,)) if one in space.users.sources else Item((one,)) for one in self.columns]

    def _names(self, space: Space) -> tuple[str, ...]:
        return tuple(name for part in self._parts(space) for name in part.names(space))

    def _values(self, space: Space, users: FloatArray, items: FloatArray) -> FloatArray:
        return np.concatenate([part.values(space, users, items) for part in self._parts(space)], axis=2)

    def terms(self, space: Space) -> list[Term] | None:
        """Return the columns."""
        return _joined(self._parts(space), space)


@dataclass(frozen=True)
class Cross(FeatureMap):
    """All products of one feature of each of two maps.

    Parameters
    ----------
    left, right : FeatureMap
        The maps.
    """

    left: FeatureMap
    right: FeatureMap

    def _names(self, space: Space) -> tuple[str, ...]:
        right = self.right.names(space)
        return tuple(f"{one}{TIMES}{other}" for one in self.left.names(space) for other in right)

    def _values(self, space: Space, users: FloatArray, items: FloatArray) -> FloatArray:
        left, right = (part.values(space, users, items) for part in (self.left, self.right))
        return (left[..., :, np.newaxis] * right[..., np.newaxis, :]).reshape(len(users), len(items), -1)

    def terms(self, space: Space) -> list[Term] | None:
        """Return the products, if no two columns of the user, or of the item, are multiplied."""
        left, right = self.left.terms(space), self.right.terms(space)
        if left is None or right is None:
            return None
        found = [one.times(other) for one in left for other in right]
        known = [one for one in found if one is not None]
        return known if len(known) == len(found) else None


@dataclass(frozen=True)
class PerItem(FeatureMap):
    """The features of a map once for each item: items have parameters of their own.

    Parameters
    ----------
    inner : FeatureMap
        The map.
    """

    inner: FeatureMap

    def _names(self, space: Space) -> tuple[str, ...]:
        inner = self.inner.names(space)
        return tuple(f"{name} for {label}" for label in space.labels for name in (*inner, "level"))

    def _values(self, space: Space, users: FloatArray, items: FloatArray) -> FloatArray:
        inner = self.inner.values(space, users, items)
        own = np.concatenate((inner, np.ones((len(users), len(items), 1))), axis=2)
        found = np.zeros((len(users), len(items), len(items), own.shape[2]))
        each = np.arange(len(items))
        found[:, each, each] = own
        return found.reshape(len(users), len(items), -1)

    def terms(self, space: Space) -> list[Term] | None:
        """Return the terms of the map and the level, once for each item."""
        inner = self.inner.terms(space)
        if inner is None or any(one.item is not None for one in inner):
            return None
        return [one._replace(item=item) for item in range(len(space.labels)) for one in (*inner, Term())]


@dataclass(frozen=True)
class Concat(FeatureMap):
    """The features of several maps side by side.

    Parameters
    ----------
    parts : tuple of FeatureMap
        The maps.
    """

    parts: tuple[FeatureMap, ...]

    def _names(self, space: Space) -> tuple[str, ...]:
        return tuple(name for part in self.parts for name in part.names(space))

    def _values(self, space: Space, users: FloatArray, items: FloatArray) -> FloatArray:
        return np.concatenate([part.values(space, users, items) for part in self.parts], axis=2)

    def terms(self, space: Space) -> list[Term] | None:
        """Return the terms of all maps."""
        return _joined(self.parts, space)


def user(*columns: str) -> User:
    """Return a map to columns of the user, by default all.

    Parameters
    ----------
    *columns : str
        Their names.

    Returns
    -------
    User
    """
    return User(columns or None)


def item(*columns: str) -> Item:
    """Return a map to columns of the items, by default all.

    Parameters
    ----------
    *columns : str
        Their names.

    Returns
    -------
    Item
    """
    return Item(columns or None)


def cross(left: Part | None = None, right: Part | None = None) -> Cross:
    """Return a map to all products of one feature of each of two maps.

    Parameters
    ----------
    left, right : FeatureMap, str or sequence of str, optional
        The maps, or names of columns; by default all columns of the user and all of the items.

    Returns
    -------
    Cross

    Examples
    --------
    >>> cross("age", "premium")
    Cross(left=Columns(columns=('age',)), right=Columns(columns=('premium',)))
    """
    return Cross(User() if left is None else part_of(left), Item() if right is None else part_of(right))


def per_item(inner: Part | None = None) -> PerItem:
    """Return a map to parameters of each item's own: the features of a map, and a level, once for each item.

    Parameters
    ----------
    inner : FeatureMap, str or sequence of str, optional
        The map, or names of columns; by default all columns of the user.

    Returns
    -------
    PerItem
    """
    return PerItem(User() if inner is None else part_of(inner))


def concat(*parts: Part) -> Concat:
    """Return a map to the features of several maps side by side.

    Parameters
    ----------
    *parts : FeatureMap, str or sequence of str
        The maps, or names of columns; at least one.

    Returns
    -------
    Concat
    """
    if not parts:
        raise ArgumentValueError("parts", "at least one map", "none")
    return Concat(tuple(part_of(part) for part in parts))


DEFAULT = Concat((User(), Item(), Cross(User(), Item())))
"""Each column alone, and all products of a user's column and an item's."""


def part_of(part: object) -> FeatureMap:
    """Return a part of a map; names of columns are one.

    Parameters
    ----------
    part : FeatureMap, str or sequence of str
        The part.

    Returns
    -------
    FeatureMap

    Raises
    ------
    ArgumentTypeError
        If it is something else.
    """
    if isinstance(part, FeatureMap):
        return part
    names = (part,) if isinstance(part, str) else part
    if not isinstance(names, list | tuple) or not names or not all(isinstance(one, str) for one in names):
        expected = 'a map such as sb.features.cross("age", "price"), or names of columns'
        alone = "; a function makes all features, and is not a part of a map" if callable(part) else ""
        raise ArgumentTypeError("features", expected, f"{shown(part)}{alone}")
    return Columns(tuple(names))


def called(function: Function, users: Frame, items: Frame, names: Sequence[str] | None) -> tuple[FloatArray, list[str]]:
    """Return what a function of the user's own says of all pairs, and the names of its features.

    Parameters
    ----------
    function : callable
        Takes a user and an item, each a dictionary of its columns as they are, and returns numbers by name.
    users, items : Frame
        The users and the items.
    names : sequence of str or None
        Names of the features, if they are known.

    Returns
    -------
    values, names : array of shape (m, K, d), list of str
        The features and their names.

    Raises
    ------
    ArgumentError
        If it returns something else, or other names for another pair.
    """
    offered, found = [items.row(row) for row in range(len(items))], []
    for number in range(len(users)):
        user_row = users.row(number)
        for one in offered:
            pair = function(dict(user_row), dict(one))
            if not isinstance(pair, Mapping) or not pair:
                raise ArgumentTypeError("features", "a function that returns numbers by name", shown(pair))
            names = [str(name) for name in pair] if names is None else names
            if list(map(str, pair)) != list(names):
                raise ArgumentValueError("features", f"a function that returns {', '.join(names)}", shown(list(pair)))
            found.append([_number(f"features, {name!r}", value) for name, value in pair.items()])
    assert names is not None
    return np.array(found).reshape(len(users), len(items), -1), list(names)


def _joined(parts: Sequence[FeatureMap], space: Space) -> list[Term] | None:
    """Return the terms of several maps; None if one has none."""
    found: list[Term] = []
    for part in parts:
        terms = part.terms(space)
        if terms is None:
            return None
        found += terms
    return found


def _number(name: str, value: object) -> float:
    """Return a number; a boolean counts as 0 or 1."""
    return check_number(name, float(value) if isinstance(value, bool | np.bool_) else value)


def _named(whose: str, columns: tuple[str, ...] | None, own: Encoding, other: Encoding) -> tuple[str, ...]:
    """Return the names of columns; those that users and items both have say whose they are."""
    unknown = [one for one in columns or () if one not in own.sources]
    if unknown:
        known = ", ".join(dict.fromkeys(own.sources))
        raise ArgumentValueError("features", f"columns of the {whose} ({known})", ", ".join(map(repr, unknown)))
    found = ((own.names[j], own.sources[j]) for j in _places(columns, own))
    return tuple(f"{whose} {name}" if source in other.sources else name for name, source in found)


def _places(columns: tuple[str, ...] | None, encoding: Encoding) -> list[int]:
    return [j for j, source in enumerate(encoding.sources) if columns is None or source in columns]
