"""What draws of θ say about a set of actions: regret, information, and which action is best.

Algorithm 3 of Hao, Lattimore and Deng (2021) for weighted draws, with the exact mutual information beside its
variance-based stand-in (Russo and Van Roy 2018, §6.3).

Symbols: θ^m the draws with weights w_m, x* the best action under θ, a an action (a row of ``actions``).

- Δ(a) = E[max_b ⟨b, θ⟩] − ⟨a, E θ⟩: the expected regret of a
- v(a) = Var(E[⟨a, θ⟩ | x*]): how much the mean reward of a depends on which action is best
- I(x*; Y_a): the mutual information between the best action and a's next reward, in nats

Two actions that tie under a draw make x* ambiguous; the lower row wins, so that x* is a function of θ.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.special import entr

from sparsebandits.checks import FloatArray, IntArray
from sparsebandits.posteriors.draws import Draws

BLOCK = 256
"""Draws whose predictions are held at a time: small enough for the cache at a few hundred actions."""


REACH = 9
"""Standard deviations beyond which a normal density is left out of an integral (1e-18 of it lies there)."""


@dataclass(frozen=True, eq=False)
class Optima:
    """The best action under each draw, with the draws sorted by it. Depends on ``theta`` and actions alone.

    ``order`` sorts the draws; group g is ``order[starts[g]:starts[g + 1]]`` and its best action ``support[g]``.
    """

    order: IntArray  # (M,)
    starts: IntArray  # (G + 1,)
    support: IntArray  # (G,) actions that are best under some draw, ascending
    first_equal: IntArray  # (K,) of each action, the first row that equals it
    value: FloatArray  # (M,) max_b ⟨b, θ^m⟩ in sorted order
    theta: FloatArray  # (M, d) in sorted order

    def draws_of(self, action: int) -> IntArray:
        """Return the rows of the draws under which ``action`` is best."""
        g = int(np.searchsorted(self.support, action))
        if g == len(self.support) or self.support[g] != action:
            return self.order[:0]
        return self.order[self.starts[g] : self.starts[g + 1]]

    def group_sums(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return Σ w and Σ w θ over each group, shapes ``(G,)`` and ``(G, d)``, for weights in sorted order."""
        shape = len(self.support), len(weights)
        membership = csr_array((weights, np.arange(len(weights)), self.starts), shape=shape)
        return np.add.reduceat(weights, self.starts[:-1]), np.asarray(membership @ self.theta)


def first_equal_rows(actions: FloatArray) -> IntArray:
    """Return for each row the first that equals it: rounding may tell the predictions of equal rows apart."""
    seen: dict[bytes, int] = {}
    return np.array([seen.setdefault(row.tobytes(), k) for k, row in enumerate(actions + 0.0)], dtype=np.intp)


def best_actions(theta: FloatArray, actions: FloatArray) -> Optima:
    """Find x* under each draw: ``theta`` is ``(M, d)``, ``actions`` is ``(K, d)``."""
    index = np.empty(len(theta), dtype=np.intp)
    value = np.empty(len(theta))
    for start in range(0, len(theta), BLOCK):
        block = slice(start, start + BLOCK)
        predictions = theta[block] @ actions.T
        index[block] = predictions.argmax(axis=1)
        value[block] = predictions[np.arange(len(predictions)), index[block]]
    first_equal = first_equal_rows(actions)
    index = first_equal[index]
    order = np.argsort(index, kind="stable")
    support, counts = np.unique(index, return_counts=True)
    starts = np.concatenate(([0], np.cumsum(counts)))
    return Optima(order, starts, support, first_equal, value[order], theta[order])


class OptimaMemory:
    """Remembers :func:`best_actions` of the last draws and actions, by identity: both are read-only arrays."""

    def __init__(self) -> None:
        self._last: tuple[FloatArray, FloatArray, Optima] | None = None

    def of(self, theta: FloatArray, actions: FloatArray) -> Optima:
        """Return the optima, computed anew only if ``theta`` or ``actions`` is another array than last time."""
        if self._last is None or self._last[0] is not theta or self._last[1] is not actions:
            self._last = theta, actions, best_actions(theta, actions)
        return self._last[2]


