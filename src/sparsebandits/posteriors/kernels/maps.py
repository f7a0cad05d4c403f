"""The walk along hulls that minimises the information ratio of a whole distribution of contexts.

``rules/contextual_ratio.py`` says why the walk finds the minimum. Nothing here is reordered or fused by the compiler:
which corner is next must not depend on the machine.
"""

from typing import Any

import numpy as np
from numba import njit

from sparsebandits.posteriors.kernels.compiled import COMPILED

EXACT: dict[str, Any] = {**COMPILED, "fastmath": False}
"""Settings of kernels whose comparisons decide between actions."""

BELOW = 1.0 - 1e-12
"""Factor on the height of a line below which a point is below it, whatever its rounding."""


@njit(**EXACT)
def upper_left_hull(regret: Any, gain: Any, corners: Any) -> int:
    """Write the corners of the concave envelope of gain over regret, in increasing order of both.

    Of equal actions, the one of the lower row is a corner. ``rules/ratio.py`` has the same for one set of actions.

    Parameters
    ----------
    regret, gain : arrays of shape (K,)
        Δ and gain of each action.
    corners : int array of shape (K,)
        Where the corners are written.

    Returns
    -------
    int
        Number of corners, at least one.
    """
    first = top = 0  # the corners at both ends
    for k in range(1, len(regret)):
        if regret[k] < regret[first] or (regret[k] == regret[first] and gain[k] > gain[first]):
            first = k
        if gain[k] > gain[top] or (gain[k] == gain[top] and regret[k] < regret[top]):
            top = k
    corners[0] = first
    if gain[top] <= gain[first]:
        return 1
    # Actions below the line between them are no corners; the others are few, and are sorted.
    wide, high = regret[top] - regret[first], gain[top] - gain[first]
    some, found = np.empty(len(regret), np.int64), 0
    for k in range(len(regret)):
        right, up = regret[k] - regret[first], gain[k] - gain[first]
        if up > 0.0 and right <= wide and not up * wide < right * high * BELOW:
            some[found] = k
            found += 1
    by_gain = some[:found][np.argsort(-gain[some[:found]], kind="mergesort")]
    order = by_gain[np.argsort(regret[by_gain], kind="mergesort")]
    size, most = 1, gain[first]
    for c in order:
        if gain[c] <= most:  # another action has no more regret and as much gain
            continue
        most = gain[c]
        while size >= 2:
            a, b = corners[size - 2], corners[size - 1]
            if (gain[b] - gain[a]) / (regret[b] - regret[a]) > (gain[c] - gain[a]) / (regret[c] - regret[a]):
                break
            size -= 1
        corners[size] = c
        size += 1
    return size


@njit(**EXACT)
def walk_along_hulls(regret: Any, gain: Any, starts: Any, probability: Any, exponent: float) -> Any:
    """Return the corner of each context at the minimum of the ratio, and where the last edge is taken in part.

    Parameters
    ----------
    regret, gain : arrays of shape (N,)
        Δ and gain of each action, context after context.
    starts : int array of shape (m + 1,)
        Where the actions of each context start; every context has one at least.
    probability : array of shape (m,)
        Probability of each context.
    exponent : float
        λ.

    Returns
    -------
    corner : int array of shape (m,)
        Place of the action of each context in ``regret``.
    partial, beyond : int, int
        Context whose next edge is taken in part, and the place of the action at the other end; −1 if there is none.
    """
    contexts, count = len(starts) - 1, len(regret)
    corners, ends = np.empty(count, np.int64), np.empty(contexts, np.int64)  # of context s from starts[s] to ends[s]
    slopes, edges, edge = np.empty(count), np.empty(count, np.int64), 0
    total_regret = total_gain = 0.0
    for s in range(contexts):
        low, high = starts[s], starts[s + 1]
        size = upper_left_hull(regret[low:high], gain[low:high], corners[low:high])
        ends[s] = low + size
        steepest = 0.0
        for i in range(low, low + size):
            corners[i] += low
            if i > low:
                rise, run = regret[corners[i]] - regret[corners[i - 1]], gain[corners[i]] - gain[corners[i - 1]]
                steepest = max(steepest, rise / run)  # rounding must not change the order of a context's edges
                slopes[edge], edges[edge] = steepest, s
                edge += 1
        total_regret += probability[s] * regret[corners[low]]
        total_gain += probability[s] * gain[corners[low]]
    at = starts[:-1].copy()
    order = np.argsort(slopes[:edge], kind="mergesort")  # those of one context stay in their order
    partial = beyond = -1
    for e in order:
        s = edges[e]
        here, there = corners[at[s]], corners[at[s] + 1]
        if probability[s] <= 0.0:  # it changes nothing, and follows the price that the others pay
            if not exponent * total_gain * slopes[e] < total_regret:
                break
            at[s] += 1
            continue
        rise, run = probability[s] * (regret[there] - regret[here]), probability[s] * (gain[there] - gain[here])
        share = (total_regret / rise - exponent * (total_gain / run)) / (exponent - 1.0)
        if not share > 0.0:
            break
        if share < 1.0:
            partial, beyond = s, there
            break
        at[s] += 1
        total_regret += rise
        total_gain += run
    return corners[at], partial, beyond
