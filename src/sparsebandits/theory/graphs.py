"""Graph feedback: playing an arm shows the rewards of its out-neighbours. Two numbers of such a graph.

Hao, Lattimore and Qin (2022, Section 5) bound regret through both:

- the explorability constant, the largest probability with which one policy can observe every arm in every round,

      ϑ = max_π min_a P(a is observed) = max_π min_a E_s Σ_b π(b | s) G(b, a),

  a linear programme, whose dual certifies the value: for every distribution y on arms, ϑ ≤ E_s max_b Σ_a G(b, a) y(a);
- the independence number β, the size of the largest set of arms none of which shows another one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from sparsebandits.arguments import ArgumentTypeError, ArgumentValueError, FloatArray, check_flags, frozen
from sparsebandits.theory.policy_design import checked_probability

MOST_ARMS = 64
"""Largest number of arms whose independence number is computed, by branch and bound."""


@dataclass(frozen=True, eq=False)
class Explorability:
    """The policy that observes the least observed arm most often.

    Attributes
    ----------
    policy : array of shape (m, k)
        Probability of each arm in each context; zero for arms that the context does not offer.
    value : float
        Probability with which the least observed arm is observed under this policy.
    upper_bound : float
        No policy does better than this, by a dual feasible point.
    """

    policy: FloatArray
    value: float
    upper_bound: float


def explorability(graph: object, available: object = None, probability: object = None) -> Explorability:
    """Return the explorability constant of a graph, with the policy that reaches it and a certificate.

    Parameters
    ----------
    graph : array of shape (k, k)
        Whether playing the arm of the row shows the reward of the arm of the column; ones and zeros, or booleans. An
        arm shows its own reward only if the diagonal says so.
    available : array of shape (m, k), optional
        Whether each context offers each arm; by default there is one context, which offers all.
    probability : array of shape (m,), optional
        Probability of each context; by default all are equally likely.

    Returns
    -------
    Explorability
        The policy, its value and the upper bound.

    Raises
    ------
    ArgumentError
        If shapes do not match, if entries are not zeros and ones, or if a context offers no arm.

    Examples
    --------
    The first arm shows all of them, each other one itself:

    >>> import numpy as np
    >>> star = np.eye(4)
    >>> star[0] = 1.0
    >>> explorability(star).value, round(explorability(np.eye(4)).value, 9)
    (1.0, 0.25)
    """
    shows = _checked_graph(graph)
    arms = len(shows)
    offered = np.ones((1, arms), dtype=bool) if available is None else check_flags("available", available)
    if offered.shape[1] != arms:
        raise ArgumentValueError("available", f"{arms} columns, one per arm", f"shape {offered.shape}")
    if not offered.any(axis=1).all():
        raise ArgumentValueError("available", "an arm in each context", "none in some")
    p = checked_probability(probability, len(offered))
    context, arm = np.nonzero(offered)
    # Variables are π(b | s) of the pairs that are offered, and ϑ, which is maximised.
    observed = np.column_stack((-(p[context] * shows[arm].T), np.ones(arms)))
    sums = np.zeros((len(p), len(arm) + 1))
    sums[context, np.arange(len(arm))] = 1.0
    objective = np.append(np.zeros(len(arm)), -1.0)
    found = linprog(objective, A_ub=observed, b_ub=np.zeros(arms), A_eq=sums, b_eq=np.ones(len(p)), method="highs")
    if found.status != 0 or found.x is None:
        raise ArithmeticError(f"graph: the linear programme was not solved ({found.message})")
    policy = np.zeros(offered.shape)
    policy[context, arm] = np.maximum(found.x[:-1], 0.0)
    policy /= policy.sum(axis=1, keepdims=True)
    value = float(min((p @ policy @ shows).min(), 1.0))
    dual = np.maximum(-np.asarray(found.ineqlin.marginals, dtype=np.float64), 0.0)
    dual = dual / dual.sum() if dual.sum() > 0.0 else np.full(arms, 1.0 / arms)
    bound = float(p @ np.where(offered, shows @ dual, -np.inf).max(axis=1))
    return Explorability(frozen(policy), value, max(bound, value))  # rounding may put the bound below


def independence_number(graph: object) -> int:
    """Return the size of the largest set of arms none of which shows another one.

    Parameters
    ----------
    graph : array of shape (k, k)
        Whether the arm of the row shows the reward of the arm of the column; the diagonal does not count. At most 64
        arms: the search takes exponential time at worst.

    Returns
    -------
    int

    Raises
    ------
    ArgumentError
        If it is not a square matrix of zeros and ones, or if there are too many arms.

    Examples
    --------
    >>> ring = [[0, 1, 0, 0, 1], [1, 0, 1, 0, 0], [0, 1, 0, 1, 0], [0, 0, 1, 0, 1], [1, 0, 0, 1, 0]]
    >>> independence_number(ring)
    2
    """
    shows = _checked_graph(graph) > 0.0
    arms = len(shows)
    if arms > MOST_ARMS:
        raise ArgumentValueError("graph", f"at most {MOST_ARMS} arms", f"{arms}")
    linked = (shows | shows.T) & ~np.eye(arms, dtype=bool)
    neighbours = [sum(1 << int(b) for b in np.flatnonzero(row)) for row in linked]
    return _largest((1 << arms) - 1, neighbours)


def _largest(left: int, neighbours: Sequence[int]) -> int:
    """Return the size of the largest independent set among the arms in a bit mask."""
    taken = 0
    while left:
        degree, busiest = -1, -1
        mask = left
        while mask:
            arm = (mask & -mask).bit_length() - 1
            mask &= mask - 1
            here = (neighbours[arm] & left).bit_count()
            if here <= 1:  # some largest set has it: its only neighbour would not do better
                taken, left, busiest = taken + 1, left & ~(neighbours[arm] | 1 << arm), -2
                break
            if here > degree:
                degree, busiest = here, arm
        if busiest >= 0:
            without = left & ~(1 << busiest)
            return taken + max(_largest(without, neighbours), 1 + _largest(without & ~neighbours[busiest], neighbours))
    return taken


def _checked_graph(graph: object) -> FloatArray:
    if graph is None:
        raise ArgumentTypeError("graph", "a square matrix of zeros and ones", "None")
    shows = check_flags("graph", graph)
    if shows.shape[0] != shows.shape[1]:
        raise ArgumentValueError("graph", "a square matrix", f"shape {shows.shape}")
    return shows.astype(np.float64)
