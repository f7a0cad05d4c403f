"""What may be offered in the rounds to come: a distribution of contexts, each with actions of its own.

From draws of θ come, for all contexts at once, the expected regret of every action, and how much a reward of it says
about the best actions of all contexts: π*, the map from contexts to best actions. Grouping draws by the whole of π*
would make nearly every draw a group of its own, so the variance gain is the mean over contexts s of

    Var(E[⟨φ, θ⟩ | a*(s)]) = φ' V(s) φ,   V(s) = Cov(E[θ | a*(s)]),

a lower bound of that about π*, and with one context the gain of Algorithm 3. It is one quadratic form for all actions
of all contexts.

Actions that tie under a draw, as all do under θ = 0, are compared by their posterior mean, as in ``best.py``; of those
with the same mean, one is taken whose number does not depend on the order of the rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.random import PCG64, Generator
from numpy.typing import NDArray

from sparsebandits.arguments import FloatArray, IntArray
from sparsebandits.posteriors.draws import Draws
from sparsebandits.posteriors.rows import Rows
from sparsebandits.rules.optima import ROUNDING, sums_of_bits, tied

LEAST = 1e-20
"""Weight of a group that is left out in single precision, whose range it would leave."""

GainOf: TypeAlias = Callable[[FloatArray, FloatArray | None], FloatArray]
"""Gain of one reward of each row of features, given the noise variances of the rewards where those differ."""


class Ties(NamedTuple):
    """Draws under which several actions of a context are the best.

    Attributes
    ----------
    place : int array of shape (T,)
        Draw and context, as a number among all M m.
    label : int array of shape (T,)
        Number of the set of best actions.
    members : int array
        Actions of the sets, one set after the other.
    starts : int array of shape (S,)
        Where each set starts in ``members``.
    """

    place: IntArray
    label: IntArray
    members: IntArray
    starts: IntArray


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


class _Found(NamedTuple):
    """What depends on draws and actions alone: one best action each, and the ties."""

    source: object
    action: IntArray
    value: FloatArray
    ties: Ties | None


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
    noise : array of shape (N,), optional
        Noise variance of each action's reward, where they differ and are known.
    shown : array of shape (N, R) and array of shape (R, d), optional
        Which rewards each action shows, and the features of these rewards; by default its own.
    shown_noise : array of shape (R,), optional
        Noise variances of these rewards, where they differ.
    graph : bool array of shape (K, K), optional
        Whether an action shows the reward of another one in the same context, if all contexts have the same K.
    """

    features: FloatArray
    starts: IntArray
    probability: FloatArray
    noise: FloatArray | None = None
    shown: tuple[FloatArray, FloatArray] | None = None
    shown_noise: FloatArray | None = None
    graph: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        self._columns: FloatArray | None = None
        self._found: _Found | None = None
        self._last: tuple[IntArray, Optimal] | None = None

    def __len__(self) -> int:
        return len(self.probability)

    def merged(self) -> "Around":
        """Return the same distribution of contexts, in which no context occurs twice.

        A context that did would get a mixture for each copy, and a policy can play one only.
        """
        keys = [blake2b((self.features[own] + 0.0).tobytes(), digest_size=16).digest() for own in self._slices()]
        kept: dict[bytes, int] = {}
        for context, key in enumerate(keys):
            kept.setdefault(key, context)
        if len(kept) == len(self):
            return self
        number = {context: place for place, context in enumerate(kept.values())}
        weight = np.zeros(len(kept))
        np.add.at(weight, [number[kept[key]] for key in keys], self.probability)
        rows = np.concatenate([np.arange(self.starts[one], self.starts[one + 1]) for one in number])
        sizes = np.diff(self.starts)[list(number)]
        return Around(
            np.ascontiguousarray(self.features[rows]),
            np.concatenate(([0], np.cumsum(sizes))),
            weight,
            None if self.noise is None else self.noise[rows],
            None if self.shown is None else (self.shown[0][rows], self.shown[1]),
            self.shown_noise,
            self.graph,
        )

    def _slices(self) -> list[slice]:
        return [slice(begin, end) for begin, end in zip(self.starts[:-1], self.starts[1:], strict=True)]

    @cached_property
    def single(self) -> FloatArray:
        """The features in single precision."""
        return self.features.astype(np.float32)

    @cached_property
    def _reach(self) -> FloatArray:
        """Largest absolute value of each feature."""
        return np.asarray(np.abs(self.features).max(axis=0))

    @cached_property
    def _addresses(self) -> NDArray[np.uint64]:
        """Random numbers whose sums identify a set of actions."""
        return Generator(PCG64(0)).integers(1, 2**63, len(self.features), dtype=np.uint64)

    @cached_property
    def _bits(self) -> NDArray[np.uint64]:
        """Numbers of the actions that depend on their features alone."""
        return sums_of_bits(self.features)

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
        first = sums_of_bits(actions[:1])[0]
        alike = (np.diff(self.starts) == len(actions)) & (self._bits[self.starts[:-1]] == first)
        for context in np.flatnonzero(alike).tolist():
            if np.array_equal(self.features[self.starts[context] : self.starts[context + 1]], actions):
                return int(context)
        return None

    def optimal(self, draws: Draws, mean: FloatArray, expected: FloatArray | None = None) -> Optimal:
        """Return the best actions of all contexts under each draw.

        Parameters
        ----------
        draws : Draws
            Draws of θ.
        mean : array of shape (d,)
            E θ, by which actions that tie are compared.
        expected : array of shape (N,), optional
            ⟨φ, E θ⟩ of all actions, if it is known.

        Returns
        -------
        Optimal
        """
        if self._found is None or self._found.source is not draws.source:
            self._found, self._last = self._search(draws.source), None
        found = self._found
        leaders = self._leaders(found.ties, mean, expected)
        if self._last is None or not np.array_equal(self._last[0], leaders):
            action = found.action
            if found.ties is not None:
                action = action.copy()
                action.reshape(-1)[found.ties.place] = leaders[found.ties.label]
            self._last = (leaders, Optimal.of(action, found.value, len(self.features)))
        return self._last[1]

    def _leaders(self, ties: Ties | None, mean: FloatArray, expected: FloatArray | None) -> IntArray:
        """Return the action with the largest posterior mean of each set."""
        if ties is None:
            return np.empty(0, dtype=np.intp)
        expected = self.features @ mean if expected is None else expected
        unit = ROUNDING * float(self._reach @ np.abs(mean))
        rounded = np.rint(expected / unit) if unit > 0.0 else np.zeros(len(expected))
        order = np.lexsort((self._bits, rounded))
        rank = np.empty(len(order), dtype=np.intp)
        rank[order] = np.arange(len(order))
        return np.asarray(order[np.maximum.reduceat(rank[ties.members], ties.starts)])

    def _search(self, source: FloatArray | Rows) -> _Found:
        """Find one best action of each context under each draw, and the sets of those that tie."""
        if isinstance(source, Rows):
            from sparsebandits.posteriors.kernels.contexts import best_of_contexts  # compiled code, as elsewhere

            if self._columns is None:
                self._columns = np.ascontiguousarray(self.features.T, dtype=np.float32)
            given = (self._columns, self.starts, self._reach, self._addresses)
            action, value, keys = best_of_contexts(*source.arrays, *given)
        else:
            action, value, keys = self._search_dense(source)
        place = np.flatnonzero(keys)
        if not len(place):
            return _Found(source, action, value, None)
        own = keys.reshape(-1)[place] ^ (place % len(self)).astype(np.uint64)
        _, example, label = np.unique(own, return_index=True, return_inverse=True)
        sets = [self._tied(source, *divmod(int(place[one]), len(self))) for one in example]
        starts = np.concatenate(([0], np.cumsum([len(one) for one in sets])[:-1]))
        return _Found(source, action, value, Ties(place, label.reshape(-1), np.concatenate(sets), starts))

    def _search_dense(self, source: FloatArray) -> tuple[IntArray, FloatArray, NDArray[np.uint64]]:
        products, terms = source @ self.features.T, np.abs(source) @ self._reach
        action = np.empty((len(source), len(self)), np.intp)
        keys = np.zeros(action.shape, np.uint64)
        for context, own in enumerate(self._slices()):
            best = tied(products[:, own], terms[:, np.newaxis])
            action[:, context] = own.start + products[:, own].argmax(axis=1)
            sums = (best * self._addresses[own]).sum(axis=1, dtype=np.uint64)
            keys[:, context] = np.where(best.sum(axis=1) > 1, sums, 0)
        return action, np.take_along_axis(products, action, axis=1), keys

    def _tied(self, source: FloatArray | Rows, draw: int, context: int) -> IntArray:
        """Return the actions of a context that are the best under one draw."""
        theta = source.take(np.array([draw])).dense[0] if isinstance(source, Rows) else source[draw]
        begin, end = int(self.starts[context]), int(self.starts[context + 1])
        values = self.features[begin:end] @ theta
        return np.asarray(begin + np.flatnonzero(tied(values, float(np.abs(theta) @ self._reach))))

    def regret(self, draws: Draws, expected: FloatArray, optimal: Optimal) -> FloatArray:
        """Return the expected regret of each action in its context.

        Parameters
        ----------
        draws : Draws
            Draws of θ.
        expected : array of shape (N,)
            ⟨φ, E θ⟩ of all actions.
        optimal : Optimal
            Their best actions.

        Returns
        -------
        array of shape (N,)
            At least zero.
        """
        largest = np.repeat(draws.weights @ optimal.value, np.diff(self.starts))
        return np.maximum(largest - expected, 0.0)

    def gain(self, gain_of: GainOf, single: bool = False) -> FloatArray:
        """Return the gain of all rewards that each action shows: the sum of the gains of each.

        Parameters
        ----------
        gain_of : callable
            Gain of one reward of each row of features, given the noise variances of the rewards where those differ.
        single : bool, default=False
            Whether it is given features in single precision.

        Returns
        -------
        array of shape (N,)
        """
        if self.shown is not None:
            return np.asarray(self.shown[0] @ gain_of(self.shown[1], self.shown_noise))
        found = gain_of(self.single if single else self.features, self.noise)
        if self.graph is None:
            return found
        return np.asarray(found.reshape(len(self), -1) @ self.graph.T.astype(np.float64)).reshape(-1)

    def spread(self, draws: Draws, mean: FloatArray, optimal: Optimal, single: bool = False) -> FloatArray:
        """Return V̄, the covariance of E[θ | a*(s)], averaged over contexts s.

        Parameters
        ----------
        draws : Draws
            Draws of θ.
        mean : array of shape (d,)
            E θ, of the draws.
        optimal : Optimal
            Their best actions.
        single : bool, default=False
            Whether single precision is enough.

        Returns
        -------
        array of shape (d, d)
        """
        used, place = optimal.used, optimal.group
        sums, mass = np.zeros((len(used), len(mean)), np.float32 if single else np.float64), np.zeros(len(used))
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
        kept = mass > (LEAST if single else 0.0)
        share = np.repeat(self.probability, np.diff(self.starts))[used][kept]
        root = np.sqrt(mass[kept])[:, np.newaxis]  # since a quotient by the smallest masses themselves would overflow
        factor = np.sqrt(share)[:, np.newaxis]
        deviations = sums[kept] * (factor / root).astype(sums.dtype) - (factor * root * mean).astype(sums.dtype)
        return np.asarray(deviations.T @ deviations, dtype=np.float64)
