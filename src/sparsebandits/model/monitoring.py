"""Linear partial monitoring games: what an action is worth, and what it shows, which need not be its reward.

Kirschner, Lattimore and Krause (2020), *Information Directed Sampling for Linear Partial Monitoring*. Action a has
reward features φ_a and an observation row m_a. Playing it is worth ⟨φ_a, θ⟩, which nobody sees, and shows ⟨m_a, θ⟩
plus noise. A bandit is the game with m_a = φ_a. Two other ones, in the form that they have in the authors' program
(kirschnj/pm-ids):

    dueling        an action is a pair of items: φ = x + y is the sum of both rewards, m = x − y their difference;
    transductive   actions that are worth ⟨x, θ⟩ show nothing, m = 0; probes that show ⟨z, θ⟩ are worth nothing, φ = 0.
"""

from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from sparsebandits.arguments import (
    ArgumentValueError,
    FloatArray,
    check_columns,
    check_matrix,
    column_order,
    frozen,
    order_by_name,
)


@dataclass(frozen=True, eq=False, init=False)
class Game:
    """Actions whose observations need not be their rewards.

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d)
        Reward features φ of each action. The index and columns of a DataFrame become labels and feature names.
    observations : array or DataFrame of shape (K, d)
        Observation row m of each action; a row of zeros shows nothing but noise. Rows and columns of a DataFrame are
        matched by name with those of the actions; where one of the two has no names (a default index 0, 1, … of
        observations has none), they are taken in their order.
    labels, feature_names : tuple of str, optional
        Names of the actions and of the columns, if not those of a DataFrame.

    Examples
    --------
    Only the last action, which is worth nothing, shows how the other two differ:

    >>> Game(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [0.0, 0.0], [1.0, -1.0]]))
    Game(3 actions of 2 features)
    """

    actions: FloatArray
    observations: FloatArray
    labels: tuple[str, ...] | None
    feature_names: tuple[str, ...] | None

    def __init__(
        self,
        actions: object,
        observations: object,
        labels: tuple[str, ...] | None = None,
        feature_names: tuple[str, ...] | None = None,
    ) -> None:
        rows, own, names = _read("actions", actions)
        called = own if labels is None else tuple(labels)
        columns = names if feature_names is None else tuple(feature_names)
        for name, given, count in (("labels", called, len(rows)), ("feature_names", columns, rows.shape[1])):
            if given is not None and len(given) != count:
                raise ArgumentValueError(name, f"{count} of them", f"{len(given)}")
        shown, of_rows, of_columns = _read("observations", observations)
        if called is not None and of_rows is not None:
            shown = shown[order_by_name("observations", called, of_rows)]
        if columns is not None and of_columns is not None:
            shown = shown[:, order_by_name("observations", columns, of_columns, "feature names")]
        check_matrix("observations", shown, columns=rows.shape[1])
        if len(shown) != len(rows):
            raise ArgumentValueError("observations", f"one row per action, {len(rows)}", f"{len(shown)}")
        object.__setattr__(self, "actions", frozen(rows.copy()))
        object.__setattr__(self, "observations", frozen(shown.copy()))
        object.__setattr__(self, "labels", called)
        object.__setattr__(self, "feature_names", columns)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} actions of {self.actions.shape[1]} features)"

    def __len__(self) -> int:
        return len(self.actions)


def dueling(items: object) -> Game:
    """Return the game whose actions are pairs of items: it shows the difference of two rewards, and pays their sum.

    Parameters
    ----------
    items : array or DataFrame of shape (n, d)
        One row per item.

    Returns
    -------
    Game
        Its n (n + 1) / 2 actions are the pairs without regard to order, an item with itself included; the observation
        is the reward of the first minus that of the second.

    Raises
    ------
    ArgumentError
        If it is not a matrix of finite numbers.

    Examples
    --------
    >>> dueling(np.eye(3)).labels
    ('0 vs 0', '0 vs 1', '0 vs 2', '1 vs 1', '1 vs 2', '2 vs 2')
    """
    rows, labels, names = _read("items", items)
    first, second = np.array(list(combinations_with_replacement(range(len(rows)), 2))).T
    called = [str(number) for number in range(len(rows))] if labels is None else list(labels)
    pairs = tuple(f"{called[i]} vs {called[j]}" for i, j in zip(first.tolist(), second.tolist(), strict=True))
    return Game(rows[first] + rows[second], rows[first] - rows[second], pairs, names)


def transductive(actions: object, probes: object) -> Game:
    """Return the game in which what is worth something shows nothing, and what shows something is worth nothing.

    Parameters
    ----------
    actions : array or DataFrame of shape (n, d)
        Features of the actions that are worth something.
    probes : array or DataFrame of shape (m, d)
        Features of the observations that can be bought for a round.

    Returns
    -------
    Game
        Its n + m actions are the actions, followed by the probes.

    Raises
    ------
    ArgumentError
        If they are not matrices of finite numbers with the same columns.

    Examples
    --------
    >>> transductive(np.eye(2), np.array([[1.0, -1.0]])).labels
    ('play 0', 'play 1', 'probe 0')
    """
    rows, labels, names = _read("actions", actions)
    shown, of_probes, columns = _read("probes", probes)
    if names is not None and columns is not None:
        shown = shown[:, column_order("probes", names, columns)]
    check_matrix("probes", shown, columns=rows.shape[1])
    parts = (("play", len(rows), labels), ("probe", len(shown), of_probes))
    called = tuple(f"{kind} {n if own is None else own[n]}" for kind, count, own in parts for n in range(count))
    paid, nothing = np.concatenate((rows, np.zeros_like(shown))), np.zeros_like(rows)
    return Game(paid, np.concatenate((nothing, shown)), called, names)


def _read(name: str, table: object) -> tuple[FloatArray, tuple[str, ...] | None, tuple[str, ...] | None]:
    """Return the rows of a table, their names and the names of its columns."""
    values, names = check_columns(name, table)
    index = getattr(table, "index", None) if names is not None else None
    return check_matrix(name, values), None if index is None else tuple(str(one) for one in index), names
