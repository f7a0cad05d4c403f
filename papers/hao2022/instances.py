"""Four instances on which one ratio for all contexts and a ratio for each context differ, in theory.

All have two contexts that are equally likely, a prior over a table of hypotheses, and Gaussian noise. Where an action
shows rewards of others, that is a feedback graph.

What the paper leaves open is ours: the noise variance, and in Theorem 6.3 a sample of 64 corners of the cube in place
of all, with entries ±1.
"""

from dataclasses import dataclass

import numpy as np

import sparsebandits as sb
from sparsebandits.arguments import BoolArray, FloatArray

CORNERS = 64
"""Number of corners of the cube that are offered in Theorem 6.3's first context."""


@dataclass(frozen=True, eq=False)
class World:
    """One instance.

    Attributes
    ----------
    actions : array of shape (K, d)
        The actions of both contexts.
    theta : array of shape (M, d)
        The hypotheses, all equally likely.
    contexts : tuple of two tuples of int
        Rows that are offered in each context.
    noise_variance : float
        Variance of the noise.
    feedback : bool array of shape (K, K) or None
        Whose rewards each action shows; None if its own.
    """

    actions: FloatArray
    theta: FloatArray
    contexts: tuple[tuple[int, ...], tuple[int, ...]]
    noise_variance: float
    feedback: BoolArray | None = None

    @property
    def offered(self) -> sb.policies.ActionSet:
        """The actions, with the graph if there is one."""
        actions = sb.policies.ActionSet.of(self.actions)
        return actions if self.feedback is None else actions.with_feedback(self.feedback)


def arms(means: FloatArray, contexts: tuple[range, range], shows: dict[int, range], noise: float) -> World:
    """Return a world whose actions are arms: a hypothesis is a row of their means.

    Parameters
    ----------
    means : array of shape (M, K)
        Mean of each arm under each hypothesis.
    contexts : tuple of two ranges
        Arms that are offered in each context.
    shows : dict of int to range
        Whose rewards some arms show; all others show their own.
    noise : float
        Variance of the noise.

    Returns
    -------
    World
    """
    count = means.shape[1]
    graph = np.eye(count, dtype=bool)
    for arm, others in shows.items():
        graph[arm] = False
        graph[arm, list(others)] = True
    return World(np.eye(count), means, (tuple(contexts[0]), tuple(contexts[1])), noise, graph)


def under_exploration(k: int) -> World:
    """Return Example 1.

    Context 1 has k arms, of which one brings 1 and the others nothing. Context 2 has an arm that brings 1, and one that
    brings nothing and shows the rewards of context 1. Conditional IDS never plays the latter.

    Parameters
    ----------
    k : int
        Number of arms in context 1.

    Returns
    -------
    World
    """
    means = np.column_stack([np.eye(k), np.ones(k), np.zeros(k)])
    return arms(means, (range(k), range(k, k + 2)), {k + 1: range(k)}, noise=0.1)


def over_exploration(k: int, rounds: int) -> World:
    """Return Example 2.

    Context 1 has a single arm, which shows the rewards of context 2. Context 2 has k arms, of which one is better than
    the others by δ = 1/√n, and an arm that shows their rewards too, but is worse than the best by √k δ. Since context 1
    reveals them for nothing, that arm should not be played.

    Parameters
    ----------
    k : int
        Number of arms in context 2 that may be the best.
    rounds : int
        n, which δ depends on.

    Returns
    -------
    World
    """
    gap = 1.0 / np.sqrt(rounds)
    means = np.column_stack([gap * np.eye(k), np.full(k, gap * (1.0 - np.sqrt(k))), np.zeros(k)])
    shows = {k: range(k), k + 1: range(k)}
    return arms(means, (range(k + 1, k + 2), range(k + 1)), shows, noise=1.0)


def sparse_linear(p: int, effect: float, rng: np.random.Generator) -> World:
    """Return the instance of Theorem 6.3 with s = 1: d = p + 1.

    Context 1 has the zero action, and corners of the cube with a last coordinate of 1; context 2 has the p unit
    vectors. θ has Δ in one place, and −1 in the last: corners lose, but say where the place is. (The paper prints +1
    for the last coordinate; its argument needs −1.)

    Parameters
    ----------
    p : int
        Number of places.
    effect : float
        Δ.
    rng : Generator
        Source of the corners.

    Returns
    -------
    World
    """
    corners = np.column_stack([rng.choice([-1.0, 1.0], (CORNERS, p)), np.ones(CORNERS)])
    actions = np.vstack([np.zeros((1, p + 1)), corners, np.column_stack([np.eye(p), np.zeros(p)])])
    theta = np.column_stack([effect * np.eye(p), np.full(p, -1.0)])
    first = CORNERS + 1
    return World(actions, theta, (tuple(range(first)), tuple(range(first, first + p))), 1.0)


def graph(k: int, rounds: int) -> World:
    """Return the instance of Theorem 5.3.

    There are k arms. The last one shows the rewards of all others, and loses 1. Context 1 offers the last two, context
    2 the others, of which one, not the first, is better than the rest by γ = ½√(k/n).

    Parameters
    ----------
    k : int
        Number of arms.
    rounds : int
        n, which γ depends on.

    Returns
    -------
    World
    """
    better = 0.5 * np.sqrt(k / rounds)
    means = np.zeros((k - 3, k))
    means[np.arange(k - 3), np.arange(1, k - 2)] = better
    means[:, k - 1] = -1.0
    return arms(means, (range(k - 2, k), range(k - 2)), {k - 1: range(k - 1)}, noise=1.0)
