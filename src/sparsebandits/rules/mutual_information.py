"""I(x*; Y_a): the mutual information between the best action and the next reward of an action, in nats.

Russo and Van Roy (2018), §6. Exact for weighted draws and Gaussian noise, up to quadrature; ``information.py`` has the
cheaper gain that is used by default, ``learnt_noise.py`` the case of a noise variance per draw.
"""

import math
from functools import cache

import numpy as np
import scipy  # scipy.sparse, which is slow to import, is loaded on first use
from numpy.polynomial.hermite_e import hermevander

from sparsebandits.arguments import FloatArray, IntArray, frozen
from sparsebandits.posteriors.draws import Draws
from sparsebandits.rules.best import Best
from sparsebandits.rules.optima import best_actions

REACH = 9
"""Standard deviations beyond which a normal density is left out of an integral (1e-18 of it lies there)."""

NODES = 4
"""Nodes of the grid per standard deviation of the noise."""

NEAR = 60.0
"""Means within so many standard deviations have a density above 1e-200 everywhere between them."""

NEGLIGIBLE = 1e-30
"""Weight of a draw that is left out: its part of the information is of the same size."""

TERMS = 8
"""Terms of the expansion of a normal density around the nearest node: with four nodes per standard deviation, the
remainder is 1e-10."""


def mutual_information(
    draws: Draws,
    actions: FloatArray,
    noise_variance: float | FloatArray,
    best: Best | None = None,
    nodes_per_deviation: int = NODES,
) -> FloatArray:
    """Return the mutual information I(x*; Y_a) of each action, for Gaussian noise.

    Given the draws, Y_a is a mixture of normals with means ⟨a, θ^m⟩, and it is one given x* = g too, so

        I(x*; Y_a) = Σ_g P(x* = g) ∫ f_g(y) log(f_g(y) / f(y)) dy.

    The integrals are trapezoidal sums on one grid with ``nodes_per_deviation`` nodes per standard deviation of the
    noise; for mixtures of normals these converge geometrically. Each draw contributes to the nodes within ``REACH``
    deviations of its mean, so the cost does not depend on how far apart the means are. Draws with the same x* that
    are nearest to the same node c are summed first, by an expansion in Hermite polynomials (as in the fast Gauss
    transform of Greengard and Strain 1991): with φ the normal density and δ a mean's distance from c,

        φ(y − c − δ) = Σ_k δ^k / k! He_k(y − c) φ(y − c).

    Parameters
    ----------
    draws : Draws
        Weighted draws of θ.
    actions : array of shape (K, d)
        One row per action.
    noise_variance : float or array of shape (K,)
        Noise variance of a reward, one for all actions or one per action.
    best : Best, optional
        x* under the draws, if it is already known.
    nodes_per_deviation : int, default=4
        Nodes of the grid per standard deviation of the noise.

    Returns
    -------
    array of shape (K,)
        Mutual information of each action, in nats.
    """
    if best is None:
        best = Best(best_actions(draws.source, actions, exact=draws.exact), draws.weights, exact=draws.exact)
    draw, weights, group = best.draws()
    return _informations(draws.theta[draw], weights, group, actions, noise_variance, nodes_per_deviation)


def information_of_groups(
    draws: Draws, actions: FloatArray, noise_variance: float | FloatArray, group: IntArray
) -> FloatArray:
    """Return the mutual information between the group of a draw and the next reward of each action.

    Parameters
    ----------
    draws : Draws
        Weighted draws of θ.
    actions : array of shape (K, d)
        One row per action.
    noise_variance : float or array of shape (K,)
        Noise variance of a reward, one for all actions or one per action.
    group : int array of shape (M,)
        Group of each draw, from zero.

    Returns
    -------
    array of shape (K,)
        In nats.
    """
    return _informations(draws.theta, draws.weights, group, actions, noise_variance, NODES)


