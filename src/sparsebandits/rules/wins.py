"""Under which draws a given action is the best one: what the probability of a decision is estimated from.

To find the best action under every draw takes a product of all draws with all actions. To show that an action is *not*
the best under a draw takes a single better one, and a few actions with a large posterior mean show it for nearly all
draws. So draws are compared with those first, the rest with all actions, and what is found is kept until the draws or
the actions change. Which actions are looked at first makes no difference to the answer, only to the time that it takes.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sparsebandits.arguments import FloatArray, IntArray
from sparsebandits.rules.optima import BLOCK, ROUNDING, Prepared

LEADERS = 32
"""Number of actions that every draw is compared with. In the first 120 rounds at K = 2000 and d = 100 they
leave 3.3 draws of a hundred per decision to compare with all actions; all actions would leave 1.7."""

UNKNOWN = -1
"""Best action under a draw that has not been compared with all actions."""


class Arranged:
    """A set of actions, with what is worth computing only once for it.

    Parameters
    ----------
    features : array of shape (K, d)
        One row per action; read-only.
    again : bool, default=False
        Whether the actions come again and again. Then columns are copied to be contiguous, which takes as long as
        four products with a vector, and makes a product with two to four vectors more than twice as fast.

    Attributes
    ----------
    columns : array of shape (d, K)
        The features, one column per action.

    Examples
    --------
    >>> Arranged(np.array([[1.0, -2.0], [-3.0, 0.0]])).reach
    array([3., 2.])
    """

    def __init__(self, features: FloatArray, again: bool = False) -> None:
        self.features = features
        self.columns: FloatArray = np.ascontiguousarray(features.T) if again else features.T

    @cached_property
    def reach(self) -> FloatArray:
        """Largest absolute value of each feature, shape ``(d,)``."""
        # No copy of |features|, which would take longer than the rest of a decision.
        return np.asarray(np.maximum(self.features.max(axis=0), -self.features.min(axis=0)))

    @cached_property
    def number(self) -> IntArray:
        """Which of the distinct actions each row is, shape ``(K,)``."""
        return Prepared(self.features).number


class Wins:
    """Draws without zero coefficients, and which action is the best under those that have been looked at.

    Different actions do not tie under such draws, as in :func:`~sparsebandits.rules.optima.best_actions`.

    Parameters
    ----------
    theta : array of shape (M, d)
        Draws of θ, one per row.
    actions : Arranged
        The actions.
    mean : array of shape (d,)
        Posterior mean of θ, by which the actions to compare with first are chosen.

    Examples
    --------
    >>> wins = Wins(np.array([[1.0, 2.0], [3.0, 1.0]]), Arranged(np.eye(2)), np.zeros(2))
    >>> wins.under(np.array([0]))
    array([False,  True])
    """

    def __init__(self, theta: FloatArray, actions: Arranged, mean: FloatArray) -> None:
        self.theta, self.actions = theta, actions
        self._error: FloatArray = ROUNDING * (np.abs(theta) @ actions.reach)
        self._best: IntArray = np.full(len(theta), UNKNOWN, dtype=np.intp)
        leaders = actions.features
        if len(leaders) > LEADERS:
            leaders = leaders[np.argpartition(mean @ actions.columns, -LEADERS)[-LEADERS:]]
        self._least: FloatArray = (theta @ leaders.T).max(axis=1)  # which the best action reaches

    def under(self, rows: IntArray) -> NDArray[np.bool_]:
        """Return under which draws an action is the best one.

        Parameters
        ----------
        rows : int array
            All rows that have the features of the action.

        Returns
        -------
        bool array of shape (M,)
            Whether it is the best action under each draw.
        """
        values = self.theta @ self.actions.features[rows[0]]
        unclear = np.flatnonzero((self._best == UNKNOWN) & (values >= self._least - self._error))
        for start in range(0, len(unclear), BLOCK):
            draws = unclear[start : start + BLOCK]
            self._best[draws] = self._searched(draws)
        self._least = np.maximum(self._least, values)
        return self._best == rows[0] if len(rows) == 1 else np.isin(self._best, rows)

    def _searched(self, draws: IntArray) -> IntArray:
        """Return the best action under each of some draws."""
        theta = self.theta[draws]
        predictions = theta @ self.actions.columns
        best: IntArray = predictions.argmax(axis=1)
        near = predictions >= (predictions.max(axis=1) - self._error[draws])[:, np.newaxis]
        if np.count_nonzero(near) == len(draws):
            return best
        for place in np.flatnonzero(near.sum(axis=1) > 1).tolist():
            rows = np.flatnonzero(near[place])
            if np.ptp(self.actions.number[rows]) > 0:
                # A product rounds differently for other draws beside this one; sums row by row do not.
                best[place] = rows[(self.actions.features[rows] * theta[place]).sum(axis=1).argmax()]
        return best


class WinsMemory:
    """Remembers :class:`Wins` of the last draws and actions, by identity, since both arrays are read-only.

    Parameters
    ----------
    own : array of shape (K, d), optional
        Actions that come again and again, as those of a policy do; read-only.

    Attributes
    ----------
    own : array of shape (K, d) or None
        The same.
    """

    def __init__(self, own: FloatArray | None = None) -> None:
        self.own = own
        self._arranged: Arranged | None = None
        self._last: tuple[FloatArray, Arranged, Wins | None] | None = None

    def arranged(self, features: FloatArray) -> Arranged:
        """Return the actions, arranged; compute it again only if they have changed.

        Parameters
        ----------
        features : array of shape (K, d)
            One row per action; read-only.

        Returns
        -------
        Arranged
        """
        if self._arranged is None or self._arranged.features is not features:
            # By whose they are, not by how often they came: rounding must not depend on what is remembered.
            self._arranged = Arranged(features, features is self.own)
        return self._arranged

    def of(self, theta: FloatArray, features: FloatArray, mean: FloatArray) -> Wins | None:
        """Return what is known of the draws, which is nothing yet if an array has changed.

        Parameters
        ----------
        theta : array of shape (M, d)
            Draws of θ; read-only.
        features : array of shape (K, d)
            One row per action; read-only.
        mean : array of shape (d,)
            Posterior mean of θ.

        Returns
        -------
        Wins or None
            None if a coefficient is zero: different actions may tie.
        """
        actions = self.arranged(features)
        if self._last is None or self._last[0] is not theta or self._last[1] is not actions:
            self._last = theta, actions, Wins(theta, actions, mean) if theta.all() else None
        return self._last[2]
