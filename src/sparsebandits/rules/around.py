"""What may be offered in the rounds to come: a distribution of contexts, each with actions of its own.

From draws of θ come, for all contexts at once, the expected regret of every action, and how much a reward of it says
about the best actions of all contexts: π*, the map from contexts to best actions. Grouping draws by the whole of π*
would make nearly every draw a group of its own, so the variance gain is the mean over contexts s of

    Var(E[⟨φ, θ⟩ | a*(s)]) = φ' V(s) φ,   V(s) = Cov(E[θ | a*(s)]),

a lower bound of that about π*, and with one context the gain of Algorithm 3. It is one quadratic form for all actions
of all contexts.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sparsebandits.arguments import FloatArray, IntArray
from sparsebandits.posteriors.draws import Draws
from sparsebandits.posteriors.rows import Rows


class Optimal(NamedTuple):
    """The best actions of all contexts under each draw.

    Attributes
    ----------
    action : int array of shape (M, m)
        Number of the best action, among the actions of all contexts.
    value : array of shape (M, m)
        Its mean reward ⟨φ, θ⟩.
    used : int array of shape (G,)
        The actions that are the best under some draw, ascending.
    group : int array of shape (M, m)
        Number of the best action among these.
    """

    action: IntArray
    value: FloatArray
    used: IntArray
    group: IntArray

    @classmethod
    def of(cls, action: IntArray, value: FloatArray, count: int) -> "Optimal":
        """Return best actions, of so many in all, with their groups."""
        present = np.zeros(count, dtype=bool)
        present[action.ravel()] = True
        return cls(action, value, np.flatnonzero(present), (np.cumsum(present) - 1)[action])


@dataclass(eq=False)
class Around:
    """Contexts that may come, with their actions. Remembers the best actions under the last draws.

    Parameters
    ----------
    features : array of shape (N, d)
        Features of the actions of all contexts, one after another.
    starts : int array of shape (m + 1,)
        Where the actions of each context start.
    probability : array of shape (m,)
        Probability of each context.
    shown : array of shape (N, R) and array of shape (R, d), optional
        Which rewards each action shows, and the features of these rewards; by default its own.
    """

    features: FloatArray
    starts: IntArray
    probability: FloatArray
    shown: tuple[FloatArray, FloatArray] | None = None

    def __post_init__(self) -> None:
        self._columns: FloatArray | None = None
        self._last: tuple[object, Optimal] | None = None

    def __len__(self) -> int:
        return len(self.probability)

    @cached_property
    def single(self) -> FloatArray:
        """The features in single precision."""
        return self.features.astype(np.float32)

    def find(self, actions: FloatArray) -> int | None:
        """Return the context that has exactly these actions; None if there is none.

        Parameters
        ----------
        actions : array of shape (K, d)
            The actions.

        Returns
        -------
        int or None
        """
        sizes = np.diff(self.starts)
        for context in np.flatnonzero(sizes == len(actions)).tolist():
            begin = self.starts[context]
            if np.array_equal(self.features[begin], actions[0]) and np.array_equal(
                self.features[begin : self.starts[context + 1]], actions
            ):
                return int(context)
        return None

    def optimal(self, draws: Draws) -> Optimal:
        """Return the best actions of all contexts under each draw.

        Parameters
        ----------
        draws : Draws
            Draws of θ.

        Returns
        -------
        Optimal
        """
        if self._last is None or self._last[0] is not draws.source:
            self._last = (draws.source, self._optimal(draws.source))
        return self._last[1]

    def _optimal(self, source: FloatArray | Rows) -> Optimal:
        if isinstance(source, Rows):
            from sparsebandits.posteriors.kernels.contexts import best_of_contexts  # compiled code, as elsewhere

            if self._columns is None:
                self._columns = np.ascontiguousarray(self.features.T, dtype=np.float32)
            return Optimal.of(*best_of_contexts(*source.arrays, self._columns, self.starts), len(self.features))
        products = source @ self.features.T
        action = np.empty((len(source), len(self)), np.intp)
        for context in range(len(self)):
            own = slice(self.starts[context], self.starts[context + 1])
            action[:, context] = self.starts[context] + products[:, own].argmax(axis=1)
        return Optimal.of(action, np.take_along_axis(products, action, axis=1), len(self.features))

    def regret(self, draws: Draws, mean: FloatArray, optimal: Optimal) -> FloatArray:
        """Return the expected regret of each action in its context.

        Parameters
        ----------
        draws : Draws
            Draws of θ.
        mean : array of shape (d,)
            E θ, of the draws.
        optimal : Optimal
            Their best actions.

        Returns
        -------
        array of shape (N,)
            At least zero.
        """
        largest = np.repeat(draws.weights @ optimal.value, np.diff(self.starts))
        return np.maximum(largest - self.features @ mean, 0.0)

    def spread(self, draws: Draws, mean: FloatArray, optimal: Optimal) -> FloatArray:
        """Return V̄, the covariance of E[θ | a*(s)], averaged over contexts s.

        Parameters
        ----------
        draws : Draws
            Draws of θ.
        mean : array of shape (d,)
            E θ, of the draws.
        optimal : Optimal
            Their best actions.

        Returns
        -------
        array of shape (d, d)
        """
        used, place = optimal.used, optimal.group
        sums, mass = np.zeros((len(used), len(mean))), np.zeros(len(used))
        if isinstance(draws.source, Rows):
            from sparsebandits.posteriors.kernels.contexts import sums_of_groups

            sums_of_groups(*draws.source.arrays, draws.weights, place, sums, mass)
        else:
            weighted = draws.weights[:, np.newaxis] * draws.source
            for context in range(len(self)):
                order = np.argsort(place[:, context], kind="stable")
                groups, begin = np.unique(place[order, context], return_index=True)  # no action is in two contexts
                mass[groups] = np.add.reduceat(draws.weights[order], begin)
                sums[groups] = np.add.reduceat(weighted[order], begin)
        kept = mass > 0.0
        share = np.repeat(self.probability, np.diff(self.starts))[used][kept]
        root = np.sqrt(mass[kept])[:, np.newaxis]  # since a quotient by the smallest masses themselves would overflow
        deviations = (sums[kept] / root - root * mean) * np.sqrt(share)[:, np.newaxis]
        return np.asarray(deviations.T @ deviations)