def _informations(
    theta: FloatArray,
    weights: FloatArray,
    group: IntArray,
    actions: FloatArray,
    noise_variance: float | FloatArray,
    nodes_per_deviation: int,
) -> FloatArray:
    if len(theta) == 0 or group.max() == 0:
        return np.zeros(len(actions))
    deviations = np.broadcast_to(np.sqrt(noise_variance), len(actions)).tolist()
    if len(np.unique(group)) == len(group):  # each draw is a group of its own, as in a table of hypotheses
        likely = weights > NEGLIGIBLE
        theta, weights, group = theta[likely], weights[likely], np.arange(np.count_nonzero(likely))
        found = [_of_values(theta @ a, weights, deviation) for a, deviation in zip(actions, deviations, strict=True)]
    else:
        found = [
            _action_information(theta @ a, weights, group, deviation, nodes_per_deviation)
            for a, deviation in zip(actions, deviations, strict=True)
        ]
    return np.array(found)


def _of_values(means: FloatArray, weights: FloatArray, deviation: float) -> float:
    """Return I(θ; Y_a): the group of a draw says its mean, so that draws with equal means count as one."""
    means = means / deviation
    values, place = np.unique(means, return_inverse=True)
    share = np.asarray(np.bincount(place, weights), dtype=np.float64)
    if values[-1] - values[0] > NEAR:
        return _action_information(values, share, np.arange(len(values)), 1.0, NODES)
    nodes = np.arange(values[0] - REACH, values[-1] + REACH, 1.0 / NODES)
    exponent = -0.5 * (nodes - values[:, np.newaxis]) ** 2
    density = share[:, np.newaxis] * np.exp(exponent)  # P(g) f_g at each node, but for √(2π)
    total = float(np.sum(density * (exponent - np.log(density.sum(axis=0)))))
    return max(total / (NODES * math.sqrt(2.0 * math.pi)), 0.0)


@cache
def _expansion(nodes_per_deviation: int) -> tuple[IntArray, FloatArray]:
    """Return the nodes within reach of one, counted from it, and He_k φ at each of them, shape ``(TERMS, nodes)``."""
    window = np.arange(-REACH * nodes_per_deviation, REACH * nodes_per_deviation + 1)
    distance = window / nodes_per_deviation
    normal = np.exp(-0.5 * distance * distance) / np.sqrt(2.0 * np.pi)
    return frozen(window), frozen(hermevander(distance, TERMS - 1).T * normal)


def _action_information(
    means: FloatArray, weights: FloatArray, group: IntArray, deviation: float, nodes_per_deviation: int
) -> float:
    """Return Σ_g P(g) KL(f_g ‖ f) where draw m is in group[m] and has mean reward means[m]."""
    # The means have rounding errors themselves: noise far below those cannot be distinguished from none.
    deviation = max(deviation, float(np.ptp(means)) * 1e-12)
    step = 1.0 / nodes_per_deviation
    means = (means - means.min()) / deviation
    nearest = np.rint(means / step).astype(np.int64)
    met, first, pair = np.unique(group * (nearest.max() + 1) + nearest, return_index=True, return_inverse=True)
    terms = np.empty((TERMS, len(met)))  # Σ w δ^k / k! over the draws of one group at one node
    power = weights
    for k in range(TERMS):
        terms[k] = np.bincount(pair, power)
        power = power * (means - nearest * step) / (k + 1)
    window, table = _expansion(nodes_per_deviation)
    density = terms.T @ table
    nodes = nearest[first][:, np.newaxis] + window
    columns = nodes - nodes.min()
    if columns.max() > columns.size:  # means far apart: number only the nodes that are used
        columns = np.unique(columns, return_inverse=True)[1].reshape(columns.shape)
    marginal = np.bincount(columns.ravel(), density.ravel())  # f at each node
    share = np.bincount(group, weights)  # P(g)
    inside, node, density = np.repeat(group[first], len(window)), columns.ravel(), density.ravel()
    if len(met) > len(np.unique(group)):  # P(g) f_g at each node is the sum over the nearest nodes of g
        joint = scipy.sparse.coo_array((density, (inside, node))).tocsr()
        density, node = joint.data, joint.indices
        inside = np.repeat(np.arange(joint.shape[0]), np.diff(joint.indptr))
    positive = density > 0  # 0 log 0 = 0
    density, inside, node = density[positive], inside[positive], node[positive]
    logarithm = np.log(density) - np.log(marginal[node]) - np.log(share[inside])
    return max(float(density @ logarithm) * step, 0.0)
