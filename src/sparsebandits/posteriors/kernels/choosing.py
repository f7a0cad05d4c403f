"""What a rule computes for each action, in one pass: costs to go, sums over cells of draws, and leading candidates."""

import math
from typing import Any

import numpy as np
from numba import njit

from sparsebandits.posteriors.kernels.compiled import COMPILED


@njit(**COMPILED)
def sums_of_cells(weights: Any, order: Any, starts: Any, value: Any) -> Any:
    """Return what is summed over the draws of each cell, and over all draws.

    Parameters
    ----------
    weights, value : arrays of shape (M,)
        Weight of each draw, and its largest mean reward.
    order : int array of shape (M,)
        The draws, cell after cell.
    starts : int array of shape (C + 1,)
        Where each cell starts in ``order``.

    Returns
    -------
    weight, squares : arrays of shape (C,)
        Σ w and Σ w² over each cell.
    expected : float
        Σ w value.
    square : float
        Σ w².
    ordered : array of shape (M,)
        The weights cell after cell, in single precision.
    """
    cells = len(starts) - 1
    weight, squares, ordered = np.zeros(cells), np.zeros(cells), np.empty(len(order), np.float32)
    expected = square = 0.0
    for c in range(cells):
        for i in range(starts[c], starts[c + 1]):
            w = weights[order[i]]
            weight[c] += w
            squares[c] += w * w
            expected += w * value[order[i]]
            ordered[i] = w
        square += squares[c]
    return weight, squares, expected, square, ordered


@njit(**COMPILED)
def costs_to_go(regret: Any, information: Any, entropy: float, rounds: Any) -> Any:
    """Return what each action costs in the rounds that are left (``rules/cost_to_go.py``).

    Parameters
    ----------
    regret, information : arrays of shape (K,)
        Δ and I of each action.
    entropy : float
        H(x*).
    rounds : array of shape (K,)
        R, as many rounds as there would be of each action.

    Returns
    -------
    array of shape (3, K)
        m, the cost now and the cost later.
    """
    count = len(regret)
    found, least = np.empty((3, count)), np.inf
    for k in range(count):
        least = min(least, regret[k])
    nothing = least <= 0.0 or entropy <= 0.0  # to learn
    for k in range(count):
        apart, until, play = regret[k] - least, np.inf, 1.0
        if information[k] > 0.0 and not nothing:
            until = 0.5 * entropy / information[k]
        best = rounds[k] - 0.5
        if apart > 0.0:
            best -= until * apart / least if least > 0.0 else np.inf
        play = min(max(best, 1.0), max(until, 1.0))
        rate = 1.0 / max(until, 1e-300)
        doubt = max(1.0 - play * rate, 0.0)
        found[0, k], found[1, k] = play, apart * play
        found[2, k] = least * (play - 0.5 * play * (play - 1.0) * rate + doubt * (rounds[k] - play))
    return found


@njit(**COMPILED)
def informations(gain: Any, variance: Any, noise: Any, noise_share: float, square: float, share: float) -> Any:
    """Return ½ log(1 + (v + κ T) / σ²) of each action, and v, without the noise of the draws (``information.py``).

    Parameters
    ----------
    gain, variance, noise : arrays of shape (K,)
        v̂, T̂ and σ² of each action.
    noise_share, square : float
        c, and Σ w².
    share : float
        κ.

    Returns
    -------
    information, unbiased : arrays of shape (K,)
    """
    count = len(gain)
    information, unbiased = np.empty(count), np.empty(count)
    known = noise_share < 1.0 and square < 1.0
    for k in range(count):
        v = gain[k]
        if known:
            total = variance[k] / (1.0 - square)
            v = min(max((v - (noise_share - square) * total) / (1.0 - noise_share), 0.0), total)
        unbiased[k] = v
        information[k] = 0.5 * math.log1p((v + share * variance[k]) / noise[k])
    return information, unbiased


@njit(**COMPILED)
def leading(values: Any, ties: Any, count: int) -> Any:
    """Return the places of the largest values, the largest first; of equal ones, those of the largest ``ties``.

    Parameters
    ----------
    values, ties : arrays of shape (K,)
        What is ranked, first by ``values``.
    count : int
        How many places to return.

    Returns
    -------
    int array of shape (min(count, K),)

    Examples
    --------
    >>> leading(np.array([0.1, 0.3, 0.1]), np.array([1.0, 0.0, 2.0]), 2)
    array([1, 2])
    """
    size = min(count, len(values))
    places, filled = np.empty(size, np.int64), 0
    for k in range(len(values)):
        i = filled
        while i > 0:  # compared with those that are kept, the last first; of equal ones the first stays ahead
            other = places[i - 1]
            if values[k] < values[other] or (values[k] == values[other] and ties[k] <= ties[other]):
                break
            i -= 1
        if i < size:
            filled = min(filled + 1, size)
            for m in range(filled - 1, i, -1):
                places[m] = places[m - 1]
            places[i] = k
    return places
