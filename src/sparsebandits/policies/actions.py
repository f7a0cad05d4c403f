"""Sets of actions: one row per action and one column per feature, with the user's names for them."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    BoolArray,
    FloatArray,
    IntArray,
    check_columns,
    check_count,
    check_matrix,
    check_positive,
    check_vector,
    column_order,
    frozen,
    shown,
)
from sparsebandits.model.monitoring import Game
from sparsebandits.policies.feedback import graph_of
from sparsebandits.policies.naming import in_order

OF_ROWS = "one number per row of actions, as for the policy's own"


@dataclass(frozen=True, eq=False)
class ActionSet:
    """A set of actions that are rows of a matrix.

    Parameters
    ----------
    features : array of shape (K, d)
        One row per action; made read-only.
    labels : tuple of str, optional
        Names of the rows.
    feature_names : tuple of str, optional
        Names of the columns.
    noise_variances : array of shape (K,), optional
        Noise variance of each action's reward, where they differ and are known.
    feedback : bool array of shape (K, K), optional
        Whether playing the action of the row shows the reward of the action of the column; by default each action shows
        its own reward, and only that.
    """

    features: FloatArray
    labels: tuple[str, ...] | None = None
    feature_names: tuple[str, ...] | None = None
    noise_variances: FloatArray | None = None
    feedback: BoolArray | None = None

    @classmethod
    def of(cls, actions: object) -> "ActionSet":
        """Check actions that a user gave, and copy them; an ActionSet is taken as it is.

        Parameters
        ----------
        actions : array or DataFrame of shape (K, d), or ActionSet
            One row per action. The index and columns of a DataFrame become labels and feature names.

        Returns
        -------
        ActionSet
            The actions.

        Raises
        ------
        ArgumentError
            If it is not a matrix of finite numbers.
        """
        if isinstance(actions, ActionSet):
            return actions
        if isinstance(actions, Game):
            raise ArgumentTypeError("actions", "one row per action that shows its own reward", repr(actions))
        if isinstance(actions, int):
            got = f"{shown(actions)}; a dimension is for policies that play the whole cube or ball"
            raise ArgumentTypeError("actions", "one row per action", got)
        try:
            values, names = check_columns("actions", actions)
        except ArgumentTypeError as error:
            got = f"{error.got}; encode text as numbers (pandas.get_dummies), or give contexts=, which encode items"
            raise ArgumentTypeError("actions", error.expected, got) from None
        index = getattr(actions, "index", None) if names is not None else None
        labels = None if index is None else tuple(str(label) for label in index)
        return cls(frozen(check_matrix("actions", values).copy()), labels, names)

    def with_noise(self, noise_variances: object) -> "ActionSet":
        """Return the same actions with one noise variance per action.

        Parameters
        ----------
        noise_variances : array or Series of shape (K,)
            One noise variance per action. A Series is matched by name if the rows have names.

        Returns
        -------
        ActionSet
            The actions with their noise variances.

        Raises
        ------
        ArgumentError
            If numbers are not positive, or if their count or labels are not those of the actions.
        """
        noise_variances = in_order("noise_variance", noise_variances, self.labels)
        values = check_vector("noise_variance", noise_variances, len(self))
        for value in (values.min(), values.max()):
            check_positive("noise_variance", float(value))
        return replace(self, noise_variances=frozen(values.copy()))

    def with_feedback(self, feedback: object) -> "ActionSet":
        """Return the same actions with a feedback graph.

        Parameters
        ----------
        feedback : array or DataFrame of shape (K, K), or mapping
            Whether playing the action of the row shows the reward of the action of the column: booleans, or zeros and
            ones. A DataFrame is matched by name if the rows have names. A mapping has the rows or names of the actions
            that an action shows; actions that it does not mention show their own reward. If all names are whole
            numbers, an integer is a name and not a row.

        Returns
        -------
        ActionSet
            The actions with their graph.

        Raises
        ------
        ArgumentError
            If it is no such matrix, or names actions that are not there.

        Examples
        --------
        >>> ActionSet.of(np.eye(3)).with_feedback({2: [0, 1]}).feedback.astype(int)
        array([[1, 0, 0],
               [0, 1, 0],
               [1, 1, 0]])
        """
        return replace(self, feedback=graph_of(feedback, len(self), self.labels))

    def observed(self, row: int) -> tuple[int, ...] | None:
        """Return the rows whose rewards an action shows, ascending; None if there is no graph.

        Parameters
        ----------
        row : int
            The action.

        Returns
        -------
        tuple of int or None
        """
        return None if self.feedback is None else tuple(np.flatnonzero(self.feedback[row]).tolist())

    def matched(self, actions: object, noise_variance: object = None) -> "ActionSet":
        """Check another set of actions with the same features as this one.

        A feedback graph belongs to the rows of this set, so the other set needs as many rows in the same order.

        Parameters
        ----------
        actions : array or DataFrame of shape (K, d)
            One row per action. If both sets have column names, columns are matched by name.
        noise_variance : array of shape (K,), optional
            One noise variance per action; needed if, and only if, this set has them.

        Returns
        -------
        ActionSet
            The other actions, with columns in the order of this set.

        Raises
        ------
        ArgumentError
            If the columns are others, if noise variances are missing or superfluous, or if there is a feedback graph
            and the rows are more, fewer, of other names, or the same in another order.
        """
        other = self._with_graph(self._matched(actions))
        if (noise_variance is None) != (self.noise_variances is None):
            given = noise_variance is not None
            kind = "none (the policy was made without one per action)" if given else OF_ROWS
            raise ArgumentValueError("noise_variance", kind, shown(noise_variance))
        return other if noise_variance is None else other.with_noise(noise_variance)

    def _with_graph(self, other: "ActionSet") -> "ActionSet":
        """Return other actions with the graph of this set; refuse a graph of their own, and rows in another order.

        Their features may be others: the graph belongs to the places of the rows, or to their names.
        """
        if other.feedback is not None and not np.array_equal(other.feedback, self.feedback):  # type: ignore[arg-type]
            raise ArgumentValueError("actions", "the feedback graph of the policy, or none", "another one")
        if self.feedback is None:
            return other
        named = self.labels is not None and other.labels is not None
        expected = f"the {len(self)} rows of the feedback graph, in their order"
        if len(other) != len(self) or (named and other.labels != self.labels):
            raise ArgumentValueError("actions", expected, f"{len(other)} {'others' if named else 'rows'}")
        if not named and _in_another_order(other.features, self.features):
            raise ArgumentValueError("actions", expected, "the same rows in another order")
        return replace(other, feedback=self.feedback)

    def _matched(self, actions: object) -> "ActionSet":
        other = ActionSet.of(actions)
        if self.feature_names is None or other.feature_names is None:
            check_matrix("actions", other.features, columns=self.dimension)
            return other
        if other.feature_names == self.feature_names:
            return other
        order = column_order("actions", self.feature_names, other.feature_names)
        return ActionSet(frozen(other.features[:, order].copy()), other.labels, self.feature_names)

    def rows(self, rows: IntArray) -> "ActionSet":
        """Return some of the actions.

        Parameters
        ----------
        rows : int array
            Their rows.

        Returns
        -------
        ActionSet
            These actions, in this order; of their graph, the part among them.
        """
        labels = None if self.labels is None else tuple([self.labels[row] for row in rows.tolist()])
        noise = None if self.noise_variances is None else frozen(self.noise_variances[rows])
        graph = None if self.feedback is None else frozen(self.feedback[np.ix_(rows, rows)])
        return ActionSet(frozen(self.features[rows]), labels, self.feature_names, noise, graph)

    def sample(self) -> FloatArray:
        """Return features of actions as they may be offered, shape (n, d): of these actions, themselves."""
        return self.features

    def plain(self) -> "ActionSet":
        """Return the same actions without noise variances and feedback graph."""
        return replace(self, noise_variances=None, feedback=None)

    def __post_init__(self) -> None:
        self.features.flags.writeable = False

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a copy or a pickle, whose arrays come back writable."""
        self.__dict__.update(state)
        self.features.flags.writeable = False

    def __str__(self) -> str:
        return f"{len(self)} actions of {self.dimension} features"

    def __len__(self) -> int:
        return len(self.features)

    @property
    def dimension(self) -> int:
        """Number of features d."""
        return int(self.features.shape[1])


