"""What draws of θ say about a set of actions: regret, information, and which action is best.

Algorithm 3 of Hao, Lattimore and Deng (2021) for weighted draws, with the variance-based gain of Russo and Van Roy
(2018, §6.3); ``mutual_information.py`` has the gain that it stands in for.

Symbols: θ^m the draws with weights w_m, x* the best action under θ, a an action (a row of ``actions``).

- Δ(a) = E[max_b ⟨b, θ⟩] − ⟨a, E θ⟩: the expected regret of a
- v(a) = Var(E[⟨a, θ⟩ | x*]): how much the mean reward of a depends on which action is best

Two actions that tie under a draw make x* ambiguous; the lower row wins, so that x* is a function of θ.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array
from scipy.special import entr

from sparsebandits.arguments import FloatArray, IntArray
from sparsebandits.posteriors.draws import Draws

if TYPE_CHECKING:
    from sparsebandits.posteriors.kernels.sparse_draws import Grouped, Panels

BLOCK = 256
"""Draws whose predictions are held at a time: small enough for the cache at a few hundred actions."""

MOSTLY_ZERO = 0.25
"""Share of coefficients other than zero, below which going through them one by one beats a matrix product."""


class Prepared:
    """A set of actions ``(K, d)``, with what is worth computing once for it."""

    def __init__(self, actions: FloatArray) -> None:
        self.features = actions

    @cached_property
    def first_equal(self) -> IntArray:
        """Of each row, the first that equals it: rounding may tell the predictions of equal rows apart."""
        seen: dict[bytes, int] = {}
        rows = (row.tobytes() for row in self.features + 0.0)
        return np.array([seen.setdefault(row, k) for k, row in enumerate(rows)], dtype=np.intp)

    @cached_property
    def panels(self) -> "Panels":
        """The actions as ``sparse_draws`` wants them."""
        from sparsebandits.posteriors.kernels.sparse_draws import (
            Panels,  # brings compiled code, which dense draws do without
        )

        return Panels(self.features)


@dataclass(frozen=True, eq=False)
class Optima:
    """The best action under each draw, and the draws in groups by it. Depends on ``theta`` and actions alone.

    Group g is ``order[starts[g]:starts[g + 1]]`` and its best action ``support[g]``.
    """

    actions: Prepared
    theta: FloatArray  # (M, d)
    best: IntArray  # (M,) the action
    value: FloatArray  # (M,) max_b ⟨b, θ^m⟩
    order: IntArray  # (M,)
    starts: IntArray  # (G + 1,)
    support: IntArray  # (G,) actions that are best under some draw, ascending
    grouped: "Grouped | None"  # the coefficients that are not zero, if they are few

    def draws_of(self, action: int) -> IntArray:
        """Return the rows of the draws under which ``action`` is best."""
        g = int(np.searchsorted(self.support, action))
        if g == len(self.support) or self.support[g] != action:
            return self.order[:0]
        return self.order[self.starts[g] : self.starts[g + 1]]

    def means(self, weights: FloatArray) -> "DenseMeans | SparseMeans":
        """Return P(x* = g) and E[θ | x* = g] of each group."""
        sorted_weights = weights[self.order]
        probability = np.add.reduceat(sorted_weights, self.starts[:-1])
        if self.grouped is not None:
            return SparseMeans(self, probability, self.grouped, self.grouped.sums(sorted_weights))
        membership = csr_array((sorted_weights, self.order, self.starts), shape=(len(probability), len(weights)))
        return DenseMeans(self, probability, np.asarray(membership @ self.theta))


class DenseMeans:
    """E[θ | x* = g] as a matrix."""

    def __init__(self, optima: Optima, probability: FloatArray, sums: FloatArray) -> None:
        alive = probability > 0  # weights underflow
        self.support, self.probability, sums = optima.support[alive], probability[alive], sums[alive]
        self.mean = sums.sum(axis=0)
        self._means, self._features = sums / self.probability[:, np.newaxis], optima.actions.features

    def matrix(self) -> FloatArray:
        """Return E[θ | x* = g], shape ``(G, d)``."""
        return self._means

    def variances(self, predictions: FloatArray) -> FloatArray:
        """Return Σ_g P(g) ⟨a, E[θ | x* = g] − E θ⟩² of each action, whose ``predictions`` are ⟨a, E θ⟩."""
        return _weighted_squares(self._means - self.mean, self.probability, self._features)


class SparseMeans:
    """The same, as the coefficients that are not zero."""

    def __init__(self, optima: Optima, probability: FloatArray, grouped: "Grouped", sums: FloatArray) -> None:
        alive = probability > 0
        self.support, self.probability = optima.support[alive], probability[alive]
        self.mean: FloatArray = np.bincount(grouped.columns, sums, optima.theta.shape[1]).astype(np.float64, copy=False)
        self._all, self._alive, self._grouped, self._prepared = probability, alive, grouped, optima.actions
        self._means = sums / np.where(alive, probability, 1.0)[grouped.rows]

    def matrix(self) -> FloatArray:
        """Return E[θ | x* = g], shape ``(G, d)``."""
        return self._grouped.dense(self._means)[self._alive]

    def variances(self, predictions: FloatArray) -> FloatArray:
        """Return Σ_g P(g) ⟨a, E[θ | x* = g] − E θ⟩² of each action, whose ``predictions`` are ⟨a, E θ⟩."""
        if len(self._means) > MOSTLY_ZERO * len(self._all) * len(self.mean):  # means of many draws have few zeros
            return _weighted_squares(self.matrix() - self.mean, self.probability, self._prepared.features)
        return self._grouped.weighted_squares(self._means, self._all, predictions, self._prepared.panels)


def _weighted_squares(deviations: FloatArray, weights: FloatArray, actions: FloatArray) -> FloatArray:
    """Return Σ_g w_g ⟨a, deviation g⟩² of each action a."""
    products = deviations @ actions.T
    return np.asarray(weights @ (products * products))


def best_actions(theta: FloatArray, actions: FloatArray | Prepared) -> Optima:
    """Find x* under each draw: ``theta`` is ``(M, d)``, ``actions`` is ``(K, d)``."""
    known = actions if isinstance(actions, Prepared) else Prepared(actions)
    rows: Any = None
    if np.count_nonzero(theta[:BLOCK]) < MOSTLY_ZERO * theta[:BLOCK].size:
        from sparsebandits.posteriors.kernels import sparse_draws

        rows = sparse_draws.compressed(theta)
        index, value = sparse_draws.best_of_rows(rows, known.panels.double)
    else:
        index, value = _best_by_product(theta, known.features)
    index = known.first_equal[index]
    order = np.argsort(index, kind="stable")
    support, counts = np.unique(index, return_counts=True)
    starts = np.concatenate(([0], np.cumsum(counts)))
    grouped = None if rows is None else sparse_draws.Grouped(rows, order, starts, theta.shape[1])
    return Optima(known, theta, index, value, order, starts, support, grouped)


def _best_by_product(theta: FloatArray, actions: FloatArray) -> tuple[IntArray, FloatArray]:
    index, value = np.empty(len(theta), dtype=np.intp), np.empty(len(theta))
    for start in range(0, len(theta), BLOCK):
        block = slice(start, start + BLOCK)
        predictions = theta[block] @ actions.T
        index[block] = predictions.argmax(axis=1)
        value[block] = predictions[np.arange(len(predictions)), index[block]]
    return index, value


class OptimaMemory:
    """Remembers :func:`best_actions` of the last draws and actions, by identity: both are read-only arrays."""

    def __init__(self) -> None:
        self._last: Optima | None = None

    def of(self, theta: FloatArray, actions: FloatArray) -> Optima:
        """Return the optima; what depends on ``theta`` or on ``actions`` alone is computed anew if that has changed."""
        known = Prepared(actions) if self._last is None else self._last.actions
        if known.features is not actions:
            known = Prepared(actions)
        if self._last is None or self._last.theta is not theta or self._last.actions is not known:
            self._last = best_actions(theta, known)
        return self._last


@dataclass(frozen=True, eq=False)
class Information:
    """Regret and information of each action, given the draws."""

    expected_regret: FloatArray  # Δ, (K,)
    gain: FloatArray  # v or I(x*; Y_a), (K,)
    support: IntArray  # actions with positive probability of being best, (G,)
    support_probability: FloatArray  # P(x* = support[g]), (G,)
    mean: FloatArray  # E θ, (d,)
    means: DenseMeans | SparseMeans

    @cached_property
    def conditional_mean(self) -> FloatArray:
        """E[θ | x* = support[g]], shape ``(G, d)``."""
        return self.means.matrix()

    @cached_property
    def optimal_probability(self) -> FloatArray:
        """P(x* = a) of each action, shape ``(K,)``."""
        probability = np.zeros(len(self.expected_regret))
        probability[self.support] = self.support_probability
        return probability

    @property
    def entropy(self) -> float:
        """H(x*), in nats."""
        return max(float(entr(self.support_probability).sum()), 0.0) if len(self.support) > 1 else 0.0


def information(draws: Draws, actions: FloatArray, optima: Optima | None = None) -> Information:
    """Return Δ, v, P(x* = ·) and E[θ | x* = ·] of Algorithm 3 for weighted draws.

    ``optima`` is ``best_actions(draws.theta, actions)``, if it is already known; then the cost is one pass over
    the draws.

    >>> import numpy as np
    >>> draws = Draws([[1.0, 0.0], [0.0, 1.0]], [0.5, 0.5])
    >>> known = information(draws, np.eye(2))
    >>> known.expected_regret, known.gain, known.optimal_probability
    (array([0.5, 0.5]), array([0.25, 0.25]), array([0.5, 0.5]))
    """
    if optima is None:
        optima = best_actions(draws.theta, actions)
    means = optima.means(draws.weights)
    # Δ(a) is a mean of non-negative numbers computed as a difference: rounding may leave it just below zero,
    # and an action that is best under every draw has none.
    predictions = actions @ means.mean
    regret = np.maximum(float(draws.weights @ optima.value) - predictions, 0.0)
    if len(means.support) == 1:
        regret[means.support[0]] = 0.0
        gain = np.zeros(len(actions))
    else:
        gain = means.variances(predictions)
    return Information(regret, gain, means.support, means.probability, means.mean, means)
