"""Items whose features depend on who is asking: a set of actions for each context.

The policy holds the items, the columns of a context, and a map from both to features. ``ask(context=user)`` makes the
rows φ(user, item) of this user, and the rule chooses among them as among any others. θ is shared by all users.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np

from sparsebandits.arguments import (
    LARGEST,
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    IntArray,
    frozen,
    shown,
)
from sparsebandits.features.encoding import Encoding
from sparsebandits.features.frame import Cell, Frame, row_of
from sparsebandits.features.maps import DEFAULT, FeatureMap, Function, Space, called, part_of
from sparsebandits.features.terms import Factors
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.naming import Naming, in_order

MOST_CONTEXTS = 1000
"""Number of contexts that are kept of a table; rows at equal distances, if it has more. All of them are encoded."""

UNKNOWN = 64
"""Number of contexts that stand for unknown ones, from which the default prior takes its scales."""

DRAWN = 500
"""Number of contexts that are drawn from a sampler."""

SAMPLED = 2_000_000
"""Largest number of cells of a sample of features, and of features that are made at once for an average (16 MB)."""

Features: TypeAlias = FeatureMap | Function | str | Sequence[str] | None

KINDS = "a table of contexts, a function that draws one, or the names of its columns"


@dataclass(frozen=True, eq=False)
class Items(ActionSet):
    """Items to choose from, and how features are made of a context and an item.

    Make it with :meth:`Items.of`; policies do so if they are given ``contexts``.

    Parameters
    ----------
    features : array of shape (K, d)
        Features of the items, averaged over the contexts.
    labels, feature_names, noise_variances, feedback : optional
        As for an ActionSet.
    table : Frame
        The items as they were given.
    contexts : Frame
        Contexts that may come.
    users, items : Encoding
        How contexts and items are encoded.
    map : FeatureMap or callable
        Makes the features.
    known : bool
        Whether the contexts are a sample of those that will come; if not, only their columns are known.
    """

    functions: ClassVar = ("map",)  # a function is saved by its name

    table: Frame = field(kw_only=True)
    contexts: Frame = field(kw_only=True)
    users: Encoding = field(kw_only=True)
    items: Encoding = field(kw_only=True)
    map: Any = field(kw_only=True)
    known: bool = field(kw_only=True, default=True)

    @classmethod
    def of(cls, items: object, contexts: object = None, features: Features = None) -> "Items":
        """Check items and contexts that a user gave.

        Parameters
        ----------
        items : DataFrame, list of dictionaries or array of shape (K, q)
            One row per item. The index of a DataFrame becomes the names of the items.
        contexts : DataFrame, list of dictionaries, array of shape (m, p), callable, or list of str
            Contexts that may come: a table, or a function that draws one with a NumPy generator. Columns of numbers are
            put in its standard units, booleans are 0 and 1, and text is one indicator per category. Units and
            categories are those of the whole table, of which at most 1,000 rows are kept. If only the names of the
            columns are given, they are numbers, which stay as they are and should be of order one.
        features : FeatureMap, callable or names of columns, optional
            How features are made: a map of :mod:`sparsebandits.features`, or a function that takes a context and an
            item, two dictionaries, and returns numbers by name. By default each column alone, and all products of a
            context's column and an item's. A function is not saved with a policy: ``load(path, function)``.

        Returns
        -------
        Items
            The items.

        Raises
        ------
        ArgumentError
            If one of them is something else, or if the map names columns that are not there.

        Examples
        --------
        >>> items = Items.of([{"price": 3.0}, {"price": 5.0}], [{"age": 20}, {"age": 60}])
        >>> items.feature_names
        ('age', 'price', 'age × price')
        >>> items.for_context({"age": 60}).features
        array([[ 1., -1., -1.],
               [ 1.,  1.,  1.]])
        """
        if isinstance(items, Items):
            if contexts is not None or features is not None:
                raise ArgumentValueError("actions", "items without contexts beside them", str(items))
            return items
        if contexts is None:
            raise ArgumentTypeError("contexts", KINDS, "None")
        table = Frame.of("actions", items, "item")
        index = getattr(items, "index", None) if hasattr(items, "columns") else None
        labels = tuple(str(label) for label in (range(len(table)) if index is None else index))
        known, whole = _contexts(contexts)
        encoded = Encoding.of(whole) if known else Encoding.plain(whole.names)  # before rows are left out
        users = whole.rows(_spread(len(whole), MOST_CONTEXTS)) if len(whole) > MOST_CONTEXTS else whole
        made: Any = features if _is_function(features) else DEFAULT if features is None else part_of(features)
        parts = {"table": table, "contexts": users, "users": encoded, "items": Encoding.of(table), "map": made}
        space = Space(parts["users"], parts["items"], labels)
        if isinstance(made, FeatureMap):
            names = made.names(space)
        else:
            names = tuple(called(made, users.rows(np.arange(1)), table, None)[1])
        if len(set(names)) < len(names):
            twice = sorted({name for name in names if names.count(name) > 1})
            raise ArgumentValueError("features", "each feature once", f"{shown(twice)} more than once")
        given = labels if index is not None else None
        empty = cls(np.zeros((len(table), len(names))), given, names, **parts, known=known)
        average = empty._average()
        if not (np.abs(average) <= LARGEST).all():
            raise ArgumentValueError("features", "finite numbers", "products that are too large")
        return replace(empty, features=frozen(average))

    def __str__(self) -> str:
        return f"{len(self)} items, {len(self.contexts.names)} columns of context, {self.dimension} features"

    def check(self) -> None:
        """Refuse parts that do not belong together, as those of a damaged file.

        Raises
        ------
        ArgumentError
            If the features are not those that the parts make.
        """
        parts = (self.table, Frame), (self.contexts, Frame), (self.users, Encoding), (self.items, Encoding)
        if not all(isinstance(part, kind) for part, kind in parts):
            raise ArgumentTypeError("actions", "items with tables and encodings", shown(self))
        if not np.allclose(self._average(), self.features, rtol=1e-9, atol=1e-9):
            raise ArgumentValueError("actions", "the features that its tables make", "others")

    @cached_property
    def space(self) -> Space:
        """Columns of contexts and items, and the names of the items."""
        return Space(self.users, self.items, self.labels or tuple(map(str, range(len(self)))))

    @cached_property
    def encoded_items(self) -> FloatArray:
        """The items as numbers, of shape (K, q)."""
        return self.items.encoded(self.table)

    @cached_property
    def factors(self) -> Factors | None:
        """The features as products of columns; None if they are not, or if a function makes them."""
        terms = self.map.terms(self.space) if isinstance(self.map, FeatureMap) else None
        return None if not terms else Factors.of(terms)

    @cached_property
    def item_factors(self) -> FloatArray:
        """The factors of the items, of shape (K, Q); only if there are any."""
        assert self.factors is not None
        return frozen(self.factors.items(self.encoded_items))

    def some_users(self, most: int) -> FloatArray:
        """Return contexts of the table, encoded: at most so many, at equal distances."""
        return self.users.encoded(self.contexts.rows(_spread(len(self.contexts), most)))

    def read(self, context: object) -> dict[str, Cell]:
        """Return a context by the names of its columns.

        Parameters
        ----------
        context : mapping, Series or sequence
            One value per column.

        Returns
        -------
        dict of str to float, bool or str

        Raises
        ------
        ArgumentError
            If columns are missing, or have text in place of numbers or the other way round.
        """
        row = row_of("context", context, self.contexts.names)
        for column in self.users.columns:
            if isinstance(row[column.name], str) == (column.levels is None):
                kind = "a number" if column.levels is None else "text"
                raise ArgumentTypeError("context", f"{kind} in the column {column.name!r}", shown(row[column.name]))
        return row

    def for_context(self, context: object) -> ActionSet:
        """Return the actions of one context.

        Parameters
        ----------
        context : mapping, Series or sequence
            One value per column of the contexts.

        Returns
        -------
        ActionSet
            One row of features per item.
        """
        return self.offered(self.read(context))

    def offered(self, row: Mapping[str, Cell]) -> ActionSet:
        """Return the actions of a context that has been read."""
        if isinstance(self.map, FeatureMap):
            with np.errstate(over="ignore", invalid="ignore"):  # such features are refused below
                features = self.map.values(self.space, self.users.encoded_row(row)[np.newaxis], self.encoded_items)[0]
        else:
            one = {name: [value] for name, value in row.items()}
            features = called(self.map, Frame.of("context", one, "user"), self.table, self.feature_names)[0][0]
        if not (np.abs(features) <= LARGEST).all():
            raise ArgumentValueError("context", "numbers whose products are finite", shown(dict(row)))
        return ActionSet(frozen(features), self.labels, self.feature_names, self.noise_variances, self.feedback)

    def sample(self) -> FloatArray:
        """Return features of items under the contexts that may come, as many as fit into memory, shape (n, d)."""
        fit = max(1, SAMPLED // self.features.size)
        return self.pairs(fit).reshape(-1, self.dimension)

    def pairs(self, most: int) -> FloatArray:
        """Return the features of all items under some contexts.

        Parameters
        ----------
        most : int
            Largest number of contexts m; they are at equal distances in the table.

        Returns
        -------
        array of shape (m, K, d)
        """
        return self._pairs(self.contexts.rows(_spread(len(self.contexts), most)))

    def pairs_of(self, users: FloatArray) -> FloatArray:
        """Return the features of all items under contexts that have been encoded.

        Parameters
        ----------
        users : array of shape (m, p)
            The contexts, of a map that is no function.

        Returns
        -------
        array of shape (m, K, d)
        """
        found: FloatArray = self.map.values(self.space, users, self.encoded_items)
        return found

    def _average(self) -> FloatArray:
        """Return the features of the items averaged over the contexts, made for a few contexts at a time."""
        total, step = np.zeros(self.features.shape), max(1, SAMPLED // self.features.size)
        for start in range(0, len(self.contexts), step):
            part = np.arange(start, min(start + step, len(self.contexts)))
            for features in self._pairs(self.contexts.rows(part)):
                total += features
        return total / len(self.contexts)

    def _pairs(self, contexts: Frame) -> FloatArray:
        if not isinstance(self.map, FeatureMap):
            return called(self.map, contexts, self.table, self.feature_names)[0]
        return self.map.values(self.space, self.users.encoded(contexts), self.encoded_items)


def rows_of(actions: ActionSet, chosen: object) -> IntArray:
    """Return the rows of some actions of a set.

    Parameters
    ----------
    actions : ActionSet
        The set.
    chosen : sequence of str or int, or of K booleans
        Names or rows of actions, each once; or whether each action is meant. A Series of booleans is matched by name.

    Returns
    -------
    int array
        Their rows, in the order of the set.

    Raises
    ------
    ArgumentError
        If there are none, or if one is not in the set or is given twice; all of these are named.

    Examples
    --------
    >>> actions = ActionSet(np.eye(3), ("tea", "milk", "juice"))
    >>> rows_of(actions, ["juice", 0]), rows_of(actions, [True, False, True])
    (array([0, 2]), array([0, 2]))
    """
    if isinstance(chosen, str | bytes | Mapping) or not hasattr(chosen, "__iter__"):
        raise ArgumentTypeError("available", "names or rows of actions, or one boolean per action", shown(chosen))
    given = list(chosen)
    if given and all(isinstance(one, bool | np.bool_) for one in given):
        flags = np.asarray(in_order("available", chosen, actions.labels), dtype=bool)
        if flags.shape != (len(actions),):
            raise ArgumentValueError("available", f"{len(actions)} booleans, one per action", f"{len(given)}")
        if not flags.any():
            raise ArgumentValueError("available", f"some of the {len(actions)} actions", "none")
        return np.flatnonzero(flags)
    naming = Naming(len(actions), actions.labels)
    rows = [naming.row(one) for one in given]
    unknown = [one for one, row in zip(given, rows, strict=True) if row is None]
    if unknown:
        raise ArgumentValueError("available", naming.expected, naming.wrong(unknown))
    if not rows or len(set(rows)) < len(rows):
        got = "an action twice" if rows else "none"
        raise ArgumentValueError("available", f"some of the {len(actions)} actions, each once", got)
    return np.array(sorted(row for row in rows if row is not None), dtype=np.intp)


def with_contexts(actions: object, contexts: object, features: Features, feedback: object = None) -> ActionSet:
    """Return the actions of a policy: items if there are contexts, else plain actions.

    Parameters
    ----------
    actions, contexts, features : object
        The arguments of these names; see :meth:`Items.of`.
    feedback : object, optional
        The argument of this name; see :meth:`ActionSet.with_feedback`.

    Returns
    -------
    ActionSet or Items

    Raises
    ------
    ArgumentError
        If they are not what they should be, or if features are declared without contexts.
    """
    if contexts is None and features is not None:
        raise ArgumentValueError("features", "none without contexts", shown(features))
    found = ActionSet.of(actions) if contexts is None else Items.of(actions, contexts, features)
    return found if feedback is None else found.with_feedback(feedback)


def _contexts(contexts: object) -> tuple[bool, Frame]:
    """Return whether contexts are known, and a table of them; if there are names only, of standard normal numbers."""
    if _is_function(contexts):
        draw: Callable[..., Any] = contexts  # type: ignore[assignment]
        rng = np.random.default_rng(0)
        return True, Frame.of("contexts", [draw(rng) for _ in range(DRAWN)], "user")
    if isinstance(contexts, list | tuple) and contexts and all(isinstance(one, str) for one in contexts):
        if len(set(contexts)) < len(contexts):
            raise ArgumentValueError("contexts", "a different name for every column", shown(contexts))
        numbers = np.random.default_rng(0).standard_normal((len(contexts), UNKNOWN))
        return False, Frame(tuple(contexts), tuple(frozen(one) for one in numbers))
    return True, Frame.of("contexts", contexts, "user")


def _is_function(value: object) -> bool:
    return callable(value) and not isinstance(value, FeatureMap | type)


def _spread(count: int, most: int) -> IntArray:
    """Return the numbers of rows at equal distances, at most so many."""
    return np.arange(count) if count <= most else np.linspace(0, count - 1, most).round().astype(np.intp)