class Region(ActionSet):
    """A region of R^d, which is not enumerated: a set of actions without rows."""

    shape: ClassVar[str]
    """What it is called."""

    written: ClassVar[str]
    """How it is written, with the dimension as ``{}``."""

    @classmethod
    def of(cls, actions: object) -> Self:
        """Make the region.

        Parameters
        ----------
        actions : int, list of str or Region
            The dimension d, or the names of the d features.

        Returns
        -------
        Region
            The region.

        Raises
        ------
        ArgumentError
            If it is neither a positive whole number nor a list of different names.
        """
        if isinstance(actions, cls):
            return actions
        names = actions if isinstance(actions, list | tuple) else None
        if names is None and isinstance(actions, int | np.integer):
            return cls(np.empty((0, check_count("actions", actions))))
        if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
            expected = f"the dimension of a {cls.shape}, or the names of its features, each once"
            raise ArgumentTypeError("actions", expected, shown(actions))
        return cls(np.empty((0, len(names))), None, tuple(names))

    def matched(self, actions: object, noise_variance: object = None) -> "ActionSet":
        """Refuse any other actions, since a policy on a region does not choose from rows."""
        own = f"its own are the whole {self.shape} {self.written.format(self.dimension)}"
        raise ArgumentValueError("actions", f"none with this policy ({own})", shown(actions))

    def __str__(self) -> str:
        return f"the {self.shape} of {self.dimension} features"


class Cube(Region):
    """The cube [−1, 1]^d, which is not enumerated: a set of actions without rows.

    Examples
    --------
    >>> str(Cube.of(3)), Cube.of(["price", "size"]).feature_names
    ('the cube of 3 features', ('price', 'size'))
    """

    shape = "cube"
    written = "[-1, 1]^{}"


class Ball(Region):
    """The unit ball of R^d in the Euclidean norm, which is not enumerated: a set of actions without rows.

    Examples
    --------
    >>> str(Ball.of(3)), Ball.of(["price", "size"]).feature_names
    ('the unit ball of 3 features', ('price', 'size'))
    """

    shape = "unit ball"
    written = "of R^{}"


def _in_another_order(one: FloatArray, other: FloatArray) -> bool:
    """Return whether two matrices of the same shape have the same rows, but not in the same order."""
    if np.array_equal(one, other):
        return False
    return np.array_equal(one[np.lexsort(one.T)], other[np.lexsort(other.T)])
