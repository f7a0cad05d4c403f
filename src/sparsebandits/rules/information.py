"""Regret, information gain and the best action, computed from draws of θ for a set of actions.

Algorithm 3 of Hao, Lattimore and Deng (2021) for weighted draws, with the variance-based gain of Russo and Van Roy
(2018, §6.3); ``mutual_information.py`` has the mutual information that this gain replaces.

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
"""Number of draws whose predictions are computed at a time: they fit into the cache at a few hundred actions."""

MOSTLY_ZERO = 0.25
"""Share of nonzero coefficients below which going through them one by one is faster than a matrix product."""


class Prepared:
    """A set of actions, with what is worth computing only once for it.

    Parameters
    ----------
    actions : array of shape (K, d)
        One row per action.
    """

    def __init__(self, actions: FloatArray) -> None:
        self.features = actions

    @cached_property
    def first_equal(self) -> IntArray:
        """Index of the first row that equals each row, shape ``(K,)``.

        Rounding may give equal rows different predictions; ties between them are resolved by this index.
        """
        seen: dict[bytes, int] = {}
        rows = (row.tobytes() for row in self.features + 0.0)
        return np.array([seen.setdefault(row, k) for k, row in enumerate(rows)], dtype=np.intp)

    @cached_property
    def panels(self) -> "Panels":
        """The actions in the layout that the kernels of ``sparse_draws`` need."""
        from sparsebandits.posteriors.kernels.sparse_draws import (
            Panels,  # loads compiled code, which dense draws do not need
        )

        return Panels(self.features)


@dataclass(frozen=True, eq=False)
class Optima:
    """The best action under each draw, and the draws grouped by it. Depends on ``theta`` and the actions alone.

    Group g consists of the draws ``order[starts[g]:starts[g + 1]]``; its best action is ``support[g]``.

    Attributes
    ----------
    actions : Prepared
        The actions.
    theta : array of shape (M, d)
        The draws.
    best : int array of shape (M,)
        Best action under each draw.
    value : array of shape (M,)
        Its mean reward, max_b ⟨b, θ^m⟩.
    order : int array of shape (M,)
        Draws, sorted by best action.
    starts : int array of shape (G + 1,)
        Where each group starts in ``order``.
    support : int array of shape (G,)
        Actions that are best under some draw, ascending.
    grouped : Grouped or None
        The nonzero coefficients by group, if they are few.
    """

    actions: Prepared
    theta: FloatArray
    best: IntArray
    value: FloatArray
    order: IntArray
    starts: IntArray
    support: IntArray
    grouped: "Grouped | None"

    def draws_of(self, action: int) -> IntArray:
        """Return the draws under which an action is best.

        Parameters
        ----------
        action : int
            Row of the action.

        Returns
        -------
        int array
            Indices of the draws.
        """
        g = int(np.searchsorted(self.support, action))
        if g == len(self.support) or self.support[g] != action:
            return self.order[:0]
        return self.order[self.starts[g] : self.starts[g + 1]]

    def means(self, weights: FloatArray) -> "DenseMeans | SparseMeans":
        """Return P(x* = g) and E[θ | x* = g] of each group.

        Parameters
        ----------
        weights : array of shape (M,)
            Weights of the draws, which sum to one.

        Returns
        -------
        DenseMeans or SparseMeans
            Probabilities and conditional means.
        """
        sorted_weights = weights[self.order]
        probability = np.add.reduceat(sorted_weights, self.starts[:-1])
        if self.grouped is not None:
            return SparseMeans(self, probability, self.grouped, self.grouped.sums(sorted_weights))
        membership = csr_array((sorted_weights, self.order, self.starts), shape=(len(probability), len(weights)))
        return DenseMeans(self, probability, np.asarray(membership @ self.theta))


class DenseMeans:
    """Conditional means E[θ | x* = g] as a matrix."""

    def __init__(self, optima: Optima, probability: FloatArray, sums: FloatArray) -> None:
        alive = probability > 0  # weights may underflow
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
    """Conditional means E[θ | x* = g] as their nonzero coefficients."""

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
    """Find the best action x* under each draw.

    Parameters
    ----------
    theta : array of shape (M, d)
        Draws of θ, one per row.
    actions : array of shape (K, d) or Prepared
        One row per action.

    Returns
    -------
    Optima
        The best actions, and the draws grouped by them.
    """
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
    """Remembers :func:`best_actions` of the last draws and actions, by identity, since both arrays are read-only."""

    def __init__(self) -> None:
        self._last: Optima | None = None

    def of(self, theta: FloatArray, actions: FloatArray) -> Optima:
        """Return the best actions; compute again only what depends on an array that has changed.

        Parameters
        ----------
        theta : array of shape (M, d)
            Draws of θ; read-only.
        actions : array of shape (K, d)
            One row per action; read-only.

        Returns
        -------
        Optima
            The best actions.
        """
        known = Prepared(actions) if self._last is None else self._last.actions
        if known.features is not actions:
            known = Prepared(actions)
        if self._last is None or self._last.theta is not theta or self._last.actions is not known:
            self._last = best_actions(theta, known)
        return self._last


@dataclass(frozen=True, eq=False)
class Information:
    """Regret and information gain of each action, given the draws.

    Attributes
    ----------
    expected_regret : array of shape (K,)
        Δ of each action.
    gain : array of shape (K,)
        v of each action.
    support : int array of shape (G,)
        Actions with a positive probability of being best.
    support_probability : array of shape (G,)
        P(x* = a) of the actions in ``support``.
    mean : array of shape (d,)
        E θ.
    means : DenseMeans or SparseMeans
        E[θ | x* = a] of the actions in ``support``.
    """

    expected_regret: FloatArray
    gain: FloatArray
    support: IntArray
    support_probability: FloatArray
    mean: FloatArray
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

    Parameters
    ----------
    draws : Draws
        Weighted draws of θ.
    actions : array of shape (K, d)
        One row per action.
    optima : Optima, optional
        ``best_actions(draws.theta, actions)``, if it is already known; then the cost is one pass over the draws.

    Returns
    -------
    Information
        Regret, gain and probabilities of the actions.

    Examples
    --------
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
    # and an action that is best under every draw has no regret.
    predictions = actions @ means.mean
    regret = np.maximum(float(draws.weights @ optima.value) - predictions, 0.0)
    if len(means.support) == 1:
        regret[means.support[0]] = 0.0
        gain = np.zeros(len(actions))
    else:
        gain = means.variances(predictions)
    return Information(regret, gain, means.support, means.probability, means.mean, means)