@dataclass(frozen=True, eq=False)
class Information:
    """Regret and information of each action, given the draws."""

    expected_regret: FloatArray  # Δ, (K,)
    gain: FloatArray  # v or I(x*; Y_a), (K,)
    support: IntArray  # actions with positive probability of being best, (G,)
    support_probability: FloatArray  # P(x* = support[g]), (G,)
    conditional_mean: FloatArray  # E[θ | x* = support[g]], (G, d)
    mean: FloatArray  # E θ, (d,)

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
    weights = draws.weights[optima.order]
    probability, sums = optima.group_sums(weights)
    alive = probability > 0  # weights underflow
    support, probability, sums = optima.support[alive], probability[alive], sums[alive]
    mean = sums.sum(axis=0)
    conditional_mean = sums / probability[:, np.newaxis]

    # Δ(a) is a mean of non-negative numbers computed as a difference: rounding may leave it just below zero,
    # and an action that is best under every draw has none.
    best_value = float(weights @ optima.value)
    regret = np.maximum(best_value - actions @ mean, 0.0)
    if len(support) == 1:
        regret[support[0]] = 0.0

    deviation = (conditional_mean - mean) @ actions.T  # ⟨a, E[θ | x* = g] − E θ⟩, (G, K)
    gain = probability @ (deviation * deviation)
    if len(support) == 1:
        gain[:] = 0.0
    return Information(regret, gain, support, probability, conditional_mean, mean)


def mutual_information(
    draws: Draws,
    actions: FloatArray,
    noise_variance: float | FloatArray,
    optima: Optima | None = None,
    nodes_per_deviation: int = 4,
) -> FloatArray:
    """Return I(x*; Y_a) of each action in nats, shape ``(K,)``, for Gaussian noise of one variance or one an action.

    Given the draws, Y_a is a mixture of normals with means ⟨a, θ^m⟩, and so it is given x* = g, so

        I(x*; Y_a) = Σ_g P(x* = g) ∫ f_g(y) log(f_g(y) / f(y)) dy.

    The integrals are trapezoidal sums on one grid with ``nodes_per_deviation`` nodes to a standard deviation of the
    noise; for mixtures of normals these converge geometrically. Each draw contributes to the nodes within
    ``REACH`` deviations of its mean, so the cost does not depend on how far apart the means are.
    """
    if optima is None:
        optima = best_actions(draws.theta, actions)
    if len(optima.support) == 1:
        return np.zeros(len(actions))
    weights = draws.weights[optima.order]
    group = np.repeat(np.arange(len(optima.support)), np.diff(optima.starts))
    theta, deviations = optima.theta, np.broadcast_to(np.sqrt(noise_variance), len(actions)).tolist()
    return np.array(
        [
            _action_information(theta @ a, weights, group, deviation, nodes_per_deviation)
            for a, deviation in zip(actions, deviations, strict=True)
        ]
    )


def _action_information(
    means: FloatArray, weights: FloatArray, group: IntArray, deviation: float, nodes_per_deviation: int
) -> float:
    """Return Σ_g P(g) KL(f_g ‖ f) where draw m is in group[m] and has mean reward means[m]."""
    # The means carry rounding errors themselves: noise far below those cannot be told from none.
    deviation = max(deviation, float(np.ptp(means)) * 1e-12)
    step = 1.0 / nodes_per_deviation
    means = (means - means.min()) / deviation
    window = np.arange(2 * REACH * nodes_per_deviation + 1)
    nodes = np.floor((means - REACH) / step).astype(np.int64)[:, np.newaxis] + window
    distance = nodes * step - means[:, np.newaxis]
    density = weights[:, np.newaxis] * np.exp(-0.5 * distance * distance) / np.sqrt(2.0 * np.pi)
    columns = nodes - nodes.min()
    if columns.max() > columns.size:  # means far apart: number only the nodes that are used
        columns = np.unique(columns, return_inverse=True)[1].reshape(columns.shape)
    rows = np.broadcast_to(group[:, np.newaxis], columns.shape)
    joint = coo_array((density.ravel(), (rows.ravel(), columns.ravel()))).tocsr()  # P(g) f_g at each node
    marginal = np.bincount(columns.ravel(), density.ravel())  # f at each node
    share = np.bincount(group, weights)  # P(g)
    inside = np.repeat(np.arange(joint.shape[0]), np.diff(joint.indptr))
    positive = joint.data > 0  # 0 log 0 = 0
    density, inside, node = joint.data[positive], inside[positive], joint.indices[positive]
    logarithm = np.log(density) - np.log(marginal[node]) - np.log(share[inside])
    return max(float(density @ logarithm) * step, 0.0)
