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
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sparsebandits.arguments import FloatArray, IntArray
from sparsebandits.posteriors.draws import Draws
from sparsebandits.posteriors.rows import Rows
from sparsebandits.rules.listed import SMALL, Listed
from sparsebandits.rules.optima import ROUNDING, tied
from sparsebandits.rules.products import Products

LEAST = 1e-20
"""Weight of a group that is left out in single precision, whose range it would leave."""

EXAMPLES = 256
"""Number of sets of actions that tie that are made at a time."""

CONTEXT = np.uint64(0x9E3779B97F4A7C15)
"""A number whose multiples keep sets of actions in different contexts apart (2⁶⁴ over the golden ratio)."""

GainOf: TypeAlias = Callable[[FloatArray | Listed | Products, FloatArray | None], FloatArray]
"""Gain of one reward of each action, given the noise variances of the rewards where those differ. Actions are rows of
features, or those of several contexts."""


class Ties(NamedTuple):
    """Draws under which several actions of a context are the best.

    Attributes
    ----------
    place : int array of shape (T,)
        Context and draw, as a number among all m M.
    label : int array of shape (T,)
        Number of the set of best actions.
    members : int array
        Actions of the sets, one set after the other.
    starts : int array of shape (S,)
        Where each set starts in ``members``.
    bits : uint64 array
        Numbers of the members that depend on their features alone.
    """

    place: IntArray
    label: IntArray
    members: IntArray
    starts: IntArray
    bits: NDArray[np.uint64]


class Optimal(NamedTuple):
    """The best actions of all contexts under each draw.

    Attributes
    ----------
    action : int32 array of shape (m, M)
        Number of the best action, among the actions of its context.
    value : array of shape (m, M)
        Its mean reward ⟨φ, θ⟩, less what all actions of all contexts have in common.
    used : int array of shape (G,)
        The actions that are the best under some draw, ascending, as numbers among all.
    group : int32 array of shape (m, M)
        Number of the best action among these.
    """

    action: IntArray
    value: FloatArray
    used: IntArray
    group: IntArray

    @classmethod
    def of(cls, action: IntArray, value: FloatArray, starts: IntArray) -> "Optimal":
        """Return best actions with their groups, given where the actions of each context start."""
        from sparsebandits.posteriors.kernels.contexts import numbered  # compiled code, as elsewhere

        group = np.empty_like(action)
        return cls(action, value, numbered(action, starts, group), group)


class _Found(NamedTuple):
    """What depends on draws and actions alone: one best action each, numbers of sets that tie, and these sets."""

    source: object
    action: IntArray
    value: FloatArray
    keys: NDArray[np.uint64]
    ties: Ties | None


