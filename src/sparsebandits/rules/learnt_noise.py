"""I(x*; Y_a) in nats where the noise variance is learnt, so that each draw has one of its own.

Given the draws, Y_a is a mixture of normals whose deviations differ, possibly by many orders of magnitude. No grid of
equal steps serves all of them. So the line is divided into intervals as a quadtree divides the plane (an adaptive fast
Gauss transform, after Greengard and Strain 1991): where the smallest deviation that matters is σ, intervals are at most
2σ wide.

1. Draws are put on levels: level l has the deviations from 2^l to 2^(l+1) times the smallest one, and intervals of
   twice the smallest deviation of the level.
2. An interval is divided into halves, and those again, as long as draws of a finer level reach it.
3. From the top level down, the density of each group of draws at the nodes of an interval is passed on to its halves by
   interpolation, and draws of the level are added.
4. The integral over the intervals that are not divided is by Gauss–Legendre at the same nodes.

Interpolating a normal density of deviation σ between 14 nodes of an interval of 2σ has an error of 3e-10 of its height,
so nothing but the nodes is approximate: variances are not binned.
"""

from functools import cache
from itertools import pairwise

import numpy as np
import scipy  # scipy.special, which is slow to import, is loaded on first use
from numpy.polynomial.legendre import leggauss, legvander

from sparsebandits.arguments import FloatArray, IntArray, frozen
from sparsebandits.posteriors.draws import Draws
from sparsebandits.rules.best import Best
from sparsebandits.rules.mutual_information import REACH
from sparsebandits.rules.optima import best_actions

NODES = 14
"""Nodes of an interval."""

PLACE_BITS = 42
"""Bits of a key for the place of an interval on its level; the bits above are the number of the group."""

ORIGIN = 1 << (PLACE_BITS - 1)
"""Place of the interval that begins at zero."""

LEAST = 1e-100
"""Densities below this add nothing to an integral."""


def mutual_information_of_learnt_noise(
    draws: Draws,
    actions: FloatArray,
    noise_variances: FloatArray,
    best: Best | None = None,
) -> FloatArray:
    """Return the mutual information I(x*; Y_a) of each action, with the noise integrated out.

    Parameters
    ----------
    draws : Draws
        Weighted draws of θ.
    actions : array of shape (K, d)
        One row per action.
    noise_variances : array of shape (M,)
        Noise variance of a reward under each draw.
    best : Best, optional
        x* under the draws, if it is already known.

    Returns
    -------
    array of shape (K,)
        Mutual information of each action, in nats.

    Examples
    --------
    >>> draws = Draws(np.array([[1.0], [-1.0]]), np.array([0.5, 0.5]))
    >>> actions = np.array([[1.0], [-1.0]])
    >>> mutual_information_of_learnt_noise(draws, actions, np.array([1.0, 4.0])).round(4)
    array([0.224, 0.224])
    """
    if best is None:
        best = Best(best_actions(draws.source, actions, exact=draws.exact), draws.weights, exact=draws.exact)
    draw, weights, group = best.draws()
    if len(draw) == 0 or group.max() == 0:
        return np.zeros(len(actions))
    alive = weights > 0
    draw, weights, group = draw[alive], weights[alive], group[alive].astype(np.int64)
    deviations = np.sqrt(noise_variances[draw])
    return np.array([_action_information((draws.theta @ a)[draw], deviations, weights, group) for a in actions])


@cache
def _rule() -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return nodes in [0, 1], their weights, and the matrices that pass values on to the two halves."""
    nodes, weights = leggauss(NODES)
    to_series = np.linalg.inv(legvander(nodes, NODES - 1))
    halves = np.stack([legvander((nodes + side) / 2, NODES - 1) @ to_series for side in (-1.0, 1.0)])
    return frozen((nodes + 1) / 2), frozen(weights / 2), frozen(halves)


def _action_information(means: FloatArray, deviations: FloatArray, weights: FloatArray, group: IntArray) -> float:
    """Return Σ_g P(g) KL(f_g ‖ f) where draw m is in group[m], with mean means[m] and deviation deviations[m]."""
    from sparsebandits.posteriors.kernels.normals import add_normals  # compiled

    places, quadrature, halves = _rule()
    apart = means - np.median(means)
    # A mean has a rounding error itself: noise far below it cannot be distinguished from none.
    deviations = np.maximum(deviations, 1e-12 * np.abs(apart))
    unit = deviations.min()
    apart, deviations = apart / unit, deviations / unit
    level = np.floor(np.log2(deviations)).astype(np.int64)
    order = np.argsort(level, kind="stable")
    apart, deviations, weights = apart[order], deviations[order], weights[order]
    group, level = group[order], level[order]
    top = int(level[-1])
    bounds = np.searchsorted(level, np.arange(top + 2))
    width = 2.0 * 2.0**level
    first = np.floor((apart - REACH * deviations) / width).astype(np.int64)
    counts = np.floor((apart + REACH * deviations) / width).astype(np.int64) - first + 1
    keys = (group << PLACE_BITS) + first + ORIGIN
    edges, widths = (first * width - apart) / deviations, width / deviations
    heights = weights / (deviations * np.sqrt(2.0 * np.pi))
    share = np.asarray(np.bincount(group, weights), dtype=np.float64)

    own = [_reached(keys[a:b], counts[a:b]) for a, b in pairwise(bounds.tolist())]
    divided = _divided(own)
    met, values, total = np.empty(0, dtype=np.int64), np.empty((0, NODES)), 0.0
    for here in range(top, -1, -1):
        above, values_above = met, values
        left = 2 * above - (above >> PLACE_BITS << PLACE_BITS) - ORIGIN  # the left half of an interval
        met = np.unique(np.concatenate((own[here], left, left + 1)))
        values = np.zeros((len(met), NODES))
        for side in (0, 1):
            values[np.searchsorted(met, left + side)] = values_above @ halves[side].T
        this = slice(bounds[here], bounds[here + 1])
        rows = np.searchsorted(met, keys[this])
        add_normals(values, rows, counts[this], edges[this], widths[this], heights[this], places)
        goes_on = np.isin(_place(met), divided[here])
        total += 2.0 * 2.0**here * _divergence(met[~goes_on], values[~goes_on], share, quadrature)
        met, values = met[goes_on], values[goes_on]
    return max(total, 0.0)


def _place(keys: IntArray) -> IntArray:
    return keys & ((1 << PLACE_BITS) - 1)


def _reached(keys: IntArray, counts: IntArray) -> IntArray:
    """Return the keys of all intervals that draws reach, given the first one and their number for each draw."""
    starts, inverse = np.unique(keys, return_inverse=True)
    most = np.zeros(len(starts), dtype=np.int64)
    np.maximum.at(most, inverse, counts)
    ends = np.cumsum(most)
    return np.unique(np.repeat(starts - (ends - most), most) + np.arange(most.sum()))


def _divided(own: list[IntArray]) -> list[IntArray]:
    """Return the places of the intervals of each level that are divided, since draws of finer levels reach them."""
    divided, reached = [], np.empty(0, dtype=np.int64)
    for keys in own:
        divided.append(np.unique((reached + ORIGIN) >> 1))
        reached = np.union1d(divided[-1], _place(keys))
    return divided


def _divergence(keys: IntArray, values: FloatArray, share: FloatArray, quadrature: FloatArray) -> float:
    """Return Σ_g ∫ P(g) f_g log(f_g / f) over intervals of width one, from P(g) f_g at their nodes."""
    if len(keys) == 0:
        return 0.0
    values = np.where(values > LEAST, values, 0.0)
    order = np.argsort(_place(keys), kind="stable")
    values, place, group = values[order], _place(keys)[order], keys[order] >> PLACE_BITS
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    marginal = np.repeat(np.add.reduceat(values, starts, axis=0), np.diff(starts, append=len(place)), axis=0)
    return float((scipy.special.rel_entr(values, share[group][:, np.newaxis] * marginal) @ quadrature).sum())