@dataclass(eq=False)
class Around:
    """Contexts that may come, with their actions. Remembers the best actions under the last draws.

    Parameters
    ----------
    actions : Listed or Products
        The actions of all contexts, N in all.
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

    actions: Listed | Products
    probability: FloatArray
    noise: FloatArray | None = None
    shown: tuple[FloatArray, FloatArray] | None = None
    shown_noise: FloatArray | None = None
    graph: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        self._found: _Found | None = None
        self._last: tuple[IntArray, Optimal] | None = None
        self._before: Around | None = None

    def __len__(self) -> int:
        return len(self.probability)

    @property
    def features(self) -> FloatArray:
        """Features of the actions of all contexts, shape (N, d)."""
        return self.actions.features

    @property
    def starts(self) -> IntArray:
        """Where the actions of each context start, shape (m + 1,)."""
        return self.actions.starts

    def merged(self) -> "Around":
        """Return the same distribution of contexts, in which no context occurs twice.

        A context that did would get a mixture for each copy, and a policy can play one only.
        """
        keys = self.actions.keys
        kept: dict[bytes, int] = {}
        for context, key in enumerate(keys):
            kept.setdefault(key, context)
        if len(kept) == len(self):
            return self
        chosen = list(kept.values())
        number = {context: place for place, context in enumerate(chosen)}
        weight = np.zeros(len(kept))
        np.add.at(weight, [number[kept[key]] for key in keys], self.probability)
        rows = np.concatenate([np.arange(self.starts[one], self.starts[one + 1]) for one in chosen])
        return Around(
            self.actions.take(chosen),
            weight,
            None if self.noise is None else self.noise[rows],
            None if self.shown is None else (self.shown[0][rows], self.shown[1]),
            self.shown_noise,
            self.graph,
        )

    def after(self, before: "Around | None") -> "Around":
        """Return this, which takes the best actions of contexts that another one has had from there.

        They are the same as if they were found again. Nothing else is kept of the other one after the next search.

        Parameters
        ----------
        before : Around, optional
            Contexts with the same items and origin, in factors.

        Returns
        -------
        Around
        """
        if before is not None:
            self._before = before if before._found is not None else before._before
        return self

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
        found = self._found
        if found is None or found.source is not draws.source:
            found = self._search(draws.source)
            self._last = self._before = None  # before the next line, should that be interrupted
            self._found = found
        leaders = self._leaders(found.ties, mean, expected)
        if self._last is None or not np.array_equal(self._last[0], leaders):
            action = found.action
            if found.ties is not None:
                action, place = action.copy(), found.ties.place
                action.reshape(-1)[place] = leaders[found.ties.label] - self.starts[place // action.shape[1]]
            self._last = (leaders, Optimal.of(action, found.value, self.starts))
        return self._last[1]

    def _leaders(self, ties: Ties | None, mean: FloatArray, expected: FloatArray | None) -> IntArray:
        """Return the action with the largest posterior mean of each set."""
        if ties is None:
            return np.empty(0, dtype=np.intp)
        expected = self.actions.expected(mean) if expected is None else expected
        unit = ROUNDING * float(self.actions.reach @ np.abs(mean))
        rounded = np.rint(expected[ties.members] / unit) if unit > 0.0 else np.zeros(len(ties.members))
        sizes = np.diff(ties.starts, append=len(ties.members))
        first = rounded == np.repeat(np.maximum.reduceat(rounded, ties.starts), sizes)
        bits = np.where(first, ties.bits, np.uint64(0))
        first &= bits == np.repeat(np.maximum.reduceat(bits, ties.starts), sizes)
        return np.asarray(np.maximum.reduceat(np.where(first, ties.members, -1), ties.starts))

    def _search(self, source: FloatArray | Rows) -> _Found:
        """Find one best action of each context under each draw, and the sets of those that tie."""
        action, value, keys = self._best(source) if isinstance(source, Rows) else self._best_dense(source)
        place = np.flatnonzero(keys)
        if not len(place):
            return _Found(source, action, value, keys, None)
        context, draw = np.divmod(place, action.shape[1])
        own = keys.reshape(-1)[place] + context.astype(np.uint64) * CONTEXT
        _, example, label = np.unique(own, return_index=True, return_inverse=True)
        sets: list[IntArray] = []
        for start in range(0, len(example), EXAMPLES):
            some = example[start : start + EXAMPLES]
            theta = source.take(draw[some]).dense if isinstance(source, Rows) else source[draw[some]]
            sets += self.actions.tied(theta, context[some])
        starts = np.concatenate(([0], np.cumsum([len(one) for one in sets])[:-1]))
        members = np.concatenate(sets)
        ties = Ties(place, label.reshape(-1), members, starts, self.actions.bits(members))
        return _Found(source, action, value, keys, ties)

    def _best(self, source: Rows) -> tuple[IntArray, FloatArray, NDArray[np.uint64]]:
        """Return best actions, their values and keys of ties, of contexts that were there before from there."""
        before = self._before
        if before is None or before._found is None or before._found.source is not source:
            return self.actions.best(source)
        places = {key: place for place, key in enumerate(before.actions.keys)}
        place = np.array([places.get(key, -1) for key in self.actions.keys])
        new = np.flatnonzero(place < 0)
        found: tuple[Any, Any, Any] = before._found.action, before._found.value, before._found.keys
        action, value, keys = (one[place] for one in found)
        if len(new):
            action[new], value[new], keys[new] = self.actions.take(new).best(source)
        return action, value, keys

    def _best_dense(self, source: FloatArray) -> tuple[IntArray, FloatArray, NDArray[np.uint64]]:
        terms, addresses = (np.abs(source) @ self.actions.reach)[:, np.newaxis], self.actions.addresses
        shape = len(self), len(source)
        action: IntArray = np.empty(shape, np.int32)
        value: FloatArray = np.empty(shape)
        keys: NDArray[np.uint64] = np.zeros(shape, np.uint64)
        for context in range(len(self)):
            scores = self.actions.scores(source, context)
            best = tied(scores, terms)
            action[context], value[context] = scores.argmax(axis=1), scores.max(axis=1)
            sums = (best * addresses[: scores.shape[1]]).sum(axis=1, dtype=np.uint64)
            keys[context] = np.where(best.sum(axis=1) > 1, sums, 0)
        return action, value, keys

    def regret(self, draws: Draws, expected: FloatArray, optimal: Optimal) -> FloatArray:
        """Return the expected regret of each action in its context.

        Parameters
        ----------
        draws : Draws
            Draws of θ.
        expected : array of shape (N,)
            ⟨φ, E θ⟩ of all actions, less what they have in common.
        optimal : Optimal
            Their best actions.

        Returns
        -------
        array of shape (N,)
            At least zero.
        """
        largest = np.repeat(optimal.value @ draws.weights, np.diff(self.starts))
        return np.maximum(largest - expected, 0.0)

    def gain(self, gain_of: GainOf) -> FloatArray:
        """Return the gain of all rewards that each action shows: the sum of the gains of each.

        Parameters
        ----------
        gain_of : callable
            Gain of one reward of each action, given the noise variances of the rewards where those differ.

        Returns
        -------
        array of shape (N,)
        """
        if self.shown is not None:
            return np.asarray(self.shown[0] @ gain_of(self.shown[1], self.shown_noise))
        found = gain_of(self.actions, self.noise)
        if self.graph is None:
            return found
        return np.asarray(found.reshape(len(self), -1) @ self.graph.T.astype(np.float64)).reshape(-1)

    def spread(self, draws: Draws, mean: FloatArray, optimal: Optimal, single: bool | None = None) -> FloatArray:
        """Return V̄, the covariance of E[θ | a*(s)], averaged over contexts s.

        Parameters
        ----------
        draws : Draws
            Draws of θ.
        mean : array of shape (d,)
            E θ, of the draws.
        optimal : Optimal
            Their best actions.
        single : bool, optional
            Whether single precision is enough; by default if there are many contexts.

        Returns
        -------
        array of shape (d, d)
        """
        from sparsebandits.posteriors.kernels.contexts import centre_groups, sums_of_groups

        used, group, dimension = optimal.used, optimal.group, len(mean)
        single = int(self.starts[-1]) * dimension**2 > SMALL if single is None else single
        sums, mass = np.zeros((len(used), dimension), np.float32 if single else np.float64), np.zeros(len(used))
        if isinstance(draws.source, Rows):
            sums_of_groups(*draws.source.arrays, draws.weights, group, (sums, mass))
        else:
            weighted = draws.weights[:, np.newaxis] * draws.source
            for own in group:
                order = np.argsort(own, kind="stable")
                groups, begin = np.unique(own[order], return_index=True)  # no action is in two contexts
                mass[groups] = np.add.reduceat(draws.weights[order], begin)
                sums[groups] = np.add.reduceat(weighted[order], begin)
        share = np.repeat(self.probability, np.diff(self.starts))[used]
        centre_groups(sums, mass, share, mean, LEAST if single else 0.0)
        return np.asarray(sums.T @ sums, dtype=np.float64)
